/* SPDX-License-Identifier: MIT */
/* The pages of `hdss top`: see view.h. Each is a head, a table of which rows are shown as far as there is room, and a
 * foot of two lines with what has happened last and the keys. */
#include "deploy/cli/top/view.h"

#include "common/metrics/human.h"
#include "deploy/cli/top/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMNS 13
#define SETS_TOLD     4
#define FOOT_LINES    2
#define ROWS_LEAST    1
#define KERNEL_MAX    16
#define ID_MOST       32
#define FOLDER_LEAST  12
#define BAR_LEAST     8
#define DAY_S         86400.0
/* The states of a job whose session is there no more, or does not answer: what is shown is what was known last. */
#define OUT_OF_SIGHT "out of sight"
#define SILENT       "silent"
/* Columns from which on there is room for words that can be guessed. */
#define WORDS_WIDTH 80
/* Columns for ", and 1,234 others". */
#define OTHERS_COLUMNS 18

/* --- pieces --- */

static const char *whole_number(char text[HUMAN_MAX], double number)
{
    return number < 1e18 ? human_count(text, (uint64_t)number) : human_si(text, number);
}

static enum look look_of_state(const char *state)
{
    return strcmp(state, "failed") == 0 ? LOOK_BAD
           : strcmp(state, "draining") == 0 || strcmp(state, SILENT) == 0 || strcmp(state, OUT_OF_SIGHT) == 0
               ? LOOK_WARN
           : strcmp(state, "cancelled") == 0 ? LOOK_WARN
           : strcmp(state, "done") == 0      ? LOOK_GOOD
                                             : LOOK_PLAIN;
}

static void add_label(struct page *page, const char *label)
{
    page_line(page);
    page_add(page, LOOK_DIM, "  %s", label);
    page_go_to(page, LABEL_COLUMNS);
}

/* The title, and the time behind it, on a screen at the right where there is room for it. */
static void add_title(struct page *page, const struct top_model *model, bool is_screen, const char *state,
                      const char *title)
{
    const unsigned columns = page_columns(model->clock);
    page_line(page);
    page_add_short(page, LOOK_STRONG, title, page->width);
    if (state[0] != '\0')
        page_add(page, look_of_state(state), ", %s", state);
    if (columns == 0 || page_left(page) < columns + 2)
        return;
    if (is_screen)
        page_go_to(page, page->width - columns);
    else
        page_add(page, LOOK_PLAIN, ", ");
    page_add(page, is_screen ? LOOK_DIM : LOOK_PLAIN, "%s", model->clock);
}

static void add_plural(struct page *page, enum look look, double count, const char *one, const char *many)
{
    char number[HUMAN_MAX];
    page_add(page, look, "%s %s", whole_number(number, count), count == 1 ? one : many);
}

/* --- the list of jobs --- */

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
        page_add(page, LOOK_WARN, SILENT);
        return;
    }
    if (session->workers > 0) {
        add_plural(page, LOOK_PLAIN, session->workers, "worker", "workers");
        page_add(page, LOOK_PLAIN, ", ");
    }
    char running[HUMAN_MAX], waiting[HUMAN_MAX], over[HUMAN_MAX];
    page_add(page, LOOK_PLAIN, "%s running, %s waiting, %s over", whole_number(running, session->running),
             whole_number(waiting, session->waiting), whole_number(over, session->over));
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
        add_plural(page, LOOK_PLAIN, others, "other set", "other sets");
    }
}

static void add_list_head(struct page *page, const struct top_model *model, bool is_screen)
{
    add_title(page, model, is_screen, "", "hdss top");
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
    [JOB_BAR] = {.heading = "", .is_bar = true, .least = BAR_LEAST, .dispensable = 3},
    [JOB_DONE] = {.heading = "DONE", .is_number = true, .least = 5, .dispensable = 10},
    [JOB_RATE] = {.heading = "RATE", .is_number = true, .least = 8, .dispensable = 7},
    [JOB_END] = {.heading = "ETA", .is_number = true, .least = 6, .dispensable = 9},
    [JOB_BAND] = {.heading = "BETWEEN", .dispensable = 4},
    [JOB_WORKERS] = {.heading = "BUSY", .is_number = true, .dispensable = 2},
    [JOB_LOST] = {.heading = "LOST", .is_number = true, .dispensable = 8},
    [JOB_FOLDER] = {.heading = "FOLDER", .keeps_end = true, .least = FOLDER_LEAST, .dispensable = 1},
};

static void set_cell(struct table_row *row, unsigned column, enum look look, const char *text)
{
    snprintf(row->cells[column].text, TABLE_CELL_MAX, "%s", text);
    row->cells[column].look = look;
}

/* A time as a clock shows it, "3:16" and "2:05:09", from a day on "3 d 04 h". */
static const char *clock_text(char text[HUMAN_MAX], double seconds)
{
    if (!(seconds < DAY_S))
        return human_duration(text, seconds);
    const unsigned whole = (unsigned)lround(seconds), hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0)
        snprintf(text, HUMAN_MAX, "%u:%02u:%02u", hours, minutes, whole % 60);
    else
        snprintf(text, HUMAN_MAX, "%u:%02u", minutes, whole % 60);
    return text;
}

/* "3:16 to 3:19", of short times "4.5 to 19 s", or what is known of it. */
static void band_text(char text[TABLE_CELL_MAX], const struct job_view *view)
{
    const double soonest_s = view->soonest_s, latest_s = view->latest_s;
    char soonest[HUMAN_MAX], latest[HUMAN_MAX];
    text[0] = '\0';
    if (soonest_s < 0)
        return;
    if (latest_s < 0)
        snprintf(text, TABLE_CELL_MAX, "%s or later", clock_text(soonest, soonest_s));
    else if (latest_s < 99.5)
        snprintf(text, TABLE_CELL_MAX, "%.*f to %.*f s", soonest_s < 9.95, soonest_s, latest_s < 9.95, latest_s);
    else
        snprintf(text, TABLE_CELL_MAX, "%s to %s", clock_text(soonest, soonest_s), clock_text(latest, latest_s));
}

static void make_job_row(struct table_row *row, const struct job_view *view)
{
    char text[TABLE_CELL_MAX], number[HUMAN_MAX], other[HUMAN_MAX];
    for (unsigned c = 0; c < TABLE_COLUMNS_MAX; c++)
        row->cells[c].share = -1;
    set_cell(row, JOB_ID, LOOK_PLAIN, view->id);
    set_cell(row, JOB_NAME, LOOK_PLAIN, view->name);
    set_cell(row, JOB_KERNEL, LOOK_PLAIN, view->kernel);
    set_cell(row, JOB_STATE, look_of_state(view->state), view->state);
    set_cell(row, JOB_FOLDER, LOOK_PLAIN, view->folder);
    if (view->json == NULL || job_view_has_not_begun(view))
        return;
    if (view->total > 0) {
        row->cells[JOB_BAR].share = job_view_percent(view) / 100;
        snprintf(text, sizeof text, "%.0f %%", floor(job_view_percent(view)));
    } else
        snprintf(text, sizeof text, "%s", view->total < 0 ? human_si(number, view->done) : "");
    set_cell(row, JOB_DONE, LOOK_PLAIN, text);
    const double rate = view->rate_now >= 0 ? view->rate_now : view->rate;
    if (rate > 0 && view->status < 0)
        set_cell(row, JOB_RATE, LOOK_PLAIN, human_rate(number, rate));
    if (view->left_s >= 0)
        set_cell(row, JOB_END, LOOK_PLAIN, human_duration(number, view->left_s));
    band_text(text, view);
    set_cell(row, JOB_BAND, LOOK_DIM, text);
    if (view->workers > 0 && view->status < 0) {
        snprintf(text, sizeof text, "%s/%s", whole_number(number, view->busy), whole_number(other, view->workers));
        set_cell(row, JOB_WORKERS, LOOK_PLAIN, text);
    }
    if (view->lost > 0)
        set_cell(row, JOB_LOST, LOOK_BAD, whole_number(number, view->lost));
}

/* Jobs of sets that wait and are not listed. */
static double waiting_unlisted(const struct top_model *model)
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
static void add_nothing(struct page *page, const struct top_model *model, bool waits)
{
    page_line(page);
    if (model->session_count == 0)
        page_add(page, LOOK_PLAIN, "no run or set of yours is there on this machine%s",
                 waits ? "; one is waited for" : "");
    else
        page_add(page, LOOK_PLAIN, "no job runs or waits");
}

/* --- one job --- */

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

static void add_done(struct page *page, const struct job_view *job)
{
    char done[HUMAN_MAX], total[HUMAN_MAX];
    add_label(page, "done");
    if (job_view_has_not_begun(job)) {
        page_add(page, LOOK_PLAIN, "nothing was begun");
        return;
    }
    if (job->total > 0) {
        const double percent = job_view_percent(job);
        const unsigned bar = page->width < WORDS_WIDTH ? BAR_LEAST : page->width / 4;
        page_add_bar(page, percent / 100, bar);
        page_add(page, LOOK_PLAIN, "  %.1f %%, %s of %s", percent, whole_number(done, job->done),
                 whole_number(total, job->total));
    } else
        page_add(page, LOOK_PLAIN, "%s%s", whole_number(done, job->done), job->total < 0 ? ", more may come" : "");
    if (job->failed > 0)
        page_add(page, LOOK_BAD, ", %s given up", whole_number(done, job->failed));
}

static void add_rate(struct page *page, const struct job_view *job)
{
    char now[HUMAN_MAX], mean[HUMAN_MAX];
    if (job->rate <= 0)
        return;
    add_label(page, "rate");
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
    add_label(page, job->status >= 0 ? "took" : "end");
    if (job->status >= 0)
        page_add(page, LOOK_PLAIN, "%s", elapsed);
    else if (job->left_s >= 0) {
        band_text(band, job);
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
    add_label(page, "imbalance");
    page_add(page, LOOK_DIM, "not known: masters tell no times for ");
    page_add_short(page, LOOK_DIM, job->technique, page->width);
}

static void add_workers(struct page *page, const struct job_view *job, const struct top_sum *sum)
{
    char number[HUMAN_MAX], all[HUMAN_MAX];
    const double workers = sum->workers > 0 ? sum->workers : job->workers;
    if (workers <= 0 || job->status >= 0)
        return;
    add_label(page, "workers");
    page_add(page, LOOK_PLAIN, "%s of %s compute", whole_number(number, sum->workers > 0 ? sum->computing : job->busy),
             whole_number(all, workers));
    if (sum->waiting > 0)
        page_add(page, LOOK_PLAIN, ", %u wait%s", sum->waiting, sum->waiting == 1 ? "s" : "");
    if (sum->aside > 0)
        page_add(page, LOOK_WARN, ", %u put aside", sum->aside);
    if (sum->lost > 0)
        page_add(page, LOOK_BAD, ", %u lost", sum->lost);
    if (sum->imbalance < 0)
        return;
    add_label(page, "imbalance");
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
    add_label(page, "lost");
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
        if (page_left(page) < page_columns(range) + (told < count ? OTHERS_COLUMNS : 0)) {
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
        add_label(page, i == 0 ? "slowest" : "");
        chunk_text(chunk, job, &slow->rank->figures, page->width >= WORDS_WIDTH);
        page_add(page, LOOK_PLAIN, "%s: %s", chunk, human_duration(span, slow->rank->figures.since_s));
        if (slow->factor >= 0)
            page_add(page, slow->factor >= 10 ? LOOK_WARN : LOOK_PLAIN, ", %.1f x the mean", slow->factor);
        page_add(page, LOOK_PLAIN, ", rank %u", slow->rank->figures.rank);
        if (slow->rank->host[0] != '\0' && page_left(page) >= page_columns(" on ") + page_columns(slow->rank->host))
            page_add(page, LOOK_PLAIN, " on %s", slow->rank->host);
    }
}

static void add_command(struct page *page, const struct job_view *job)
{
    size_t i;
    json_t *word;
    if (json_array_size(json_object_get(job->json, "command")) == 0)
        return;
    add_label(page, "command");
    json_array_foreach(json_object_get(job->json, "command"), i, word)
    {
        const char *text = json_string_value(word);
        if (i > 0)
            page_add(page, LOOK_PLAIN, " ");
        page_add_short(page, LOOK_PLAIN, text != NULL ? text : "?", page->width);
    }
}

static void add_kind(struct page *page, const struct job_view *job)
{
    if (job->technique[0] == '\0')
        return;
    add_label(page, "technique");
    page_add(page, LOOK_PLAIN, "%s, %s", job->technique, job->topology);
}

static void add_job_head(struct page *page, const struct top_model *model, const struct top_sum *sum,
                         const struct top_ui *ui, bool is_screen)
{
    const struct job_view *job = top_model_looked(model);
    char title[4 * TOP_ID_MAX];
    if (job == NULL) {
        add_title(page, model, is_screen, "", ui->job);
        page_line(page);
        if (model->looked_reason[0] != '\0')
            page_add_short(page, LOOK_WARN, model->looked_reason, page->width);
        else
            page_add(page, LOOK_WARN, model->looked_is_gone ? "it is not there any more" : "it does not answer");
        return;
    }
    snprintf(title, sizeof title, "%s%s%.80s%s%.80s", job->id, job->name[0] != '\0' ? ", " : "", job->name,
             job->kernel[0] != '\0' ? ": " : "", job->kernel);
    const char *state = model->looked_is_gone ? OUT_OF_SIGHT : model->looked_is_silent ? SILENT : job->state;
    add_title(page, model, is_screen, state, title);
    if (model->looked_reason[0] != '\0') {
        page_line(page);
        page_add_short(page, LOOK_WARN, model->looked_reason, page->width);
    }
    add_command(page, job);
    add_done(page, job);
    add_rate(page, job);
    add_end(page, job);
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
    [RANK_BAR] = {.heading = "BUSY", .is_bar = true, .least = BAR_LEAST, .dispensable = 6},
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
    set_cell(row, RANK_BUSY, LOOK_PLAIN, text);
}

static void set_counts(struct table_row *row, bool is_known, double done, double chunks)
{
    char number[HUMAN_MAX];
    if (!is_known)
        return;
    set_cell(row, RANK_DONE, LOOK_PLAIN, whole_number(number, done));
    if (chunks > 0)
        set_cell(row, RANK_CHUNKS, LOOK_PLAIN, whole_number(number, chunks));
}

static void make_group_row(struct table_row *row, const struct top_group *group)
{
    char text[TABLE_CELL_MAX], number[HUMAN_MAX];
    snprintf(text, sizeof text, "%s %u%s%s", group->is_master ? "master" : "node", group->number,
             group->host[0] != '\0' ? ", " : "", group->host);
    set_cell(row, RANK_WHO, LOOK_STRONG, text);
    if (group->is_lost)
        set_cell(row, RANK_STATE, LOOK_BAD, "gone");
    else if (group->knows_computing) {
        snprintf(text, sizeof text, "%u of %u", group->computing, group->workers);
        set_cell(row, RANK_STATE, LOOK_STRONG, text);
    }
    if (group->busy_share >= 0)
        set_share(row, group->busy_share);
    else if (group->knows_computing && group->workers > 0)
        row->cells[RANK_BAR].share = (double)group->computing / group->workers;
    set_counts(row, group->has_counts, group->done, group->chunks);
    if (group->longest_s >= 0)
        set_cell(row, RANK_TIME, LOOK_PLAIN, human_duration(number, group->longest_s));
    if (group->lost > 0)
        set_cell(row, RANK_LOST_ONES, LOOK_BAD, whole_number(number, group->lost));
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
    set_cell(row, RANK_STATE, states[rank->state].look, states[rank->state].text);
}

static void make_rank_row(struct table_row *row, const struct job_view *job, const struct top_rank *rank,
                          bool is_folded)
{
    const struct rank_figures *figures = &rank->figures;
    char text[TABLE_CELL_MAX], number[HUMAN_MAX];
    const bool has_host = !is_folded && rank->host[0] != '\0';
    snprintf(text, sizeof text, "%srank %u%s%s", is_folded ? "  " : "", figures->rank, has_host ? ", " : "",
             has_host ? rank->host : "");
    set_cell(row, RANK_WHO, LOOK_PLAIN, text);
    set_state(row, figures);
    set_share(row, job != NULL && figures->state != RANK_LOST ? top_busy_share(job, figures) : -1);
    set_counts(row, figures->has_counts, (double)figures->done, (double)figures->chunks);
    if (figures->load > 0) {
        snprintf(text, sizeof text, "%.2f", figures->load);
        set_cell(row, RANK_LOAD, LOOK_PLAIN, text);
    }
    if (!figures->has_chunk || job == NULL)
        return;
    set_cell(row, RANK_TIME, LOOK_PLAIN, human_duration(number, figures->since_s));
    chunk_text(text, job, figures, false);
    set_cell(row, RANK_CHUNK, LOOK_PLAIN, text);
}

/* --- rows --- */

static void make_row(struct table_row *row, const struct top_model *model, const struct top_sum *sum,
                     const struct top_ui *ui, const struct top_row *from)
{
    for (unsigned c = 0; c < TABLE_COLUMNS_MAX; c++)
        row->cells[c].share = -1;
    switch (from->kind) {
    case ROW_JOB: make_job_row(row, &model->jobs.items[from->index]); break;
    case ROW_GROUP: make_group_row(row, &sum->groups[from->index]); break;
    case ROW_RANK:
        make_rank_row(row, top_model_looked(model), &model->ranks[from->index], ui->rank_order == RANKS_BY_GROUP);
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
        make_row(&made[i], model, sum, ui, &rows->items[first + i]);
        made[i].is_selected = has_selection && first + i == ui->selected;
    }
    if (ui->is_inside)
        table_add(page, rank_columns, RANK_COLUMNS, made, count);
    else
        table_add(page, job_columns, JOB_COLUMNS, made, count);
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
        page_go_to(page, LABEL_COLUMNS);
        page_add(page, LOOK_PLAIN, "%s", keys[i][1]);
    }
}

/* Leaves out the last lines where there are more. */
static void cut(struct page *page, size_t most)
{
    while (page->count > most)
        free(page->lines[--page->count].text);
}

static void fill_up(struct page *page, size_t lines)
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
        cut(page, height);
        fill_up(page, height);
        return 0;
    }
    if (ui->is_inside)
        add_job_head(page, model, sum, ui, is_screen);
    else
        add_list_head(page, model, is_screen);
    if (is_screen)
        cut(page, height > foot + ROWS_LEAST + 1 ? height - foot - ROWS_LEAST - 1 : 0);
    const size_t used = page->count + foot + 2; /* a blank line, and the headings */
    const size_t shown = !is_screen ? rows->count : height > used ? height - used : ROWS_LEAST;
    if (!is_screen || height > used)
        page_line(page);
    if (rows->count > 0)
        add_rows(page, shown, is_screen, model, sum, rows, ui);
    else if (!ui->is_inside)
        add_nothing(page, model, is_screen);
    const double waiting = ui->is_inside ? 0 : waiting_unlisted(model);
    if (waiting > 0 && (!is_screen || page->count + foot < height)) {
        page_line(page);
        page_add(page, LOOK_DIM, "and ");
        add_plural(page, LOOK_DIM, waiting, "job that waits", "others that wait");
    }
    if (is_screen) {
        cut(page, height > foot ? height - foot : 0);
        fill_up(page, height > foot ? height - foot : 0);
        add_foot(page, model, sum, rows, ui);
        cut(page, height);
    }
    return shown;
}
