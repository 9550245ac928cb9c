/* SPDX-License-Identifier: MIT */
/* Blocks: see block.h. */
#include "proto/block.h"

size_t block_head_put(unsigned char *out, uint32_t count, unsigned streams)
{
    wire_put32(out, count);
    wire_put32(out + 4, streams);
    return BLOCK_HEAD_BYTES;
}

/* Adds up the bytes of each stream. Returns false if an entry of the table is invalid. The sums cannot overflow,
 * because a block has at most 2^28 entries. */
static bool block_read_table(struct block *block)
{
    for (uint32_t i = 0; i < block->count; i++) {
        if (wire_get32(block_entry(block, i)) & ~BLOCK_FAILED)
            return false;
        for (unsigned s = 0; s < block->streams; s++)
            block->bytes[s] += block_length(block, i, s);
    }
    return true;
}

bool block_read(struct block *block, const unsigned char *bytes, size_t size, unsigned streams)
{
    if (size < BLOCK_HEAD_BYTES || size > BLOCK_MAX || streams == 0 || streams > BLOCK_STREAMS_MAX)
        return false;
    *block = (struct block){.table = bytes + BLOCK_HEAD_BYTES, .count = wire_get32(bytes), .streams = streams};
    size_t left = size - BLOCK_HEAD_BYTES, entry = block_entry_bytes(streams);
    if (wire_get32(bytes + 4) != streams || block->count == 0 || block->count > left / entry ||
        !block_read_table(block))
        return false;
    const unsigned char *at = block->table + block->count * entry;
    left -= block->count * entry;
    for (unsigned s = 0; s < streams; s++) {
        if (block->bytes[s] > left)
            return false;
        block->stream[s] = at;
        at += block->bytes[s];
        left -= block->bytes[s];
    }
    return left == 0;
}
