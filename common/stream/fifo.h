/* SPDX-License-Identifier: MIT */
/* Bytes that leave in the order in which they came, in memory that grows as is needed and is used again: nothing is
 * allocated for what is put in once there is room. */
#pragma once

#include <stddef.h>

struct fifo {
    unsigned char *bytes; /* [capacity] owned; those from `begin` on to `end` are in use */
    size_t begin, end, capacity;
};

void fifo_init(struct fifo *fifo);
void fifo_fini(struct fifo *fifo);

size_t fifo_size(const struct fifo *fifo);

/* The first byte; the next ones follow. Until something is put in or dropped. */
unsigned char *fifo_first(const struct fifo *fifo);

/* Appends `size` bytes, at least 1, which the caller is to write. NULL when memory is out, and all is as it was. */
unsigned char *fifo_append(struct fifo *fifo, size_t size);

/* Drops the first `size` bytes. */
void fifo_drop(struct fifo *fifo, size_t size);
