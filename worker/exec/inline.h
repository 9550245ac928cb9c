/* SPDX-License-Identifier: MIT */
/* Running chunks in the worker's own thread, a turn at a time.
 *
 * The chunk is computed in turns of about TURN_NS, so that between two of them the runtime can look after its messages,
 * and a turn in calls of the kernel that are far shorter, as long as iterations are: only behind a call is it known how
 * long its iterations were. Results that are to be collected gather in one of two buffers; a full one leaves as a slice
 * while the other fills. What is computed leaves once in a second at least, so that long chunks are seen to go on.
 *
 * A chunk is timed by two readings of the clock, which can take ten times as long as a short chunk itself. Where the
 * caller can do without the time of each (config.short_runs), chunks that are known to be short are computed at once by
 * exec_short(), and only the last of a run of some tens is timed: the run counts as so many iterations of its length,
 * and as all the time that has passed where that is more than a run of short chunks can take. So no long chunk goes
 * uncounted, and the sum is that of chunks timed one by one, without the readings of the clock.
 *
 * Variable output gathers in buffers of its own (output.h) and is copied into one of the two when it leaves: how long
 * its parts are is known only then.
 *
 * Where the kernel fails at several iterations together they are run one by one, so that those that work count; one
 * that fails by itself is an event, and the chunk goes on behind it. */
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

/* Bytes in front of the records into which the wire format of a message may be written. */
#define EXEC_HEADROOM 64
#define EXEC_BUFFERS  2

struct sched_spec;
struct thread_pool;

/* Threads of a helper, of which each end says what the other does not know. */
struct exec_team {
    /* the worker */
    unsigned threads;
    bool spread;      /* they show how iterations differ */
    size_t slot_room; /* bytes for the records of a slot; 0: they are only digested */
    /* the helper */
    const struct sched_spec *technique;
    unsigned cores;
    /* Calls thread_pool_serve() in each thread, in the caller's with index 0 by way of `work`. */
    int (*run)(struct thread_pool *pool, int (*work)(void *context), void *context);
};

struct exec_config {
    const struct hdss_kernel *kernel;
    const union hdss_value *values;
    const struct hdss_loop *loop;      /* borrowed for the executor's life */
    struct hdss_worker worker;         /* the worker, as kernels see it */
    bool collect;                      /* results leave with the events, else only their digest does */
    double slowdown;                   /* 1: as fast as the core can */
    uint64_t probe_first, probe_count; /* the loop, from which the probe iterations are taken */
    bool unprobed;                     /* run nothing only to be timed */
    unsigned probe_least;              /* probe at least so many of them, however long they take */
    bool spread;                       /* time chunks in pieces, so that they show how iterations differ */
    struct span *span;        /* where others take iterations that have not begun; borrowed; NULL: the rank is asked */
    const unsigned *server;   /* with a span: the rank that may take them, */
    const uint32_t *chunk;    /* and the number by which it knows the running chunk */
    bool short_runs;          /* the time of each single short chunk is not needed */
    uint64_t turn_ns;         /* length of a turn; 0: TURN_NS */
    uint64_t turn_iterations; /* and its iterations at most; 0: any number */
    /* for time steps that build upon one another */
    uint64_t step_iterations; /* iterations of a step; 0: steps do not build upon one another */
    /* Reads the records of iterations that are done, whoever computed them. -1 with one line. */
    int (*read)(void *context, uint64_t first, uint64_t count, void *records, struct error *error);
    void *context;                     /* passed to read() */
    const struct helper_start *helper; /* a helper runs the kernel, which is not opened here; NULL: the caller's thread
                                          does. Not for kernels with a descriptor() */
    uint64_t limit_ns; /* with a helper: it is killed when an iteration has run for longer; 0: there is no limit */
    bool begins_late;  /* the helper begins with the first chunk or probe */
    const struct exec_team *team; /* threads of the helper, see remote_team.h; NULL: it has none */
    bool limit_adapts; /* the limit is a large multiple of the longest iteration that was seen, limit_ns at least; none
                          before one was seen */
    unsigned retries;  /* how many times an iteration that kills the helper is tried again, if iterations depend on one
                          another */
};

struct exec_buffer {
    unsigned char *bytes; /* owned, EXEC_HEADROOM + capacity records, or as much as the latest block took */
    size_t room;          /* for a block, behind the headroom */
    bool sent;            /* on its way: not to be touched */
    bool has_moved;       /* shared with a helper: is at the second place that it has there */
};

/* The time step that the kernel is in, and its iterations: the whole loop where steps do not build upon one another. */
struct exec_step {
    uint64_t number, first, count;
    void *earlier;             /* the records of the step before it, as far as they were read; owned */
    bool is_stuck, stuck_told; /* the next step cannot be entered, for which exec->error says why: nothing is computed
                                  any more */
    /* Tells other instances of a step, when that of this executor has been told; NULL: there are none. */
    int (*tell_others)(void *others, uint64_t step, const void *results, char error[HDSS_ERROR_MAX]);
    void *others;
};

/* Results that have not left: records of one length in the buffers, or variable output. */
struct exec_records {
    uint64_t bytes, capacity; /* bytes of a record; records that fit a buffer; 0 for variable output */
    struct exec_buffer buffers[EXEC_BUFFERS];
    unsigned filling;       /* the buffer that is in use */
    bool variable;          /* the kernel's output is variable */
    struct output output;   /* variable output */
    double iteration_bytes; /* estimate, for the size of a turn */
};

/* The running chunk, or the latest. sliced <= done <= count. */
struct exec_chunk {
    bool running;
    bool waiting; /* the iteration at `done` has begun and waits for something, since wait_began_ns */
    bool ends;    /* nobody wants more of it than is done: what runs of it is about to end */
    bool failed;  /* the iteration at `done` has failed: exec->error says why; `final`: for good; `died`: its
                     process has died */
    bool final, died;
    uint64_t first, count, mark;
    uint64_t done;     /* iterations computed, or failed */
    uint64_t sliced;   /* iterations that left with a slice, or failed */
    uint64_t is_reset; /* iterations of the chunk up to this one are run one by one, because a call with several of them
                          failed or its process died */
    uint64_t digest;   /* digest of iterations not sliced; with variable output, of those digested at their making */
    bool is_shared;    /* the span is open */
    uint64_t stolen;   /* iterations taken from its end, of which the machine is not told yet */
    uint64_t began_ns; /* when the chunk's first iteration began */
    uint64_t wait_began_ns;
    uint64_t compute_ns;
    uint64_t sliced_at_ns; /* compute_ns when the last slice left */
};

/* The pieces in which a chunk is timed, where the spread is wanted. */
struct exec_pieces {
    struct spread spread;
    uint64_t first, end; /* the running piece, in iterations of the chunk */
    double ns;           /* time in it so far */
};

/* Chunks that are too short to be timed one by one. */
struct exec_shorts {
    uint64_t count;      /* a chunk of so many iterations is short; 0: not known */
    unsigned stable;     /* short chunks in a row that were timed one by one */
    double clock_ns;     /* time of a reading of the clock */
    double iteration_ns; /* time of a short iteration */
    unsigned run_left;   /* chunks of the run that are to come; 0: it has not begun */
    uint64_t run_done;   /* iterations of the run */
    uint64_t run_began_ns;
    uint64_t random; /* state of the generator that draws the length of runs */
};

/* The time for which the iteration that runs stands where it is, as the worker sees it when it looks. */
struct exec_standing {
    uint64_t begun, done; /* iterations of the command, or of the probe, at the latest look */
    uint64_t looked_ns;   /* when that was */
    uint64_t ns;          /* both numbers have been these for so long */
    uint64_t longest_ns;  /* no iteration that was seen took longer; 0: none was seen */
    uint64_t over_ns;     /* the limit that the iteration has gone beyond, for which the helper was killed; 0: none */
};

/* The chunk that begins behind the running one, where a helper computes: it may have it already. */
struct exec_next {
    uint64_t first, count; /* count 0: there is none */
    uint64_t mark;
    bool isolated;
};

/* What a helper does for a probe. */
enum exec_probing { PROBING_NOTHING, PROBING_OPENS, PROBING_RUNS };

/* The helper that runs the kernel, and the command that it has: iterations `base` to base + count of the chunk. */
struct exec_remote {
    struct helper helper;
    bool posted; /* it has a command */
    uint64_t base, count;
    struct channel_done taken; /* of the command, what has been taken over */
    uint64_t next_count;       /* iterations of the command that was given ahead: the first of the next chunk */
    bool drops_next;           /* the helper is at that command, and nobody wants it any more */
    struct {
        unsigned char *memory; /* mapped; NULL: not yet */
        uint64_t mapped;       /* bytes of it */
    } blocks[CHANNEL_WORKS];   /* of variable output */
    bool ends_soon;            /* the command was cut, as a part is due */
    unsigned deaths;           /* of helpers in a row with no iteration to blame */
    enum exec_probing probing;
    uint64_t probe_began_ns;
    bool probe_ends;    /* nobody wants it any more */
    struct speed speed; /* that was probed */
    struct exec_standing standing;
};

struct exec {
    struct executor executor; /* first */
    struct exec_config config;
    void *instance; /* instance of the kernel, while `open` */
    bool open;      /* the kernel is open */
    struct exec_step step;
    struct exec_records records;
    struct exec_chunk chunk;
    struct exec_next next;
    struct exec_pieces pieces;
    struct exec_shorts shorts;
    struct isolated isolated;  /* child process, where the chunk is run in one */
    struct exec_remote remote; /* where config.helper is set */
    uint64_t ended_ns;         /* when the kernel was last seen to end; with short chunks after exec_pause() */
    double iteration_ns;       /* estimate, for what one call of the kernel is given; 0: unknown */
    double iterations_seen;    /* iterations of which iteration_ns is the mean */
    double waiting_ns;         /* owed to the slowdown */
    char error[HDSS_ERROR_MAX];
};

/* Opens the kernel and allocates the buffers; executor_fini() closes the kernel. -1 with one line in exec->error,
 * nothing owned. The events of the executor are MARK, SLICE, ITERATIONS_FAILED, FINISHED, and FATAL where a time step
 * cannot be entered; a chunk that begins takes in the run of short chunks before it. */
int exec_init(struct exec *exec, const struct exec_config *config);

/* True for a chunk that is known to be short; never where results are collected, the worker is slowed down or the
 * spread is wanted. */
static inline bool exec_is_short(const struct exec *exec, uint64_t count)
{
    return count <= exec->shorts.count;
}

/* Computes the first or the last short chunk of a run: see exec_short(). */
int exec_short_timed(struct exec *exec, uint64_t first, uint64_t count, uint64_t *digest, uint64_t *compute_ns);

/* Computes a short chunk at once, the one before being over, and adds to `digest` and `compute_ns`: 0 for most chunks,
 * the last of a run brings the time of all. -1 when the kernel failed, with one line in exec->error. */
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

/* Times the probe iterations, and waits for a helper that does. */
void exec_probe_now(struct exec *exec, struct speed *speed);

/* Ends the run of short chunks, as the caller is going to do something else that may take a while, or is through.
 * Returns the time of its chunks. */
uint64_t exec_pause(struct exec *exec);

/* Times the probe iterations, each computed by one call of `run_one`; see common/machine/probe.h. */
void exec_time_probe(struct exec *exec, void (*run_one)(void *context, uint64_t iteration), void *context,
                     struct speed *speed);
