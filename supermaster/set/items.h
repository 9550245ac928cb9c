/* SPDX-License-Identifier: MIT */
/* The items of open jobs. For the kernel exec, an item is a row of a task list in the folder of the set. For other
 * kernels, an item is an iteration.
 *
 * Added items are written to the list at once, and to the journal of the queue at the next commit. The job and the
 * client are told only after the commit. So the list may have more bytes than the journal says. A later set cuts these
 * bytes off when it begins. */
#pragma once

#include "common/control/items_json.h"
#include "common/control/source.h"
#include "supermaster/set/set.h"

#include <stdbool.h>
#include <stdint.h>

int set_begin_items(struct set *set, struct queue_job *queued, struct error *error);

enum refusal set_add_items(struct set *set, uint32_t id, struct items *items, struct error *error);

/* Tells the jobs about the items that were added since the last commit of the journal. If the commit has failed,
 * removes these items again. */
void set_settle_items(struct set *set, bool is_committed);

void set_complete_items(struct set *set);

int set_mend_items(struct set *set, struct error *error);

/* Removes the task list of a job that is done. The list of a failed job stays, so that the user can look up the failed
 * tasks. */
void set_end_items(const struct set *set, const struct queue_job *queued);
