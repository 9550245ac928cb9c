/* SPDX-License-Identifier: MIT */
/* A spare helper: a process that has started a Python interpreter and imported the package, and waits for a job of the
 * package, so that a program does not wait for interpreters. Each worker of a set has one: from its start if
 * SPARE_VARIABLE names the folder of the package, otherwise from the end of the first such job.
 *
 * The process that waits becomes the job's helper; it is not copied. It gets the words, folder, umask and environment
 * of the job. A job whose environment needs another interpreter gets an ordinary helper. */
#pragma once

#include "worker/helper/start.h"

#include <sys/types.h>

/* First word of its command line; the second one is the folder of the package. */
#define HELPER_IS_SPARE "--spare"

#define SPARE_VARIABLE "HDSS_PYTHON_WARM"

/* The next two are for the worker, in one thread. */

/* Starts a spare helper if there is none and the folder of the package is known. Must not be called while the
 * surroundings of a job are set. */
void spare_keep(void);

/* Gives the job to the spare helper. Returns its process ID, or 0 if there is no suitable one. Must be called while the
 * surroundings of the job are set. */
pid_t spare_give(struct helper_program *program, int file, int bell);

/* For the helper. */

/* Imports the package from `folder` and waits for a job at `socket`, which is CHANNEL_FILE. Then this process has the
 * files, folder, umask and environment of the job; `*argc` and `*argv` are the job's words. Exits if no job comes. */
void spare_wait(int socket, const char *folder, int *argc, char ***argv);
