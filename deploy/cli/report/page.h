/* SPDX-License-Identifier: MIT */
/* The report of a run as a page of HTML that needs nothing but itself: the figures in words and tables stand in it as
 * they are, the charts are drawn by its script from the numbers in it. */
#pragma once

#include "common/util/text.h"
#include "deploy/cli/report/figures.h"
#include "deploy/cli/report/tree.h"

/* The page has at most so many events, and says how many more there are. */
#define PAGE_EVENTS_MAX 2000

/* What a page is made from. All is borrowed. */
struct page_content {
    const struct figures *figures;
    const struct run_trace *trace;   /* NULL: none; then the page has no charts of chunks */
    const struct run_tree *tree;     /* of the trace; NULL: none */
    const struct figures *simulated; /* of a simulation of the run, to be compared; NULL: none */
    const char *name;                /* of the file, for the end of the page */
};

/* Adds the page. */
void page_html(struct text *text, const struct page_content *content);

/* The title of the page and of its chart: "mandelbrot by gss: 4 workers". In UTF-8 if the names are. */
void page_title(struct text *text, const struct figures *figures);

/* The parts of the page that are always the same, made of the files in page/ by embed.py: text, and behind each but the
 * last the name of what follows it. */
struct page_part {
    const char *text, *then; /* then: NULL for the last one */
};

extern const struct page_part page_parts[];
