/* SPDX-License-Identifier: MIT */
/* Handing a job to a set, for the commands that do. */
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
    const char *set;                         /* borrowed; NULL: the one that is found */
    const char *name;                        /* of the job; borrowed; NULL: none */
    int64_t priority;                        /* higher first */
    unsigned weight;                         /* the share of the workers among jobs of the same priority */
    const char *after[SUBMISSION_AFTER_MAX]; /* IDs of jobs that must be done before; borrowed */
    size_t after_count;
    bool waits, leaves, quiet, is_json, is_open;
    struct sources *sources; /* that have begun: its rows; borrowed; NULL: it has none */
    bool stays_open;         /* others add rows behind those */
    /* With `waits`: follows what the job prints, and belongs to this process, with which it ends; NULL: nobody does. */
    const struct launch_side *side;
};

#define SUBMISSION_DEFAULT                                                                                             \
    {                                                                                                                  \
        .weight = 1                                                                                                    \
    }

/* Hands over the job of these words, of which the first is the name of a program; prints its ID, or is there until it
 * is over; `*asked`: a signal asked it to end. `options`, `argc` and `argv` are the command's, for what people mistake
 * in them. Returns the exit status; the error is empty where all is said. */
int submission_make(const char *program, const struct submission_request *request, const struct argv *job,
                    const struct options *options, int argc, char *const *argv, bool *asked, struct error *error);
