/* SPDX-License-Identifier: MIT */
/* Where the user of `hdss top` is: see ui.h. */
#include "deploy/cli/top/ui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the order of jobs --- */

/* Sorting by qsort_r(): with the model and the order. */
struct ordering {
    const struct top_model *model;
    const struct top_sum *sum;
    const struct job_view *job;
    unsigned order;
};

/* Larger numbers come first. */
static int falling(double a, double b)
{
    return (a < b) - (a > b);
}

/* The part of a job that is done; of one whose end is not known nothing can be said. */
static double part_done(const struct job_view *view)
{
    return view->total > 0 ? job_view_percent(view) : -1;
}

/* The next end comes first, and jobs of which nobody knows the end come last. */
static int by_end(const struct job_view *a, const struct job_view *b)
{
    if (a->left_s < 0 || b->left_s < 0)
        return falling(a->left_s, b->left_s);
    return falling(b->left_s, a->left_s);
}

static int compare_jobs(const void *a, const void *b, void *context)
{
    const struct ordering *ordering = context;
    const struct job_view *one = &ordering->model->jobs.items[((const struct top_row *)a)->index];
    const struct job_view *other = &ordering->model->jobs.items[((const struct top_row *)b)->index];
    int result = 0;
    switch (ordering->order) {
    case JOBS_BY_DONE: result = falling(part_done(one), part_done(other)); break;
    case JOBS_BY_RATE: result = falling(one->rate, other->rate); break;
    case JOBS_BY_END: result = by_end(one, other); break;
    default: break;
    }
    return result != 0 ? result : strverscmp(one->id, other->id);
}

/* --- the order of ranks --- */

static double time_of_chunk(const struct rank_figures *rank)
{
    return rank->has_chunk ? rank->since_s : -1;
}

/* Who has least to do comes first: that is what one looks for. */
static int by_busy(const struct ordering *ordering, const struct rank_figures *a, const struct rank_figures *b)
{
    const double one = ordering->job != NULL ? top_busy_share(ordering->job, a) : -1;
    const double other = ordering->job != NULL ? top_busy_share(ordering->job, b) : -1;
    if (one < 0 || other < 0)
        return falling(one, other);
    return falling(other, one);
}

static int compare_ranks(const void *a, const void *b, void *context)
{
    const struct ordering *ordering = context;
    const struct rank_figures *one = &ordering->model->ranks[((const struct top_row *)a)->index].figures;
    const struct rank_figures *other = &ordering->model->ranks[((const struct top_row *)b)->index].figures;
    int result = 0;
    switch (ordering->order) {
    case RANKS_BY_TIME: result = falling(time_of_chunk(one), time_of_chunk(other)); break;
    case RANKS_BY_BUSY: result = by_busy(ordering, one, other); break;
    case RANKS_BY_DONE: result = falling((double)one->done, (double)other->done); break;
    default: {
        const size_t g = top_sum_group_of(ordering->sum, one), h = top_sum_group_of(ordering->sum, other);
        result = (g > h) - (g < h);
    }
    }
    return result != 0 ? result : (one->rank > other->rank) - (one->rank < other->rank);
}

/* --- rows --- */

static int list_jobs(struct top_rows *rows, const struct top_model *model, const struct top_ui *ui)
{
    struct ordering ordering = {.model = model, .order = ui->job_order};
    rows->items = calloc(model->jobs.count + 1, sizeof *rows->items);
    if (rows->items == NULL)
        return -1;
    for (size_t i = 0; i < model->jobs.count; i++)
        rows->items[rows->count++] = (struct top_row){ROW_JOB, i};
    qsort_r(rows->items, rows->count, sizeof *rows->items, compare_jobs, &ordering);
    return 0;
}

static bool is_open(const struct top_ui *ui, const struct top_sum *sum, const struct top_group *group)
{
    return ui->opens_all || sum->workers <= TOP_UNFOLDED_MAX || (ui->has_open && ui->open == group->number);
}

/* Puts each group before its workers, which are sorted by groups, and leaves out those of groups that are closed. */
static int fold_rows(struct top_rows *rows, const struct top_model *model, const struct top_sum *sum,
                     const struct top_ui *ui)
{
    struct top_row *folded = calloc(rows->count + sum->group_count + 1, sizeof *folded);
    size_t count = 0, next = 0;
    if (folded == NULL)
        return -1;
    for (size_t g = 0; g < sum->group_count; g++) {
        folded[count++] = (struct top_row){ROW_GROUP, g};
        for (; next < rows->count; next++) {
            const struct rank_figures *rank = &model->ranks[rows->items[next].index].figures;
            if (top_sum_group_of(sum, rank) != g)
                break;
            if (is_open(ui, sum, &sum->groups[g]))
                folded[count++] = rows->items[next];
        }
    }
    free(rows->items);
    *rows = (struct top_rows){folded, count};
    return 0;
}

static int list_ranks(struct top_rows *rows, const struct top_model *model, const struct top_sum *sum,
                      const struct top_ui *ui)
{
    struct ordering ordering = {model, sum, top_model_looked(model), ui->rank_order};
    rows->items = calloc(model->rank_count + 1, sizeof *rows->items);
    if (rows->items == NULL)
        return -1;
    for (size_t i = 0; i < model->rank_count; i++)
        if (!model->ranks[i].figures.is_master)
            rows->items[rows->count++] = (struct top_row){ROW_RANK, i};
    qsort_r(rows->items, rows->count, sizeof *rows->items, compare_ranks, &ordering);
    return ui->rank_order == RANKS_BY_GROUP ? fold_rows(rows, model, sum, ui) : 0;
}

int top_rows_make(struct top_rows *rows, const struct top_model *model, const struct top_sum *sum,
                  const struct top_ui *ui)
{
    *rows = (struct top_rows){0};
    const int result = ui->is_inside ? list_ranks(rows, model, sum, ui) : list_jobs(rows, model, ui);
    if (result < 0)
        top_rows_fini(rows);
    return result;
}

void top_rows_fini(struct top_rows *rows)
{
    free(rows->items);
    *rows = (struct top_rows){0};
}

/* --- selection --- */

static const char *id_of_row(const struct top_model *model, const struct top_rows *rows, size_t row)
{
    return row < rows->count && rows->items[row].kind == ROW_JOB ? model->jobs.items[rows->items[row].index].id : "";
}

/* The row is selected, or the last one where there are fewer. */
static void select_row(struct top_ui *ui, const struct top_model *model, const struct top_rows *rows, size_t row)
{
    ui->selected = row < rows->count ? row : rows->count > 0 ? rows->count - 1 : 0;
    if (!ui->is_inside)
        snprintf(ui->selected_id, sizeof ui->selected_id, "%s", id_of_row(model, rows, ui->selected));
}

void top_ui_settle(struct top_ui *ui, const struct top_model *model, const struct top_rows *rows)
{
    for (size_t row = 0; !ui->is_inside && ui->selected_id[0] != '\0' && row < rows->count; row++)
        if (strcmp(id_of_row(model, rows, row), ui->selected_id) == 0) {
            ui->selected = row;
            return;
        }
    select_row(ui, model, rows, ui->selected);
}

static void move_selection(struct top_ui *ui, const struct top_model *model, const struct top_rows *rows, size_t page,
                           enum top_key key)
{
    const size_t row = ui->selected, far = page > 1 ? page - 1 : 1;
    switch (key) {
    case TOP_KEY_UP: select_row(ui, model, rows, row > 0 ? row - 1 : 0); break;
    case TOP_KEY_DOWN: select_row(ui, model, rows, row + 1); break;
    case TOP_KEY_PAGE_UP: select_row(ui, model, rows, row > far ? row - far : 0); break;
    case TOP_KEY_PAGE_DOWN: select_row(ui, model, rows, row + far); break;
    case TOP_KEY_FIRST: select_row(ui, model, rows, 0); break;
    case TOP_KEY_LAST: select_row(ui, model, rows, rows->count); break;
    default: break;
    }
}

/* --- keys --- */

/* Looks into the job that is selected, or opens the group that is, or closes it. */
static enum top_act go_in(struct top_ui *ui, const struct top_model *model, const struct top_sum *sum,
                          const struct top_rows *rows)
{
    if (ui->selected >= rows->count)
        return TOP_NOTHING;
    const struct top_row *row = &rows->items[ui->selected];
    if (row->kind == ROW_JOB) {
        snprintf(ui->job, sizeof ui->job, "%s", model->jobs.items[row->index].id);
        ui->is_inside = true;
        ui->selected = 0;
        ui->has_open = ui->opens_all = false;
        return TOP_LOOK;
    }
    if (row->kind == ROW_GROUP) {
        const unsigned number = sum->groups[row->index].number;
        ui->has_open = !ui->has_open || ui->open != number;
        ui->open = number;
    }
    return TOP_NOTHING;
}

static enum top_act go_back(struct top_ui *ui)
{
    if (!ui->is_inside || ui->is_alone)
        return TOP_END;
    ui->is_inside = false;
    return TOP_LOOK;
}

/* Asks whether the job at hand is to be cancelled. */
static void ask_to_cancel(struct top_ui *ui, const struct top_model *model, const struct top_rows *rows)
{
    const struct job_view *looked = top_model_looked(model);
    const char *id = !ui->is_inside ? id_of_row(model, rows, ui->selected) : looked != NULL ? looked->id : "";
    const struct job_view *job = ui->is_inside ? looked : NULL;
    if (!ui->is_inside && id[0] != '\0')
        job = &model->jobs.items[rows->items[ui->selected].index];
    ui->asks = job != NULL && !job_state_is_over(job->state) && !(ui->is_inside && model->looked_is_gone);
    snprintf(ui->asked, sizeof ui->asked, "%s", id);
}

static enum top_act show_all(struct top_ui *ui)
{
    if (ui->is_inside) {
        ui->opens_all = !ui->opens_all;
        return TOP_NOTHING;
    }
    ui->shows_over = !ui->shows_over;
    return TOP_LOOK;
}

enum top_act top_ui_key(struct top_ui *ui, const struct top_model *model, const struct top_sum *sum,
                        const struct top_rows *rows, size_t page, enum top_key key)
{
    if (key == TOP_KEY_NONE || key == TOP_KEY_END)
        return key == TOP_KEY_END ? TOP_END : TOP_NOTHING;
    if (ui->asks) {
        ui->asks = false;
        return key == TOP_KEY_YES ? TOP_CANCEL : TOP_NOTHING;
    }
    if (ui->helps) {
        ui->helps = false;
        return TOP_NOTHING;
    }
    switch (key) {
    case TOP_KEY_ENTER: return go_in(ui, model, sum, rows);
    case TOP_KEY_BACK:
    case TOP_KEY_QUIT: return key == TOP_KEY_BACK && !ui->is_inside ? TOP_NOTHING : go_back(ui);
    case TOP_KEY_CANCEL: ask_to_cancel(ui, model, rows); break;
    case TOP_KEY_ALL: return show_all(ui);
    case TOP_KEY_HELP: ui->helps = true; break;
    case TOP_KEY_SORT:
        if (ui->is_inside)
            ui->rank_order = (ui->rank_order + 1) % RANK_ORDERS;
        else
            ui->job_order = (ui->job_order + 1) % JOB_ORDERS;
        break;
    default: move_selection(ui, model, rows, page, key);
    }
    return TOP_NOTHING;
}

const char *top_ui_order_name(const struct top_ui *ui)
{
    static const char *const jobs[JOB_ORDERS] = {"id", "done", "rate", "end"};
    static const char *const ranks[RANK_ORDERS] = {"group", "time of the chunk", "least busy", "done"};
    return ui->is_inside ? ranks[ui->rank_order] : jobs[ui->job_order];
}
