/* SPDX-License-Identifier: MIT */
/* Files for each task, as with --results of GNU parallel. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/row.h"

#include <limits.h>
#include <stdint.h>

/* Composes the path of a task's folder, "FOLDER/1/ARG/2/ARG/", from the column names (here 1 and 2) and the texts. A
 * slash in them becomes `\_`, and a backslash becomes two. Fails if the path is too long. */
int task_files_layout(char path[PATH_MAX], const char *folder, const struct piece *names, const struct piece *texts,
                      unsigned columns, struct error *error);

/* Writes the files of a task, and makes their folders. If the path ends with a slash, it is a folder for the files
 * stdout, stderr and seq. Any other path is the file for the output; beside it are PATH.err and PATH.seq. */
int task_files_write(const char *path, uint64_t number, const void *out, size_t out_bytes, const void *err,
                     size_t err_bytes, struct error *error);
