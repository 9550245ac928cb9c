/* SPDX-License-Identifier: MIT */
/* Giving items to an open job of a set, in requests of some size, each of which is answered before the next one: what
 * reads a pipe does not read on while the set writes, and whoever writes there waits. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/sources.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct feed {
    const char *set; /* its name; borrowed */
    uint64_t job;    /* its number */
    struct control_client client;
    int64_t asked_ms;    /* when the set was last asked */
    json_t *rows;        /* that are to be sent, [count] of [bytes]; owned */
    size_t count, bytes; /* bytes: of their fields */
    uint64_t added;      /* items that were taken */
    uint64_t items;      /* that the job has by now, as it was last told */
    bool is_complete;    /* likewise */
    int status;          /* of HTTP: the answer to what was refused, else 0 */
    bool is_unknown;     /* there was no answer */
};

/* `path` is that of the set's socket. */
void feed_init(struct feed *feed, const char *path, const char *set, uint64_t job);
void feed_fini(struct feed *feed);

/* Adds all rows of sources that have begun; with `ends` these are the last ones. -1 with one line: those of
 * feed->added are added. */
int feed_rows(struct feed *feed, struct sources *sources, bool ends, struct error *error);

/* Adds iterations, or nothing, and with `ends` says that these are all. -1 with one line. */
int feed_iterations(struct feed *feed, uint64_t iterations, bool ends, struct error *error);

/* True where standard input has something for which nobody sits there: a file, a pipe or a socket. */
bool feed_has_input(void);

/* Adds all rows of sources that have begun, or where these are NULL the lines of standard input, as they come, and with
 * `ends` says that these are all. Says on behalf of `program` what is wrong: then the job is complete with what was
 * added before. Returns an exit status; EXIT_STATUS_DONE also where the job took no more. */
int feed_all(const char *program, struct feed *feed, struct sources *sources, bool ends);

/* Begins a process that does so. -1 with one line. */
pid_t feed_begin(const char *program, const struct feed *feed, struct sources *sources, bool ends, struct error *error);

/* Ends that process, should it still be there. Returns its exit status; EXIT_STATUS_DONE where nothing was wrong, or
 * the job took no more. */
int feed_end(pid_t process);

/* The exit status for what feed_rows() or feed_iterations() has said. */
int feed_exit_status(const struct feed *feed);
