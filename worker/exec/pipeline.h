/* SPDX-License-Identifier: MIT */
/* Runs the chunks of a loop with dependencies, in turns: the counterpart of inline.h.
 *
 * A chunk is computed along the synchronization dimension, all its rows together, the first row ahead (struct
 * hdss_block). It advances as far as the boundary data of the previous chunk have arrived, then waits. At each
 * synchronization point, every `interval` elements of its first row, the new boundary data of its last row are reported
 * (EVENT_BOUNDARY_READY). So neighbouring chunks are computed in parallel, the later one some elements behind, and each
 * chunk sends one message per point. Between two points the computation pauses every few milliseconds to handle
 * messages.
 *
 * A boundary is the iteration at which one chunk ends and the next begins; boundary data are stored by it. Those of the
 * running chunk, and of other chunks that ended here, are kept until they are released or, if the next chunk is
 * computed here too, used by it. Those from other workers may arrive before their chunk begins.
 *
 * With a helper (helper.h) each step is a command. Boundary data are copied into and out of shared memory, because MPI
 * may still be sending those of earlier steps. Rows of results are in shared memory and are sent from there. If the
 * helper dies, the kernel's state of the chunk is lost. The chunk then begins again in pieces of as few rows as one
 * iteration depends on, to find the piece that crashes helpers. That piece is retried and finally given up: the chunk
 * ends without it if nothing follows it; otherwise the loop ends. Rows that were sent stay valid; their repeated
 * results are equal and are not sent again.
 *
 * With a time limit, the helper is killed if a piece takes longer than all its rows may take. It is also killed if one
 * step of a chunk with several pieces, usually some milliseconds, takes longer than one row may take: that blames no
 * row, but finds the one that hangs. */
#pragma once

#include "common/machine/executor.h"
#include "worker/exec/inline.h"

struct pipeline_config {
    struct exec_config exec;
    uint64_t points;
    uint64_t end; /* end of the loop: nobody needs the boundary data there */
};

struct halo {
    uint64_t at;
    unsigned char *data;
    uint64_t bytes;     /* bytes that have arrived or were computed, from the beginning */
    uint64_t announced; /* bytes that will be there when all messages on their way have arrived */
    unsigned awaited;
    bool is_kept; /* MPI may read it until the process ends */
};

struct pipeline_buffer {
    unsigned char *bytes; /* owned, EXEC_HEADROOM + room bytes; with a helper, mapped from its shared memory */
    uint64_t room;
    uint64_t at; /* with a helper: offset in the shared memory */
    unsigned on_way;
    bool is_kept; /* MPI may read it until the process ends */
};

/* The running or last chunk. sliced <= done <= count, from <= end, piece + rows <= count. */
struct pipeline_chunk {
    bool running;
    bool has_room;
    uint64_t first, count, mark;
    uint64_t piece, rows; /* the rows that are computed together: index of the first one in the chunk, and their number;
                             the whole chunk unless is_split */
    uint64_t from,
        end; /* elements of the piece's first row: computed ones, and the number at which the last row is complete */
    uint64_t told;
    uint64_t done; /* computed elements, counted in rows; equals `count` only if all are computed */
    uint64_t sliced;
    uint64_t compute_ns, sliced_at_ns, began_ns;
    bool is_split;
    bool died;
    bool is_given_up; /* the piece is given up, and this was reported */
    unsigned deaths;
};

struct pipeline_shared {
    uint64_t bytes;
    unsigned halo_in;  /* halo with the boundary data before the piece; the other one gets those after it */
    uint64_t in_bytes; /* bytes of the previous chunk's data in that halo; only during the first piece */
    uint64_t piece_ns;
    uint64_t earlier_ns,
        limit_rows; /* time limit of the running step: how much of piece_ns counts, and how many rows' time it has */
};

struct pipeline {
    struct executor executor;
    struct exec exec; /* runs the kernel and the probe */
    struct pipeline_config config;
    uint64_t interval;
    uint64_t halo_bytes;
    struct halo *halos; /* [halo_capacity], owned; unused ones, from halo_count on, keep their arrays */
    unsigned halo_count, halo_capacity;
    struct pipeline_buffer buffers[EXEC_BUFFERS];
    unsigned filling;
    struct pipeline_chunk chunk;
    struct pipeline_shared shared;
    double element_ns; /* estimated time to compute one element of the first row and those below it; 0: unknown */
    bool has_problem, problem_told;
};

/* Opens the kernel; executor_fini() closes it. On failure pipeline->exec.error is set and nothing is owned. Events:
 * BOUNDARY_READY, MARK, SLICE, ITERATIONS_FAILED, FINISHED, and FATAL if the kernel fails, iterations are given up that
 * others depend on, or memory runs out. */
int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config);
