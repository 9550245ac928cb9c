/* SPDX-License-Identifier: MIT */
/* Inside the virtual cluster: what its parts share. cluster.c feeds events and applies actions, cluster_setup.c sets it
 * all up, work.c models how long computing takes, ranks.c shares ranks with other clusters, store.c is the disk, and
 * faults.c says who is lost and what of it arrives. */
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
    double call_ns;      /* time of the kernel's call, beside the costs of the iterations */
    uint64_t sliced;     /* iterations whose results have left, or that failed */
    bool isolated;       /* in a child process */
    bool is_on;          /* that it is over has not been told */
    uint64_t generation; /* generation of the events that belong to the chunk */
    uint64_t ends_ns;
    uint64_t looked_at; /* of a rank that serves others: iterations that were done when it last looked */
    /* where ranks are shared; the time for which it is put off does not count: it began later by as much */
    uint64_t mark;   /* that the worker has not been told of; 0: none */
    bool is_put_off; /* another job's chunk computes, since put_off_ns */
    uint64_t put_off_ns;
    uint64_t until_ns; /* the turn ends then, behind an iteration; NEVER: it does not */
};

/* Boundary data of one boundary. */
struct halo {
    struct halo *next;
    uint64_t boundary_at;
    uint64_t filled;   /* bytes */
    uint64_t values[]; /* [columns * distance] */
};

/* A worker's running chunk in a loop with dependencies. */
struct pipeline {
    struct boundaries boundaries; /* the worker's account of boundary data */
    struct halo *received;        /* for chunks that have not begun, and the running one; owned */
    struct halo *kept;            /* halos of the running chunk and of finished ones, until they are released; owned */
    struct halo *before;          /* halo before the running chunk; NULL where it is the loop's first */
    struct halo *after;           /* halo behind the running chunk; NULL where it is the loop's last */
    uint64_t *records;            /* [count] records of the running chunk; owned */
    uint64_t *window;             /* [distance] the latest values of a column; owned */
    uint64_t step, steps;         /* step of the chunk that runs, and number of its steps */
    uint64_t step_ns, mark;
    uint64_t step_ends_ns;
    uint64_t compute_ns;
    bool runs, waits; /* waits: for boundary data */
};

struct node {
    struct machine machine;
    struct computing *computing; /* serves and computes: `machine` is that; owned; NULL for most */
    unsigned node;
    uint64_t busy_until_ns;
    uint64_t deadline_ns; /* time for which a TIMER is scheduled; NEVER if none */
    uint64_t timer_generation;
    uint64_t messages, bytes; /* sent so far */
    bool synced;              /* the action before has synced */
    double speed;
    uint64_t slow_at_ns; /* NEVER for most */
    double slow_factor;
    unsigned worker; /* index of the worker, for a worker */
    struct running running;
    struct action next;     /* RUN of the chunk behind it, which begins when that is over; none while its count is 0 */
    uint64_t probe_ends_ns; /* 0: it has not probed */
    struct pipeline *pipeline;                /* in cluster->pipelines; NULL: independent iterations */
    struct thread_team *team;                 /* in cluster->teams; NULL: one thread */
    struct future *queue_first, **queue_last; /* events that arrived while the rank was busy */
    unsigned wakes;                           /* scheduled */
    uint64_t handled;                         /* events */
    uint64_t busy_ns;                         /* busy time with events, since the first chunk was assigned */
    double service_factor;                    /* 1 until it is slowed down */
    uint64_t stalled_until_ns;
    bool sync_failed; /* the disk failed: the node's next REPORT would say what is not so */
    bool gone;
    bool killed, stopped;
    bool sends_garbage; /* the next message that the rank sends is nonsense */
    unsigned dropped;   /* rank that was dropped in this step, or NO_RANK */
};

/* The step of a machine that is running. */
struct virtual_step {
    unsigned rank;
    struct actions actions;
    double sending_ns; /* time for the messages that it has sent so far */
    double cutting_ns; /* time for cutting and assigning the chunks before the latest of them */
    bool has_cut;      /* the rank has cut its chunk, and is to be told of `cut` */
    struct range cut;
    bool has_grown; /* the rank is the supermaster, and is to be told how much of the loop there is */
};

struct virtual_cluster {
    struct virtual_config config;
    struct topology topology;
    struct supermaster supermaster;
    struct master *masters;
    struct worker *workers;
    unsigned **master_ranks; /* [masters] ranks of its workers */
    struct node *nodes;      /* [ranks] */
    struct virtual_step step;
    bool event_faults; /* some faults of the configuration come at an event */
    struct heap heap;
    uint64_t now_ns;
    uint64_t *output;           /* [count] collected records */
    unsigned char *written;     /* [count] times written */
    struct precedence others;   /* for each iteration those that it waits for, in `waiting` */
    bool cannot_store;          /* results that a pod has sent were not written */
    struct pipeline *pipelines; /* [ranks] owned; NULL where iterations are independent */
    struct thread_team *teams;  /* [ranks] owned; NULL where workers have one thread */
    uint64_t *expected;         /* [count] records of a loop with dependencies; NULL where it has none */
    uint64_t *arrivals;         /* [ranks * LANES] of the latest message; NULL: they cannot overtake */
    bool *dropped;              /* [ranks * ranks] whom a rank has dropped; NULL: nobody yet */
    uint64_t stores, records, syncs, sends;
    struct ranges journalled;
    struct poison_set deaths;
    struct virtual_point *points; /* [point_count]; owned; the last may be incomplete, or is not to be completed */
    unsigned point_count;
    size_t point_room;
    struct virtual_result result;
    bool out_of_memory;
    struct ranks *ranks;     /* that it shares with other clusters; NULL: they are its own */
    struct rank_part *parts; /* [ranks] its parts in them; NULL likewise; owned */
    struct virtual_cluster *next_of_ranks;
    unsigned left;              /* ranks that are gone */
    struct reason_sink reasons; /* sink where there is a trace: for the rank that is stepping */
};

/* Messages go to and from a master and the supermaster only: each pair of ranks is a lower rank of the tree, one of
 * these two above it, and a direction. */
#define LANES 4

/* --- cluster.c --- */

/* Schedules a copy of it, which takes over what it owns. */
void cluster_schedule(struct virtual_cluster *cluster, const struct future *future);

void cluster_send_message(struct virtual_cluster *cluster, unsigned from, const struct action *action);
/* The time from the beginning of the step that is running to its next action. */
uint64_t cluster_so_far_ns(const struct virtual_cluster *cluster, unsigned rank);
/* Steps a machine with an event, its actions applied in order. `data` is the data payload that came with a message. */
void cluster_step(struct virtual_cluster *cluster, unsigned rank, const struct event *event, const void *data);
/* Has a rank that is no longer busy take the next event of its queue. */
void cluster_wake(struct virtual_cluster *cluster, unsigned rank);
/* Around each call of a machine. */
void cluster_in_machine(const struct virtual_cluster *cluster, bool inside);
/* A copy on the heap, or NULL and the run is out of memory. */
void *cluster_copy(struct virtual_cluster *cluster, const void *bytes, size_t size);
/* In the place of results that there are none of: messages of few take them along. */
extern const unsigned char cluster_phantom_bytes[];
/* The rank is gone. */
void cluster_leave(struct virtual_cluster *cluster, unsigned rank);
/* A line of the trace about `rank`. */
void cluster_print(struct virtual_cluster *cluster, unsigned rank, const char *sign, const char *text);

/* --- cluster_setup.c --- */

/* Appends the ranks of a pod to the topology, and makes their machines. 1 where the supermaster has no room for them,
 * and nothing has changed; -1 when memory is out. */
int cluster_add_pod(struct virtual_cluster *cluster, const struct virtual_pod *pod);

/* --- work.c --- */

/* The chunk begins so long after the step. */
void work_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t later_ns);
/* The running chunk is over, as its worker is about to be told: the next one began when it was. */
void work_take_next(struct virtual_cluster *cluster, unsigned rank);
/* Time that the worker needs from `started_ns` on for `count` iterations, and for calls of the kernel that cost
 * `calls_ns` beside them. */
uint64_t work_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns, double calls_ns,
                 uint64_t first, uint64_t count);
/* Iterations after which results leave; 0: all at the end. */
uint64_t work_slice(const struct virtual_cluster *cluster);
void work_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark);
/* Where ranks are shared: puts the running chunk off, and has it go on, for `turn_ns` and to the end of the iteration
 * that runs then. Returns when that is; NEVER: the chunk is over by then, or there is no limit. */
void work_put_off(struct virtual_cluster *cluster, unsigned rank);
uint64_t work_go_on(struct virtual_cluster *cluster, unsigned rank, uint64_t turn_ns);
/* Has the chunk that computes be put off, not before `at_ns`. Returns when, as above. */
uint64_t work_limit_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t at_ns);
/* When the iteration that the rank computes is over; now where it computes none. */
uint64_t work_iteration_end_ns(const struct virtual_cluster *cluster, unsigned rank);
/* When a rank that computes and serves looks at its messages next; now where it computes nothing. */
uint64_t work_break_ns(const struct virtual_cluster *cluster, unsigned rank);
/* The rank has served others for so long, and goes on with its chunk behind that; one that began in this step begins
 * then. */
void work_delay(struct virtual_cluster *cluster, unsigned rank, uint64_t served_ns);
/* Gives up what recall_share() says of iterations that have not begun, of the next chunk, or of the running one where
 * there is none, and returns them. */
struct range work_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting);
/* Ends what the rank computes, be it a probe: gives up all of the running chunk that is not done, and returns it. */
struct range work_end(struct virtual_cluster *cluster, unsigned rank);
void work_schedule_loads(struct virtual_cluster *cluster);
void work_probe(struct virtual_cluster *cluster, unsigned rank);
/* The samples from timing a chunk in pieces. */
void work_time_pieces(const struct virtual_cluster *cluster, const struct node *node, struct chunk_event *chunk);

/* Time that the worker needs from `started_ns` on for work that costs `cost_ns` at speed 1. */
double work_time_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns,
                    double cost_ns);
/* What a range costs at speed 1. */
double work_range_cost(const struct virtual_cluster *cluster, uint64_t first, uint64_t count);

/* --- threads.c: workers of several threads --- */

/* The threads of a worker. */
struct thread_team {
    struct virtual_cluster *cluster;
    unsigned rank;
    struct thread_model model;
    struct thread_model_event next; /* that is scheduled */
};

int threads_init(struct virtual_cluster *cluster, struct error *error); /* -1 with one line */
void threads_fini(struct virtual_cluster *cluster);
/* The chunk begins at `begins_ns`, behind those that run. */
void threads_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t begins_ns);
void threads_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark);
struct range threads_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting);
void threads_forget(struct virtual_cluster *cluster, unsigned rank);
/* The rank has become slower by so much. */
void threads_slow(struct virtual_cluster *cluster, unsigned rank, double factor);
/* What was scheduled for the rank's threads has come. */
void threads_deliver(struct virtual_cluster *cluster, const struct future *future, struct event *event);

/* --- cluster.c, for what computes --- */

/* Puts results of iterations that the rank has computed into the event. Returns the memory that they are in until the
 * caller frees it, NULL where they take none; when memory is out the run is. */
unsigned char *cluster_fill_results(struct virtual_cluster *cluster, unsigned rank, uint64_t first, uint64_t count,
                                    struct event *event);

/* --- dependent.c --- */

static inline bool is_dependent(const struct virtual_cluster *cluster)
{
    return cluster->config.columns > 0;
}

int dependent_init(struct virtual_cluster *cluster); /* -1 when memory is out */
void dependent_fini(struct virtual_cluster *cluster);
void dependent_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
/* The step that was computed is over. */
void dependent_end_step(struct virtual_cluster *cluster, unsigned rank, struct event *event);
/* From now on the rank takes `factor` times as long. */
void dependent_slow(struct virtual_cluster *cluster, unsigned rank, double factor);
/* BOUNDARY; `data` came with the message where it is a data message. */
void dependent_fill(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data);
void dependent_reuse(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at);
void dependent_release(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at);

/* --- store.c --- */

/* The digest of an iteration's record, and of any. */
uint64_t store_digest(uint64_t iteration);
uint64_t store_digest_of(uint64_t iteration, uint64_t record);
/* Writes the results of the part; NULL, or why that failed. */
const char *store_write(struct virtual_cluster *cluster, const struct part *part, const void *data, uint64_t bytes);

/* The same for a rank that stores, from which they may go to the supermaster first: then they are on their way. */
const char *store_take(struct virtual_cluster *cluster, unsigned rank, const struct part *part, const void *data,
                       uint64_t bytes);

/* What the supermaster's runtime does with a message before its machine sees it: writes the results of a STORE, of
 * which the machine hears nothing, and, where some could not be written, takes the ranges out of what pods report. True
 * where there is nothing for the machine. */
bool store_look_at_message(struct virtual_cluster *cluster, unsigned from, struct message *message, const void *data);
/* Produces the results of iterations: records, or a block; `*bytes` of it. NULL when memory is out; the caller frees
 * it. */
unsigned char *store_make(const struct virtual_cluster *cluster, uint64_t first, uint64_t count, uint64_t *bytes);
void store_part(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data);
void store_journal(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_point(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
/* Number of recovery points that are complete. */
unsigned store_points(const struct virtual_cluster *cluster);
void store_deaths(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_sync(struct virtual_cluster *cluster, unsigned rank);
/* With `sync`, what a master reports done is on the disk. */
void store_check_synced(struct virtual_cluster *cluster, const struct node *node, const struct action *action);
/* Counts what is wrong in the output at the end. */
void store_check(struct virtual_cluster *cluster);

/* --- faults.c --- */

bool faults_any(const struct virtual_cluster *cluster);
void faults_apply(struct virtual_cluster *cluster, const struct virtual_fault *fault);
/* An action that lasts for some time is over. */
void faults_end(struct virtual_cluster *cluster, const struct virtual_fault *fault);
/* Returns how many of the `count` actions of the event that it handles the rank lives to apply. */
size_t faults_limit(const struct virtual_cluster *cluster, unsigned rank, size_t count);
/* Lets the faults happen to the rank behind the event that it has handled. */
void faults_after_event(struct virtual_cluster *cluster, unsigned rank);
/* The time when a message that is sent now arrives, which takes `transfer_ns` when nothing disturbs it. */
uint64_t faults_arrival(struct virtual_cluster *cluster, unsigned from, unsigned to, uint64_t transfer_ns);
/* Garbage instead of the message, where the sender babbles; its size. */
size_t faults_send_garbage(struct virtual_cluster *cluster, unsigned from, unsigned to, unsigned char *bytes,
                           size_t size);
/* `rank` takes `other` for lost because of what it sent, and tells it to leave. */
void faults_drop(struct virtual_cluster *cluster, unsigned rank, unsigned other, const char *text);
bool faults_has_dropped(const struct virtual_cluster *cluster, unsigned rank, unsigned other);
void faults_kill(struct virtual_cluster *cluster, unsigned rank);
void faults_kill_all(struct virtual_cluster *cluster);
/* The watchers of `rank` learn that it is gone; what is on its way and arrives after `cut_ns` does not. */
void faults_tell_of_end(struct virtual_cluster *cluster, unsigned rank, uint64_t cut_ns);
/* True if a data message that is on its way when its sender dies makes it. */
bool faults_spare(const struct virtual_cluster *cluster, const struct part *part, unsigned rank);
