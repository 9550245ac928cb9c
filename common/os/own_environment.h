/* SPDX-License-Identifier: MIT */
/* The environment with which this process was started. While a job of a set runs, `environ` belongs to the job, but the
 * process still takes facts about itself and its node from its own environment. */
#pragma once

/* Declares `own` as the process's environment while `environ` belongs to a job; NULL: `environ` is its own. */
void own_environment_keep(char **own);

const char *own_environment_get(const char *name);

const char *own_environment_of_job(const char *name);
