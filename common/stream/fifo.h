/* SPDX-License-Identifier: MIT */
/* A byte queue. Its memory grows and is used again, so appending allocates only until the memory is large enough. */
#pragma once

#include <stddef.h>

struct fifo {
    unsigned char *bytes;
    size_t begin, end, capacity;
};

void fifo_init(struct fifo *fifo);
void fifo_fini(struct fifo *fifo);

size_t fifo_size(const struct fifo *fifo);

/* Returns the used bytes, valid until the next append or drop. */
unsigned char *fifo_first(const struct fifo *fifo);

/* Makes room for `size` >= 1 bytes at the end and returns its address. The caller must write all these bytes. Returns
 * NULL, and changes nothing, if memory runs out. */
unsigned char *fifo_append(struct fifo *fifo, size_t size);

void fifo_drop(struct fifo *fifo, size_t size);
