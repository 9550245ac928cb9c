/* SPDX-License-Identifier: MIT */
/* A whole cluster in one process in virtual time. Real machines exchange real encoded messages; network and work are
 * modelled. The same configuration gives the same trace, byte for byte.
 *
 * Messages: a message takes `latency_ns` (`remote_latency_ns` between nodes) plus its bytes / `bytes_per_ns`. A rank
 * handles one event at a time, and is busy with it for `service_ns`. If sending takes time (`message_ns`), the messages
 * of a step depart one after the other. A message departs after the chunks that its step has cut and assigned before
 * it.
 *
 * Computing: a worker computes while it handles events. Iteration i takes cost(i) / speed. Computing begins after the
 * last message of a step. If a worker becomes slower during an iteration, the rest of the iteration takes `slow_factor`
 * times as long. Probes and timed pieces are as in real executors, but reading the clock takes no time and there is no
 * warm-up. If N processes, including the worker, compete for a core, the work takes N times as long; with weighting acp
 * the worker learns the load at once. Each chunk, and each step of a chunk with dependencies, costs one call of the
 * kernel, even if its iterations cost nothing.
 *
 * Dependencies: in a loop with a synchronization dimension, an iteration is a row of values along that dimension. A
 * value depends on the values at the same position in the previous row and in the row `distance` before it. Values are
 * really computed, and travel as boundary data between chunks. The record of a row combines all its values. So the
 * checksum is that of a serial run (virtual_serial_checksum()) only if each chunk had the right data in time. A chunk
 * takes `sync_points` steps of equal length, and each step begins after its data have arrived.
 *
 * Faults: a killed rank does nothing any more. Of its messages in transit, those that are due before a certain time
 * still arrive; the others are lost. `detect_ns` later, the ranks that watch the killed rank are notified. These are
 * its master, its workers, and the supermaster, which watches masters, its own workers and the workers of lost masters.
 * They are also notified if a rank has left. A stopped rank handles nothing until it is continued; no rank is notified.
 * A slowed rank takes longer for all its work. Messages to and from a stalled rank arrive when the stall is over. If a
 * rank receives an invalid message, it drops the sender; the sender is notified and leaves. Between living ranks, MPI
 * neither loses nor duplicates messages, nor changes their order. faults.c has the effects of a loss on others. */
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
    VIRTUAL_BABBLE,
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

/* VIRTUAL_CRASHES: the iteration kills its worker. VIRTUAL_IS_CALLED_FAILED: the iteration ends, but the kernel reports
 * that it has failed; only with variable output. */
enum virtual_outcome {
    VIRTUAL_WORKS,
    VIRTUAL_FAILS,
    VIRTUAL_CRASHES,
    VIRTUAL_KILLS_HELPER,
    VIRTUAL_IS_CALLED_FAILED,
};

/* A node that joins during the run: a master and its workers. The first rank of a pod is its master. Ranks of pods
 * follow the ranks of the launch and of earlier pods. */
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
    /* the fault takes effect when the rank has handled this many events; 0: it takes effect at `at_ns` */
    uint64_t at_event;
    unsigned after_actions;
    uint64_t for_ns; /* duration; 0: until VIRTUAL_CONTINUE */
    double factor;
};

struct virtual_config {
    /* Rank 0 is the supermaster. Masters follow, then workers. All pointers in this structure are borrowed during the
     * run. */
    unsigned masters, workers;
    unsigned nodes; /* number of nodes; each has consecutive masters and consecutive workers; 0 means 1 */
    const unsigned *rank_node;
    const struct virtual_pod *pods;
    unsigned pod_count;
    bool is_elastic;
    unsigned awaited;
    bool sends_results;
    struct run_spec spec;
    /* NULL: `spec` is complete. Otherwise this technique is set in `spec`, and so are some values that must not be
     * 0. */
    const char *technique;
    uint64_t first, count;
    uint64_t begins_ns;
    /* [growth_count] ordered by time. If `growth_count` is above 0, the loop has 0 iterations at first. After the last
     * entry the loop is complete and has `count` iterations. */
    const struct virtual_growth *growth;
    unsigned growth_count;
    bool is_told_of_growth;
    const struct precedence *precedence;
    const struct ranges *done_failed;
    uint64_t step_iterations;
    bool steps_dependent;
    bool no_speculation, no_isolation, is_patient, are_tasks;
    uint64_t columns; /* extent of the synchronization dimension; 0: independent iterations */
    uint64_t distance;
    uint64_t reach; /* a row needs values of the previous row up to this many columns ahead */
    const double *powers;
    bool collect;
    bool undigested;
    /* if not 0: size of the result of each iteration; results are sent and stored, but have no content */
    uint64_t phantom_bytes;
    bool variable;
    uint64_t slice_iterations;
    bool journal;
    bool sync;
    const struct ranges *done;
    uint64_t done_digest;
    const struct poison_set *deaths;
    uint64_t point_at;
    const unsigned char *point;
    uint64_t latency_ns, remote_latency_ns, service_ns;
    uint64_t calculation_ns;
    double message_ns, byte_ns;
    double bytes_per_ns;
    /* Costs of a kernel call at speed 1 without its iterations: `call_ns` with warm caches, `cold_ns` with cold caches.
     * See virtual_call_ns(). */
    double call_ns, cold_ns;
    double iteration_ns;
    bool in_order;
    /* A worker may begin a chunk while another chunk runs. Real workers with a helper do this. Not for loops with
     * dependencies, and not for shared ranks. */
    bool begins_ahead;
    /* true: RECALL takes effect within an iteration, as with threads; false: at the end of the iteration */
    bool cuts_at_once;
    /* A RECALL within a node takes iterations that the running chunk has not begun. It takes them immediately and
     * without help of the worker. */
    bool steals;
    const double *speeds;
    const double *rank_speeds;
    double (*cost_ns)(void *context, uint64_t iteration);
    double (*costs_ns)(void *context, uint64_t first, uint64_t count);
    uint64_t (*transfer_ns)(void *context, unsigned from_node, unsigned to_node, uint64_t bytes);
    void *context;
    uint64_t drain_at_ns; /* when `drain_rank` gets a signal that drains the run; NEVER or 0: it gets none */
    unsigned drain_rank;
    /* when the supermaster is told to cancel the run and to end running iterations; NEVER or 0: it is not told */
    uint64_t cancel_at_ns;
    unsigned slow_worker;
    uint64_t slow_at_ns;
    double slow_factor;
    /* [load_count] ordered by time; a worker has load 1 before the first of its entries */
    const struct virtual_load *loads;
    unsigned load_count;
    const struct virtual_fault *faults;
    unsigned fault_count;
    uint64_t fault_seed;
    /* if not 0: simultaneous events are shuffled, and latencies change by up to half; 0: simultaneous events keep the
     * order in which they were scheduled */
    uint64_t order_seed;
    uint64_t jitter_ns;
    uint64_t last_ns; /* how long after the death of a rank its messages still arrive; 0: twice the latency */
    uint64_t detect_ns;
    uint64_t pod_detect_ns;
    bool watch_all;
    bool loses_ranks;
    uint64_t collect_ns;
    enum virtual_outcome (*outcome)(void *context, unsigned rank, uint64_t iteration);
    void (*ended)(void *context, unsigned rank, uint64_t iteration, bool is_worker);
    /* Returns whether this worker computes a wrong result for the iteration. Not supported with variable output. NULL:
     * all results are right. */
    bool (*lies)(void *context, unsigned rank, uint64_t iteration);
    /* Number, from 1, of the store that fails; 0: no store fails. The next members do the same for journal records,
     * syncs and sends. A failed send ends the job. */
    uint64_t failing_store;
    bool short_writes;
    uint64_t failing_journal;
    uint64_t failing_sync;
    uint64_t failing_send;
    /* called before and after each call of a machine, so that a test can make the machine's allocations fail */
    void (*in_machine)(bool inside);
    bool unchecked;
    uint64_t limit_ns; /* the run counts as hung if it takes longer than this; 0: one hour */
    /* The run also counts as hung after this many events, because machines might exchange messages forever; 0: there is
     * no limit. */
    uint64_t limit_events;
    /* [1 + masters + pod_count] trace sinks of the supermaster and the masters, in the order of their ranks; may be
     * NULL */
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
    uint64_t too_early;
    uint64_t misled;
    uint64_t handed_over;
    uint64_t reused;
    uint64_t stored_twice;
    uint64_t wrong;
    /* Number of iterations that were recorded twice, or before they were stored, plus the number of results that were
     * reported before they were synced. */
    uint64_t journalled_early;
    /* `journalled` and `deaths` are what this run has recorded. They and `supermaster` are valid until
     * virtual_free(). */
    const struct ranges *journalled;
    const struct poison_set *deaths;
    uint64_t journalled_digest, journal_writes, syncs;
    const struct virtual_point *points;
    unsigned point_count;
    unsigned killed;
    unsigned hits;
    unsigned sent_garbage, drops;
    unsigned failed_writes, failed_sends;
    unsigned hung_rank;
    const struct supermaster *supermaster;
};

struct virtual_cluster;

#define COLD_AFTER_NS 1e6

/* Returns the cost of a kernel call at speed 1. `before_ns` is when the previous call began; if it is negative, there
 * was no previous call. */
static inline double virtual_call_ns(const struct virtual_config *config, double before_ns, double now_ns)
{
    return before_ns < 0 || now_ns - before_ns >= COLD_AFTER_NS ? config->cold_ns : config->call_ns;
}

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

/* Returns the time of a probed iteration. A probe reads the clock once for many iterations, so the time includes the
 * cost of half a call. */
static inline double virtual_probed_ns(const struct virtual_config *config, double cost_ns)
{
    return virtual_cost_ns(config, cost_ns, 1) + config->call_ns / 2;
}

struct virtual_cluster *virtual_new(const struct virtual_config *config, struct error *error);
void virtual_free(struct virtual_cluster *cluster);

const struct supermaster *virtual_supermaster(const struct virtual_cluster *cluster);

uint64_t virtual_busy_ns(const struct virtual_cluster *cluster, unsigned rank);

struct virtual_result virtual_run(struct virtual_cluster *cluster);

/* Like virtual_run(), but one event at a time, so that several clusters can run side by side. virtual_next_ns() returns
 * the time of the next event; NEVER: there is none. virtual_advance() handles that event, and returns false if the run
 * has reached a limit. */
void virtual_begin(struct virtual_cluster *cluster);
uint64_t virtual_next_ns(const struct virtual_cluster *cluster);
bool virtual_advance(struct virtual_cluster *cluster);
struct virtual_result virtual_end(struct virtual_cluster *cluster);

bool virtual_is_over(const struct virtual_cluster *cluster);

/* Returns the exit status of the supermaster, -1 if the supermaster has not left yet, or -2 if it was killed. */
int virtual_status(const struct virtual_cluster *cluster);

/* virtual_drain() drains the run through the supermaster; if `now` is true, running iterations are not finished.
 * virtual_lose() kills a rank. Call both only between two events. */
void virtual_drain(struct virtual_cluster *cluster, uint64_t now_ns, bool now);
void virtual_lose(struct virtual_cluster *cluster, unsigned rank, uint64_t now_ns);

/* virtual_record() returns the result of an iteration. With variable output, the result is repeated until it has
 * virtual_length() bytes. */
uint64_t virtual_record(uint64_t iteration);
uint32_t virtual_length(uint64_t iteration);
uint64_t virtual_checksum(uint64_t first, uint64_t count);

uint64_t virtual_serial_checksum(const struct virtual_config *config);
