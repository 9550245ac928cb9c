/* SPDX-License-Identifier: MIT */
/* The pages of `hdss top`: see view.h. Each is a head, a table of which rows are shown as far as there is room, and a
 * foot of two lines with what has happened last and the keys. */
#include "deploy/cli/top/view.h"

#include "deploy/cli/top/job_page.h"
#include "deploy/cli/top/list_page.h"
#include "deploy/cli/top/pieces.h"

#include <stdlib.h>
#include <string.h>

#define FOOT_LINES 2
#define ROWS_LEAST 1

/* --- rows --- */

static void make_table_row(struct table_row *row, const struct top_model *model, const struct top_sum *sum,
                           const struct top_ui *ui, const struct top_row *from)
{
    for (unsigned c = 0; c < TABLE_COLUMNS_MAX; c++)
        row->cells[c].share = -1;
    switch (from->kind) {
    case ROW_JOB: top_make_job_row(row, &model->jobs.items[from->index]); break;
    case ROW_GROUP: top_make_group_row(row, &sum->groups[from->index]); break;
    case ROW_RANK:
        top_make_rank_row(row, top_model_looked(model), &model->ranks[from->index], ui->rank_order == RANKS_BY_GROUP);
        break;
    }
}

/* The first of `shown` rows among which the selected one is in the middle, as far as there are others around it. */
static size_t first_shown(size_t count, size_t shown, size_t selected)
{
    const size_t before = selected > shown / 2 ? selected - shown / 2 : 0;
    return count <= shown ? 0 : before + shown > count ? count - shown : before;
}

static void add_rows(struct page *page, size_t shown, bool has_selection, const struct top_model *model,
                     const struct top_sum *sum, const struct top_rows *rows, const struct top_ui *ui)
{
    const size_t first = first_shown(rows->count, shown, ui->selected);
    const size_t count = rows->count < shown ? rows->count : shown;
    struct table_row *made = calloc(count + 1, sizeof *made);
    if (made == NULL) {
        page->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        make_table_row(&made[i], model, sum, ui, &rows->items[first + i]);
        made[i].is_selected = has_selection && first + i == ui->selected;
    }
    if (ui->is_inside)
        top_add_rank_table(page, made, count);
    else
        top_add_job_table(page, made, count);
    free(made);
}

/* --- foot --- */

static void add_question(struct page *page, const struct top_ui *ui)
{
    const bool is_run = strchr(ui->asked, '/') == NULL;
    page_add(page, LOOK_WARN, "cancel ");
    page_add_short(page, LOOK_WARN, ui->asked, page->width / 2);
    page_add(page, LOOK_WARN, is_run ? "? what runs is finished (y/n)" : "? what runs is ended (y/n)");
}

static void add_keys(struct page *page, const struct top_sum *sum, const struct top_rows *rows, const struct top_ui *ui)
{
    const bool is_group = ui->is_inside && ui->selected < rows->count && rows->items[ui->selected].kind == ROW_GROUP;
    const bool can_open = is_group && !ui->opens_all && sum->workers > TOP_UNFOLDED_MAX;
    page_add(page, LOOK_DIM, "q %s  ", ui->is_inside && !ui->is_alone ? "back" : "quit");
    if (!ui->is_inside)
        page_add(page, LOOK_DIM, "Enter look into  ");
    else if (can_open)
        page_add(page, LOOK_DIM, "Enter workers  ");
    page_add(page, LOOK_DIM, "s sort: %s  ", top_ui_order_name(ui));
    page_add(page, LOOK_DIM, "c cancel  ? help");
}

static void add_foot(struct page *page, const struct top_model *model, const struct top_sum *sum,
                     const struct top_rows *rows, const struct top_ui *ui)
{
    page_line(page);
    page_add_short(page, LOOK_WARN, model->note, page->width);
    page_line(page);
    if (ui->asks)
        add_question(page, ui);
    else
        add_keys(page, sum, rows, ui);
}

/* --- pages --- */

static void add_help(struct page *page)
{
    static const char *const keys[][2] = {
        {"arrows j k", "select; Page Up and Down, Home, End"},
        {"Enter", "look into a job; show workers of a node"},
        {"Esc", "back to the list"},
        {"q", "back; in the list: quit"},
        {"s", "sort by something else"},
        {"a", "jobs that are over, too; in a job all workers"},
        {"c", "cancel: of a set what runs is ended, a run drains"},
        {"?", "this page; any key leaves it"},
    };
    page_line(page);
    page_add(page, LOOK_STRONG, "hdss top: keys");
    page_line(page);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        page_line(page);
        page_add(page, LOOK_STRONG, "  %s", keys[i][0]);
        page_go_to(page, TOP_LABEL_COLUMNS);
        page_add(page, LOOK_PLAIN, "%s", keys[i][1]);
    }
}

/* Leaves out the last lines where there are more. */
static void cut_page(struct page *page, size_t most)
{
    while (page->count > most)
        free(page->lines[--page->count].text);
}

static void fill_page(struct page *page, size_t lines)
{
    while (page->count < lines && !page->failed)
        page_line(page);
}

size_t top_view(struct page *page, unsigned height, const struct top_model *model, const struct top_sum *sum,
                const struct top_rows *rows, const struct top_ui *ui)
{
    const bool is_screen = height != TOP_HEIGHT_ANY;
    const size_t foot = is_screen ? FOOT_LINES : 0;
    if (ui->helps && is_screen) {
        add_help(page);
        cut_page(page, height);
        fill_page(page, height);
        return 0;
    }
    if (ui->is_inside)
        top_add_job_head(page, model, sum, ui, is_screen);
    else
        top_add_list_head(page, model, is_screen);
    if (is_screen)
        cut_page(page, height > foot + ROWS_LEAST + 1 ? height - foot - ROWS_LEAST - 1 : 0);
    const size_t used = page->count + foot + 2; /* a blank line, and the headings */
    const size_t shown = !is_screen ? rows->count : height > used ? height - used : ROWS_LEAST;
    if ((rows->count > 0 || !ui->is_inside) && (!is_screen || height > used))
        page_line(page);
    if (rows->count > 0)
        add_rows(page, shown, is_screen, model, sum, rows, ui);
    else if (!ui->is_inside)
        top_add_nothing(page, model, is_screen);
    const double waiting = ui->is_inside ? 0 : top_waiting_unlisted(model);
    if (waiting > 0 && (!is_screen || page->count + foot < height)) {
        page_line(page);
        page_add(page, LOOK_DIM, "and ");
        top_add_plural(page, LOOK_DIM, waiting, "job that waits", "others that wait");
    }
    if (is_screen) {
        cut_page(page, height > foot ? height - foot : 0);
        fill_page(page, height > foot ? height - foot : 0);
        add_foot(page, model, sum, rows, ui);
        cut_page(page, height);
    }
    return shown;
}
