/* SPDX-License-Identifier: MIT */
/* Prints the output of a job of tasks, in the order of the tasks. Reads the job's output files or, until these are
 * complete, the parts. The text of the files begins with the text of the parts. */
#pragma once

#include "deploy/cli/follow.h"
#include "deploy/cli/job_view.h"

#include <limits.h>
#include <stdbool.h>

struct job_printed {
    char output[PATH_MAX];
    int to[2];
    struct follow follow;
    bool is_followed;
};

bool job_results_has(const struct job_view *view);

/* Reads from the files if the job is over. If it fails, job_results_end() need not be called. */
int job_results_begin(struct job_printed *results, const struct job_view *view, int out, int err, struct error *error);

int job_results_look(struct job_printed *results, struct error *error);

int job_results_end(struct job_printed *results, bool is_over, struct error *error);
