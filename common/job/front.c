/* SPDX-License-Identifier: MIT */
/* The front of a daemon's program: see front.h. */
#include "common/job/front.h"

#include "common/config/options.h"
#include "common/mpi/runtime.h"

#include <stdio.h>
#include <stdlib.h>

static char *format_line(const char *before, const char *between, const char *after)
{
    char *text = NULL;
    return asprintf(&text, "%s%s%s\n", before, between, after) < 0 ? NULL : text;
}

void front_take(struct front *front, int parsed, const struct error *error, char *(*help)(void))
{
    switch (parsed) {
    case 0: break;
    case OPTIONS_HELP:
        front->status = HELLO_STATUS_HELP;
        front->text = help();
        break;
    case OPTIONS_VERSION:
        front->status = HELLO_STATUS_HELP;
        front->text = format_line(front->program, " (HDSS) ", front->version);
        break;
    default: front->status = EXIT_STATUS_USAGE; front->text = format_line(front->program, ": ", error->text);
    }
}

bool front_ends_here(const struct front *front, int *status)
{
    if (front->status == 0 || runtime_is_launched())
        return false;
    bool page = front->status == HELLO_STATUS_HELP;
    fputs(front->text != NULL ? front->text : "out of memory\n", page ? stdout : stderr);
    *status = page ? EXIT_STATUS_DONE : front->status;
    return true;
}

void front_fini(struct front *front)
{
    free(front->text);
    front->text = NULL;
}
