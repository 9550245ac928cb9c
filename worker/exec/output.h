/* SPDX-License-Identifier: MIT */
/* Variable output of a kernel until it is sent as blocks: see proto/block.h.
 *
 * The bytes of each stream and the table of lengths are collected in growing buffers. Blocks are taken from the front,
 * none larger than SLICE_MAX unless it has a single iteration, so an iteration may have any size that MPI can send. */
#pragma once

#include "hdss/kernel.h"
#include "proto/block.h"

/* A buffer: bytes are appended at `to` and removed at `from`. */
struct gathered {
    unsigned char *bytes;
    size_t from, to, capacity;
};

struct output {
    struct hdss_output calls; /* first member, because the kernel gets its address */
    struct {
        uint64_t next, failures;
        size_t table, stream[HDSS_STREAMS_MAX];
    } begun; /* state at the start of the running range, for output_revert() */
    unsigned streams;
    bool keeps; /* failed iterations keep their output; otherwise a failed iteration is an error of the kernel */
    bool called_failed; /* only if !keeps: an iteration of the running range was reported as failed */
    bool is_unfit;      /* the kernel has declared that this process cannot continue */
    uint64_t first;     /* first iteration that was not taken yet */
    uint64_t next;
    uint64_t end;
    uint64_t failures; /* only if `keeps`: number of collected iterations that were reported as failed */
    struct gathered table;
    struct gathered stream[HDSS_STREAMS_MAX];
    uint64_t latest; /* output bytes of iteration `next` - 1 */
    char problem[120];
};

void output_init(struct output *output, unsigned streams, bool keeps);
void output_fini(struct output *output);

/* Removes everything. The next output must be that of iteration `first`. */
void output_clear(struct output *output, uint64_t first);

/* To be called before the kernel runs the iterations up to `end`. */
void output_begin(struct output *output, uint64_t end);

/* Removes the output of the running range, because the kernel has failed. */
void output_revert(struct output *output);

/* To be called after a range has succeeded: adds entries for iterations without output. Returns -1 if memory runs out.
 */
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

/* Length of the longest run of collected iterations that fits into a block and is entirely failed or entirely good, at
 * least 1; `*bytes`: size of the block. */
uint64_t output_fit(const struct output *output, size_t *bytes);

bool output_fails_next(const struct output *output);

/* Removes the next `count` iterations and writes their block to `out` unless it is NULL. Returns their digest, which
 * leaves out streams that differ from run to run. */
uint64_t output_take(struct output *output, uint64_t count, const struct hdss_loop *loop, unsigned char *out);
