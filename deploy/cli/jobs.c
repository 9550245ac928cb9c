/* SPDX-License-Identifier: MIT */
/* hdss jobs, show, wait, cancel and output. They find this user's runs and sets on this machine by their control
 * sockets. */
#include "deploy/cli/ask_control.h"
#include "common/os/say.h"
#include "deploy/cli/columns.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/find_job.h"
#include "deploy/cli/job_output.h"
#include "deploy/cli/job_results.h"

#include "common/control/route.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX   1000
#define ANSWER_MS 10000
#define WAIT_S    25

_Static_assert(WAIT_S <= CONTROL_WAIT_MAX_S, "the time for which a request may wait");

enum format { FORMAT_TEXT, FORMAT_JSON };
enum streams { STREAMS_BOTH, STREAMS_OUT, STREAMS_ERR, STREAMS_SUMMARY };

struct jobs_request {
    enum format format;
    bool all, takes_all;
    bool takes_over; /* --all stands also for the jobs that are over */
    bool follows;
    bool finishes;
    enum streams streams;
    const char *set;
    const char *ids[IDS_MAX];
    unsigned count;
};

#define FORMAT_ROW                                                                                                     \
    {                                                                                                                  \
        "format", 0, "text|json", NULL, "print text, or JSON as docs/CONTROL.md describes it (default text)",          \
            TAKES_CHOICE(struct jobs_request, format)                                                                  \
    }
#define SET_ROW                                                                                                        \
    {                                                                                                                  \
        "set", 0, "SET", NULL, "use this set (default: HDSS_SET, else the batch job's set, else the only set)",        \
            TAKES_WORD(struct jobs_request, set), .least = 1                                                           \
    }

static const struct option_row jobs_rows[] = {
    {"all", 'a', NULL, NULL, "also list finished jobs of sets", TAKES_FLAG(struct jobs_request, all)},
    {"set", 0, "SET", NULL, "list only the jobs of this set (default: the jobs of all sets, and runs)",
     TAKES_WORD(struct jobs_request, set), .least = 1},
    FORMAT_ROW,
    {NULL},
};

static const struct option_row show_rows[] = {SET_ROW, FORMAT_ROW, {NULL}};

static const struct option_row wait_rows[] = {
    {"all", 'a', NULL, NULL, "wait for all unfinished jobs of the set", TAKES_FLAG(struct jobs_request, all)},
    SET_ROW,
    {NULL},
};

static const struct option_row cancel_rows[] = {
    {"all", 'a', NULL, NULL, "cancel all unfinished jobs of the set", TAKES_FLAG(struct jobs_request, all)},
    {"finish", 0, NULL, NULL, "let running iterations finish, and keep their results",
     TAKES_FLAG(struct jobs_request, finishes)},
    SET_ROW,
    {NULL},
};

static const struct option_row output_rows[] = {
    {"all", 'a', NULL, NULL, "print the outputs of all jobs of the set", TAKES_FLAG(struct jobs_request, all)},
    {"stream", 0, "both|out|err|summary", NULL,
     "print only standard output, only standard error, both, or the summary (default both)",
     TAKES_CHOICE(struct jobs_request, streams)},
    {"follow", 'f', NULL, NULL, "print new output until the job is over", TAKES_FLAG(struct jobs_request, follows)},
    SET_ROW,
    {NULL},
};

#define ID_NOTE                                                                                                        \
    "ID is one that `hdss jobs` lists. A job of a set is SET/3, or 3 if it is clear which set is meant; the name of "  \
    "the job may stand in place of 3. A run is run-PID; `run-` and the last digits may be left out if the rest fits "  \
    "only one run. Without ID the only unfinished job is meant."

static const struct options jobs_options = {
    .usage = "hdss jobs [--all] [--set SET] [--format text|json]",
    .about = "Lists your runs and the jobs of your sets on this machine: how far they are, how fast they are, and when "
             "they are expected to end.",
    .sections = {{"Options", jobs_rows}, {"Help", options_common}},
    .notes = "A run that does not answer is listed as `silent`: it is stopped, or it finishes a large output.\n"
             "Runs with --control off and runs of only workers (--dca) are not listed.",
};

static const struct options show_options = {
    .usage = "hdss show [ID]... [--set SET] [--format text|json]",
    .about = "Shows all that is known of a run while it runs, or of a job of a set, also after the job's end.",
    .sections = {{"Options", show_rows}, {"Help", options_common}},
    .notes = ID_NOTE,
};

static const struct options wait_options = {
    .usage = "hdss wait [ID]... [--all] [--set SET]",
    .about = "Waits until jobs end, and says how they ended.",
    .sections = {{"Options", wait_rows}, {"Help", options_common}},
    .notes = ID_NOTE "\n"
                     "Exit status: that of the job, or of several jobs the first that is not 0; 1 if it is not known "
                     "how a job ended; 2 if there is no such job.",
};

static const struct options cancel_options = {
    .usage = "hdss cancel [ID]... [--all] [--finish] [--set SET]",
    .about = "Cancels jobs, and returns at once. If a job of a set runs, its running iterations are ended at once and "
             "finished results stay; if it waits, it never begins. A run drains as after Ctrl-C: running iterations "
             "are finished and kept.",
    .sections = {{"Options", cancel_rows}, {"Help", options_common}},
    .notes = ID_NOTE "\n"
                     "To end a job at once that was cancelled with --finish, cancel it again without --finish.",
};

static const struct options output_options = {
    .usage = "hdss output [ID]... [--all] [--stream both|out|err|summary] [--follow] [--set SET]",
    .about = "Prints the output of jobs of a set: the output of tasks, in their order, or else the summary. Notes and "
             "errors go to standard error.",
    .sections = {{"Options", output_rows}, {"Help", options_common}},
    .notes = ID_NOTE "\n"
                     "A run prints where it was started; its output is not known here.",
};

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
    say(stderr, "%s: %s", program, text);
    return status;
}

static int jobs_parse(const char *program, const struct options *options, bool takes_ids, int argc, char **argv,
                      struct jobs_request *request)
{
    struct error error;
    const int result = options_parse(options, argc, argv, request, takes_ids ? take_id : NULL, &error);
    if (result == 0)
        return -1;
    return result > 0 ? show_page(program, options, result) : jobs_fail(program, error.text, EXIT_STATUS_USAGE);
}

static int jobs_put(const char *program, struct text *text)
{
    char *made = text_take(text);
    if (made == NULL)
        return jobs_fail(program, "out of memory", EXIT_STATUS_FAILED);
    fputs(made, stdout);
    free(made);
    return commands_end_page(program);
}

static int jobs_each(const char *program, const struct jobs_request *request,
                     int (*act)(const char *program, struct job_view *view, void *context), void *context)
{
    struct job_list meant = {0};
    struct error error;
    int status = EXIT_STATUS_DONE, result = 0;
    if (request->all && request->count > 0)
        result = error_set(&error, "--all and '%.60s' are both given; accepted: one of them", request->ids[0]);
    else if (request->all)
        result = find_all_jobs(&meant, request->set, request->takes_over ? LISTED_ALL : LISTED_ALIVE, &error);
    else if (request->count == 0)
        result = find_only_job(&meant, request->set, request->takes_all, &error);
    for (unsigned i = 0; i < request->count && result == 0; i++)
        result = find_job(&meant, request->set, request->ids[i], &error);
    if (result < 0)
        status = jobs_fail(program, error.text, EXIT_STATUS_USAGE);
    for (size_t i = 0; i < meant.count && result == 0; i++) {
        const int one = act(program, &meant.items[i], context);
        status = status == EXIT_STATUS_DONE ? one : status;
    }
    job_list_fini(&meant);
    return status;
}

/* Returns the JSON of the job, with the name of its run or set. The caller owns it. */
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

static void print_sets(json_t *sets, struct text *text)
{
    size_t i;
    json_t *set;
    json_array_foreach(sets, i, set)
    {
        const json_int_t running = json_integer_value(json_object_get(set, "running")),
                         waiting = json_integer_value(json_object_get(set, "waiting")),
                         over = json_integer_value(json_object_get(set, "over")),
                         workers = json_integer_value(json_object_get(set, "workers"));
        text_add(text, "set %s: ", json_string_value(json_object_get(set, "set")));
        if (!json_is_true(json_object_get(set, "answers"))) {
            text_add(text, "silent\n");
            continue;
        }
        if (workers > 0)
            text_add(text, "%jd worker%s, ", (intmax_t)workers, workers > 1 ? "s" : "");
        text_add(text, "%jd running, %jd waiting, %jd over\n", (intmax_t)running, (intmax_t)waiting, (intmax_t)over);
    }
}

static int list_jobs(struct job_list *list, const struct jobs_request *request, json_t *sets, struct error *error)
{
    const enum listed listed = request->all ? LISTED_ALL : LISTED_ALIVE;
    struct set_place place;
    if (request->set == NULL)
        return control_list_jobs(list, listed, sets) < 0 ? error_set(error, "out of memory") : 0;
    return sets_find(request->set, &place, error) < 0 ? -1 : control_list_set(list, listed, &place, sets, error);
}

int command_jobs(int argc, char **argv)
{
    static const char program[] = "hdss jobs";
    struct jobs_request request = {0};
    struct job_list list = {0};
    struct text text;
    struct error error;
    int status = jobs_parse(program, &jobs_options, false, argc, argv, &request);
    if (status >= 0)
        return status;
    json_t *sets = json_array();
    if (list_jobs(&list, &request, sets, &error) < 0) {
        json_decref(sets);
        job_list_fini(&list);
        return jobs_fail(program, error.text, request.set != NULL ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED);
    }
    text_init(&text);
    if (request.format == FORMAT_JSON) {
        json_t *array = json_array();
        for (size_t i = 0; i < list.count; i++)
            json_array_append_new(array, jobs_json_of(&list.items[i]));
        jobs_add_json(array, &text);
    } else if (list.count == 0 && json_array_size(sets) == 0)
        text_add(&text, "no run of yours is there on this machine\n");
    else {
        if (list.count > 0)
            job_list_print(&list, columns_of_output(), &text);
        if (list.count > 0 && json_array_size(sets) > 0)
            text_add(&text, "\n");
        print_sets(sets, &text);
    }
    status = jobs_put(program, &text);
    json_decref(sets);
    job_list_fini(&list);
    return status;
}

static void add_port(const struct job_view *view, struct text *text)
{
    struct control_answer answer = {0};
    struct error error;
    if (view->json != NULL && control_ask(view->path, "GET", "/v1", ANSWER_MS, &answer, &error) == ASK_ANSWERED)
        job_view_print_port(answer.json, text);
    control_answer_fini(&answer);
}

static int show_job(const char *program, struct job_view *view, void *context)
{
    const struct jobs_request *request = context;
    struct text text;
    text_init(&text);
    if (request->format == FORMAT_JSON)
        jobs_add_json(jobs_json_of(view), &text);
    else {
        job_view_print(view, &text);
        add_port(view, &text);
    }
    return jobs_put(program, &text);
}

int command_show(int argc, char **argv)
{
    static const char program[] = "hdss show";
    struct jobs_request request = {0};
    const int status = jobs_parse(program, &show_options, true, argc, argv, &request);
    return status >= 0 ? status : jobs_each(program, &request, show_job, &request);
}

static int tell_end(const char *program, const struct job_view *view)
{
    struct text text;
    text_init(&text);
    text_add(&text, "%s: %s, ", view->id, view->state);
    job_view_print_done(view, &text);
    text_add(&text, "%s", view->reason[0] != '\0' ? ": " : "");
    text_add_plain(&text, view->reason, UINT_MAX);
    text_add(&text, "\n");
    const int status = jobs_put(program, &text);
    return status == EXIT_STATUS_DONE ? view->status : status;
}

static enum ask_end look_again(struct control_client *client, struct job_view *view, unsigned wait_s,
                               struct error *error)
{
    struct control_answer answer;
    struct job_view now = *view;
    char target[64];
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "?wait=%u", view->job, wait_s);
    enum ask_end end = control_client_ask(client, "GET", target, NULL, 1000 * (int)wait_s + ANSWER_MS, &answer, error);
    if (end == ASK_ANSWERED && job_view_read(&now, answer.json, error) < 0)
        end = ASK_REFUSED;
    else if (end == ASK_ANSWERED) {
        json_decref(view->json);
        *view = now;
    }
    control_answer_fini(&answer);
    return end;
}

/* A run that does not answer may still be running. */
static int wait_for_job(const char *program, struct job_view *view, void *context)
{
    struct control_client client;
    struct error error, text;
    enum ask_end end = ASK_ANSWERED;
    (void)context;
    control_client_init(&client, view->path);
    while (view->status < 0 && (end == ASK_ANSWERED || end == ASK_SILENT))
        end = look_again(&client, view, WAIT_S, &error);
    control_client_fini(&client);
    if (view->status >= 0)
        return tell_end(program, view);
    if (end == ASK_GONE)
        error_set(&text, "%s has ended, and it is not known how", view->id);
    else
        error_set(&text, "%s: %.400s", view->id, error.text);
    return jobs_fail(program, text.text, EXIT_STATUS_FAILED);
}

int command_wait(int argc, char **argv)
{
    static const char program[] = "hdss wait";
    struct jobs_request request = {.takes_all = true};
    const int status = jobs_parse(program, &wait_options, true, argc, argv, &request);
    return status >= 0 ? status : jobs_each(program, &request, wait_for_job, NULL);
}

static int cancel_job(const char *program, struct job_view *view, void *context)
{
    const struct jobs_request *request = context;
    const bool finishes = request->finishes || strcmp(view->id, view->session) == 0;
    struct control_answer answer;
    struct error error, text;
    char target[64];
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "%s", view->job, finishes ? "?finish=1" : "");
    const enum ask_end end = control_ask(view->path, "DELETE", target, ANSWER_MS, &answer, &error);
    const char *state = json_string_value(json_object_get(answer.json, "state"));
    if (state != NULL && job_state_is_over(state))
        say(stdout, "%s is over: %s", view->id, state);
    else if (end == ASK_ANSWERED)
        say(stdout, "%s %s", view->id,
            finishes ? "drains: what runs is finished and kept" : "is cancelled: what runs is ended");
    control_answer_fini(&answer);
    if (end == ASK_ANSWERED)
        return commands_end_page(program);
    error_set(&text, "%s: %.400s", view->id, error.text);
    return jobs_fail(program, text.text, EXIT_STATUS_FAILED);
}

int command_cancel(int argc, char **argv)
{
    static const char program[] = "hdss cancel";
    struct jobs_request request = {.takes_all = true};
    const int status = jobs_parse(program, &cancel_options, true, argc, argv, &request);
    return status >= 0 ? status : jobs_each(program, &request, cancel_job, &request);
}

#define FOLLOW_MS 500

static enum ask_end print_streams(struct control_client *client, const struct job_view *view, enum streams streams,
                                  uint64_t from[JOB_STREAMS], struct error *error)
{
    const bool has_summary =
        streams == STREAMS_SUMMARY || (streams != STREAMS_ERR && strcmp(view->kernel, "exec") != 0);
    enum ask_end end = ASK_ANSWERED;
    if (streams == STREAMS_BOTH || streams == STREAMS_ERR)
        end = job_output_copy(client, view->job, JOB_STREAM_ERR, &from[JOB_STREAM_ERR], stderr, error);
    if (has_summary && end == ASK_ANSWERED)
        end = job_output_copy(client, view->job, JOB_STREAM_OUT, &from[JOB_STREAM_OUT], stdout, error);
    fflush(stdout);
    return end;
}

static int print_output(const char *program, struct job_view *view, void *context)
{
    const struct jobs_request *request = context;
    const enum streams streams = request->streams;
    const int out = streams == STREAMS_ERR ? -1 : STDOUT_FILENO, err = streams == STREAMS_OUT ? -1 : STDERR_FILENO;
    struct control_client client;
    struct job_printed results;
    struct error error, text;
    uint64_t from[JOB_STREAMS] = {0};
    bool has_results = false;
    control_client_init(&client, view->path);
    enum ask_end end = print_streams(&client, view, streams, from, &error);
    while (end == ASK_ANSWERED) {
        if (!has_results && streams != STREAMS_SUMMARY && job_results_has(view)) {
            has_results = job_results_begin(&results, view, out, err, &error) == 0;
            end = has_results ? ASK_ANSWERED : ASK_REFUSED;
        }
        if (has_results)
            job_results_look(&results, &text); /* an error is reported again at the end */
        if (end != ASK_ANSWERED || !request->follows || view->status >= 0)
            break;
        poll(NULL, 0, FOLLOW_MS);
        end = look_again(&client, view, 0, &error);
        if (end == ASK_ANSWERED)
            end = print_streams(&client, view, streams, from, &error);
    }
    if (has_results && job_results_end(&results, view->status >= 0, &error) < 0)
        end = ASK_REFUSED;
    control_client_fini(&client);
    if (end == ASK_ANSWERED)
        return commands_end_page(program);
    error_set(&text, "%s: %.400s", view->id, error.text);
    return jobs_fail(program, text.text, EXIT_STATUS_FAILED);
}

int command_output(int argc, char **argv)
{
    static const char program[] = "hdss output";
    struct jobs_request request = {.takes_all = true, .takes_over = true};
    const int status = jobs_parse(program, &output_options, true, argc, argv, &request);
    return status >= 0 ? status : jobs_each(program, &request, print_output, &request);
}

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

void output_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){output_options, OPERANDS_RUNS};
}
