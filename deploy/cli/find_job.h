/* SPDX-License-Identifier: MIT */
/* Finds the jobs that an operand of a command names. */
#pragma once

#include "deploy/cli/job_view.h"

/* Returns the number in "NAME/3" or "3"; 0: there is none. */
uint64_t find_job_number(const char *word);

/* Adds the job that `word` names. `word` is one of these: "SET/3" or "SET/NAME"; "3" or "NAME" in the set that
 * sets_find() finds for `set`; or a unique beginning of a run's name. If several jobs have the name, adds the job that
 * is not over, or else the latest one. */
int find_job(struct job_list *found, const char *set, const char *word, struct error *error);

int find_all_jobs(struct job_list *found, const char *set, struct error *error);

/* Adds the only job that is not over: in the set that `set` or HDSS_SET names, otherwise on this machine. */
int find_only_job(struct job_list *found, const char *set, struct error *error);
