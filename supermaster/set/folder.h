/* SPDX-License-Identifier: MIT */
/* The folder of a set: `queue` (queue_journal.h), and `jobs` with the output of each job, ID.out and ID.err, and the
 * task list of an open one, ID.list (items.h). */
#pragma once

#include "common/config/serve_options.h"
#include "common/control/route.h"
#include "common/util/error.h"
#include "supermaster/queue.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct set_folder {
    char path[PATH_MAX]; /* absolute, because the process changes its working directory with each job */
    char queue_path[PATH_MAX];
    int fd; /* owned; -1: not open */
};

/* Opens the folder named by the options and creates it if necessary. */
int set_folder_open(struct set_folder *folder, const struct serve_options *options, struct error *error);
void set_folder_close(struct set_folder *folder);

/* Removes the output of jobs that are not in the queue: of an earlier set, if the queue was begun `anew`, or of jobs
 * just forgotten. Output that belongs to jobs lost by a damaged queue stays: of any job while the damaged file is kept,
 * and of jobs after the newest. Returns the largest job number with output that stays. */
uint32_t set_folder_clear(const struct set_folder *folder, const struct queue *queue, bool anew);

void set_folder_remove(const struct set_folder *folder, uint64_t job);

/* The path of the job's list; job 0: of an empty list. */
const char *set_folder_list(const struct set_folder *folder, uint64_t job, char path[PATH_MAX]);

/* Opens the list of a job; `anew`: creates it with its head, whose size is in `*bytes`. -1 with errno. */
int set_folder_open_list(const struct set_folder *folder, uint64_t job, bool anew, uint64_t *bytes);
void set_folder_remove_list(const struct set_folder *folder, uint64_t job);

/* Opens the job's output for reading. -1 with errno. */
int set_folder_read(const struct set_folder *folder, uint64_t job, enum control_stream stream);

/* Opens the job's output for writing; `goes_on`: appends. -1 with errno. */
int set_folder_write(const struct set_folder *folder, uint64_t job, enum control_stream stream, bool goes_on);
