/* SPDX-License-Identifier: MIT */
/* Report of a simulated run, common to all backends. */
#pragma once

#include "common/metrics/report.h"
#include "deploy/simulate/simulation.h"

/* Adds the kernel, its values and the simulation to the report, prints the summary and writes the report. If the run is
 * only timed, stores the times and does nothing else. Returns `status`, or another exit status if the report cannot be
 * written. */
int simulation_print_report(const struct simulation *simulation, struct report *report, int status);
