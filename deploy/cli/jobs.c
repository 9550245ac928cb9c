/* SPDX-License-Identifier: MIT */
/* hdss jobs, show, wait and cancel: runs of this user on this machine, asked by their control sockets. */
#include "deploy/cli/ask_control.h"
#include "deploy/cli/columns.h"
#include "deploy/cli/commands.h"

#include "common/control/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX   1000
#define ANSWER_MS 10000
/* A request that waits for a change waits for so long, and for its answer some time longer. */
#define WAIT_S  25
#define WAIT_MS (1000 * WAIT_S + ANSWER_MS)

_Static_assert(WAIT_S <= CONTROL_WAIT_MAX_S, "the time for which a request may wait");

enum format { FORMAT_TEXT, FORMAT_JSON };

struct jobs_request {
    enum format format;
    const char *ids[IDS_MAX]; /* borrowed from argv */
    unsigned count;
};

static const struct option_row format_rows[] = {
    {"format", 0, "text|json", NULL, "text for people, or JSON as docs/CONTROL.md has it (default text)",
     TAKES_CHOICE(struct jobs_request, format)},
    {NULL},
};

#define ID_NOTE                                                                                                        \
    "ID is that of `hdss jobs`, run-PID, where `run-` and the end may be left out as long as it fits one run alone. "  \
    "Without ID the only run that there is is meant."

static const struct options jobs_options = {
    .usage = "hdss jobs [--format text|json]",
    .about = "Lists your runs on this machine: how far they are, how fast, when the end is expected.",
    .sections = {{"Options", format_rows}, {"Help", options_common}},
    .notes = "A run that does not answer is `silent`: it is stopped, or finishes a large output.\n"
             "Not found are runs with --control off and those of workers alone (--dca).",
};

static const struct options show_options = {
    .usage = "hdss show [ID]... [--format text|json]",
    .about = "Shows all that is known of a run while it goes on.",
    .sections = {{"Options", format_rows}, {"Help", options_common}},
    .notes = ID_NOTE,
};

static const struct options wait_options = {
    .usage = "hdss wait [ID]...",
    .about = "Waits for the end of runs, and says how they ended.",
    .sections = {{"Help", options_common}},
    .notes = ID_NOTE
    "\nExit status: that of the run, of several the first that is not 0; 1 where it is not known how a run ended.",
};

static const struct options cancel_options = {
    .usage = "hdss cancel [ID]...",
    .about = "Has runs drain, as Ctrl-C does: what runs is finished and kept, nothing begins. Returns at once.",
    .sections = {{"Help", options_common}},
    .notes = ID_NOTE,
};

/* --- words --- */

static int take_id(void *target, const char *word, struct error *error)
{
    struct jobs_request *request = target;
    if (request->count == IDS_MAX)
        return error_set(error, "%u IDs are accepted at most", IDS_MAX);
    request->ids[request->count++] = word;
    return 0;
}

static int jobs_fail(const char *program, const char *text, int status)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", program, text);
    return status;
}

/* Parses the words. Below 0: go on; else the exit status. */
static int jobs_parse(const char *program, const struct options *options, bool takes_ids, int argc, char **argv,
                      struct jobs_request *request)
{
    struct error error;
    const int result = options_parse(options, argc, argv, request, takes_ids ? take_id : NULL, &error);
    if (result == 0)
        return -1;
    return result > 0 ? show_page(program, options, result) : jobs_fail(program, error.text, EXIT_STATUS_USAGE);
}

/* Prints what was made of it. Returns the exit status. */
static int jobs_put(const char *program, struct text *text)
{
    char *made = text_take(text);
    if (made == NULL)
        return jobs_fail(program, "out of memory", EXIT_STATUS_FAILED);
    fputs(made, stdout);
    free(made);
    return commands_end_page(program);
}

/* --- the jobs that are meant --- */

/* Without words the only job is meant. NULL with one line. */
static struct job_view *only_job(struct job_list *list, struct error *error)
{
    if (list->count == 1)
        return &list->items[0];
    error_set(error,
              list->count == 0 ? "no run of yours is there on this machine"
                               : "%zu runs are there: say which; `hdss jobs` lists them",
              list->count);
    return NULL;
}

/* Does `act` for each job that is meant, all of which must be there. Returns the first exit status that is not 0. */
static int jobs_each(const char *program, const struct jobs_request *request,
                     int (*act)(const char *program, struct job_view *view, void *context), void *context)
{
    struct job_list list = {0};
    struct job_view *meant[IDS_MAX];
    struct error error;
    const unsigned count = request->count > 0 ? request->count : 1;
    int status = EXIT_STATUS_DONE;
    if (control_list_jobs(&list) < 0)
        status = jobs_fail(program, "out of memory", EXIT_STATUS_FAILED);
    for (unsigned i = 0; i < count && status == EXIT_STATUS_DONE; i++) {
        meant[i] = request->count > 0 ? job_list_find(&list, request->ids[i], &error) : only_job(&list, &error);
        if (meant[i] == NULL)
            status = jobs_fail(program, error.text, EXIT_STATUS_FAILED);
    }
    if (status == EXIT_STATUS_DONE) {
        for (unsigned i = 0; i < count; i++) {
            const int result = act(program, meant[i], context);
            status = status == EXIT_STATUS_DONE ? result : status;
        }
    }
    job_list_fini(&list);
    return status;
}

/* --- jobs --- */

/* The job with the name of its run, as a reference of the caller's. */
static json_t *jobs_json_of(const struct job_view *view)
{
    json_t *object = json_object();
    json_object_set_new(object, "session", json_string(view->session));
    if (view->json != NULL)
        json_object_update(object, view->json);
    else
        json_object_set_new(object, "state", json_null());
    return object;
}

static void jobs_add_json(json_t *json, struct text *text)
{
    char *made = json_dumps(json, JSON_INDENT(2));
    text_add(text, "%s\n", made != NULL ? made : "null");
    free(made);
    json_decref(json);
}

int command_jobs(int argc, char **argv)
{
    static const char program[] = "hdss jobs";
    struct jobs_request request = {0};
    struct job_list list = {0};
    struct text text;
    int status = jobs_parse(program, &jobs_options, false, argc, argv, &request);
    if (status >= 0)
        return status;
    if (control_list_jobs(&list) < 0)
        return jobs_fail(program, "out of memory", EXIT_STATUS_FAILED);
    text_init(&text);
    if (request.format == FORMAT_JSON) {
        json_t *array = json_array();
        for (size_t i = 0; i < list.count; i++)
            json_array_append_new(array, jobs_json_of(&list.items[i]));
        jobs_add_json(array, &text);
    } else if (list.count == 0)
        text_add(&text, "no run of yours is there on this machine\n");
    else
        job_list_print(&list, columns_of_output(), &text);
    status = jobs_put(program, &text);
    job_list_fini(&list);
    return status;
}

/* --- show --- */

static int show_job(const char *program, struct job_view *view, void *context)
{
    const struct jobs_request *request = context;
    struct text text;
    text_init(&text);
    if (request->format == FORMAT_JSON)
        jobs_add_json(jobs_json_of(view), &text);
    else
        job_view_print(view, &text);
    return jobs_put(program, &text);
}

int command_show(int argc, char **argv)
{
    static const char program[] = "hdss show";
    struct jobs_request request = {0};
    const int status = jobs_parse(program, &show_options, true, argc, argv, &request);
    return status >= 0 ? status : jobs_each(program, &request, show_job, &request);
}

/* --- wait --- */

/* Says how the job ended. Returns its exit status. */
static int tell_end(const char *program, const struct job_view *view)
{
    struct text text;
    text_init(&text);
    text_add(&text, "%s: %s, ", view->session, view->state);
    job_view_print_done(view, &text);
    text_add(&text, "\n");
    const int status = jobs_put(program, &text);
    return status == EXIT_STATUS_DONE ? view->status : status;
}

/* A run that does not answer is there all the same, and may go on. */
static int wait_for_job(const char *program, struct job_view *view, void *context)
{
    char target[64];
    struct error error, text;
    (void)context;
    snprintf(target, sizeof target, "/v1/jobs/1?wait=%d", WAIT_S);
    for (;;) {
        struct control_answer answer;
        const enum ask_end end = control_ask(view->path, "GET", target, WAIT_MS, &answer, &error);
        if (end == ASK_GONE) {
            error_set(&text, "%s has ended, and it is not known how", view->session);
            return jobs_fail(program, text.text, EXIT_STATUS_FAILED);
        }
        struct job_view now = *view;
        if (end == ASK_REFUSED || (end == ASK_ANSWERED && job_view_read(&now, answer.json, &error) < 0)) {
            json_decref(answer.json);
            error_set(&text, "%s: %.400s", view->session, error.text);
            return jobs_fail(program, text.text, EXIT_STATUS_FAILED);
        }
        if (end == ASK_ANSWERED) {
            json_decref(view->json);
            *view = now;
            json_decref(answer.json);
        }
        if (view->status >= 0)
            return tell_end(program, view);
    }
}

int command_wait(int argc, char **argv)
{
    static const char program[] = "hdss wait";
    struct jobs_request request = {0};
    const int status = jobs_parse(program, &wait_options, true, argc, argv, &request);
    return status >= 0 ? status : jobs_each(program, &request, wait_for_job, NULL);
}

/* --- cancel --- */

static int cancel_job(const char *program, struct job_view *view, void *context)
{
    struct control_answer answer;
    struct error error, text;
    (void)context;
    const enum ask_end end = control_ask(view->path, "DELETE", "/v1/jobs/1", ANSWER_MS, &answer, &error);
    json_decref(answer.json);
    if (end == ASK_ANSWERED) {
        printf("%s drains: what runs is finished and kept\n", view->session);
        return commands_end_page(program);
    }
    error_set(&text, "%s: %.400s", view->session, error.text);
    return jobs_fail(program, text.text, EXIT_STATUS_FAILED);
}

int command_cancel(int argc, char **argv)
{
    static const char program[] = "hdss cancel";
    struct jobs_request request = {0};
    const int status = jobs_parse(program, &cancel_options, true, argc, argv, &request);
    return status >= 0 ? status : jobs_each(program, &request, cancel_job, NULL);
}

/* --- the tables --- */

void jobs_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){jobs_options, OPERANDS_NONE};
}

void show_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){show_options, OPERANDS_RUNS};
}

void wait_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){wait_options, OPERANDS_RUNS};
}

void cancel_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){cancel_options, OPERANDS_RUNS};
}
