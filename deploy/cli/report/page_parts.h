/* SPDX-License-Identifier: MIT */
/* What the files that write the page share: what it is made of, and who writes which part. */
#pragma once

#include "deploy/cli/report/page.h"

#include <stdbool.h>

struct page {
    struct text *text; /* borrowed, as all pointers here */
    const struct figures *figures;
    const struct run_trace *trace; /* NULL: none, as of the tree */
    const struct run_tree *tree;
    const struct figures *simulated; /* NULL: nothing to be compared with */
    const char *name;
    double tick_s; /* times are whole numbers of these in the page */
};

/* `word`, or `other` where there is none. */
const char *page_word_or(const char *word, const char *other);

static inline bool page_is_known(uint64_t count)
{
    return count != TRACE_UNKNOWN;
}

/* "1 worker", "1,234 workers". */
void page_count(struct text *text, uint64_t count, const char *one);

/* A figure that scripts and tests can find: its name and exact value, and the words for people. */
void page_figure(struct text *text, const char *name, double value, const char *words);
void page_figure_time(struct text *text, const char *name, double seconds);
void page_figure_share(struct text *text, const char *name, double share);
void page_figure_count(struct text *text, const char *name, uint64_t count);

/* The figures as tiles, and in sentences. */
void page_tiles(const struct page *page);
void page_sentences(const struct page *page);

/* The tree of supermaster, masters and workers, with the pools of tasks. */
void page_tree(const struct page *page);

/* What was predicted beside what came: by --technique auto, and by a simulation. */
void page_predicted(const struct page *page);

static inline bool page_has_predicted(const struct page *page)
{
    return page->simulated != NULL || page->figures->predicted.count > 0;
}

/* The numbers for the script: the run as JSON, its chunks and its scheduling steps packed. */
void page_run(const struct page *page);
void page_chunks(const struct page *page);
void page_cuts(const struct page *page);
