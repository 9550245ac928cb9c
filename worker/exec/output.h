/* SPDX-License-Identifier: MIT */
/* Variable output that a kernel has put, until it leaves as blocks: see proto/block.h.
 *
 * The bytes of each stream gather in a buffer that grows, and so does the table of lengths. What has gathered is taken
 * off from the front, block by block, none larger than SLICE_MAX unless it is of one iteration alone: an iteration of
 * any size that MPI can send is fine, wherever it stands. */
#pragma once

#include "hdss/kernel.h"
#include "proto/block.h"

/* Bytes at the end of which more can be added, and which are taken off from the front. */
struct gathered {
    unsigned char *bytes; /* owned */
    size_t from, to, capacity;
};

struct output {
    struct hdss_output calls; /* first: what the kernel is given */
    struct {
        uint64_t next, failures;
        size_t table, stream[HDSS_STREAMS_MAX]; /* bytes that had gathered */
    } begun;                                    /* state when the range that runs began */
    unsigned streams;
    bool keeps; /* output of a failed iteration is kept; else the iteration fails as if the kernel had said so */
    bool called_failed; /* in the range that runs, where it is not kept */
    bool is_unfit;      /* the kernel calls the process that */
    uint64_t first;     /* iteration of the first entry that has not been taken off */
    uint64_t next;      /* behind the last one that has an entry */
    uint64_t end;       /* end of the range that runs */
    uint64_t failures;  /* gathered iterations that are called failed, where what they put is kept */
    struct gathered table;
    struct gathered stream[HDSS_STREAMS_MAX];
    uint64_t latest; /* bytes of the iteration at `next` - 1 */
    char problem[120];
};

void output_init(struct output *output, unsigned streams, bool keeps);
void output_fini(struct output *output);

/* Forgets what has gathered; the next iteration is `first`. */
void output_clear(struct output *output, uint64_t first);

/* Notes that the kernel is about to run iterations up to `end`. */
void output_begin(struct output *output, uint64_t end);

/* Takes back all that the failed kernel put. */
void output_revert(struct output *output);

/* Ends the range that the kernel has run: iterations that put nothing get their entries. -1 when memory is out. */
int output_end(struct output *output);

/* Iterations that have gathered. */
static inline uint64_t output_count(const struct output *output)
{
    return output->next - output->first;
}

/* Bytes of the block that the gathered iterations would make. */
static inline size_t output_bytes(const struct output *output)
{
    size_t bytes = BLOCK_HEAD_BYTES + output->table.to - output->table.from;
    for (unsigned s = 0; s < output->streams; s++)
        bytes += output->stream[s].to - output->stream[s].from;
    return bytes;
}

/* Returns the length of the longest run of gathered iterations that fits into a block, at least one, and of which the
 * kernel calls all failed or none, so that whoever collects it needs not look into it; `*bytes` is the block's size. */
uint64_t output_fit(const struct output *output, size_t *bytes);

/* True if the next iteration that leaves is called failed. */
bool output_fails_next(const struct output *output);

/* Takes the next `count` iterations off: writes their block to `out` where that is not NULL, and returns their digest,
 * without streams that differ from run to run. */
uint64_t output_take(struct output *output, uint64_t count, const struct hdss_loop *loop, unsigned char *out);
