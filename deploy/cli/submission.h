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
    const char *set;
    const char *name;
    int64_t priority;
    unsigned weight;
    const char *after[SUBMISSION_AFTER_MAX];
    size_t after_count;
    bool waits, leaves, quiet, is_json, is_open;
    struct sources *sources;
    bool stays_open;
    /* With `waits`: callbacks of a caller that prints the job's output itself. The job then ends with this process.
     * NULL: there is no such caller. */
    const struct launch_side *side;
};

#define SUBMISSION_DEFAULT                                                                                             \
    {                                                                                                                  \
        .weight = 1                                                                                                    \
    }

/* Submits the job with these words, of which the first names a program. If the request waits, waits for the job's end;
 * otherwise prints the job's ID. `*asked` is set if a signal has come while it waited. `options`, `argc` and `argv` are
 * those of the command, for messages about mistakes. Returns an exit status; `error` is empty if a message was
 * printed. */
int submission_make(const char *program, const struct submission_request *request, const struct argv *job,
                    const struct options *options, int argc, char *const *argv, bool *asked, struct error *error);
