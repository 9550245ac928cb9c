/* SPDX-License-Identifier: MIT */
/* Text for a terminal: see wrap.h. */
#include "deploy/cli/wrap.h"

#include "common/util/plain.h"

#include <stdlib.h>
#include <string.h>

void wrap_write(const char *text, size_t length, int indent, FILE *file)
{
    int column = indent;
    for (const char *end = text + length; text < end;) {
        size_t word = strcspn(text, " ");
        if (word > (size_t)(end - text))
            word = (size_t)(end - text);
        if (column > indent && column + 1 + (int)word > WRAP_WIDTH)
            column = fprintf(file, "\n%*s", indent, "") - 1;
        char *shown = strndup(text, word);
        column += fprintf(file, "%s%s", column > indent ? " " : "", shown != NULL ? plain(shown) : "?");
        free(shown);
        text += word + strspn(text + word, " ");
    }
    putc('\n', file);
}
