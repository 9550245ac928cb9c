/* SPDX-License-Identifier: MIT */
/* Removes what mpirun prints about exit statuses other than 0, aborts, signals that it passes on, and failures to
 * report a lost rank.
 *
 * The programs of HDSS explain their exit statuses; mpirun would add a dozen lines that look like a crash. `mpirun
 * --quiet` would also suppress real errors. Other text passes at once, and unchanged; only what may be the beginning of
 * a message is held back. */
#pragma once

#include <stddef.h>

struct stderr_filter {
    char held[256];
    size_t held_length;
    char last;       /* last character that was passed on; after an escape character no message begins */
    const char *end; /* end of the message that is skipped; NULL: none is skipped */
    size_t end_length;
    size_t skipped;
    void (*write)(void *context, const char *bytes, size_t count);
    void *context;
};

void stderr_filter_init(struct stderr_filter *stderr_filter,
                        void (*write)(void *context, const char *bytes, size_t count), void *context);
void stderr_filter_take(struct stderr_filter *stderr_filter, const char *bytes, size_t count);

/* Must be called at the end. Passes on the text that is held back. */
void stderr_filter_flush(struct stderr_filter *stderr_filter);
