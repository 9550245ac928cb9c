/* SPDX-License-Identifier: MIT */
/* The supermaster's part of the final report. */
#pragma once

#include "common/metrics/report.h"
#include "supermaster/supermaster.h"

/* Fills in what the run knows. `rows` has room for every worker and is borrowed by the report. The program adds kernel,
 * times of day and output. */
void supermaster_fill_report(const struct supermaster *supermaster, struct report *report, struct report_worker *rows);
