/* SPDX-License-Identifier: MIT */
/* The run specification: the options of a run that its machines share.
 *
 * In each process, the job set-up makes one run specification. It does not change after the first machine has started.
 * Supermaster, masters, workers, the service, simulated clusters and the prediction of techniques borrow it. Values
 * that depend on the loop or on the rank are passed separately. Pure. */
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
    /* Plug-ins from which `technique_auto` may choose too. `candidate_text` contains the names of these plug-ins as the
     * user wrote them; borrowed. */
    struct sched_spec candidate[RUN_CANDIDATES_MAX];
    const char *candidate_text[RUN_CANDIDATES_MAX];
    unsigned candidates;
    /* the technique is chosen by measurements; `technique` is used unless the measurements show that another one is
     * faster */
    bool technique_auto;
    bool technique_by_kernel;
    bool chosen_late; /* if `technique_auto`: measurements of finished chunks are used, not those of probes */
    enum sched_weighting weighting;
    uint64_t min_chunk;     /* lower bound of the chunk size, except for the last chunk; 0 counts as 1 */
    uint64_t max_chunk;     /* upper bound of the chunk size for all techniques; 0: no limit */
    unsigned refill_chunks; /* number of chunks for each worker in one refill, 1 .. RUN_REFILL_CHUNKS_MAX */
    enum run_refill refill;
    enum run_power power;
    enum run_group_by group_by;
    bool masters_compute;
    /* On masters that compute: number of iterations between two checks for messages. 0: as many iterations as take
     * about 50 us. */
    uint64_t break_after;
    enum ask_ahead ask_ahead;
    /* for ASK_AHEAD_FIXED: number of chunks that a worker holds besides the running one, 1 .. RUN_ASK_AHEAD_MAX */
    unsigned ask_ahead_chunks;
    enum run_recall recall;
    enum run_copies copies;
    double verify; /* fraction of the iterations that a second worker also computes; `verify_seed` decides which ones */
    uint64_t verify_seed;
    enum run_verify_action verify_action;
    enum run_isolate isolate;
    /* RUN_TIMEOUT_GIVEN: a helper is killed if an iteration takes longer than `timeout_ns`. RUN_TIMEOUT_AUTO: a helper
     * is killed if an iteration takes far longer than other iterations have taken. */
    enum run_timeout timeout;
    uint64_t timeout_ns;
    unsigned threads; /* threads per worker, 1 .. RUN_THREADS_MAX; 0: one per core */
    struct sched_spec thread_technique;
    /* Number of synchronization points of each chunk in a loop with dependencies. 0: RUN_SYNC_POINTS times the number
     * of workers. */
    uint64_t sync_points;
    unsigned retries;
    /* number of consecutive failed tasks after which a node may be excluded (--node-failures); 0: never */
    unsigned node_failures;
    uint64_t drain_ns;
    /* for studies: artificial delay for each calculation of a chunk, and for each assignment */
    uint64_t calculation_ns;
    uint64_t assignment_ns;
};

#define RUN_TECHNIQUE         "dfss"
#define RUN_TECHNIQUE_SINGLE  "ss"
#define RUN_TECHNIQUE_AUTO    "auto"
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
#define RUN_TIMEOUT_AUTO_S    60 /* lower bound of the timeout that --iteration-timeout auto finds */

void run_spec_init(struct run_spec *spec);

/* Sets `technique` and `technique_auto` from the value of --technique. On failure `spec` is unchanged. */
int run_spec_set_technique(struct run_spec *spec, const char *value, struct error *error);

void run_spec_hand_out_singly(struct run_spec *spec);

/* Returns true if workers time some iterations before the loop. The times may serve to find the workers' powers, to
 * measure parameters of the technique, or to choose the technique. */
bool run_spec_probes(const struct run_spec *spec);

/* Returns true if the technique is pls or `auto`. Both need `swr`: the shortest time of an iteration divided by the
 * longest. The probe must then time enough iterations for `swr`, even if each iteration takes long. */
bool run_spec_wants_swr(const struct run_spec *spec);

bool run_spec_learns(const struct run_spec *spec);

static inline bool run_spec_has_threads(const struct run_spec *spec)
{
    return spec->threads != 1;
}
