/* SPDX-License-Identifier: MIT */
/* Adds items to an open job of a set. The next request is sent only after the answer to the last one, so a pipe is
 * read no faster than the set writes. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/sources.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct feed {
    const char *set;
    uint64_t job;
    struct control_client client;
    int64_t asked_ms;
    json_t *rows; /* not sent yet */
    size_t count, bytes;
    uint64_t added; /* by the set */
    uint64_t items; /* items of the job, by the last answer; likewise `is_complete` */
    bool is_complete;
    int status;      /* HTTP status if the set has refused a request; otherwise 0 */
    bool is_unknown; /* a request was not answered */
};

void feed_init(struct feed *feed, const char *path, const char *set, uint64_t job);
void feed_fini(struct feed *feed);

/* Adds all rows of the sources; `ends`: no others will follow. After a failure feed->added says how many were added. */
int feed_rows(struct feed *feed, struct sources *sources, bool ends, struct error *error);

int feed_iterations(struct feed *feed, uint64_t iterations, bool ends, struct error *error);

bool feed_has_input(void);

/* Adds all rows of the sources or, if they are NULL, the lines of standard input as they come; `ends`: no others
 * will follow. Prints errors as `program`; after one the job is complete with the rows so far. Returns an exit
 * status, EXIT_STATUS_DONE also if the job accepts no more. */
int feed_all(const char *program, struct feed *feed, struct sources *sources, bool ends);

/* Starts a process that calls feed_all(). */
pid_t feed_begin(const char *program, const struct feed *feed, struct sources *sources, bool ends, struct error *error);

/* Ends that process if it still runs. Returns its exit status, which is that of feed_all(). */
int feed_end(pid_t process);

int feed_exit_status(const struct feed *feed);
