/* SPDX-License-Identifier: MIT */
/* Files of each task, as GNU parallel's --results makes them. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdint.h>

/* Makes the name of a task's folder, "FOLDER/1/ARG/2/ARG/", of the names and the texts of its columns; a slash in them
 * becomes \_ and a backslash \\. -1 with one line where it is too long. */
int task_files_layout(char path[PATH_MAX], const char *folder, const char *const *names, const char *const *texts,
                      unsigned columns, struct error *error);

/* Writes a task's files and makes their folders. A path that ends in a slash is a folder for stdout, stderr and seq;
 * another one is the file of its output, with PATH.err and PATH.seq beside it. -1 with one line. */
int task_files_write(const char *path, uint64_t number, const void *out, size_t out_bytes, const void *err,
                     size_t err_bytes, struct error *error);
