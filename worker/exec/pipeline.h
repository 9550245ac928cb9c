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
    uint64_t points; /* synchronization points, 1 .. loop->sync */
    uint64_t end;    /* behind the last iteration: its boundary data nobody wants */
};

/* The boundary data of one boundary. */
struct halo {
    uint64_t at;
    unsigned char *data; /* owned */
    uint64_t bytes;      /* complete, from the first on */
    uint64_t announced;  /* complete when what is on its way has come */
    unsigned awaited;    /* data messages on their way */
    bool is_kept;        /* MPI may read it until the process ends */
};

/* Room for the records of a chunk. */
struct pipeline_buffer {
    unsigned char *bytes; /* owned, EXEC_HEADROOM + room; with a helper mapped from its shared memory */
    uint64_t room;
    uint64_t at;     /* with a helper: offset in the shared memory */
    unsigned on_way; /* parts that have left and are not through */
    bool is_kept;    /* MPI may read some of them until the process ends */
};

/* The running chunk, or the latest. sliced <= done <= count, from <= end, piece + rows <= count. */
struct pipeline_chunk {
    bool running;
    bool has_room; /* for its rows */
    uint64_t first, count, mark;
    uint64_t piece, rows; /* rows that are computed together: the first, counted from that of the chunk, and how many;
                             all of them where is_split is not set */
    uint64_t from, end;   /* elements of the piece's first row: computed, and when its last row is complete */
    uint64_t told;        /* bytes of its boundary data */
    uint64_t done;        /* rows' worth of elements computed: count only when all are */
    uint64_t sliced;      /* rows that have left */
    uint64_t compute_ns, sliced_at_ns, began_ns;
    /* where a helper has died */
    bool is_split;    /* it is computed piece by piece */
    bool died;        /* the piece has killed its helper, which is not told yet: exec.error says how */
    bool is_given_up; /* the piece is, and that has been told */
    unsigned deaths;  /* of helpers at the piece */
};

/* What the pipeline shares with a helper. */
struct pipeline_shared {
    uint64_t bytes;   /* of the shared memory, so far */
    unsigned halo_in; /* the halo of the channel with the boundary data of the rows before the piece; the other gets the
                         piece's */
    uint64_t in_bytes;               /* boundary data of the chunk before that are in it, while its first piece runs */
    uint64_t piece_ns;               /* time of the piece's earlier steps */
    uint64_t earlier_ns, limit_rows; /* of that, what counts for the step that runs, and the rows whose time it has */
};

struct pipeline {
    struct executor executor; /* first */
    struct exec exec;         /* the kernel, and its probe */
    struct pipeline_config config;
    uint64_t interval;   /* elements between two points */
    uint64_t halo_bytes; /* bytes of all boundary data of a chunk */
    struct halo *halos;  /* [halo_capacity], owned; those beyond halo_count keep their arrays for the next */
    unsigned halo_count, halo_capacity;
    struct pipeline_buffer buffers[EXEC_BUFFERS];
    unsigned filling;
    struct pipeline_chunk chunk;
    struct pipeline_shared shared; /* where a helper runs the kernel */
    double element_ns;             /* estimate, of an element of the first row with those below it; 0: unknown */
    bool has_problem, problem_told;
};

/* Opens the kernel; executor_fini() closes it. -1 with one line in pipeline->exec.error, nothing owned. The events of
 * the executor are BOUNDARY_READY, MARK, SLICE, ITERATIONS_FAILED, FINISHED, and FATAL where the kernel has failed,
 * what others need is given up or memory is out. */
int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config);
