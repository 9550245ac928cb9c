/* SPDX-License-Identifier: MIT */
/* Tasks that wait for others: the column `after` of a table or list.
 *
 * Its fields name tasks, by what the column `name` has of them, or else the column `id`, or else by their numbers, from
 * 1; several are separated by commas, semicolons or blanks. An empty field names none. */
#pragma once

#include "common/util/error.h"
#include "common/util/precedence.h"
#include "worker/kernels/exec/tasks.h"

/* The name of the column. */
#define AFTER_COLUMN "after"

/* Reads what tasks wait for: `precedence` is closed where some wait, else empty. -1 with one line that names the rows,
 * also where tasks wait for one another in a circle, and nothing owned. */
int after_read(struct tasks *tasks, struct precedence *precedence, struct error *error);
