/* SPDX-License-Identifier: MIT */
/* The items of open jobs: rows of a list in the set's folder, from which the tasks of exec are read, or numbers of
 * iterations.
 *
 * Added items are written to the list at once, and to the queue's journal at the next commit. Only then are the job and
 * the client told. What the list has beyond the journal's byte count is cut off when a later set begins. */
#pragma once

#include "common/control/items_json.h"
#include "common/control/source.h"
#include "supermaster/set/set.h"

#include <stdbool.h>
#include <stdint.h>

/* Creates the list of a newly submitted open job, if it has one. */
int set_begin_items(struct set *set, struct queue_job *queued, struct error *error);

/* Adds to an open job; if refused, nothing is added. */
enum refusal set_add_items(struct set *set, uint32_t id, struct items *items, struct error *error);

/* Announces the items that were added since the last commit of the journal or, if the commit failed, removes them
 * again. */
void set_settle_items(struct set *set, bool is_committed);

/* Completes all open jobs, because the set accepts no more items, and writes that to the journal on the disk. */
void set_complete_items(struct set *set);

int set_mend_items(struct set *set, struct error *error);

/* Removes the list of a job that is over, unless it is needed to look up failures. */
void set_end_items(const struct set *set, const struct queue_job *queued);
