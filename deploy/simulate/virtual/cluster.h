/* SPDX-License-Identifier: MIT */
/* A whole cluster in one process in virtual time: the real machines exchange real encoded messages over a modelled
 * network, with modelled work. Deterministic: the same configuration gives the same trace, byte for byte.
 *
 * Model: a message takes `latency_ns` (`remote_latency_ns` between nodes) plus its bytes / `bytes_per_ns`. A rank
 * handles one event at a time and is busy for `service_ns`; a worker computes in parallel, iteration i in cost(i) /
 * speed. If sending takes time (`message_ns`), the messages of a rank depart one after the other, each after the chunks
 * that the step has cut and assigned before it, and computing begins after that. If a worker becomes slower during an
 * iteration, the rest of the iteration takes `slow_factor` times as long. Probing and timing in pieces follow the
 * executor, with a free clock and without warm-up. If other processes compete for a worker's core its work is
 * multiplied by the number of runnable processes, including itself; with weighting acp it learns the load at once.
 *
 * A chunk takes one call of the kernel, and so does each step of a chunk with dependencies, even if iterations cost
 * nothing.
 *
 * Dependencies: in a loop with a synchronization dimension, a row (iteration) needs the previous one and the one
 * `distance` before it at the same place of that dimension. Values are really computed and travel as boundary data
 * between chunks. A record is made of all values of its row, so that the checksum equals the serial one
 * (virtual_serial_checksum()) only if each chunk had the right data in time. A chunk takes `sync_points` steps of equal
 * length, each of which begins after its data have arrived.
 *
 * Faults: a killed rank does nothing any more; its messages in transit arrive up to some moment, and `detect_ns` later
 * the watching ranks are notified: its master, its workers, and the supermaster for masters, its own workers and those
 * of lost masters. The same applies to a rank that has left. A stopped rank handles nothing until it is continued,
 * without notice. A slowed rank takes longer for everything. Messages to and from a stalled rank arrive after the
 * stall. A receiver of nonsense drops its sender, which is notified and leaves. MPI neither loses nor duplicates
 * messages between living ranks, nor changes their order. For effects of lost peers see faults.c. */
#pragma once

#include "common/config/run_spec.h"
#include "common/service/poison.h"
#include "common/util/error.h"

struct trace_sink;

enum virtual_fault_type {
    VIRTUAL_KILL,
    VIRTUAL_STOP,
    VIRTUAL_CONTINUE,
    VIRTUAL_KILL_ALL, /* the whole job, as by a batch system */
    VIRTUAL_SLOW,
    VIRTUAL_STALL,
    VIRTUAL_BABBLE,  /* the next message that it sends is invalid, or not allowed for the sender */
    VIRTUAL_PROBLEM, /* its runtime reports a fatal problem */
};

/* From `at_ns` on, `load` runnable processes compete for a worker's core, including itself. */
struct virtual_load {
    unsigned worker; /* from 0 */
    uint64_t at_ns;
    double load;
};

/* From `at_ns` on, the loop has `count` iterations. */
struct virtual_growth {
    uint64_t at_ns; /* NEVER: does not happen */
    uint64_t count;
};

/* The kernel fails, kills its worker, kills its helper, or, with variable output, reports the iteration as failed
 * although it is done. */
enum virtual_outcome {
    VIRTUAL_WORKS,
    VIRTUAL_FAILS,
    VIRTUAL_CRASHES,
    VIRTUAL_KILLS_HELPER,
    VIRTUAL_IS_CALLED_FAILED,
};

/* A master with its workers on a node of their own that joins during the run. Its ranks, beginning with the master's,
 * follow those of the launch and of earlier pods. */
struct virtual_pod {
    uint64_t at_ns;
    unsigned workers;
    double speed;       /* of its workers, 1 = nominal */
    uint64_t leaves_ns; /* when it has to leave; 0: at the end */
};

struct virtual_fault {
    enum virtual_fault_type type;
    unsigned rank;
    uint64_t at_ns;
    uint64_t at_event;      /* after the rank has handled this number of events (from 1); 0: at `at_ns` */
    unsigned after_actions; /* kill at an event: number of its actions that are applied */
    uint64_t for_ns;        /* STOP: 0 means until continued; STALL */
    double factor;          /* SLOW */
};

struct virtual_config {
    /* line-up: rank 0 is the supermaster, followed by masters and workers */
    unsigned masters, workers;
    unsigned nodes;                 /* with workers and masters distributed in blocks; 0 means 1 */
    const unsigned *rank_node;      /* [ranks] node of each, from 0, instead of this distribution; borrowed */
    const struct virtual_pod *pods; /* [pod_count] by time; borrowed for the run */
    unsigned pod_count;
    bool is_elastic; /* these two as in struct supermaster_config */
    unsigned awaited;
    bool sends_results; /* masters of pods send results to the supermaster (--results here) */
    /* run specification, borrowed by the machines */
    struct run_spec spec;
    /* Technique as on a command line, for callers without a complete specification: sets the technique of `spec`, and
     * the defaults of values that must not be 0. NULL: `spec` is complete. */
    const char *technique;
    uint64_t first, count;
    uint64_t begins_ns; /* start of the run */
    /* [growth_count] by time; borrowed; if any, the loop grows from 0 to `count`, complete with the last */
    const struct virtual_growth *growth;
    unsigned growth_count;
    bool is_told_of_growth; /* the supermaster is notified at these times and does not poll */
    /* The same as in struct supermaster_config; borrowed for the run and virtual_new(). */
    const struct precedence *precedence;
    const struct ranges *done_failed;
    uint64_t step_iterations;                                 /* per time step; 0: one step */
    bool steps_dependent;                                     /* a step needs the results of the previous one */
    bool no_speculation, no_isolation, is_patient, are_tasks; /* as in struct supermaster_config */
    uint64_t columns;          /* extent of the synchronization dimension; 0: independent iterations */
    uint64_t distance;         /* of the dependences along the loop; 0 means 1 */
    uint64_t reach;            /* a row needs elements of the previous one up to this far ahead */
    const double *powers;      /* [workers] as from a power file; NULL: equal, unless measured; borrowed */
    bool collect;              /* results are sent and stored; otherwise only digested */
    bool undigested;           /* results are not digested either */
    uint64_t phantom_bytes;    /* not 0: results of this size per iteration are sent and stored without content */
    bool variable;             /* results are variable output: see virtual_length() */
    uint64_t slice_iterations; /* results are sent in parts of this size; 0: whole chunks */
    bool journal;              /* committed ranges are recorded, see journalled */
    bool sync;                 /* committed ranges are synced before that */
    const struct ranges *done; /* done by an earlier run; borrowed for virtual_new(); NULL: none */
    uint64_t done_digest;
    const struct poison_set *deaths; /* in earlier runs, as in struct supermaster_config; NULL: none */
    uint64_t point_at;               /* recovery point of an earlier run; borrowed for the run */
    const unsigned char *point;
    /* machine */
    uint64_t latency_ns, remote_latency_ns, service_ns;
    uint64_t calculation_ns;    /* per chunk, in addition to that of `spec` */
    double message_ns, byte_ns; /* busy time of the sender per message and per byte */
    double bytes_per_ns;        /* 0: infinite */
    /* In addition to iterations, at speed 1: cost of a kernel call, and of a cold one: see virtual_call_ns(). */
    double call_ns, cold_ns;
    double iteration_ns; /* lower bound of an iteration */
    bool in_order;       /* shorter messages do not overtake longer ones */
    /* a worker may begin a chunk while another runs, as with a helper; not for dependent loops and shared ranks */
    bool begins_ahead;
    bool cuts_at_once; /* RECALL takes effect within an iteration, as with threads, instead of at its end */
    bool steals; /* otherwise: a RECALL to a rank of the same node takes what has not begun at once, without the rank */
    const double *speeds;      /* [workers] 1 = nominal; NULL: all 1; borrowed for the run */
    const double *rank_speeds; /* [ranks] for other work than computing; NULL: all 1; borrowed */
    double (*cost_ns)(void *context, uint64_t iteration); /* at speed 1; NULL: 1 us each */
    /* Cost of a range; NULL: the sum of cost_ns(). */
    double (*costs_ns)(void *context, uint64_t first, uint64_t count);
    /* Time of a message between two nodes, replacing the latencies and bandwidth above. */
    uint64_t (*transfer_ns)(void *context, unsigned from_node, unsigned to_node, uint64_t bytes);
    void *context;
    /* events */
    uint64_t drain_at_ns; /* time of a signal to `drain_rank`; NEVER or 0: none */
    unsigned drain_rank;
    uint64_t cancel_at_ns; /* the supermaster is told to end running iterations as well; NEVER or 0: not */
    unsigned slow_worker;  /* worker (from 0) that becomes slower at `slow_at_ns` */
    uint64_t slow_at_ns;
    double slow_factor;               /* 3: to a third of its speed; 0: none */
    const struct virtual_load *loads; /* [load_count] by time; borrowed; 1 before the first */
    unsigned load_count;
    const struct virtual_fault *faults; /* [fault_count] borrowed */
    unsigned fault_count;
    uint64_t fault_seed;    /* determines which messages of dead ranks arrive, and delays */
    uint64_t order_seed;    /* shuffles simultaneous events, and those within a latency; 0: causal order */
    uint64_t jitter_ns;     /* maximum additional time of a message, in order */
    uint64_t last_ns;       /* time after its death in which messages of a rank arrive; 0: twice the latency */
    uint64_t detect_ns;     /* time between a rank's death and the notices */
    uint64_t pod_detect_ns; /* the same for pods; 0: as above */
    bool watch_all;         /* the supermaster is notified of all ranks */
    bool loses_ranks;       /* allows virtual_lose(); not needed with faults */
    uint64_t collect_ns;    /* additional time of separate data messages */
    /* Outcome of an iteration on this worker; NULL: all succeed. */
    enum virtual_outcome (*outcome)(void *context, unsigned rank, uint64_t iteration);
    /* Called for each iteration that killed this worker, or its child process; may be NULL. */
    void (*ended)(void *context, unsigned rank, uint64_t iteration, bool is_worker);
    /* True if this worker computes the iteration wrongly, without variable output; NULL: never. */
    bool (*lies)(void *context, unsigned rank, uint64_t iteration);
    uint64_t failing_store;   /* store number n (from 1) fails; 0: never */
    bool short_writes;        /* the failing store writes half of its bytes */
    uint64_t failing_journal; /* the same for journal records, syncs and sends; a failed send ends the whole job */
    uint64_t failing_sync;
    uint64_t failing_send;
    void (*in_machine)(bool inside); /* called around the machines, to make their allocations fail */
    bool unchecked;                  /* faster, without checks of the invariants after each step */
    uint64_t limit_ns;               /* the run counts as hung after this time; 0: one hour */
    /* the same for the number of events, in case machines exchange messages forever; 0: no limit */
    uint64_t limit_events;
    /* [1 + masters + pod_count] trace sinks of supermaster and masters, by rank; borrowed; may be NULL */
    struct trace_sink *const *sinks;
    void (*trace)(void *trace_context, const char *line); /* may be NULL */
    void *trace_context;
};

/* A recorded recovery point. */
struct virtual_point {
    uint64_t at;
    uint64_t bytes;      /* so far */
    unsigned char *data; /* owned */
};

struct virtual_result {
    int status;         /* of the supermaster; -1: hung, -2: killed */
    uint64_t end_ns;    /* end of the last rank */
    uint64_t events;    /* handled */
    uint64_t executed;  /* iterations */
    uint64_t too_early; /* chunks that began although an earlier time step, or an iteration that they depend on, was not
                           done */
    uint64_t misled;    /* impossible actions on boundary data; chunks that are too small */
    uint64_t handed_over;  /* boundary data sent, in bytes */
    uint64_t reused;       /* chunks whose boundary data stayed on the worker */
    uint64_t stored_twice; /* iterations with repeatedly written records */
    uint64_t wrong;        /* wrong records among those done */
    /* iterations recorded twice or before they were stored; reports before the reported results were synced */
    uint64_t journalled_early;
    const struct ranges *journalled; /* recorded by this run; valid until virtual_free() */
    const struct poison_set *deaths; /* recorded by this run; valid until virtual_free() */
    uint64_t journalled_digest, journal_writes, syncs;
    const struct virtual_point *points; /* [point_count] complete ones in order; valid until virtual_free() */
    unsigned point_count;
    unsigned killed;                       /* ranks, by faults and by iterations */
    unsigned hits;                         /* faults that took effect */
    unsigned sent_garbage, drops;          /* invalid messages; dropped ranks */
    unsigned failed_writes, failed_sends;  /* stores, records and syncs; sends */
    unsigned hung_rank;                    /* status -1: a rank that had not left */
    const struct supermaster *supermaster; /* in its final state; valid until virtual_free() */
};

struct virtual_cluster;

/* After this time without a kernel call the caches of a core are cold. */
#define COLD_AFTER_NS 1e6

/* Cost of a kernel call at `now_ns`, at speed 1; the previous one began at `before_ns` (negative: none). */
static inline double virtual_call_ns(const struct virtual_config *config, double before_ns, double now_ns)
{
    return before_ns < 0 || now_ns - before_ns >= COLD_AFTER_NS ? config->cold_ns : config->call_ns;
}

/* Length of a growing loop at `now_ns`, and whether it is complete. */
static inline uint64_t virtual_grown(const struct virtual_config *config, uint64_t now_ns, bool *is_complete)
{
    unsigned past = 0;
    while (past < config->growth_count && config->growth[past].at_ns <= now_ns)
        past++;
    *is_complete = past == config->growth_count;
    return past > 0 ? config->growth[past - 1].count : 0;
}

/* Time of `count` iterations with total cost `cost_ns`, at speed 1. */
static inline double virtual_cost_ns(const struct virtual_config *config, double cost_ns, uint64_t count)
{
    double least_ns = config->iteration_ns * (double)count;
    return cost_ns > least_ns ? cost_ns : least_ns;
}

/* Time of a probed iteration: a call of its own; reading the clock, half of a call, happens once for many. */
static inline double virtual_probed_ns(const struct virtual_config *config, double cost_ns)
{
    return virtual_cost_ns(config, cost_ns, 1) + config->call_ns / 2;
}

/* NULL with one line if the configuration is invalid. */
struct virtual_cluster *virtual_new(const struct virtual_config *config, struct error *error);
void virtual_free(struct virtual_cluster *cluster);

/* The supermaster in its present state, for use by `trace`. */
const struct supermaster *virtual_supermaster(const struct virtual_cluster *cluster);

/* Busy time of a rank with events since the first assignment. */
uint64_t virtual_busy_ns(const struct virtual_cluster *cluster, unsigned rank);

/* Runs to the end or the limit. */
struct virtual_result virtual_run(struct virtual_cluster *cluster);

/* Like virtual_run(), but in steps, for several clusters side by side. virtual_next_ns() returns the time of the next
 * event, NEVER if there is none; virtual_advance() handles it, or returns false at a limit. */
void virtual_begin(struct virtual_cluster *cluster);
uint64_t virtual_next_ns(const struct virtual_cluster *cluster);
bool virtual_advance(struct virtual_cluster *cluster);
struct virtual_result virtual_end(struct virtual_cluster *cluster);

/* True after all ranks have left. */
bool virtual_is_over(const struct virtual_cluster *cluster);

/* Status of the supermaster, as in the result; -1: has not left. */
int virtual_status(const struct virtual_cluster *cluster);

/* Between two events: drain the supermaster (`now`: without finishing running iterations), or kill a rank. */
void virtual_drain(struct virtual_cluster *cluster, uint64_t now_ns, bool now);
void virtual_lose(struct virtual_cluster *cluster, unsigned rank, uint64_t now_ns);

/* Record of an iteration, checksum of a loop; for variable output the length, in which the record is repeated. */
uint64_t virtual_record(uint64_t iteration);
uint32_t virtual_length(uint64_t iteration);
uint64_t virtual_checksum(uint64_t first, uint64_t count);

/* Checksum of a loop with dependencies, computed serially. */
uint64_t virtual_serial_checksum(const struct virtual_config *config);
