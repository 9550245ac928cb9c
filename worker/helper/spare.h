/* SPDX-License-Identifier: MIT */
/* A spare helper: a process that has started an interpreter and imported the Python package, and waits for a job of the
 * package. In a set each worker has one, so that a program need not wait for interpreters: from the start on if
 * SPARE_VARIABLE names the folder of the package, else from the end of the first such job on.
 *
 * The helper that takes a job is this process, not a copy of it: it gets the words, folder, umask and environment of
 * the job. A job whose environment asks for another interpreter gets a helper of its own. */
#pragma once

#include "worker/helper/start.h"

#include <sys/types.h>

/* First word of its command line; the second one is the folder of the package. */
#define HELPER_IS_SPARE "--spare"

#define SPARE_VARIABLE "HDSS_PYTHON_WARM"

/* --- in the worker; for one thread --- */

/* Starts a spare helper, if there is none and the folder of the package is known. Called in the surroundings of the
 * process. */
void spare_keep(void);

/* Has the spare helper take the job. Returns its process, or 0 if there is none that can. Called in the job's
 * surroundings. */
pid_t spare_give(struct helper_program *program, int file, int bell);

/* --- in the helper --- */

/* Prepares the interpreter with the package in `folder` and waits at `socket`, which is CHANNEL_FILE, for a job. Then
 * the process has the files, folder, umask and environment of the job, and its words in `*argc` and `*argv`. Ends the
 * process if no job comes. */
void spare_wait(int socket, const char *folder, int *argc, char ***argv);
