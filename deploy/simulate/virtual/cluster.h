/* SPDX-License-Identifier: MIT */
/* A whole cluster in one process in virtual time: real machines exchange real encoded messages; network and work are
 * modelled. Deterministic: the same configuration gives the same trace, byte for byte.
 *
 * Model: a message takes `latency_ns` (`remote_latency_ns` between nodes) plus its bytes / `bytes_per_ns`. A rank
 * handles one event at a time and is busy for `service_ns`; meanwhile a worker computes, iteration i in cost(i) /
 * speed. If sending takes time (`message_ns`), the messages of a rank depart one after the other, each after the chunks
 * that the step has cut and assigned before it, and computing begins after that. If a worker becomes slower during an
 * iteration, the rest of the iteration takes `slow_factor` times as long. Probing and timing in pieces are those of the
 * executor, but reading the clock takes no time and there is no warm-up. If other processes compete for a worker's
 * core, its work takes as many times as long as there are runnable processes, including itself; with weighting acp it
 * learns the load at once.
 *
 * Each chunk, and each step of a chunk with dependencies, costs one call of the kernel, even if its iterations cost
 * nothing.
 *
 * Dependencies: in a loop with a synchronization dimension, a row (iteration) needs the previous one and the one
 * `distance` before it at the same place of that dimension. Values are really computed and travel as boundary data
 * between chunks. The record of a row combines all its values, so the checksum is that of a serial run
 * (virtual_serial_checksum()) only if each chunk had the right data in time. A chunk takes `sync_points` steps of equal
 * length, each of which begins after its data have arrived.
 *
 * Faults: a killed rank does nothing any more. Its messages in transit arrive if they are due before some moment.
 * The ranks that watch it are notified `detect_ns` later: its master, its workers, and the supermaster for masters,
 * its own workers and those of lost masters. The same applies to a rank that has left. A stopped rank handles
 * nothing until it is continued; no rank is notified. A slowed rank takes longer for everything. Messages to and
 * from a stalled rank arrive after the stall. A rank that receives an invalid message drops the sender, which is
 * notified and leaves. MPI neither loses nor duplicates messages between living ranks, nor changes their order.
 * faults.c has the effects of a loss on others. */
#pragma once

#include "common/config/run_spec.h"
#include "common/service/poison.h"
#include "common/util/error.h"

struct trace_sink;

enum virtual_fault_type {
    VIRTUAL_KILL,
    VIRTUAL_STOP,
    VIRTUAL_CONTINUE,
    VIRTUAL_KILL_ALL,
    VIRTUAL_SLOW,
    VIRTUAL_STALL,
    VIRTUAL_BABBLE, /* its next message is invalid, or one that it may not send */
    VIRTUAL_PROBLEM,
};

struct virtual_load {
    unsigned worker;
    uint64_t at_ns;
    double load;
};

struct virtual_growth {
    uint64_t at_ns;
    uint64_t count;
};

/* What the kernel does: succeed, fail, kill its worker, kill its helper, or, with variable output, report the
 * iteration as failed although it is done. */
enum virtual_outcome {
    VIRTUAL_WORKS,
    VIRTUAL_FAILS,
    VIRTUAL_CRASHES,
    VIRTUAL_KILLS_HELPER,
    VIRTUAL_IS_CALLED_FAILED,
};

/* A node that joins during the run, with a master and its workers. The ranks of a pod begin with its master's, and
 * follow those of the launch and of earlier pods. */
struct virtual_pod {
    uint64_t at_ns;
    unsigned workers;
    double speed;
    uint64_t leaves_ns;
};

struct virtual_fault {
    enum virtual_fault_type type;
    unsigned rank;
    uint64_t at_ns;
    /* number of events, from 1, after which it takes effect at this rank; 0: it takes effect at `at_ns` */
    uint64_t at_event;
    unsigned after_actions; /* VIRTUAL_KILL at an event: how many of the event's actions are still applied */
    uint64_t for_ns;        /* 0: until CONTINUE */
    double factor;
};

struct virtual_config {
    /* Ranks: 0 is the supermaster, followed by masters and workers. All pointers of the configuration are borrowed
     * for the run. */
    unsigned masters, workers;
    unsigned nodes;            /* masters and workers are in blocks on them; 0 means 1 */
    const unsigned *rank_node; /* [ranks] node of each rank; NULL: in blocks */
    const struct virtual_pod *pods;
    unsigned pod_count;
    bool is_elastic; /* `is_elastic` and `awaited` are those of struct supermaster_config */
    unsigned awaited;
    bool sends_results; /* masters of pods send results to the supermaster, as with `--results here` */
    struct run_spec spec;
    /* Sets the technique of `spec`, as on a command line, and defaults of members that must not be 0. NULL: `spec`
     * is complete. */
    const char *technique;
    uint64_t first, count;
    uint64_t begins_ns;
    /* [growth_count] ordered by time. With them the loop grows from 0 to `count`, and is complete after the last. */
    const struct virtual_growth *growth;
    unsigned growth_count;
    bool is_told_of_growth; /* the supermaster gets an event for each growth, instead of polling */
    const struct precedence *precedence;
    const struct ranges *done_failed;
    uint64_t step_iterations;
    bool steps_dependent;
    bool no_speculation, no_isolation, is_patient, are_tasks; /* as in struct supermaster_config */
    uint64_t columns;  /* extent of the synchronization dimension; 0: independent iterations */
    uint64_t distance; /* in rows; 0 means 1 */
    uint64_t reach;    /* how far ahead the elements of the previous row are that a row needs */
    const double *powers;
    bool collect; /* results are sent and stored; otherwise only their digests are sent */
    bool undigested;
    uint64_t phantom_bytes;    /* if not 0: results of this size per iteration are sent and stored without content */
    bool variable;             /* results have the lengths of virtual_length() */
    uint64_t slice_iterations; /* size of the parts in which results are sent; 0: whole chunks */
    bool journal;
    bool sync;
    const struct ranges *done; /* what an earlier run has done; NULL: nothing */
    uint64_t done_digest;
    const struct poison_set *deaths; /* recorded by earlier runs, as in struct supermaster_config; NULL: none */
    uint64_t point_at;               /* iteration of an earlier run's recovery point, and its data */
    const unsigned char *point;
    uint64_t latency_ns, remote_latency_ns, service_ns;
    uint64_t calculation_ns;    /* per chunk, besides that of `spec` */
    double message_ns, byte_ns; /* busy time of the sender for each message and byte */
    double bytes_per_ns;
    /* Costs at speed 1, apart from iterations: a kernel call, and one with cold caches (virtual_call_ns()). */
    double call_ns, cold_ns;
    double iteration_ns;
    bool in_order;
    /* A worker may begin a chunk while another runs, as with a helper; not for dependent loops and shared ranks. */
    bool begins_ahead;
    bool cuts_at_once; /* RECALL takes effect within an iteration, as with threads, instead of at its end */
    /* a RECALL within a node takes what the running chunk has not begun, at once and without the rank's help */
    bool steals;
    const double *speeds;
    const double *rank_speeds;
    double (*cost_ns)(void *context, uint64_t iteration);
    double (*costs_ns)(void *context, uint64_t first, uint64_t count);
    /* If not NULL, the time of a message between two nodes, instead of latencies and bandwidth above. */
    uint64_t (*transfer_ns)(void *context, unsigned from_node, unsigned to_node, uint64_t bytes);
    void *context;
    uint64_t drain_at_ns; /* when `drain_rank` gets a signal; NEVER or 0: it gets none */
    unsigned drain_rank;
    /* when the supermaster gets a cancel, which also ends running iterations; NEVER or 0: never */
    uint64_t cancel_at_ns;
    unsigned slow_worker;
    uint64_t slow_at_ns;
    double slow_factor;               /* 3: a third of its speed remains; 0: it does not become slower */
    const struct virtual_load *loads; /* [load_count] ordered by time; before the first the load is 1 */
    unsigned load_count;
    const struct virtual_fault *faults;
    unsigned fault_count;
    uint64_t fault_seed; /* decides which messages of dead ranks arrive, and delays */
    uint64_t order_seed; /* shuffles simultaneous events, and those within a latency; 0: causal order */
    uint64_t jitter_ns;  /* largest additional time of a message; messages keep their order */
    uint64_t last_ns;    /* how long messages of a rank arrive after its death; 0: twice the latency */
    uint64_t detect_ns;  /* from a rank's death to the notices of it */
    uint64_t pod_detect_ns;
    bool watch_all;
    bool loses_ranks;    /* virtual_lose() may be called; not needed if there are faults */
    uint64_t collect_ns; /* additional time of data messages, which are separate from their announcement */
    /* Outcome of an iteration on this worker; NULL: all succeed. */
    enum virtual_outcome (*outcome)(void *context, unsigned rank, uint64_t iteration);
    /* Called for each iteration that killed this worker, or its child process; may be NULL. */
    void (*ended)(void *context, unsigned rank, uint64_t iteration, bool is_worker);
    /* True if this worker computes the iteration wrongly, which is not possible with variable output; NULL: never. */
    bool (*lies)(void *context, unsigned rank, uint64_t iteration);
    /* The number, from 1, of the store that fails; 0: none fails. The other numbers are for journal records, syncs and
     * sends; a failed send ends the job. */
    uint64_t failing_store;
    bool short_writes;
    uint64_t failing_journal;
    uint64_t failing_sync;
    uint64_t failing_send;
    /* called before and after each call of a machine, so that tests can make its allocations fail */
    void (*in_machine)(bool inside);
    bool unchecked;
    uint64_t limit_ns; /* the run counts as hung after this time; 0: one hour */
    /* The run also counts as hung after this many events, because machines might exchange messages forever; 0: no
     * limit. */
    uint64_t limit_events;
    /* [1 + masters + pod_count] trace sinks of the supermaster and the masters, ordered by rank; may be NULL. */
    struct trace_sink *const *sinks;
    void (*trace)(void *trace_context, const char *line);
    void *trace_context;
};

struct virtual_point {
    uint64_t at;
    uint64_t bytes;
    unsigned char *data;
};

struct virtual_result {
    int status;
    uint64_t end_ns;
    uint64_t events;
    uint64_t executed;
    uint64_t
        too_early;   /* chunks that began before an earlier time step was done, or an iteration that they depend on */
    uint64_t misled; /* impossible actions on boundary data, and chunks that are too small */
    uint64_t handed_over;
    uint64_t reused;
    uint64_t stored_twice;
    uint64_t wrong;
    /* Iterations that were recorded twice or before they were stored, and reports of results that were not yet
     * synced. */
    uint64_t journalled_early;
    const struct ranges *journalled; /* this and `deaths` were recorded by this run; valid until virtual_free() */
    const struct poison_set *deaths;
    uint64_t journalled_digest, journal_writes, syncs;
    const struct virtual_point *points; /* [point_count] complete ones, in order; valid until virtual_free() */
    unsigned point_count;
    unsigned killed;
    unsigned hits;
    unsigned sent_garbage, drops;
    unsigned failed_writes, failed_sends;
    unsigned hung_rank;
    const struct supermaster *supermaster; /* in its final state; valid until virtual_free() */
};

struct virtual_cluster;

#define COLD_AFTER_NS 1e6

/* Cost of a kernel call at speed 1. The previous call began at `before_ns`; negative: there was none. */
static inline double virtual_call_ns(const struct virtual_config *config, double before_ns, double now_ns)
{
    return before_ns < 0 || now_ns - before_ns >= COLD_AFTER_NS ? config->cold_ns : config->call_ns;
}

/* Returns the length of a growing loop at `now_ns`, and sets `*is_complete`. */
static inline uint64_t virtual_grown(const struct virtual_config *config, uint64_t now_ns, bool *is_complete)
{
    unsigned past = 0;
    while (past < config->growth_count && config->growth[past].at_ns <= now_ns)
        past++;
    *is_complete = past == config->growth_count;
    return past > 0 ? config->growth[past - 1].count : 0;
}

static inline double virtual_cost_ns(const struct virtual_config *config, double cost_ns, uint64_t count)
{
    double least_ns = config->iteration_ns * (double)count;
    return cost_ns > least_ns ? cost_ns : least_ns;
}

/* Time of a probed iteration, which is a call of its own. It costs only half a call, because the clock is read once
 * for many. */
static inline double virtual_probed_ns(const struct virtual_config *config, double cost_ns)
{
    return virtual_cost_ns(config, cost_ns, 1) + config->call_ns / 2;
}

struct virtual_cluster *virtual_new(const struct virtual_config *config, struct error *error);
void virtual_free(struct virtual_cluster *cluster);

const struct supermaster *virtual_supermaster(const struct virtual_cluster *cluster);

/* Returns how long a rank has been busy with events since the first assignment. */
uint64_t virtual_busy_ns(const struct virtual_cluster *cluster, unsigned rank);

struct virtual_result virtual_run(struct virtual_cluster *cluster);

/* Like virtual_run(), but event by event, so that several clusters can run side by side. virtual_next_ns() returns
 * the time of the next event, NEVER if there is none; virtual_advance() handles it, or returns false at a limit. */
void virtual_begin(struct virtual_cluster *cluster);
uint64_t virtual_next_ns(const struct virtual_cluster *cluster);
bool virtual_advance(struct virtual_cluster *cluster);
struct virtual_result virtual_end(struct virtual_cluster *cluster);

bool virtual_is_over(const struct virtual_cluster *cluster);

/* Returns the exit status of the supermaster; -1: it has not left. */
int virtual_status(const struct virtual_cluster *cluster);

/* virtual_drain() drains the supermaster; if `now`, running iterations are not finished. virtual_lose() kills a rank.
 * Call both between two events. */
void virtual_drain(struct virtual_cluster *cluster, uint64_t now_ns, bool now);
void virtual_lose(struct virtual_cluster *cluster, unsigned rank, uint64_t now_ns);

/* Record of an iteration, and checksum of a loop. With variable output the record is repeated to virtual_length(). */
uint64_t virtual_record(uint64_t iteration);
uint32_t virtual_length(uint64_t iteration);
uint64_t virtual_checksum(uint64_t first, uint64_t count);

/* Returns the checksum of a loop with dependencies, computed serially. */
uint64_t virtual_serial_checksum(const struct virtual_config *config);
