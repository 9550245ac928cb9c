/* SPDX-License-Identifier: MIT */
/* The page of one job: see job_page.h. */
#include "deploy/cli/top/job_page.h"

#include "common/metrics/human.h"
#include "common/util/plain.h"
#include "deploy/cli/top/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns from which on there is room for words that can be guessed. */
#define WORDS_WIDTH 80
/* Columns for ", and 1,234 others". */
#define OTHERS_COLUMNS 18

/* "300 to 399": what is left of a chunk, with a word for it or without. Tasks are counted from 1. */
static void chunk_text(char text[TABLE_CELL_MAX], const struct job_view *job, const struct rank_figures *rank,
                       bool has_word)
{
    const bool are_tasks = strcmp(job->kernel, "exec") == 0;
    const uint64_t left = rank->left > 0 && rank->left < rank->count ? rank->left : rank->count;
    const uint64_t first = rank->first + rank->count - left + are_tasks, last = first + left - (left > 0);
    char word[20] = "", one[HUMAN_MAX], other[HUMAN_MAX];
    if (has_word)
        snprintf(word, sizeof word, "%s%s ", are_tasks ? "task" : "iteration", left > 1 ? "s" : "");
    if (left <= 1)
        snprintf(text, TABLE_CELL_MAX, "%s%s", word, human_count(one, first));
    else
        snprintf(text, TABLE_CELL_MAX, "%s%s to %s", word, human_count(one, first), human_count(other, last));
}

static void add_share_done(struct page *page, const struct job_view *job)
{
    char done[HUMAN_MAX], total[HUMAN_MAX];
    top_add_label(page, "done");
    if (job_view_has_not_begun(job)) {
        page_add(page, LOOK_PLAIN, "nothing was begun");
        return;
    }
    if (job->total > 0) {
        const double percent = job_view_percent(job);
        const unsigned bar = page->width < WORDS_WIDTH ? TOP_BAR_LEAST : page->width / 4;
        page_add_bar(page, percent / 100, bar);
        page_add(page, LOOK_PLAIN, "  %.1f %%, %s of %s", percent, top_whole(done, job->done),
                 top_whole(total, job->total));
    } else
        page_add(page, LOOK_PLAIN, "%s%s", top_whole(done, job->done), job->total < 0 ? ", more may come" : "");
    if (job->failed > 0)
        page_add(page, LOOK_BAD, ", %s given up", top_whole(done, job->failed));
}

static void add_rates(struct page *page, const struct job_view *job)
{
    char now[HUMAN_MAX], mean[HUMAN_MAX];
    if (job->rate <= 0)
        return;
    top_add_label(page, "rate");
    if (job->rate_now >= 0)
        page_add(page, LOOK_PLAIN, "%s now, ", human_rate(now, job->rate_now));
    page_add(page, LOOK_PLAIN, "%s in the mean", human_rate(mean, job->rate));
}

static void add_end(struct page *page, const struct job_view *job)
{
    char left[HUMAN_MAX], elapsed[HUMAN_MAX], band[TABLE_CELL_MAX];
    if (job->elapsed_s <= 0)
        return;
    human_duration(elapsed, job->elapsed_s);
    top_add_label(page, job->status >= 0 ? "took" : "end");
    if (job->status >= 0)
        page_add(page, LOOK_PLAIN, "%s", elapsed);
    else if (job->left_s >= 0) {
        top_band_text(band, job);
        page_add(page, LOOK_PLAIN, "in %s", human_duration(left, job->left_s));
        if (band[0] != '\0')
            page_add(page, LOOK_PLAIN, " (%s)", band);
        page_add(page, LOOK_DIM, ", after %s", elapsed);
    } else
        page_add(page, LOOK_PLAIN, "not known, after %s", elapsed);
}

/* Said where times of workers are not known though workers compute. */
static void add_untold(struct page *page, const struct job_view *job, const struct top_sum *sum)
{
    if (sum->computing == 0 || sum->imbalance >= 0 || strcmp(job->topology, "hierarchical") != 0)
        return;
    top_add_label(page, "imbalance");
    page_add(page, LOOK_DIM, "not known: masters have told no times");
}

static void add_workers(struct page *page, const struct job_view *job, const struct top_sum *sum)
{
    char number[HUMAN_MAX], all[HUMAN_MAX];
    const double workers = sum->workers > 0 ? sum->workers : job->workers;
    if (workers <= 0 || job->status >= 0)
        return;
    top_add_label(page, "workers");
    page_add(page, LOOK_PLAIN, "%s of %s compute", top_whole(number, sum->workers > 0 ? sum->computing : job->busy),
             top_whole(all, workers));
    if (sum->waiting > 0)
        page_add(page, LOOK_PLAIN, ", %u wait%s", sum->waiting, sum->waiting == 1 ? "s" : "");
    if (sum->aside > 0)
        page_add(page, LOOK_WARN, ", %u put aside", sum->aside);
    if (sum->lost > 0)
        page_add(page, LOOK_BAD, ", %u lost", sum->lost);
    if (sum->imbalance < 0)
        return;
    top_add_label(page, "imbalance");
    page_add(page, sum->imbalance >= 1.5 ? LOOK_WARN : LOOK_PLAIN, "%.2f", sum->imbalance);
    page_add(page, LOOK_DIM, " max/mean of the times that workers compute");
}

/* The ranks that were lost, in ranges: as many as there is room for, and the number of the others. */
static void add_lost(struct page *page, const struct top_model *model)
{
    const struct top_rank *ranks = model->ranks;
    size_t count = 0, told = 0;
    for (size_t i = 0; i < model->rank_count; i++)
        count += ranks[i].figures.state == RANK_LOST;
    if (count == 0)
        return;
    top_add_label(page, "lost");
    for (size_t i = 0, end; i < model->rank_count; i = end) {
        char range[64], others[HUMAN_MAX];
        for (end = i; end < model->rank_count && ranks[end].figures.state == RANK_LOST &&
                      ranks[end].figures.rank == ranks[i].figures.rank + (end - i);
             end++)
            ;
        if (end == i) {
            end++;
            continue;
        }
        const unsigned first = ranks[i].figures.rank, last = ranks[end - 1].figures.rank;
        const char *before = told > 0 ? ", " : count > 1 ? "ranks " : "rank ";
        if (first == last)
            snprintf(range, sizeof range, "%s%u", before, first);
        else
            snprintf(range, sizeof range, "%s%u to %u", before, first, last);
        told += end - i;
        if (page_left(page) < plain_columns(range) + (told < count ? OTHERS_COLUMNS : 0)) {
            told -= end - i;
            page_add(page, LOOK_BAD, "%s%s others", told > 0 ? " and " : "", human_count(others, count - told));
            return;
        }
        page_add(page, LOOK_BAD, "%s", range);
        if (count == 1 && ranks[i].host[0] != '\0')
            page_add(page, LOOK_PLAIN, " on %s", ranks[i].host);
    }
}

static void add_slowest(struct page *page, const struct job_view *job, const struct top_sum *sum)
{
    char chunk[TABLE_CELL_MAX], span[HUMAN_MAX];
    for (unsigned i = 0; i < sum->slow_count; i++) {
        const struct top_slow *slow = &sum->slow[i];
        top_add_label(page, i == 0 ? "slowest" : "");
        chunk_text(chunk, job, &slow->rank->figures, page->width >= WORDS_WIDTH);
        page_add(page, LOOK_PLAIN, "%s: %s", chunk, human_duration(span, slow->rank->figures.since_s));
        if (slow->factor >= 0)
            page_add(page, slow->factor >= 10 ? LOOK_WARN : LOOK_PLAIN, ", %.1f x the mean", slow->factor);
        page_add(page, LOOK_PLAIN, ", rank %u", slow->rank->figures.rank);
        if (slow->rank->host[0] != '\0' && page_left(page) >= plain_columns(" on ") + plain_columns(slow->rank->host))
            page_add(page, LOOK_PLAIN, " on %s", slow->rank->host);
    }
}

static void add_command_words(struct page *page, const struct job_view *job)
{
    size_t i;
    json_t *word;
    if (json_array_size(json_object_get(job->json, "command")) == 0)
        return;
    top_add_label(page, "command");
    json_array_foreach(json_object_get(job->json, "command"), i, word)
    {
        const char *text = json_string_value(word);
        if (i > 0)
            page_add(page, LOOK_PLAIN, " ");
        page_add_short(page, LOOK_PLAIN, text != NULL ? text : "?", page->width);
    }
}

/* The status of a job that is over, and where to find out more. */
static void add_status(struct page *page, const struct job_view *job)
{
    if (job->status < 0)
        return;
    top_add_label(page, "status");
    page_add(page, LOOK_PLAIN, "%d", job->status);
    if (strchr(job->id, '/') != NULL)
        page_add(page, LOOK_DIM, "; hdss output %s has what it printed", job->id);
}

static void add_kind(struct page *page, const struct job_view *job)
{
    if (job->technique[0] == '\0')
        return;
    top_add_label(page, "technique");
    page_add(page, LOOK_PLAIN, "%s, %s", job->technique, job->topology);
}

void top_add_job_head(struct page *page, const struct top_model *model, const struct top_sum *sum,
                      const struct top_ui *ui, bool is_screen)
{
    const struct job_view *job = top_model_looked(model);
    char title[4 * TOP_ID_MAX];
    if (job == NULL) {
        top_add_title(page, model, is_screen, "", ui->job);
        page_line(page);
        if (model->looked_reason[0] != '\0')
            page_add_short(page, LOOK_WARN, model->looked_reason, page->width);
        else
            page_add(page, LOOK_WARN, model->looked_is_gone ? "it is not there any more" : "it does not answer");
        return;
    }
    snprintf(title, sizeof title, "%s%s%.80s%s%.80s", job->id, job->name[0] != '\0' ? ", " : "", job->name,
             job->kernel[0] != '\0' ? ": " : "", job->kernel);
    const char *state = model->looked_is_gone ? TOP_OUT_OF_SIGHT : model->looked_is_silent ? TOP_SILENT : job->state;
    top_add_title(page, model, is_screen, state, title);
    if (model->looked_reason[0] != '\0') {
        page_line(page);
        page_add_short(page, LOOK_WARN, model->looked_reason, page->width);
    }
    add_command_words(page, job);
    add_share_done(page, job);
    add_rates(page, job);
    add_end(page, job);
    add_status(page, job);
    add_kind(page, job);
    add_workers(page, job, sum);
    add_untold(page, job, sum);
    add_lost(page, model);
    add_slowest(page, job, sum);
}

enum {
    RANK_WHO,
    RANK_STATE,
    RANK_BAR,
    RANK_BUSY,
    RANK_DONE,
    RANK_CHUNKS,
    RANK_TIME,
    RANK_CHUNK,
    RANK_LOAD,
    RANK_LOST_ONES,
    RANK_COLUMNS
};

static const struct table_column rank_columns[RANK_COLUMNS] = {
    [RANK_WHO] = {.heading = "", .least = 12, .most = 30},
    [RANK_STATE] = {.heading = "COMPUTES", .least = 9},
    [RANK_BAR] = {.heading = "BUSY", .is_bar = true, .least = TOP_BAR_LEAST, .dispensable = 6},
    [RANK_BUSY] = {.heading = "", .is_number = true, .least = 5, .dispensable = 7},
    [RANK_DONE] = {.heading = "DONE", .is_number = true, .least = 6, .dispensable = 5},
    [RANK_CHUNKS] = {.heading = "CHUNKS", .is_number = true, .dispensable = 3},
    [RANK_TIME] = {.heading = "FOR", .is_number = true, .least = 7, .dispensable = 8},
    [RANK_CHUNK] = {.heading = "CHUNK", .dispensable = 4},
    [RANK_LOAD] = {.heading = "LOAD", .is_number = true, .dispensable = 2},
    [RANK_LOST_ONES] = {.heading = "LOST", .is_number = true, .dispensable = 1},
};

static void set_share(struct table_row *row, double share)
{
    char text[TABLE_CELL_MAX];
    if (share < 0)
        return;
    row->cells[RANK_BAR].share = share;
    snprintf(text, sizeof text, "%.0f %%", floor(100 * share));
    top_set_cell(row, RANK_BUSY, LOOK_PLAIN, text);
}

static void set_counts(struct table_row *row, bool is_known, double done, double chunks)
{
    char number[HUMAN_MAX];
    if (!is_known)
        return;
    top_set_cell(row, RANK_DONE, LOOK_PLAIN, top_whole(number, done));
    if (chunks > 0)
        top_set_cell(row, RANK_CHUNKS, LOOK_PLAIN, top_whole(number, chunks));
}

void top_make_group_row(struct table_row *row, const struct top_group *group)
{
    char text[TABLE_CELL_MAX], number[HUMAN_MAX];
    snprintf(text, sizeof text, "%s %u%s%s", group->is_master ? "master" : "node", group->number,
             group->host[0] != '\0' ? ", " : "", group->host);
    top_set_cell(row, RANK_WHO, LOOK_STRONG, text);
    if (group->is_lost)
        top_set_cell(row, RANK_STATE, LOOK_BAD, "gone");
    else if (group->knows_computing) {
        snprintf(text, sizeof text, "%u of %u", group->computing, group->workers);
        top_set_cell(row, RANK_STATE, LOOK_STRONG, text);
    }
    if (group->busy_share >= 0)
        set_share(row, group->busy_share);
    else if (group->knows_computing && group->workers > 0)
        row->cells[RANK_BAR].share = (double)group->computing / group->workers;
    set_counts(row, group->has_counts, group->done, group->chunks);
    if (group->longest_s >= 0)
        top_set_cell(row, RANK_TIME, LOOK_PLAIN, human_duration(number, group->longest_s));
    if (group->lost > 0)
        top_set_cell(row, RANK_LOST_ONES, LOOK_BAD, top_whole(number, group->lost));
}

static void set_state(struct table_row *row, const struct rank_figures *rank)
{
    static const struct {
        const char *text;
        enum look look;
    } states[] = {[RANK_NOT_TOLD] = {"", LOOK_PLAIN},         [RANK_SERVES] = {"serves", LOOK_PLAIN},
                  [RANK_COMPUTES] = {"computes", LOOK_PLAIN}, [RANK_WAITS] = {"waits", LOOK_WARN},
                  [RANK_ASIDE] = {"aside", LOOK_WARN},        [RANK_ORPHAN] = {"orphan", LOOK_WARN},
                  [RANK_LOST] = {"lost", LOOK_BAD},           [RANK_LEFT] = {"has left", LOOK_DIM}};
    top_set_cell(row, RANK_STATE, states[rank->state].look, states[rank->state].text);
}

void top_make_rank_row(struct table_row *row, const struct job_view *job, const struct top_rank *rank, bool is_folded)
{
    const struct rank_figures *figures = &rank->figures;
    char text[TABLE_CELL_MAX], number[HUMAN_MAX];
    const bool has_host = !is_folded && rank->host[0] != '\0';
    snprintf(text, sizeof text, "%srank %u%s%s", is_folded ? "  " : "", figures->rank, has_host ? ", " : "",
             has_host ? rank->host : "");
    top_set_cell(row, RANK_WHO, LOOK_PLAIN, text);
    set_state(row, figures);
    set_share(row, job != NULL && figures->state != RANK_LOST ? top_busy_share(job, figures) : -1);
    set_counts(row, figures->has_counts, (double)figures->done, (double)figures->chunks);
    if (figures->load > 0) {
        snprintf(text, sizeof text, "%.2f", figures->load);
        top_set_cell(row, RANK_LOAD, LOOK_PLAIN, text);
    }
    if (!figures->has_chunk || job == NULL)
        return;
    top_set_cell(row, RANK_TIME, LOOK_PLAIN, human_duration(number, figures->since_s));
    chunk_text(text, job, figures, false);
    top_set_cell(row, RANK_CHUNK, LOOK_PLAIN, text);
}

void top_add_rank_table(struct page *page, const struct table_row *rows, size_t count)
{
    table_add(page, rank_columns, RANK_COLUMNS, rows, count);
}
