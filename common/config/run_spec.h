/* SPDX-License-Identifier: MIT */
/* The run specification: all options of a run that its machines share.
 *
 * The job set-up makes one per process and does not change it after the first machine has begun. Supermaster, masters,
 * workers, the service, simulated clusters and the prediction of techniques borrow it. What depends on the loop or on
 * the rank is passed separately. Pure. */
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
    /* For technique_auto: the plug-ins that are candidates too, and their texts as the user wrote them, borrowed. */
    struct sched_spec candidate[RUN_CANDIDATES_MAX];
    const char *candidate_text[RUN_CANDIDATES_MAX];
    unsigned candidates;
    bool technique_auto;      /* the technique is chosen by measurement; `technique` is used if no other is better */
    bool technique_by_kernel; /* `technique` is the default for iterations that wait or have effects */
    bool chosen_late;         /* technique_auto chooses from measurements of finished chunks, without probes */
    enum sched_weighting weighting;
    uint64_t min_chunk;     /* no chunk but the last has fewer iterations; 0 counts as 1 */
    uint64_t max_chunk;     /* no chunk is larger, whatever the technique says; 0: no limit */
    unsigned refill_chunks; /* chunks for each worker in one refill; 1 .. RUN_REFILL_CHUNKS_MAX */
    enum run_refill refill; /* WHEN_EMPTY: a master asks for its next refill when its pool is empty, not before */
    enum run_power power;
    enum run_group_by group_by;
    bool masters_compute;
    uint64_t break_after; /* masters that compute check for messages after this many iterations; 0: after some 50 us */
    enum ask_ahead ask_ahead;
    unsigned ask_ahead_chunks; /* ASK_AHEAD_FIXED: chunks held besides the running one, 1 .. RUN_ASK_AHEAD_MAX */
    enum run_recall recall;    /* ON: idle workers get work of others that has not begun */
    enum run_copies copies;    /* ON: an overdue chunk is also given to an idle worker */
    double verify; /* share of iterations that a second worker computes as well, 0 to 1; `verify_seed` selects them */
    uint64_t verify_seed;
    enum run_verify_action verify_action;
    enum run_isolate isolate; /* ON: a helper runs the kernel; AUTO: see job_setup_is_isolated() */
    enum run_timeout timeout; /* GIVEN: a helper is killed if an iteration takes longer than `timeout_ns`; AUTO: if it
                                 takes far longer than others */
    uint64_t timeout_ns;
    unsigned threads; /* per worker, 1 .. RUN_THREADS_MAX; 0: one per core */
    struct sched_spec thread_technique;
    /* synchronization points per chunk of a loop with dependencies; 0: RUN_SYNC_POINTS per worker */
    uint64_t sync_points;
    unsigned retries;
    unsigned node_failures; /* consecutive failures after which a node may be excluded, see --node-failures; 0: never */
    uint64_t drain_ns;
    uint64_t calculation_ns; /* for studies: time added to the calculation of each chunk, and to its assignment */
    uint64_t assignment_ns;
};

#define RUN_TECHNIQUE         "dfss"
#define RUN_TECHNIQUE_SINGLE  "ss"   /* default if iterations wait or have side effects */
#define RUN_TECHNIQUE_AUTO    "auto" /* the technique with the shortest predicted time */
#define RUN_THREAD_TECHNIQUE  "fac2"
#define RUN_REFILL_CHUNKS_MAX 64
#define RUN_ASK_AHEAD_MAX     8
#define RUN_THREADS_MAX       1024
#define RUN_SYNC_POINTS       3
#define RUN_RETRIES           2
#define RUN_RETRIES_MAX       100
#define RUN_NODE_FAILURES     10
#define RUN_NODE_FAILURES_MAX 100
#define RUN_VERIFY_SEED       1
#define RUN_DRAIN_S           20
#define RUN_DRAIN_MAX_S       1000000
#define RUN_TIMEOUT_MIN_S     0.001
#define RUN_TIMEOUT_MAX_S     1000000
#define RUN_TIMEOUT_AUTO_S    60 /* lower bound of --iteration-timeout auto */

void run_spec_init(struct run_spec *spec);

/* Sets technique and technique_auto from the value of --technique. On failure `spec` is unchanged. */
int run_spec_set_technique(struct run_spec *spec, const char *value, struct error *error);

/* Sets the technique to RUN_TECHNIQUE_SINGLE; technique_auto stays as it is. */
void run_spec_hand_out_singly(struct run_spec *spec);

/* True if workers probe before the loop: for their powers, for measured parameters of the technique, or to choose the
 * technique. */
bool run_spec_probes(const struct run_spec *spec);

/* True if the probe must time enough iterations for swr, shortest over longest, even if they are long: for pls, and for
 * `auto`. */
bool run_spec_wants_swr(const struct run_spec *spec);

/* True if measurements of the running loop are needed: the technique is adaptive, or an adaptive one may be chosen. */
bool run_spec_learns(const struct run_spec *spec);

/* True if a worker may compute all chunks that it holds at the same time. */
static inline bool run_spec_has_threads(const struct run_spec *spec)
{
    return spec->threads != 1;
}
