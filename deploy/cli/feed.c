/* SPDX-License-Identifier: MIT */
/* Adds items to an open job: see feed.h. docs/CONTROL.md has the protocol. */
#include "deploy/cli/feed.h"

#include "common/os/clock.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/sets.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 30000
/* A request has at most ROWS_MAX rows. It has at most BYTES_MAX bytes, unless a single row is longer. */
#define ROWS_MAX  4096
#define BYTES_MAX 65536
/* A set closes a connection after a minute without requests, so this process reconnects earlier. */
#define STALE_MS         20000
#define STATUS_BAD       400
#define STATUS_NOT_FOUND 404
#define STATUS_CONFLICT  409

void feed_init(struct feed *feed, const char *path, const char *set, uint64_t job)
{
    *feed = (struct feed){.set = set, .job = job};
    control_client_init(&feed->client, path);
}

void feed_fini(struct feed *feed)
{
    control_client_fini(&feed->client);
    json_decref(feed->rows);
    feed->rows = NULL;
}

/* Makes a new connection before the set may close the old one. If the set closed it during a request, nobody would know
 * whether the request was carried out. */
static void renew(struct feed *feed)
{
    char path[CONTROL_PATH_MAX];
    const int64_t now_ms = (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
    if (now_ms - feed->asked_ms > STALE_MS) {
        snprintf(path, sizeof path, "%s", feed->client.path);
        control_client_fini(&feed->client);
        control_client_init(&feed->client, path);
    }
    feed->asked_ms = now_ms;
}

static uint64_t number_of(const json_t *answer, const char *field)
{
    const json_int_t number = json_integer_value(json_object_get(answer, field));
    return number > 0 ? (uint64_t)number : 0;
}

static int feed_send(struct feed *feed, json_t *request, struct error *error)
{
    struct control_answer answer;
    struct error why = {0};
    char target[64];
    char *text = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    if (text == NULL)
        return error_set(error, "out of memory");
    renew(feed);
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "/items", feed->job);
    const enum ask_end end = control_client_ask(&feed->client, "POST", target, text, ANSWER_MS, &answer, &why);
    free(text);
    feed->status = end == ASK_REFUSED ? answer.status : 0;
    feed->is_unknown = end == ASK_GONE || end == ASK_SILENT;
    if (end == ASK_ANSWERED) {
        feed->added += number_of(answer.json, "added");
        feed->items = number_of(answer.json, "items");
        feed->is_complete = json_is_true(json_object_get(answer.json, "complete"));
    } else if (end == ASK_GONE && feed->added == 0)
        sets_refuse_lost(feed->set, error);
    else if (feed->added > 0)
        error_set(error, "%s/%" PRIu64 ": %.400s; %" PRIu64 " before that were added", feed->set, feed->job, why.text,
                  feed->added);
    else
        error_set(error, "%s/%" PRIu64 ": %.400s", feed->set, feed->job, why.text);
    control_answer_fini(&answer);
    return end == ASK_ANSWERED ? 0 : -1;
}

int feed_exit_status(const struct feed *feed)
{
    const bool cannot_be = feed->status == 0 || feed->status == STATUS_BAD || feed->status == STATUS_NOT_FOUND ||
                           feed->status == STATUS_CONFLICT;
    return cannot_be && !feed->is_unknown ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED;
}

static int feed_flush(struct feed *feed, bool ends, struct error *error)
{
    json_t *rows = feed->rows != NULL ? feed->rows : json_array();
    feed->rows = NULL;
    feed->count = feed->bytes = 0;
    return feed_send(feed, json_pack("{s:o, s:b}", "rows", rows, "end", ends), error);
}

static json_t *field_json(const struct feed *feed, const struct piece *field, struct error *error)
{
    const uint64_t row = feed->added + feed->count + 1;
    json_t *text = memchr(field->text, '\0', field->length) == NULL ? json_stringn(field->text, field->length) : NULL;
    if (text == NULL)
        error_set(error, "row %" PRIu64 " has a NUL byte or is not UTF-8, as all that a set takes must be", row);
    return text;
}

static json_t *row_json(const struct feed *feed, const struct arguments *row, struct error *error)
{
    if (row->count == 1)
        return field_json(feed, &row->fields[0], error);
    json_t *list = json_array();
    for (unsigned i = 0; i < row->count; i++) {
        json_t *text = field_json(feed, &row->fields[i], error);
        if (text == NULL) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, text);
    }
    return list;
}

static int feed_add(struct feed *feed, const struct arguments *row, struct error *error)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < row->count; i++)
        bytes += row->fields[i].length;
    if ((feed->count == ROWS_MAX || feed->bytes + bytes > BYTES_MAX) && feed_flush(feed, false, error) < 0)
        return -1;
    struct error second;
    json_t *one = row_json(feed, row, error);
    if (one == NULL) {
        if (feed->count > 0)
            feed_flush(feed, false, &second); /* the rows before the invalid row are still added */
        return -1;
    }
    if (feed->rows == NULL)
        feed->rows = json_array();
    if (json_array_append_new(feed->rows, one) < 0)
        return error_set(error, "out of memory");
    feed->count++;
    feed->bytes += bytes;
    return 0;
}

int feed_rows(struct feed *feed, struct sources *sources, bool ends, struct error *error)
{
    struct arguments row;
    int result;
    while ((result = sources_next(sources, feed->count == 0, &row, error)) > 0)
        if ((result == SOURCES_ROW ? feed_add(feed, &row, error) : feed_flush(feed, false, error)) < 0)
            return -1;
    /* The first request is sent even without rows: if the job accepts none, the answer says so. */
    const bool is_due = ends || feed->count > 0 || feed->asked_ms == 0;
    return result < 0 ? -1 : is_due ? feed_flush(feed, ends, error) : 0;
}

int feed_iterations(struct feed *feed, uint64_t iterations, bool ends, struct error *error)
{
    return feed_send(feed,
                     iterations > 0 ? json_pack("{s:I, s:b}", "iterations", (json_int_t)iterations, "end", ends)
                                    : json_pack("{s:b}", "end", ends),
                     error);
}

bool feed_has_input(void)
{
    struct stat status;
    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

static int feed_input(struct feed *feed, struct error *error)
{
    const struct sources_options lines = {.delimiter = '\n'};
    struct sources *sources = sources_new(&lines);
    int result = sources != NULL ? sources_add_file(sources, "-", false, error) : error_set(error, "out of memory");
    if (result == 0)
        result = sources_begin(sources, error);
    if (result == 0)
        result = feed_rows(feed, sources, true, error);
    sources_free(sources);
    return result;
}

int feed_all(const char *program, struct feed *feed, struct sources *sources, bool ends)
{
    struct error error, second;
    if ((sources != NULL ? feed_rows(feed, sources, ends, &error) : feed_input(feed, &error)) == 0 ||
        feed->status == STATUS_CONFLICT)
        return EXIT_STATUS_DONE;
    const int status = feed_exit_status(feed);
    say_error(program, error.text);
    feed_iterations(feed, 0, true, &second);
    return status;
}

pid_t feed_begin(const char *program, const struct feed *feed, struct sources *sources, bool ends, struct error *error)
{
    struct feed own;
    fflush(NULL);
    const pid_t process = fork();
    if (process < 0)
        return error_set(error, "cannot begin to read the rows: %s", strerror(errno));
    if (process > 0)
        return process;
    feed_init(&own, feed->client.path, feed->set, feed->job);
    const int status = feed_all(program, &own, sources, ends);
    feed_fini(&own);
    _exit(status);
}

int feed_end(pid_t process)
{
    int status = 0;
    kill(process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_STATUS_DONE;
}
