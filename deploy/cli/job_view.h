/* SPDX-License-Identifier: MIT */
/* Jobs as the control sockets of runs and sets tell of them, and as people read them: see docs/CONTROL.md. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"
#include "common/util/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job of a run or set. The texts are borrowed from `json`. */
struct job_view {
    char session[CONTROL_NAME_MAX]; /* "run-1234", or the name of the set */
    char id[CONTROL_NAME_MAX + 24]; /* "run-1234", or "NAME/3" in a set */
    char path[CONTROL_PATH_MAX];    /* of the socket */
    uint64_t job;                   /* its number there */
    json_t *json;                   /* owned; NULL: the run did not answer */
    const char *kernel, *title, *state, *folder, *technique, *topology, *output, *reason,
        *waits_for;   /* empty where nothing is said */
    const char *name; /* that its user gave it; empty: none */
    double done, failed, rate, elapsed_s, workers, busy, lost;
    double total, left_s;       /* below 0: not known */
    double soonest_s, latest_s; /* the band of the end; likewise */
    int status;                 /* below 0: the job is not over */
};

struct job_list {
    struct job_view *items; /* owned */
    size_t count, room;
};

/* Takes what is known of a job, of which it holds a reference. -1 with one line where it is no job. */
int job_view_read(struct job_view *view, json_t *json, struct error *error);

void job_list_fini(struct job_list *list);

/* A job at the end of the list, empty but for its session and number; NULL when memory is out. */
struct job_view *job_list_add(struct job_list *list, const char *session, uint64_t job);

/* The run that the word names: "run-17", "17", or how the name or number of one alone begins. NULL with one line. */
struct job_view *job_list_find(struct job_list *list, const char *word, struct error *error);

/* The jobs as a table with a heading, of at most `width` columns. */
void job_list_print(const struct job_list *list, unsigned width, struct text *text);

/* All that is known of the job, over some lines. */
void job_view_print(const struct job_view *view, struct text *text);

/* Where the job's session is served at a port, if it is: two further lines. */
void job_view_print_port(json_t *session, struct text *text);

/* True for what a job is called that is over. */
bool job_state_is_over(const char *state);

/* "4,000 of 10,000 (40.0 %)" */
void job_view_print_done(const struct job_view *view, struct text *text);
