/* SPDX-License-Identifier: MIT */
/* The jobs of a set that run: they begin, are told of, are asked to end, and end. */
#pragma once

#include "supermaster/set/set.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins a job that may, or has it fail, and says why; one that turns out to run alone waits while others run. A job
 * whose kernel has to be loaded begins when that is done. The link may be over afterwards, where memory was out. */
void set_begin_job(struct set *set, struct queue_job *queued);

/* Begins the jobs whose kernel is loaded by now, and ends those that were cancelled meanwhile. */
void set_look_at_loading(struct set *set);

/* Ends all jobs that do not go on: prints their summaries, and tells the queue. */
void set_end_jobs(struct set *set);

/* Has the set drain, as a signal would. */
void set_stop(struct set *set);

/* Has the set end, as it has no worker any more; once more changes nothing. */
void set_desert(struct set *set);

/* Releases all jobs of a link that has ended with them: for the queue they run, and go on with the next set. */
void set_abandon_jobs(struct set *set);

/* Tells of a job how far it is. False where it does not run. */
bool set_tell_running(const struct set *set, uint32_t id, struct control_job *job);

/* Tells of the rank of a job at that place, from 0. False where there is none, or the job does not run. */
bool set_tell_rank(const struct set *set, uint32_t id, uint64_t place, struct rank_figures *rank);

/* Tells of the iteration of a job that was given up at that place, from 0, and of those behind it with the same reason.
 * False where there is none, or the job was over before the last SET_FAILURES_MAX of which something was given up. */
bool set_tell_failure(const struct set *set, uint32_t id, uint64_t place, struct failure_figures *failure);

/* Releases what was given up of jobs that are over. */
void set_forget_failures(struct set *set);

/* The numbers of the jobs that run, `most` at most. Returns how many these are. */
size_t set_list_running(const struct set *set, uint64_t *ids, size_t most);

/* Tells a job of the items that it has by now. Nothing where it does not run. */
void set_tell_more(const struct set *set, const struct queue_job *queued);

/* Has all jobs that run make room for a pod with so many workers. -1 when memory is out. */
int set_reserve(const struct set *set, unsigned workers);

/* Has a pod, whose master is `first_rank`, and its workers, `count` ranks, take part in all jobs that run. */
void set_tell_joined(const struct set *set, const struct link_pod *pod);

/* Has the pod with that master leave all jobs that run; `now`: nor is what runs to be finished. */
void set_tell_leaving(const struct set *set, unsigned master, bool now);

/* Asks a job to end; `now`: nor is what runs to be finished. Nothing where it does not run. */
void set_drain_job(const struct set *set, uint32_t id, bool now);
