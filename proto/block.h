/* SPDX-License-Identifier: MIT */
/* A block holds the output of some iterations of a loop with variable output. Such output is sent in blocks, and stays
 * in blocks until the run ends. Layout (PROTOCOL.md section 1):
 *
 *     u32 iterations  u32 streams  { u32 flags  u32 length of each stream } of each iteration  the bytes
 *
 * The bytes are ordered by stream, then by iteration. So the output of consecutive iterations to one stream is
 * contiguous. */
#pragma once

#include "proto/wire.h"

#include <stddef.h>

#define BLOCK_STREAMS_MAX 3
#define BLOCK_HEAD_BYTES  8
/* The largest count of an MPI message. It also limits the output of a single iteration. */
#define BLOCK_MAX INT32_MAX

#define BLOCK_FAILED 1u /* the iteration is done, but the kernel reports it as failed */

static inline size_t block_entry_bytes(unsigned streams)
{
    return 4 + 4 * (size_t)streams;
}

struct block {
    const unsigned char *table;
    uint32_t count;
    unsigned streams;
    const unsigned char *stream[BLOCK_STREAMS_MAX]; /* borrowed, like `table` */
    uint64_t bytes[BLOCK_STREAMS_MAX];
};

/* Reads a block from any bytes. Returns false if they are not a valid block with `streams` streams. */
bool block_read(struct block *block, const unsigned char *bytes, size_t size, unsigned streams);

static inline const unsigned char *block_entry(const struct block *block, uint32_t i)
{
    return block->table + i * block_entry_bytes(block->streams);
}

static inline bool block_failed(const struct block *block, uint32_t i)
{
    return wire_get32(block_entry(block, i)) & BLOCK_FAILED;
}

static inline uint32_t block_length(const struct block *block, uint32_t i, unsigned stream)
{
    return wire_get32(block_entry(block, i) + 4 + 4 * (size_t)stream);
}

size_t block_head_put(unsigned char *out, uint32_t count, unsigned streams);
