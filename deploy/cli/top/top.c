/* SPDX-License-Identifier: MIT */
/* hdss top: runs and sets, their jobs and workers, as they go on; by their control sockets alone. A question to each
 * session about once a second, then a page is made of the answers (view.c), for a terminal or as text. */
#include "common/os/clock.h"
#include "common/os/say.h"
#include "deploy/cli/columns.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/find_job.h"
#include "deploy/cli/sets.h"
#include "deploy/cli/top/gather.h"
#include "deploy/cli/top/screen.h"
#include "deploy/cli/top/view.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERVAL_LEAST_NS UINT64_C(100000000)
#define INTERVAL_USUAL_NS UINT64_C(1000000000)
#define INTERVAL_MOST_S   3600

struct top_request {
    bool once, all;
    uint64_t interval_ns;
    const char *word; /* a set or a job; NULL: all; borrowed from argv */
};

struct top {
    struct top_request request;
    struct top_gather gather;
    struct top_model model;
    struct top_ui ui;
    struct top_sum sum;
    struct top_rows rows;
    char session[CONTROL_NAME_MAX]; /* the one that is shown; empty: all */
    size_t shown;                   /* rows that the screen had room for */
    bool utf8;
};

static const char program[] = "hdss top";

/* --- the tables --- */

static int take_interval(void *target, const char *value, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct top_request *request = target;
    char *end;
    const double seconds = strtod(value, &end);
    error->text[0] = '\0';
    if (end == value || *end != '\0' || !(seconds * 1e9 >= (double)INTERVAL_LEAST_NS) || seconds > INTERVAL_MOST_S)
        return -1;
    request->interval_ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static const struct option_row top_rows[] = {
    {"once", 0, NULL, NULL, "print one page as plain text and end", TAKES_FLAG(struct top_request, once)},
    {"interval", 0, "SECONDS", "0.1 to 3600", "time between two looks (default 1)", take_interval},
    {"all", 0, NULL, NULL, "list jobs that are over, too, and all workers of a job",
     TAKES_FLAG(struct top_request, all)},
    {NULL},
};

static const struct options top_options = {
    .usage = "hdss top [SET|ID] [--once] [--interval SECONDS] [--all]",
    .about =
        "Shows your runs and sets on this machine as they go on: jobs with rate and expected end, and of a job its "
        "workers by node, its imbalance, what takes longest, and what was lost.",
    .sections = {{"Options", top_rows}, {"Help", options_common}},
    .notes =
        "SET is one of `hdss jobs`, of which the jobs are shown; ID is that of a job, which is looked into: NAME/3 "
        "or 3 of a set, run-PID of a run.\n"
        "Keys: arrows, j and k select, Enter looks into a job, q and Esc go back, s sorts, a shows all, c cancels, "
        "? tells of them; q in the list quits.",
};

void top_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){top_options, OPERANDS_SESSIONS};
}

static int take_word(void *target, const char *word, struct error *error)
{
    struct top_request *request = target;
    if (request->word != NULL)
        return error_set(error, "'%.60s' is one word too many; accepted: one set or one ID", word);
    request->word = word;
    return 0;
}

static int top_fail(const char *text, int status)
{
    fflush(stdout);
    say(stderr, "%s: %s", program, text);
    return status;
}

/* --- what is shown --- */

/* Finds the set or the job that the word names. -1 with one line. */
static int find_operand(struct top *top, struct error *error)
{
    struct set_place set;
    struct job_list found = {0};
    if (top->request.word == NULL)
        return 0;
    if (sets_find(top->request.word, &set, error) == 0) {
        snprintf(top->session, sizeof top->session, "%s", set.name);
        return 0;
    }
    const int result = find_job(&found, NULL, top->request.word, error);
    if (result == 0) {
        snprintf(top->session, sizeof top->session, "%s", found.items[0].session);
        snprintf(top->ui.job, sizeof top->ui.job, "%s", found.items[0].id);
        top->ui.is_inside = top->ui.is_alone = true;
    }
    job_list_fini(&found);
    return result;
}

static void read_clock(struct top_model *model)
{
    const time_t now = time(NULL);
    struct tm parts;
    model->clock[0] = '\0';
    if (localtime_r(&now, &parts) != NULL)
        strftime(model->clock, sizeof model->clock, "%H:%M:%S", &parts);
}

/* Sums up what is known, and lists the rows anew. -1 when memory is out. */
static int top_arrange(struct top *top)
{
    top_sum_fini(&top->sum);
    top_rows_fini(&top->rows);
    if (top_sum_init(&top->sum, &top->model) < 0 || top_rows_make(&top->rows, &top->model, &top->sum, &top->ui) < 0)
        return -1;
    top_ui_settle(&top->ui, &top->model, &top->rows);
    return 0;
}

static int top_look(struct top *top, bool all_ranks)
{
    read_clock(&top->model);
    return top_gather_look(&top->gather, &top->model, &top->ui, all_ranks) < 0 ? -1 : top_arrange(top);
}

/* --- once --- */

static int print_once(struct top *top)
{
    struct page page;
    const unsigned columns = columns_of_output();
    page_init(&page, columns < TOP_WIDTH_MAX ? columns : TOP_WIDTH_MAX, top->utf8);
    char *text = NULL;
    if (top_look(top, true) == 0) {
        top_view(&page, TOP_HEIGHT_ANY, &top->model, &top->sum, &top->rows, &top->ui);
        text = page_text(&page);
    }
    page_fini(&page);
    if (text == NULL)
        return top_fail("out of memory", EXIT_STATUS_FAILED);
    fputs(text, stdout);
    free(text);
    return commands_end_page(program);
}

/* --- the screen --- */

static int top_show(struct top *top)
{
    struct page page;
    unsigned columns, lines;
    top_screen_size(&columns, &lines);
    page_init(&page, columns < TOP_WIDTH_MAX ? columns : TOP_WIDTH_MAX, top->utf8);
    top->shown = top_view(&page, lines, &top->model, &top->sum, &top->rows, &top->ui);
    const bool failed = page.failed;
    if (!failed)
        top_screen_show(&page);
    page_fini(&page);
    return failed ? -1 : 0;
}

/* Does what a key asks for. 1: the program ends; -1 when memory is out. */
static int top_act_on(struct top *top, enum top_key key)
{
    if (key != TOP_KEY_NONE)
        top->model.note[0] = '\0';
    switch (top_ui_key(&top->ui, &top->model, &top->sum, &top->rows, top->shown, key)) {
    case TOP_END: return 1;
    case TOP_LOOK: return top_look(top, false);
    case TOP_CANCEL: top_gather_cancel(&top->gather, &top->model, top->ui.asked); return top_look(top, false);
    case TOP_NOTHING: break;
    }
    return top_arrange(top);
}

/* Takes keys until the next look is due. As top_act_on(). */
static int take_keys(struct top *top, uint64_t due_ns)
{
    int result = 0;
    while (result == 0) {
        const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        bool is_resized;
        if (now_ns >= due_ns)
            return 0;
        const enum top_key key = top_screen_key((int)((due_ns - now_ns) / 1000000 + 1), &is_resized);
        if (key == TOP_KEY_NONE && !is_resized)
            continue;
        result = top_act_on(top, key);
        if (result == 0)
            result = top_show(top);
    }
    return result;
}

static int run_screen(struct top *top)
{
    struct error error;
    int result = 0;
    if (top_screen_open(&error) < 0)
        return top_fail(error.text, EXIT_STATUS_USAGE);
    while (result == 0) {
        const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
        result =
            top_look(top, false) < 0 || top_show(top) < 0 ? -1 : take_keys(top, began_ns + top->request.interval_ns);
    }
    top_screen_close();
    return result < 0 ? top_fail("out of memory", EXIT_STATUS_FAILED) : EXIT_STATUS_DONE;
}

int command_top(int argc, char **argv)
{
    struct top top = {.request = {.interval_ns = INTERVAL_USUAL_NS}};
    struct error error;
    int status = options_parse(&top_options, argc, argv, &top.request, take_word, &error);
    if (status > 0)
        return show_page(program, &top_options, status);
    if (status < 0 || find_operand(&top, &error) < 0)
        return top_fail(error.text, EXIT_STATUS_USAGE);
    setlocale(LC_CTYPE, "");
    top.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    top.ui.shows_over = top.ui.opens_all = top.request.all;
    top_gather_init(&top.gather, top.session[0] != '\0' ? top.session : NULL);
    status = top.request.once ? print_once(&top) : run_screen(&top);
    top_rows_fini(&top.rows);
    top_sum_fini(&top.sum);
    top_model_fini(&top.model);
    top_gather_fini(&top.gather);
    return status;
}
