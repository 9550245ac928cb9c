/* SPDX-License-Identifier: MIT */
/* The page of sets, runs and jobs: see list_page.h. */
#include "deploy/cli/top/list_page.h"

#include "common/metrics/human.h"
#include "deploy/cli/top/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SETS_TOLD    4
#define KERNEL_MAX   16
#define ID_MOST      32
#define FOLDER_LEAST 12

static void add_set(struct page *page, const struct top_session *session)
{
    page_line(page);
    page_add(page, LOOK_PLAIN, "set ");
    page_add_short(page, LOOK_STRONG, session->name, page->width / 2);
    page_add(page, LOOK_PLAIN, ": ");
    if (session->reason[0] != '\0') {
        page_add_short(page, LOOK_WARN, session->reason, page->width);
        return;
    }
    if (session->is_silent) {
        page_add(page, LOOK_WARN, TOP_SILENT);
        return;
    }
    if (session->workers > 0) {
        top_add_plural(page, LOOK_PLAIN, session->workers, "worker", "workers");
        page_add(page, LOOK_PLAIN, ", ");
    }
    char running[HUMAN_MAX], waiting[HUMAN_MAX], over[HUMAN_MAX];
    page_add(page, LOOK_PLAIN, "%s running, %s waiting, %s over", top_whole(running, session->running),
             top_whole(waiting, session->waiting), top_whole(over, session->over));
}

static void add_sets(struct page *page, const struct top_model *model)
{
    unsigned told = 0;
    double others = 0;
    for (size_t i = 0; i < model->session_count; i++) {
        if (!model->sessions[i].is_set)
            continue;
        if (told < SETS_TOLD) {
            add_set(page, &model->sessions[i]);
            told++;
        } else
            others++;
    }
    if (others > 0) {
        page_line(page);
        page_add(page, LOOK_PLAIN, "and ");
        top_add_plural(page, LOOK_PLAIN, others, "other set", "other sets");
    }
}

void top_add_list_head(struct page *page, const struct top_model *model, bool is_screen)
{
    top_add_title(page, model, is_screen, "", "hdss top");
    add_sets(page, model);
}

enum {
    JOB_ID,
    JOB_NAME,
    JOB_KERNEL,
    JOB_STATE,
    JOB_BAR,
    JOB_DONE,
    JOB_RATE,
    JOB_END,
    JOB_BAND,
    JOB_WORKERS,
    JOB_LOST,
    JOB_FOLDER,
    JOB_COLUMNS
};

static const struct table_column job_columns[JOB_COLUMNS] = {
    [JOB_ID] = {.heading = "ID", .most = ID_MOST},
    [JOB_NAME] = {.heading = "NAME", .most = KERNEL_MAX, .dispensable = 5},
    [JOB_KERNEL] = {.heading = "KERNEL", .most = KERNEL_MAX, .dispensable = 6},
    [JOB_STATE] = {.heading = "STATE", .least = 7, .dispensable = 11},
    [JOB_BAR] = {.heading = "", .is_bar = true, .least = TOP_BAR_LEAST, .dispensable = 3},
    [JOB_DONE] = {.heading = "DONE", .is_number = true, .least = 5, .dispensable = 10},
    [JOB_RATE] = {.heading = "RATE", .is_number = true, .least = 8, .dispensable = 7},
    [JOB_END] = {.heading = "ETA", .is_number = true, .least = 6, .dispensable = 9},
    [JOB_BAND] = {.heading = "BETWEEN", .dispensable = 4},
    [JOB_WORKERS] = {.heading = "BUSY", .is_number = true, .dispensable = 2},
    [JOB_LOST] = {.heading = "LOST", .is_number = true, .dispensable = 8},
    [JOB_FOLDER] = {.heading = "FOLDER", .keeps_end = true, .least = FOLDER_LEAST, .dispensable = 1},
};
void top_make_job_row(struct table_row *row, const struct job_view *view)
{
    char text[TABLE_CELL_MAX], number[HUMAN_MAX], other[HUMAN_MAX];
    top_set_cell(row, JOB_ID, LOOK_PLAIN, view->id);
    top_set_cell(row, JOB_NAME, LOOK_PLAIN, view->name);
    top_set_cell(row, JOB_KERNEL, LOOK_PLAIN, view->kernel);
    top_set_cell(row, JOB_STATE, top_look_of_state(view->state), view->state);
    top_set_cell(row, JOB_FOLDER, LOOK_PLAIN, view->folder);
    if (view->json == NULL || job_view_has_not_begun(view))
        return;
    if (view->total > 0) {
        row->cells[JOB_BAR].share = job_view_percent(view) / 100;
        snprintf(text, sizeof text, "%.0f %%", floor(job_view_percent(view)));
    } else
        snprintf(text, sizeof text, "%s", view->total < 0 ? human_si(number, view->done) : "");
    top_set_cell(row, JOB_DONE, LOOK_PLAIN, text);
    const double rate = view->rate_now >= 0 ? view->rate_now : view->rate;
    if (rate > 0 && view->status < 0)
        top_set_cell(row, JOB_RATE, LOOK_PLAIN, human_rate(number, rate));
    if (view->left_s >= 0)
        top_set_cell(row, JOB_END, LOOK_PLAIN, human_duration(number, view->left_s));
    top_band_text(text, view);
    top_set_cell(row, JOB_BAND, LOOK_DIM, text);
    if (view->workers > 0 && view->status < 0) {
        snprintf(text, sizeof text, "%s/%s", top_whole(number, view->busy), top_whole(other, view->workers));
        top_set_cell(row, JOB_WORKERS, LOOK_PLAIN, text);
    }
    if (view->lost > 0)
        top_set_cell(row, JOB_LOST, LOOK_BAD, top_whole(number, view->lost));
}

/* Jobs of sets that wait and are not listed. */
double top_waiting_unlisted(const struct top_model *model)
{
    double count = 0;
    for (size_t i = 0; i < model->session_count; i++)
        count += model->sessions[i].is_set ? model->sessions[i].waiting : 0;
    for (size_t i = 0; i < model->jobs.count; i++) {
        const struct job_view *view = &model->jobs.items[i];
        count -= strchr(view->id, '/') != NULL && strcmp(view->state, "waiting") == 0;
    }
    return count;
}

/* Said where there is nothing in the table. */
void top_add_nothing(struct page *page, const struct top_model *model, bool waits)
{
    page_line(page);
    if (model->session_count == 0)
        page_add(page, LOOK_PLAIN, "no run or set of yours is there on this machine%s",
                 waits ? "; one is waited for" : "");
    else
        page_add(page, LOOK_PLAIN, "no job runs or waits");
}

void top_add_job_table(struct page *page, const struct table_row *rows, size_t count)
{
    table_add(page, job_columns, JOB_COLUMNS, rows, count);
}
