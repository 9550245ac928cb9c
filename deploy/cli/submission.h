/* SPDX-License-Identifier: MIT */
/* Submits a job to a set, for several commands. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/sources.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBMISSION_AFTER_MAX 64

struct submission_request {
    const char *set;  /* NULL: the default set */
    const char *name; /* NULL: none */
    int64_t priority;
    unsigned weight;
    const char *after[SUBMISSION_AFTER_MAX]; /* IDs of jobs that must be done before; borrowed */
    size_t after_count;
    bool waits, leaves, quiet, is_json, is_open;
    struct sources *sources; /* its rows, which are open; NULL: none */
    bool stays_open;
    /* With `waits`: prints the job's output, and ends with this process; NULL: nothing does. */
    const struct launch_side *side;
};

#define SUBMISSION_DEFAULT                                                                                             \
    {                                                                                                                  \
        .weight = 1                                                                                                    \
    }

/* Submits the job with these words, of which the first names a program. Prints its ID, or waits for its end.
 * `*asked`: a signal has told it to end. For messages about mistakes, `options`, `argc` and `argv` are those of the
 * command. Returns an exit status; the error is empty if it was printed. */
int submission_make(const char *program, const struct submission_request *request, const struct argv *job,
                    const struct options *options, int argc, char *const *argv, bool *asked, struct error *error);
