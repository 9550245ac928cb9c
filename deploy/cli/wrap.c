/* Text for a terminal: see wrap.h. */
#include "deploy/cli/wrap.h"

#include <stdio.h>
#include <string.h>

void wrap_print(const char *text, size_t length, int indent)
{
    int column = indent;
    for (const char *end = text + length; text < end;) {
        size_t word = strcspn(text, " ");
        if (word > (size_t)(end - text))
            word = (size_t)(end - text);
        if (column > indent && column + 1 + (int)word > WRAP_WIDTH)
            column = printf("\n%*s", indent, "") - 1;
        column += printf("%s%.*s", column > indent ? " " : "", (int)word, text);
        text += word + strspn(text + word, " ");
    }
    putchar('\n');
}
