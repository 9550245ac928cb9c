/* SPDX-License-Identifier: MIT */
/* The environment with which this process was started, while it has that of a job in its place: what it says of this
 * process and its node is not what the job's says. */
#pragma once

/* Has this be the process's own, while `environ` is another's; NULL: `environ` is. */
void own_environment_keep(char **own);

/* The value of a variable of the process's own; NULL: it is not set. */
const char *own_environment_get(const char *name);

/* The value of a variable that the job at hand brings with it; NULL: it has none, or the process has its own. */
const char *own_environment_of_job(const char *name);
