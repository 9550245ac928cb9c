/* SPDX-License-Identifier: MIT */
/* Finds the jobs of runs and sets that command-line operands name. */
#pragma once

#include "deploy/cli/job_view.h"

/* The number in "NAME/3" or "3"; 0: there is none. */
uint64_t find_job_number(const char *word);

/* Adds the job that the operand names: "SET/3"; "3" in the set chosen by `set` as for sets_find(); a job's name instead
 * of the number; or a run by a unique prefix of its name. Of several jobs with one name it takes the one that is not
 * over, else the latest. */
int find_job(struct job_list *found, const char *set, const char *word, struct error *error);

/* Adds all jobs of the set that are not over. */
int find_all_jobs(struct job_list *found, const char *set, struct error *error);

/* Adds the only job, of the set if one is given. */
int find_only_job(struct job_list *found, const char *set, struct error *error);
