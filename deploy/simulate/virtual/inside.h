/* SPDX-License-Identifier: MIT */
/* Internal interface of the virtual cluster. cluster.c delivers events and carries out actions. cluster_setup.c sets up
 * the cluster. work.c models computing, threads.c workers with several threads, dependent.c loops with dependencies,
 * store.c the disk, and faults.c the effects of losses. ranks.c shares ranks among clusters. */
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
    uint64_t sliced;
    bool isolated;
    bool is_on;
    uint64_t generation;
    uint64_t ends_ns;
    uint64_t looked_at;
    uint64_t mark;
    /* For shared ranks: the chunk was suspended at `put_off_ns`. When the chunk resumes, its start is moved by the
     * duration of the suspension. */
    bool is_put_off;
    uint64_t put_off_ns;
    uint64_t until_ns;
};

struct halo {
    struct halo *next;
    uint64_t boundary_at;
    uint64_t filled;
    uint64_t values[];
};

struct pipeline {
    struct boundaries boundaries;
    /* Lists of boundary data; owned. `received`: data for chunks that are running or have not begun. `kept`: data from
     * chunks that are running or are not released yet. */
    struct halo *received;
    struct halo *kept;
    struct halo *before;
    struct halo *after;
    uint64_t *records;
    uint64_t *window;
    uint64_t step, steps;
    uint64_t step_ns, mark;
    uint64_t step_ends_ns;
    uint64_t compute_ns;
    bool runs, waits;
};

struct node {
    struct machine machine;
    struct computing *computing;
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
    struct range stolen;
    struct action next;
    uint64_t probe_ends_ns;
    /* Both pointers point to memory of the cluster. `pipeline` is NULL if iterations are independent. `team` is NULL if
     * the worker has a single thread. */
    struct pipeline *pipeline;
    struct thread_team *team;
    struct future *queue_first, **queue_last;
    unsigned wakes;
    uint64_t handled;
    uint64_t busy_ns;
    double service_factor;
    uint64_t stalled_until_ns;
    bool sync_failed;
    bool gone;
    bool killed, stopped;
    bool sends_garbage;
    unsigned dropped;
};

struct theft {
    unsigned rank;
    struct stolen stolen;
};

struct virtual_step {
    unsigned rank;
    struct actions actions;
    double sending_ns;
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
    unsigned **master_ranks;
    struct node *nodes;
    struct virtual_step step;
    bool event_faults;
    struct heap heap;
    uint64_t now_ns;
    uint64_t *output;
    unsigned char *written;
    /* for each iteration, the iterations for which it waits; config.precedence has the iterations that wait for it */
    struct precedence others;
    bool cannot_store;
    struct pipeline *pipelines;
    struct thread_team *teams;
    uint64_t *expected;
    /* [ranks * LANES] when the latest message on each lane of a rank arrives; NULL: messages keep their order anyway */
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
    struct ranks *ranks;
    struct rank_part *parts;
    struct virtual_cluster *next_of_ranks;
    unsigned left;
    struct reason_sink reasons;
};

/* A lane is one direction between a rank and the supermaster, or between a rank and its master. So a rank has four
 * lanes. */
#define LANES 4

/* Schedules a copy of `future`. The copy takes over the memory that `future` owns. */
void cluster_schedule(struct virtual_cluster *cluster, const struct future *future);

void cluster_send_message(struct virtual_cluster *cluster, unsigned from, const struct action *action);
uint64_t cluster_so_far_ns(const struct virtual_cluster *cluster, unsigned rank);
/* Lets the machine of the rank handle the event, and carries out its actions in order. `data` are the data of a
 * message. */
void cluster_step(struct virtual_cluster *cluster, unsigned rank, const struct event *event, const void *data);
void cluster_wake(struct virtual_cluster *cluster, unsigned rank);
void cluster_in_machine(const struct virtual_cluster *cluster, bool inside);
void *cluster_copy(struct virtual_cluster *cluster, const void *bytes, size_t size);
extern const unsigned char cluster_phantom_bytes[];
void cluster_leave(struct virtual_cluster *cluster, unsigned rank);
void cluster_print(struct virtual_cluster *cluster, unsigned rank, const char *sign, const char *text);

/* Adds the ranks of a pod to the topology, and makes their machines. Returns 1, and changes nothing, if the supermaster
 * has no room for them. Returns -1 if memory runs out. */
int cluster_add_pod(struct virtual_cluster *cluster, const struct virtual_pod *pod);

void work_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t later_ns);
void work_take_next(struct virtual_cluster *cluster, unsigned rank);
uint64_t work_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns, double calls_ns,
                 uint64_t first, uint64_t count);
uint64_t work_slice(const struct virtual_cluster *cluster);
void work_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark);
/* For shared ranks. work_put_off() suspends the running chunk. work_go_on() resumes the chunk for a turn. The turn ends
 * with the first iteration that ends after `turn_ns`. work_go_on() returns when the turn ends; NEVER: the chunk ends
 * before that. */
void work_put_off(struct virtual_cluster *cluster, unsigned rank);
uint64_t work_go_on(struct virtual_cluster *cluster, unsigned rank, uint64_t turn_ns);
uint64_t work_limit_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t at_ns);
uint64_t work_iteration_end_ns(const struct virtual_cluster *cluster, unsigned rank);
/* For a rank that both computes and serves: returns when it checks for messages next. This is now if the rank is not
 * computing. */
uint64_t work_break_ns(const struct virtual_cluster *cluster, unsigned rank);
void work_delay(struct virtual_cluster *cluster, unsigned rank, uint64_t served_ns);
/* Gives up iterations of the next chunk or, if there is no next chunk, of the running chunk. Returns these iterations;
 * recall_share() gives their number. */
struct range work_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting);
/* Takes iterations that the running chunk of the rank has not begun, without help of the rank. recall_share() gives
 * their number, which may be 0. Returns false if other ranks cannot see that chunk. */
bool work_steal(struct virtual_cluster *cluster, unsigned rank, unsigned waiting, struct stolen *stolen);
struct range work_end(struct virtual_cluster *cluster, unsigned rank);
void work_schedule_loads(struct virtual_cluster *cluster);
void work_probe(struct virtual_cluster *cluster, unsigned rank);
void work_time_pieces(const struct virtual_cluster *cluster, const struct node *node, struct chunk_event *chunk);

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

/* Adds the results of these iterations to the event. Returns the memory of the results, which the caller frees. Returns
 * NULL if no memory was needed, or if memory ran out. */
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

uint64_t store_digest(uint64_t iteration);
uint64_t store_digest_of(uint64_t iteration, uint64_t record);

/* Writes results to the disk. If the rank is the master of a pod without a disk, sends them to the supermaster. Returns
 * NULL, or an error. */
const char *store_take(struct virtual_cluster *cluster, unsigned rank, const struct part *part, const void *data,
                       uint64_t bytes);

/* Handles a message before the supermaster's machine handles it, as the real runtime does. Writes the results of a
 * STORE. Removes ranges whose results could not be written from the reports of pods. Returns true if the message must
 * not be passed to the machine. */
bool store_look_at_message(struct virtual_cluster *cluster, unsigned from, struct message *message, const void *data);
/* Returns the results of iterations, either records or a block of `*bytes`. The caller frees them. */
unsigned char *store_make(const struct virtual_cluster *cluster, uint64_t first, uint64_t count, uint64_t *bytes);
void store_part(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data);
void store_journal(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_point(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
unsigned store_points(const struct virtual_cluster *cluster);
void store_deaths(struct virtual_cluster *cluster, unsigned rank, const struct action *action);
void store_sync(struct virtual_cluster *cluster, unsigned rank);
void store_check_synced(struct virtual_cluster *cluster, const struct node *node, const struct action *action);
void store_check(struct virtual_cluster *cluster);

bool faults_any(const struct virtual_cluster *cluster);
void faults_apply(struct virtual_cluster *cluster, const struct virtual_fault *fault);
void faults_end(struct virtual_cluster *cluster, const struct virtual_fault *fault);
size_t faults_limit(const struct virtual_cluster *cluster, unsigned rank, size_t count);
void faults_after_event(struct virtual_cluster *cluster, unsigned rank);
uint64_t faults_arrival(struct virtual_cluster *cluster, unsigned from, unsigned to, uint64_t transfer_ns);
size_t faults_send_garbage(struct virtual_cluster *cluster, unsigned from, unsigned to, unsigned char *bytes,
                           size_t size);
void faults_drop(struct virtual_cluster *cluster, unsigned rank, unsigned other, const char *text);
bool faults_has_dropped(const struct virtual_cluster *cluster, unsigned rank, unsigned other);
void faults_kill(struct virtual_cluster *cluster, unsigned rank);
void faults_kill_all(struct virtual_cluster *cluster);
void faults_tell_of_end(struct virtual_cluster *cluster, unsigned rank, uint64_t cut_ns);
bool faults_spare(const struct virtual_cluster *cluster, const struct part *part, unsigned rank);
