/* SPDX-License-Identifier: MIT */
/* Blocks of variable output in the memory that a helper shares with its worker. Each block starts at a multiple of 8
 * and is preceded by its length in 8 bytes. User code may have written to this memory, so all lengths are checked. */
#pragma once

#include "worker/exec/output.h"

#include <stdint.h>

/* Appends the block at `bytes` to `output`; at most `left` bytes are readable. Its iterations are those from `first`
 * on, `*count` of them; none may be at `end` or after it. Returns the distance to the next block, which exceeds `left`
 * by padding at most; 0 if memory runs out or the block is invalid. */
uint64_t blocks_take(struct output *output, const unsigned char *bytes, uint64_t left, uint64_t first, uint64_t end,
                     uint32_t *count);
