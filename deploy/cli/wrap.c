/* SPDX-License-Identifier: MIT */
/* Text for a terminal: see wrap.h. */
#include "deploy/cli/wrap.h"

#include "common/util/plain.h"

#include <string.h>

#define WORD_BYTES 1024

void wrap_write(const char *text, size_t length, int indent, FILE *file)
{
    int column = indent;
    for (const char *end = text + length; text < end;) {
        size_t word = strcspn(text, " ");
        if (word > (size_t)(end - text))
            word = (size_t)(end - text);
        if (column > indent && column + 1 + (int)word > WRAP_WIDTH)
            column = fprintf(file, "\n%*s", indent, "") - 1;
        char shown[WORD_BYTES];
        snprintf(shown, sizeof shown, "%.*s", (int)word, text);
        column += fprintf(file, "%s%s", column > indent ? " " : "", plain(shown));
        text += word + strspn(text + word, " ");
    }
    putc('\n', file);
}
