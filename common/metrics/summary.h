/* SPDX-License-Identifier: MIT */
/* The summary of a run for the terminal: the figures of the report that people ask for first, and a bar for each
 * master (in the central topology for each worker) with the share of the time that its workers computed. */
#pragma once

#include "common/metrics/report.h"

#define SUMMARY_BARS_MAX 16

/* Several lines, each ending in a newline and, file names and failures apart, at most `width` (taken as 60 .. 100)
 * columns wide. Needs report_compute(). The caller frees the text; NULL when memory is out. */
char *summary_text(const struct report *report, unsigned width, bool utf8);
