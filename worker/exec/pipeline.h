/* SPDX-License-Identifier: MIT */
/* Running the chunks of a loop with dependencies, a turn at a time: what inline.h does for others.
 *
 * A chunk is computed along the synchronization dimension, all its rows together, the first row ahead (struct
 * hdss_block). It goes on as far as the boundary data of the chunk before have come, and stands still until there are
 * more; at each synchronization point, every `interval` elements of its first row, what its last row has added to its
 * own boundary data is told (EVENT_BOUNDARY_READY). So neighbouring chunks are computed side by side, the later one
 * some elements behind, and each chunk sends as many messages as there are points. Between two points it stops after
 * some milliseconds to look after messages.
 *
 * Boundary data are kept by the boundary, the iteration at which one chunk ends and the next begins. Those of the chunk
 * that runs and of others that ended here are kept until they are released, or reused by the next chunk if that is
 * computed here, too. Those from elsewhere may come before their chunk does.
 *
 * Where a helper runs the kernel (helper.h) a step is a command. Boundary data are copied into the memory that is
 * shared with it and out of it, as MPI may still send those of steps before; rows of results lie there, and leave from
 * there. A helper that dies takes what the kernel keeps of the chunk with it: the chunk is begun again, in pieces of as
 * few rows as an iteration needs before it, one after the other, so that it is known which of them kills helpers. That
 * one is tried again, and then given up: where nothing is behind it the chunk ends without it, else the loop ends. What
 * of the chunk has left stays: the same comes again, and is left out. Where iterations have a limit of time the helper
 * of a piece that takes longer than all its rows may is killed, and so is that of a chunk of several pieces whose step,
 * of some milliseconds as a rule, takes longer than a row may: that blames no row, and finds out which one it is. */
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
