/* SPDX-License-Identifier: MIT */
/* The environment that this process was started with, while `environ` is that of a job: facts about the process and its
 * node come from its own. */
#pragma once

/* Declares `own` as the process's environment while `environ` belongs to a job; NULL: `environ` is its own. */
void own_environment_keep(char **own);

/* A variable of the process's own environment; may be NULL. */
const char *own_environment_get(const char *name);

/* A variable of the present job's environment; NULL if it is not set or no job's environment is active. */
const char *own_environment_of_job(const char *name);
