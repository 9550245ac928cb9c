/* SPDX-License-Identifier: MIT */
/* Internal interface of the virtual cluster. cluster.c delivers events and applies actions, cluster_setup.c sets up,
 * work.c models computing, ranks.c shares ranks among clusters, store.c is the disk, and faults.c implements losses. */
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

struct running {
    uint64_t first, count;
    uint64_t started_ns;
    double call_ns;
    uint64_t sliced; /* iterations whose results or failures have been reported */
    bool isolated;
    bool is_on;
    uint64_t generation;
    uint64_t ends_ns;
    uint64_t looked_at; /* if the rank serves: how many iterations were done at the last check for messages */
    uint64_t mark;      /* 0: there is no mark, or it was reported */
    /* For shared ranks: the chunk is suspended since `put_off_ns`. When it resumes, its start is postponed by that
     * time. */
    bool is_put_off;
    uint64_t put_off_ns;
    uint64_t until_ns; /* end of the turn, at the end of an iteration; NEVER: the turn is not limited */
};

struct halo {
    struct halo *next;
    uint64_t boundary_at;
    uint64_t filled;
    uint64_t values[];
};

/* The running chunk of a worker in a loop with dependencies. */
struct pipeline {
    struct boundaries boundaries;
    /* Lists of boundary data, owned: those that chunks need which run or have not begun, and those that chunks have
     * made which run or are not released yet. */
    struct halo *received;
    struct halo *kept;
    struct halo *before; /* the boundary data that the running chunk needs; NULL: it is the loop's first chunk */
    struct halo *after;  /* the boundary data that the running chunk makes; NULL: it is the loop's last chunk */
    uint64_t *records;
    uint64_t *window; /* [distance] latest values of a column */
    uint64_t step, steps;
    uint64_t step_ns, mark;
    uint64_t step_ends_ns;
    uint64_t compute_ns;
    bool runs, waits;
};

struct node {
    struct machine machine;
    struct computing *computing; /* if the rank serves and computes, `machine` is made of it; owned */
    unsigned node;
    uint64_t busy_until_ns;
    uint64_t deadline_ns;
    uint64_t timer_generation;
    uint64_t messages, bytes;
    bool synced;
    double speed;
    uint64_t slow_at_ns;
    double slow_factor;
    unsigned worker;
    struct running running;
    struct range stolen; /* end of the running chunk that was taken, before the machine is told */
    struct action next;  /* RUN of the chunk that begins after the running one; count 0: none */
    uint64_t probe_ends_ns;
    /* this and `team` are in lists of the cluster; NULL: iterations are independent; one thread */
    struct pipeline *pipeline;
    struct thread_team *team;
    struct future *queue_first, **queue_last; /* events that arrived while the rank was busy */
    unsigned wakes;
    uint64_t handled;
    uint64_t busy_ns;
    double service_factor; /* 1 until it is slowed down */
    uint64_t stalled_until_ns;
    bool sync_failed;
    bool gone;
    bool killed, stopped;
    bool sends_garbage;
    unsigned dropped; /* the rank that this one declared lost in this step, or NO_RANK */
};

/* Iterations that the stepping rank took from a chunk of `rank`. */
struct theft {
    unsigned rank;
    struct stolen stolen;
};

struct virtual_step {
    unsigned rank;
    struct actions actions;
    double sending_ns; /* of the messages sent, and below of the chunks cut and assigned, so far in this step */
    double cutting_ns;
    bool has_cut;
    struct range cut;
    bool has_grown;
    struct theft *thefts;
    size_t theft_count, thefts_told, theft_room;
};

struct virtual_cluster {
    struct virtual_config config;
    struct topology topology;
    struct supermaster supermaster;
    struct master *masters;
    struct worker *workers;
    unsigned **master_ranks; /* [masters] ranks of their workers; nodes: [ranks] */
    struct node *nodes;
    struct virtual_step step;
    bool event_faults;
    struct heap heap;
    uint64_t now_ns;
    uint64_t *output;
    unsigned char *written;
    struct precedence others;   /* for each iteration those that it waits for: the inverse of config.precedence */
    bool cannot_store;          /* results that a pod sent could not be written */
    struct pipeline *pipelines; /* this and `teams`: [ranks] owned, or NULL */
    struct thread_team *teams;
    uint64_t *expected; /* [count] records of a loop with dependencies; otherwise NULL */
    /* [ranks * LANES] when the latest message arrives; NULL: messages keep their order anyway */
    uint64_t *arrivals;
    bool *dropped;
    uint64_t stores, records, syncs, sends;
    struct ranges journalled;
    struct poison_set deaths;
    struct virtual_point *points;
    unsigned point_count;
    size_t point_room;
    struct virtual_result result;
    bool out_of_memory;
    struct ranks *ranks;     /* NULL if ranks are not shared */
    struct rank_part *parts; /* [ranks] owned; NULL likewise */
    struct virtual_cluster *next_of_ranks;
    unsigned left;
    struct reason_sink reasons;
};

/* A lane is one direction between a rank and the supermaster, or between a rank and its master. */
#define LANES 4

/* Schedules a copy of `future`, which takes over what it owns. */
void cluster_schedule(struct virtual_cluster *cluster, const struct future *future);

void cluster_send_message(struct virtual_cluster *cluster, unsigned from, const struct action *action);
uint64_t cluster_so_far_ns(const struct virtual_cluster *cluster, unsigned rank);
/* Steps the rank's machine and applies the actions in order. `data`: the data payload of a message. */
void cluster_step(struct virtual_cluster *cluster, unsigned rank, const struct event *event, const void *data);
/* Schedules the next event in the queue of a rank that is free again. */
void cluster_wake(struct virtual_cluster *cluster, unsigned rank);
void cluster_in_machine(const struct virtual_cluster *cluster, bool inside);
/* Returns an allocated copy. On failure the cluster's `out_of_memory` is set. */
void *cluster_copy(struct virtual_cluster *cluster, const void *bytes, size_t size);
extern const unsigned char cluster_phantom_bytes[];
void cluster_leave(struct virtual_cluster *cluster, unsigned rank);
void cluster_print(struct virtual_cluster *cluster, unsigned rank, const char *sign, const char *text);

/* Adds the ranks of a pod to the topology, and makes their machines. Returns 1, with nothing changed, if the
 * supermaster has no room; -1 if memory runs out. */
int cluster_add_pod(struct virtual_cluster *cluster, const struct virtual_pod *pod);

void work_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t later_ns);
/* Makes the next chunk, which began at the end of the running one, the running chunk. */
void work_take_next(struct virtual_cluster *cluster, unsigned rank);
uint64_t work_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns, double calls_ns,
                 uint64_t first, uint64_t count);
/* Returns after how many iterations a worker reports results; 0: only at the end of the chunk. */
uint64_t work_slice(const struct virtual_cluster *cluster);
void work_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark);
/* Shared ranks: work_put_off() suspends the running chunk. work_go_on() resumes it, for `turn_ns` and until the
 * iteration ends that then runs; it returns that time, or NEVER if the chunk ends before. */
void work_put_off(struct virtual_cluster *cluster, unsigned rank);
uint64_t work_go_on(struct virtual_cluster *cluster, unsigned rank, uint64_t turn_ns);
/* Ends the turn of the computing chunk with the iteration that ends at or after `at_ns`, and returns that time. */
uint64_t work_limit_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t at_ns);
uint64_t work_iteration_end_ns(const struct virtual_cluster *cluster, unsigned rank);
/* When a rank that computes and serves checks for messages next; now if it does not compute. */
uint64_t work_break_ns(const struct virtual_cluster *cluster, unsigned rank);
/* Postpones the chunk by the time of serving. A chunk that began in this step begins later. */
void work_delay(struct virtual_cluster *cluster, unsigned rank, uint64_t served_ns);
/* Gives up and returns a share, by recall_share(), of the next chunk or, if there is none, of the running one. */
struct range work_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting);
/* Takes a share, by recall_share() and perhaps empty, of what the rank's chunk has not begun, without the rank's
 * help. Returns false if that chunk cannot be seen by others. */
bool work_steal(struct virtual_cluster *cluster, unsigned rank, unsigned waiting, struct stolen *stolen);
/* Ends the computation or the probe. Returns the iterations that the running chunk has not done. */
struct range work_end(struct virtual_cluster *cluster, unsigned rank);
void work_schedule_loads(struct virtual_cluster *cluster);
void work_probe(struct virtual_cluster *cluster, unsigned rank);
void work_time_pieces(const struct virtual_cluster *cluster, const struct node *node, struct chunk_event *chunk);

/* Returns how long work takes that begins at `started_ns` and costs `cost_ns` at speed 1. */
double work_time_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns,
                    double cost_ns);
double work_range_cost(const struct virtual_cluster *cluster, uint64_t first, uint64_t count);

struct thread_team {
    struct virtual_cluster *cluster;
    unsigned rank;
    struct thread_model model;
    struct thread_model_event next;
};

int threads_init(struct virtual_cluster *cluster, struct error *error);
void threads_fini(struct virtual_cluster *cluster);
void threads_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t begins_ns);
void threads_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark);
struct range threads_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting);
void threads_forget(struct virtual_cluster *cluster, unsigned rank);
void threads_slow(struct virtual_cluster *cluster, unsigned rank, double factor);
void threads_deliver(struct virtual_cluster *cluster, const struct future *future, struct event *event);

/* Adds the results of these iterations to the event. Returns their memory, which the caller frees; NULL: none was
 * needed, or memory ran out. */
unsigned char *cluster_fill_results(struct virtual_cluster *cluster, unsigned rank, uint64_t first, uint64_t count,
                                    struct event *event);

static inline bool is_dependent(const struct virtual_cluster *cluster)
{
    return cluster->config.columns > 0;
}

int dependent_init(struct virtual_cluster *cluster);
void dependent_fini(struct virtual_cluster *cluster);
void dependent_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void dependent_end_step(struct virtual_cluster *cluster, unsigned rank, struct event *event);
void dependent_slow(struct virtual_cluster *cluster, unsigned rank, double factor);
void dependent_fill(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data);
void dependent_reuse(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at);
void dependent_release(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at);

/* These return the digest of the correct record of an iteration, and of any record. */
uint64_t store_digest(uint64_t iteration);
uint64_t store_digest_of(uint64_t iteration, uint64_t record);

/* Writes results, or sends them to the supermaster if this rank is the master of a pod that has no disk. Returns
 * NULL or an error. */
const char *store_take(struct virtual_cluster *cluster, unsigned rank, const struct part *part, const void *data,
                       uint64_t bytes);

/* What the supermaster's runtime does with a message before the machine sees it: writes the results of a STORE, and
 * after a failed write removes ranges from reports of pods. Returns true if the machine must not see it. */
bool store_look_at_message(struct virtual_cluster *cluster, unsigned from, struct message *message, const void *data);
/* Returns the results of iterations, records or a block of `*bytes`, to be freed by the caller. */
unsigned char *store_make(const struct virtual_cluster *cluster, uint64_t first, uint64_t count, uint64_t *bytes);
void store_part(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data);
void store_journal(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_point(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
unsigned store_points(const struct virtual_cluster *cluster);
void store_deaths(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_sync(struct virtual_cluster *cluster, unsigned rank);
/* If the output is synced: counts reports of results that are not on the disk yet. */
void store_check_synced(struct virtual_cluster *cluster, const struct node *node, const struct action *action);
void store_check(struct virtual_cluster *cluster);

bool faults_any(const struct virtual_cluster *cluster);
void faults_apply(struct virtual_cluster *cluster, const struct virtual_fault *fault);
void faults_end(struct virtual_cluster *cluster, const struct virtual_fault *fault);
/* How many of the `count` actions of the present event the rank applies before a fault kills it. */
size_t faults_limit(const struct virtual_cluster *cluster, unsigned rank, size_t count);
void faults_after_event(struct virtual_cluster *cluster, unsigned rank);
/* When a message arrives that is sent now and takes `transfer_ns` if nothing disturbs it. */
uint64_t faults_arrival(struct virtual_cluster *cluster, unsigned from, unsigned to, uint64_t transfer_ns);
/* If the sender babbles, replaces its message by garbage. Returns the size. */
size_t faults_send_garbage(struct virtual_cluster *cluster, unsigned from, unsigned to, unsigned char *bytes,
                           size_t size);
/* `rank` declares `other` lost because of its message, and tells it to leave. */
void faults_drop(struct virtual_cluster *cluster, unsigned rank, unsigned other, const char *text);
bool faults_has_dropped(const struct virtual_cluster *cluster, unsigned rank, unsigned other);
void faults_kill(struct virtual_cluster *cluster, unsigned rank);
void faults_kill_all(struct virtual_cluster *cluster);
/* Notifies the ranks that watch `rank`. Drops its messages that would arrive after `cut_ns`. */
void faults_tell_of_end(struct virtual_cluster *cluster, unsigned rank, uint64_t cut_ns);
/* True if a data message in transit arrives although its sender has died. */
bool faults_spare(const struct virtual_cluster *cluster, const struct part *part, unsigned rank);
