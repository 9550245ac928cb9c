/* SPDX-License-Identifier: MIT */
/* A spare helper is a process that has started a Python interpreter, has imported the package, and waits for a job of
 * the package. Such a job then need not wait for an interpreter. Each worker of a set has one spare helper. If
 * SPARE_VARIABLE names the folder of the package, the spare helper starts with the worker. Otherwise it starts after
 * the first such job.
 *
 * The spare helper becomes the job's helper itself; it is not forked. It gets the words, folder, umask and environment
 * of the job. If the environment of a job needs another interpreter, the job gets an ordinary helper. */
#pragma once

#include "worker/helper/start.h"

#include <sys/types.h>

/* First word of a spare helper's command line; the second word is the folder of the package. */
#define HELPER_IS_SPARE "--spare"

#define SPARE_VARIABLE "HDSS_PYTHON_WARM"

/* The worker calls the next two functions, always in the same thread. */

/* Starts a spare helper if there is none and the folder of the package is known. Must not be called between
 * surroundings_enter() and surroundings_leave(). */
void spare_keep(void);

/* Gives the job to the spare helper. Returns its process ID; 0: there is no suitable spare helper. */
pid_t spare_give(struct helper_program *program, int file, int bell);

/* For the helper: imports the package from `folder` and waits for a job at `socket`, which is CHANNEL_FILE. Then this
 * process takes over the files, folder, umask and environment of the job, and sets `*argc` and `*argv` to its words.
 * Exits if no job comes. */
void spare_wait(int socket, const char *folder, int *argc, char ***argv);
