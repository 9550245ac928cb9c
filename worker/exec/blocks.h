/* SPDX-License-Identifier: MIT */
/* Blocks of variable output in the memory that a helper shares with its worker. Each block starts at a multiple of 8
 * bytes, and the 8 bytes before the block hold its length. User code may have written to this memory, so all lengths
 * are checked. */
#pragma once

#include "worker/exec/output.h"

#include <stdint.h>

/* Appends the block at `bytes` to `output`; `left` bytes are readable. The block has the iterations [first, first +
 * *count), which must be before `end`; sets `*count`. Returns the distance to the next block; it may exceed `left`,
 * because it includes padding. Returns 0 if memory runs out or the block is invalid. */
uint64_t blocks_take(struct output *output, const unsigned char *bytes, uint64_t left, uint64_t first, uint64_t end,
                     uint32_t *count);
