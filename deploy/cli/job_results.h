/* SPDX-License-Identifier: MIT */
/* What the tasks of a job of a set have printed, from the files of its output, or from their parts as long as these
 * are not complete. Tasks come in their order, so that what was read of the parts is how the files begin. */
#pragma once

#include "deploy/cli/follow.h"
#include "deploy/cli/job_view.h"

#include <limits.h>
#include <stdbool.h>

struct job_printed {
    char output[PATH_MAX];
    int to[2]; /* descriptors for what tasks print, and for their errors; -1: it is not printed */
    struct follow follow;
    bool is_followed;
};

/* True for a job of tasks that has begun. */
bool job_results_has(const struct job_view *view);

/* Begins to read: from the files where the job is over. -1 with one line, and there is nothing to end. */
int job_results_begin(struct job_printed *results, const struct job_view *view, int out, int err, struct error *error);

/* Prints what is new in the parts, as far as that does not wait for a reader. -1 with one line. */
int job_results_look(struct job_printed *results, struct error *error);

/* Prints all that is there by now. -1 with one line. */
int job_results_end(struct job_printed *results, bool is_over, struct error *error);
