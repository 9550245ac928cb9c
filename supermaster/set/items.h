/* SPDX-License-Identifier: MIT */
/* The items of open jobs. An item is a row of a list in the set's folder, from which the kernel exec reads its tasks,
 * or for other kernels an iteration.
 *
 * Added items are written to the list at once, and to the queue's journal at the next commit. Only then are the job and
 * the client told. What the list has beyond the journal's byte count is cut off when a later set begins. */
#pragma once

#include "common/control/items_json.h"
#include "common/control/source.h"
#include "supermaster/set/set.h"

#include <stdbool.h>
#include <stdint.h>

int set_begin_items(struct set *set, struct queue_job *queued, struct error *error);

enum refusal set_add_items(struct set *set, uint32_t id, struct items *items, struct error *error);

/* Announces the items that were added since the last commit of the journal or, if the commit failed, removes them
 * again. */
void set_settle_items(struct set *set, bool is_committed);

void set_complete_items(struct set *set);

int set_mend_items(struct set *set, struct error *error);

/* Removes the list of a job that is done. After a failure the list stays, to look up the failed tasks. */
void set_end_items(const struct set *set, const struct queue_job *queued);
