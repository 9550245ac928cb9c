/* SPDX-License-Identifier: MIT */
/* Colour on terminals: see colour.h. */
#include "deploy/cli/colour.h"

#include "common/util/plain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_is_on(int descriptor)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (none == NULL || none[0] == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0 && isatty(descriptor);
}

static void colour_say(const char *program, const char *text, const char *colour)
{
    const bool is_terminal = isatty(STDERR_FILENO), is_on = colour_is_on(STDERR_FILENO);
    char *shown = strdup(text);
    fflush(stderr);
    fprintf(stderr, "%s%s%s:%s %s\n", is_terminal ? "\r\033[K" : "", is_on ? colour : "", program,
            is_on ? COLOUR_END : "", shown != NULL ? plain(shown) : "out of memory");
    free(shown);
}

void say_error(const char *program, const char *text)
{
    colour_say(program, text, COLOUR_ERROR);
}

void say_note(const char *program, const char *text)
{
    colour_say(program, text, COLOUR_NAME);
}
