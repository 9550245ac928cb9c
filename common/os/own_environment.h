/* SPDX-License-Identifier: MIT */
/* The environment with which this process was started. While a job of a set runs, `environ` is the environment of the
 * job. Facts about the process and its node must then come from the process's own environment. */
#pragma once

/* Declares that `environ` belongs to a job and that `own` is the environment of the process. If `own` is NULL,
 * `environ` is the environment of the process. */
void own_environment_keep(char **own);

const char *own_environment_get(const char *name);

const char *own_environment_of_job(const char *name);
