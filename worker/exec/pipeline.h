/* SPDX-License-Identifier: MIT */
/* Runs the chunks of a loop with dependencies, in turns: the counterpart of inline.h.
 *
 * A chunk is computed along the synchronization dimension, all its rows together, the first row ahead (struct
 * hdss_block). It advances as far as the boundary data of the previous chunk have arrived, then waits. At each
 * synchronization point, every `interval` elements of its first row, the new boundary data of its last row are reported
 * (EVENT_BOUNDARY_READY). So neighbouring chunks are computed in parallel, the later one some elements behind, and each
 * chunk sends one message per point. Between two points it pauses after some milliseconds for messages.
 *
 * Boundary data are stored by boundary, the iteration at which one chunk ends and the next begins. Those of the running
 * chunk and of others that ended here are kept until they are released, or used by the next chunk if that is computed
 * here, too. Those from other workers may arrive before their chunk begins.
 *
 * With a helper (helper.h) each step is a command. Boundary data are copied into and out of shared memory, because MPI
 * may still send those of earlier steps; rows of results are in shared memory and are sent from there. If the helper
 * dies, the kernel's state of the chunk is lost: the chunk begins again, in pieces of as few rows as an iteration needs
 * before it, so that it becomes known which piece kills helpers. That piece is retried, then given up: the chunk ends
 * without it if nothing follows it, else the loop ends. What was sent stays; the repeated results are equal and are
 * omitted.
 *
 * With a time limit, the helper is killed if a piece takes longer than all its rows may, or if a step of a chunk with
 * several pieces, usually some milliseconds, takes longer than one row may: the latter blames no row, but finds it. */
#pragma once

#include "common/machine/executor.h"
#include "worker/exec/inline.h"

struct pipeline_config {
    struct exec_config exec;
    uint64_t points; /* number of synchronization points, 1 .. loop->sync */
    uint64_t end;    /* end of the loop, whose boundary data nobody needs */
};

/* Boundary data at one boundary. */
struct halo {
    uint64_t at;
    unsigned char *data; /* owned */
    uint64_t bytes;      /* complete bytes from the beginning */
    uint64_t announced;  /* bytes complete after the messages on their way */
    unsigned awaited;    /* messages on their way */
    bool is_kept;        /* MPI may read it until the process ends */
};

/* Records of a chunk. */
struct pipeline_buffer {
    unsigned char *bytes; /* owned, EXEC_HEADROOM + room; with a helper mapped from its shared memory */
    uint64_t room;
    uint64_t at;     /* with a helper: offset in the shared memory */
    unsigned on_way; /* parts being sent */
    bool is_kept;    /* MPI may read it until the process ends */
};

/* The running or last chunk. sliced <= done <= count, from <= end, piece + rows <= count. */
struct pipeline_chunk {
    bool running;
    bool has_room; /* its rows have room */
    uint64_t first, count, mark;
    uint64_t piece,
        rows; /* rows computed together: index of the first one in the chunk, and number; all unless is_split */
    uint64_t from,
        end;         /* of the piece's first row: computed elements, and their number when the last row is complete */
    uint64_t told;   /* bytes of boundary data reported */
    uint64_t done;   /* computed elements in rows; count only when all are */
    uint64_t sliced; /* rows sent */
    uint64_t compute_ns, sliced_at_ns, began_ns;
    bool is_split;    /* computed in pieces after the death of a helper */
    bool died;        /* the piece has killed its helper, which is not reported yet: exec.error has the reason */
    bool is_given_up; /* the piece is given up, and this was reported */
    unsigned deaths;  /* helpers that died at the piece */
};

/* What the pipeline shares with a helper. */
struct pipeline_shared {
    uint64_t bytes;    /* size of the shared memory */
    unsigned halo_in;  /* halo with the boundary data before the piece; the other one gets the piece's */
    uint64_t in_bytes; /* bytes of the previous chunk's data in it, during the first piece */
    uint64_t piece_ns; /* time of the piece's earlier steps */
    uint64_t earlier_ns,
        limit_rows; /* the part of it that counts for the running step, and the rows whose time it has */
};

struct pipeline {
    struct executor executor; /* first */
    struct exec exec;         /* runs the kernel, and probes */
    struct pipeline_config config;
    uint64_t interval;   /* elements between two synchronization points */
    uint64_t halo_bytes; /* all boundary data of a chunk */
    struct halo *halos;  /* [halo_capacity], owned; those beyond halo_count keep their arrays for reuse */
    unsigned halo_count, halo_capacity;
    struct pipeline_buffer buffers[EXEC_BUFFERS];
    unsigned filling;
    struct pipeline_chunk chunk;
    struct pipeline_shared shared; /* if a helper runs the kernel */
    double element_ns;             /* estimate: an element of the first row with those below it; 0: unknown */
    bool has_problem, problem_told;
};

/* Opens the kernel; executor_fini() closes it. On failure pipeline->exec.error is set and nothing is owned. Events:
 * BOUNDARY_READY, MARK, SLICE, ITERATIONS_FAILED, FINISHED, and FATAL if the kernel has failed, something that others
 * need is given up, or memory runs out. */
int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config);
