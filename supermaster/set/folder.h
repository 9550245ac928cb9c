/* SPDX-License-Identifier: MIT */
/* The folder of a set: `queue` (queue_journal.h), and `jobs` with what each job has printed, ID.out and ID.err, and the
 * list of tasks of an open one, ID.list (items.h). */
#pragma once

#include "common/config/serve_options.h"
#include "common/control/route.h"
#include "common/util/error.h"
#include "supermaster/queue.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct set_folder {
    char path[PATH_MAX];       /* absolute: the process goes from folder to folder with its jobs */
    char queue_path[PATH_MAX]; /* of the file */
    int fd;                    /* owned; -1: not open */
};

/* Opens the folder of the options, which is made where it is not there. -1 with one line. */
int set_folder_open(struct set_folder *folder, const struct serve_options *options, struct error *error);
void set_folder_close(struct set_folder *folder);

/* Removes what jobs have printed that the queue does not have: of an earlier set where the queue was begun `anew`, or
 * forgotten in its last moment. What jobs have printed that a damaged queue may have lost stays: that of any job while
 * the damaged file is kept, and that of jobs behind the newest. Returns the largest number of a job of which something
 * stays. */
uint32_t set_folder_clear(const struct set_folder *folder, const struct queue *queue, bool anew);

/* Removes what the job has printed. */
void set_folder_remove(const struct set_folder *folder, uint64_t job);

/* The path of the list of a job; 0: of an empty one, which is there. */
const char *set_folder_list(const struct set_folder *folder, uint64_t job, char path[PATH_MAX]);

/* Opens the list of a job for reading and writing; with `anew` an empty one, of which `*bytes` are there. -1 with
 * errno. */
int set_folder_open_list(const struct set_folder *folder, uint64_t job, bool anew, uint64_t *bytes);
void set_folder_remove_list(const struct set_folder *folder, uint64_t job);

/* Opens what the job has printed, for the caller to close. -1 with errno. */
int set_folder_read(const struct set_folder *folder, uint64_t job, enum control_stream stream);

/* Opens it for writing, behind what is there where it `goes_on`, else anew. -1 with errno. */
int set_folder_write(const struct set_folder *folder, uint64_t job, enum control_stream stream, bool goes_on);
