/* SPDX-License-Identifier: MIT */
/* Adds items to an open job of a set. A request is sent only after the previous one was answered. So a pipe is read no
 * faster than the set writes the items. */
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
    json_t *rows;
    size_t count, bytes;
    uint64_t added;
    uint64_t items;
    bool is_complete;
    int status;
    bool is_unknown; /* a request was not answered, and may have been carried out */
};

void feed_init(struct feed *feed, const char *path, const char *set, uint64_t job);
void feed_fini(struct feed *feed);

/* Adds all rows of the sources. `ends`: tells the job that no further rows will come. After a failure feed->added says
 * how many rows were added. */
int feed_rows(struct feed *feed, struct sources *sources, bool ends, struct error *error);

int feed_iterations(struct feed *feed, uint64_t iterations, bool ends, struct error *error);

bool feed_has_input(void);

/* Adds all rows of the sources or, if `sources` is NULL, the lines of standard input. `ends`: tells the job that no
 * further rows will come. Prints errors as `program`. After an error it completes the job with the rows that were
 * added. Returns an exit status, which is EXIT_STATUS_DONE also if the job accepts no more rows. */
int feed_all(const char *program, struct feed *feed, struct sources *sources, bool ends);

/* Starts a process that calls feed_all(). Returns its ID. */
pid_t feed_begin(const char *program, const struct feed *feed, struct sources *sources, bool ends, struct error *error);

/* Kills the process of feed_begin() if it still runs. Returns EXIT_STATUS_DONE if it was killed, otherwise the exit
 * status of feed_all(). */
int feed_end(pid_t process);

int feed_exit_status(const struct feed *feed);
