/* SPDX-License-Identifier: MIT */
/* Finding the jobs that the words of a command line name: those of runs, and those of sets. */
#pragma once

#include "deploy/cli/job_view.h"

/* The number behind the last '/' of "NAME/3", or all of "3". 0 where there is none. */
uint64_t find_job_number(const char *word);

/* Adds the job that the word names: "SET/3", or "3" in the set that is meant (`set` as for sets_find(), and HDSS_SET),
 * or in the place of the number the name that the job was given; or else a run by how its name begins. Of jobs of one
 * name the one is meant that is not over, or else the latest. -1 with one line. */
int find_job(struct job_list *found, const char *set, const char *word, struct error *error);

/* Adds all jobs of the set that are not over. -1 with one line. */
int find_all_jobs(struct job_list *found, const char *set, struct error *error);

/* Adds the only job that there is, of the set where one is given. -1 with one line. */
int find_only_job(struct job_list *found, const char *set, struct error *error);
