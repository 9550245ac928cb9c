/* SPDX-License-Identifier: MIT */
/* Adds items to an open job of a set. Each request is answered before the next one is sent, so a pipe is read only as
 * fast as the set writes. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/sources.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct feed {
    const char *set; /* name; borrowed */
    uint64_t job;
    struct control_client client;
    int64_t asked_ms;    /* time of the last request */
    json_t *rows;        /* not sent yet: `count` rows of `bytes` bytes; owned */
    size_t count, bytes; /* bytes: of the fields */
    uint64_t added;      /* items accepted */
    uint64_t items;      /* items of the job, from the last answer */
    bool is_complete;    /* likewise */
    int status;          /* HTTP status of a refusal, else 0 */
    bool is_unknown;     /* a request was not answered */
};

/* `path`: the set's socket. */
void feed_init(struct feed *feed, const char *path, const char *set, uint64_t job);
void feed_fini(struct feed *feed);

/* Adds all rows of the sources; `ends`: these are the last. On failure feed->added rows were added. */
int feed_rows(struct feed *feed, struct sources *sources, bool ends, struct error *error);

/* Adds iterations (may be 0); `ends`: these are the last. */
int feed_iterations(struct feed *feed, uint64_t iterations, bool ends, struct error *error);

/* True if standard input is a file, pipe or socket. */
bool feed_has_input(void);

/* Adds all rows of the sources, or if NULL the lines of standard input as they come; `ends`: these are the last. Prints
 * errors as `program`; the job is then complete with the rows added so far. Returns an exit status; EXIT_STATUS_DONE
 * also if the job accepts no more. */
int feed_all(const char *program, struct feed *feed, struct sources *sources, bool ends);

/* Starts a process that does the same. */
pid_t feed_begin(const char *program, const struct feed *feed, struct sources *sources, bool ends, struct error *error);

/* Ends that process if it still runs. Returns its exit status, as of feed_all(). */
int feed_end(pid_t process);

/* Exit status after a failure of feed_rows() or feed_iterations(). */
int feed_exit_status(const struct feed *feed);
