/* SPDX-License-Identifier: MIT */
/* Tasks that wait for others: the column `after` of a table or list.
 *
 * A field lists tasks, separated by commas, semicolons or spaces. The field names a task by that task's value in the
 * column `name`; if there is no such column, by its value in `id`; if there is neither, by its number from 1. */
#pragma once

#include "common/util/error.h"
#include "common/util/precedence.h"
#include "worker/kernels/exec/tasks.h"

#define AFTER_COLUMN "after"

/* Reads which tasks wait for which. `precedence` stays empty if none waits. Errors, also about cycles, name the
 * rows. */
int after_read(struct tasks *tasks, struct precedence *precedence, struct error *error);
