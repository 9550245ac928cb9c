/* SPDX-License-Identifier: MIT */
/* `hdss simulate --jobs`: what becomes of the jobs that a file lists in a set. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/simulation.h"

/* Simulates the set, of which the command line has been read, and prints what became of its jobs. Returns the exit
 * status; -1 with one line. */
int simulate_jobs(const struct simulation *asked, int argc, char **argv, struct error *error);

/* Checks whether it can do so. -1 with one line. */
int simulate_jobs_check(const struct simulation *asked, int argc, char **argv, struct error *error);
