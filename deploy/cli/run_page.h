/* SPDX-License-Identifier: MIT */
/* The page that `hdss run --html` makes of the run when it is over: that of `hdss report`, with the trace and the
 * report of the run put in as they are. Where these were not asked for they are written for it, and removed again. */
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

/* The page, made of the files in report/page/ by embed.py: texts, and behind each but the last the name of what is put
 * in there. */
struct page_part {
    const char *text, *then; /* then: NULL for the last one */
};

extern const struct page_part page_parts[];
