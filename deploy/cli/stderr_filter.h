/* SPDX-License-Identifier: MIT */
/* Removes some messages of mpirun: about exit statuses other than 0, aborts, signals that it passes on, and lost ranks
 * that it could not report.
 *
 * The programs of HDSS explain their exit statuses themselves. mpirun would add a dozen lines that look like a crash.
 * `mpirun --quiet` would also suppress real errors. Text that may be the beginning of such a message is held back;
 * other text is passed on at once, and unchanged. */
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
