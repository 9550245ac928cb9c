/* SPDX-License-Identifier: MIT */
/* The folder of a set. It contains the file `queue` (queue_journal.h) and the folder `jobs`. `jobs` contains the output
 * of each job, ID.out and ID.err, and the task list of each open job, ID.list (items.h). */
#pragma once

#include "common/config/serve_options.h"
#include "common/control/route.h"
#include "common/util/error.h"
#include "supermaster/queue.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct set_folder {
    char path[PATH_MAX]; /* an absolute path, because the process changes its working directory for each job */
    char queue_path[PATH_MAX];
    int fd; /* owned; -1: not open */
};

int set_folder_open(struct set_folder *folder, const struct serve_options *options, struct error *error);
void set_folder_close(struct set_folder *folder);

/* Removes the output of jobs that are not in the queue, and returns the largest number of a job whose output stays.
 *
 * If the queue was begun `anew`, the output of all jobs of an earlier set is removed. Otherwise only the output of jobs
 * that the queue has forgotten is removed: output of jobs with higher numbers than the newest job of the queue stays.
 * As long as a damaged queue file is kept, all output stays, because the queue may have lost jobs. */
uint32_t set_folder_clear(const struct set_folder *folder, const struct queue *queue, bool anew);

void set_folder_remove(const struct set_folder *folder, uint64_t job);

/* Writes the path of the job's task list to `path`, and returns `path`. For job 0 this is the path of an empty list. */
const char *set_folder_list(const struct set_folder *folder, uint64_t job, char path[PATH_MAX]);

/* Opens the task list of a job, and sets `*bytes` to its size. `anew`: creates a list that has only the first line.
 * Returns a descriptor, or -1 with errno. */
int set_folder_open_list(const struct set_folder *folder, uint64_t job, bool anew, uint64_t *bytes);
void set_folder_remove_list(const struct set_folder *folder, uint64_t job);

int set_folder_read(const struct set_folder *folder, uint64_t job, enum control_stream stream);

/* Opens a file for the output of a job. `goes_on`: new output is appended to earlier output. This function and
 * set_folder_read() return a descriptor, or -1 with errno. */
int set_folder_write(const struct set_folder *folder, uint64_t job, enum control_stream stream, bool goes_on);
