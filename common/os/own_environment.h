/* SPDX-License-Identifier: MIT */
/* The environment that this process was started with. While a job of a set runs, `environ` is the job's, but the
 * process still takes facts about itself and its node from its own. */
#pragma once

/* Declares `own` as the process's environment while `environ` belongs to a job; NULL: `environ` is its own. */
void own_environment_keep(char **own);

const char *own_environment_get(const char *name);

/* Returns a variable of the present job; NULL if it is not set or `environ` is not a job's. */
const char *own_environment_of_job(const char *name);
