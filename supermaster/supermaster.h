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
    uint64_t first, count;    /* the loop; if it grows, its initial part */
    bool grows;               /* requires a technique with may_grow */
    bool is_told_of_growth;   /* growth is announced, and not checked for periodically */
    uint64_t step_iterations; /* 0: one time step */
    bool steps_dependent;
    uint64_t distance;     /* each iteration needs this many before it, and no chunk except the last is smaller; 0:
                              independent */
    uint64_t record_bytes; /* bytes of a result, or RECORD_VARIABLE; 0: results are only digested */
    bool no_speculation;
    bool no_isolation;
    bool is_elastic;  /* masters may join at any time: without a worker, the run waits for some */
    unsigned awaited; /* most masters that join; 0: no limit */
    bool is_patient;  /* at the end, waits for workers that hang or compute what is already done */
    bool are_tasks;   /* iterations are called tasks and counted from 1 */
    /* Which iterations wait for others, without cycles; counted from the loop's first; borrowed for the machine's life.
     * Requires a technique with may_grow and a loop that does not grow. NULL: none waits. */
    const struct precedence *precedence;
    const double *speeds; /* of the workers, in any unit; borrowed during init; NULL: measure them */
    bool probe;           /* the workers probe even with given `speeds`; must be true without */
    bool probe_kills;     /* probes run in the workers' own processes: a death may be due to the probed iterations */
    bool journal;         /* record committed ranges and deaths */
    bool records_at_once; /* record ranges at once: iterations have effects that a second run would repeat */
    /* Ranges done by an earlier run; borrowed until the machine has started; may be NULL. */
    const struct ranges *done;
    /* part of `done` that the kernel reported as failed; borrowed during init; may be NULL */
    const struct ranges *done_failed;
    uint64_t done_digest;
    /* Deaths in earlier runs of iterations not in `done`: `deaths` of workers, `failures` of child processes; borrowed
     * during init; may be NULL. */
    const struct poison_set *deaths;
    /* Loop with dependencies: size of a boundary's data, and the recovery point of an earlier run with its data,
     * borrowed for the machine's life. All undone iterations are after it; between it and the first of them lie none or
     * at least `distance` iterations. 0 and NULL: none. */
    uint64_t boundary_bytes;
    uint64_t point_at;
    const unsigned char *point;
};

/* Results of the probes, as means over the workers; 0: not measured. Times of iterations are relative to the mean of
 * the worker that measured them, so that fast and slow workers can be combined. */
struct measured {
    double *mean_s;
    double round_trip_s;
    double swr;
    double cov;          /* sample deviation / mean of the iterations over the whole loop; 0 with fewer than two */
    uint64_t iterations; /* iterations in `cov`: at most as many as one worker timed singly */
    struct {
        double mean;    /* mean over this part of the loop; 0: none timed */
        uint64_t count; /* iterations timed in it, at most as many as by one worker, because all time the same ones */
    } cells[SPEED_CELLS];
};

struct gathered {
    double round_trip_s, swr;
    unsigned swr_workers;
    double squares; /* of relative distances from the mean */
    uint64_t freedom;
    struct {
        double sum;
        uint64_t count;
    } cells[SPEED_CELLS];
};

/* Seat of a worker that the technique does not count: it has left, or was not present when the technique began. */
#define NO_SEAT UINT32_MAX

/* The time steps of the loop; those of earlier runs are blank. */
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

/* Time between two checks for growth while something is free, and while nothing is. */
#define GROWTH_LOOK_NS      200000000u
#define GROWTH_LOOK_SOON_NS 10000000u

struct waits {
    /* [count] how many others each iteration waits for, one more for a suspect that is not released; owned; NULL: none
     * waits */
    uint64_t *open;
    uint64_t suspect;
    uint64_t *not_run; /* [not_run_count] iterations given up because others failed; owned */
    uint64_t not_run_count;
    uint64_t serve_due_ns; /* when iterations that became free are handed out; NEVER: there are none */
};

/* Committed ranges that are not yet in the journal. `due_ns`: when they are written; NEVER while there are none. */
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
    bool is_late; /* it only failed to leave after everything was done */
};

struct losses {
    unsigned char *worker;
    unsigned char *master;
    unsigned masters_left, masters_lost, workers_lost, workers_left;
    unsigned of_launch;
    unsigned workers_late; /* lost workers that only failed to leave in time */
    unsigned orphans;
    uint64_t orphans_due_ns; /* at the end: how long orphans are waited for */
    bool *dismissed;         /* [masters] told to leave before the end; owned, like the arrays above and below */
    bool *was_given;
    uint64_t *heard_ns;  /* [masters] last report, reissue, or grant after it had nothing */
    uint64_t silence_ns; /* longest time from such a moment to a report; 0: none yet */
    uint64_t look_ns;    /* when to look for overdue masters; NEVER if no worker waits */
    bool late;           /* the run began without some worker's speed */
    bool look_again;     /* at the end of the step, check for free work and for a run without workers */
    bool serve_due;      /* work became free in this step */
    unsigned failed_by;
    uint64_t reissued, duplicates;
    struct supermaster_loss *list;
    unsigned count;
    size_t capacity;
};

struct recalls {
    unsigned *waiting; /* [masters] idle workers of a master that wants recalled work; owned */
    unsigned masters_waiting;
    unsigned char *state; /* [masters] enum recall_state; owned */
    bool *was_told;       /* [masters] was told that all work has begun, and got none since; owned */
    bool *was_asked;      /* [masters] may still return something; owned */
    unsigned open;
    bool has_more;
    bool has_no_giver; /* no master could be asked, and nothing was given or returned since */
    uint64_t count;
    uint64_t iterations; /* iterations moved; those of the supermaster's own service are added later */
};

/* A rank of a pod that cannot take part. The pod of `master` is left out. */
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
    uint64_t due_ns;     /* when to stop waiting; NEVER until one speed arrived */
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
    uint64_t next; /* first iteration of the next chunk, which may be done already */
};

/* Failures that are printed one by one, and that are kept. Consecutive ones at the same rank with the same text count
 * as one. */
#define FAILURES_TOLD 20
#define FAILURES_KEPT 1000

struct failures {
    struct report_failure *list;
    unsigned count;
    size_t capacity;
    uint64_t seen;
};

/* Mismatches that are printed one by one, and that are kept. */
#define MISMATCHES_TOLD 20
#define MISMATCHES_KEPT 1000

struct verifications {
    uint64_t alike, unverified;
    uint64_t differing;
    uint64_t undecided; /* such ranges without a majority */
    struct report_mismatch *list;
    unsigned count;
    size_t capacity;
    uint64_t seen;
};

/* So many outcomes of tasks are remembered, and so many failed tasks of each node. */
#define OUTCOMES_KEPT 256
#define STREAK_KEPT   16

struct task_outcome {
    uint64_t task;
    unsigned node;
    bool failed;
};

struct judged_node {
    uint64_t failed;              /* failed tasks since the last success */
    uint64_t first, last;         /* lowest and highest of them */
    uint64_t latest[STREAK_KEPT]; /* latest of them; a ring */
    bool is_mixed;
    bool is_aside;
};

/* Nodes on which tasks fail that work elsewhere: see losses.c. */
struct nodes {
    struct judged_node *list;
    struct task_outcome *recent; /* [OUTCOMES_KEPT] ring; owned; `list` is NULL if nodes are not judged */
    uint64_t recent_count;
    unsigned *master_node;  /* [masters] the node of all its workers, or UINT_MAX; owned */
    unsigned *refills_kept; /* [masters] refills requested while their node is aside; owned */
    bool has_suspect;       /* `suspect` must be checked at the end of the step */
    unsigned suspect;
    unsigned aside;
    struct report_aside *events;
    unsigned event_count;
};

struct worker_statistics {
    double speed;                /* relative; 0 until known */
    uint64_t joined_ns, left_ns; /* when it joined and left during the run; else 0 */
    uint64_t iterations, chunks, compute_ns, wait_ns, finish_ns;
    struct threads threads; /* count 0: none reported */
    uint16_t load;          /* reported by its master; 0: none */
    double load_sum;
    uint64_t load_chunks; /* loads in `load_sum`, the sum of the loads, in processes, by which its chunks were cut */
    struct stats_record measured; /* chunks that its master measured for the technique so far */
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
    } places;       /* [count] ascending; empty if the technique has none; owned */
    unsigned *seat; /* [workers] index of the worker in `sched`, or NO_SEAT; owned */
    struct chooser *chooser;
};

/* Speeds of the workers, gathered before anything is cut. */
struct speeds {
    struct speed_levels *levels;
    unsigned missing;
    uint64_t due_ns; /* when to stop waiting for missing speeds; NEVER until one arrived */
    bool has_one;
    bool are_unprobed; /* earlier workers died at iterations that would be probed: do not probe */
    struct gathered gathered;
    struct measured measured;
    double *powers; /* [workers] virtual powers; owned */
};

/* Refills of the masters' task pools. The arrays are [masters] and owned. */
struct refilling {
    unsigned largest; /* number of chunks in the largest refill, for which records[0] has room */
    unsigned char *
        *records; /* encoded chunks, which the messages of a step borrow; with a sink only records[0] is used */
    unsigned *parked;
    unsigned *busy;
    uint64_t *reported;
    uint64_t count;
};

struct cut_chunks {
    uint64_t chunks;
    uint64_t least;    /* smallest chunk that can be cut in time; see supermaster_note_rate() */
    uint64_t largest;  /* largest of the refills' last chunks, in iterations */
    uint64_t first_ns; /* when the first chunk was assigned; NEVER: none yet */
};

struct traffic {
    uint64_t messages, bytes;           /* of all ranks, complete in GONE */
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
    bool drains;   /* ENDING before everything was done */
    const struct reason_sink *reasons;
    struct running_step step;
    /* its holders: in the central topology the workers; otherwise the masters, and one for all workers without a
     * master */
    struct ledger ledger;
    struct cutting technique;
    struct service service; /* central: all workers; otherwise those of lost masters */
    unsigned holders;
    struct {
        unsigned masters, workers, nodes; /* the numbers that there is room for, at least as many as in the topology */
    } room;
    uint64_t started_ns;
    struct speeds speeds;
    struct refilling refilling;
    struct boundary_list boundaries; /* ends of chunks before another master's, by master; last: end of what is cut */
    struct cut_chunks cut;
    uint64_t last_commit_ns;
    struct record record;
    struct poison_set deaths; /* of undone iterations, in all runs; only for the journal */
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
    struct given_up given_up;  /* given-up part of `ledger.failed`, with reasons */
    struct ranges done_failed; /* done by this run, and reported as failed by the kernel */
    struct verifications verifications;
    struct nodes nodes;
};

/* Fails if the technique refuses its parameters or memory runs out. */
int supermaster_init(struct supermaster *supermaster, const struct supermaster_config *config, struct error *error);
void supermaster_fini(struct supermaster *supermaster);

/* True if workers must not probe, because earlier ones died at the iterations to probe. They still send speeds. */
static inline bool supermaster_is_unprobed(const struct supermaster *supermaster)
{
    return supermaster->speeds.are_unprobed;
}

/* Makes room for another master with this many workers on a node of its own. It may then be appended to the topology,
 * and EVENT_JOINED must follow before any other event. -1: out of memory, nothing changed. */
int supermaster_reserve(struct supermaster *supermaster, unsigned workers);

void supermaster_step(struct supermaster *supermaster, const struct event *event, struct actions *actions);
const char *supermaster_state_name(const struct supermaster *supermaster);

/* Asserts the invariants between two steps. */
void supermaster_check(const struct supermaster *supermaster);

/* Number of reportable losses so far, and a line about the i-th: what was lost and what happens to its work. The next
 * functions are alike; failures and mismatches number at most FAILURES_TOLD + 1 and MISMATCHES_TOLD + 1. */
unsigned supermaster_loss_count(const struct supermaster *supermaster);
void supermaster_loss_text(const struct supermaster *supermaster, unsigned i, struct error *text);

unsigned supermaster_failure_count(const struct supermaster *supermaster);
void supermaster_failure_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Describes the given-up iteration number `place`, from 0, and those after it with the same reason. False if there is
 * none. */
bool supermaster_tell_given_up(const struct supermaster *supermaster, uint64_t place, struct failure_figures *figures);

unsigned supermaster_mismatch_count(const struct supermaster *supermaster);
void supermaster_mismatch_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Number of pods left out so far, the rank of the i-th one's master, and a line about it. */
unsigned supermaster_unfit_count(const struct supermaster *supermaster);
unsigned supermaster_unfit_rank(const struct supermaster *supermaster, unsigned i);
void supermaster_unfit_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Number of times a node was put aside or taken back so far, and a line about the i-th. */
unsigned supermaster_aside_count(const struct supermaster *supermaster);
void supermaster_aside_text(const struct supermaster *supermaster, unsigned i, struct error *text);

bool supermaster_is_deserted(const struct supermaster *supermaster);
/* True if the job failed because it lost a rank that others need, and can be resumed from its journal. */
bool supermaster_is_interrupted(const struct supermaster *supermaster);

/* True if the run fails because results differed. It does not if the worker that was wrong is known and dropped. */
bool supermaster_is_in_doubt(const struct supermaster *supermaster);

unsigned supermaster_busy(const struct supermaster *supermaster);

struct machine supermaster_machine(struct supermaster *supermaster);
