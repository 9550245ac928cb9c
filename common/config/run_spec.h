/* SPDX-License-Identifier: MIT */
/* The description of a run: everything that the command line says of it and that all of its machines have in common.
 *
 * Job set-up makes one in each process, and changes it only until the first machine begins. The supermaster, masters,
 * workers and their service, simulated clusters and the prediction of techniques borrow it, and copy nothing out of it.
 * What follows from the loop and from the place of a machine is told to each machine beside it. Pure. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

enum run_group_by { RUN_GROUP_BY_NODE, RUN_GROUP_BY_EVEN };
enum run_power { RUN_POWER_EQUAL, RUN_POWER_MEASURE, RUN_POWER_FILE, RUN_POWER_LIST };
enum run_refill { RUN_REFILL_AHEAD, RUN_REFILL_WHEN_EMPTY };
enum run_recall { RUN_RECALL_ON, RUN_RECALL_OFF };
enum run_copies { RUN_COPIES_ON, RUN_COPIES_OFF };
enum run_verify_action { RUN_VERIFY_FAIL, RUN_VERIFY_DROP_WORKER };
enum run_isolate { RUN_ISOLATE_AUTO, RUN_ISOLATE_ON, RUN_ISOLATE_OFF };
enum run_timeout { RUN_TIMEOUT_NONE, RUN_TIMEOUT_AUTO, RUN_TIMEOUT_GIVEN };
#define RUN_CANDIDATES_MAX 8

enum ask_ahead { ASK_AHEAD_AUTO, ASK_AHEAD_OFF, ASK_AHEAD_FIXED };

struct run_spec {
    struct sched_spec technique;
    /* with technique_auto: plug-ins that are candidates, too, and their specs as the user wrote them, borrowed */
    struct sched_spec candidate[RUN_CANDIDATES_MAX];
    const char *candidate_text[RUN_CANDIDATES_MAX];
    unsigned candidates;
    bool technique_auto;      /* to be chosen once the probes are known; `technique` is taken where nothing is better */
    bool technique_by_kernel; /* `technique` is the default for iterations that wait or have effects */
    bool chosen_late;         /* with technique_auto: nothing is probed, it is chosen when chunks are finished */
    enum sched_weighting weighting;
    uint64_t min_chunk;     /* no chunk but the last has fewer iterations; 0 is taken as 1 */
    unsigned refill_chunks; /* chunks for each worker in one refill; 1 .. RUN_REFILL_CHUNKS_MAX */
    enum run_refill refill; /* WHEN_EMPTY: a master asks for its next refill when its pool is empty, not before */
    enum run_power power;   /* source of the workers' powers */
    enum run_group_by group_by;
    bool masters_compute; /* whoever serves workers is one of them, too */
    uint64_t break_after; /* and looks at its messages after so many iterations; 0: after as many as take 50 us */
    enum ask_ahead ask_ahead;
    unsigned ask_ahead_chunks; /* ASK_AHEAD_FIXED: chunks to have beside the running one, 1 .. RUN_ASK_AHEAD_MAX */
    enum run_recall recall;    /* ON: work that has not begun goes to workers that have none */
    enum run_copies copies;    /* ON: a chunk that is overdue with its worker goes to an idle one as well */
    double verify;             /* share of the iterations that a second worker computes, too; 0: none, 1: all */
    uint64_t verify_seed;      /* draws them */
    enum run_verify_action verify_action; /* what comes of results that differ */
    enum run_isolate isolate;             /* ON: a helper runs the kernel; AUTO: see job_setup_is_isolated() */
    enum run_timeout timeout;             /* GIVEN: a helper is killed whose iteration takes longer */
    uint64_t timeout_ns;                  /* than this; AUTO: than others, by far */
    unsigned threads;                     /* threads of each worker, 1 .. RUN_THREADS_MAX; 0: as many as it has cores */
    struct sched_spec thread_technique;   /* technique among the threads of a worker */
    uint64_t sync_points;    /* points in each chunk of a loop with dependencies; 0: RUN_SYNC_POINTS for each worker */
    unsigned retries;        /* new tries of iterations at which the kernel fails */
    unsigned node_failures;  /* tasks in a row at which a node may be put aside, see --node-failures; 0: none is */
    uint64_t drain_ns;       /* workers may finish their chunks for so long after a drain */
    uint64_t calculation_ns; /* for studies: the calculation of each chunk takes so much longer */
    uint64_t assignment_ns;  /* for studies: the assignment of each chunk takes so much longer */
};

#define RUN_TECHNIQUE         "dfss" /* unless --technique names another */
#define RUN_TECHNIQUE_SINGLE  "ss"   /* where iterations wait, or have effects */
#define RUN_TECHNIQUE_AUTO    "auto" /* for --technique: the one that is predicted to be the quickest */
#define RUN_THREAD_TECHNIQUE  "fac2" /* unless --thread-technique names another */
#define RUN_REFILL_CHUNKS_MAX 64
#define RUN_ASK_AHEAD_MAX     8
#define RUN_THREADS_MAX       1024
#define RUN_SYNC_POINTS       3
#define RUN_RETRIES           2 /* unless --retries gives another number */
#define RUN_RETRIES_MAX       100
#define RUN_NODE_FAILURES     10 /* unless --node-failures gives another number */
#define RUN_NODE_FAILURES_MAX 100
#define RUN_VERIFY_SEED       1  /* unless --verify gives another */
#define RUN_DRAIN_S           20 /* unless --drain-time gives another time */
#define RUN_DRAIN_MAX_S       1000000
#define RUN_TIMEOUT_MIN_S     0.001 /* for --iteration-timeout */
#define RUN_TIMEOUT_MAX_S     1000000
#define RUN_TIMEOUT_AUTO_S    60 /* the least that --iteration-timeout auto comes to */

/* Sets everything to its default. */
void run_spec_init(struct run_spec *spec);

/* Sets technique and technique_auto as --technique does. -1 with one line in `error`, and `spec` as it was. */
int run_spec_set_technique(struct run_spec *spec, const char *value, struct error *error);

/* Takes RUN_TECHNIQUE_SINGLE as the technique, also as the one with which `auto` begins. */
void run_spec_hand_out_singly(struct run_spec *spec);

/* True where the workers probe before the loop: for their powers, for values of the technique that are measured so, or
 * to choose the technique. */
bool run_spec_probes(const struct run_spec *spec);

/* True where the probe is to time as many iterations as the shortest over the longest of them is taken of, however long
 * they are: for pls, and for `auto`, which needs to know how much they differ. */
bool run_spec_wants_swr(const struct run_spec *spec);

/* True where measurements of the running loop are wanted: the technique learns, or one that learns may be chosen. */
bool run_spec_learns(const struct run_spec *spec);

/* True where a worker may compute all chunks that it holds at the same time. */
static inline bool run_spec_has_threads(const struct run_spec *spec)
{
    return spec->threads != 1;
}
