/* SPDX-License-Identifier: MIT */
/* Runs the chunks of a loop with dependencies, in turns: the counterpart of inline.h.
 *
 * A chunk is computed along the synchronization dimension, all its rows together, the first row ahead (struct
 * hdss_block). The computation advances as far as the boundary data of the previous chunk have arrived, then waits. At
 * each synchronization point, every `interval` elements of the first row, the event BOUNDARY_READY reports the new
 * boundary data of the last row. So neighbouring chunks are computed in parallel, the later one some elements behind,
 * and each chunk sends one message per point. Between two points the computation pauses every few milliseconds to
 * handle messages.
 *
 * A boundary is the iteration at which one chunk ends and the next begins; the boundary data between two chunks are
 * stored under this iteration. Boundary data of chunks that were computed here are kept until they are released, or
 * until the next chunk has used them here. Data from other workers may arrive before their chunk begins.
 *
 * With a helper (helper.h) each step is a command. Boundary data are copied into and out of shared memory, because MPI
 * may still be sending the data of earlier steps. Rows of results are in shared memory and are sent from there. If the
 * helper dies, the kernel's state of the chunk is lost. The chunk then begins again in pieces of as few rows as one
 * iteration depends on, to find the piece that crashes helpers. That piece is retried and finally given up. If no
 * iteration depends on the piece, the chunk ends without it; otherwise the loop ends. Rows that were sent stay valid;
 * their repeated results are equal and are not sent again.
 *
 * With a time limit, the helper is killed if a piece takes longer than all its rows may take. As long as the chunk can
 * be split further, the helper is also killed if one step, which usually takes some milliseconds, takes longer than one
 * row may take. Then no row is blamed, but the hanging row is found. */
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
    unsigned char *bytes; /* owned, EXEC_HEADROOM + room bytes; with a helper, mapped from its shared memory */
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
    /* The rows that are computed together: index of the first one in the chunk, and their number. Unless is_split,
     * these are all rows of the chunk. */
    uint64_t piece, rows;
    /* Numbers of elements of the piece's first row: computed so far, and needed for the last row to be complete. */
    uint64_t from, end;
    uint64_t told;
    uint64_t done; /* computed elements, in rows, rounded down; `count` only after all are computed */
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
    /* The running step and the earlier steps of the piece (earlier_ns) together may take as long as limit_rows rows. */
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
 * BOUNDARY_READY, MARK, SLICE, ITERATIONS_FAILED, FINISHED, and FATAL if the kernel fails, iterations are given up that
 * others depend on, or memory runs out. */
int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config);
