/* SPDX-License-Identifier: MIT */
/* `hdss simulate --jobs`: simulates a set with the jobs of a file. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/simulation.h"

int simulate_jobs(const struct simulation *asked, int argc, char **argv, struct error *error);

int simulate_jobs_check(const struct simulation *asked, int argc, char **argv, struct error *error);
