/* SPDX-License-Identifier: MIT */
/* Blocks of variable output as a helper puts them into the memory that it shares with its worker: each behind its
 * length, in 8 bytes, at a multiple of 8. User code may have written there, too. */
#pragma once

#include "worker/exec/output.h"

#include <stdint.h>

/* Takes the block at `bytes` over, of which `left` are there, whatever they are. It is to have iterations from `first`
 * on, none of them beyond `end`; `*count` receives how many. Returns the bytes to the next block, at most `left` but
 * for what fills the last one up; 0 where memory is out or that is no such block. */
uint64_t blocks_take(struct output *output, const unsigned char *bytes, uint64_t left, uint64_t first, uint64_t end,
                     uint32_t *count);
