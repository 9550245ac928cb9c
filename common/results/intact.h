/* SPDX-License-Identifier: MIT */
/* Files that a run writes for hours, in which somebody may remove, replace or cut them. Inside common/results only.
 *
 * Nothing of this makes a write fail: what goes to a file without a name is lost at its end, and a file that was cut is
 * as long as before when the next record is written, with zeros where others were. */
#pragma once

#include "common/results/results.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the open file still has a name, and the `bytes` that it had. -1 with one line. */
int intact_check(int fd, const char *path, uint64_t bytes, struct error *error);

/* The same before a write, once a second: a file system of many nodes asks those that write the file how long it is. */
int intact_check_sink(struct results_sink *sink, uint64_t bytes, struct error *error);

/* At the end: whether the open file is the one of that name. -1 with one line. */
int intact_check_name(int fd, const char *path, struct error *error);

/* -1 with one line that says what was done to the file, as "was removed". */
int intact_refuse(const char *path, const char *what, struct error *error);
