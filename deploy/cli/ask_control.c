/* SPDX-License-Identifier: MIT */
/* Sends requests to control sockets: see ask_control.h. */
#include "deploy/cli/ask_control.h"

#include "deploy/cli/sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MS 2000

enum ask_end control_ask(const char *path, const char *method, const char *target, int timeout_ms,
                         struct control_answer *answer, struct error *error)
{
    struct control_client client;
    control_client_init(&client, path);
    const enum ask_end end = control_client_ask(&client, method, target, NULL, timeout_ms, answer, error);
    control_client_fini(&client);
    return end;
}

struct listing {
    struct job_list *list;
    enum listed listed;
    json_t *sets; /* borrowed; NULL: sets are not listed */
    bool failed;
};

struct census {
    json_int_t running, waiting, over;
};

static void count_job(struct census *census, const struct job_view *view)
{
    if (view->status >= 0 || job_state_is_over(view->state))
        census->over++;
    else if (strcmp(view->state, "waiting") == 0)
        census->waiting++;
    else
        census->running++;
}

static void list_job(struct listing *listing, const char *path, const char *name, json_t *json, struct census *census)
{
    struct error error;
    struct job_view seen = {0}, *view;
    if (job_view_read(&seen, json, &error) < 0)
        return;
    count_job(census, &seen);
    const bool is_listed = listing->listed == LISTED_ALL || seen.status < 0;
    json_decref(seen.json);
    if (!is_listed)
        return;
    view = job_list_add(listing->list, name, seen.job);
    if (view == NULL || job_view_read(view, json, &error) < 0) {
        listing->failed = true;
        return;
    }
    snprintf(view->path, sizeof view->path, "%s", path);
}

static uint64_t list_part(struct listing *listing, struct control_client *client, const char *name, uint64_t from,
                          struct census *census, struct control_answer *answer, enum ask_end *end)
{
    struct error error;
    char target[64] = "/v1/jobs";
    json_t *json;
    size_t i;
    if (from > 0)
        snprintf(target, sizeof target, "/v1/jobs?from=%" PRIu64, from);
    *end = control_client_ask(client, "GET", target, NULL, LIST_MS, answer, &error);
    json_array_foreach(json_object_get(answer->json, "jobs"), i, json)
    {
        list_job(listing, client->path, name, json, census);
    }
    const json_int_t next = json_integer_value(json_object_get(answer->json, "next"));
    return next > 0 && (uint64_t)next > from ? (uint64_t)next : 0;
}

static enum ask_end list_set(struct listing *listing, const char *path, const char *name)
{
    struct control_client client;
    struct control_answer answer = {0};
    struct census census = {0};
    enum ask_end end;
    uint64_t from = 0;
    control_client_init(&client, path);
    do {
        control_answer_fini(&answer);
        from = list_part(listing, &client, name, from, &census, &answer, &end);
    } while (from > 0);
    control_client_fini(&client);
    if (end != ASK_GONE && listing->sets != NULL) {
        json_t *object = json_pack("{s:s, s:b, s:I, s:I, s:I}", "set", name, "answers", end == ASK_ANSWERED, "running",
                                   census.running, "waiting", census.waiting, "over", census.over);
        json_t *session = json_object_get(answer.json, "session");
        if (json_is_object(session))
            json_object_update_missing(object, session);
        listing->failed |= json_array_append_new(listing->sets, object) < 0;
    }
    control_answer_fini(&answer);
    return end;
}

static void list_run(struct listing *listing, const char *path, const char *name)
{
    struct control_answer answer;
    struct error error;
    const enum ask_end end = control_ask(path, "GET", "/v1/jobs", LIST_MS, &answer, &error);
    if (end == ASK_GONE)
        return;
    struct job_view *view = job_list_add(listing->list, name, 1);
    if (view == NULL) {
        listing->failed = true;
    } else {
        snprintf(view->path, sizeof view->path, "%s", path);
        job_view_read(view, json_array_get(json_object_get(answer.json, "jobs"), 0), &error);
    }
    control_answer_fini(&answer);
}

static void list_session(void *context, const char *path, const char *name)
{
    struct listing *listing = context;
    if (!sets_is_name(name))
        list_run(listing, path, name);
    else if (listing->listed != LISTED_RUNS)
        list_set(listing, path, name);
}

int control_list_set(struct job_list *list, enum listed listed, const struct set_place *set, json_t *sets,
                     struct error *error)
{
    struct listing listing = {.list = list, .listed = listed, .sets = sets};
    const enum ask_end end = list_set(&listing, set->path, set->name);
    if (end == ASK_GONE)
        return sets_refuse_lost(set->name, error);
    if (end != ASK_ANSWERED)
        return error_set(error, "the set %s does not answer", set->name);
    return listing.failed ? error_set(error, "out of memory") : 0;
}

/* Orders numbers in names by their value: "run-9" before "run-10", "night/9" before "night/10". */
static int by_name(const void *a, const void *b)
{
    return strverscmp(((const struct job_view *)a)->id, ((const struct job_view *)b)->id);
}

int control_list_jobs(struct job_list *list, enum listed listed, json_t *sets)
{
    struct listing listing = {.list = list, .listed = listed, .sets = sets};
    control_each(list_session, &listing);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    return listing.failed ? -1 : 0;
}
