/* SPDX-License-Identifier: MIT */
/* Removes standard messages of mpirun from its standard error: about non-zero exit statuses and aborts, forwarded
 * signals, and failures to report a lost rank.
 *
 * The exit statuses of HDSS have a meaning that the programs explain; mpirun would add a dozen lines that look like a
 * crash. `mpirun --quiet` would also suppress real errors. Other text passes unchanged and at once; only a possible
 * beginning of a message is held back. */
#pragma once

#include <stddef.h>

struct stderr_filter {
    char held[256];
    size_t held_length;
    char last;         /* last passed character: no message begins after an escape */
    const char *end;   /* end of the message being skipped; NULL: none */
    size_t end_length; /* matched bytes of that end */
    size_t skipped;    /* bytes skipped */
    void (*write)(void *context, const char *bytes, size_t count);
    void *context;
};

void stderr_filter_init(struct stderr_filter *stderr_filter,
                        void (*write)(void *context, const char *bytes, size_t count), void *context);
void stderr_filter_take(struct stderr_filter *stderr_filter, const char *bytes, size_t count);

/* At the end: passes what is held back. */
void stderr_filter_flush(struct stderr_filter *stderr_filter);
