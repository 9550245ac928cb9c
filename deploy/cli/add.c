/* SPDX-License-Identifier: MIT */
/* hdss add: adds rows or iterations to an open job of a set. They come from the command line, a file or a pipe. */
#include "deploy/cli/argv.h"
#include "common/os/say.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/feed.h"
#include "deploy/cli/find_job.h"
#include "deploy/cli/sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT_MARK  ":::"
#define ITERATIONS_MAX 1000000000000

struct add_request {
    const char *set;
    uint64_t iterations;
    bool ends, is_json, is_null;
    struct sources_options how;
    const char *file;
    const char *id;
    struct argv words;
};

static const struct option_row add_rows[] = {
    {"set", 0, "SET", NULL, "use this set (default: HDSS_SET, else the batch job's set, else the only set)",
     TAKES_WORD(struct add_request, set), .least = 1},
    {"end", 0, NULL, NULL, "complete the job: nothing can be added later", TAKES_FLAG(struct add_request, ends)},
    {"iterations", 0, "N", NULL, "add N iterations to a job whose kernel is not exec",
     TAKES_INTEGER(struct add_request, iterations, 1, ITERATIONS_MAX)},
    {"arg-file", 'a', "FILE", NULL, "read rows from the lines of FILE. -: standard input",
     TAKES_WORD(struct add_request, file), .least = 1},
    {"null", '0', NULL, NULL, "split files into rows at NUL bytes, not at newlines",
     TAKES_FLAG(struct add_request, is_null)},
    {"colsep", 'C', "SEP", "a string, or a regular expression",
     "split each row into {1}, {2} and so on at SEP, a string or a regular expression",
     TAKES_WORD(struct add_request, how.separator), .least = 1},
    {"format", 0, "text|json", NULL, "print a line, or JSON (default text)", TAKES_CHOICE(struct add_request, is_json)},
    {NULL},
};

static const struct options add_options = {
    .usage = "hdss add [OPTION]... ID [WORD]...",
    .about = "Adds rows or iterations to an open job of a set, which `hdss submit --open` has made. A row is a task of "
             "exec. What the command reports as added is on disk.",
    .sections = {{"Options", add_rows}, {"Help", options_common}},
    .notes =
        "Each WORD is a row. " ARGUMENT_MARK
        " may stand before the words; after it, all words are rows, even those that look like options. Further ones "
        "separate lists of words, and the rows are all combinations. Without words the rows are the lines of standard "
        "input, which are added as they arrive; with --end, standard input is read only if it is a file or a pipe.\n"
        "Examples:\n"
        "    ID=$(hdss submit --open exec command='wc -c {}')\n"
        "    hdss add $ID *.dat\n"
        "    find . -name '*.txt' | hdss add --end $ID\n"
        "Exit status: 0 all is added; 1 it is not known whether all is added; 2 wrong use, or the job takes nothing "
        "more.",
};

static int add_take_operand(void *target, const char *word, struct error *error)
{
    struct add_request *request = target;
    (void)error;
    if (request->id == NULL)
        request->id = word;
    else
        argv_add(&request->words, word);
    return 0;
}

/* After `:::` each word is a row, even if it looks like an option. */
static int add_take_words(struct add_request *request, int argc, char **argv, struct error *error)
{
    int end = 1;
    while (end < argc && strcmp(argv[end], ARGUMENT_MARK) != 0)
        end++;
    const int result = options_parse(&add_options, end, argv, request, add_take_operand, error);
    for (int i = end; i < argc; i++)
        argv_add(&request->words, argv[i]);
    return result == 0 && request->words.failed ? error_set(error, "out of memory") : result;
}

static int add_check(const struct add_request *request, struct error *error)
{
    if (request->id == NULL)
        return error_set(error, "no job is named; accepted: the ID that `hdss submit --open` has printed");
    if (request->words.count > 0 && request->file != NULL)
        return error_set(error, "--arg-file and words are both given; accepted: one of them");
    if (request->iterations > 0 && (request->words.count > 0 || request->file != NULL))
        return error_set(error, "--iterations and rows are both given; accepted: one of them");
    return 0;
}

static int add_sources(struct sources *sources, const struct add_request *request, struct error *error)
{
    char *const *words = request->words.items;
    unsigned first = strcmp(words[0], ARGUMENT_MARK) == 0;
    for (unsigned i = first; i <= request->words.count; i++) {
        if (i < request->words.count && strcmp(words[i], ARGUMENT_MARK) != 0)
            continue;
        if (sources_add_words(sources, words + first, i - first, false, error) < 0)
            return -1;
        first = i + 1;
    }
    return 0;
}

static int add_rows_of(struct feed *feed, const struct add_request *request, struct error *error)
{
    struct sources *sources = sources_new(&request->how);
    if (sources == NULL)
        return error_set(error, "out of memory");
    int result = request->words.count > 0
                     ? add_sources(sources, request, error)
                     : sources_add_file(sources, request->file != NULL ? request->file : "-", false, error);
    if (result == 0)
        result = sources_begin(sources, error);
    if (result == 0)
        result = feed_rows(feed, sources, request->ends, error);
    sources_free(sources);
    return result;
}

static int add_items(struct feed *feed, const struct add_request *request, struct error *error)
{
    const bool has_rows = request->words.count > 0 || request->file != NULL;
    if (request->iterations > 0 || (!has_rows && request->ends && !feed_has_input()))
        return feed_iterations(feed, request->iterations, request->ends, error);
    return add_rows_of(feed, request, error);
}

static int print_given(const char *program, const struct feed *feed, const struct add_request *request)
{
    if (request->is_json)
        printf("{\"id\": %" PRIu64 ", \"added\": %" PRIu64 ", \"items\": %" PRIu64 ", \"complete\": %s}\n", feed->job,
               feed->added, feed->items, feed->is_complete ? "true" : "false");
    else
        say(stdout, "%s/%" PRIu64 ": %" PRIu64 " added, %" PRIu64 " in all%s", feed->set, feed->job, feed->added,
            feed->items, feed->is_complete ? ", complete" : "");
    return commands_end_page(program);
}

static int add(const char *program, const struct add_request *request, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct job_list found = {0};
    struct feed feed;
    int status = EXIT_STATUS_USAGE;
    if (find_job(&found, request->set, request->id, error) == 0) {
        const struct job_view *view = &found.items[0];
        feed_init(&feed, view->path, view->session, view->job);
        if (add_items(&feed, request, error) < 0)
            status = feed_exit_status(&feed);
        else {
            error->text[0] = '\0';
            status = print_given(program, &feed, request);
        }
        feed_fini(&feed);
    }
    job_list_fini(&found);
    return status;
}

int command_add(int argc, char **argv)
{
    static const char program[] = "hdss add";
    struct add_request request = {.how.delimiter = '\n'};
    struct error error = {0};
    int status = EXIT_STATUS_USAGE;
    int result = add_take_words(&request, argc, argv, &error);
    if (result == 0)
        result = add_check(&request, &error);
    if (request.is_null)
        request.how.delimiter = '\0';
    if (result > 0)
        status = show_page(program, &add_options, result);
    else if (result == 0)
        status = add(program, &request, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    argv_fini(&request.words);
    return status;
}

void add_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){add_options, OPERANDS_RUNS};
}
