/* SPDX-License-Identifier: MIT */
/* The running jobs of a set: beginning, status, cancellation and end. */
#pragma once

#include "supermaster/set/set.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins a job, or lets it fail with an error; a job that runs alone waits while others run. A job whose kernel must be
 * loaded begins after the loading. If memory runs out, the link may have ended when this returns. */
void set_begin_job(struct set *set, struct queue_job *queued);

/* Begins jobs whose kernel is loaded, and ends those cancelled meanwhile. */
void set_look_at_loading(struct set *set);

/* Ends the jobs whose machine has exited: prints their summaries and tells the queue. */
void set_end_jobs(struct set *set);

/* Drains the set, as a signal would. */
void set_stop(struct set *set);

/* Ends the set because it has no worker left; may be called again. */
void set_desert(struct set *set);

/* Releases all jobs after their link has ended; the next set continues those that the queue has as running. */
void set_abandon_jobs(struct set *set);

/* Status of a running job; false if it does not run. */
bool set_tell_running(const struct set *set, uint32_t id, struct control_job *job);

/* Figures of the job's rank at that place, from 0. False if there is none, or the job does not run. */
bool set_tell_rank(const struct set *set, uint32_t id, uint64_t place, struct rank_figures *rank);

/* The job's given-up iteration at that place, from 0, and those after it with the same reason. False if there is none,
 * or the list was not kept (see SET_FAILURES_MAX). */
bool set_tell_failure(const struct set *set, uint32_t id, uint64_t place, struct failure_figures *failure);

/* Releases the lists of given-up iterations. */
void set_forget_failures(struct set *set);

/* Lists the numbers of up to `most` running jobs; returns how many. */
size_t set_list_running(const struct set *set, uint64_t *ids, size_t most);

/* Tells a running job how many items it has now. */
void set_tell_more(const struct set *set, const struct queue_job *queued);

/* Makes room in all running jobs for a pod with this many workers. */
int set_reserve(const struct set *set, unsigned workers);

/* Adds a pod to all running jobs. */
void set_tell_joined(const struct set *set, const struct link_pod *pod);

/* Makes the pod with that master leave all running jobs; `now`: without finishing running iterations. */
void set_tell_leaving(const struct set *set, unsigned master, bool now);

/* Ends a running job; `now`: without finishing running iterations. */
void set_drain_job(const struct set *set, uint32_t id, bool now);
