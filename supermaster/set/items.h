/* SPDX-License-Identifier: MIT */
/* The items of open jobs: rows in a list of the set's folder, which the tasks of exec are read from, or numbers of
 * iterations.
 *
 * What is added is in the list at once, and in the queue's journal with the next commit. Only then does anybody hear of
 * it: the job, and whoever has added it. What the list has behind the bytes that the journal tells of is nothing, and
 * is cut off when a later set begins. */
#pragma once

#include "common/control/items_json.h"
#include "common/control/source.h"
#include "supermaster/set/set.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins the list of an open job that was just taken, where it has one. -1 with one line: it can have none. */
int set_begin_items(struct set *set, struct queue_job *queued, struct error *error);

/* Adds to an open job. If it is refused, with one line, nothing is added. */
enum refusal set_add_items(struct set *set, uint32_t id, const struct items *items, struct error *error);

/* The journal is committed, or could not be: tells the jobs of what was added since, or takes it back. */
void set_settle_items(struct set *set, bool is_committed);

/* Completes all open jobs, as nothing more is taken. Once they are, their open ends are on disk. */
void set_complete_items(struct set *set);

/* Cuts off what the lists of all jobs have behind what the journal tells of. -1 with one line. */
int set_mend_items(struct set *set, struct error *error);

/* The job is over: its list goes, unless there may be something to be looked up in it. */
void set_end_items(const struct set *set, const struct queue_job *queued);
