/* SPDX-License-Identifier: MIT */
/* Tasks that wait for others: the column `after` of a table or list.
 *
 * A field lists tasks, separated by commas, semicolons or spaces. If there is a column `name`, tasks are listed by
 * their value in it. Otherwise they are listed by their value in the column `id`. If there is neither column, they are
 * listed by their numbers, which count from 1. */
#pragma once

#include "common/util/error.h"
#include "common/util/precedence.h"
#include "worker/kernels/exec/tasks.h"

#define AFTER_COLUMN "after"

/* Reads which task waits for which other tasks. If no task waits, `precedence` stays empty. Errors, also about cycles,
 * name the rows. */
int after_read(struct tasks *tasks, struct precedence *precedence, struct error *error);
