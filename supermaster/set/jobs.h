/* SPDX-License-Identifier: MIT */
/* The running jobs of a set: beginning, status, cancellation and end. */
#pragma once

#include "supermaster/set/set.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins a job. If beginning fails, ends the job as failed with an error. A job that must run alone waits while others
 * run. If the kernel must be loaded first, the job begins after that. If memory runs out, this function may end the
 * link. */
void set_begin_job(struct set *set, struct queue_job *queued);

void set_look_at_loading(struct set *set);

void set_end_jobs(struct set *set);

void set_stop(struct set *set);

void set_desert(struct set *set);

void set_abandon_jobs(struct set *set);

bool set_tell_running(const struct set *set, uint32_t id, struct control_job *job);

bool set_tell_rank(const struct set *set, uint32_t id, uint64_t place, struct rank_figures *rank);

/* Describes one of the iterations that the job has given up: number `place` (from 0) of their list, together with the
 * iterations after it that have the same reason. Returns false if the job has given up fewer iterations, or if its list
 * was not kept (see SET_FAILURES_MAX). */
bool set_tell_failure(const struct set *set, uint32_t id, uint64_t place, struct failure_figures *failure);

void set_forget_failures(struct set *set);

size_t set_list_running(const struct set *set, uint64_t *ids, size_t most);

void set_tell_more(const struct set *set, const struct queue_job *queued);

int set_reserve(const struct set *set, unsigned workers);

void set_tell_joined(const struct set *set, const struct link_pod *pod);

/* Makes the pod of master `master` leave all running jobs. `now`, also in set_drain_job(): running iterations are
 * abandoned. */
void set_tell_leaving(const struct set *set, unsigned master, bool now);

void set_drain_job(const struct set *set, uint32_t id, bool now);
