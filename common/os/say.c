/* SPDX-License-Identifier: MIT */
/* Lines for people: see say.h. */
#include "common/os/say.h"

#include "common/util/plain.h"

#include <stdarg.h>
#include <stdlib.h>

void say(FILE *file, const char *format, ...)
{
    char *line;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    fprintf(file, "%s\n", length >= 0 ? plain(line) : "out of memory");
    if (length >= 0)
        free(line);
}
