/* SPDX-License-Identifier: MIT */
/* Breaks text for a terminal: see wrap.h. */
#include "deploy/cli/wrap.h"

#include "common/util/plain.h"

#include <stdlib.h>
#include <string.h>

void wrap_write(const char *text, size_t length, int indent, FILE *file)
{
    int column = indent;
    char *copy = strndup(text, length);
    for (const char *at = copy != NULL ? plain(copy) : "out of memory"; *at != '\0';) {
        const int word = (int)strcspn(at, " ");
        if (column > indent && column + 1 + word > WRAP_WIDTH)
            column = fprintf(file, "\n%*s", indent, "") - 1;
        column += fprintf(file, "%s%.*s", column > indent ? " " : "", word, at);
        at += word;
        at += strspn(at, " ");
    }
    free(copy);
    putc('\n', file);
}
