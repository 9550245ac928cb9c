/* SPDX-License-Identifier: MIT */
/* Runs the chunks of a loop with dependencies, in turns: the counterpart of inline.h.
 *
 * All rows of a chunk are computed together, along the synchronization dimension; the first row is ahead of the others
 * (struct hdss_block). The computation advances as far as the boundary data of the previous chunk have arrived. Then it
 * waits for more data. At each synchronization point, every `interval` elements of the first row, the event
 * BOUNDARY_READY reports the new boundary data of the last row. So neighbouring chunks are computed in parallel, and
 * the later one is some elements behind. Each chunk sends one message per synchronization point. Between two points the
 * computation pauses every few milliseconds to handle messages.
 *
 * A boundary is the iteration at which one chunk ends and the next begins; the boundary data between two chunks are
 * stored under this iteration. Boundary data of chunks that were computed here are kept until they are released, or
 * until the next chunk has used them here. Data from other workers may arrive before their chunk begins.
 *
 * With a helper (helper.h) each step is a command. Boundary data are copied into and out of shared memory, because MPI
 * may still be sending the data of earlier steps. The rows of results are in shared memory and are sent from there. If
 * the helper dies, the kernel's state of the chunk is lost. The chunk is then computed again in pieces, to find the
 * piece that crashes helpers. A piece has as few rows as one iteration depends on. The piece that crashes helpers is
 * retried and finally given up. If no iteration depends on the piece, the chunk ends without it; otherwise the loop
 * ends. Rows that were sent stay valid. They are computed again with equal results, and are not sent again.
 *
 * With a time limit, the helper is killed if a piece takes longer than all its rows may take. A step usually takes some
 * milliseconds. If the chunk can be split further, the helper is already killed if a step takes longer than one row may
 * take. No row is blamed for that, but the chunk is split, and the hanging row is found sooner. */
#pragma once

#include "common/machine/executor.h"
#include "worker/exec/inline.h"

struct pipeline_config {
    struct exec_config exec;
    uint64_t points;
    uint64_t end;
};

struct halo {
    uint64_t at;
    unsigned char *data;
    uint64_t bytes;
    uint64_t announced;
    unsigned awaited;
    bool is_kept;
};

struct pipeline_buffer {
    unsigned char *bytes; /* owned; size: EXEC_HEADROOM + room; with a helper, mapped from shared memory */
    uint64_t room;
    uint64_t at;
    unsigned on_way;
    bool is_kept;
};

/* The running or last chunk. Invariants: sliced <= done <= count, from <= end, piece + rows <= count. */
struct pipeline_chunk {
    bool running;
    bool has_room;
    uint64_t first, count, mark;
    /* The rows that are computed together: index in the chunk of the first such row, and number of rows. If `is_split`
     * is false, these are all rows of the chunk. */
    uint64_t piece, rows;
    /* In the first row of the piece: number of elements computed so far (from), and number at which the last row of the
     * piece is complete (end). */
    uint64_t from, end;
    uint64_t told;
    uint64_t done; /* progress in rows, rounded down; equals `count` only after all elements are computed */
    uint64_t sliced;
    uint64_t compute_ns, sliced_at_ns, began_ns;
    bool is_split;
    bool died;
    bool is_given_up;
    unsigned deaths;
};

struct pipeline_shared {
    uint64_t bytes;
    /* index of the halo with the boundary data before the piece; the other halo gets the data after the piece */
    unsigned halo_in;
    uint64_t in_bytes;
    uint64_t piece_ns;
    /* Time limit: earlier_ns and the time of the running step together may be as long as limit_rows rows may take.
     * earlier_ns: time of the earlier steps of the piece, if these count. */
    uint64_t earlier_ns, limit_rows;
};

struct pipeline {
    struct executor executor;
    struct exec exec;
    struct pipeline_config config;
    uint64_t interval;
    uint64_t halo_bytes;
    struct halo *halos; /* [halo_capacity], owned; unused halos, from halo_count on, keep their arrays */
    unsigned halo_count, halo_capacity;
    struct pipeline_buffer buffers[EXEC_BUFFERS];
    unsigned filling;
    struct pipeline_chunk chunk;
    struct pipeline_shared shared;
    double element_ns;
    bool has_problem, problem_told;
};

/* Opens the kernel; executor_fini() closes it. On failure pipeline->exec.error is set and nothing is owned. Events:
 * BOUNDARY_READY, MARK, SLICE, ITERATIONS_FAILED, FINISHED. Also FATAL, in three cases: the kernel fails, memory runs
 * out, or iterations are given up on which others depend. */
int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config);
