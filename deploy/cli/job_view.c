/* SPDX-License-Identifier: MIT */
/* Reads and prints jobs: see job_view.h. Control characters in the texts of a job are not printed. */
#include "deploy/cli/job_view.h"

#include "common/metrics/human.h"
#include "common/util/plain.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX   100
#define GAP        2
#define KERNEL_MAX 24
#define FOLDER_MIN 8

static const char *text_of(json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text != NULL ? text : "";
}

static double number_or(json_t *json, const char *name, double otherwise)
{
    const json_t *value = json_object_get(json, name);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static double number_of(json_t *json, const char *name)
{
    return number_or(json, name, -1);
}

static double count_of(json_t *json, const char *name)
{
    return fmax(number_of(json, name), 0);
}

int job_view_read(struct job_view *view, json_t *json, struct error *error)
{
    if (!json_is_object(json) || text_of(json, "state")[0] == '\0')
        return error_set(error, "its answer is no job");
    const double status = number_of(json, "status");
    const double number = number_of(json, "id");
    if (number >= 1 && number < 1e18)
        view->job = (uint64_t)number;
    view->json = json_incref(json);
    view->name = text_of(json, "name");
    view->kernel = text_of(json, "kernel");
    view->title = text_of(json, "title");
    if (view->title[0] == '\0')
        view->title = view->kernel; /* older daemons send no title */
    view->state = text_of(json, "state");
    view->folder = text_of(json, "folder");
    view->technique = text_of(json, "technique");
    view->topology = text_of(json, "topology");
    view->output = text_of(json, "output");
    view->reason = text_of(json, "reason");
    view->waits_for = text_of(json, "waits_for");
    view->done = count_of(json, "done");
    view->failed = count_of(json, "failed");
    view->rate = count_of(json, "rate_per_s");
    view->elapsed_s = count_of(json, "elapsed_s");
    view->workers = count_of(json, "workers");
    view->busy = count_of(json, "busy");
    view->lost = count_of(json, "lost");
    view->total = number_of(json, "total");
    view->left_s = number_of(json, "eta_s");
    view->soonest_s = number_of(json, "eta_soonest_s");
    view->latest_s = number_of(json, "eta_latest_s");
    view->status = status >= 0 && status < 256 ? (int)status : -1;
    return 0;
}

void job_list_fini(struct job_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        json_decref(list->items[i].json);
    free(list->items);
    *list = (struct job_list){0};
}

static bool is_run(const char *session)
{
    return strncmp(session, "run-", 4) == 0;
}

struct job_view *job_list_add(struct job_list *list, const char *session, uint64_t job)
{
    if (list->count == list->room) {
        const size_t room = list->room > 0 ? 2 * list->room : 16;
        struct job_view *items = realloc(list->items, room * sizeof *items);
        if (items == NULL)
            return NULL;
        list->items = items;
        list->room = room;
    }
    struct job_view *view = &list->items[list->count++];
    *view = (struct job_view){.job = job,
                              .state = "silent",
                              .name = "",
                              .kernel = "",
                              .title = "",
                              .folder = "",
                              .technique = "",
                              .topology = "",
                              .output = "",
                              .reason = "",
                              .waits_for = "",
                              .total = -1,
                              .left_s = -1,
                              .soonest_s = -1,
                              .latest_s = -1,
                              .status = -1};
    snprintf(view->session, sizeof view->session, "%s", session);
    if (is_run(session))
        snprintf(view->id, sizeof view->id, "%s", session);
    else
        snprintf(view->id, sizeof view->id, "%s/%" PRIu64, session, job);
    return view;
}

static const char *number_in(const char *session)
{
    return is_run(session) ? session + 4 : session;
}

struct job_view *job_list_find(struct job_list *list, const char *word, struct error *error)
{
    struct job_view *found = NULL;
    unsigned count = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct job_view *view = &list->items[i];
        if (!is_run(view->session))
            continue;
        const char *number = number_in(view->session);
        if (strcmp(view->session, word) == 0 || strcmp(number, word) == 0)
            return view;
        if (word[0] != '\0' &&
            (strncmp(view->session, word, strlen(word)) == 0 || strncmp(number, word, strlen(word)) == 0)) {
            found = view;
            count++;
        }
    }
    if (count == 1)
        return found;
    if (count > 1)
        error_set(error, "'%.60s' is how %u of them begin; `hdss jobs` lists them", word, count);
    else
        error_set(error, "'%.60s' is no run of yours on this machine; `hdss jobs` lists those that are there", word);
    return NULL;
}

bool job_state_is_over(const char *state)
{
    return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 || strcmp(state, "cancelled") == 0;
}

static const char *whole(char text[HUMAN_MAX], double number)
{
    return number < 1e18 ? human_count(text, (uint64_t)number) : human_si(text, number);
}

static double percent_done(const struct job_view *view)
{
    const double percent = 100 * (view->done + view->failed) / view->total;
    return view->done + view->failed < view->total && percent > 99.9 ? 99.9 : fmin(percent, 100);
}

static bool has_not_begun(const struct job_view *view)
{
    return text_of(view->json, "submitted")[0] != '\0' && text_of(view->json, "began")[0] == '\0';
}

void job_view_print_done(const struct job_view *view, struct text *text)
{
    char done[HUMAN_MAX], total[HUMAN_MAX], failed[HUMAN_MAX];
    if (has_not_begun(view)) {
        text_add(text, "nothing was begun");
        return;
    }
    text_add(text, "%s", whole(done, view->done));
    if (view->total >= 0)
        text_add(text, " of %s", whole(total, view->total));
    if (view->total > 0)
        text_add(text, " (%.1f %%)", percent_done(view));
    if (view->failed > 0)
        text_add(text, ", %s given up", whole(failed, view->failed));
}

enum column { ID, NAME, KERNEL, STATE, DONE, RATE, LEFT, WORKERS, FOLDER, COLUMNS };

static const char *const headings[COLUMNS] = {"ID",   "NAME", "KERNEL",  "STATE", "DONE",
                                              "RATE", "ETA",  "WORKERS", "FOLDER"};
static const bool is_number[COLUMNS] = {[DONE] = true, [RATE] = true, [LEFT] = true, [WORKERS] = true};
static const enum column dispensable[] = {FOLDER, WORKERS, RATE, LEFT, KERNEL, NAME, DONE, STATE};

struct row {
    char cell[COLUMNS][CELL_MAX];
    const char *folder;
};

static void copy_cell(char cell[CELL_MAX], const char *from)
{
    unsigned columns = 0;
    size_t length = 0, kept = 0;
    for (; from[length] != '\0'; length++) {
        columns += ((unsigned char)from[length] & 0xc0) != 0x80;
        if (columns > KERNEL_MAX)
            break;
        if (columns <= KERNEL_MAX - 2)
            kept = length + 1;
    }
    const bool is_cut = from[length] != '\0';
    snprintf(cell, CELL_MAX, "%.*s%s", (int)(is_cut ? kept : length), from, is_cut ? ".." : "");
}

static void make_row(struct row *row, const struct job_view *view)
{
    char text[HUMAN_MAX], number[HUMAN_MAX];
    *row = (struct row){.folder = view->folder};
    snprintf(row->cell[ID], CELL_MAX, "%.*s", CELL_MAX - 1, view->id);
    copy_cell(row->cell[NAME], view->name);
    copy_cell(row->cell[KERNEL], view->title);
    if (view->waits_for[0] != '\0')
        snprintf(row->cell[STATE], CELL_MAX, "waits: %.*s", KERNEL_MAX, view->waits_for);
    else
        copy_cell(row->cell[STATE], view->state);
    if (view->json == NULL)
        return;
    if (view->total > 0)
        snprintf(row->cell[DONE], CELL_MAX, "%.0f %%", floor(percent_done(view)));
    else if (view->total < 0)
        snprintf(row->cell[DONE], CELL_MAX, "%s", human_si(text, view->done));
    if (view->rate > 0)
        snprintf(row->cell[RATE], CELL_MAX, "%s", human_rate(text, view->rate));
    if (view->left_s >= 0)
        snprintf(row->cell[LEFT], CELL_MAX, "%s", human_duration(text, view->left_s));
    if (view->workers > 0)
        snprintf(row->cell[WORKERS], CELL_MAX, "%s/%s", whole(text, view->busy), whole(number, view->workers));
}

static void add_path(struct text *text, const char *path, unsigned most)
{
    unsigned columns = plain_columns(path);
    if (columns > most) {
        text_add(text, "..");
        for (; columns > most - 2; columns--)
            path = plain_next(path);
    }
    text_add_plain(text, path, most);
}

static void add_cell(struct text *text, const char *cell, unsigned width, bool to_the_right, bool is_last)
{
    const unsigned columns = plain_columns(cell), blanks = columns < width ? width - columns : 0;
    if (to_the_right)
        text_repeat(text, " ", blanks);
    text_add_plain(text, cell, width);
    if (!to_the_right && !is_last)
        text_repeat(text, " ", blanks);
}

static unsigned sum_of(const unsigned widths[COLUMNS])
{
    unsigned sum = 0;
    for (int c = 0; c < COLUMNS; c++)
        if (widths[c] > 0)
            sum += widths[c] + (sum > 0 ? GAP : 0);
    return sum;
}

static bool has_names(const struct row *rows, size_t count)
{
    for (size_t r = 0; r < count; r++)
        if (rows[r].cell[NAME][0] != '\0')
            return true;
    return false;
}

static void set_widths(unsigned widths[COLUMNS], const struct row *rows, size_t count, unsigned width)
{
    for (int c = 0; c < COLUMNS; c++) {
        widths[c] = (unsigned)strlen(headings[c]);
        for (size_t r = 0; r < count; r++) {
            const unsigned columns = plain_columns(c == FOLDER ? rows[r].folder : rows[r].cell[c]);
            widths[c] = columns > widths[c] ? columns : widths[c];
        }
    }
    if (!has_names(rows, count))
        widths[NAME] = 0;
    const unsigned others = sum_of(widths) - widths[FOLDER];
    if (others + widths[FOLDER] > width && others + FOLDER_MIN <= width)
        widths[FOLDER] = width - others;
    for (size_t i = 0; i < sizeof dispensable / sizeof *dispensable && sum_of(widths) > width; i++)
        widths[dispensable[i]] = 0;
    if (widths[ID] > width)
        widths[ID] = width;
}

static void add_row(struct text *text, const unsigned widths[COLUMNS], const struct row *row)
{
    int last = COLUMNS - 1;
    while (last > 0 && widths[last] == 0)
        last--;
    for (int c = 0; c <= last; c++) {
        if (widths[c] == 0)
            continue;
        if (c > 0)
            text_repeat(text, " ", GAP);
        if (c == FOLDER && row != NULL)
            add_path(text, row->folder, widths[c]);
        else
            add_cell(text, row != NULL ? row->cell[c] : headings[c], widths[c], is_number[c], c == last);
    }
    while (text->data != NULL && text->length > 0 && text->data[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
}

void job_list_print(const struct job_list *list, unsigned width, struct text *text)
{
    unsigned widths[COLUMNS];
    struct row *rows = calloc(list->count + 1, sizeof *rows);
    if (rows == NULL) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        make_row(&rows[i], &list->items[i]);
    set_widths(widths, rows, list->count, width);
    add_row(text, widths, NULL);
    for (size_t i = 0; i < list->count; i++)
        add_row(text, widths, &rows[i]);
    free(rows);
}

static void add_line(struct text *text, const char *name, const char *value)
{
    if (value[0] == '\0')
        return;
    text_add(text, "  %-10s ", name);
    text_add_plain(text, value, UINT_MAX);
    text_add(text, "\n");
}

static void add_set_lines(const struct job_view *view, struct text *text)
{
    static const char *const times[] = {"submitted", "began", "ended"};
    const double priority = number_or(view->json, "priority", 0), weight = number_or(view->json, "weight", 1);
    const json_t *after = json_object_get(view->json, "after");
    size_t i;
    json_t *id;
    add_line(text, "name", view->name);
    if (priority != 0)
        text_add(text, "  %-10s %.0f\n", "priority", priority);
    if (weight != 1)
        text_add(text, "  %-10s %.0f\n", "weight", weight);
    if (json_array_size(after) > 0)
        text_add(text, "  %-10s", "after");
    json_array_foreach(after, i, id)
    {
        text_add(text, " %s/%.0f", view->session, json_number_value(id));
    }
    if (json_array_size(after) > 0)
        text_add(text, "\n");
    if (json_is_true(json_object_get(view->json, "open")))
        add_line(text, "open", "hdss add gives it more");
    for (i = 0; i < sizeof times / sizeof *times; i++)
        add_line(text, times[i], text_of(view->json, times[i]));
    const double cause = count_of(view->json, "cancelled_by");
    if (cause > 0)
        text_add(text, "  %-10s as %s/%.0f was not done\n", "cancelled", view->session, cause);
}

static void add_command(struct text *text, json_t *words)
{
    size_t i;
    json_t *word;
    text_add(text, "  %-10s", "command");
    json_array_foreach(words, i, word)
    {
        text_add(text, " ");
        text_add_plain(text, json_is_string(word) ? json_string_value(word) : "?", UINT_MAX);
    }
    text_add(text, "\n");
}

static void add_band(const struct job_view *view, struct text *text)
{
    char soonest[HUMAN_MAX], latest[HUMAN_MAX];
    if (view->soonest_s < 0)
        return;
    human_duration(soonest, view->soonest_s);
    if (view->latest_s >= 0)
        text_add(text, " (%s to %s)", soonest, human_duration(latest, view->latest_s));
    else
        text_add(text, " (%s at the soonest)", soonest);
}

static void add_figures(const struct job_view *view, struct text *text)
{
    char figure[HUMAN_MAX], number[HUMAN_MAX];
    text_add(text, "  %-10s ", "done");
    job_view_print_done(view, text);
    text_add(text, "\n");
    if (view->rate > 0)
        add_line(text, "rate", human_rate(figure, view->rate));
    add_line(text, "elapsed", human_duration(figure, view->elapsed_s));
    if (view->left_s >= 0) {
        text_add(text, "  %-10s %s", "left", human_duration(figure, view->left_s));
        add_band(view, text);
        text_add(text, "\n");
    }
    if (view->workers <= 0)
        return;
    text_add(text, "  %-10s %s of %s busy", "workers", whole(figure, view->busy), whole(number, view->workers));
    if (view->lost > 0)
        text_add(text, ", %s lost", whole(figure, view->lost));
    text_add(text, "\n");
}

void job_view_print(const struct job_view *view, struct text *text)
{
    text_add(text, "%s: ", view->id);
    text_add_plain(text, view->title, UINT_MAX);
    text_add(text, view->kernel[0] != '\0' ? ", " : "");
    text_add(text, "%s", view->waits_for[0] != '\0' ? "waits: " : "");
    text_add_plain(text, view->waits_for[0] != '\0' ? view->waits_for : view->state, UINT_MAX);
    text_add(text, "\n");
    if (view->json == NULL)
        return;
    add_set_lines(view, text);
    add_command(text, json_object_get(view->json, "command"));
    add_line(text, "folder", view->folder);
    if (!has_not_begun(view))
        add_figures(view, text);
    add_line(text, "technique", view->technique);
    add_line(text, "topology", view->topology);
    add_line(text, "output", view->output);
    if (view->status >= 0)
        text_add(text, "  %-10s %d\n", "status", view->status);
    add_line(text, "reason", view->reason);
}

void job_view_print_port(json_t *session, struct text *text)
{
    add_line(text, "http", text_of(session, "http"));
    add_line(text, "token", text_of(session, "token_file"));
}
