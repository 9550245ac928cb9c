/* SPDX-License-Identifier: MIT */
/* Finds the jobs that an operand of a command names. */
#pragma once

#include "deploy/cli/ask_control.h"
#include "deploy/cli/job_view.h"

/* Returns the number in "NAME/3" or "3"; 0: there is none. */
uint64_t find_job_number(const char *word);

/* Adds the job that `word` names. "SET/3" and "SET/NAME" name a job of that set. "3" and "NAME" name a job of the set
 * that sets_find() finds for `set`. Any other word may be the beginning of a run's name, if no other run's name begins
 * with it. If several jobs of a set have the name, adds the one that is not over. If all are over, adds the latest. */
int find_job(struct job_list *found, const char *set, const char *word, struct error *error);

int find_all_jobs(struct job_list *found, const char *set, enum listed listed, struct error *error);

/* Adds the only job that is not over. Looks in the set `set`, else in the set that HDSS_SET names, else at all jobs of
 * this machine. `may_be_all`: the command also takes --all, which the error then names. */
int find_only_job(struct job_list *found, const char *set, bool may_be_all, struct error *error);
