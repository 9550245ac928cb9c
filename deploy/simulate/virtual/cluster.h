/* SPDX-License-Identifier: MIT */
/* The whole cluster in one process under virtual time: the same machines, exchanging the same encoded messages, with a
 * modelled network and modelled work. Deterministic: the same configuration gives the same trace, byte for byte.
 *
 * Model: a message takes `latency_ns` (`remote_latency_ns` between nodes) plus its bytes over `bytes_per_ns`; a rank
 * handles one event at a time and is busy for `service_ns` with it; a worker computes beside that, iteration i in
 * cost(i) / speed of the worker. Where sending takes time (`message_ns`) a rank's messages leave one behind the other,
 * each when the chunks are cut and assigned that the step has cut and assigned before it, and what it computes begins
 * when it has done so. A worker that becomes slower does so in the middle of the iteration that is running then: what
 * is left of its work takes `slow_factor` times as long. Probing and timing chunks in pieces is as the executor does
 * it, with a clock that costs nothing and no warming up. Where other processes compete for a worker's core its work
 * takes as many times as long as there are runnable ones, itself being one; weighted by acp it is told of it at that
 * moment.
 *
 * A chunk takes one call of the kernel, and so does each step of a chunk with dependencies; what a worker needs for it
 * is there where iterations cost nothing, too.
 *
 * Dependencies: where the loop has a synchronization dimension, a row (iteration) needs the one before it and the one
 * `distance` before it, at the same place of that dimension. The values are really computed, and travel over the
 * boundaries between chunks as the boundary data that the machines send: a record is made of all values of its row, so
 * that the checksum is the serial one (virtual_serial_checksum()) only where each chunk has had the right data in time.
 * A chunk takes `sync_points` steps of equal length, each of which begins when the data that it needs are there.
 *
 * Faults: a rank that is killed does nothing any more; of its messages that are on their way those up to some moment
 * arrive, and after them, and after `detect_ns`, the ranks that watch it are told: its master and its workers, and the
 * supermaster of masters, of the workers that it serves, and of those of a lost master. The same is told of a rank that
 * has left. A rank that is stopped handles nothing until it is continued, and nobody is told. A rank that is slowed
 * down takes so many times as long for all it does from then on. What is sent from and to a rank that is stalled
 * arrives when that is over. Who gets nonsense drops the sender, which is told and leaves. MPI neither loses nor
 * doubles a message between two that live, nor does one overtake another: no fault here does. What a lost peer makes it
 * look like is in faults.c. */
#pragma once

#include "common/config/run_spec.h"
#include "common/service/poison.h"
#include "common/util/error.h"

struct trace_sink;

enum virtual_fault_type {
    VIRTUAL_KILL,
    VIRTUAL_STOP,
    VIRTUAL_CONTINUE,
    VIRTUAL_KILL_ALL, /* the whole job, as a batch system does it */
    VIRTUAL_SLOW,
    VIRTUAL_STALL,
    VIRTUAL_BABBLE,  /* the next message that it sends is nonsense: not of the protocol, or not for it to send */
    VIRTUAL_PROBLEM, /* its runtime cannot go on, and tells it so */
};

/* From a moment on so many runnable processes compete for a worker's core, itself being one. */
struct virtual_load {
    unsigned worker; /* from 0 */
    uint64_t at_ns;
    double load;
};

/* From a moment on the loop has so many iterations. */
struct virtual_growth {
    uint64_t at_ns; /* NEVER: that moment does not come */
    uint64_t count;
};

/* The kernel fails, kills the worker that computes it, kills the helper that runs it for the worker, or, with variable
 * output, calls it failed: then it is done all the same. */
enum virtual_outcome {
    VIRTUAL_WORKS,
    VIRTUAL_FAILS,
    VIRTUAL_CRASHES,
    VIRTUAL_KILLS_HELPER,
    VIRTUAL_IS_CALLED_FAILED,
};

/* A master with its workers on a node of their own, which joins a run that goes on. Its ranks are behind those of the
 * launch and of the pods before it in the list; the master's is the first. */
struct virtual_pod {
    uint64_t at_ns;
    unsigned workers;
    double speed;       /* speed of its workers, 1 = nominal */
    uint64_t leaves_ns; /* when it is to leave; 0: when all do */
};

struct virtual_fault {
    enum virtual_fault_type type;
    unsigned rank;
    uint64_t at_ns;
    uint64_t at_event;      /* behind the n-th event (from 1) that the rank handles; 0: at `at_ns` */
    unsigned after_actions; /* a kill at an event: only so many of its actions are applied */
    uint64_t for_ns;        /* STOP: 0 is until it is continued; STALL */
    double factor;          /* SLOW */
};

struct virtual_config {
    /* the line-up: rank 0 is the supermaster, then masters, then workers */
    unsigned masters, workers;
    unsigned nodes;                 /* workers and masters are spread over them in blocks; 0 is taken as 1 */
    const unsigned *rank_node;      /* [ranks] the node of each, from 0, where they are not spread so; borrowed */
    const struct virtual_pod *pods; /* [pod_count] in the order of their times; borrowed for the run */
    unsigned pod_count;
    bool is_elastic; /* members as in struct supermaster_config */
    unsigned awaited;
    bool sends_results; /* masters of pods have the supermaster write what they store (--results here) */
    /* the run, whose description the machines borrow */
    struct run_spec spec;
    /* The technique as on the command line, for callers without a complete description: sets the technique of `spec`,
     * and what must not be 0 there to its default. NULL: `spec` is complete. */
    const char *technique;
    uint64_t first, count;
    uint64_t begins_ns; /* the run begins then */
    /* [growth_count] in the order of their times; borrowed; where there are any the loop grows, from none at first to
     * `count`, and is complete with the last of them. */
    const struct virtual_growth *growth;
    unsigned growth_count;
    bool is_told_of_growth; /* the supermaster is told at their times, and does not look in between */
    /* Members as in struct supermaster_config; borrowed for the run, and for virtual_new(). */
    const struct precedence *precedence;
    const struct ranges *done_failed;
    uint64_t step_iterations;                                 /* iterations of a time step; 0: there is one */
    bool steps_dependent;                                     /* a step needs the results of the step before */
    bool no_speculation, no_isolation, is_patient, are_tasks; /* members as in struct supermaster_config */
    uint64_t columns;       /* extent of the synchronization dimension; 0: iterations are independent */
    uint64_t distance;      /* distance of the dependences along the loop; 0 is taken as 1 */
    uint64_t reach;         /* a row needs the one before it so far ahead in the other dimension */
    const double *powers;   /* [workers] as from a power file, where they are not measured; NULL: all equal; borrowed */
    bool collect;           /* results are sent and stored, else only digested */
    bool undigested;        /* results are not even digested */
    uint64_t phantom_bytes; /* not 0: results of so many bytes an iteration are sent and stored, but there are none */
    bool variable;          /* results are variable output: see virtual_length() */
    uint64_t slice_iterations; /* results go in parts of this many iterations; 0: whole chunks */
    bool journal;              /* committed ranges are recorded, see journalled */
    bool sync;                 /* committed ranges are brought to the disk before that */
    const struct ranges *done; /* ranges done by an earlier run; borrowed for virtual_new(); NULL: none */
    uint64_t done_digest;
    const struct poison_set *deaths; /* deaths in earlier runs, as in struct supermaster_config; NULL: none */
    uint64_t point_at;               /* recovery point of an earlier run, likewise; borrowed for the run */
    const unsigned char *point;
    /* the machine */
    uint64_t latency_ns, remote_latency_ns, service_ns;
    uint64_t calculation_ns;    /* the calculation of a chunk takes so long, beside what `spec` adds */
    double message_ns, byte_ns; /* time of a rank for each message that it sends, and for each byte of it */
    double bytes_per_ns;        /* 0: bytes cost nothing */
    /* Beside the costs of iterations, at speed 1: a call of the kernel; one that is cold: see virtual_call_ns(). */
    double call_ns, cold_ns;
    double iteration_ns;  /* an iteration costs at least */
    bool in_order;        /* no message overtakes another, though it is shorter */
    bool begins_ahead;    /* a worker begins a chunk while another runs, as with a helper; not of dependent loops, nor
                             where ranks are shared */
    bool cuts_at_once;    /* a RECALL is acted on within an iteration, as with threads, not at its end */
    const double *speeds; /* [workers] of the workers, 1 = nominal; NULL: all 1; borrowed for the run */
    const double *rank_speeds; /* [ranks] of what a rank does beside computing; NULL: all 1; borrowed */
    double (*cost_ns)(void *context, uint64_t iteration); /* at speed 1; NULL: 1 us each */
    /* Returns the cost of a range; NULL: the iterations' costs are summed up. */
    double (*costs_ns)(void *context, uint64_t first, uint64_t count);
    /* Returns the time that a message is on its way between two nodes, where not the latency and the bytes above say
     * it. */
    uint64_t (*transfer_ns)(void *context, unsigned from_node, unsigned to_node, uint64_t bytes);
    void *context;
    /* events of the run */
    uint64_t drain_at_ns; /* a signal reaches `drain_rank`; NEVER or 0: none */
    unsigned drain_rank;
    uint64_t cancel_at_ns; /* the supermaster is told to end what runs, too; NEVER or 0: it is not */
    unsigned slow_worker;  /* the one (from 0) that becomes slower at `slow_at_ns` */
    uint64_t slow_at_ns;
    double slow_factor;               /* 3: to a third of its speed; 0: no worker becomes slower */
    const struct virtual_load *loads; /* [load_count] in the order of their times; borrowed; 1 before the first */
    unsigned load_count;
    const struct virtual_fault *faults; /* [fault_count] borrowed */
    unsigned fault_count;
    uint64_t fault_seed; /* says which messages of a dead rank arrive, and how late messages are */
    uint64_t order_seed; /* shuffles what comes at one moment, or within the latency; 0: in the order of its causes */
    uint64_t jitter_ns;  /* a message takes up to so much longer, behind the one before it */
    uint64_t last_ns;    /* time after its end in which a dead rank's messages still arrive; 0: twice the latency */
    uint64_t detect_ns;  /* time after a rank's end when others are told of it */
    uint64_t pod_detect_ns; /* the same of a rank of a pod; 0: as of others */
    bool watch_all;         /* the supermaster is told of all ranks */
    bool loses_ranks;       /* virtual_lose() may be called; not needed where there are faults */
    uint64_t collect_ns;    /* results that go by themselves take so much longer than their announcement */
    /* Returns the outcome of an iteration with the worker of this rank; NULL: all iterations work. */
    enum virtual_outcome (*outcome)(void *context, unsigned rank, uint64_t iteration);
    /* Told of each iteration that has ended the worker of this rank, or else a process that ran it for the worker;
     * NULL: nobody. */
    void (*ended)(void *context, unsigned rank, uint64_t iteration, bool is_worker);
    /* True where the worker of this rank computes the iteration wrongly, in a loop without variable output; NULL:
     * never.
     */
    bool (*lies)(void *context, unsigned rank, uint64_t iteration);
    uint64_t failing_store;   /* the n-th store (from 1) fails; 0: never */
    bool short_writes;        /* the failing store has written the half of its bytes */
    uint64_t failing_journal; /* the n-th recording, bringing to the disk, and sending fails likewise; a failed */
    uint64_t failing_sync;    /* sending ends the whole job */
    uint64_t failing_send;
    void (*in_machine)(bool inside); /* called around all that the machines do: for having their allocations fail */
    bool unchecked;        /* the invariants of a machine are not checked after each of its steps: it is quicker */
    uint64_t limit_ns;     /* a run that is not over by then has hung; 0: one hour */
    uint64_t limit_events; /* likewise behind so many events: machines may tell one another the same for ever; 0: any
                              number */
    /* [1 + masters + pod_count] where the supermaster and the masters note what becomes of chunks, in the order of
     * their ranks; borrowed; NULL: nowhere */
    struct trace_sink *const *sinks;
    void (*trace)(void *trace_context, const char *line); /* NULL: none */
    void *trace_context;
};

/* A recovery point that was recorded. */
struct virtual_point {
    uint64_t at;
    uint64_t bytes;      /* so far */
    unsigned char *data; /* owned */
};

struct virtual_result {
    int status;            /* status of the supermaster, -1 where the run hung, -2 where it was killed */
    uint64_t end_ns;       /* when the last rank left */
    uint64_t events;       /* handled */
    uint64_t executed;     /* iterations computed */
    uint64_t too_early;    /* chunks begun before all of the time steps before them was done, or what they wait for */
    uint64_t misled;       /* machines' actions on boundary data that cannot be; chunks that are too small */
    uint64_t handed_over;  /* boundary data that were sent, in bytes */
    uint64_t reused;       /* chunks whose boundary data were not sent: they were with the worker */
    uint64_t stored_twice; /* iterations whose record was written more than once */
    uint64_t wrong;        /* collected records that are not what they should be, of those done */
    uint64_t journalled_early;       /* iterations that were recorded twice or before they were stored, reports
                                              before what they say was on the disk */
    const struct ranges *journalled; /* ranges that this run has recorded, until virtual_free() */
    const struct poison_set *deaths; /* deaths that this run has recorded, until virtual_free() */
    uint64_t journalled_digest, journal_writes, syncs;
    const struct virtual_point *points; /* [point_count] complete ones, as they came, until virtual_free() */
    unsigned point_count;
    unsigned killed;                       /* ranks, by faults and by poison */
    unsigned hits;                         /* faults that came to pass */
    unsigned sent_garbage, drops;          /* messages that were nonsense; ranks that somebody dropped */
    unsigned failed_writes, failed_sends;  /* stores, records and syncs; sends */
    unsigned hung_rank;                    /* status -1: one that had not left */
    const struct supermaster *supermaster; /* the supermaster in its final state, valid until virtual_free() */
};

struct virtual_cluster;

/* A core that has not called the kernel for so long has its caches full of other things. */
#define COLD_AFTER_NS 1e6

/* Time of a call of the kernel at `now_ns` as the clock sees it, beside the costs of its iterations, at speed 1. The
 * call before began at `before_ns`; below 0: there was none. */
static inline double virtual_call_ns(const struct virtual_config *config, double before_ns, double now_ns)
{
    return before_ns < 0 || now_ns - before_ns >= COLD_AFTER_NS ? config->cold_ns : config->call_ns;
}

/* Number of iterations that there are at `now_ns` of a loop that grows, and whether these are all. */
static inline uint64_t virtual_grown(const struct virtual_config *config, uint64_t now_ns, bool *is_complete)
{
    unsigned past = 0;
    while (past < config->growth_count && config->growth[past].at_ns <= now_ns)
        past++;
    *is_complete = past == config->growth_count;
    return past > 0 ? config->growth[past - 1].count : 0;
}

/* Time of `count` iterations that cost `cost_ns` together by themselves, at speed 1. */
static inline double virtual_cost_ns(const struct virtual_config *config, double cost_ns, uint64_t count)
{
    double least_ns = config->iteration_ns * (double)count;
    return cost_ns > least_ns ? cost_ns : least_ns;
}

/* Time of an iteration that is probed: it is a call of its own, and the probe reads the clock, the half of a call, once
 * for many of them. */
static inline double virtual_probed_ns(const struct virtual_config *config, double cost_ns)
{
    return virtual_cost_ns(config, cost_ns, 1) + config->call_ns / 2;
}

/* NULL with one line in `error` when the configuration cannot run. */
struct virtual_cluster *virtual_new(const struct virtual_config *config, struct error *error);
void virtual_free(struct virtual_cluster *cluster);

/* The supermaster as it is, also while the cluster runs: for what `trace` wants to look at. */
const struct supermaster *virtual_supermaster(const struct virtual_cluster *cluster);

/* Time for which a rank was busy with events since the first chunk was assigned. */
uint64_t virtual_busy_ns(const struct virtual_cluster *cluster, unsigned rank);

/* Runs to the end (or to the limit). */
struct virtual_result virtual_run(struct virtual_cluster *cluster);

/* The same in pieces, for who runs several clusters beside one another: begins, handles the next event, ends. What
 * virtual_next_ns() says is the time of the next event, NEVER where there is none; virtual_advance() returns whether it
 * was handled, which it is not behind a limit. */
void virtual_begin(struct virtual_cluster *cluster);
uint64_t virtual_next_ns(const struct virtual_cluster *cluster);
bool virtual_advance(struct virtual_cluster *cluster);
struct virtual_result virtual_end(struct virtual_cluster *cluster);

/* True once all ranks have left. */
bool virtual_is_over(const struct virtual_cluster *cluster);

/* The status of the supermaster, as in the result; -1: it has not left. */
int virtual_status(const struct virtual_cluster *cluster);

/* Between two events, at a time that is not before the latest: the supermaster is asked to drain, `now`: and not to
 * finish what runs; a rank dies. */
void virtual_drain(struct virtual_cluster *cluster, uint64_t now_ns, bool now);
void virtual_lose(struct virtual_cluster *cluster, unsigned rank, uint64_t now_ns);

/* The record of an iteration in a virtual run, and the checksum of a whole loop of them; of variable output the bytes
 * that an iteration yields, up to some hundreds: its record over and over. */
uint64_t virtual_record(uint64_t iteration);
uint32_t virtual_length(uint64_t iteration);
uint64_t virtual_checksum(uint64_t first, uint64_t count);

/* The checksum of the whole loop where it has dependencies, as one worker computes it from its first row to the last.
 */
uint64_t virtual_serial_checksum(const struct virtual_config *config);
