/* SPDX-License-Identifier: MIT */
/* The command line of a daemon before MPI starts: see startup.h. */
#include "common/job/startup.h"

#include "common/config/options.h"
#include "common/mpi/runtime.h"
#include "common/os/launched.h"
#include "proto/message.h"

#include <stdio.h>
#include <stdlib.h>

static char *format_line(const char *before, const char *between, const char *after)
{
    char *text = NULL;
    return asprintf(&text, "%s%s%s\n", before, between, after) < 0 ? NULL : text;
}

/* Refuses --help and --version if the same command line launched other programs. Printing a page would end the whole
 * launch with status 0 although nothing was computed. */
static bool refuse_page(struct startup *startup, int parsed)
{
    if ((parsed != OPTIONS_HELP && parsed != OPTIONS_VERSION) || !launched_beside_others())
        return false;
    startup->status = EXIT_STATUS_USAGE;
    startup->text =
        format_line(startup->program, parsed == OPTIONS_HELP ? ": --help" : ": --version",
                    " in a line that launches other programs, too; accepted: without it, or this program alone");
    return true;
}

static bool refuse_none(struct startup *startup)
{
    if (!launched_beside_others() || !launched_with_none())
        return false;
    startup->status = EXIT_STATUS_USAGE;
    startup->text = format_line("hdss", ": ",
                                "-n 0: mpirun would start as many as there are slots; leave out this part of the line");
    return true;
}

void startup_take(struct startup *startup, int parsed, const struct error *error, char *(*help)(void))
{
    if (refuse_none(startup) || refuse_page(startup, parsed))
        return;
    switch (parsed) {
    case 0: break;
    case OPTIONS_HELP:
        startup->status = HELLO_STATUS_HELP;
        startup->text = help();
        break;
    case OPTIONS_VERSION:
        startup->status = HELLO_STATUS_HELP;
        startup->text = format_line(startup->program, " (HDSS) ", startup->version);
        break;
    default: startup->status = EXIT_STATUS_USAGE; startup->text = format_line(startup->program, ": ", error->text);
    }
}

bool startup_ends_here(const struct startup *startup, int *status)
{
    if (startup->status == 0 || runtime_is_launched())
        return false;
    bool page = startup->status == HELLO_STATUS_HELP;
    fputs(startup->text != NULL ? startup->text : "out of memory\n", page ? stdout : stderr);
    *status = page ? EXIT_STATUS_DONE : startup->status;
    return true;
}

void startup_fini(struct startup *startup)
{
    free(startup->text);
    startup->text = NULL;
}
