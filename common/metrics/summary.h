/* SPDX-License-Identifier: MIT */
/* The summary of a run for the terminal: the most important figures of the report, and bars with the share of
 * computing time. Each master has a bar; in the central topology each worker has one instead. */
#pragma once

#include "common/metrics/report.h"

#define SUMMARY_BARS_MAX 16

/* Writes several lines, at most `width` (60 .. 100) columns wide except for file names and failures. report_compute()
 * must have been called. The caller frees the text; NULL if memory runs out. */
char *summary_text(const struct report *report, unsigned width, bool utf8);
