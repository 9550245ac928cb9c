/* SPDX-License-Identifier: MIT */
/* Variable output of a kernel until it is sent as blocks: see proto/block.h.
 *
 * The bytes of each stream and the table of lengths are collected in growing buffers. Blocks are taken from the front,
 * none larger than SLICE_MAX unless it has a single iteration, so an iteration may have any size that MPI can send. */
#pragma once

#include "hdss/kernel.h"
#include "proto/block.h"

/* A buffer to whose end bytes are added and from whose front they are removed. */
struct gathered {
    unsigned char *bytes; /* owned */
    size_t from, to, capacity;
};

struct output {
    struct hdss_output calls; /* first: passed to the kernel */
    struct {
        uint64_t next, failures;
        size_t table, stream[HDSS_STREAMS_MAX]; /* bytes collected */
    } begun;                                    /* state at the begin of the running range */
    unsigned streams;
    bool keeps;         /* output of failed iterations is kept; else they fail like other errors of the kernel */
    bool called_failed; /* in the running range, if output is not kept */
    bool is_unfit;      /* the kernel declared the process unfit */
    uint64_t first;     /* iteration of the first remaining entry */
    uint64_t next;      /* end of the iterations with entries */
    uint64_t end;       /* end of the running range */
    uint64_t failures;  /* collected iterations reported as failed, if their output is kept */
    struct gathered table;
    struct gathered stream[HDSS_STREAMS_MAX];
    uint64_t latest; /* bytes of iteration `next` - 1 */
    char problem[120];
};

void output_init(struct output *output, unsigned streams, bool keeps);
void output_fini(struct output *output);

/* Removes everything; the next iteration is `first`. */
void output_clear(struct output *output, uint64_t first);

/* The kernel begins to run iterations up to `end`. */
void output_begin(struct output *output, uint64_t end);

/* Removes what the failed kernel has put. */
void output_revert(struct output *output);

/* Ends a successful range: iterations without output get their entries. -1 if memory runs out. */
int output_end(struct output *output);

/* Number of collected iterations. */
static inline uint64_t output_count(const struct output *output)
{
    return output->next - output->first;
}

/* Size of a block of all collected iterations. */
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

/* True if the next iteration to leave is reported as failed. */
bool output_fails_next(const struct output *output);

/* Removes the next `count` iterations: writes their block to `out` unless NULL, and returns their digest without
 * streams that differ from run to run. */
uint64_t output_take(struct output *output, uint64_t count, const struct hdss_loop *loop, unsigned char *out);
