/* SPDX-License-Identifier: MIT */
/* Leaves mpirun's boilerplate out of its standard error: the blocks about a non-zero exit status or an abort, that it
 * forwards a signal, and that it cannot tell others of a rank that was lost.
 *
 * Our exit statuses mean something and the programs say what; to a run that was drained or refused, mpirun adds a dozen
 * lines that read like a crash. `mpirun --quiet` would leave out its real errors, too. Everything else passes unchanged
 * and at once: only what may be the beginning of such a text is held back until it is decided. */
#pragma once

#include <stddef.h>

struct stderr_filter {
    char held[256];
    size_t held_length;
    char last;         /* the last character that has passed: behind an escape no text begins */
    const char *end;   /* end of the text that is being left out; NULL: none is */
    size_t end_length; /* bytes of that end that were just seen */
    size_t skipped;    /* bytes left out since */
    void (*write)(void *context, const char *bytes, size_t count);
    void *context;
};

void stderr_filter_init(struct stderr_filter *stderr_filter,
                        void (*write)(void *context, const char *bytes, size_t count), void *context);
void stderr_filter_take(struct stderr_filter *stderr_filter, const char *bytes, size_t count);

/* The end: what is still held back passes. */
void stderr_filter_flush(struct stderr_filter *stderr_filter);
