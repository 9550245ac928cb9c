/* SPDX-License-Identifier: MIT */
/* The folder of a set: `queue` (queue_journal.h), and `jobs` with what each job has printed, ID.out and ID.err. */
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

/* Removes what jobs have printed that the queue does not have: of an earlier set, or forgotten in its last moment. */
void set_folder_clear(const struct set_folder *folder, const struct queue *queue);

/* Removes what the job has printed. */
void set_folder_remove(const struct set_folder *folder, uint64_t job);

/* Opens what the job has printed, for the caller to close. -1 with errno. */
int set_folder_read(const struct set_folder *folder, uint64_t job, enum control_stream stream);

/* Opens it for writing, behind what is there where it `goes_on`, else anew. -1 with errno. */
int set_folder_write(const struct set_folder *folder, uint64_t job, enum control_stream stream, bool goes_on);
