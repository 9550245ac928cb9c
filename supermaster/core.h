/* SPDX-License-Identifier: MIT */
/* The parts of the supermaster, for its own files only. */
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

/* The numbers of masters, workers and nodes that there was room for, and that there is to be room for. */
struct room {
    struct {
        unsigned before, now;
    } masters, workers, nodes;
};

/* --- core.c --- */

/* The end of the run, for whatever reason. */

void supermaster_fail(struct supermaster *supermaster, unsigned rank, const char *text);
/* Fails as memory is out for `what`. */
void supermaster_fail_for_memory(struct supermaster *supermaster, const char *what);

/* Takes messages that masters relay and, in the central topology, workers send themselves. */
void supermaster_receive_common(struct supermaster *supermaster, const struct message *message);
/* Drops the sender of this step's message, which cannot be. */
void supermaster_refuse(struct supermaster *supermaster, const char *text);
/* True if this step's message may be about `rank`: its sender, or a worker of it. */
bool supermaster_speaks_for(const struct supermaster *supermaster, unsigned rank);
void supermaster_move(struct supermaster *supermaster, enum supermaster_state state);

/* --- workers.c --- */

/* --weighting acp. */

/* Tells the technique the load of worker `w`, for which a chunk is cut next, and notes it for the report. */
void supermaster_weigh_load(struct supermaster *supermaster, unsigned w);
void supermaster_receive_loads(struct supermaster *supermaster, const struct message *message);

/* Speeds and powers. */

/* Levels of a worker whose speed is not known, and not waited for before the loop begins. */
#define SPEED_WAIVED UINT32_MAX

void supermaster_receive_speed(struct supermaster *supermaster, const struct message *message);
void supermaster_expire_speeds(struct supermaster *supermaster); /* at EVENT_TIMER: waives all overdue speeds */
/* Goes on without the speed of worker `w`. */
void supermaster_waive_speed(struct supermaster *supermaster, unsigned w);
/* Makes the powers and begins to serve, once all speeds are known. */
void supermaster_begin(struct supermaster *supermaster, uint64_t now_ns);
/* Puts another technique in the place of the present one, in the middle of a loop. Nothing changes where it refuses
 * what is left. */
void supermaster_change_technique(struct supermaster *supermaster, const struct sched_spec *technique);
/* Makes the technique ready for another step, with what it has learned. -1 with one line. */
int supermaster_renew_technique(struct supermaster *supermaster, struct error *error);

/* Masters with their workers that join while others compute. */

int supermaster_joins_make_room(struct supermaster *supermaster, const struct room *room); /* -1: memory is out */
void supermaster_joins_fini(struct supermaster *supermaster);
/* The topology has more masters and workers than this machine knows. */
void supermaster_receive_joined(struct supermaster *supermaster);
/* Tells a master that has joined to leave with its workers, which give back what has not begun; `now`: nor is what runs
 * finished. Nothing where it leaves already, unless it may still be hurried. */
void supermaster_receive_leaving(struct supermaster *supermaster, unsigned rank, bool now);
/* Rank `rank` of pod `m` has told by `text` that it cannot go on: the pod is told to leave, and others do its
 * work; at the end it is only noted. False where the run cannot go on so: `m` is no pod, or nobody else is there. */
bool supermaster_leave_out(struct supermaster *supermaster, unsigned m, unsigned rank, const char *text);
/* A pod has left, or is lost: the technique counts those that are left. */
void supermaster_note_pod_left(struct supermaster *supermaster);
/* True if master `m` has joined, and the speeds of all its workers are not known yet: it gets no refill, and
 * supermaster_keep_joiners_refill() notes that it has asked for one. */
static inline bool supermaster_is_joining(const struct supermaster *supermaster, unsigned m)
{
    return supermaster->joins.open > 0 && supermaster->joins.missing[m] > 0;
}

void supermaster_keep_joiners_refill(struct supermaster *supermaster, unsigned m);
/* True if worker `w` is one of such a master, and its speed is missing. */
static inline bool supermaster_is_joiner(const struct supermaster *supermaster, unsigned w)
{
    return supermaster->joins.open > 0 && supermaster->joins.is_missing[w];
}

/* Master `m` is waited for no longer. */
void supermaster_forget_joining(struct supermaster *supermaster, unsigned m);
/* At EVENT_TIMER: goes on without speeds of workers that have joined and are overdue. */
void supermaster_expire_joins(struct supermaster *supermaster);

/* --- grant.c --- */

/* Cutting chunks. */

/* Cuts the next chunk for worker `w`, granted to `holder`; false when nothing is free (or the run has failed). */
bool supermaster_cut(struct supermaster *supermaster, unsigned holder, unsigned w, struct range *range);
/* Notes how fast iterations are done, before a refill is cut. Where the supermaster could not cut single ones as fast
 * as the workers compute them, it cuts no chunk for which that holds, and recall evens out what is left at the end. */
void supermaster_note_rate(struct supermaster *supermaster);
/* Takes off the technique's remaining work what is free no longer: a result may come for work that was set free again,
 * and such work may be given up. */
void supermaster_claim_what_was_free(struct supermaster *supermaster);
/* Commits a range; false where it was never handed out. */
bool supermaster_commit(struct supermaster *supermaster, unsigned holder, const struct done_record *done);

/* Techniques that say which iterations. */

void supermaster_places_fini(struct supermaster *supermaster);

/* One loop after the other. */

int supermaster_steps_init(struct supermaster *supermaster); /* -1 when memory is out; after the ledger */
int supermaster_steps_make_room(struct supermaster *supermaster, const struct room *room); /* -1: memory is out */
void supermaster_steps_fini(struct supermaster *supermaster);
/* Free iterations of the step at hand. */
uint64_t supermaster_step_free(const struct supermaster *supermaster);
/* Begins the next step where this one is done. */
void supermaster_next_step(struct supermaster *supermaster);

/* Loops that grow while they run. */

/* When to look whether the loop has grown; NEVER where it does not, or this is told. */
uint64_t supermaster_growth_due_ns(const struct supermaster *supermaster);
/* At EVENT_TIMER: looks where it is due. */
void supermaster_look_for_growth(struct supermaster *supermaster);
/* Has it looked, as somebody has told of more. Nothing where it does not grow any more. */
void supermaster_look_at_once(struct supermaster *supermaster);
void supermaster_receive_growth(struct supermaster *supermaster, const struct growth *growth);

/* The journal. */

int supermaster_record_init(struct supermaster *supermaster); /* -1 when memory is out */
void supermaster_record_fini(struct supermaster *supermaster);
/* Has the group recorded when it is due or full, or the last. */
void supermaster_record_if_due(struct supermaster *supermaster, uint64_t now_ns, bool last);

/* --- choose.c --- */

/* What is measured while it runs. */

/* Tells the technique what worker `w` measured. */
void supermaster_learn(struct supermaster *supermaster, unsigned w, const struct feedback_record *feedback);
void supermaster_receive_feedback(struct supermaster *supermaster, unsigned m, const struct message *message);

/* --technique auto. */

int supermaster_chooser_init(struct supermaster *supermaster);                               /* -1 when memory is out */
int supermaster_chooser_make_room(struct supermaster *supermaster, const struct room *room); /* likewise */
void supermaster_chooser_fini(struct supermaster *supermaster);
/* Decides by what is measured at this moment. */
const struct sched_spec *supermaster_choose(struct supermaster *supermaster);

/* --- dependencies.c --- */

/* Iterations that wait for others. */

int supermaster_waits_init(struct supermaster *supermaster); /* -1 when memory is out; after the deaths */
void supermaster_waits_fini(struct supermaster *supermaster);
/* Iterations are done, or done and called failed by the kernel; only where some wait for others. */
void supermaster_note_ended(struct supermaster *supermaster, uint64_t first, uint64_t count, bool has_failed);
/* Iterations were given up, as far as they were neither done nor given up before; likewise. */
void supermaster_note_given_up(struct supermaster *supermaster, uint64_t first, uint64_t count);
/* At EVENT_TIMER: has the standing rules hand out what was set free. */
void supermaster_serve_set_free(struct supermaster *supermaster);
void supermaster_check_waits(const struct supermaster *supermaster);

/* Boundary data that loops with dependencies are resumed from. */

/* Has a run that is resumed begin where it can; after the ledger. */
void supermaster_points_init(struct supermaster *supermaster);
/* Asks for the next recovery point. To be called in a step when it is due. */
void supermaster_ask_for_point(struct supermaster *supermaster);
void supermaster_receive_boundary(struct supermaster *supermaster, const struct message *message);
/* True if the boundary is that of which the earlier run has left the data. */
bool supermaster_is_point(const struct supermaster *supermaster, const struct neighbour *neighbour);
/* Sends these data to rank `to`, which has the chunk behind the boundary, or whose worker has. */
void supermaster_hand_point(const struct supermaster *supermaster, const struct neighbour *neighbour, unsigned to);
/* Cuts the next chunk of a loop with dependencies, of about `want` iterations, which the technique has counted; granted
 * to `holder` unless it is done. False when nothing is free (or the run has failed). */
bool supermaster_cut_in_order(struct supermaster *supermaster, unsigned holder, uint64_t want, struct range *range);

/* --- masters.c --- */

/* Messages of a master. */

void supermaster_receive_from_master(struct supermaster *supermaster, unsigned m, const struct message *message);
/* Notes the range cut for master `m` in a loop with dependencies, or for the supermaster's own service where that is
 * the number of masters: the place where chunks of another holder end is kept for NEIGHBOURs. */
void supermaster_note_boundary(struct supermaster *supermaster, unsigned m, const struct range *range);
/* Passes on to whoever serves the worker before the boundary which worker is behind it; false where no chunk ends
 * there. */
bool supermaster_pass_neighbour(struct supermaster *supermaster, const struct neighbour *neighbour);
/* Chunks in a full refill of master `m`. */
static inline unsigned supermaster_refill_size(const struct supermaster *supermaster, unsigned m)
{
    return topology_count(supermaster->config.topology, m) * supermaster->config.spec->refill_chunks;
}
/* Serves the parked refills of master `m`, and returns how many chunks the refill has. `place`: chunks that this step
 * has sent the master before, whose records are borrowed; there must be room for more. */
unsigned supermaster_serve_refill(struct supermaster *supermaster, unsigned m, unsigned place);
/* Takes the final figures of a worker; figures of a rank that is no worker are dropped. */
void supermaster_take_statistics(struct supermaster *supermaster, const struct stats_record *record);

/* Work that has not begun moves from master to master. */

int supermaster_recalls_make_room(struct supermaster *supermaster, const struct room *room); /* -1: memory is out */
void supermaster_recalls_fini(struct supermaster *supermaster);
/* Behind a step in which masters were given chunks: has some recalled for those that got none. */
void supermaster_look_at_recalls(struct supermaster *supermaster);
/* Master `m` has left, or is told to: it answers no RECALL. */
void supermaster_forget_recall(struct supermaster *supermaster, unsigned m);
/* Master `m` waits for recalled work no more; it may still be asked for some. */
void supermaster_recall_no_more(struct supermaster *supermaster, unsigned m);
/* Notes what was counted of recalls, here or by a master. */
void supermaster_count_recalls(struct supermaster *supermaster, const struct recovery_counts *counts);

/* Masters whose workers all hang. */

/* At EVENT_TIMER: dismisses masters that are overdue. */
void supermaster_look_at_masters(struct supermaster *supermaster);
/* Notes that a worker waits for work, and none is free. */
static inline void supermaster_note_waiting(struct supermaster *supermaster)
{
    if (supermaster->losses.look_ns == NEVER)
        supermaster->losses.look_ns = supermaster->step.now_ns + LEASE_MIN_NS;
}

/* --- losses.c --- */

/* Ranks that die, and who goes on with their work. */

/* Takes what the supermaster's own service has counted since this was called last. */
void supermaster_take_own_counts(struct supermaster *supermaster);
/* Serves all refills of master `m` that are parked. */
void supermaster_serve_parked(struct supermaster *supermaster, unsigned m);
int supermaster_losses_make_room(struct supermaster *supermaster, const struct room *room); /* -1: memory is out */
void supermaster_losses_fini(struct supermaster *supermaster);
/* Takes the runtime's word that a rank is dead. */
void supermaster_receive_loss(struct supermaster *supermaster, unsigned rank);
/* Takes a master's message about a lost worker. */
void supermaster_receive_worker_lost(struct supermaster *supermaster, unsigned m, const struct worker_lost *lost);
/* Takes over a worker whose master is lost. */
void supermaster_receive_adopt(struct supermaster *supermaster, unsigned w, const struct adopt *adopt);
/* Frees the work of master `m`, which has left before the end, for others. */
void supermaster_master_left(struct supermaster *supermaster, unsigned m);
/* Has the standing rules look for free work and for a run without workers. */
static inline void supermaster_recheck(struct supermaster *supermaster)
{
    supermaster->losses.serve_due = supermaster->losses.look_again = true;
}

/* Applies the standing rules of losses: the news of the service (a set of enum service_news), free work, the loss of
 * the last worker. */
void supermaster_handle_losses(struct supermaster *supermaster, unsigned news);
/* True in an elastic run to which pods may still come. */
bool supermaster_may_somebody_come(const struct supermaster *supermaster);
/* True if a rank of this run was lost. */
bool supermaster_is_degraded(const struct supermaster *supermaster);
/* True if a rank was lost, or may hang. */
bool supermaster_is_late(const struct supermaster *supermaster);
/* The wait for an orphan at the end, from the moment at which the one before it has come. */
static inline uint64_t supermaster_orphans_wait_ns(const struct supermaster *supermaster)
{
    bool waits = supermaster->config.is_patient || !ledger_is_complete(&supermaster->ledger);
    return waits ? LEAVE_NS : 2 * LEAVE_LATE_NS;
}

/* Takes orphans for lost that have not come for long, at the end. */
void supermaster_expire_orphans(struct supermaster *supermaster);

/* True when every worker is lost, or has left with its master. */
static inline bool supermaster_has_no_worker(const struct supermaster *supermaster)
{
    return supermaster->losses.workers_lost + supermaster->losses.workers_left == supermaster->config.topology->workers;
}

/* Nodes on which tasks fail that work elsewhere. */

int supermaster_nodes_init(struct supermaster *supermaster);                               /* -1 when memory is out */
int supermaster_nodes_make_room(struct supermaster *supermaster, const struct room *room); /* likewise */
/* The topology has a master more, which serves the workers of its last node. */
void supermaster_nodes_add(struct supermaster *supermaster);
void supermaster_nodes_fini(struct supermaster *supermaster);
static inline bool supermaster_judges_nodes(const struct supermaster *supermaster)
{
    return supermaster->nodes.list != NULL;
}

/* Where nodes are judged: notes what became of tasks that a worker of the supermaster's service, or of master `m`, has
 * run. */
void supermaster_note_outcome(struct supermaster *supermaster, unsigned w, const struct done_record *done);
void supermaster_note_outcome_of_master(struct supermaster *supermaster, unsigned m, const struct done_record *done);
/* Tasks did not work with a worker, whether they are tried again or not. */
void supermaster_note_failed_try(struct supermaster *supermaster, const struct iterations_failed *failure);
/* By the end of a step, where there is a suspect: puts the node aside on which tasks have failed in this step, if it is
 * the reason. */
void supermaster_look_at_suspect(struct supermaster *supermaster);
/* True if master `m` gets no refills; supermaster_keep_refill() notes that it has asked for one. */
static inline bool supermaster_is_master_aside(const struct supermaster *supermaster, unsigned m)
{
    const struct nodes *nodes = &supermaster->nodes;
    return nodes->aside > 0 && nodes->master_node[m] != UINT_MAX && nodes->list[nodes->master_node[m]].is_aside;
}
void supermaster_keep_refill(struct supermaster *supermaster, unsigned m);
void supermaster_check_nodes(const struct supermaster *supermaster);

/* --- failures.c --- */

/* Deaths that are kept in the journal. */

/* Takes over those of earlier runs; after the ledger. -1 when memory is out. */
int supermaster_deaths_init(struct supermaster *supermaster);
void supermaster_deaths_fini(struct supermaster *supermaster);
/* Ends a run, before it begins, in which iterations have died too often before that later ones need. */
void supermaster_end_if_hopeless(struct supermaster *supermaster);
/* Counts that all workers are lost, if none has sent its speed and they may have died of what they probed; returns
 * whether that is so. */
bool supermaster_note_probe_deaths(struct supermaster *supermaster);
/* Notes and records `deaths` of workers that computed the iterations, or `failures` by the end of a process that ran
 * them. `are_last`: they are given up with it, and one of both may be 0. */
void supermaster_note_deaths(struct supermaster *supermaster, const struct poison *more, bool are_last);
/* The iterations are done. */
void supermaster_forget_deaths(struct supermaster *supermaster, uint64_t first, uint64_t count);

/* Iterations that do not work. */

#define RANGE_TEXT_MAX 60
/* Writes what the range is for people, as "iterations 3 to 5", or "task 4", which are counted from 1. */
void supermaster_describe_range(const struct range *range, bool are_tasks, char text[RANGE_TEXT_MAX]);
void supermaster_failures_fini(struct supermaster *supermaster);
/* Notes iterations that failed, as told by a worker that the supermaster serves, or by a master. */
void supermaster_note_failure(struct supermaster *supermaster, const struct iterations_failed *failure);
void supermaster_receive_iterations_failed(struct supermaster *supermaster, const struct iterations_failed *failure);
/* Notes that the iteration, which the ledger has among the failed, was not run because of another one, which has
 * failed, or was not run itself. -1 when memory is out. */
int supermaster_note_not_run(struct supermaster *supermaster, uint64_t iteration, uint64_t because, bool was_not_run);
/* Takes ranges off the ledger that have taken too many workers down. */
void supermaster_receive_iterations_given_up(struct supermaster *supermaster, const unsigned char *records,
                                             unsigned count);
/* Tells master `m`, which is about to be granted the range, the known deaths and failures of its iterations. */
void supermaster_warn(struct supermaster *supermaster, unsigned m, const struct range *range);

/* Results that were computed a second time. */

void supermaster_verified_fini(struct supermaster *supermaster);
void supermaster_receive_verified(struct supermaster *supermaster, const struct verified *verified);
/* Takes what the supermaster's own service has compared since this was called last. */
void supermaster_take_own_verified(struct supermaster *supermaster);
/* Likewise, as results differ, and drops a worker that is wrong where that is wanted. */
void supermaster_take_own_mismatches(struct supermaster *supermaster);
