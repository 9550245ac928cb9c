/* SPDX-License-Identifier: MIT */
/* The pages of `hdss top`: what is known, and where the user is, become lines. Pure. */
#pragma once

#include "deploy/cli/top/page.h"
#include "deploy/cli/top/ui.h"

/* The least and the most columns that a page is made for. */
#define TOP_WIDTH_MIN 40
#define TOP_WIDTH_MAX 200

/* For all lines that there are. */
#define TOP_HEIGHT_ANY 0

/* Adds the page, of at most `height` lines: rows are left out that are far from the selected one, then others from
 * below. With TOP_HEIGHT_ANY nothing is left out, nothing is selected, and keys are not told of. Returns the number of
 * rows for which there was room. */
size_t top_view(struct page *page, unsigned height, const struct top_model *model, const struct top_sum *sum,
                const struct top_rows *rows, const struct top_ui *ui);
