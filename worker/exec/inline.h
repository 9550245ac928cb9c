/* SPDX-License-Identifier: MIT */
/* Runs chunks in the worker's own thread, one turn at a time.
 *
 * A turn takes about TURN_NS; between two turns the runtime handles its messages. A turn consists of much shorter calls
 * of the kernel if iterations are short, because their time is known only after a call. Results that are to be
 * collected go to one of two buffers. A full buffer is sent as a slice while the other one fills. Results are sent at
 * least once per second of computing, so that progress of long chunks is visible.
 *
 * Timing a chunk takes two readings of the clock, which can take ten times as long as a short chunk. If the caller does
 * not need the time of each chunk (config.short_runs), chunks that are known to be short are computed at once by
 * exec_short(), and only the last chunk of a run of some tens is timed. The time of the run is its number of iterations
 * times the time of a short iteration; if more time has passed than a run of short chunks can take, it is all the time
 * that has passed. So the time of a long chunk is never lost, and the sum equals that of chunks timed one by one,
 * without the time of the clock.
 *
 * Variable output is collected in buffers of its own (output.h) and copied into one of the two when it is sent, because
 * the lengths of its parts are known only then.
 *
 * If the kernel fails in a call of several iterations, they are run again one by one, so that the good ones count. An
 * iteration that fails in a call of its own is reported, and the chunk continues after it. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/spread.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/returned.h"
#include "hdss/kernel.h"
#include "proto/record.h"
#include "worker/exec/helper.h"
#include "worker/exec/isolated.h"
#include "worker/exec/output.h"

/* Bytes before the records, for the head of a message in the wire format. */
#define EXEC_HEADROOM 64
#define EXEC_BUFFERS  2

struct sched_spec;
struct thread_pool;

/* Threads of a helper. Worker and helper each set the members that the other end does not know. */
struct exec_team {
    /* set by the worker */
    unsigned threads;
    bool spread;
    size_t slot_room; /* bytes for the records of a slot; 0: records are only digested */
    /* set by the helper */
    const struct sched_spec *technique;
    unsigned cores;
    /* Calls thread_pool_serve() in every thread except the caller's, which calls `work` as thread 0. */
    int (*run)(struct thread_pool *pool, int (*work)(void *context), void *context);
};

struct exec_config {
    const struct hdss_kernel *kernel;
    const union hdss_value *values;
    const struct hdss_loop *loop; /* borrowed until executor_fini() */
    struct hdss_worker worker;
    bool collect;                      /* results are sent with the events; otherwise only their digest is */
    double slowdown;                   /* factor by which the worker is slowed down on purpose; 1: not at all */
    uint64_t probe_first, probe_count; /* range of the loop from which the probe iterations are taken */
    bool unprobed;
    unsigned probe_least;   /* minimum number of probe iterations, however long they take */
    bool spread;            /* time chunks in pieces, to measure how iteration times vary */
    struct span *span;      /* lets other ranks take unbegun iterations; borrowed; NULL: they must ask */
    const unsigned *server; /* with a span: the rank that may take iterations */
    const uint32_t *chunk;  /* with a span: the number of the running chunk at that rank */
    bool short_runs;
    uint64_t turn_ns;         /* length of a turn; 0: TURN_NS */
    uint64_t turn_iterations; /* limit of iterations in a turn; 0: none */
    uint64_t step_iterations; /* iterations per time step; 0: time steps do not depend on each other */
    /* Reads the records of finished iterations, whichever rank computed them. */
    int (*read)(void *context, uint64_t first, uint64_t count, void *records, struct error *error);
    void *context;
    const struct helper_start *helper; /* how to start the helper that runs the kernel; NULL: the caller's thread runs
                                          it. Not for kernels with a descriptor() */
    uint64_t limit_ns;                 /* with a helper: it is killed if an iteration runs for longer; 0: no limit */
    bool begins_late;                  /* the helper is started with the first chunk or probe, not with the executor */
    const struct exec_team *team;      /* threads of the helper, see remote_team.h; NULL: it has only one */
    bool limit_adapts; /* the limit is a large multiple of the longest iteration seen, but at least limit_ns; none
                          before an iteration was seen */
    unsigned retries;  /* how many times an iteration that crashes its helper is retried, if iterations depend on each
                          other */
};

struct exec_buffer {
    unsigned char *bytes; /* owned; EXEC_HEADROOM plus `capacity` records, or plus `room` bytes for a block */
    size_t room;          /* bytes for a block, after the headroom */
    bool sent;            /* being sent: must not be changed */
    bool has_moved;       /* shared with a helper: uses the second of its two places there */
};

/* The kernel's present time step and the iterations in it: the whole loop, unless time steps depend on each other. */
struct exec_step {
    uint64_t number, first, count;
    void *earlier;             /* records of the previous step, as far as they were read; owned */
    bool is_stuck, stuck_told; /* the next step cannot be entered, so nothing more is computed; exec->error has the
                                  reason, stuck_told: it was reported */
    /* Passes a step to the kernel's other instances, after this executor's instance has got it; NULL: no others. */
    int (*tell_others)(void *others, uint64_t step, const void *results, char error[HDSS_ERROR_MAX]);
    void *others;
};

/* Results that were not sent yet: records of fixed length in the buffers, or variable output. */
struct exec_records {
    uint64_t bytes, capacity; /* bytes of a record; number of records that fit into a buffer; 0 for variable output */
    struct exec_buffer buffers[EXEC_BUFFERS];
    unsigned filling;
    bool variable;
    struct output output;
    double iteration_bytes; /* estimated output of an iteration, from which the size of a turn follows */
};

struct exec_chunk {
    bool running;
    bool waiting; /* the iteration at `done` has begun and waits for an event, since wait_began_ns */
    bool ends;    /* the rest of the chunk is not wanted: its running iteration is about to end */
    bool failed;  /* the iteration at `done` has failed for the reason in exec->error; `final`: it is not retried;
                     `died`: its process has died */
    bool final, died;
    uint64_t first, count, mark;
    uint64_t done; /* number of computed or failed iterations */
    uint64_t sliced;
    uint64_t is_reset; /* the first is_reset iterations of the chunk are run one by one, because a call of several of
                          them has failed or killed its process */
    uint64_t digest;   /* digest of iterations that were computed but not sent; if variable output is collected it is
                          computed on sending */
    bool is_shared;
    uint64_t stolen; /* iterations that others took from the chunk's end, not reported yet */
    uint64_t began_ns;
    uint64_t wait_began_ns;
    uint64_t compute_ns;
    uint64_t sliced_at_ns;
};

struct exec_pieces {
    struct spread spread;
    uint64_t first, end; /* the running piece, relative to the chunk */
    double ns;
};

struct exec_shorts {
    uint64_t count;  /* chunks of up to this many iterations are short; 0: unknown */
    unsigned stable; /* number of successive short chunks that were timed individually */
    double clock_ns;
    double iteration_ns;
    unsigned run_left; /* chunks left in the run; 0: no run has begun */
    uint64_t run_done;
    uint64_t run_began_ns;
    uint64_t random;
};

/* How long the helper's running iteration has made no progress, as seen by the worker. */
struct exec_standing {
    uint64_t begun, done; /* iterations of the command or probe that had begun and were done at the last look */
    uint64_t looked_ns;
    uint64_t ns;         /* how long both numbers have not changed */
    uint64_t longest_ns; /* upper bound of the longest iteration seen; 0: none seen */
    uint64_t over_ns;    /* the limit for which the helper was killed; 0: it was not */
};

/* With a helper: the chunk that follows the running one. The helper may have begun it already. */
struct exec_next {
    uint64_t first, count; /* count == 0: there is none */
    uint64_t mark;
    bool isolated;
};

enum exec_probing { PROBING_NOTHING, PROBING_OPENS, PROBING_RUNS };

/* The helper that runs the kernel, and its command: `count` iterations of the chunk from `base` on. */
struct exec_remote {
    struct helper helper;
    bool posted;
    uint64_t base, count;
    struct channel_done taken; /* what the worker has taken over of the command */
    uint64_t next_count;
    bool drops_next; /* the helper runs the command that was given ahead, but its results are not wanted */
    struct {
        unsigned char *memory; /* mapping of the blocks of variable output; NULL: not mapped yet */
        uint64_t mapped;
    } blocks[CHANNEL_WORKS];
    bool ends_soon;
    unsigned deaths; /* successive deaths of helpers without an iteration to blame */
    enum exec_probing probing;
    uint64_t probe_began_ns;
    bool probe_ends;
    struct speed speed;
    struct exec_standing standing;
};

struct exec {
    struct executor executor;
    struct exec_config config;
    void *instance;
    bool open;
    struct exec_step step;
    struct exec_records records;
    struct exec_chunk chunk;
    struct exec_next next;
    struct exec_pieces pieces;
    struct exec_shorts shorts;
    struct isolated isolated;
    struct exec_remote remote;
    uint64_t ended_ns;
    double iteration_ns;    /* estimate from which the length of a call follows; 0: unknown */
    double iterations_seen; /* number of iterations over which iteration_ns is averaged */
    double waiting_ns;      /* time that the worker must still sleep because of its slowdown */
    char error[HDSS_ERROR_MAX];
};

/* Opens the kernel and allocates the buffers; executor_fini() closes and frees them. On failure exec->error has the
 * reason and nothing is owned. Events: MARK, SLICE, STOLEN, ITERATIONS_FAILED, FINISHED, and FATAL if a time step
 * cannot be entered. The first chunk after a run of short chunks includes the time of that run. */
int exec_init(struct exec *exec, const struct exec_config *config);

/* True if a chunk of `count` iterations is known to be short. Never true if results are collected, the worker is slowed
 * down or the spread is measured. */
static inline bool exec_is_short(const struct exec *exec, uint64_t count)
{
    return count <= exec->shorts.count;
}

/* Slow path of exec_short(), for the first and the last chunk of a run. */
int exec_short_timed(struct exec *exec, uint64_t first, uint64_t count, uint64_t *digest, uint64_t *compute_ns);

/* Computes a short chunk at once; the previous chunk must be finished. Adds to `digest` and `compute_ns`; the last
 * chunk of a run adds the time of the whole run, the others add 0. Returns -1 with the reason in exec->error if the
 * kernel fails. */
static inline int exec_short(struct exec *exec, uint64_t first, uint64_t count, uint64_t *digest, uint64_t *compute_ns)
{
    if (exec->shorts.run_left <= 1)
        return exec_short_timed(exec, first, count, digest, compute_ns);
    void *records = exec->records.buffers[0].bytes + EXEC_HEADROOM;
    exec->shorts.run_left--;
    exec->shorts.run_done += count;
    if (returned(exec->config.kernel->run(exec->instance, first, count, records, exec->error), "run", exec->error) < 0)
        return -1;
    *digest += digest_records(first, count, records, exec->records.bytes);
    return 0;
}

/* Times the probe iterations, if necessary by waiting for the helper. */
void exec_probe_now(struct exec *exec, struct speed *speed);

/* Ends the run of short chunks, because the caller is finished or will do something that takes long. Returns the time
 * of the run's chunks. */
uint64_t exec_pause(struct exec *exec);

/* Times the probe iterations, each by one call of `run_one`: see common/machine/probe.h. */
void exec_time_probe(struct exec *exec, void (*run_one)(void *context, uint64_t iteration), void *context,
                     struct speed *speed);
