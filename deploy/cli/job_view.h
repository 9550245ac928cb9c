/* SPDX-License-Identifier: MIT */
/* Jobs as control sockets report them (docs/CONTROL.md), and how they are printed. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"
#include "common/util/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job of a run or of a set. Its texts belong to `json`. */
struct job_view {
    char session[CONTROL_NAME_MAX];
    char id[CONTROL_NAME_MAX + 24]; /* "run-1234", or "NAME/3" in a set */
    char path[CONTROL_PATH_MAX];
    uint64_t job;
    json_t *json; /* NULL: the run did not answer */
    const char *kernel, *title, *state, *folder, *technique, *topology, *output, *reason, *waits_for;
    const char *name;
    double done, failed, rate, elapsed_s, workers, busy, lost;
    double total, left_s; /* negative: unknown, also `soonest_s` and `latest_s` */
    double soonest_s, latest_s;
    int status; /* exit status; negative: the job is not over */
};

struct job_list {
    struct job_view *items;
    size_t count, room;
};

/* Keeps a reference to the JSON. Fails if the JSON describes no job. */
int job_view_read(struct job_view *view, json_t *json, struct error *error);

void job_list_fini(struct job_list *list);

struct job_view *job_list_add(struct job_list *list, const char *session, uint64_t job);

/* Finds a run by "run-17", by "17", or by a unique beginning of either. Returns NULL and sets `error` if there is
 * none. */
struct job_view *job_list_find(struct job_list *list, const char *word, struct error *error);

void job_list_print(const struct job_list *list, unsigned width, struct text *text);

void job_view_print(const struct job_view *view, struct text *text);

void job_view_print_port(json_t *session, struct text *text);

bool job_state_is_over(const char *state);

void job_view_print_done(const struct job_view *view, struct text *text);
