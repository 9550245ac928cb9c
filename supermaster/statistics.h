/* SPDX-License-Identifier: MIT */
/* The supermaster's knowledge at the end, as a report. */
#pragma once

#include "common/metrics/report.h"
#include "supermaster/supermaster.h"

/* Fills all of the report that the run itself knows; `rows` has room for every worker and is borrowed by the report.
 * The program adds the kernel, the times of day and the output. */
void supermaster_fill_report(const struct supermaster *supermaster, struct report *report, struct report_worker *rows);
