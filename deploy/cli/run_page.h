/* SPDX-License-Identifier: MIT */
/* The page of `hdss run --html`: the page of `hdss report` with the run's trace and report. If the user has not asked
 * for these files, they are written for the page and then removed. */
#pragma once

#include "common/config/job.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"

#include <stdbool.h>

struct run_page {
    char html[JOB_PATH_MAX];
    const char *trace, *report;
    char *own_trace, *own_report; /* files for the page alone; owned */
};

void run_page_note(struct run_page *page, const char *name, const char *value);

/* Adds the options that the page needs. `has_trace`: the run can write a trace. */
int run_page_prepare(struct run_page *page, struct argv *job, bool has_trace, struct error *error);

int run_page_make(const struct run_page *page, struct error *error);

void run_page_fini(struct run_page *page);

/* A fixed text of the page. `then` names what follows the text: "trace", "report" or "name"; NULL: nothing. embed.py
 * makes these texts from the files in report/page/. */
struct page_part {
    const char *text, *then;
};

extern const struct page_part page_parts[];
