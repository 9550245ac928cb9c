/* SPDX-License-Identifier: MIT */
/* The supermaster: turns speeds into virtual powers, cuts chunks with the technique, keeps the ledger, and ends the
 * run. In the central topology (no masters) it serves the workers itself, with the same code as a master. A pure state
 * machine: see common/machine/machine.h. */
#pragma once

#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/service/boundary_list.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "supermaster/given_up.h"
#include "supermaster/ledger.h"

/* GATHERING: the supermaster waits for the speeds of the workers. ENDING: the supermaster has sent END. */
enum supermaster_state { SUPERMASTER_GATHERING, SUPERMASTER_SERVING, SUPERMASTER_ENDING, SUPERMASTER_GONE };

struct supermaster_config {
    const struct topology *topology;
    /* Borrowed for the machine's life, like `topology`. spec->min_chunk is at least `distance`. */
    const struct run_spec *spec;
    uint64_t first, count;
    bool grows;               /* the loop grows, which requires a technique with may_grow */
    bool is_told_of_growth;   /* EVENT_MORE announces growth; otherwise the supermaster checks for it periodically */
    uint64_t step_iterations; /* number of iterations in a time step; 0: the whole loop is one time step */
    bool steps_dependent;
    /* Each iteration needs the results of the `distance` iterations before it, so each chunk except the last has at
     * least that many iterations. 0: iterations are independent. */
    uint64_t distance;
    /* size of the result of an iteration in bytes, or RECORD_VARIABLE; 0: only digests of results are kept */
    uint64_t record_bytes;
    bool no_speculation;
    bool no_isolation;
    bool is_elastic;  /* masters may join at any time, so a run without workers waits for masters */
    unsigned awaited; /* limit for the number of masters that join; 0: no limit */
    /* before it ends, the run also waits for workers that hang, and for workers that compute iterations which are
     * already done */
    bool is_patient;
    bool are_tasks; /* texts call the iterations tasks and count them from 1 */
    /* Tells which iterations wait for which others. Iterations are counted from the first iteration of the loop. NULL:
     * no iteration waits. There are no cycles. Requires a technique with may_grow and a loop that does not grow.
     * Borrowed for the machine's life. */
    const struct precedence *precedence;
    /* [workers] speeds in any unit; NULL: the workers measure their speeds; borrowed during init */
    const double *speeds;
    bool probe;       /* the workers probe; must be true if `speeds` is NULL */
    bool probe_kills; /* probes run in the workers' own processes, so a probed iteration may kill a worker */
    bool journal;
    /* The iterations have effects that must not be repeated, so each range is written to the journal at once. */
    bool records_at_once;
    /* Ranges that an earlier run has done; NULL: none. Borrowed until the machine has started. */
    const struct ranges *done;
    /* The part of `done` that the kernel has reported as failed; NULL: none. Borrowed during init. */
    const struct ranges *done_failed;
    uint64_t done_digest;
    /* Deaths in earlier runs at iterations that are not in `done`; NULL: none. In each entry, `deaths` is the number of
     * workers and `failures` is the number of child processes that died. Borrowed during init. */
    const struct poison_set *deaths;
    uint64_t boundary_bytes;
    /* `point` is the boundary data for the boundary before iteration `point_at`: the recovery point of an earlier run.
     * `point` is borrowed for the machine's life. The first undone iteration is either `point_at` itself, or at least
     * `distance` iterations after `point_at`. If there is no recovery point, `point_at` is 0 and `point` is NULL. */
    uint64_t point_at;
    const unsigned char *point;
};

/* Results of the probes; 0: not measured.
 *
 * `mean_s` is the mean time of an iteration on each worker. The other results combine all workers. For `cov` and
 * `cells` the times of each worker are first divided by that worker's mean, so that fast and slow workers can be
 * combined. */
struct measured {
    double *mean_s;
    double round_trip_s;
    double swr;
    /* sample deviation of the times of all probed iterations, divided by their mean; 0 if fewer than two were timed */
    double cov;
    /* Number of iterations that were timed individually, on the worker with the most. All workers time the same
     * iterations. */
    uint64_t iterations;
    struct {
        double mean;
        uint64_t count;
    } cells[SPEED_CELLS];
};

struct gathered {
    double round_trip_s, swr;
    unsigned swr_workers;
    double squares;
    uint64_t freedom;
    struct {
        double sum;
        uint64_t count;
    } cells[SPEED_CELLS];
};

/* Value of `seat` for a worker that the technique does not count. The worker has left, or was absent when the technique
 * began. */
#define NO_SEAT UINT32_MAX

/* `list` has one entry for each time step. The entries of steps that earlier runs have done are zero. */
struct timesteps {
    uint64_t step_iterations;
    uint64_t number;
    uint64_t end;
    uint64_t began_ns;
    uint64_t returned;
    struct report_step *list;
    unsigned places;
    uint64_t count;
};

/* Time between two checks for growth. GROWTH_LOOK_NS applies while some iterations are free, GROWTH_LOOK_SOON_NS while
 * none is free. */
#define GROWTH_LOOK_NS      200000000u
#define GROWTH_LOOK_SOON_NS 10000000u

struct waits {
    /* [count] open[i] is the number of iterations for which iteration i waits. As long as iteration i is a suspect that
     * is not released, open[i] is higher by 1 (see supermaster_holds_suspects()). Owned. NULL: no iteration waits. */
    uint64_t *open;
    uint64_t suspect;
    /* [not_run_count] iterations that were given up because iterations for which they waited have failed; owned */
    uint64_t *not_run;
    uint64_t not_run_count;
    /* time at which iterations that have become free are handed out; NEVER: there are no such iterations */
    uint64_t serve_due_ns;
};

/* Committed ranges that are not in the journal yet. `due_ns` is the time at which they must be written; NEVER: there
 * are no such ranges. */
struct record {
    struct ranges ranges;
    uint64_t digest;
    uint64_t due_ns;
};

/* A worker that has left at the end of the run keeps the status WORKER_IS_ALIVE. */
enum worker_status {
    WORKER_IS_ALIVE,
    WORKER_IS_LOST,
    WORKER_IS_DEAD,   /* it has died, but its master has not reported this yet */
    WORKER_HAS_LEFT,  /* it has left together with its master, which was dismissed */
    WORKER_IS_ORPHAN, /* its master is lost; it has not contacted the supermaster yet */
};

enum master_end {
    MASTER_SERVES,
    MASTER_HAS_LEFT,
    MASTER_IS_LOST,
};

enum fatal_loss {
    LOSS_OF_NONE,
    LOSS_OF_ALL,
    LOSS_OF_BOUNDARIES,
};

struct supermaster_loss {
    unsigned rank;
    uint64_t chunks;
    bool is_late;
};

struct losses {
    unsigned char *worker;
    unsigned char *master;
    unsigned masters_left, masters_lost, workers_lost, workers_left;
    unsigned of_launch;
    unsigned workers_late;
    unsigned orphans;
    uint64_t orphans_due_ns;
    bool *dismissed; /* [masters] whether the master was told to leave early; owned, like all arrays here */
    bool *was_given;
    /* [masters] Time from which the silence of the master is measured. This is the time of its latest report or
     * reissue, or the time at which it got work after it had none. */
    uint64_t *heard_ns;
    uint64_t silence_ns; /* longest silence of a master so far, ended by a report or a dismissal; 0: none yet */
    uint64_t look_ns;    /* next time to look for overdue masters; NEVER if no worker waits */
    bool late;
    bool look_again;
    bool serve_due;
    unsigned failed_by;
    uint64_t reissued, duplicates;
    struct supermaster_loss *list;
    unsigned count;
    size_t capacity;
};

struct recalls {
    /* [masters] number of the master's idle workers for which it wants recalled work; owned, like the arrays below */
    unsigned *waiting;
    unsigned masters_waiting;
    unsigned char *state;
    bool *was_told;
    bool *was_asked;
    unsigned open;
    bool has_more;
    /* The last search found no master that could return work. Since then no master has got or returned work. */
    bool has_no_giver;
    uint64_t count;
    /* number of recalled iterations; does not count those that the supermaster's own service has yet to pass on */
    uint64_t iterations;
};

/* A rank of a pod that cannot take part, and the reason. `master`: number of the pod's master. */
struct unfit {
    unsigned rank, master;
    char text[TEXT_MAX + 1];
};

struct joins {
    bool *is_missing;
    unsigned *missing; /* [masters] number of missing speeds; owned, like all arrays here */
    unsigned *refills_kept;
    unsigned open;
    uint64_t since_ns;
    uint64_t due_ns; /* time until which the supermaster waits for missing speeds; NEVER until one speed has arrived */
    struct unfit *unfit;
    unsigned unfit_count;
    size_t unfit_capacity;
};

struct points {
    uint64_t due_ns;
    uint64_t interval_ns;
    uint64_t at;
    uint64_t bytes;
    uint64_t began_ns;
    uint64_t latest;
    uint64_t next;
};

/* The first FAILURES_TOLD failures are printed one by one. At most FAILURES_KEPT failures are kept for the report.
 * Failures after the first FAILURES_TOLD are merged if they have the same rank and text, and adjacent iterations. */
#define FAILURES_TOLD 20
#define FAILURES_KEPT 1000

struct failures {
    struct report_failure *list;
    unsigned count;
    size_t capacity;
    uint64_t seen;
};

#define MISMATCHES_TOLD 20
#define MISMATCHES_KEPT 1000

struct verifications {
    uint64_t alike, unverified;
    uint64_t differing;
    uint64_t undecided;
    struct report_mismatch *list;
    unsigned count;
    size_t capacity;
    uint64_t seen;
};

/* OUTCOMES_KEPT: number of outcomes of tasks that are kept. STREAK_KEPT: number of failed tasks that are kept for each
 * node. */
#define OUTCOMES_KEPT 256
#define STREAK_KEPT   16

struct task_outcome {
    uint64_t task;
    unsigned node;
    bool failed;
};

struct judged_node {
    uint64_t failed;
    uint64_t first, last;
    uint64_t latest[STREAK_KEPT];
    /* the node cannot be judged: a master serves both this node and others, or no other node remains for a
     * comparison */
    bool is_mixed;
    bool is_aside;
};

struct nodes {
    struct judged_node *list;
    /* [OUTCOMES_KEPT] ring; owned, like all arrays here; `list` is NULL if nodes are not judged */
    struct task_outcome *recent;
    uint64_t recent_count;
    /* [masters] the node of the master's workers; UINT_MAX: they are on several nodes */
    unsigned *master_node;
    unsigned *refills_kept;
    bool has_suspect;
    unsigned suspect;
    unsigned aside;
    struct report_aside *events;
    unsigned event_count;
};

struct worker_statistics {
    double speed;
    uint64_t joined_ns, left_ns; /* times at which the worker joined and left; 0: it did not do so during the run */
    uint64_t iterations, chunks, compute_ns, wait_ns, finish_ns;
    struct threads threads;
    uint16_t load;
    double load_sum;
    uint64_t load_chunks;
    struct stats_record measured;
};

/* A range that was free when the technique laid out its parts. `place`: number of free iterations before this range. */
struct placed_range {
    uint64_t place;
    struct range range;
};

struct cutting {
    struct sched sched;
    bool is_ready;
    struct {
        struct placed_range *list;
        size_t count, room;
        /* [count] the free ranges in ascending order. Empty if the technique does not choose iterations. Owned, like
         * `seat`. */
    } places;
    unsigned *seat;
    struct chooser *chooser;
};

struct speeds {
    struct speed_levels *levels;
    unsigned missing;
    uint64_t due_ns;
    bool has_one;
    /* workers must not probe, because workers of an earlier run have died at probed iterations */
    bool are_unprobed;
    struct gathered gathered;
    struct measured measured;
    double *powers; /* [workers] virtual powers; owned */
};

/* Refills of the masters' task pools. All arrays have an element for each master, and are owned. */
struct refilling {
    unsigned largest;
    /* Encoded chunks, borrowed by the messages of a step. If actions go to a sink, only records[0] is used. */
    unsigned char **records;
    unsigned *parked;
    unsigned *busy;
    uint64_t *reported;
    uint64_t count;
};

struct cut_chunks {
    uint64_t chunks;
    uint64_t least;
    uint64_t largest; /* size of the largest chunk, in iterations; only the last chunk of each refill is considered */
    uint64_t first_ns;
};

struct traffic {
    uint64_t messages, bytes; /* sent by all ranks; complete in state SUPERMASTER_GONE */
    uint64_t messages_sent, bytes_sent;
};

struct running_step {
    struct actions *actions;
    uint64_t now_ns;
    unsigned from;
    struct error refusal;
};

struct supermaster {
    struct supermaster_config config;
    unsigned state;
    bool is_central;
    bool ends_now;
    bool drains;
    const struct reason_sink *reasons;
    struct running_step step;
    struct ledger ledger;
    struct cutting technique;
    /* In the central topology this service serves all workers. Otherwise it serves the workers of lost masters. */
    struct service service;
    /* Number of holders in the ledger. In the central topology each worker is a holder. Otherwise each master is a
     * holder, and one more holder, the last, stands for all workers of lost masters. */
    unsigned holders;
    struct {
        unsigned masters, workers, nodes;
    } room;
    uint64_t started_ns;
    struct speeds speeds;
    struct refilling refilling;
    /* For each chunk whose next chunk belongs to another master: the end of the chunk, and its master. An entry is
     * removed after its NEIGHBOUR was passed on. The entry that was added last is the end of the chunk that was cut
     * last. */
    struct boundary_list boundaries;
    struct cut_chunks cut;
    uint64_t last_commit_ns;
    struct record record;
    /* deaths at undone iterations, in this and in earlier runs; used only for the journal */
    struct poison_set deaths;
    struct timesteps steps;
    uint64_t grown_look_ns;
    struct waits waits;
    uint64_t resumed;
    struct worker_statistics *statistics;
    struct error failure;
    unsigned failed_rank;
    struct traffic traffic;
    struct losses losses;
    struct recalls recalls;
    struct joins joins;
    struct points points;
    struct failures failures;
    struct given_up given_up;
    struct ranges done_failed; /* iterations that this run has done, but that the kernel reports as failed */
    struct verifications verifications;
    struct nodes nodes;
};

/* Fails if the parameters of the technique are invalid, or if memory runs out. */
int supermaster_init(struct supermaster *supermaster, const struct supermaster_config *config, struct error *error);
void supermaster_fini(struct supermaster *supermaster);

/* Returns true if workers must not probe, because workers of an earlier run have died at probed iterations. The workers
 * send a SPEED in any case. */
static inline bool supermaster_is_unprobed(const struct supermaster *supermaster)
{
    return supermaster->speeds.are_unprobed;
}

/* Makes room for another master with this many workers, on a node of its own. The caller may then append that master to
 * the topology. After that, EVENT_JOINED must be the next event. Returns -1 if memory runs out; then nothing has
 * changed. */
int supermaster_reserve(struct supermaster *supermaster, unsigned workers);

void supermaster_step(struct supermaster *supermaster, const struct event *event, struct actions *actions);
const char *supermaster_state_name(const struct supermaster *supermaster);

void supermaster_check(const struct supermaster *supermaster);

/* supermaster_loss_count() returns the number of losses so far. supermaster_loss_text() writes a line about loss number
 * `i`: what was lost, and what happens to its work. The functions for failures and for mismatches work in the same way.
 * They count at most FAILURES_TOLD + 1 failures and MISMATCHES_TOLD + 1 mismatches. */
unsigned supermaster_loss_count(const struct supermaster *supermaster);
void supermaster_loss_text(const struct supermaster *supermaster, unsigned i, struct error *text);

unsigned supermaster_failure_count(const struct supermaster *supermaster);
void supermaster_failure_text(const struct supermaster *supermaster, unsigned i, struct error *text);

bool supermaster_tell_given_up(const struct supermaster *supermaster, uint64_t place, struct failure_figures *figures);

unsigned supermaster_mismatch_count(const struct supermaster *supermaster);
void supermaster_mismatch_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* These functions describe the pods that cannot take part. The first returns their number so far. The others return the
 * rank of the master of pod number `i`, and write a line about that pod. */
unsigned supermaster_unfit_count(const struct supermaster *supermaster);
unsigned supermaster_unfit_rank(const struct supermaster *supermaster, unsigned i);
void supermaster_unfit_text(const struct supermaster *supermaster, unsigned i, struct error *text);

unsigned supermaster_aside_count(const struct supermaster *supermaster);
void supermaster_aside_text(const struct supermaster *supermaster, unsigned i, struct error *text);

bool supermaster_is_deserted(const struct supermaster *supermaster);
bool supermaster_is_interrupted(const struct supermaster *supermaster);

/* Returns true if the run fails because results have differed. The run does not fail if all workers with wrong results
 * are known and were dropped. */
bool supermaster_is_in_doubt(const struct supermaster *supermaster);

unsigned supermaster_busy(const struct supermaster *supermaster);

struct machine supermaster_machine(struct supermaster *supermaster);
