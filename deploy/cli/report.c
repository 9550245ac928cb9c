/* SPDX-License-Identifier: MIT */
/* hdss report: a run as a page of HTML, or its Gantt chart as SVG, from its trace, the JSON of --report, or both. */
#include "deploy/cli/report.h"
#include "common/config/job.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "common/util/text.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/report/figures.h"
#include "deploy/cli/report/gantt.h"
#include "deploy/cli/report/page.h"
#include "deploy/cli/report/trace_file.h"
#include "deploy/cli/report/tree.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES_MAX = 3 };

#define FILES_ACCEPTED "a trace, a report, and a simulated report are accepted, one of each"

struct report_request {
    const char *files[FILES_MAX]; /* borrowed from argv */
    unsigned count;
    const char *name; /* what the page says that it is made from; borrowed; NULL: the first file */
    char html[JOB_PATH_MAX], svg[JOB_PATH_MAX]; /* empty: not wanted */
};

static const struct option_row report_rows[] = {
    {"html", 0, "FILE.html", "the name of a file", "write a page with the charts, the figures and the tables",
     TAKES_PATH(struct report_request, html)},
    {"svg", 0, "FILE.svg", "the name of a file", "write the Gantt chart alone, for a paper",
     TAKES_PATH(struct report_request, svg)},
    {NULL},
};

static const struct options report_options = {
    .usage = "hdss report FILE... --html FILE.html | --svg FILE.svg",
    .about =
        "Shows a run: who computed what and when, the chunk sizes, the finishing times, what has come about, and the "
        "figures of it all in words. FILE is the trace of the run, its --report, or both of the same run; the --report "
        "of "
        "hdss simulate beside these shows what was predicted. The page needs nothing but itself and a browser.",
    .sections = {{"Options", report_rows}, {"Help", options_common}},
    .notes = "Example:\n"
             "    hdss report trace.csv run.json --html run.html\n"
             "    hdss report run.json simulated.json --html run.html\n"
             "    hdss report trace.csv --svg gantt.svg",
};

static int report_take_word(void *target, const char *word, struct error *error)
{
    struct report_request *request = target;
    if (request->count == FILES_MAX)
        return error_set(error, "'%.100s' is one argument too many: " FILES_ACCEPTED, word);
    request->files[request->count++] = word;
    return 0;
}

static int report_say(const struct error *error, int status)
{
    say(stderr, "hdss report: %s", error->text);
    return status;
}

/* All that the files tell. */
struct report_input {
    struct run_trace trace;
    bool has_trace;
    json_t *json, *simulated;                            /* owned; NULL: none */
    const char *trace_name, *json_name, *simulated_name; /* borrowed */
};

static int second_file(const char *name, const char *kind, struct error *error)
{
    return error_set(error, "%.200s: a second %s; " FILES_ACCEPTED, name, kind);
}

static int read_json(struct report_input *input, FILE *file, const char *name, struct error *error)
{
    json_error_t reason;
    json_t *json = json_loadf(file, JSON_REJECT_DUPLICATES, &reason);
    if (json == NULL)
        return error_set(error, "%.200s:%d: %.200s", name, reason.line, reason.text);
    const bool is_simulated = figures_report_is_simulated(json);
    json_t **place = is_simulated ? &input->simulated : &input->json;
    if (*place != NULL) {
        json_decref(json);
        return second_file(name, is_simulated ? "simulated report" : "report", error);
    }
    *place = json;
    *(is_simulated ? &input->simulated_name : &input->json_name) = name;
    return 0;
}

/* A report begins with a brace; all else is taken for a trace, which says what is wrong with it. */
static int read_either(struct report_input *input, FILE *file, const char *name, struct error *error)
{
    const int byte = getc(file);
    if (byte != EOF)
        ungetc(byte, file);
    if (byte == '{')
        return read_json(input, file, name, error);
    if (input->has_trace)
        return second_file(name, "trace", error);
    input->has_trace = true;
    input->trace_name = name;
    return trace_file_read(&input->trace, file, name, error);
}

/* A simulated report is a prediction beside the trace or the report of a run; else it is the run that is to be shown.
 * A trace is of a simulation where it has no time of day. */
static int tell_apart(struct report_input *input, struct error *error)
{
    const bool is_simulated_trace = input->has_trace && input->trace.facts.origin == NULL;
    if (input->simulated == NULL)
        return 0;
    if (input->json != NULL && is_simulated_trace)
        return error_set(error,
                         "%.200s: the trace is of a simulation; beside a report and a simulated report the trace "
                         "of the run is accepted",
                         input->trace_name);
    if (input->json != NULL || (input->has_trace && !is_simulated_trace))
        return 0;
    input->json = input->simulated;
    input->json_name = input->simulated_name;
    input->simulated = NULL;
    return 0;
}

static int read_files(struct report_input *input, const struct report_request *request, struct error *error)
{
    int result = 0;
    for (unsigned i = 0; result == 0 && i < request->count; i++) {
        FILE *file = trace_file_open_input(request->files[i], error);
        if (file == NULL)
            return -1;
        result = read_either(input, file, request->files[i], error);
        fclose(file);
    }
    return result == 0 ? tell_apart(input, error) : result;
}

static int make_figures(struct figures *figures, struct figures *simulated, const struct report_input *input,
                        struct error *error)
{
    struct error cause;
    if (input->has_trace && figures_of_trace(figures, &input->trace, error) < 0)
        return -1;
    if (input->json != NULL && figures_of_report(figures, input->json, &cause) < 0)
        return error_set(error, "%.150s: %.300s", input->json_name, cause.text);
    if (input->simulated != NULL && figures_of_report(simulated, input->simulated, &cause) < 0)
        return error_set(error, "%.150s: %.300s", input->simulated_name, cause.text);
    return 0;
}

/* --- output --- */

static int write_page_text(const char *path, struct text *text, struct error *error)
{
    const size_t length = text->length;
    char *data = text_take(text);
    const int result = data != NULL ? file_write(path, data, length, error) : error_set(error, "out of memory");
    free(data);
    return result;
}

/* The end of the loop in the times of the trace. */
static double loop_end(const struct figures *figures, const struct run_trace *trace)
{
    return figures->elapsed_s > 0 ? figures->begin_s + figures->elapsed_s : run_trace_end(trace);
}

static int write_page(const struct report_request *request, const struct figures *figures,
                      const struct figures *simulated, const struct report_input *input, struct error *error)
{
    struct page_content content = {.figures = figures,
                                   .simulated = input->simulated != NULL ? simulated : NULL,
                                   .name = request->name != NULL ? request->name : request->files[0]};
    struct run_tree tree = {0};
    struct text text;
    text_init(&text);
    int result = 0;
    if (input->has_trace) {
        content.trace = &input->trace;
        content.tree = &tree;
        result = run_tree_make(&tree, &input->trace, figures->begin_s, loop_end(figures, &input->trace), error);
    }
    if (result == 0) {
        page_html(&text, &content);
        result = write_page_text(request->html, &text, error);
    }
    text_fini(&text);
    run_tree_fini(&tree);
    return result;
}

static int write_wanted(const struct report_request *request, const struct figures *figures,
                        const struct figures *simulated, const struct report_input *input, struct error *error)
{
    const struct run_trace *trace = input->has_trace ? &input->trace : NULL;
    if (request->html[0] != '\0' && write_page(request, figures, simulated, input, error) < 0)
        return -1;
    if (request->svg[0] != '\0') {
        struct text text, title;
        text_init(&text);
        text_init(&title);
        page_title(&title, figures);
        gantt_svg(&text, trace, title.data != NULL ? title.data : "");
        text.failed |= title.failed;
        text_fini(&title);
        return write_page_text(request->svg, &text, error);
    }
    return 0;
}

/* --- the command --- */

/* Looks whether the file to be written is one of those to be read. */
static int check_written(const struct report_request *request, const char *option, const char *path,
                         struct error *error)
{
    struct stat out, in;
    if (path[0] == '\0')
        return 0;
    for (unsigned i = 0; i < request->count; i++)
        if (stat(path, &out) == 0 && stat(request->files[i], &in) == 0 && out.st_dev == in.st_dev &&
            out.st_ino == in.st_ino)
            return error_set(error, "%s %.200s is the file to be read; another name is accepted", option, path);
    return file_check_writable(path, error);
}

static int check_request(const struct report_request *request, struct error *error)
{
    if (request->count == 0)
        return error_set(error, "no file is given: hdss report TRACE.csv --html RUN.html");
    if (request->html[0] == '\0' && request->svg[0] == '\0')
        return error_set(error, "nothing is to be written: --html FILE.html or --svg FILE.svg is accepted");
    return check_written(request, "--html", request->html, error) < 0 ||
                   check_written(request, "--svg", request->svg, error) < 0
               ? -1
               : 0;
}

/* Reads the files, and writes what is wanted. Returns an exit status, with one line unless all is done. */
static int report_make(const struct report_request *request, struct error *error)
{
    struct report_input input = {0};
    struct figures figures, simulated;
    int status = EXIT_STATUS_DONE;
    run_trace_init(&input.trace);
    figures_init(&figures);
    figures_init(&simulated);
    if (read_files(&input, request, error) < 0 || make_figures(&figures, &simulated, &input, error) < 0)
        status = EXIT_STATUS_USAGE;
    else if (request->svg[0] != '\0' && !input.has_trace) {
        error_set(error, "--svg needs a trace: %.200s is a report, which does not tell of single chunks",
                  request->files[0]);
        status = EXIT_STATUS_USAGE;
    } else if (write_wanted(request, &figures, &simulated, &input, error) < 0)
        status = EXIT_STATUS_FAILED;
    figures_fini(&figures);
    figures_fini(&simulated);
    run_trace_fini(&input.trace);
    json_decref(input.json);
    json_decref(input.simulated);
    return status;
}

int report_write_page(const char *const *files, unsigned count, const char *html, struct error *error)
{
    struct report_request request = {.count = count < FILES_MAX ? count : FILES_MAX, .name = "what the run has left"};
    for (unsigned i = 0; i < request.count; i++)
        request.files[i] = files[i];
    if (option_take_path(request.html, sizeof request.html, html, error) < 0)
        return -1;
    return report_make(&request, error) == EXIT_STATUS_DONE ? 0 : -1;
}

int command_report(int argc, char **argv)
{
    struct report_request request = {0};
    struct error error;
    int result = options_parse(&report_options, argc, argv, &request, report_take_word, &error);
    if (result != 0)
        return result < 0 ? report_say(&error, EXIT_STATUS_USAGE) : show_page("hdss report", &report_options, result);
    if (check_request(&request, &error) < 0)
        return report_say(&error, EXIT_STATUS_USAGE);
    const int status = report_make(&request, &error);
    return status == EXIT_STATUS_DONE ? status : report_say(&error, status);
}

void report_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){report_options, OPERANDS_FILE};
}
