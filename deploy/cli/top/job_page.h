/* SPDX-License-Identifier: MIT */
/* The page of one job, in parts: how far it is, and its workers by their masters or nodes. Pure. */
#pragma once

#include "deploy/cli/top/model.h"
#include "deploy/cli/top/page.h"
#include "deploy/cli/top/sum.h"
#include "deploy/cli/top/table.h"
#include "deploy/cli/top/ui.h"

/* Begins the page: all but the table. */
void top_add_job_head(struct page *page, const struct top_model *model, const struct top_sum *sum,
                      const struct top_ui *ui, bool is_screen);

/* The rows of a group and of a worker, whose cells are empty before; `is_folded`: it stands below its group. `job` may
 * be NULL. */
void top_make_group_row(struct table_row *row, const struct top_group *group);
void top_make_rank_row(struct table_row *row, const struct job_view *job, const struct top_rank *rank, bool is_folded);

/* Adds the table of such rows. */
void top_add_rank_table(struct page *page, const struct table_row *rows, size_t count);
