/* SPDX-License-Identifier: MIT */
/* Checks that others have not removed, replaced or truncated the output of a long run. Internal interface between the
 * files of common/results.
 *
 * Without these checks, such a change would go unnoticed, because writing does not fail. Data that are written to a
 * removed file are lost when the file is closed. A truncated file grows again at the next record, with zeros in the
 * gap. */
#pragma once

#include "common/results/results.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Checks that the open file still has a name, and is at least `bytes` long. */
int intact_check(int fd, const char *path, uint64_t bytes, struct error *error);

/* Like intact_check(). Must be called before each write. Checks at most once a second, because a parallel file system
 * must ask all writers for the size of the file. */
int intact_check_sink(struct results_sink *sink, uint64_t bytes, struct error *error);

int intact_check_name(int fd, const char *path, struct error *error);

int intact_refuse(const char *path, const char *what, struct error *error);
