/* SPDX-License-Identifier: MIT */
/* What one number says: the line-up, the job, the machine, who dies, stops or wakes when, and what else fails.
 *
 * What a number means never changes: generator 1 is as it was when the first seeds were kept. A later generator draws
 * what it adds from random numbers of its own, so that it only adds to the scenarios of those before it; a seed that
 * failed is kept with its generator (failed.txt).
 *
 *   1  a run in which ranks are killed, stopped and continued, or asked to drain
 *   2  also jitter, stalls, slow ranks, kills in the middle of a step and of all at once, writes, sends and allocations
 *      that fail; and what is not complete is resumed until it is, with another line-up, technique and other faults
 *   3  also workers that stop for good wherever they are: as all that their master has, in a drain, in an empty loop;
 *      one worker of all is left alone then, and masters die but do not stop, as a run of whom all hang that have not
 *      left looks like a slow one
 *   4  also iterations at which the kernel fails, or that kill their process, some at once
 *   5  also messages that are nonsense, in one scenario of four of those in which no worker stops for good, as the one
 *      that is left alone there must not be dropped
 *   6  also time steps, in every other scenario, which need one another in every other one of these
 *   7  something else: loops with dependencies, which nothing is resumed of. Random line-ups, jobs and machines, with
 *      jitter in most; one in four is drained, in one of eight ranks are killed, stall or send nonsense, and in one of
 * 16 memory is out
 *   8  also several chunks for each worker in a refill, in every other scenario
 *   9  as 7, with lost workers: one to three in each, at any time or behind any event, also in the midst of what they
 *      do then; in every other several chunks for each worker in a refill; in one of 16 the results are so many that
 *      they go by themselves; in some one more rank stalls, dies or sends nonsense; fewer drains, and memory that is
 *      out in fewer
 *  10  as 8, without recall in one scenario of four; and in one of three nothing goes wrong, iterations may be long,
 * and in every other of these some of them cost nothing
 *  11  as 10, with verification in every other scenario: of all iterations or of a share; in one of three of these a
 * worker computes some iterations wrongly, of which nothing is resumed
 *  12  as 11; in three scenarios of four one to four iterations kill the helper that runs them, or stand still until it
 * is killed for that, or kill the worker, in all runs of the job, and deaths count from run to run. In every other of
 * these nothing else goes wrong but drains, and there are no copies, so that the tries are known exactly
 *  13  as 9, with masters, of which one at least is lost and often all are
 *  14  as 12, by ss, with a loop that grows: in up to eight leaps, from one moment on, or after seconds. In half of
 * them what happens at some time happens as long as it grows; in one of four it never ends, and is drained. What is
 * resumed has at least what it had
 *  15  as 9; one to four rows kill their helper each time that they are begun, and work when they are tried again; in
 * every other scenario the last row never works. They do so in all runs of the job, and deaths count from run to run
 *  16  as 11, where nobody computes wrongly, by ss, of one time step: iterations wait for others, in chains, in layers,
 * behind or before all others, or at random, in any order of the loop; where there is an output it is variable, and the
 * kernel calls up to three iterations failed, in all runs but the last
 *  17  as 12, of eight scenarios two as 14, one as 16, and one as 13; in three of four runs, but the last ones, what
 * runs is ended at some time, in one of two of these behind a drain or at the same time
 *  18  as 12, with masters, or nobody but the supermaster at first; one to five pods join, leave, and lose ranks. In
 * every other one of those in which no iteration kills, somebody who comes is waited for when all others are lost; then
 * a last pod comes late, and stays
 *  19  as 12, of eight scenarios two as 14, one as 16, one as 17 and one as 18; workers have a chunk begin behind the
 * running one, as with helpers
 *  20  as 18; in three of four runs pods send their results to the supermaster, which writes them
 *  21  as 12, of eight scenarios one as 14, one as 16, one as 17 and one as 19 without pods; whoever serves workers
 * computes as well, and looks at its messages after some iterations or some time
 *  22  as 12, 13, 18 or 19; masters ask for refills when their pools are empty
 *  23  as 9, 12, 13, 17, 18, 21 or 22, by a technique that says which iterations are in a chunk, but for loops that
 * grow or wait */
#pragma once

#include "common/util/precedence.h"
#include "deploy/simulate/virtual/cluster.h"
#include "tests/seeds/deaths.h"
#include "tests/seeds/memory.h"

enum { WORKERS_MAX = 12, MASTERS_MAX = 4, RANKS_MAX = 1 + MASTERS_MAX + WORKERS_MAX, FAULTS_MAX = 10 };

/* And so many messages that are nonsense. */
enum { NONSENSE_MAX = 3 };

/* The latest, and those of loops with dependencies. */
enum {
    GENERATOR = 12,
    GENERATOR_DEPENDENT = 7,
    GENERATOR_LOSSES = 9,
    GENERATOR_DEATHS = 12,
    GENERATOR_MASTERS = 13,
    GENERATOR_GROWTH = 14,
    GENERATOR_ROWS = 15,
    GENERATOR_WAITS = 16,
    GENERATOR_CANCELS = 17,
    GENERATOR_PODS = 18,
    GENERATOR_AHEAD = 19,
    GENERATOR_RESULTS = 20,
    GENERATOR_COMPUTING = 21,
    GENERATOR_EMPTY = 22,
    GENERATOR_PLACES = 23,
    GENERATOR_STEALS = 24
};

/* POISON kills who computes it; the kernel fails ALWAYS, or at HALF of the workers. */
enum bad_kind { POISON, ALWAYS, HALF };
enum { BAD_MAX = 5 };

/* So many runs with faults in a row; the one after them has none. */
enum { RUNS_MAX = 5 };

enum { GROWTHS_MAX = 8 };

enum { CALLED_FAILED_MAX = 3 };

enum { PODS_MAX = 6, POD_WORKERS_MAX = 4 };

struct scenario {
    unsigned generator;
    uint64_t seed;
    struct virtual_config config; /* borrows what stands below */
    double speeds[WORKERS_MAX + MASTERS_MAX];
    struct virtual_fault faults[FAULTS_MAX + NONSENSE_MAX + PODS_MAX * (1 + POD_WORKERS_MAX)];
    bool stops_for_good;
    bool hangs;            /* what generator 3 adds */
    uint64_t bad[BAD_MAX]; /* [bad_count] iterations that do not work */
    enum bad_kind kind[BAD_MAX];
    unsigned bad_count;
    struct refusal refusal;
    double longer;        /* iterations take so many times as long; 0: as long as ever */
    unsigned free_of_ten; /* so many iterations of ten cost nothing, and the others the same */
    unsigned liar;        /* rank of the worker that computes one iteration of `lie_of` wrongly; 0: none does */
    uint64_t lie_of;
    struct deaths deaths;                      /* what generator 12 adds; of all runs of the job */
    struct virtual_growth growth[GROWTHS_MAX]; /* what generator 14 adds */
    uint64_t grown;                            /* iterations that there were at the end of the run before */
    bool has_precedence;                       /* what generator 16 adds; what it has is as in generator 11 */
    struct precedence precedence;              /* owned */
    uint64_t called_failed[CALLED_FAILED_MAX]; /* [called_failed_count] */
    unsigned called_failed_count;
    enum virtual_outcome (*other_outcome)(void *context, unsigned rank, uint64_t iteration); /* of others; NULL */
    bool cancels;         /* what generator 17 adds; what it has is as in another one */
    bool has_pods;        /* what generator 18 adds; likewise */
    bool begins_ahead;    /* what generator 19 adds; likewise */
    bool sends_results;   /* what generator 20 adds to 18 */
    bool masters_compute; /* what generator 21 adds; likewise */
    bool when_empty;      /* what generator 22 adds; likewise */
    bool has_places;      /* what generator 23 adds; likewise */
    bool steals;          /* what generator 24 adds; likewise */
    struct virtual_pod pods[PODS_MAX];
    unsigned runs; /* before this one */
};

/* `generator` may be any; to be ended by scenario_fini(). */
void scenario_make(struct scenario *scenario, unsigned generator, uint64_t seed);

void scenario_fini(struct scenario *scenario);

/* The run that resumes the one before. */
void scenario_resume(struct scenario *scenario);

/* What the runs from now on are to do with the iterations that killed: nothing, where they are mended. */
void scenario_mend(struct scenario *scenario, bool are_mended);
