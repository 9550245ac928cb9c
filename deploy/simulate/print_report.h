/* SPDX-License-Identifier: MIT */
/* The report of a simulated run at its end, the same for every backend. */
#pragma once

#include "common/metrics/report.h"
#include "deploy/simulate/simulation.h"

/* Completes the report, to which the run has given its figures, the version and the start-up time; prints the summary
 * and writes the report. Returns the exit status, `status` unless the report cannot be written. */
int simulation_print_report(const struct simulation *simulation, struct report *report, int status);
