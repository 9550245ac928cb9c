/* SPDX-License-Identifier: MIT */
/* Finds jobs: see find_job.h. A set is asked for a job by the job's number, so the set need not list its other jobs. */
#include "deploy/cli/find_job.h"

#include "deploy/cli/ask_control.h"
#include "deploy/cli/sets.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 10000

uint64_t find_job_number(const char *word)
{
    const char *slash = strrchr(word, '/'), *digits = slash != NULL ? slash + 1 : word;
    uint64_t number = 0;
    for (const char *digit = digits; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || number > (INT64_MAX - 9) / 10)
            return 0;
        number = 10 * number + (uint64_t)(*digit - '0');
    }
    return number;
}

static int ask_for_job(struct job_list *found, const struct set_place *set, uint64_t number, int *status,
                       struct error *error)
{
    struct control_answer answer;
    struct error why;
    char target[64];
    int result = -1;
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64, number);
    const enum ask_end end = control_ask(set->path, "GET", target, ANSWER_MS, &answer, &why);
    *status = answer.status;
    if (end == ASK_GONE) {
        sets_refuse_lost(set->name, error);
    } else if (end != ASK_ANSWERED) {
        error_set(error, "%s/%" PRIu64 ": %.400s", set->name, number, why.text);
    } else {
        struct job_view *view = job_list_add(found, set->name, number);
        result = view != NULL ? job_view_read(view, answer.json, error) : error_set(error, "out of memory");
        if (view != NULL)
            snprintf(view->path, sizeof view->path, "%s", set->path);
    }
    control_answer_fini(&answer);
    return result;
}

static int add_view(struct job_list *found, const struct job_view *view, struct error *error)
{
    struct job_view *copy = job_list_add(found, view->session, view->job);
    if (copy == NULL)
        return error_set(error, "out of memory");
    *copy = *view;
    json_incref(copy->json);
    return 0;
}

/* Adds the name of the output that a job of this number has left in this folder, if there is one. */
static void add_left_output(uint64_t number, struct error *error)
{
    struct error unread, text;
    char pattern[32];
    glob_t left;
    error = error_or(error, &unread);
    text = *error;
    snprintf(pattern, sizeof pattern, "*-%" PRIu64 ".out", number);
    if (number == 0 || glob(pattern, 0, NULL, &left) != 0)
        return;
    error_set(error, "%.200s; %.200s here is the output of a job %" PRIu64 " of a set that is over", text.text,
              left.gl_pathv[0], number);
    globfree(&left);
}

static int find_run(struct job_list *found, const char *word, struct error *error)
{
    struct job_list runs = {0};
    if (control_list_jobs(&runs, LISTED_RUNS, NULL) < 0) {
        job_list_fini(&runs);
        return error_set(error, "out of memory");
    }
    const struct job_view *view = job_list_find(&runs, word, error);
    const int result = view != NULL ? add_view(found, view, error) : -1;
    if (view == NULL)
        add_left_output(find_job_number(word), error);
    job_list_fini(&runs);
    return result;
}

static int find_by_name(struct job_list *found, const struct set_place *set, const char *name, struct error *error)
{
    struct job_list all = {0};
    const struct job_view *meant = NULL;
    unsigned alive = 0;
    int result = control_list_set(&all, LISTED_ALL, set, NULL, error);
    for (size_t i = 0; result == 0 && i < all.count; i++) {
        const struct job_view *view = &all.items[i];
        if (strcmp(view->name, name) != 0 || (alive > 0 && view->status >= 0))
            continue;
        alive += view->status < 0;
        meant = view;
    }
    if (alive > 1)
        result = error_set(error,
                           "%u jobs of the set %s that are not over have the name '%.60s'; `hdss jobs` has "
                           "their IDs",
                           alive, set->name, name);
    else if (result == 0)
        result = meant != NULL ? add_view(found, meant, error) : 1;
    job_list_fini(&all);
    return result;
}

static int find_in_set(struct job_list *found, const struct set_place *set, const char *word, struct error *error)
{
    const uint64_t number = find_job_number(word);
    int status, result;
    if (number > 0)
        return ask_for_job(found, set, number, &status, error);
    result = find_by_name(found, set, word, error);
    return result <= 0 ? result
                       : error_set(error,
                                   "'%.60s' is neither the ID nor the name of a job of the set %s; %s`hdss jobs "
                                   "--all` lists them",
                                   word, set->name, strcmp(word, "all") == 0 ? "--all stands for all; " : "");
}

int find_job(struct job_list *found, const char *set, const char *word, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct set_place place;
    struct error why;
    char name[CONTROL_NAME_MAX];
    const char *slash = strrchr(word, '/');
    if (slash != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)(slash - word), word);
        return sets_find(name, &place, error) < 0 ? -1 : find_in_set(found, &place, slash + 1, error);
    }
    const bool is_set = sets_find(set, &place, &why) == 0;
    if (set != NULL && !is_set) {
        *error = why;
        return -1;
    }
    if (set != NULL)
        return find_in_set(found, &place, word, error);
    if (!is_set || strncmp(word, "run-", 4) == 0)
        return find_run(found, word, error);
    return find_in_set(found, &place, word, error) == 0 || find_run(found, word, &why) == 0 ? 0 : -1;
}

int find_all_jobs(struct job_list *found, const char *set, enum listed listed, struct error *error)
{
    struct set_place place;
    if (sets_find(set, &place, error) < 0)
        return -1;
    return control_list_set(found, listed, &place, NULL, error);
}

int find_only_job(struct job_list *found, const char *set, bool may_be_all, struct error *error)
{
    struct set_place place;
    struct error why;
    struct job_list all = {0};
    const struct job_view *only = NULL;
    unsigned count = 0;
    if (set != NULL && sets_find(set, &place, error) < 0)
        return -1;
    if (set == NULL && getenv(SET_VARIABLE) != NULL && sets_find(NULL, &place, &why) == 0)
        set = place.name;
    int result = control_list_jobs(&all, LISTED_ALIVE, NULL) < 0 ? error_set(error, "out of memory") : 0;
    for (size_t i = 0; result == 0 && i < all.count; i++) {
        if (set != NULL ? strcmp(all.items[i].session, place.name) != 0 : sets_is_private(all.items[i].session))
            continue;
        only = &all.items[i];
        count++;
    }
    if (result == 0 && count == 0)
        result = set != NULL ? error_set(error, "no job goes on in the set %s", place.name)
                             : error_set(error, "no run or job of yours goes on on this machine");
    else if (result == 0 && count > 1)
        result = error_set(
            error, "%u %s are there: say which%s; `hdss jobs` lists them", count,
            strchr(all.items[0].id, '/') != NULL || strchr(all.items[all.count - 1].id, '/') != NULL ? "jobs" : "runs",
            may_be_all ? ", or --all" : "");
    else if (result == 0)
        result = add_view(found, only, error);
    job_list_fini(&all);
    return result;
}
