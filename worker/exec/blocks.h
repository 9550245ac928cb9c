/* SPDX-License-Identifier: MIT */
/* Blocks of variable output in the memory that a helper shares with its worker: each follows its length, in 8 bytes, at
 * a multiple of 8. User code may have written there as well, so all lengths are checked. */
#pragma once

#include "worker/exec/output.h"

#include <stdint.h>

/* Takes over the block at `bytes`, with at most `left` bytes. It must contain iterations from `first` on, none from
 * `end` on; `*count` gets their number. Returns the distance to the next block, at most `left` except for padding; 0 if
 * memory runs out or the block is invalid. */
uint64_t blocks_take(struct output *output, const unsigned char *bytes, uint64_t left, uint64_t first, uint64_t end,
                     uint32_t *count);
