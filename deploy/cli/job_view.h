/* SPDX-License-Identifier: MIT */
/* Jobs as the control sockets report them, and their printing: see docs/CONTROL.md. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"
#include "common/util/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job of a run or set. Texts are borrowed from `json`. */
struct job_view {
    char session[CONTROL_NAME_MAX]; /* "run-1234", or the name of the set */
    char id[CONTROL_NAME_MAX + 24]; /* "run-1234", or "NAME/3" in a set */
    char path[CONTROL_PATH_MAX];    /* of the socket */
    uint64_t job;                   /* job number */
    json_t *json;                   /* owned; NULL: the run did not answer */
    const char *kernel, *title, *state, *folder, *technique, *topology, *output, *reason,
        *waits_for;   /* empty if missing */
    const char *name; /* given by the user; empty: none */
    double done, failed, rate, elapsed_s, workers, busy, lost;
    double total, left_s;       /* below 0: unknown */
    double soonest_s, latest_s; /* range of the expected end; likewise */
    int status;                 /* exit status; below 0: not over */
};

struct job_list {
    struct job_view *items; /* owned */
    size_t count, room;
};

/* Reads a job's JSON and holds a reference to it. Fails if it is no job. */
int job_view_read(struct job_view *view, json_t *json, struct error *error);

void job_list_fini(struct job_list *list);

/* Appends a job with its session and number; NULL if memory runs out. */
struct job_view *job_list_add(struct job_list *list, const char *session, uint64_t job);

/* Finds a run by "run-17", "17", or a unique prefix of either. NULL with an error. */
struct job_view *job_list_find(struct job_list *list, const char *word, struct error *error);

/* Prints the jobs as a table of at most `width` columns. */
void job_list_print(const struct job_list *list, unsigned width, struct text *text);

/* Prints all that is known of a job. */
void job_view_print(const struct job_view *view, struct text *text);

/* Prints two lines with the port of the job's session, if it has one. */
void job_view_print_port(json_t *session, struct text *text);

/* True for the states of finished jobs. */
bool job_state_is_over(const char *state);

/* "4,000 of 10,000 (40.0 %)" */
void job_view_print_done(const struct job_view *view, struct text *text);
