/* SPDX-License-Identifier: MIT */
/* Pieces that several pages of `hdss top` have. Pure. */
#pragma once

#include "common/metrics/human.h"
#include "deploy/cli/top/model.h"
#include "deploy/cli/top/page.h"
#include "deploy/cli/top/table.h"

/* Columns of a label with the blanks around it. */
#define TOP_LABEL_COLUMNS 13
/* The least columns of a bar. */
#define TOP_BAR_LEAST 8

/* The states of a job whose session is there no more, or does not answer: what is shown is what was known last. */
#define TOP_OUT_OF_SIGHT "out of sight"
#define TOP_SILENT       "silent"

/* A number without decimals. Returns `text`. */
const char *top_whole(char text[HUMAN_MAX], double number);

enum look top_look_of_state(const char *state);

/* Begins a line with a label. */
void top_add_label(struct page *page, const char *label);

/* Begins a page with its title, the state that follows unless it is empty, and the time: at the end of the line on a
 * screen, where there is room for it. */
void top_add_title(struct page *page, const struct top_model *model, bool is_screen, const char *state,
                   const char *title);

/* "1 worker", "2 workers" */
void top_add_plural(struct page *page, enum look look, double count, const char *one, const char *many);

void top_set_cell(struct table_row *row, unsigned column, enum look look, const char *text);

/* When the end of a job is expected, "3:16 to 3:19", of short times "4.5 to 19 s"; empty where nobody knows. */
void top_band_text(char text[TABLE_CELL_MAX], const struct job_view *view);
