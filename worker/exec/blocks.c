/* SPDX-License-Identifier: MIT */
/* Blocks from a helper: see blocks.h. */
#include "worker/exec/blocks.h"

#include "proto/block.h"
#include "worker/exec/channel.h"

#include <string.h>

static int put_block(struct output *output, uint64_t first, const struct block *block)
{
    const unsigned char *at[BLOCK_STREAMS_MAX];
    memcpy(at, block->stream, sizeof at);
    output_begin(output, first + block->count);
    for (uint32_t k = 0; k < block->count; k++) {
        for (unsigned s = 0; s < output->streams; s++) {
            uint32_t length = block_length(block, k, s);
            if (output->calls.put(&output->calls, first + k, s, at[s], length) < 0)
                return -1;
            at[s] += length;
        }
        if (block_failed(block, k) && output->calls.failed(&output->calls, first + k) < 0)
            return -1;
    }
    return 0;
}

uint64_t blocks_take(struct output *output, const unsigned char *bytes, uint64_t left, uint64_t first, uint64_t end,
                     uint32_t *count)
{
    struct block block;
    uint64_t size;
    if (left < sizeof size)
        return 0;
    memcpy(&size, bytes, sizeof size);
    if (size > left - sizeof size || !block_read(&block, bytes + sizeof size, size, output->streams) ||
        block.count > end - first || put_block(output, first, &block) < 0)
        return 0;
    *count = block.count;
    return channel_block_bytes(size);
}
