/* SPDX-License-Identifier: MIT */
/* Tasks that wait for others: the column `after` of a table or list.
 *
 * A field names tasks by their value in the column `name`, or else `id`, or else by number from 1; names are separated
 * by commas, semicolons or spaces. */
#pragma once

#include "common/util/error.h"
#include "common/util/precedence.h"
#include "worker/kernels/exec/tasks.h"

#define AFTER_COLUMN "after"

/* Reads which tasks wait for which; `precedence` may be empty. Errors, also for cycles, name the rows. */
int after_read(struct tasks *tasks, struct precedence *precedence, struct error *error);
