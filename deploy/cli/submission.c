/* SPDX-License-Identifier: MIT */
/* Submits jobs to a set: see submission.h. docs/CONTROL.md has the protocol. */
#include "deploy/cli/submission.h"

#include "common/os/say.h"
#include "deploy/cli/attend.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/feed.h"
#include "deploy/cli/find_job.h"
#include "deploy/cli/job_view.h"
#include "deploy/cli/mistakes.h"
#include "deploy/cli/sets.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MS   30000
#define BAD_REQUEST 400
#define BODY_MAX    (1u << 20)

/* Turns off the job's own progress line if this process shows one, or if the user wants none. Turns off the job's
 * summary if the user wants none. The user's options come after these, so they win. */
static void add_quiet_words(json_t *words, const struct submission_request *request, const struct job *as)
{
    const bool shows = request->waits && (request->quiet || request->is_json || attend_shows_progress(as));
    if (shows) {
        json_array_append_new(words, json_string("--progress"));
        json_array_append_new(words, json_string("never"));
    }
    if (request->quiet) {
        json_array_append_new(words, json_string("--summary"));
        json_array_append_new(words, json_string("none"));
    }
}

static json_t *words_of(const struct submission_request *request, const struct argv *job, const struct job *as,
                        struct error *error)
{
    json_t *words = json_array();
    add_quiet_words(words, request, as);
    for (unsigned i = 1; i < job->count; i++)
        if (json_array_append_new(words, json_string(job->items[i])) < 0) {
            json_decref(words);
            error_set(error, "the word '%.100s' is not UTF-8, as all that a set takes must be", job->items[i]);
            return NULL;
        }
    return words;
}

/* Leaves out variables that are not UTF-8. */
static json_t *environment_json(void)
{
    json_t *array = json_array();
    for (char **variable = environ; *variable != NULL; variable++)
        if (strchr(*variable, '=') != NULL)
            json_array_append_new(array, json_string(*variable));
    return array;
}

static json_t *after_json(const struct submission_request *request, const char *set, struct error *error)
{
    json_t *array = json_array();
    for (size_t i = 0; i < request->after_count; i++) {
        struct job_list found = {0};
        const char *id = request->after[i], *slash = strrchr(id, '/');
        const bool is_of_set = slash == NULL || (strncmp(id, set, strlen(set)) == 0 && id + strlen(set) == slash);
        uint64_t number = find_job_number(id);
        if (number == 0 && is_of_set && find_job(&found, set, slash != NULL ? slash + 1 : id, NULL) == 0)
            number = found.items[0].job;
        job_list_fini(&found);
        if (number > 0 && is_of_set) {
            json_array_append_new(array, json_integer((json_int_t)number));
            continue;
        }
        json_decref(array);
        error_set(error, "--after '%.60s'; accepted: IDs and names of jobs of the set %s, as %s/3, 3 or fit", id, set,
                  set);
        return NULL;
    }
    return array;
}

static mode_t mask(void)
{
    const mode_t own = umask(0);
    umask(own);
    return own;
}

/* Returns the request, which the caller frees; NULL on failure. */
static char *submission_text(const struct submission_request *request, const char *set, const struct argv *job,
                             const struct job *as, struct error *error)
{
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) == NULL) {
        error_set(error, "cannot tell the working directory: %s", strerror(errno));
        return NULL;
    }
    json_t *words = words_of(request, job, as, error);
    json_t *after = words != NULL ? after_json(request, set, error) : NULL;
    if (after == NULL) {
        json_decref(words);
        return NULL;
    }
    json_t *object = json_pack("{s:o, s:s, s:i, s:o, s:s?, s:I, s:i, s:o, s:b, s:b}", "words", words, "folder", folder,
                               "umask", (int)mask(), "environment", environment_json(), "name", request->name,
                               "priority", (json_int_t)request->priority, "weight", (int)request->weight, "after",
                               after, "open", request->is_open, "attached", request->side != NULL);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    if (text != NULL && strlen(text) > BODY_MAX) {
        error_set(error, "the job is of %zu bytes with its environment; accepted: %u", strlen(text), BODY_MAX);
        free(text);
        text = NULL;
    } else if (text == NULL)
        error_set(error, "the name of the job or of its folder is not UTF-8, as all that a set takes must be");
    json_decref(object);
    return text;
}

static int print_json(const char *program, json_t *json)
{
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
    printf("%s\n", text != NULL ? text : "null");
    free(text);
    return commands_end_page(program);
}

static uint64_t number_of_job(const struct control_answer *answer)
{
    const json_int_t id = json_integer_value(json_object_get(answer->json, "id"));
    return id > 0 ? (uint64_t)id : 0;
}

static int be_there(const char *program, const struct submission_request *request, struct control_client *client,
                    const struct set_place *set, uint64_t number, const struct job *as, int signals, bool *asked,
                    struct error *error)
{
    json_t *last = NULL;
    const struct attended attended = {.program = program,
                                      .set = set->name,
                                      .job = number,
                                      .as = as,
                                      .leaves = request->leaves,
                                      .silent = request->is_json,
                                      .side = request->side,
                                      .signals = signals};
    const bool takes_input = request->is_open && strcmp(as->kernel, "exec") == 0 && feed_has_input();
    struct error why;
    struct feed feed;
    feed_init(&feed, set->path, set->name, number);
    const pid_t feeding = request->sources != NULL || takes_input
                              ? feed_begin(program, &feed, request->sources, !request->stays_open, &why)
                              : 0;
    feed_fini(&feed);
    if (feeding < 0)
        say_error(program, why.text);
    int status = attend_job(client, &attended, &last, asked);
    const int fed = feeding > 0 ? feed_end(feeding) : EXIT_STATUS_DONE;
    if (status == EXIT_STATUS_DONE)
        status = feeding < 0 ? EXIT_STATUS_FAILED : fed;
    if (request->is_json && print_json(program, last) != EXIT_STATUS_DONE)
        status = EXIT_STATUS_FAILED;
    const char *reason = json_string_value(json_object_get(last, "reason"));
    if (request->side != NULL && reason != NULL && (status == EXIT_STATUS_FAILED || status == EXIT_STATUS_USAGE))
        error_set(error, "%s", reason);
    json_decref(last);
    return status;
}

static int refused(const struct control_answer *answer, enum ask_end end, const struct set_place *set,
                   const struct options *options, int argc, char *const *argv, struct error *error)
{
    if (answer->status == BAD_REQUEST) {
        mistakes_explain(options, argc, argv, error);
        return EXIT_STATUS_USAGE;
    }
    if (end == ASK_GONE) {
        sets_refuse_lost(set->name, error);
        return EXIT_STATUS_USAGE;
    }
    error_before(error, "the set %s: ", set->name);
    return EXIT_STATUS_FAILED;
}

static int leave_there(const char *program, const struct submission_request *request, const struct set_place *set,
                       uint64_t number, json_t *json)
{
    struct feed feed;
    int status = EXIT_STATUS_DONE;
    if (request->sources != NULL) {
        feed_init(&feed, set->path, set->name, number);
        status = feed_all(program, &feed, request->sources, !request->stays_open);
        feed_fini(&feed);
    }
    if (request->is_json)
        return print_json(program, json) == EXIT_STATUS_DONE ? status : EXIT_STATUS_FAILED;
    say(stdout, "%s/%" PRIu64, set->name, number);
    return commands_end_page(program) == EXIT_STATUS_DONE ? status : EXIT_STATUS_FAILED;
}

static int hand_over(const char *program, const struct submission_request *request, const struct set_place *set,
                     const char *text, const struct job *as, const struct options *options, int argc, char *const *argv,
                     bool *asked, struct error *error)
{
    struct control_client client, waits;
    struct control_answer answer;
    const int signals = request->waits ? attend_signals() : -1;
    int status;
    control_client_init(&client, set->path);
    control_client_init(&waits, set->path);
    const enum ask_end end = control_client_ask(&client, "POST", "/v1/jobs", text, ANSWER_MS, &answer, error);
    const uint64_t number = end == ASK_ANSWERED ? number_of_job(&answer) : 0;
    if (end != ASK_ANSWERED)
        status = refused(&answer, end, set, options, argc, argv, error);
    else if (number == 0) {
        error_set(error, "the set %s has answered with what is no job", set->name);
        status = EXIT_STATUS_FAILED;
    } else if (request->waits)
        status = be_there(program, request, &waits, set, number, as, signals, asked, error);
    else
        status = leave_there(program, request, set, number, answer.json);
    control_answer_fini(&answer);
    control_client_fini(&client);
    control_client_fini(&waits);
    return status;
}

int submission_make(const char *program, const struct submission_request *request, const struct argv *job,
                    const struct options *options, int argc, char *const *argv, bool *asked, struct error *error)
{
    struct set_place set;
    struct job as;
    job_init(&as);
    const int parsed = job_parse(&as, (int)job->count, job->items, error);
    if (parsed != 0) {
        if (parsed < 0)
            mistakes_explain(options, argc, argv, error);
        return EXIT_STATUS_USAGE;
    }
    if (sets_find(request->set, &set, error) < 0)
        return EXIT_STATUS_USAGE;
    char *text = submission_text(request, set.name, job, &as, error);
    if (text == NULL)
        return EXIT_STATUS_USAGE;
    const int status = hand_over(program, request, &set, text, &as, options, argc, argv, asked, error);
    free(text);
    return status;
}
