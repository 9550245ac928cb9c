/* Leaves mpirun's boilerplate about a non-zero exit status out of its standard error.
 *
 * Our exit statuses mean something and are explained by the programs themselves; to a run that was drained or refused,
 * mpirun adds a dozen lines that read like a crash. `mpirun --quiet` would leave out its real errors, too. Everything
 * else passes unchanged and at once: only a row of dashes at the beginning of a line, and what may be the first words
 * of the boilerplate behind it, is held back until it is decided. */
#pragma once

#include <stddef.h>

enum banner_state { BANNER_LINE_START, BANNER_DASHES, BANNER_HEAD, BANNER_SKIP, BANNER_INSIDE };

struct banner {
    enum banner_state state;
    char held[256];
    size_t held_length;
    size_t line_length; /* of the line that is being read */
    size_t dashes;      /* how many characters of it are dashes */
    unsigned skipped;   /* lines */
    void (*write)(void *context, const char *bytes, size_t count);
    void *context;
};

void banner_init(struct banner *banner, void (*write)(void *context, const char *bytes, size_t count), void *context);
void banner_take(struct banner *banner, const char *bytes, size_t count);

/* The end: what is still held back passes. */
void banner_flush(struct banner *banner);
