/* SPDX-License-Identifier: MIT */
/* hdss submit: submits a job to a set. The options for the job are those of `hdss run`. */
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/exec_request.h"
#include "deploy/cli/mistakes.h"
#include "deploy/cli/run.h"
#include "deploy/cli/submission.h"
#include "deploy/cli/words.h"

#include "common/config/job.h"
#include "common/config/params.h"
#include "common/util/number.h"
#include "worker/kernels/kernels.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITY_MAX 1000
#define WEIGHT_MAX   1000
#define ARRAY_MAX    1000000000

struct submit {
    struct submission_request request;
    struct exec_request tasks;
    uint64_t array_last;
    char array[60];
};

_Static_assert(offsetof(struct submit, request) == 0, "options of the submission take it for its request");

static int take_priority(void *target, const char *value, struct error *error)
{
    char *end;
    const long number = strtol(value, &end, 10);
    (void)error;
    if (end == value || *end != '\0' || number < -PRIORITY_MAX || number > PRIORITY_MAX)
        return -1;
    ((struct submission_request *)target)->priority = number;
    return 0;
}

static int take_after(void *target, const char *value, struct error *error)
{
    struct submission_request *request = target;
    if (request->after_count == SUBMISSION_AFTER_MAX)
        return error_set(error, "%d jobs are accepted at most", SUBMISSION_AFTER_MAX);
    request->after[request->after_count++] = value;
    return value[0] != '\0' ? 0 : -1;
}

static int take_array(void *target, const char *value, struct error *error)
{
    struct submit *submit = target;
    uint64_t first, last;
    char begin[24];
    const char *dash = strchr(value, '-');
    (void)error;
    if (dash == NULL || dash - value >= (ptrdiff_t)sizeof begin)
        return -1;
    snprintf(begin, sizeof begin, "%.*s", (int)(dash - value), value);
    if (number_parse_u64(begin, &first) < 0 || number_parse_u64(dash + 1, &last) < 0 || first == 0 || last < first ||
        last > ARRAY_MAX)
        return -1;
    submit->array_last = last;
    snprintf(submit->array, sizeof submit->array, "--iterations=%" PRIu64 ":%" PRIu64, first - 1, last - first + 1);
    return 0;
}

static const struct option_row submit_rows[] = {
    {"set", 0, "SET", NULL, "use this set (default: HDSS_SET, else the batch job's set, else the only set)",
     TAKES_WORD(struct submission_request, set), .least = 1},
    {"wait", 'w', NULL, NULL,
     "wait until the job ends, and print progress and summary like `hdss run`; Ctrl-C cancels the job",
     TAKES_FLAG(struct submission_request, waits)},
    {"leave", 0, NULL, NULL, "with --wait: let Ctrl-C end only the waiting, not the job",
     TAKES_FLAG(struct submission_request, leaves)},
    {"open", 0, NULL, NULL,
     "let `hdss add` add rows or iterations to the job. With --wait, a job of exec takes the lines of standard input "
     "if that is a file or a pipe",
     TAKES_FLAG(struct submission_request, is_open)},
    {"name", 0, "NAME", NULL, "give the job a name that stands for its ID in other commands",
     TAKES_WORD(struct submission_request, name), .least = 1},
    {"priority", 0, "P", "an integer from -1000 to 1000",
     "begin and compute the job before all jobs of a lower priority (-1000 to 1000; default 0)", take_priority},
    {"weight", 0, "X", NULL, "give jobs of the same priority workers in proportion to their X (default 1)",
     TAKES_INTEGER(struct submission_request, weight, 1, WEIGHT_MAX)},
    {"after", 0, "ID", "the ID or the name of a job of the set", "begin after job ID is done; may be repeated",
     take_after},
    {"array", 0, "FIRST-LAST", "two numbers from 1, as 1-100",
     "run the command for each of these numbers; {} in its words and HDSS_TASK in its environment are the number",
     take_array},
    {"quiet", 'q', NULL, NULL, "with --wait: print only errors", TAKES_FLAG(struct submission_request, quiet)},
    {"format", 0, "text|json", NULL, "print the ID, or the job as JSON, with --wait at the job's end (default text)",
     TAKES_CHOICE(struct submission_request, is_json)},
    {NULL},
};

static const struct options submit_options = {
    .usage = "hdss submit [OPTION]... KERNEL [KEY=VALUE]...\n"
             "hdss submit [OPTION]... COMMAND [WORD]... [::: ARG...]...\n"
             "hdss submit [OPTION]... exec [OPTION of hdss exec]... COMMAND [WORD]... [::: ARG...]...\n"
             "hdss submit [OPTION]... exec -- COMMAND [WORD]...",
    .about = "Hands a job to a set of daemons that `hdss up` has started, and prints its ID.",
    .sections = {{"Submission", submit_rows}, {"Help", options_common}},
    .notes = "All options that `supermaster --help` shows are accepted as well.\n"
             "The job runs in the current folder, with the current umask and environment. It is on disk when its ID is "
             "printed: if the set is lost, `hdss up --resume` continues the job.\n"
             "Example:\n"
             "    hdss submit --wait --output m.npy mandelbrot width=2048\n"
             "    hdss submit ./fit data.csv\n"
             "    hdss submit exec --timeout 1h ./fit {} ::: *.csv\n"
             "    seq 100 | hdss submit --open --wait exec command='echo {}'\n"
             "Exit status: 0 submitted; with --wait that of the job, as of `hdss run`, and 4 if the job is left; 1 if "
             "it is not known how the job ended; 2 wrong use.",
};

static struct options all_options(void)
{
    struct options all = submit_options;
    const struct option_section *section = job_options()->sections;
    for (unsigned i = 2; i + 1 < OPTIONS_SECTIONS_MAX && section->title != NULL; section++)
        if (section->rows != options_common)
            all.sections[i++] = *section;
    return all;
}

void submit_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){all_options(), OPERANDS_KERNEL};
}

static int take_command(struct argv *job, int count, char *const *words, struct error *error)
{
    const struct words_options options = {.quotes = true};
    if (count == 0)
        return error_set(error, "there is no command behind `exec --`");
    char *command = words_line(words, count, &options);
    job->failed |= command == NULL;
    argv_add_format(job, "command=%s", command != NULL ? command : "");
    free(command);
    return 0;
}

static bool is_exec_parameter(const char *word)
{
    const struct hdss_kernel *exec = kernel_find("exec");
    bool found = false;
    for (unsigned i = 0; i < kernel_params_count(exec) && !found; i++) {
        const size_t length = strlen(exec->params[i].name);
        found = strncmp(word, exec->params[i].name, length) == 0 && word[length] == '=';
    }
    return found;
}

static bool are_words_of_tasks(int argc, char **argv, int at)
{
    const struct options options = exec_options();
    struct options_reader reader;
    struct options_word word;
    struct error unused;
    bool has_file = false;
    options_reader_init(&reader, &options, argc - at + 1, argv + at - 1);
    while (options_next(&reader, &word, &unused) > 0) {
        if (word.row == NULL)
            return !is_exec_parameter(word.value);
        has_file |= strcmp(word.row->name, "arg-file") == 0;
    }
    return has_file;
}

static int add_array(const struct submit *submit, struct argv *job, struct error *error)
{
    if (!submit->tasks.is_one_task)
        return error_set(error, "--array counts the tasks, and ::: has arguments for them; accepted: one of them");
    argv_add_format(job, "count=%" PRIu64, submit->array_last);
    argv_insert(job, 1, submit->array);
    return 0;
}

static int take_tasks(struct submit *submit, struct argv *job, int argc, char **argv, struct error *error)
{
    struct exec_request *tasks = &submit->tasks;
    const int result = exec_request_read_for_set(tasks, argc, argv, error);
    if (result != 0)
        return result;
    argv_add_all(job, &tasks->words);
    if (tasks->output != NULL)
        argv_add_format(job, "--output=%s", tasks->output);
    if (tasks->resumes)
        argv_add(job, tasks->again_failed ? "--resume=failed" : "--resume");
    argv_add(job, "exec");
    exec_request_add_parameters(tasks, job);
    if (submit->array_last > 0)
        return add_array(submit, job, error);
    if (!tasks->is_one_task) {
        submit->request.stays_open = submit->request.is_open;
        submit->request.is_open = true;
        submit->request.sources = tasks->sources;
    }
    return 0;
}

static struct options known_options(void)
{
    struct options known = all_options();
    unsigned i = 0;
    while (known.sections[i].title != NULL)
        i++;
    assert(i + 2 < OPTIONS_SECTIONS_MAX);
    known.sections[i++] = (struct option_section){"Launch", launch_place_rows};
    known.sections[i] = (struct option_section){"Run", launch_run_rows};
    return known;
}

static int take_arguments(struct submit *submit, struct argv *job, const struct options *all, int argc, char **argv,
                          struct error *error)
{
    struct submission_request *request = &submit->request;
    bool has_kernel = false;
    const struct options known = known_options();
    struct options_reader reader;
    struct options_word word;
    int more, first;
    options_reader_init(&reader, &known, argc, argv);
    argv_add(job, "supermaster");
    while (first = reader.at, (more = options_next(&reader, &word, error)) > 0) {
        if (word.row != NULL && options_find(&submit_options, word.row->name) != NULL) {
            const int result = option_apply(&word, submit, error);
            if (result != 0)
                return result;
            continue;
        }
        if (word.row != NULL && options_find(all, word.row->name) == NULL)
            return error_set(error, "--%s is for a launch; accepted: options of a job", word.row->name);
        const bool begins = word.row == NULL && !has_kernel;
        has_kernel |= begins;
        if (begins && strcmp(word.value, "exec") == 0 && reader.at < argc && strcmp(argv[reader.at], "--") == 0) {
            argv_add(job, word.value);
            more = take_command(job, argc - reader.at - 1, argv + reader.at + 1, error);
            break;
        }
        if (begins && strcmp(word.value, "exec") == 0 && are_words_of_tasks(argc, argv, reader.at)) {
            more = take_tasks(submit, job, argc - reader.at + 1, argv + reader.at - 1, error);
            break;
        }
        if (begins && (mistakes_is_command(word.value) || strncmp(word.value, ":::", strlen(":::")) == 0)) {
            more = take_tasks(submit, job, argc - first + 1, argv + first - 1, error);
            break;
        }
        for (int i = first; i < reader.at; i++)
            argv_add(job, argv[i]);
    }
    if (more == 0 && submit->array_last > 0 && submit->tasks.command == NULL)
        return error_set(error, "--array: accepted with a command; `--iterations` is for other kernels");
    if (more == 0 && (request->leaves || request->quiet) && !request->waits)
        return error_set(error, "%s: accepted with --wait", request->leaves ? "--leave" : "--quiet");
    return more;
}

int command_submit(int argc, char **argv)
{
    static const char program[] = "hdss submit";
    const struct options all = all_options();
    struct submit submit = {.request = SUBMISSION_DEFAULT};
    struct argv job = {0};
    struct error error = {0};
    bool asked;
    int status = EXIT_STATUS_USAGE;
    const int result = take_arguments(&submit, &job, &all, argc, argv, &error);
    if (result > 0)
        status = show_page(program, &submit_options, result);
    else if (result < 0)
        mistakes_explain(&all, argc, argv, &error);
    else
        status = submission_make(program, &submit.request, &job, &all, argc, argv, &asked, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    argv_fini(&job);
    exec_request_fini(&submit.tasks);
    return status;
}
