/* SPDX-License-Identifier: MIT */
/* Runs chunks in the worker's own thread, one turn at a time.
 *
 * A turn takes about TURN_NS. Between two turns the runtime handles its messages. If iterations are short, a turn
 * consists of several calls of the kernel: the time of a call is known only after the call. Collected results go to one
 * of two buffers. A full buffer is sent as a slice while the other buffer fills. Results are sent at least once per
 * second of computing, so that the progress of a long chunk is visible.
 *
 * Reading the clock before and after a short chunk can take ten times as long as the chunk. So if the caller does not
 * need the time of each chunk (config.short_runs), exec_short() computes a short chunk without reading the clock. Only
 * the last chunk of a run of some tens of chunks is timed. The time of the run is then computed: it is the number of
 * iterations times the measured time of a short iteration. If the run took longer than short chunks can take, its
 * elapsed time counts instead. So the time of a long chunk is never lost.
 *
 * Variable output is first collected in other buffers (output.h), because its length is not known before. When a part
 * of it is sent, the part is copied into one of the two buffers.
 *
 * If the kernel fails in a call of several iterations, these iterations are run again one by one, so that the good ones
 * count. If a call of a single iteration fails, that iteration is reported as failed, and the chunk continues after
 * it. */
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

#define EXEC_HEADROOM 64
#define EXEC_BUFFERS  2

struct sched_spec;
struct thread_pool;

struct exec_team {
    unsigned threads;
    bool spread;
    size_t slot_room; /* size of a slot's memory for records; 0: records are only digested */
    const struct sched_spec *technique;
    unsigned cores;
    int (*run)(struct thread_pool *pool, int (*work)(void *context), void *context);
};

struct exec_config {
    const struct hdss_kernel *kernel;
    const union hdss_value *values;
    const struct hdss_loop *loop; /* borrowed until executor_fini() */
    struct hdss_worker worker;
    bool collect;
    double slowdown; /* factor by which the worker is slowed down on purpose; 1: not at all */
    uint64_t probe_first, probe_count;
    bool unprobed;
    unsigned probe_least; /* minimum number of probe iterations, however long they take */
    bool spread;
    /* the rank `server` may take iterations from this span; borrowed; NULL: `server` must send a request instead */
    struct span *span;
    const unsigned *server; /* with a span: the rank that may take iterations */
    const uint32_t *chunk;
    bool short_runs;
    uint64_t turn_ns;         /* length of a turn; 0: TURN_NS */
    uint64_t turn_iterations; /* limit of iterations in a turn; 0: none */
    uint64_t step_iterations; /* iterations per time step; 0: time steps do not depend on each other */
    int (*read)(void *context, uint64_t first, uint64_t count, void *records, struct error *error);
    void *context;
    /* Starts the helper that runs the kernel; NULL: the caller's thread runs it. Not for kernels with a
     * descriptor(). */
    const struct helper_start *helper;
    /* Time limit of an iteration, after which its helper is killed; 0: none. */
    uint64_t limit_ns;
    bool begins_late;
    const struct exec_team *team; /* threads of the helper: see remote_team.h; NULL: one thread */
    /* True if the time limit adapts: it is a large multiple of the longest iteration so far, but at least limit_ns.
     * There is no limit until the first iteration has ended. */
    bool limit_adapts;
    /* How many times an iteration that crashes its helper is retried, if iterations depend on each other. */
    unsigned retries;
};

struct exec_buffer {
    unsigned char *bytes; /* owned; size: EXEC_HEADROOM plus `capacity` records, or plus `room` bytes for a block */
    size_t room;
    bool sent;
    bool has_moved; /* only for a buffer in memory shared with a helper: it is at the second of its two places */
};

/* The time step that the kernel has entered, and its iterations. If time steps do not depend on each other, this step
 * is the whole loop. */
struct exec_step {
    uint64_t number, first, count;
    void *earlier; /* those records of the previous step that were read; owned */
    /* The kernel cannot enter the next step, so nothing more is computed; exec->error has the reason. `stuck_told`: the
     * executor has reported that. */
    bool is_stuck, stuck_told;
    /* Tells the other instances of the kernel, in other threads, to enter a step that this executor's instance has
     * entered. NULL: there are no other instances. */
    int (*tell_others)(void *others, uint64_t step, const void *results, char error[HDSS_ERROR_MAX]);
    void *others;
};

struct exec_records {
    uint64_t bytes, capacity; /* size of a record, and how many records a buffer holds; capacity 0: variable output */
    struct exec_buffer buffers[EXEC_BUFFERS];
    unsigned filling;
    bool variable;
    struct output output;
    double iteration_bytes;
};

struct exec_chunk {
    bool running;
    bool waiting; /* iteration `done` has begun and waits for an event, since wait_began_ns */
    bool ends;
    /* Iteration `done` has failed; exec->error has the reason. `final`: the iteration is not retried. `died`: the
     * process that ran the iteration has died. */
    bool failed;
    bool final, died;
    uint64_t first, count, mark;
    uint64_t done;
    uint64_t sliced;
    /* The iterations before this index run one by one, because a call of several iterations has failed or killed its
     * process. */
    uint64_t is_reset;
    /* Digest of the iterations whose results were not sent yet. The digest of collected variable output is computed
     * only when the output is sent. */
    uint64_t digest;
    bool is_shared;
    uint64_t stolen;
    uint64_t began_ns;
    uint64_t wait_began_ns;
    uint64_t compute_ns;
    uint64_t sliced_at_ns;
};

struct exec_pieces {
    struct spread spread;
    uint64_t first, end;
    double ns;
};

struct exec_shorts {
    uint64_t count; /* chunks of up to this many iterations are short; 0: unknown */
    unsigned stable;
    double clock_ns;
    double iteration_ns;
    unsigned run_left;
    uint64_t run_done;
    uint64_t run_began_ns;
    uint64_t random;
};

struct exec_standing {
    uint64_t begun, done;
    uint64_t looked_ns;
    uint64_t ns;
    uint64_t longest_ns;
    uint64_t over_ns;
};

struct exec_next {
    uint64_t first, count;
    uint64_t mark;
    bool isolated;
};

enum exec_probing { PROBING_NOTHING, PROBING_OPENS, PROBING_RUNS };

struct exec_remote {
    struct helper helper;
    bool posted;
    uint64_t base, count;
    struct channel_done taken;
    uint64_t next_count;
    bool drops_next; /* the helper runs a command whose results are not wanted */
    struct {
        unsigned char *memory;
        uint64_t mapped;
    } blocks[CHANNEL_WORKS];
    bool ends_soon;
    unsigned deaths;
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
    double iteration_ns;
    double iterations_seen;
    double waiting_ns;
    char error[HDSS_ERROR_MAX];
};

/* Opens the kernel and allocates the buffers; executor_fini() closes and frees them. On failure exec->error has the
 * reason and nothing is owned. Events: MARK, SLICE, STOLEN, ITERATIONS_FAILED, FINISHED. Also FATAL, if the kernel
 * cannot enter a time step. The time of a run of short chunks is added to the next chunk that is timed on its own. */
int exec_init(struct exec *exec, const struct exec_config *config);

/* True if a chunk of `count` iterations may be computed by exec_short(). Never true if results are collected, if the
 * worker is slowed down, or if the spread is measured. */
static inline bool exec_is_short(const struct exec *exec, uint64_t count)
{
    return count <= exec->shorts.count;
}

int exec_short_timed(struct exec *exec, uint64_t first, uint64_t count, uint64_t *digest, uint64_t *compute_ns);

/* Computes a short chunk at once; the previous chunk must be finished. Adds the chunk's digest to `digest`. The last
 * chunk of a run adds the time of the whole run to `compute_ns`; the other chunks add nothing. Returns -1 with the
 * reason in exec->error if the kernel fails. */
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

void exec_probe_now(struct exec *exec, struct speed *speed);

/* Ends the run of short chunks and returns the time of its chunks. Call it after the last chunk, and before longer work
 * that is not part of a chunk. */
uint64_t exec_pause(struct exec *exec);

/* Times the probe iterations, each by one call of `run_one`: see common/machine/probe.h. */
void exec_time_probe(struct exec *exec, void (*run_one)(void *context, uint64_t iteration), void *context,
                     struct speed *speed);
