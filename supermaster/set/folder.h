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

int set_folder_open(struct set_folder *folder, const struct serve_options *options, struct error *error);
void set_folder_close(struct set_folder *folder);

/* Removes the output of jobs that are not in the queue: jobs of an earlier set if the queue was begun `anew`, or jobs
 * that the queue has forgotten. All output stays while a damaged queue file is kept, because the queue may have lost
 * jobs. Unless the queue was begun `anew`, output of jobs with larger numbers than its newest job stays, too. Returns
 * the largest number of a job whose output stays. */
uint32_t set_folder_clear(const struct set_folder *folder, const struct queue *queue, bool anew);

void set_folder_remove(const struct set_folder *folder, uint64_t job);

/* Writes the path of the job's task list to `path`, which it returns. Job 0 stands for an empty list. */
const char *set_folder_list(const struct set_folder *folder, uint64_t job, char path[PATH_MAX]);

/* Opens the list of a job and sets `*bytes` to its size. `anew`: creates it with only its first line. Returns a
 * descriptor, or -1 with errno. */
int set_folder_open_list(const struct set_folder *folder, uint64_t job, bool anew, uint64_t *bytes);
void set_folder_remove_list(const struct set_folder *folder, uint64_t job);

int set_folder_read(const struct set_folder *folder, uint64_t job, enum control_stream stream);

/* `goes_on`: appends to earlier output. Returns a descriptor, or -1 with errno, as set_folder_read() does. */
int set_folder_write(const struct set_folder *folder, uint64_t job, enum control_stream stream, bool goes_on);
