/* SPDX-License-Identifier: MIT */
/* Finds the jobs that an operand of a command names. */
#pragma once

#include "deploy/cli/job_view.h"

/* The number in "NAME/3" or "3"; 0: there is none. */
uint64_t find_job_number(const char *word);

/* Adds the job that `word` names: "SET/3"; "3" in the set that sets_find() finds for `set`; the same with a job's
 * name for the number; or a run, by the beginning of its name if only one run has it. If several jobs have the name,
 * the one that is not over is meant, otherwise the latest. */
int find_job(struct job_list *found, const char *set, const char *word, struct error *error);

int find_all_jobs(struct job_list *found, const char *set, struct error *error);

/* Adds the only job there is, of the set if one is given. */
int find_only_job(struct job_list *found, const char *set, struct error *error);
