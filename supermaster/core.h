/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of the supermaster. */
#pragma once

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"

#include <limits.h>

static inline bool is_central(const struct supermaster *supermaster)
{
    return supermaster->is_central;
}

static inline double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* Numbers of masters, workers and nodes for which the arrays have room (`before`) and for which they need room
 * (`now`). */
struct room {
    struct {
        unsigned before, now;
    } masters, workers, nodes;
};

/* --- core.c --- */

void supermaster_fail(struct supermaster *supermaster, unsigned rank, const char *text);
void supermaster_fail_for_memory(struct supermaster *supermaster, const char *what);

void supermaster_receive_common(struct supermaster *supermaster, const struct message *message);
void supermaster_refuse(struct supermaster *supermaster, const char *text);
bool supermaster_speaks_for(const struct supermaster *supermaster, unsigned rank);
void supermaster_move(struct supermaster *supermaster, enum supermaster_state state);

/* --- workers.c --- */

/* Sets the load of the core of worker `w` in the technique and in the statistics. Must be called before a chunk is cut
 * for `w`. */
void supermaster_weigh_load(struct supermaster *supermaster, unsigned w);
void supermaster_receive_loads(struct supermaster *supermaster, const struct message *message);

#define SPEED_WAIVED UINT32_MAX

void supermaster_receive_speed(struct supermaster *supermaster, const struct message *message);
void supermaster_expire_speeds(struct supermaster *supermaster);
void supermaster_waive_speed(struct supermaster *supermaster, unsigned w);
void supermaster_begin(struct supermaster *supermaster, uint64_t now_ns);
void supermaster_change_technique(struct supermaster *supermaster, const struct sched_spec *technique);
/* Prepares the technique for the next time step. The technique keeps what it has learned, unless `auto` chooses another
 * technique. */
int supermaster_renew_technique(struct supermaster *supermaster, struct error *error);

int supermaster_joins_make_room(struct supermaster *supermaster, const struct room *room);
void supermaster_joins_fini(struct supermaster *supermaster);
void supermaster_receive_joined(struct supermaster *supermaster);
/* Tells the pod whose master has rank `rank` to leave. The pod's workers return the iterations that have not begun. If
 * `now` is set, they also abandon those that are running. A second call without `now` has no effect. */
void supermaster_receive_leaving(struct supermaster *supermaster, unsigned rank, bool now);
/* Dismisses the pod of master `m`, because rank `rank` of this pod cannot take part for the reason `text`. Other ranks
 * get the pod's work. If the run is ending, only records the reason. Returns false if the run cannot continue: `m` is
 * not a pod, no other worker remains, or memory runs out. */
bool supermaster_leave_out(struct supermaster *supermaster, unsigned m, unsigned rank, const char *text);
void supermaster_note_pod_left(struct supermaster *supermaster);
/* Returns true if master `m` has joined, but speeds of its workers are missing. As long as they are missing, refill
 * requests of this master are recorded by supermaster_keep_joiners_refill() and not served. */
static inline bool supermaster_is_joining(const struct supermaster *supermaster, unsigned m)
{
    return supermaster->joins.open > 0 && supermaster->joins.missing[m] > 0;
}

void supermaster_keep_joiners_refill(struct supermaster *supermaster, unsigned m);
static inline bool supermaster_is_joiner(const struct supermaster *supermaster, unsigned w)
{
    return supermaster->joins.open > 0 && supermaster->joins.is_missing[w];
}

void supermaster_forget_joining(struct supermaster *supermaster, unsigned m);
void supermaster_expire_joins(struct supermaster *supermaster);

/* --- grant.c --- */

bool supermaster_cut(struct supermaster *supermaster, unsigned holder, unsigned w, struct range *range);
/* Called from time to time before a refill is cut. Compares the rate at which the workers finish iterations with the
 * rate at which the supermaster can cut chunks. If single iterations could not be cut fast enough, sets a minimum size
 * for chunks. Recall compensates for the larger chunks at the end of the loop. */
void supermaster_note_rate(struct supermaster *supermaster);
/* Released iterations may stop being free although they are not granted: their late results arrive, or they are given
 * up. Subtracts these iterations from the remaining work of the technique. */
void supermaster_claim_what_was_free(struct supermaster *supermaster);
/* Commits a range of results. Returns false if the range was never handed out. */
bool supermaster_commit(struct supermaster *supermaster, unsigned holder, const struct done_record *done);

void supermaster_places_fini(struct supermaster *supermaster);

/* The ledger must be initialised before. */
int supermaster_steps_init(struct supermaster *supermaster);
int supermaster_steps_make_room(struct supermaster *supermaster, const struct room *room);
void supermaster_steps_fini(struct supermaster *supermaster);
uint64_t supermaster_step_free(const struct supermaster *supermaster);
void supermaster_next_step(struct supermaster *supermaster);

uint64_t supermaster_growth_due_ns(const struct supermaster *supermaster);
void supermaster_look_for_growth(struct supermaster *supermaster);
void supermaster_look_at_once(struct supermaster *supermaster);
void supermaster_receive_growth(struct supermaster *supermaster, const struct growth *growth);

int supermaster_record_init(struct supermaster *supermaster);
void supermaster_record_fini(struct supermaster *supermaster);
void supermaster_record_if_due(struct supermaster *supermaster, uint64_t now_ns, bool last);

/* --- choose.c --- */

void supermaster_learn(struct supermaster *supermaster, unsigned w, const struct feedback_record *feedback);
void supermaster_receive_feedback(struct supermaster *supermaster, unsigned m, const struct message *message);

int supermaster_chooser_init(struct supermaster *supermaster);
int supermaster_chooser_make_room(struct supermaster *supermaster, const struct room *room);
void supermaster_chooser_fini(struct supermaster *supermaster);
const struct sched_spec *supermaster_choose(struct supermaster *supermaster);

/* --- dependencies.c --- */

/* The deaths of earlier runs must be known before. */
int supermaster_waits_init(struct supermaster *supermaster);
void supermaster_waits_fini(struct supermaster *supermaster);
/* Returns true if suspects are released one at a time. Suspects are iterations that were running at several deaths of
 * the supermaster: see failures.c. */
bool supermaster_holds_suspects(const struct supermaster *supermaster);
/* supermaster_note_ended() and supermaster_note_given_up() require that `waits.open` is not NULL. `has_failed`: the
 * kernel reports the iterations as failed. */
void supermaster_note_ended(struct supermaster *supermaster, uint64_t first, uint64_t count, bool has_failed);
void supermaster_note_given_up(struct supermaster *supermaster, uint64_t first, uint64_t count);
void supermaster_serve_set_free(struct supermaster *supermaster);
void supermaster_check_waits(const struct supermaster *supermaster);

/* Makes a resumed run start at its recovery point. The ledger must be initialised before. */
void supermaster_points_init(struct supermaster *supermaster);
void supermaster_ask_for_point(struct supermaster *supermaster);
void supermaster_receive_boundary(struct supermaster *supermaster, const struct message *message);
bool supermaster_is_point(const struct supermaster *supermaster, const struct neighbour *neighbour);
void supermaster_hand_point(const struct supermaster *supermaster, const struct neighbour *neighbour, unsigned to);
/* Cuts the next chunk of a loop with dependencies for `holder`. Grants the chunk, unless an earlier run has done it;
 * then the chunk is only computed again for its boundary data. `want` is the approximate size, which the technique has
 * already subtracted from the remaining work. Returns false if nothing is free, or if the run has failed. */
bool supermaster_cut_in_order(struct supermaster *supermaster, unsigned holder, uint64_t want, struct range *range);

/* --- masters.c --- */

void supermaster_receive_from_master(struct supermaster *supermaster, unsigned m, const struct message *message);
/* Records a range that was cut for master `m`. If `m` is the number of masters, the range was cut for the supermaster's
 * own service. If the chunk before the range has another holder, NEIGHBOUR messages will follow. */
void supermaster_note_boundary(struct supermaster *supermaster, unsigned m, const struct range *range);
/* Tells the worker of the chunk before a boundary which worker has the chunk after it. The message goes by way of the
 * first worker's master, or of the supermaster's own service. Returns false if no chunk ends at this boundary. */
bool supermaster_pass_neighbour(struct supermaster *supermaster, const struct neighbour *neighbour);

static inline unsigned supermaster_refill_size(const struct supermaster *supermaster, unsigned m)
{
    return topology_count(supermaster->config.topology, m) * supermaster->config.spec->refill_chunks;
}
/* Serves one parked refill request of master `m`. Returns the number of chunks in the refill, or 0 if nothing is free.
 *
 * `place`: number of chunks that were already sent to the master in this step. Messages still borrow the records of
 * these chunks. The new records are written after them, so the buffer must have room for all these records. */
unsigned supermaster_serve_refill(struct supermaster *supermaster, unsigned m, unsigned place);
void supermaster_take_statistics(struct supermaster *supermaster, const struct stats_record *record);

int supermaster_recalls_make_room(struct supermaster *supermaster, const struct room *room);
void supermaster_recalls_fini(struct supermaster *supermaster);
void supermaster_look_at_recalls(struct supermaster *supermaster);
void supermaster_forget_recall(struct supermaster *supermaster, unsigned m);
void supermaster_recall_no_more(struct supermaster *supermaster, unsigned m);
void supermaster_count_recalls(struct supermaster *supermaster, const struct recovery_counts *counts);

void supermaster_look_at_masters(struct supermaster *supermaster);
static inline void supermaster_note_waiting(struct supermaster *supermaster)
{
    if (supermaster->losses.look_ns == NEVER)
        supermaster->losses.look_ns = supermaster->step.now_ns + LEASE_MIN_NS;
}

/* --- losses.c --- */

void supermaster_take_own_counts(struct supermaster *supermaster);
void supermaster_serve_parked(struct supermaster *supermaster, unsigned m);
int supermaster_losses_make_room(struct supermaster *supermaster, const struct room *room);
void supermaster_losses_fini(struct supermaster *supermaster);
void supermaster_receive_loss(struct supermaster *supermaster, unsigned rank);
void supermaster_receive_worker_lost(struct supermaster *supermaster, unsigned m, const struct worker_lost *lost);

void supermaster_receive_adopt(struct supermaster *supermaster, unsigned w, const struct adopt *adopt);
void supermaster_master_left(struct supermaster *supermaster, unsigned m);
static inline void supermaster_recheck(struct supermaster *supermaster)
{
    supermaster->losses.serve_due = supermaster->losses.look_again = true;
}

/* Applies the standing rules for losses: handles `news` of the service (a set of enum service_news), hands out free
 * work, and ends the run if no worker remains. */
void supermaster_handle_losses(struct supermaster *supermaster, unsigned news);

bool supermaster_may_somebody_come(const struct supermaster *supermaster);
bool supermaster_is_degraded(const struct supermaster *supermaster);
bool supermaster_is_late(const struct supermaster *supermaster);
static inline uint64_t supermaster_orphans_wait_ns(const struct supermaster *supermaster)
{
    bool waits = supermaster->config.is_patient || !ledger_is_complete(&supermaster->ledger);
    return waits ? LEAVE_NS : 2 * LEAVE_LATE_NS;
}

void supermaster_expire_orphans(struct supermaster *supermaster);

static inline bool supermaster_has_no_worker(const struct supermaster *supermaster)
{
    return supermaster->losses.workers_lost + supermaster->losses.workers_left == supermaster->config.topology->workers;
}

int supermaster_nodes_init(struct supermaster *supermaster);
int supermaster_nodes_make_room(struct supermaster *supermaster, const struct room *room);
void supermaster_nodes_add(struct supermaster *supermaster);
void supermaster_nodes_fini(struct supermaster *supermaster);
static inline bool supermaster_judges_nodes(const struct supermaster *supermaster)
{
    return supermaster->nodes.list != NULL;
}

/* supermaster_note_outcome() records the outcomes of tasks of worker `w` of the supermaster's own service.
 * supermaster_note_outcome_of_master() records those of a worker of master `m`. Both require
 * supermaster_judges_nodes(). */
void supermaster_note_outcome(struct supermaster *supermaster, unsigned w, const struct done_record *done);
void supermaster_note_outcome_of_master(struct supermaster *supermaster, unsigned m, const struct done_record *done);
void supermaster_note_failed_try(struct supermaster *supermaster, const struct iterations_failed *failure);
void supermaster_look_at_suspect(struct supermaster *supermaster);
static inline bool supermaster_is_master_aside(const struct supermaster *supermaster, unsigned m)
{
    const struct nodes *nodes = &supermaster->nodes;
    return nodes->aside > 0 && nodes->master_node[m] != UINT_MAX && nodes->list[nodes->master_node[m]].is_aside;
}
void supermaster_keep_refill(struct supermaster *supermaster, unsigned m);
void supermaster_check_nodes(const struct supermaster *supermaster);

/* --- failures.c --- */

/* Takes over the deaths that earlier runs have recorded in the journal. The ledger must be initialised before. */

int supermaster_deaths_init(struct supermaster *supermaster);
void supermaster_deaths_fini(struct supermaster *supermaster);
void supermaster_end_if_hopeless(struct supermaster *supermaster);
/* If all workers have died before any of them sent its speed, counts one death for each probed iteration and returns
 * true. */
bool supermaster_note_probe_deaths(struct supermaster *supermaster);
/* Records deaths at the iterations of `more` in the journal: those of workers (`more->deaths`) and those of child
 * processes (`more->failures`). `are_last`: these iterations are given up. */
void supermaster_note_deaths(struct supermaster *supermaster, const struct poison *more, bool are_last);
void supermaster_forget_deaths(struct supermaster *supermaster, uint64_t first, uint64_t count);

#define RANGE_TEXT_MAX 60
void supermaster_describe_range(const struct range *range, bool are_tasks, char text[RANGE_TEXT_MAX]);
void supermaster_failures_fini(struct supermaster *supermaster);
void supermaster_note_failure(struct supermaster *supermaster, const struct iterations_failed *failure);
void supermaster_receive_iterations_failed(struct supermaster *supermaster, const struct iterations_failed *failure);
int supermaster_note_not_run(struct supermaster *supermaster, uint64_t iteration, uint64_t because, bool was_not_run);

void supermaster_receive_iterations_given_up(struct supermaster *supermaster, const unsigned char *records,
                                             unsigned count);
void supermaster_warn(struct supermaster *supermaster, unsigned m, const struct range *range);

void supermaster_verified_fini(struct supermaster *supermaster);
void supermaster_receive_verified(struct supermaster *supermaster, const struct verified *verified);
void supermaster_take_own_verified(struct supermaster *supermaster);
/* Called instead of supermaster_take_own_verified() if results have differed. If the job asks for it, also drops a
 * worker whose results are wrong. */
void supermaster_take_own_mismatches(struct supermaster *supermaster);
