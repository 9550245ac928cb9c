/* SPDX-License-Identifier: MIT */
/* The page that `hdss run --html` makes of the run when it is over: its trace and its report are written for it where
 * they were not asked for, and removed again. */
#pragma once

#include "common/config/job.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"

#include <stdbool.h>

struct run_page {
    char html[JOB_PATH_MAX];      /* empty: no page is wanted */
    const char *trace, *report;   /* as they were asked for; borrowed; NULL: they were not */
    char *own_trace, *own_report; /* those that are written for the page alone; owned */
};

/* Notes an option of the job, if it is one of these two. */
void run_page_note(struct run_page *page, const char *name, const char *value);

/* Adds to the words of the job what the page needs; `has_trace`: the run can have one. -1 with one line. */
int run_page_prepare(struct run_page *page, struct argv *job, bool has_trace, struct error *error);

/* Makes the page, of what is there. -1 with one line. */
int run_page_make(const struct run_page *page, struct error *error);

/* Removes what was written for the page alone. */
void run_page_fini(struct run_page *page);
