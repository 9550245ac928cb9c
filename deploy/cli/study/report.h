/* SPDX-License-Identifier: MIT */
/* The report of a study: a page of Markdown. */
#pragma once

#include "deploy/cli/study/figure.h"
#include "deploy/cli/study/steps.h"

struct study_report {
    const char *name; /* name of the study's files, without their endings */
    const char *file; /* the study file, as given */
    const struct summary *summary;
    const struct csv *csv;
    const struct figure *figures;
    size_t figure_count;
    const struct steps *steps; /* NULL: none are kept */
    bool drawn;                /* the pictures are there */
};

/* The page; the caller frees it. NULL when memory is out. */
char *report_page(const struct study_report *report);

/* A heat map in letters, with the title above it: a table of Markdown, or columns for a terminal. */
void report_map(const struct summary *summary, const struct figure *figure, bool is_markdown, FILE *file);

/* The table of medians with their intervals of confidence, a line for each cell; where there is no interval it has the
 * least and the greatest. */
void report_table(const struct summary *summary, FILE *file);

/* The table of differences of loop times, a line for each cell that is compared with another one. */
void report_differences(const struct summary *summary, FILE *file);
