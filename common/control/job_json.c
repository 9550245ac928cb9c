/* SPDX-License-Identifier: MIT */
/* Jobs as JSON: see job_json.h. Names and meanings of the fields are stable: docs/CONTROL.md lists them. */
#include "common/control/job_json.h"

#include "common/metrics/json_text.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Estimates beyond a hundred years are not shown. */
#define LEFT_MAX_S 3e9

#define TIME_TEXT_MAX 40
#define TITLE_MAX     200

const char *control_state_name(enum control_state state)
{
    static const char *const names[] = {"waiting", "running", "draining", "done", "failed", "cancelled"};
    return names[state];
}

enum control_state control_state_at_end(int status)
{
    switch (status) {
    case EXIT_STATUS_DONE: return CONTROL_DONE;
    case EXIT_STATUS_DRAINED: return CONTROL_CANCELLED;
    default: return CONTROL_FAILED;
    }
}

static json_t *words_json(char *const *words, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_of_text(words[i]));
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? json_of_text(text) : json_null();
}

static json_t *numbers_json(const uint32_t *numbers, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_of_count(numbers[i]));
    return list;
}

static json_t *time_or_null(time_t time)
{
    char text[TIME_TEXT_MAX] = "";
    struct tm parts;
    if (time == 0 || gmtime_r(&time, &parts) == NULL)
        return json_null();
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

static json_t *left_or_null(bool is_foreseen, double left_s)
{
    return is_foreseen && left_s >= 0 && left_s < LEFT_MAX_S ? json_of_number(left_s) : json_null();
}

static json_t *title_json(const struct control_job *job)
{
    static const char *const names[] = {"command=", "tasks="};
    for (int i = 0; strcmp(job->kernel, "exec") == 0 && i < job->words; i++)
        for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
            if (strncmp(job->command[i], names[k], strlen(names[k])) == 0 &&
                job->command[i][strlen(names[k])] != '\0') {
                char title[TITLE_MAX];
                snprintf(title, sizeof title, "exec %s", job->command[i] + (k == 0 ? strlen(names[k]) : 0));
                return json_of_text(title);
            }
    return json_of_text(job->kernel);
}

json_t *control_job_json(const struct control_job *job)
{
    const struct progress *progress = &job->progress;
    const double left_s = progress_left_s(progress);
    const bool is_over = job->status >= 0;
    const bool is_foreseen = !is_over && job->state == CONTROL_RUNNING && !progress->grows && left_s >= 0;
    json_t *object = json_object();
    json_object_set_new(object, "id", json_of_count(job->id));
    json_object_set_new(object, "name", text_or_null(job->name));
    json_object_set_new(object, "kernel", json_of_text(job->kernel));
    json_object_set_new(object, "title", title_json(job));
    json_object_set_new(object, "command", words_json(job->command, job->words));
    json_object_set_new(object, "folder", json_of_text(job->folder));
    json_object_set_new(object, "state", json_string(control_state_name(job->state)));
    json_object_set_new(object, "waits_for", text_or_null(job->waits_for));
    json_object_set_new(object, "done", json_of_count(progress->done));
    json_object_set_new(object, "total", progress->grows ? json_null() : json_of_count(progress->total));
    json_object_set_new(object, "failed", json_of_count(job->failed));
    json_object_set_new(object, "rate_per_s", json_of_number(progress_rate(progress)));
    json_object_set_new(object, "elapsed_s", json_of_number(progress->elapsed_s));
    json_object_set_new(object, "eta_s", left_or_null(is_foreseen, left_s));
    json_object_set_new(object, "rate_now_per_s",
                        !is_over && job->band.rate_per_s >= 0 ? json_of_number(job->band.rate_per_s) : json_null());
    json_object_set_new(object, "eta_soonest_s", left_or_null(is_foreseen, job->band.soonest_s));
    json_object_set_new(object, "eta_latest_s", left_or_null(is_foreseen, job->band.latest_s));
    json_object_set_new(object, "workers", json_of_count(progress->workers));
    json_object_set_new(object, "busy", json_of_count(is_over ? 0 : progress->busy));
    json_object_set_new(object, "lost", json_of_count(progress->lost));
    json_object_set_new(object, "technique", text_or_null(job->technique));
    json_object_set_new(object, "topology", json_of_text(job->topology));
    json_object_set_new(object, "output", text_or_null(job->output));
    json_object_set_new(object, "status", is_over ? json_integer(job->status) : json_null());
    json_object_set_new(object, "reason", text_or_null(job->reason));
    json_object_set_new(object, "priority", json_integer(job->priority));
    json_object_set_new(object, "weight", json_of_count(job->weight));
    json_object_set_new(object, "after", numbers_json(job->after, job->after_count));
    json_object_set_new(object, "open", json_boolean(job->is_open));
    json_object_set_new(object, "cancelled_by",
                        job->cancelled_by != 0 ? json_of_count(job->cancelled_by) : json_null());
    json_object_set_new(object, "submitted", time_or_null(job->submitted));
    json_object_set_new(object, "began", time_or_null(job->began));
    json_object_set_new(object, "ended", time_or_null(job->ended));
    return object;
}

static json_t *known_number(bool is_known, double value)
{
    return is_known ? json_of_number(value) : json_null();
}

static json_t *known_count(bool is_known, uint64_t value)
{
    return is_known ? json_of_count(value) : json_null();
}

static json_t *chunk_json(const struct rank_figures *rank)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "first", json_of_count(rank->first), "count",
                     json_of_count(rank->count), "left", json_of_count(rank->left), "since_s",
                     json_of_number(rank->since_s), "command", text_or_null(rank->command));
}

static const char *rank_state_name(enum rank_state state)
{
    static const char *const names[] = {NULL, "serving", "computing", "waiting", "aside", "orphan", "lost", "left"};
    return names[state];
}

json_t *control_rank_json(const struct rank_figures *rank)
{
    json_t *object = json_object();
    json_object_set_new(object, "rank", json_of_count(rank->rank));
    json_object_set_new(object, "role", json_string(rank->is_master ? "master" : "worker"));
    json_object_set_new(object, "state", text_or_null(rank_state_name(rank->state)));
    json_object_set_new(object, "node", known_count(rank->node != RANK_NONE, rank->node));
    json_object_set_new(object, "host", text_or_null(rank->host));
    json_object_set_new(object, "done", known_count(rank->has_counts, rank->done));
    if (rank->is_master) {
        json_object_set_new(object, "workers", json_of_count(rank->workers));
        json_object_set_new(object, "busy", json_of_count(rank->busy));
        return object;
    }
    json_object_set_new(object, "master", known_count(rank->master != RANK_NONE, rank->master));
    json_object_set_new(object, "chunks", known_count(rank->has_counts, rank->chunks));
    json_object_set_new(object, "compute_s", known_number(rank->has_counts, rank->compute_s));
    json_object_set_new(object, "wait_s", known_number(rank->has_counts, rank->wait_s));
    json_object_set_new(object, "power", known_number(rank->power > 0, rank->power));
    json_object_set_new(object, "load", known_number(rank->load > 0, rank->load));
    json_object_set_new(object, "chunk", rank->has_chunk ? chunk_json(rank) : json_null());
    return object;
}

json_t *control_failure_json(const struct failure_figures *failure)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "first", json_of_count(failure->range.first), "count",
                     json_of_count(failure->range.count), "rank",
                     known_count(failure->rank != RANK_NONE, failure->rank), "node",
                     known_count(failure->node != RANK_NONE, failure->node), "reason", json_of_text(failure->reason));
}

static json_t *counts_json(const struct metrics_counts *counts)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "waiting", json_of_count(counts->waiting), "running",
                     json_of_count(counts->running), "done", json_of_count(counts->done), "failed",
                     json_of_count(counts->failed), "cancelled", json_of_count(counts->cancelled));
}

json_t *control_pod_json(const struct pod_figures *pod)
{
    json_t *object = json_object();
    json_object_set_new(object, "rank", json_of_count(pod->rank));
    json_object_set_new(object, "node", json_of_text(pod->node));
    json_object_set_new(object, "workers", json_of_count(pod->workers));
    json_object_set_new(object, "cores", json_of_count(pod->cores));
    json_object_set_new(object, "state", json_string(pod->leaves ? "leaving" : "up"));
    return object;
}

/* User and host come from the environment and the kernel. A directory service is not asked, because a server that does
 * not answer would block the run. */
json_t *control_session_json(const struct control_session *session)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *user = getenv("LOGNAME");
    if (user == NULL)
        user = getenv("USER");
    gethostname(host, sizeof host - 1);
    json_t *object = json_object();
    json_object_set_new(object, "program", json_string("hdss"));
    json_object_set_new(object, "version", json_of_text(session->version));
    json_object_set_new(object, "api", json_integer(1));
    json_object_set_new(object, "kind", json_string(session->kind));
    json_object_set_new(object, "name", json_of_text(session->name));
    json_object_set_new(object, "pid", json_integer(getpid()));
    json_object_set_new(object, "host", json_of_text(host));
    json_object_set_new(object, "uid", json_integer((json_int_t)geteuid()));
    json_object_set_new(object, "user", text_or_null(user));
    json_object_set_new(object, "started", time_or_null(session->started));
    json_object_set_new(object, "ranks",
                        json_pack("{s:o, s:o}", "masters", json_of_count(session->masters), "workers",
                                  json_of_count(session->workers)));
    json_object_set_new(object, "jobs", counts_json(&session->counts));
    json_object_set_new(object, "http", text_or_null(session->http));
    json_object_set_new(object, "token_file", text_or_null(session->token_file));
    json_object_set_new(object, "pods_file", text_or_null(session->pods_file));
    return object;
}
