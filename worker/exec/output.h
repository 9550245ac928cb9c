/* SPDX-License-Identifier: MIT */
/* Variable output of a kernel, before it is sent as blocks (proto/block.h).
 *
 * The bytes of each stream and the table of lengths are collected in growing buffers. Blocks are taken from the front
 * of the buffers. A block of several iterations has at most SLICE_MAX bytes. A block of a single iteration may be
 * larger, up to the size that MPI can send. */
#pragma once

#include "hdss/kernel.h"
#include "proto/block.h"

struct gathered {
    unsigned char *bytes;
    size_t from, to, capacity;
};

struct output {
    struct hdss_output calls; /* first member, because the kernel gets its address */
    struct {
        uint64_t next, failures;
        size_t table, stream[HDSS_STREAMS_MAX];
    } begun;
    unsigned streams;
    bool keeps; /* true: failed iterations keep their output; false: a failed iteration is an error of the kernel */
    bool called_failed;
    bool is_unfit; /* the kernel has declared that this process cannot continue */
    uint64_t first;
    uint64_t next;
    uint64_t end;
    uint64_t failures;
    struct gathered table;
    struct gathered stream[HDSS_STREAMS_MAX];
    uint64_t latest;
    char problem[120];
};

void output_init(struct output *output, unsigned streams, bool keeps);
void output_fini(struct output *output);

void output_clear(struct output *output, uint64_t first);

void output_begin(struct output *output, uint64_t end);

void output_revert(struct output *output);

/* Adds entries for the iterations of a range for which the kernel gave no output. Call it after the kernel has run the
 * range. Returns -1 if memory runs out. */
int output_end(struct output *output);

static inline uint64_t output_count(const struct output *output)
{
    return output->next - output->first;
}

static inline size_t output_bytes(const struct output *output)
{
    size_t bytes = BLOCK_HEAD_BYTES + output->table.to - output->table.from;
    for (unsigned s = 0; s < output->streams; s++)
        bytes += output->stream[s].to - output->stream[s].from;
    return bytes;
}

/* Returns how many of the first collected iterations fit into a block, at least 1. These iterations have all succeeded
 * or all failed. `*bytes`: size of the block. */
uint64_t output_fit(const struct output *output, size_t *bytes);

bool output_fails_next(const struct output *output);

/* Removes the next `count` iterations and writes their block to `out`, unless `out` is NULL. Returns the digest of
 * these iterations. The digest leaves out streams that differ from run to run. */
uint64_t output_take(struct output *output, uint64_t count, const struct hdss_loop *loop, unsigned char *out);
