/* SPDX-License-Identifier: MIT */
/* Asking for what `hdss top` shows: see gather.h. A session that has not answered once is waited for only shortly the
 * next time, so that one that is stopped does not hold up the others. */
#include "deploy/cli/top/gather.h"

#include "common/util/grow.h"
#include "deploy/cli/sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 1000
#define SILENT_MS 100
/* Jobs that wait and are listed, of each set. */
#define WAITING_MAX 100
/* Ranks in a page. */
#define RANKS_MAX 1000
/* Jobs that run, of all sessions, whose ends are told. */
#define RUNNING_MAX 64

void top_gather_init(struct top_gather *gather, const char *only)
{
    *gather = (struct top_gather){.only = only};
}

static void close_line(struct top_line_to *line)
{
    control_client_fini(&line->client);
    json_decref(line->over);
}

void top_gather_fini(struct top_gather *gather)
{
    for (size_t i = 0; i < gather->count; i++)
        close_line(&gather->lines[i]);
    free(gather->lines);
    *gather = (struct top_gather){0};
}

/* --- sessions --- */

static struct top_line_to *find_session(struct top_gather *gather, const char *name)
{
    for (size_t i = 0; i < gather->count; i++)
        if (strcmp(gather->lines[i].name, name) == 0)
            return &gather->lines[i];
    return NULL;
}

/* Adds the session unless it is known. Without memory for it it is left out. */
static void note_session(void *context, const char *path, const char *name)
{
    struct top_gather *gather = context;
    struct top_line_to *line = find_session(gather, name), *grown;
    if (gather->only != NULL && strcmp(gather->only, name) != 0)
        return;
    if (line == NULL) {
        grown = grow(gather->lines, gather->count, &gather->room, sizeof *grown);
        if (grown == NULL)
            return;
        gather->lines = grown;
        line = &gather->lines[gather->count++];
        *line = (struct top_line_to){.is_set = sets_is_name(name)};
        snprintf(line->name, sizeof line->name, "%s", name);
        control_client_init(&line->client, path);
    }
    line->is_there = true;
}

static int by_session(const void *a, const void *b)
{
    return strverscmp(((const struct top_line_to *)a)->name, ((const struct top_line_to *)b)->name);
}

static void drop_session(struct top_gather *gather, size_t i)
{
    close_line(&gather->lines[i]);
    memmove(&gather->lines[i], &gather->lines[i + 1], (--gather->count - i) * sizeof *gather->lines);
}

/* --- questions --- */

static enum ask_end ask_line(struct top_line_to *line, const char *method, const char *target,
                             struct control_answer *answer, struct error *error)
{
    const enum ask_end end = control_client_ask(&line->client, method, target, NULL,
                                                line->was_silent ? SILENT_MS : ANSWER_MS, answer, error);
    line->was_silent = end == ASK_SILENT;
    return end;
}

/* Asks a set for jobs of a state, and takes them. */
static enum ask_end ask_for_jobs(struct top_line_to *line, struct top_model *model, const char *target,
                                 struct control_answer *answer, struct error *error)
{
    const enum ask_end end = ask_line(line, "GET", target, answer, error);
    if (end == ASK_ANSWERED &&
        top_model_add_jobs(model, line->name, line->client.path, json_object_get(answer->json, "jobs")) < 0)
        error_set(error, "out of memory");
    return end;
}

/* Lists the jobs of the set that are over; they are asked for only when there are others than the last time. */
static enum ask_end list_over(struct top_line_to *line, struct top_model *model, double over)
{
    struct control_answer answer = {0};
    struct error error;
    enum ask_end end = ASK_ANSWERED;
    if (line->over == NULL || line->over_count != over) {
        end = ask_line(line, "GET", "/v1/jobs?state=over&limit=1000", &answer, &error);
        if (end == ASK_ANSWERED) {
            json_decref(line->over);
            line->over = json_incref(answer.json);
            line->over_count = over;
        }
        control_answer_fini(&answer);
    }
    if (end == ASK_ANSWERED)
        top_model_add_jobs(model, line->name, line->client.path, json_object_get(line->over, "jobs"));
    return end;
}

static enum ask_end ask_set(struct top_line_to *line, struct top_model *model, struct top_session *session,
                            bool shows_over, struct error *error)
{
    struct control_answer answer;
    char target[64];
    enum ask_end end = ask_for_jobs(line, model, "/v1/jobs?state=running", &answer, error);
    if (end == ASK_ANSWERED)
        top_session_read(session, json_object_get(answer.json, "session"));
    control_answer_fini(&answer);
    if (end == ASK_ANSWERED && session->waiting > 0) {
        snprintf(target, sizeof target, "/v1/jobs?state=waiting&limit=%d", WAITING_MAX);
        end = ask_for_jobs(line, model, target, &answer, error);
        control_answer_fini(&answer);
    }
    return end == ASK_ANSWERED && shows_over ? list_over(line, model, session->over) : end;
}

/* A run that does not answer has a row all the same. */
static enum ask_end ask_run(struct top_line_to *line, struct top_model *model, struct top_session *session,
                            struct error *error)
{
    struct control_answer answer;
    const enum ask_end end = ask_for_jobs(line, model, "/v1/jobs", &answer, error);
    if (end == ASK_ANSWERED)
        top_session_read(session, json_object_get(answer.json, "session"));
    else if (end != ASK_GONE)
        job_list_add(&model->jobs, line->name, 1);
    control_answer_fini(&answer);
    return end;
}

/* False where the session is gone. */
static bool ask_session(struct top_line_to *line, struct top_model *model, bool shows_over)
{
    struct error error = {0};
    struct top_session *session = top_model_add_session(model, line->name, line->is_set);
    if (session == NULL)
        return true;
    const enum ask_end end =
        line->is_set ? ask_set(line, model, session, shows_over, &error) : ask_run(line, model, session, &error);
    session->is_silent = end == ASK_SILENT;
    if (end == ASK_REFUSED)
        snprintf(session->reason, sizeof session->reason, "%.190s", error.text);
    if (end == ASK_GONE)
        model->session_count--;
    return end != ASK_GONE;
}

/* --- what has ended --- */

/* The connection of the session of a job, and the job's number. NULL: the session is not there. */
static struct top_line_to *line_of(struct top_gather *gather, const char *id, uint64_t *number)
{
    char name[TOP_ID_MAX];
    const char *slash = strrchr(id, '/');
    snprintf(name, sizeof name, "%.*s", (int)(slash != NULL ? (size_t)(slash - id) : strlen(id)), id);
    *number = slash != NULL ? strtoull(slash + 1, NULL, 10) : 1;
    return find_session(gather, name);
}

static bool is_listed(const struct top_model *model, const char *id)
{
    for (size_t i = 0; i < model->jobs.count; i++)
        if (strcmp(model->jobs.items[i].id, id) == 0)
            return true;
    return false;
}

/* Says how a job ended that ran the last time, and does not any more. */
static void tell_how_it_ended(struct top_gather *gather, struct top_model *model, const char *id)
{
    struct control_answer answer = {0};
    struct error error;
    char target[64];
    uint64_t number;
    struct top_line_to *line = line_of(gather, id, &number);
    if (line == NULL) { /* that a set has ended is said already */
        if (strchr(id, '/') == NULL)
            snprintf(model->note, sizeof model->note, "%.100s has ended", id);
        return;
    }
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64, number);
    const char *state = NULL;
    if (ask_line(line, "GET", target, &answer, &error) == ASK_ANSWERED)
        state = json_string_value(json_object_get(answer.json, "state"));
    if (state != NULL && job_state_is_over(state))
        snprintf(model->note, sizeof model->note, "%.100s is over: %.20s", id, state);
    control_answer_fini(&answer);
}

static void tell_what_ended(struct top_gather *gather, struct top_model *model)
{
    for (unsigned i = 0; i < gather->running_count; i++)
        if (!is_listed(model, gather->running[i]))
            tell_how_it_ended(gather, model, gather->running[i]);
    gather->running_count = 0;
    for (size_t i = 0; i < model->jobs.count && gather->running_count < RUNNING_MAX; i++) {
        const struct job_view *view = &model->jobs.items[i];
        if (view->json != NULL && strcmp(view->state, "waiting") != 0 && !job_state_is_over(view->state))
            snprintf(gather->running[gather->running_count++], TOP_ID_MAX, "%s", view->id);
    }
}

/* --- the job that is looked into --- */

/* Asks for a page of ranks. Returns the place of the next one, 0 where it was the last, or nothing came. */
static size_t look_at_ranks(struct top_line_to *line, struct top_model *model, uint64_t number, size_t place,
                            enum ask_end *end)
{
    struct control_answer answer;
    struct error error = {0};
    char target[100];
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "/ranks?from=%zu&limit=%d", number, place, RANKS_MAX);
    *end = ask_line(line, "GET", target, &answer, &error);
    const json_int_t next = json_integer_value(json_object_get(answer.json, "next"));
    const bool has_more = next > (json_int_t)place && next < TOP_RANKS_MAX;
    if (*end == ASK_ANSWERED) {
        top_model_look(model, line->name, line->client.path, json_object_get(answer.json, "job"));
        top_model_put_ranks(model, place, json_object_get(answer.json, "ranks"), !has_more);
    } else if (*end == ASK_REFUSED)
        snprintf(model->looked_reason, sizeof model->looked_reason, "%.190s", error.text);
    control_answer_fini(&answer);
    return has_more ? (size_t)next : 0;
}

static void look_into(struct top_gather *gather, struct top_model *model, const struct top_ui *ui, bool all_ranks)
{
    uint64_t number;
    enum ask_end end = ASK_GONE;
    if (!ui->is_inside || strcmp(gather->looked, ui->job) != 0) {
        top_model_clear_looked(model);
        gather->place = 0;
        gather->looked[0] = '\0';
        all_ranks = true; /* a job that is looked into now is shown as a whole */
    }
    if (!ui->is_inside)
        return;
    struct top_line_to *line = line_of(gather, ui->job, &number);
    model->looked_reason[0] = '\0';
    do
        gather->place = line != NULL ? look_at_ranks(line, model, number, gather->place, &end) : 0;
    while (all_ranks && gather->place > 0 && end == ASK_ANSWERED);
    model->looked_is_gone = end == ASK_GONE;
    model->looked_is_silent = end == ASK_SILENT;
    if (end == ASK_ANSWERED)
        snprintf(gather->looked, sizeof gather->looked, "%s", ui->job);
}

/* --- all of it --- */

int top_gather_look(struct top_gather *gather, struct top_model *model, const struct top_ui *ui, bool all_ranks)
{
    for (size_t i = 0; i < gather->count; i++)
        gather->lines[i].is_there = false;
    control_each_unasked(note_session, gather);
    if (gather->count > 1)
        qsort(gather->lines, gather->count, sizeof *gather->lines, by_session);
    top_model_clear_jobs(model);
    for (size_t i = 0; i < gather->count;) {
        struct top_line_to *line = &gather->lines[i];
        if (line->is_there && ask_session(line, model, ui->shows_over)) {
            line->has_answered = true;
            i++;
            continue;
        }
        if (line->has_answered && line->is_set) /* else it was left over by one that was killed */
            snprintf(model->note, sizeof model->note, "the set %.100s has ended", line->name);
        drop_session(gather, i);
    }
    look_into(gather, model, ui, all_ranks);
    tell_what_ended(gather, model);
    return model->session_count < gather->count ? -1 : 0;
}

void top_gather_cancel(struct top_gather *gather, struct top_model *model, const char *id)
{
    struct control_answer answer = {0};
    struct error error;
    char target[64];
    uint64_t number;
    const bool is_run = strchr(id, '/') == NULL;
    struct top_line_to *line = line_of(gather, id, &number);
    if (line == NULL) {
        snprintf(model->note, sizeof model->note, "%.100s is not there any more", id);
        return;
    }
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "%s", number, is_run ? "?finish=1" : "");
    const enum ask_end end = ask_line(line, "DELETE", target, &answer, &error);
    if (end == ASK_ANSWERED)
        snprintf(model->note, sizeof model->note, is_run ? "%.100s drains" : "%.100s is cancelled", id);
    else
        snprintf(model->note, sizeof model->note, "%.100s: %.180s", id, error.text);
    control_answer_fini(&answer);
}
