/* SPDX-License-Identifier: MIT */
/* The knowledge of `hdss top` at a moment: see model.h. A number that is not known is 0, a text that is none is empty.
 */
#include "deploy/cli/top/model.h"

#include "common/control/job_json.h"
#include "common/util/grow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of JSON beyond this are none of ranks and iterations. */
#define COUNT_MAX 1e18

void top_model_clear_jobs(struct top_model *model)
{
    job_list_fini(&model->jobs);
    model->session_count = 0;
}

void top_model_clear_looked(struct top_model *model)
{
    job_list_fini(&model->looked);
    model->rank_count = 0;
    model->looked_is_gone = model->looked_is_silent = false;
    model->looked_reason[0] = '\0';
}

void top_model_fini(struct top_model *model)
{
    top_model_clear_jobs(model);
    top_model_clear_looked(model);
    free(model->sessions);
    free(model->ranks);
    *model = (struct top_model){0};
}

/* --- reading --- */

/* Below 0 where there is none. */
static double model_number(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static uint64_t model_count(const json_t *json, const char *name)
{
    const double value = model_number(json, name);
    return value > 0 ? (uint64_t)fmin(value, COUNT_MAX) : 0;
}

static unsigned model_rank(const json_t *json, const char *name)
{
    const double value = model_number(json, name);
    return value >= 0 && value < RANK_NONE ? (unsigned)value : RANK_NONE;
}

static double model_positive(const json_t *json, const char *name)
{
    return fmax(model_number(json, name), 0);
}

/* --- sessions --- */

struct top_session *top_model_add_session(struct top_model *model, const char *name, bool is_set)
{
    struct top_session *grown = grow(model->sessions, model->session_count, &model->session_room, sizeof *grown);
    if (grown == NULL)
        return NULL;
    model->sessions = grown;
    struct top_session *session = &model->sessions[model->session_count++];
    *session = (struct top_session){.is_set = is_set};
    snprintf(session->name, sizeof session->name, "%s", name);
    return session;
}

void top_session_read(struct top_session *session, const json_t *json)
{
    const json_t *jobs = json_object_get(json, "jobs");
    session->workers = model_positive(json_object_get(json, "ranks"), "workers");
    session->waiting = model_positive(jobs, "waiting");
    session->running = model_positive(jobs, "running");
    session->over = model_positive(jobs, "done") + model_positive(jobs, "failed") + model_positive(jobs, "cancelled");
}

/* --- jobs --- */

/* Adds a job to a list, unless it is none. -1 when memory is out. */
static int model_add_job(struct job_list *list, const char *session, const char *path, json_t *job)
{
    struct error error;
    struct job_view seen = {0};
    if (job_view_read(&seen, job, &error) < 0)
        return 0;
    json_decref(seen.json);
    struct job_view *view = job_list_add(list, session, seen.job);
    if (view == NULL)
        return -1;
    job_view_read(view, job, &error);
    snprintf(view->path, sizeof view->path, "%s", path);
    return 0;
}

int top_model_add_jobs(struct top_model *model, const char *session, const char *path, const json_t *jobs)
{
    size_t i;
    json_t *job;
    int result = 0;
    json_array_foreach(jobs, i, job)
    {
        if (result == 0)
            result = model_add_job(&model->jobs, session, path, job);
    }
    return result;
}

int top_model_look(struct top_model *model, const char *session, const char *path, json_t *job)
{
    job_list_fini(&model->looked);
    return model_add_job(&model->looked, session, path, job);
}

const struct job_view *top_model_looked(const struct top_model *model)
{
    return model->looked.count > 0 ? model->looked.items : NULL;
}

/* --- ranks --- */

static enum rank_state model_state(const json_t *json)
{
    const char *text = json_string_value(json_object_get(json, "state"));
    for (int state = RANK_SERVES; text != NULL && state <= RANK_LEFT; state++)
        if (strcmp(text, control_rank_state_name((enum rank_state)state)) == 0)
            return (enum rank_state)state;
    return RANK_NOT_TOLD;
}

static void read_rank(struct top_rank *rank, const json_t *json)
{
    const json_t *chunk = json_object_get(json, "chunk");
    const char *role = json_string_value(json_object_get(json, "role")),
               *host = json_string_value(json_object_get(json, "host"));
    *rank = (struct top_rank){.figures = {.rank = model_rank(json, "rank"),
                                          .is_master = role != NULL && strcmp(role, "master") == 0,
                                          .state = model_state(json),
                                          .node = model_rank(json, "node"),
                                          .master = model_rank(json, "master"),
                                          .workers = (unsigned)fmin(model_positive(json, "workers"), TOP_RANKS_MAX),
                                          .busy = (unsigned)fmin(model_positive(json, "busy"), TOP_RANKS_MAX),
                                          .has_counts = model_number(json, "done") >= 0,
                                          .done = model_count(json, "done"),
                                          .chunks = model_count(json, "chunks"),
                                          .compute_s = model_positive(json, "compute_s"),
                                          .wait_s = model_positive(json, "wait_s"),
                                          .power = model_positive(json, "power"),
                                          .load = model_positive(json, "load"),
                                          .has_chunk = json_is_object(chunk),
                                          .first = model_count(chunk, "first"),
                                          .count = model_count(chunk, "count"),
                                          .left = model_count(chunk, "left"),
                                          .since_s = model_positive(chunk, "since_s")}};
    snprintf(rank->host, sizeof rank->host, "%s", host != NULL ? host : "");
}

int top_model_put_ranks(struct top_model *model, size_t place, const json_t *ranks, bool is_last)
{
    size_t i;
    json_t *json;
    if (place > model->rank_count)
        return 0; /* those before it are not here: they come first the next time */
    json_array_foreach(ranks, i, json)
    {
        if (place == TOP_RANKS_MAX)
            return 0;
        if (place == model->rank_count) {
            struct top_rank *grown = grow(model->ranks, model->rank_count, &model->rank_room, sizeof *grown);
            if (grown == NULL)
                return -1;
            model->ranks = grown;
            model->rank_count++;
        }
        read_rank(&model->ranks[place++], json);
    }
    if (is_last)
        model->rank_count = place;
    return 0;
}
