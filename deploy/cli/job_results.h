/* SPDX-License-Identifier: MIT */
/* Prints the output of a job of tasks, in their order, from its output files or, before these are complete, from their
 * parts. What was printed from the parts is the beginning of the files. */
#pragma once

#include "deploy/cli/follow.h"
#include "deploy/cli/job_view.h"

#include <limits.h>
#include <stdbool.h>

struct job_printed {
    char output[PATH_MAX];
    int to[2]; /* descriptors for output and errors; -1: not printed */
    struct follow follow;
    bool is_followed;
};

/* True for a job of tasks that has begun. */
bool job_results_has(const struct job_view *view);

/* Begins reading, from the files if the job is over. On failure job_results_end() is not needed. */
int job_results_begin(struct job_printed *results, const struct job_view *view, int out, int err, struct error *error);

/* Prints new output from the parts without waiting for a reader. */
int job_results_look(struct job_printed *results, struct error *error);

/* Prints all remaining output. */
int job_results_end(struct job_printed *results, bool is_over, struct error *error);
