/* SPDX-License-Identifier: MIT */
/* Filters what mpirun prints: see stderr_filter.h. */
#include "deploy/cli/stderr_filter.h"

#include <stdbool.h>
#include <string.h>

#define RULE        "--------------------------------------------------------------------------\n"
#define SKIPPED_MAX 2000 /* longer than every message: if more is skipped, the end of the message was missed */
#define NAME_MAX    100  /* limit of a host's name with a process number */

/* '*' stands for at most NAME_MAX characters of one line, up to the character after the '*'. '#' stands for digits. */
static const struct {
    const char *begin, *end;
} texts[] = {
    {RULE "Primary job  terminated normally, but ", "\n" RULE},
    {RULE "mpirun detected that one or more processes exited with non-zero status", "\n" RULE},
    {RULE "prterun detected that one or more processes exited with non-zero status", "\n" RULE},
    {RULE "prterun has exited due to process rank ", "\n" RULE},
    {RULE "MPI_ABORT was invoked on rank ", "\n" RULE},
    {"mpirun: Forwarding signal ", "\n"},
    {"[warn] Epoll MOD(", "\n"}, /* printed when ranks end */
    {"[*] pmix_ptl_base: send_msg: write failed: Broken pipe", "\n"},
    /* Version 5 with ULFM prints these. */
    {RULE "WARNING: The selected 'osc' module 'sm' is not tested for post-failure\n", "\n" RULE},
    {"# more processes have sent help message help-mpi-ft.txt / module:untested", "\n"},
    /* Version 5 prints these if ranks end with a status other than 0. */
    {"[*] PMIX ERROR: PMIX_ERR_UNREACH in file ../../../src/server/pmix_server.c", "\n"},
    {"[*] PMIX ERROR: BAD-PARAM in file ../../../src/event/pmix_event_notification.c", "\n"}, /* printed after a loss */
};

void stderr_filter_init(struct stderr_filter *stderr_filter,
                        void (*write)(void *context, const char *bytes, size_t count), void *context)
{
    *stderr_filter = (struct stderr_filter){.write = write, .context = context};
}

void stderr_filter_flush(struct stderr_filter *stderr_filter)
{
    if (stderr_filter->held_length > 0)
        stderr_filter->write(stderr_filter->context, stderr_filter->held, stderr_filter->held_length);
    stderr_filter->held_length = 0;
}

static bool stderr_filter_fits(const struct stderr_filter *stderr_filter, const char *begin, bool *whole)
{
    size_t name = 0;
    for (size_t i = 0; i < stderr_filter->held_length; i++) {
        char c = stderr_filter->held[i];
        if (*begin == '*' && c != begin[1]) {
            if (c == '\n' || ++name > NAME_MAX)
                return false;
            continue;
        }
        if (*begin == '#' && c >= '0' && c <= '9') {
            if (++name > NAME_MAX)
                return false;
            continue;
        }
        begin += *begin == '*' || *begin == '#';
        if (c == '\0' || *begin++ != c)
            return false;
    }
    *whole = *begin == '\0';
    return true;
}

/* True if the held text may be the beginning of a message. If the text is a complete beginning, also starts to skip the
 * message. */
static bool stderr_filter_may_begin(struct stderr_filter *stderr_filter)
{
    if (stderr_filter->last == '\033')
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bool whole;
        if (!stderr_filter_fits(stderr_filter, texts[i].begin, &whole))
            continue;
        if (whole) {
            stderr_filter->last = '\n';
            stderr_filter->end = texts[i].end;
            stderr_filter->end_length = stderr_filter->skipped = stderr_filter->held_length = 0;
        }
        return true;
    }
    return false;
}

/* Compares only one character after a mismatch. That is enough: a newline is either the first or the last character of
 * an ending, so an ending that begins again can only begin with the current character. */
static void skip(struct stderr_filter *stderr_filter, char c)
{
    if (stderr_filter->end[stderr_filter->end_length] != c)
        stderr_filter->end_length = 0;
    if (stderr_filter->end[stderr_filter->end_length] == c)
        stderr_filter->end_length++;
    if (stderr_filter->end[stderr_filter->end_length] == '\0' || ++stderr_filter->skipped == SKIPPED_MAX)
        stderr_filter->end = NULL;
}

static void stderr_filter_take_byte(struct stderr_filter *stderr_filter, char c)
{
    if (c == '\0') /* version 5 ends its messages with a NUL */
        return;
    if (stderr_filter->end != NULL) {
        skip(stderr_filter, c);
        return;
    }
    stderr_filter->held[stderr_filter->held_length++] = c;
    while (stderr_filter->held_length > 0 && !stderr_filter_may_begin(stderr_filter)) {
        stderr_filter->write(stderr_filter->context, stderr_filter->held, 1);
        stderr_filter->last = stderr_filter->held[0];
        memmove(stderr_filter->held, stderr_filter->held + 1, --stderr_filter->held_length);
    }
}

void stderr_filter_take(struct stderr_filter *stderr_filter, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        stderr_filter_take_byte(stderr_filter, bytes[i]);
}
