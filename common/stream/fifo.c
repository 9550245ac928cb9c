/* SPDX-License-Identifier: MIT */
/* See fifo.h. If there is no room at the end, the used part is moved to the front. If that would free less than half of
 * the block, the size of the block is doubled instead. So each byte is moved at most once on average. The used part is
 * always contiguous and can be written to a socket with one call. */
#include "common/stream/fifo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIFO_LEAST 4096
/* If a block is empty and larger than this, it is freed. */
#define FIFO_KEPT (4u << 20)

void fifo_init(struct fifo *fifo)
{
    *fifo = (struct fifo){0};
}

void fifo_fini(struct fifo *fifo)
{
    free(fifo->bytes);
    fifo_init(fifo);
}

size_t fifo_size(const struct fifo *fifo)
{
    return fifo->end - fifo->begin;
}

unsigned char *fifo_first(const struct fifo *fifo)
{
    return fifo->bytes + fifo->begin;
}

unsigned char *fifo_append(struct fifo *fifo, size_t size)
{
    const size_t used = fifo_size(fifo);
    assert(size > 0);
    if (fifo->capacity - fifo->end < size && used + size <= fifo->capacity / 2) {
        memmove(fifo->bytes, fifo_first(fifo), used);
        fifo->begin = 0;
        fifo->end = used;
    }
    if (fifo->capacity - fifo->end < size) {
        size_t larger = fifo->capacity > 0 ? fifo->capacity : FIFO_LEAST;
        while (larger / 2 < used + size)
            larger *= 2;
        unsigned char *bytes = malloc(larger);
        if (bytes == NULL)
            return NULL;
        if (used > 0)
            memcpy(bytes, fifo_first(fifo), used);
        free(fifo->bytes);
        *fifo = (struct fifo){bytes, 0, used, larger};
    }
    fifo->end += size;
    return fifo->bytes + fifo->end - size;
}

void fifo_drop(struct fifo *fifo, size_t size)
{
    assert(size <= fifo_size(fifo));
    fifo->begin += size;
    if (fifo->begin < fifo->end)
        return;
    fifo->begin = fifo->end = 0;
    if (fifo->capacity > FIFO_KEPT)
        fifo_fini(fifo);
}
