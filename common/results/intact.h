/* SPDX-License-Identifier: MIT */
/* Checks that others have not removed, replaced or truncated the output of a long run. Internal interface between
 * the files of common/results.
 *
 * Writing does not fail after such a change: data of a removed file are lost at the end, and a truncated file grows
 * again with zeros at the next record. */
#pragma once

#include "common/results/results.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Checks that the open file still has a name and at least `bytes`. */
int intact_check(int fd, const char *path, uint64_t bytes, struct error *error);

/* Like intact_check(), before a write; at most once a second, because parallel file systems ask all writers for the
 * size. */
int intact_check_sink(struct results_sink *sink, uint64_t bytes, struct error *error);

int intact_check_name(int fd, const char *path, struct error *error);

int intact_refuse(const char *path, const char *what, struct error *error);
