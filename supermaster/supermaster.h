/* SPDX-License-Identifier: MIT */
/* The supermaster: turns speeds into virtual powers, cuts chunks with the technique, keeps the ledger, ends the run. In
 * the central topology (no masters) it serves the workers itself, with the same service as a master. Pure: see
 * common/machine/machine.h. */
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

/* GATHERING: waits for the speeds of the workers. SERVING. ENDING: END is sent. GONE. */
enum supermaster_state { SUPERMASTER_GATHERING, SUPERMASTER_SERVING, SUPERMASTER_ENDING, SUPERMASTER_GONE };

struct supermaster_config {
    const struct topology *topology; /* borrowed for the machine's life */
    const struct run_spec *spec;     /* borrowed for the machine's life; min_chunk is not below `distance` */
    uint64_t first, count;           /* the loop; of one that grows, what there is of it at first */
    bool grows;                      /* iterations may come while it runs: its technique is one that may_grow */
    bool is_told_of_growth;          /* MORE says when they have, and it is not looked in between */
    uint64_t step_iterations;        /* iterations of a time step; 0: there is one */
    bool steps_dependent;            /* a step needs all results of the one before */
    uint64_t distance;     /* an iteration needs so many before it: no chunk is smaller but the last; 0: independent */
    uint64_t record_bytes; /* bytes of a result, or RECORD_VARIABLE; 0 where results are only digested */
    bool no_speculation;   /* no worker gets a copy of a chunk that another worker computes */
    bool no_isolation;     /* no iteration is run in a child process */
    bool is_elastic;       /* masters may join at any time: where there is no worker, some are waited for */
    unsigned awaited;      /* so many join at most; 0: as many as like to */
    bool is_patient;       /* a worker that hangs, or computes what others have done, is waited for at the end */
    bool are_tasks;        /* iterations are called tasks, and count from 1 */
    /* Iterations that wait for others, of which none waits for itself in a circle; closed, of `count` iterations,
     * counted from the loop's first; borrowed for the machine's life. Its technique is one that may_grow; the loop does
     * not grow. NULL: none waits. */
    const struct precedence *precedence;
    const double *speeds; /* speeds of the workers in any unit, borrowed during init; NULL: measure them */
    bool probe;           /* the workers probe even where `speeds` are given; must be true where they are not */
    bool probe_kills;     /* probes run in the workers: what dies there may be due to the iterations */
    bool journal;         /* committed ranges, and deaths, are to be recorded */
    bool records_at_once; /* ranges not some time later: iterations have effects, and a second run has them again */
    /* Ranges done by an earlier run, inside the loop; borrowed until the machine has started; NULL: none. */
    const struct ranges *done;
    const struct ranges *done_failed; /* of these, what the kernel calls failed; borrowed during init; NULL: none */
    uint64_t done_digest;             /* share of `done` in the checksum */
    /* Deaths in earlier runs, inside the loop and not of `done`: `deaths` of workers, `failures` by the end of a
     * process that ran the iterations; borrowed during init; NULL: none. */
    const struct poison_set *deaths;
    /* In a loop with dependencies: bytes of all data of a boundary; and a boundary of an earlier run, behind which all
     * that is not done of the loop lies, with its data, borrowed for the machine's life. The iterations from it to the
     * first that is not done are not fewer than the distance, or none. 0 and NULL: there is none. */
    uint64_t boundary_bytes;
    uint64_t point_at;
    const unsigned char *point; /* [boundary_bytes] */
};

/* The result of the workers' probes. The iterations' times are relative to the mean of the worker that took them, so
 * that fast and slow workers can be taken together. */
struct measured {
    double *mean_s;      /* [workers] time of an iteration on that worker; owned */
    double round_trip_s; /* mean over the workers; 0: not measured */
    double swr;          /* mean over the workers; 0: not measured */
    double cov;          /* sample deviation / mean of the iterations along the whole loop; 0 where fewer than two */
    uint64_t iterations; /* iterations that went into `cov`: at most as many as a worker timed one by one */
    struct {
        double mean;    /* mean of the iterations of this part of the loop; 0 where none was timed */
        uint64_t count; /* iterations timed there, at most as many as by one worker: all workers time the same ones */
    } cells[CELLS];
};

/* Sums over the SPEEDs that came, of which `measured` is made. */
struct gathered {
    double round_trip_s, swr;
    unsigned swr_workers;
    double squares;   /* squares of the relative distances from the mean */
    uint64_t freedom; /* degrees of freedom of `squares` */
    struct {
        double sum;
        uint64_t count;
    } cells[CELLS];
};

/* For a worker whom the technique does not count: it has left, or was not there when the technique began. */
#define NO_SEAT UINT32_MAX

/* The time steps of the loop. Those of an earlier run are blank. */
struct timesteps {
    uint64_t step_iterations; /* iterations of a step */
    uint64_t number;          /* number of the step at hand, from 0 */
    uint64_t end;             /* iterations of the loop up to the end of the step at hand */
    uint64_t began_ns;
    uint64_t returned;        /* iterations of the step that were recalled and not cut again */
    struct report_step *list; /* [count]; NULL where there is one; owned, with what is in it */
    unsigned places;          /* workers that the shares of each step have a place for */
    uint64_t count;
};

/* Time between two looks whether the loop has grown: while something is free, and while nothing is. */
#define GROWTH_LOOK_NS      200000000u
#define GROWTH_LOOK_SOON_NS 10000000u

/* Iterations that wait for others: see dependencies.c. */
struct waits {
    uint64_t *open;    /* [count] those that an iteration waits for and that have not ended; owned; NULL: none waits */
    uint64_t *not_run; /* [not_run_count] iterations given up, as what they wait for has failed; owned */
    uint64_t not_run_count;
    uint64_t serve_due_ns; /* when what was set free is to be handed out; NEVER */
};

/* Committed ranges that are not yet in the journal. */
struct record {
    struct ranges ranges; /* with room for a group */
    uint64_t digest;
    uint64_t due_ns; /* when the group is to be written; NEVER while it is empty */
};

/* WORKER_IS_ALIVE also where it has left after the end. */
enum worker_status {
    WORKER_IS_ALIVE,
    WORKER_IS_LOST,
    WORKER_IS_DEAD,   /* the worker died, and its master has not told yet */
    WORKER_HAS_LEFT,  /* the worker has left with its master, which was dismissed */
    WORKER_IS_ORPHAN, /* the master is lost, and the worker has not come yet */
};

/* The loss that has ended the job. */
enum fatal_loss {
    LOSS_OF_NONE,
    LOSS_OF_ALL,        /* no worker is left */
    LOSS_OF_BOUNDARIES, /* in a loop with dependencies: others need the boundary data of the rank */
};

/* A rank that was lost. */
struct supermaster_loss {
    unsigned rank;
    uint64_t chunks; /* chunks of a lost worker that were given to others */
    bool is_late;    /* a worker that had only not left when all was done */
};

/* The losses of a run, and their consequences. */
struct losses {
    unsigned char *worker; /* [workers] enum worker_status; owned */
    bool *master_left;     /* [masters] the master said goodbye, or is lost; owned */
    unsigned masters_left, masters_lost, workers_lost, workers_left;
    unsigned of_launch;      /* lost ranks that had not joined */
    unsigned workers_late;   /* lost workers that had only not left when all was done */
    unsigned orphans;        /* workers of lost masters that have not come yet */
    uint64_t orphans_due_ns; /* at the end: when they are waited for no longer */
    bool *dismissed;         /* [masters] told to leave before the end; owned */
    bool *was_given;         /* [masters] has got a chunk; owned */
    uint64_t *heard_ns;      /* [masters] last report, reissue, or grant to a master that had nothing; owned */
    uint64_t silence_ns;     /* longest time from such a moment to a report; 0: none yet */
    uint64_t look_ns;        /* when to look for masters that are overdue; NEVER where no worker waits */
    bool late;               /* the run began without some worker's speed */
    bool look_again;         /* work may be free again, or no worker left: looked at by the end of the step */
    bool serve_due;          /* work is free again in this step */
    unsigned failed_by;      /* enum fatal_loss */
    uint64_t reissued, duplicates;
    struct supermaster_loss *list; /* [count] in the order in which they became known; owned */
    unsigned count;
    size_t capacity;
};

/* Work that moves between masters: see masters.c. */
struct recalls {
    unsigned *waiting; /* [masters] idle workers of the master, which wants work that others have not begun; owned */
    unsigned masters_waiting; /* masters that want some */
    unsigned char *state;     /* [masters] enum recall_state; owned */
    bool *was_told;           /* [masters] that all has begun, and has not been given anything since; owned */
    bool *was_asked;          /* [masters] the master may still return something; owned */
    unsigned open;            /* RECALLs that were not answered */
    bool has_more;            /* a master was given chunks in this step */
    bool has_no_giver;        /* nobody could be asked, and nobody was given anything or has answered since */
    uint64_t count;           /* recalls that brought something, also those of masters to their workers */
    uint64_t iterations; /* iterations that moved by them; those of the supermaster's own service come when it tells */
};

/* A rank of a pod that cannot take part: the pod is left out. */
struct unfit {
    unsigned rank, master;   /* its own, and the index of the pod's master */
    char text[TEXT_MAX + 1]; /* why */
};

/* Masters that have joined and are not served yet, as the speeds of their workers are missing: see join.c. */
struct joins {
    bool *is_missing;       /* [workers] its speed is; owned */
    unsigned *missing;      /* [masters] speeds of its workers that are; owned */
    unsigned *refills_kept; /* [masters] refills that it has asked for meanwhile; owned */
    unsigned open;          /* masters of which some are */
    uint64_t since_ns;      /* when the latest has joined */
    uint64_t due_ns;        /* when the missing ones are given up; NEVER until one came */
    struct unfit *unfit;    /* [unfit_count] in the order in which they told of it; owned */
    unsigned unfit_count;
    size_t unfit_capacity;
};

/* Recovery points that are recorded: see dependencies.c. */
struct points {
    uint64_t due_ns;      /* when to ask for the next one; NEVER: not at all */
    uint64_t interval_ns; /* from the latest request to the next */
    uint64_t at;          /* boundary whose data are coming; 0: none */
    uint64_t bytes;       /* bytes of them that have come */
    uint64_t began_ns;    /* when the first of them came */
    uint64_t latest;      /* boundary that is recorded; 0: none */
    uint64_t next;        /* the first iteration of the next chunk, which may be done already */
};

/* Number of failures that are told one by one. */
#define FAILURES_TOLD 20
/* Number of failures that are kept; those that follow one another at the same rank with the same text count as one. */
#define FAILURES_KEPT 1000

struct failures {
    struct report_failure *list; /* [count]; owned, with their texts */
    unsigned count;
    size_t capacity;
    uint64_t seen;
};

/* Number of mismatches that are told one by one, and that are kept. */
#define MISMATCHES_TOLD 20
#define MISMATCHES_KEPT 1000

/* What was computed a second time. */
struct verifications {
    uint64_t alike, unverified;   /* iterations */
    uint64_t differing;           /* iterations of ranges for which two results differ */
    uint64_t undecided;           /* ranges among them for which no two of three agree, or there was no third */
    struct report_mismatch *list; /* [count]; owned */
    unsigned count;
    size_t capacity;
    uint64_t seen; /* ranges that differ */
};

/* Number of ends of tasks that are remembered, and of failed ones of each node. */
#define OUTCOMES_KEPT 256
#define STREAK_KEPT   16

struct task_outcome {
    uint64_t task;
    unsigned node;
    bool failed;
};

struct judged_node {
    uint64_t failed;              /* tasks that failed there since one worked there */
    uint64_t first, last;         /* the lowest and the highest of them */
    uint64_t latest[STREAK_KEPT]; /* the latest of them; the i-th, from 0, at i modulo STREAK_KEPT */
    bool is_mixed;                /* a master serves its workers together with others: it is not judged */
    bool is_aside;
};

/* Nodes on which tasks fail that work elsewhere: see aside.c. */
struct nodes {
    struct judged_node *list;    /* [nodes of the topology]; owned; NULL: nothing is counted */
    struct task_outcome *recent; /* [OUTCOMES_KEPT] the i-th end, from 0, at i modulo that; owned */
    uint64_t recent_count;
    unsigned *master_node;  /* [masters] the node of all of its workers, or none; owned */
    unsigned *refills_kept; /* [masters] refills that masters of nodes put aside have asked for; owned */
    bool has_suspect;       /* `suspect` is a node to look at by the end of the step */
    unsigned suspect;
    unsigned aside;              /* nodes that are put aside */
    struct report_aside *events; /* [event_count] owned */
    unsigned event_count;
};

/* The supermaster's statistics of a worker at the end. */
struct worker_statistics {
    double speed;                /* relative; 0 until known */
    uint64_t joined_ns, left_ns; /* when it came and went, where that was while others computed; else 0 */
    uint64_t iterations, chunks, compute_ns, wait_ns, finish_ns;
    struct threads threads;       /* count 0: the worker has told of none */
    uint16_t load;                /* load that the worker's master has told; 0: none */
    double load_sum;              /* sum of the known loads, in processes, by which the worker's chunks were cut */
    uint64_t load_chunks;         /* number of loads in `load_sum` */
    struct stats_record measured; /* chunks that the worker's master has measured for the technique, while it runs */
};

/* A range of iterations that was free when the technique laid out its parts, and how many were before it. */
struct placed_range {
    uint64_t place;
    struct range range;
};

/* The technique that cuts the loop. */
struct cutting {
    struct sched sched;
    bool is_ready;
    struct {
        struct placed_range *list; /* [count] in ascending order; owned */
        size_t count, room;
    } places;                /* empty where the technique has none */
    unsigned *seat;          /* [workers] index of a worker in `sched`, or NO_SEAT; owned */
    struct chooser *chooser; /* NULL unless technique_auto; owned */
};

/* The speeds of the workers, which are gathered before anything is cut. */
struct speeds {
    struct speed_levels *levels; /* [workers]; owned */
    unsigned missing;
    uint64_t due_ns;   /* when missing speeds are given up; NEVER until one came */
    bool has_one;      /* a worker has probed */
    bool are_unprobed; /* earlier workers died of iterations that would be probed: none is */
    struct gathered gathered;
    struct measured measured; /* complete when SERVING, where the workers probe */
    double *powers;           /* [workers] virtual powers; owned */
};

/* Refills of the task pools of the masters. */
struct refilling {
    unsigned char **records; /* [masters] encoded, borrowed by the messages of a step (sink: [0]); owned */
    unsigned *parked;        /* [masters] refills asked for that could not be given yet; owned */
    unsigned *busy;          /* [masters] workers that hold a chunk, as last reported; owned */
    uint64_t *reported;      /* [masters] iterations that the master has reported as done; owned */
    uint64_t count;          /* refills so far */
};

/* Chunks that were cut so far. */
struct cut_chunks {
    uint64_t chunks;
    uint64_t least;    /* iterations of the least one that can be cut in time; see supermaster_note_rate() */
    uint64_t largest;  /* iterations of the largest last chunk of a refill */
    uint64_t first_ns; /* when the first chunk was assigned; NEVER before */
};

struct traffic {
    uint64_t messages, bytes;           /* of all ranks, complete when GONE */
    uint64_t messages_sent, bytes_sent; /* by the supermaster itself so far */
};

/* The step of the machine that is running. */
struct running_step {
    struct actions *actions;
    uint64_t now_ns;
    unsigned from;        /* the sender of the message of this step */
    struct error refusal; /* text of a DROP */
};

struct supermaster {
    struct supermaster_config config;
    unsigned state;                    /* enum supermaster_state */
    bool is_central;                   /* the topology is, for good */
    bool ends_now;                     /* what runs is not finished when the run ends early */
    bool drains;                       /* ENDING: something was left when all were told to end */
    const struct reason_sink *reasons; /* borrowed; NULL: nobody listens */
    struct running_step step;
    struct ledger ledger; /* holders: the masters, and last all workers without one; or the workers (central) */
    struct cutting technique;
    struct service service; /* central: of all workers; else of those whose master was lost */
    unsigned holders;
    struct {
        unsigned masters, workers, nodes; /* that there is room for, as many as the topology has, or more */
    } room;
    uint64_t started_ns;
    struct speeds speeds;
    struct refilling refilling;
    struct boundary_list boundaries; /* ends of chunks before another master's, by master; last: end of what is cut */
    struct cut_chunks cut;
    uint64_t last_commit_ns; /* NEVER before */
    struct record record;
    struct poison_set deaths; /* of iterations that are not done, in this run and those before; for the journal only */
    struct timesteps steps;
    uint64_t grown_look_ns; /* when it was last looked whether the loop has grown */
    struct waits waits;
    uint64_t resumed; /* iterations that an earlier run has done */
    /* the end */
    struct worker_statistics *statistics; /* [workers], owned */
    struct error failure;                 /* empty unless the run failed */
    unsigned failed_rank;
    struct traffic traffic;
    struct losses losses;
    struct recalls recalls;
    struct joins joins;
    struct points points;
    struct failures failures;
    struct given_up given_up; /* what of `ledger.failed` was given up, and why */
    struct verifications verifications;
    struct nodes nodes;
};

/* -1 with one line in `error` when the technique refuses its parameters or memory is out. */
int supermaster_init(struct supermaster *supermaster, const struct supermaster_config *config, struct error *error);
void supermaster_fini(struct supermaster *supermaster);

/* True if the workers are to run nothing only to be timed, but to send speeds all the same, as earlier ones have died
 * of what they would run. */
static inline bool supermaster_is_unprobed(const struct supermaster *supermaster)
{
    return supermaster->speeds.are_unprobed;
}

/* Makes room for a master more, with so many workers on a node of their own, than the topology has: then it may be
 * appended there, and EVENT_JOINED follows before any other event. -1 when memory is out: nothing has changed. */
int supermaster_reserve(struct supermaster *supermaster, unsigned workers);

void supermaster_step(struct supermaster *supermaster, const struct event *event, struct actions *actions);
const char *supermaster_state_name(const struct supermaster *supermaster);

/* Between two steps: stops the program where an invariant of the supermaster does not hold. */
void supermaster_check(const struct supermaster *supermaster);

/* Number of lost ranks to tell of so far, and a line about the i-th of them: what was lost, and what became of it. */
unsigned supermaster_loss_count(const struct supermaster *supermaster);
void supermaster_loss_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Number of failures to tell of so far, at most FAILURES_TOLD + 1, and a line about the i-th of them. */
unsigned supermaster_failure_count(const struct supermaster *supermaster);
void supermaster_failure_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Tells of the iteration that was given up at that place, from 0, and of those behind it with the same reason. False
 * where there is none. */
bool supermaster_tell_given_up(const struct supermaster *supermaster, uint64_t place, struct failure_figures *figures);

/* Number of mismatches to tell of so far, at most MISMATCHES_TOLD + 1, and a line about the i-th of them. */
unsigned supermaster_mismatch_count(const struct supermaster *supermaster);
void supermaster_mismatch_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Number of pods that were left out so far, as they could not take part, the rank of the i-th one's master, and a line
 * about it. */
unsigned supermaster_unfit_count(const struct supermaster *supermaster);
unsigned supermaster_unfit_rank(const struct supermaster *supermaster, unsigned i);
void supermaster_unfit_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* Number of times that a node was put aside, or got work again, so far, and a line about the i-th of them. */
unsigned supermaster_aside_count(const struct supermaster *supermaster);
void supermaster_aside_text(const struct supermaster *supermaster, unsigned i, struct error *text);

/* True for a job that has failed as all workers are lost. */
bool supermaster_is_deserted(const struct supermaster *supermaster);
/* True if the job failed as it lost a rank that others need, and can go on from its journal. */
bool supermaster_is_interrupted(const struct supermaster *supermaster);

/* True where results differed and the run is to fail for it: a dropped worker whom two others have proved wrong is no
 * reason. */
bool supermaster_is_in_doubt(const struct supermaster *supermaster);

/* Workers that hold a chunk at present. */
unsigned supermaster_busy(const struct supermaster *supermaster);

/* The supermaster as a runtime sees it. */
struct machine supermaster_machine(struct supermaster *supermaster);
