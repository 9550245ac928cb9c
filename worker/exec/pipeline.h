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
 * Where the loop is quiesced some of them are saved, and the others dropped: what may still be sent or received keeps
 * its memory until the end. */
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
    bool is_own;         /* computed here: it may be being sent */
    bool is_saved;       /* while the loop is quiesced */
};

/* Room for the records of a chunk. */
struct pipeline_buffer {
    unsigned char *bytes; /* owned, EXEC_HEADROOM + room */
    uint64_t room;
    unsigned on_way; /* parts that have left and are not through */
};

/* The running chunk, or the latest. sliced <= done <= count, from <= end. */
struct pipeline_chunk {
    bool running;
    uint64_t first, count, mark;
    uint64_t from, end; /* elements of its first row: computed, and when the last row is complete */
    uint64_t told;      /* bytes of its boundary data */
    uint64_t done;      /* rows' worth of elements computed: count only when all are */
    uint64_t sliced;    /* rows that have left */
    uint64_t compute_ns, sliced_at_ns, began_ns;
};

struct pipeline {
    struct executor executor; /* first */
    struct exec exec;         /* the kernel, and its probe */
    struct pipeline_config config;
    uint64_t interval;   /* elements between two points */
    uint64_t halo_bytes; /* bytes of all boundary data of a chunk */
    struct halo *halos;  /* [halo_capacity], owned; those beyond halo_count keep their arrays for the next */
    unsigned halo_count, halo_capacity;
    unsigned char **abandoned; /* [abandoned_count] arrays that MPI may still use; owned, with the list */
    unsigned abandoned_count;
    size_t abandoned_room;
    struct pipeline_buffer buffers[EXEC_BUFFERS];
    unsigned filling;
    struct pipeline_chunk chunk;
    double element_ns; /* estimate, of an element of the first row with those below it; 0: unknown */
    double waiting_ns; /* owed to the slowdown */
    bool has_problem, problem_told;
};

/* Opens the kernel; executor_fini() closes it. -1 with one line in pipeline->exec.error, nothing owned. The events of
 * the executor are BOUNDARY_READY, MARK, SLICE, FINISHED, and FATAL where the kernel has failed or memory is out. */
int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config);
