/* SPDX-License-Identifier: MIT */
/* The robustness of a simulated run against slow and lost workers. */
#pragma once

#include "common/metrics/report.h"
#include "common/util/error.h"
#include "deploy/simulate/simulation.h"

/* Makes the run once in the simulation's order, and notes its loop time where the simulation says. Returns the exit
 * status; -1 with one line. */
typedef int simulation_once(struct simulation *simulation, const char *version, struct error *error);

/* Makes the run some 40 times, undisturbed first. Of a run that does not come to its end, and of lost workers with
 * --dca, nothing is known. -1 with one line. */
int robust_measure(struct simulation *simulation, simulation_once *run_once, const char *version,
                   struct report_robustness *found, struct error *error);
