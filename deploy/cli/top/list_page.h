/* SPDX-License-Identifier: MIT */
/* The page of sets, runs and jobs, in parts. Pure. */
#pragma once

#include "deploy/cli/top/model.h"
#include "deploy/cli/top/page.h"
#include "deploy/cli/top/table.h"

/* Begins the page: the time, and a line for each set. */
void top_add_list_head(struct page *page, const struct top_model *model, bool is_screen);

/* Says that there is no job; `waits`: that it is waited for. */
void top_add_nothing(struct page *page, const struct top_model *model, bool waits);

/* The row of a job, whose cells are empty before. */
void top_make_job_row(struct table_row *row, const struct job_view *view);

/* Adds the table of such rows. */
void top_add_job_table(struct page *page, const struct table_row *rows, size_t count);

/* Jobs of sets that wait and are not in the list. */
double top_waiting_unlisted(const struct top_model *model);
