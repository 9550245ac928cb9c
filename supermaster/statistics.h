/* SPDX-License-Identifier: MIT */
/* The supermaster's part of the final report. */
#pragma once

#include "common/metrics/report.h"
#include "supermaster/supermaster.h"

/* Fills in the report, except for the kernel, the times of day and the output. The program adds these. `rows` must have
 * room for all workers, and the report borrows it. */
void supermaster_fill_report(const struct supermaster *supermaster, struct report *report, struct report_worker *rows);
