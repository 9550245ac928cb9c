/* SPDX-License-Identifier: MIT */
/* hdss explain: who computed an iteration, when, and why there; what a worker did; what became of a chunk. From the
 * trace of the run. */
#include "deploy/cli/commands.h"
#include "common/os/say.h"
#include "common/util/text.h"
#include "deploy/cli/find_job.h"
#include "deploy/cli/report/story.h"
#include "deploy/cli/report/trace_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct explain_request {
    const char *name; /* of the trace, or the job; borrowed; NULL: none was given */
    const char *set;
    uint64_t iteration, worker, chunk;
    bool has_iteration, has_worker, has_chunk;
};

static const struct option_row explain_rows[] = {
    {"iteration", 'i', "I", NULL, "who computed iteration I, counted from 0, when, and why there",
     TAKES_INTEGER(struct explain_request, iteration, 0, UINT64_MAX),
     .given = offsetof(struct explain_request, has_iteration)},
    {"worker", 'w', "W", "the rank of a worker", "what the worker of rank W computed",
     TAKES_INTEGER(struct explain_request, worker, 0, UINT32_MAX),
     .given = offsetof(struct explain_request, has_worker)},
    {"chunk", 'c', "C", "an integer from 1",
     "with --worker: what became of chunk C of this worker; else: of the chunk that was cut in scheduling step C",
     TAKES_INTEGER(struct explain_request, chunk, 1, UINT64_MAX), .given = offsetof(struct explain_request, has_chunk)},
    {"set", 0, "NAME", NULL, "the set whose job is meant", TAKES_WORD(struct explain_request, set), .least = 1},
    {NULL},
};

static const struct options explain_options = {
    .usage = "hdss explain TRACE.csv|ID --iteration I | --worker W [--chunk C] | --chunk C",
    .about = "Says in words who computed what, when, and why there, from the trace of a run, which `--trace FILE.csv` "
             "writes. ID is a job of a set that has such a trace.",
    .sections = {{"Options", explain_rows}, {"Help", options_common}},
    .notes = "Example:\n"
             "    hdss run --workers 4 --trace run.csv mandelbrot\n"
             "    hdss explain run.csv --iteration 700\n"
             "    hdss explain run.csv --worker 2",
};

static int explain_take_word(void *target, const char *word, struct error *error)
{
    struct explain_request *request = target;
    if (request->name != NULL)
        return error_set(error, "'%.100s' is one argument too many: one trace, or one job, is accepted", word);
    request->name = word;
    return 0;
}

static int explain_say(const struct error *error, int status)
{
    say(stderr, "hdss explain: %s", error->text);
    return status;
}

static int check_request(const struct explain_request *request, struct error *error)
{
    if (request->name == NULL)
        return error_set(error, "no trace is given: hdss explain TRACE.csv --iteration I");
    if (!request->has_iteration && !request->has_worker && !request->has_chunk)
        return error_set(error, "nothing is asked: --iteration I, --worker W or --chunk C is accepted");
    if (request->has_iteration && (request->has_worker || request->has_chunk))
        return error_set(error, "--iteration says enough: accepted without --worker and --chunk");
    return 0;
}

/* --- the trace of a job --- */

/* The value of --trace among the words of a job; NULL: there is none. */
static const char *trace_of_words(json_t *words)
{
    const char *found = NULL;
    size_t i;
    json_t *item;
    json_array_foreach(words, i, item)
    {
        const char *word = json_string_value(item);
        if (word != NULL && strncmp(word, "--trace=", 8) == 0)
            found = word + 8;
        else if (word != NULL && strcmp(word, "--trace") == 0)
            found = json_string_value(json_array_get(words, i + 1));
    }
    return found;
}

/* The name of the trace of a job, to be freed. NULL with one line. */
static char *trace_of_job(const struct explain_request *request, struct error *error)
{
    struct job_list found = {NULL, 0, 0};
    struct text name;
    text_init(&name);
    if (find_job(&found, request->set, request->name, error) == 0) {
        const struct job_view *job = &found.items[found.count - 1];
        const char *trace = trace_of_words(json_object_get(job->json, "command"));
        if (trace == NULL)
            error_set(error, "%.100s has no trace: it was given no --trace FILE.csv", job->id);
        else if (!job_state_is_over(job->state))
            error_set(error, "%.100s is %.40s: its trace is there when it is over", job->id, job->state);
        else
            text_add(&name, "%s%s%s", trace[0] == '/' ? "" : job->folder, trace[0] == '/' ? "" : "/", trace);
    }
    job_list_fini(&found);
    return text_take(&name);
}

/* A name that can be no job's is a file's. */
static bool may_be_file(const char *name)
{
    FILE *file = fopen(name, "re");
    if (file != NULL)
        fclose(file);
    return file != NULL || strchr(name, '.') != NULL || find_job_number(name) == 0;
}

/* --- the command --- */

static int tell_story(struct text *text, const struct explain_request *request, const struct run_trace *trace,
                      struct error *error)
{
    return request->has_iteration ? story_of_iteration(text, trace, request->iteration, error)
           : !request->has_worker ? story_of_step(text, trace, request->chunk, error)
           : request->has_chunk   ? story_of_chunk(text, trace, request->worker, request->chunk, error)
                                  : story_of_worker(text, trace, request->worker, error);
}

/* Reads the trace and prints what is asked. Returns the exit status. */
static int explain_file(const struct explain_request *request, const char *name)
{
    struct run_trace trace;
    struct error error;
    struct text text;
    FILE *file = trace_file_open_input(name, &error);
    if (file == NULL)
        return explain_say(&error, EXIT_STATUS_USAGE);
    run_trace_init(&trace);
    text_init(&text);
    int result = trace_file_read(&trace, file, name, &error);
    if (result == 0)
        result = tell_story(&text, request, &trace, &error);
    char *said = text_take(&text);
    if (result == 0 && said != NULL)
        fputs(said, stdout);
    free(said);
    run_trace_fini(&trace);
    fclose(file);
    return result < 0 ? explain_say(&error, EXIT_STATUS_USAGE) : commands_end_page("hdss explain");
}

int command_explain(int argc, char **argv)
{
    struct explain_request request = {NULL};
    struct error error;
    int result = options_parse(&explain_options, argc, argv, &request, explain_take_word, &error);
    if (result != 0)
        return result < 0 ? explain_say(&error, EXIT_STATUS_USAGE)
                          : show_page("hdss explain", &explain_options, result);
    if (check_request(&request, &error) < 0)
        return explain_say(&error, EXIT_STATUS_USAGE);
    if (may_be_file(request.name))
        return explain_file(&request, request.name);
    char *name = trace_of_job(&request, &error);
    int status = name != NULL ? explain_file(&request, name) : explain_say(&error, EXIT_STATUS_USAGE);
    free(name);
    return status;
}

void explain_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){explain_options, OPERANDS_FILE};
}
