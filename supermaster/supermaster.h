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

/* GATHERING: waits for the speeds of the workers. ENDING: END is sent. */
enum supermaster_state { SUPERMASTER_GATHERING, SUPERMASTER_SERVING, SUPERMASTER_ENDING, SUPERMASTER_GONE };

struct supermaster_config {
    const struct topology *topology;
    const struct run_spec
        *spec;                /* borrowed for the machine's life, like `topology`; min_chunk is at least `distance` */
    uint64_t first, count;    /* the loop, or the initial part of a loop that grows */
    bool grows;               /* requires a technique with may_grow */
    bool is_told_of_growth;   /* EVENT_MORE announces growth; otherwise the supermaster checks for it periodically */
    uint64_t step_iterations; /* iterations of a time step; 0: the loop is one time step */
    bool steps_dependent;
    uint64_t distance;     /* each iteration needs the results of this many before it, so no chunk except the last is
                              smaller; 0: iterations are independent */
    uint64_t record_bytes; /* bytes of a result, or RECORD_VARIABLE; 0: results are only digested */
    bool no_speculation;
    bool no_isolation;
    bool is_elastic;  /* masters may join at any time, so a run without workers waits for some */
    unsigned awaited; /* the largest number of masters that may join; 0: no limit */
    bool is_patient;  /* the end of the run waits for workers that hang, or that compute what is already done */
    bool are_tasks;   /* iterations are called tasks and counted from 1 */
    /* Which iterations wait for others; the graph has no cycle, and iterations are counted from the loop's first.
     * Borrowed for the machine's life. Requires a technique with may_grow and a loop that does not grow. NULL: no
     * iteration waits. */
    const struct precedence *precedence;
    const double *speeds; /* of the workers, in any unit; borrowed during init; NULL: measure them */
    bool probe;           /* the workers probe; must be true if `speeds` is NULL */
    bool probe_kills;     /* probes run in the workers' own processes, so a probed iteration may kill a worker */
    bool journal;         /* record committed ranges and deaths */
    bool records_at_once; /* record each range at once, because a second run would repeat effects of the iterations */
    /* Ranges done by an earlier run; borrowed until the machine has started; may be NULL. */
    const struct ranges *done;
    /* The part of `done` that the kernel reported as failed; borrowed during init; may be NULL. */
    const struct ranges *done_failed;
    uint64_t done_digest;
    /* Deaths in earlier runs of iterations not in `done`: `deaths` of workers, `failures` of child processes; borrowed
     * during init; may be NULL. */
    const struct poison_set *deaths;
    uint64_t boundary_bytes; /* size of the data of a boundary in a loop with dependencies */
    /* The recovery point of an earlier run, in a loop with dependencies: the iteration before which it lies, and the
     * boundary data there, which are borrowed for the machine's life. All undone iterations are after the point; the
     * first of them is at the point, or at least `distance` iterations after it. 0 and NULL: there is no point. */
    uint64_t point_at;
    const unsigned char *point;
};

/* Results of the probes, as means over the workers; 0: not measured. Except for `mean_s`, times of iterations are
 * divided by the mean of the worker that measured them, so that fast and slow workers can be combined. */
struct measured {
    double *mean_s;
    double round_trip_s;
    double swr;
    double cov;          /* sample deviation / mean over the whole loop; 0 if fewer than two iterations were timed */
    uint64_t iterations; /* the most iterations that one worker timed one by one; all workers time the same ones */
    struct {
        double mean;    /* mean over this part of the loop; 0: no iteration of it was timed */
        uint64_t count; /* the most iterations of this part that one worker timed */
    } cells[SPEED_CELLS];
};

struct gathered {
    double round_trip_s, swr;
    unsigned swr_workers;
    double squares;   /* sum of the squared relative distances from the mean */
    uint64_t freedom; /* degrees of freedom of `squares` */
    struct {
        double sum;
        uint64_t count;
    } cells[SPEED_CELLS];
};

/* Value of `seat` for a worker that the technique does not count: it has left, or was absent when the technique
 * began. */
#define NO_SEAT UINT32_MAX

/* The time steps of the loop. The entries in `list` of steps that earlier runs have done are zero. */
struct timesteps {
    uint64_t step_iterations;
    uint64_t number; /* current step, from 0; it ends before iteration `end` of the loop */
    uint64_t end;
    uint64_t began_ns;
    uint64_t returned; /* iterations of the step that were recalled and not cut again */
    struct report_step *list;
    unsigned places;
    uint64_t count;
};

/* Time between two checks for growth while iterations are free, and the shorter time while none is. */
#define GROWTH_LOOK_NS      200000000u
#define GROWTH_LOOK_SOON_NS 10000000u

struct waits {
    /* [count] for how many others each iteration waits, plus one for a suspect (see supermaster_holds_suspects()) that
     * is not released yet; owned; NULL: no iteration waits */
    uint64_t *open;
    uint64_t suspect;
    uint64_t *not_run; /* [not_run_count] iterations given up because others failed; owned */
    uint64_t not_run_count;
    uint64_t serve_due_ns; /* when to hand out the iterations that became free; NEVER: no iteration became free */
};

/* Committed ranges that are not yet in the journal. `due_ns`: when they must be written; NEVER if there are none. */
struct record {
    struct ranges ranges;
    uint64_t digest;
    uint64_t due_ns;
};

/* WORKER_IS_ALIVE includes workers that left after the end. */
enum worker_status {
    WORKER_IS_ALIVE,
    WORKER_IS_LOST,
    WORKER_IS_DEAD,   /* died; its master has not reported it yet */
    WORKER_HAS_LEFT,  /* left with its master, which was dismissed */
    WORKER_IS_ORPHAN, /* its master is lost; it has not contacted the supermaster yet */
};

enum master_end {
    MASTER_SERVES,
    MASTER_HAS_LEFT,
    MASTER_IS_LOST,
};

/* The loss that ended the job: of all workers, or of boundary data that others need. */
enum fatal_loss {
    LOSS_OF_NONE,
    LOSS_OF_ALL,
    LOSS_OF_BOUNDARIES,
};

struct supermaster_loss {
    unsigned rank;
    uint64_t chunks;
    bool is_late; /* everything was done, and the rank only did not leave in time */
};

struct losses {
    unsigned char *worker;
    unsigned char *master;
    unsigned masters_left, masters_lost, workers_lost, workers_left;
    unsigned of_launch;
    unsigned workers_late; /* how many of the lost workers only did not leave in time */
    unsigned orphans;
    uint64_t orphans_due_ns; /* until when the end of the run waits for orphans */
    bool *dismissed;         /* [masters] whether the master was told to leave early; owned, like all arrays here */
    bool *was_given;         /* [masters] whether the master was ever given chunks */
    /* [masters] when the master last reported, reissued work, or got work while it had none; its silence starts then */
    uint64_t *heard_ns;
    uint64_t silence_ns; /* longest silence that a report has ended; 0: there was no report yet */
    uint64_t look_ns;    /* when to look for overdue masters; NEVER if no worker waits */
    bool late;           /* a worker or master was too slow: its speed was not waited for, or it was dismissed */
    bool look_again;     /* the end of the step must hand out free work and check whether any worker is left */
    bool serve_due;      /* work became free in this step */
    unsigned failed_by;
    uint64_t reissued, duplicates;
    struct supermaster_loss *list;
    unsigned count;
    size_t capacity;
};

struct recalls {
    unsigned *waiting; /* [masters] how many idle workers the master wants recalled work for; owned */
    unsigned masters_waiting;
    unsigned char *state; /* [masters] enum recall_state; owned */
    bool *was_told;       /* [masters] the master knows that all work has begun, and still waits; owned */
    bool *was_asked;      /* [masters] the master was sent a RECALL, so it may return work; owned */
    unsigned open;        /* number of RECALLs without an answer */
    bool has_more;        /* a master was given work that may be recalled for another */
    bool has_no_giver;    /* no master could be asked for work, and none was given or has returned any since */
    uint64_t count;
    uint64_t iterations; /* recalled iterations, without those of the supermaster's own service */
};

/* A rank of a pod that cannot take part, and why. The whole pod, with the master number `master`, was dismissed. */
struct unfit {
    unsigned rank, master;
    char text[TEXT_MAX + 1];
};

/* Joined masters that are not served yet because speeds of their workers are missing: see workers.c. */
struct joins {
    bool *is_missing;
    unsigned *missing;      /* [masters] number of missing speeds; owned, like `is_missing` [workers] */
    unsigned *refills_kept; /* [masters] refills requested meanwhile; owned */
    unsigned open;
    uint64_t since_ns;
    uint64_t due_ns;     /* when to stop waiting for missing speeds; NEVER until one has arrived */
    struct unfit *unfit; /* [unfit_count] in the order of arrival; owned */
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
    uint64_t next; /* first iteration of the next chunk; an earlier run may have done it */
};

/* How many failures are printed one by one, and how many are kept for the report. Consecutive failures at the same rank
 * with the same text count as one. */
#define FAILURES_TOLD 20
#define FAILURES_KEPT 1000

struct failures {
    struct report_failure *list;
    unsigned count;
    size_t capacity;
    uint64_t seen;
};

/* How many mismatches are printed one by one, and how many are kept for the report. */
#define MISMATCHES_TOLD 20
#define MISMATCHES_KEPT 1000

struct verifications {
    uint64_t alike, unverified;
    uint64_t differing;
    uint64_t undecided; /* differing ranges of which no two results agree */
    struct report_mismatch *list;
    unsigned count;
    size_t capacity;
    uint64_t seen;
};

/* How many outcomes of tasks are remembered, and how many failed tasks of each node. */
#define OUTCOMES_KEPT 256
#define STREAK_KEPT   16

struct task_outcome {
    uint64_t task;
    unsigned node;
    bool failed;
};

struct judged_node {
    uint64_t failed;              /* how many tasks have failed on the node since its last success */
    uint64_t first, last;         /* lowest and highest number of these tasks */
    uint64_t latest[STREAK_KEPT]; /* numbers of the latest of these tasks; a ring */
    bool is_mixed;                /* a master serves the node together with others, so the node cannot be judged */
    bool is_aside;                /* the node gets no more tasks */
};

/* Nodes on which tasks fail that work elsewhere: see losses.c. */
struct nodes {
    struct judged_node *list;
    struct task_outcome *recent; /* [OUTCOMES_KEPT] ring; owned; `list` is NULL if nodes are not judged */
    uint64_t recent_count;
    unsigned *master_node;  /* [masters] node of all workers of the master; UINT_MAX: on several nodes; owned */
    unsigned *refills_kept; /* [masters] refills that the master requested while its node is aside; owned */
    bool has_suspect;       /* node `suspect` has enough failures and is checked at the end of the step */
    unsigned suspect;
    unsigned aside;
    struct report_aside *events;
    unsigned event_count;
};

struct worker_statistics {
    double speed;                /* relative; 0 until known */
    uint64_t joined_ns, left_ns; /* when the worker joined and left during the run; 0: it did not */
    uint64_t iterations, chunks, compute_ns, wait_ns, finish_ns;
    struct threads threads;       /* count 0: the worker has reported no threads */
    uint16_t load;                /* latest load that its master has reported; 0: it has reported none */
    double load_sum;              /* sum of the loads, in processes, for which the worker's chunks were cut */
    uint64_t load_chunks;         /* number of loads in `load_sum` */
    struct stats_record measured; /* sums over the chunks that its master has measured for the technique */
};

/* A range that was free when the technique laid out its parts, and the number of free iterations before it. */
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
    } places;       /* [count] ascending; empty if the technique does not choose iterations; owned */
    unsigned *seat; /* [workers] index of the worker in `sched`, or NO_SEAT; owned */
    struct chooser *chooser;
};

/* Speeds of the workers, gathered before anything is cut. */
struct speeds {
    struct speed_levels *levels;
    unsigned missing;
    uint64_t due_ns; /* when to stop waiting for missing speeds; NEVER until one has arrived */
    bool has_one;
    bool are_unprobed; /* workers must not probe, because earlier ones died at the iterations to probe */
    struct gathered gathered;
    struct measured measured;
    double *powers; /* [workers] virtual powers; owned */
};

/* Refills of the masters' task pools. The arrays are [masters] and owned. */
struct refilling {
    unsigned largest; /* number of chunks in the largest refill, for which records[0] has room */
    unsigned char *
        *records; /* encoded chunks, which the messages of a step borrow; if actions go to a sink, only [0] is used */
    unsigned *parked;
    unsigned *busy;
    uint64_t *reported;
    uint64_t count;
};

struct cut_chunks {
    uint64_t chunks;
    uint64_t least;    /* minimum size of chunks, in iterations: see supermaster_note_rate() */
    uint64_t largest;  /* size of the largest chunk, in iterations, that was the last one of a refill */
    uint64_t first_ns; /* when the first chunk was assigned; NEVER: no chunk was assigned yet */
};

struct traffic {
    uint64_t messages, bytes;           /* sent by all ranks; complete in state SUPERMASTER_GONE */
    uint64_t messages_sent, bytes_sent; /* by the supermaster itself */
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
    bool ends_now; /* an early end does not wait for running iterations */
    bool drains;   /* the run is ending before everything is done */
    const struct reason_sink *reasons;
    struct running_step step;
    struct ledger ledger;
    struct cutting technique;
    struct service service; /* serves all workers in the central topology; otherwise the workers of lost masters */
    /* Number of holders in the ledger. In the central topology each worker is one; otherwise each master is one, and
     * the last holder stands for all workers of lost masters. */
    unsigned holders;
    struct {
        unsigned masters, workers, nodes; /* for how many the arrays have room; at least as many as in the topology */
    } room;
    uint64_t started_ns;
    struct speeds speeds;
    struct refilling refilling;
    /* The ends of chunks, each with its master, behind which a chunk of another master begins; the entry added last is
     * the end of all that is cut. */
    struct boundary_list boundaries;
    struct cut_chunks cut;
    uint64_t last_commit_ns;
    struct record record;
    struct poison_set deaths; /* deaths at undone iterations in this run and earlier ones; only for the journal */
    struct timesteps steps;
    uint64_t grown_look_ns;
    struct waits waits;
    uint64_t resumed;
    struct worker_statistics *statistics;
    struct error failure; /* empty unless the run failed */
    unsigned failed_rank;
    struct traffic traffic;
    struct losses losses;
    struct recalls recalls;
    struct joins joins;
    struct points points;
    struct failures failures;
    struct given_up given_up;  /* the iterations that were given up, with reasons */
    struct ranges done_failed; /* iterations that this run has done and that the kernel reports as failed */
    struct verifications verifications;
    struct nodes nodes;
};

/* Fails if the technique refuses its parameters or memory runs out. */
int supermaster_init(struct supermaster *supermaster, const struct supermaster_config *config, struct error *error);
void supermaster_fini(struct supermaster *supermaster);

/* True if workers must not probe, because earlier ones died at the iterations to probe. They still send a SPEED. */
static inline bool supermaster_is_unprobed(const struct supermaster *supermaster)
{
    return supermaster->speeds.are_unprobed;
}

/* Makes room for another master with this many workers on a node of its own. The caller may then append that master to
 * the topology; if it does, EVENT_JOINED must be the next event. -1: out of memory, nothing changed. */
int supermaster_reserve(struct supermaster *supermaster, unsigned workers);

void supermaster_step(struct supermaster *supermaster, const struct event *event, struct actions *actions);
const char *supermaster_state_name(const struct supermaster *supermaster);

void supermaster_check(const struct supermaster *supermaster);

/* Return how many losses must be reported so far, and write a line about the i-th: what was lost and what happens to
 * its work. The pairs of functions for failures and mismatches work in the same way; they count at most
 * FAILURES_TOLD + 1 and MISMATCHES_TOLD + 1. */
unsigned supermaster_loss_count(const struct supermaster *supermaster);
void supermaster_loss_text(const struct supermaster *supermaster, unsigned i, struct error *text);

unsigned supermaster_failure_count(const struct supermaster *supermaster);
void supermaster_failure_text(const struct supermaster *supermaster, unsigned i, struct error *text);

bool supermaster_tell_given_up(const struct supermaster *supermaster, uint64_t place, struct failure_figures *figures);

unsigned supermaster_mismatch_count(const struct supermaster *supermaster);
void supermaster_mismatch_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* For the pods that were dismissed because they cannot take part: their number so far, the rank of the i-th one's
 * master, and a line about it. */
unsigned supermaster_unfit_count(const struct supermaster *supermaster);
unsigned supermaster_unfit_rank(const struct supermaster *supermaster, unsigned i);
void supermaster_unfit_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Return how many times a node was excluded from work or included again so far, and write a line about the i-th
 * time. */
unsigned supermaster_aside_count(const struct supermaster *supermaster);
void supermaster_aside_text(const struct supermaster *supermaster, unsigned i, struct error *text);

bool supermaster_is_deserted(const struct supermaster *supermaster);
/* True if the job failed because it lost a rank that others need, and can be resumed from its journal. */
bool supermaster_is_interrupted(const struct supermaster *supermaster);

/* True if the run fails because results differed. It does not if the worker that was wrong is known and dropped. */
bool supermaster_is_in_doubt(const struct supermaster *supermaster);

unsigned supermaster_busy(const struct supermaster *supermaster);

struct machine supermaster_machine(struct supermaster *supermaster);
