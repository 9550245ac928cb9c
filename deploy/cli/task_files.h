/* SPDX-License-Identifier: MIT */
/* Files for each task, as with --results of GNU parallel. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/row.h"

#include <limits.h>
#include <stdint.h>

/* Composes the folder of a task, "FOLDER/1/ARG/2/ARG/", from column names and texts. In these a slash becomes `\_` and
 * a backslash becomes two. Fails if the result is too long. */
int task_files_layout(char path[PATH_MAX], const char *folder, const struct piece *names, const struct piece *texts,
                      unsigned columns, struct error *error);

/* Writes the files of a task, and makes their folders. A path that ends with a slash is a folder for stdout, stderr and
 * seq. Any other path is the file for the output, with PATH.err and PATH.seq beside it. */
int task_files_write(const char *path, uint64_t number, const void *out, size_t out_bytes, const void *err,
                     size_t err_bytes, struct error *error);
