/* SPDX-License-Identifier: MIT */
/* Internal interface of the virtual cluster. cluster.c passes events and applies actions, cluster_setup.c sets up,
 * work.c models computing, ranks.c shares ranks with other clusters, store.c is the disk, and faults.c implements
 * losses. */
#pragma once

#include "common/machine/computing.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/service/poison.h"
#include "common/util/precedence.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/heap.h"
#include "deploy/simulate/virtual/ranks.h"
#include "deploy/simulate/virtual/thread_model.h"
#include "supermaster/supermaster.h"
#include "worker/worker.h"

/* A worker's running chunk. */
struct running {
    uint64_t first, count;
    uint64_t started_ns;
    double call_ns;  /* cost of the kernel call, in addition to the iterations */
    uint64_t sliced; /* iterations with reported results or failures */
    bool isolated;   /* in a child process */
    bool is_on;      /* its end has not been reported */
    uint64_t generation;
    uint64_t ends_ns;
    uint64_t looked_at; /* ranks that serve: iterations done at the last check */
    /* shared ranks: while the chunk is suspended its start is postponed accordingly */
    uint64_t mark;   /* unreported mark; 0: none */
    bool is_put_off; /* another job's chunk has been computing since put_off_ns */
    uint64_t put_off_ns;
    uint64_t until_ns; /* end of the turn, after an iteration; NEVER: no end */
};

struct halo {
    struct halo *next;
    uint64_t boundary_at;
    uint64_t filled;   /* bytes */
    uint64_t values[]; /* [columns * distance] */
};

/* A worker's running chunk in a loop with dependencies. */
struct pipeline {
    struct boundaries boundaries; /* the worker's account of boundary data */
    struct halo *received;        /* for chunks not begun and the running one; owned */
    struct halo *kept;            /* of the running chunk and finished ones until released; owned */
    struct halo *before;          /* of the running chunk; NULL: first of the loop */
    struct halo *after;           /* of the running chunk; NULL: last of the loop */
    uint64_t *records;            /* [count] of the running chunk; owned */
    uint64_t *window;             /* [distance] latest values of a column; owned */
    uint64_t step, steps;         /* running step, and their number */
    uint64_t step_ns, mark;
    uint64_t step_ends_ns;
    uint64_t compute_ns;
    bool runs, waits; /* `waits`: for boundary data */
};

struct node {
    struct machine machine;
    struct computing *computing; /* for ranks that serve and compute, whose `machine` it is; owned; usually NULL */
    unsigned node;
    uint64_t busy_until_ns;
    uint64_t deadline_ns; /* of the scheduled TIMER; NEVER: none */
    uint64_t timer_generation;
    uint64_t messages, bytes;
    bool synced; /* the previous action was a successful sync */
    double speed;
    uint64_t slow_at_ns; /* usually NEVER */
    double slow_factor;
    unsigned worker; /* index, for a worker */
    struct running running;
    struct range stolen;       /* end of the running chunk that was taken, of which the machine is not told yet */
    struct action next;        /* RUN of the next chunk, which begins after the running one; count 0: none */
    uint64_t probe_ends_ns;    /* 0: has not probed */
    struct pipeline *pipeline; /* in cluster->pipelines; NULL: independent iterations */
    struct thread_team *team;  /* in cluster->teams; NULL: one thread */
    struct future *queue_first, **queue_last; /* events that arrived while the rank was busy */
    unsigned wakes;                           /* scheduled wake-ups */
    uint64_t handled;
    uint64_t busy_ns;      /* with events, since the first assignment */
    double service_factor; /* 1 until it is slowed down */
    uint64_t stalled_until_ns;
    bool sync_failed; /* the next REPORT must not be sent */
    bool gone;
    bool killed, stopped;
    bool sends_garbage; /* the next message is invalid */
    unsigned dropped;   /* rank dropped in this step, or NO_RANK */
};

/* Iterations that were taken from a chunk of `rank`. */
struct theft {
    unsigned rank;
    struct stolen stolen;
};

struct virtual_step {
    unsigned rank;
    struct actions actions;
    double sending_ns; /* of the messages sent so far in this step */
    double cutting_ns; /* of the chunks cut and assigned so far in this step */
    bool has_cut;      /* an EVENT_CUT with `cut` follows */
    struct range cut;
    bool has_grown; /* an EVENT_GROWN follows, for the supermaster */
    /* [theft_count] for each of which an EVENT_STOLEN follows, or has just been handled (`thefts_told`); owned */
    struct theft *thefts;
    size_t theft_count, thefts_told, theft_room;
};

struct virtual_cluster {
    struct virtual_config config;
    struct topology topology;
    struct supermaster supermaster;
    struct master *masters;
    struct worker *workers;
    unsigned **master_ranks; /* [masters] ranks of their workers */
    struct node *nodes;      /* [ranks] */
    struct virtual_step step;
    bool event_faults; /* some faults happen at events */
    struct heap heap;
    uint64_t now_ns;
    uint64_t *output;           /* [count] collected records */
    unsigned char *written;     /* [count] number of writes */
    struct precedence others;   /* closed precedence in the inverse direction */
    bool cannot_store;          /* results sent by a pod could not be written */
    struct pipeline *pipelines; /* [ranks] owned; NULL: independent iterations */
    struct thread_team *teams;  /* [ranks] owned; NULL: one thread per worker */
    uint64_t *expected;         /* [count] records of a loop with dependencies; else NULL */
    uint64_t *arrivals;         /* [ranks * LANES] arrival of the latest message; NULL: order needs no care */
    bool *dropped;              /* [ranks * ranks] dropped by each rank; NULL: none yet */
    uint64_t stores, records, syncs, sends;
    struct ranges journalled;
    struct poison_set deaths;
    struct virtual_point *points; /* [point_count] the last may be incomplete; owned */
    unsigned point_count;
    size_t point_room;
    struct virtual_result result;
    bool out_of_memory;
    struct ranks *ranks;     /* shared with other clusters; NULL: not shared */
    struct rank_part *parts; /* [ranks] owned; NULL: not shared */
    struct virtual_cluster *next_of_ranks;
    unsigned left;
    struct reason_sink reasons; /* for the stepping rank, if there is a trace */
};

/* A lane is a direction between a rank and the supermaster, or a rank and its master. */
#define LANES 4

/* --- cluster.c --- */

/* Schedules a copy, which takes over owned memory. */
void cluster_schedule(struct virtual_cluster *cluster, const struct future *future);

void cluster_send_message(struct virtual_cluster *cluster, unsigned from, const struct action *action);
/* Time from the start of the running step to its next action. */
uint64_t cluster_so_far_ns(const struct virtual_cluster *cluster, unsigned rank);
/* Steps a machine and applies its actions in order. `data` is the data payload of a message. */
void cluster_step(struct virtual_cluster *cluster, unsigned rank, const struct event *event, const void *data);
/* Schedules the next event in the queue of a rank that is no longer busy. */
void cluster_wake(struct virtual_cluster *cluster, unsigned rank);
/* Called around each call of a machine. */
void cluster_in_machine(const struct virtual_cluster *cluster, bool inside);
/* Allocates a copy; on failure the run is out of memory. */
void *cluster_copy(struct virtual_cluster *cluster, const void *bytes, size_t size);
/* Content of phantom results in messages. */
extern const unsigned char cluster_phantom_bytes[];
void cluster_leave(struct virtual_cluster *cluster, unsigned rank);
void cluster_print(struct virtual_cluster *cluster, unsigned rank, const char *sign, const char *text);

/* --- cluster_setup.c --- */

/* Adds the ranks of a pod to the topology and creates their machines. Returns 1 if the supermaster has no room, with
 * nothing changed; -1 if memory runs out. */
int cluster_add_pod(struct virtual_cluster *cluster, const struct virtual_pod *pod);

/* --- work.c --- */

/* Begins a chunk `later_ns` after the step. */
void work_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t later_ns);
/* Replaces the running chunk, whose end is about to be reported, by the next one, which began at that end. */
void work_take_next(struct virtual_cluster *cluster, unsigned rank);
/* Duration of `count` iterations from `started_ns` on, with kernel calls that cost `calls_ns` in addition. */
uint64_t work_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns, double calls_ns,
                 uint64_t first, uint64_t count);
/* Iterations between results; 0: all at the end. */
uint64_t work_slice(const struct virtual_cluster *cluster);
void work_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark);
/* Shared ranks: suspend the running chunk, and resume it for `turn_ns` and to the end of the iteration then. Returns
 * that time; NEVER: to the end of the chunk. */
void work_put_off(struct virtual_cluster *cluster, unsigned rank);
uint64_t work_go_on(struct virtual_cluster *cluster, unsigned rank, uint64_t turn_ns);
/* Limits the turn of the computing chunk to the end of an iteration at or after `at_ns`, and returns that time. */
uint64_t work_limit_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t at_ns);
/* End of the running iteration; now if there is none. */
uint64_t work_iteration_end_ns(const struct virtual_cluster *cluster, unsigned rank);
/* Next check for messages of a rank that computes and serves; now if it does not compute. */
uint64_t work_break_ns(const struct virtual_cluster *cluster, unsigned rank);
/* Postpones the chunk by the time spent serving; one that began in this step begins later. */
void work_delay(struct virtual_cluster *cluster, unsigned rank, uint64_t served_ns);
/* Gives up the share by recall_share() of the next chunk, or else of the running one, and returns it. */
struct range work_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting);
/* Takes a share of what has not begun of the rank's chunk for `waiting` workers, possibly nothing, as a rank of the
 * same node does without its help. False if the rank's chunk cannot be seen. */
bool work_steal(struct virtual_cluster *cluster, unsigned rank, unsigned waiting, struct stolen *stolen);
/* Ends the computation, including a probe: gives up and returns all of the running chunk that is not done. */
struct range work_end(struct virtual_cluster *cluster, unsigned rank);
void work_schedule_loads(struct virtual_cluster *cluster);
void work_probe(struct virtual_cluster *cluster, unsigned rank);
/* Measures the chunk in pieces. */
void work_time_pieces(const struct virtual_cluster *cluster, const struct node *node, struct chunk_event *chunk);

/* Duration from `started_ns` on of work with cost `cost_ns` at speed 1. */
double work_time_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns,
                    double cost_ns);
/* Cost of a range at speed 1. */
double work_range_cost(const struct virtual_cluster *cluster, uint64_t first, uint64_t count);

/* --- threads.c: workers with several threads --- */

struct thread_team {
    struct virtual_cluster *cluster;
    unsigned rank;
    struct thread_model model;
    struct thread_model_event next;
};

int threads_init(struct virtual_cluster *cluster, struct error *error);
void threads_fini(struct virtual_cluster *cluster);
/* Begins a chunk at `begins_ns`, after the running ones. */
void threads_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t begins_ns);
void threads_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark);
struct range threads_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting);
void threads_forget(struct virtual_cluster *cluster, unsigned rank);
void threads_slow(struct virtual_cluster *cluster, unsigned rank, double factor);
void threads_deliver(struct virtual_cluster *cluster, const struct future *future, struct event *event);

/* --- cluster.c, for computing --- */

/* Adds results of the rank's iterations to the event. Returns their memory, freed by the caller; NULL: none is needed,
 * or the run is out of memory. */
unsigned char *cluster_fill_results(struct virtual_cluster *cluster, unsigned rank, uint64_t first, uint64_t count,
                                    struct event *event);

/* --- dependent.c --- */

static inline bool is_dependent(const struct virtual_cluster *cluster)
{
    return cluster->config.columns > 0;
}

int dependent_init(struct virtual_cluster *cluster);
void dependent_fini(struct virtual_cluster *cluster);
void dependent_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void dependent_end_step(struct virtual_cluster *cluster, unsigned rank, struct event *event);
/* The rank takes `factor` times as long from now on. */
void dependent_slow(struct virtual_cluster *cluster, unsigned rank, double factor);
/* BOUNDARY; `data`: from a data message. */
void dependent_fill(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data);
void dependent_reuse(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at);
void dependent_release(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at);

/* --- store.c --- */

/* Digest of an iteration's correct record, and of any record. */
uint64_t store_digest(uint64_t iteration);
uint64_t store_digest_of(uint64_t iteration, uint64_t record);

/* Like store_write(), on a rank that stores, possibly by sending the results to the supermaster. */
const char *store_take(struct virtual_cluster *cluster, unsigned rank, const struct part *part, const void *data,
                       uint64_t bytes);

/* Handling of a message by the supermaster's runtime before the machine: writes the results of a STORE, and after
 * failures removes ranges from reports of pods. True if the machine must not see the message. */
bool store_look_at_message(struct virtual_cluster *cluster, unsigned from, struct message *message, const void *data);
/* Results of iterations, as records or a block of `*bytes`; freed by the caller. */
unsigned char *store_make(const struct virtual_cluster *cluster, uint64_t first, uint64_t count, uint64_t *bytes);
void store_part(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data);
void store_journal(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_point(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
unsigned store_points(const struct virtual_cluster *cluster);
void store_deaths(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_sync(struct virtual_cluster *cluster, unsigned rank);
/* With `sync`: counts reports of results that are not on the disk. */
void store_check_synced(struct virtual_cluster *cluster, const struct node *node, const struct action *action);
/* Counts errors in the final output. */
void store_check(struct virtual_cluster *cluster);

/* --- faults.c --- */

bool faults_any(const struct virtual_cluster *cluster);
void faults_apply(struct virtual_cluster *cluster, const struct virtual_fault *fault);
/* End of a fault with a duration. */
void faults_end(struct virtual_cluster *cluster, const struct virtual_fault *fault);
/* Number of the `count` actions of the present event that the rank survives to apply. */
size_t faults_limit(const struct virtual_cluster *cluster, unsigned rank, size_t count);
/* Applies faults that follow the handled event. */
void faults_after_event(struct virtual_cluster *cluster, unsigned rank);
/* Arrival time of a message sent now whose undisturbed transfer takes `transfer_ns`. */
uint64_t faults_arrival(struct virtual_cluster *cluster, unsigned from, unsigned to, uint64_t transfer_ns);
/* Replaces a message by garbage if the sender babbles. Returns its size. */
size_t faults_send_garbage(struct virtual_cluster *cluster, unsigned from, unsigned to, unsigned char *bytes,
                           size_t size);
/* `rank` declares `other` lost because of its message, and tells it to leave. */
void faults_drop(struct virtual_cluster *cluster, unsigned rank, unsigned other, const char *text);
bool faults_has_dropped(const struct virtual_cluster *cluster, unsigned rank, unsigned other);
void faults_kill(struct virtual_cluster *cluster, unsigned rank);
void faults_kill_all(struct virtual_cluster *cluster);
/* Notifies the ranks that watch `rank`; its messages arriving after `cut_ns` are dropped. */
void faults_tell_of_end(struct virtual_cluster *cluster, unsigned rank, uint64_t cut_ns);
/* True if a data message in transit survives the death of its sender. */
bool faults_spare(const struct virtual_cluster *cluster, const struct part *part, unsigned rank);
