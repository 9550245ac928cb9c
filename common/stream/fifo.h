/* SPDX-License-Identifier: MIT */
/* A byte queue in growing memory that is reused: after it has grown, appending does not allocate. */
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

/* Appends `size` >= 1 bytes, which the caller writes. NULL if memory runs out; then the queue is unchanged. */
unsigned char *fifo_append(struct fifo *fifo, size_t size);

void fifo_drop(struct fifo *fifo, size_t size);
