/* SPDX-License-Identifier: MIT */
/* The page of `hdss run --html`: that of `hdss report`, with the run's trace and report embedded. If the user did not
 * ask for these files, they are written for it and removed again. */
#pragma once

#include "common/config/job.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"

#include <stdbool.h>

struct run_page {
    char html[JOB_PATH_MAX];      /* empty: no page */
    const char *trace, *report;   /* the user's files; borrowed; NULL: none */
    char *own_trace, *own_report; /* written for the page only; owned */
};

/* Remembers an option of the job if it is --trace or --report. */
void run_page_note(struct run_page *page, const char *name, const char *value);

/* Adds the options that the page needs to the job; `has_trace`: the run can write a trace. */
int run_page_prepare(struct run_page *page, struct argv *job, bool has_trace, struct error *error);

/* Makes the page from the existing files. */
int run_page_make(const struct run_page *page, struct error *error);

/* Removes the files written for the page only. */
void run_page_fini(struct run_page *page);

/* The page: texts made from report/page/ by embed.py, each except the last followed by the name of what is embedded. */
struct page_part {
    const char *text, *then; /* then: NULL for the last one */
};

extern const struct page_part page_parts[];
