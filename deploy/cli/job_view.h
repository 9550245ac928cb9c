/* SPDX-License-Identifier: MIT */
/* Jobs as the control sockets of runs tell of them, and as people read them: see docs/CONTROL.md. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"
#include "common/util/text.h"

#include <jansson.h>
#include <stddef.h>

/* An answer of HTTP. */
struct control_answer {
    int status;
    json_t *json; /* an object; owned */
};

/* A job of a run. The texts are borrowed from `json`. */
struct job_view {
    char session[CONTROL_NAME_MAX];                                      /* "run-1234" */
    char path[CONTROL_PATH_MAX];                                         /* of the socket */
    json_t *json;                                                        /* owned; NULL: the run did not answer */
    const char *kernel, *state, *folder, *technique, *topology, *output; /* empty where nothing is said */
    double done, failed, rate, elapsed_s, workers, busy, lost;
    double total, left_s; /* below 0: not known */
    int status;           /* below 0: the job is not over */
};

struct job_list {
    struct job_view *items; /* owned */
    size_t count, room;
};

/* Reads an answer; that of an error, too, with its line in `error` and -1, as where it is none at all. */
int control_answer_read(struct control_answer *answer, const char *bytes, size_t length, struct error *error);

/* Takes what is known of a job, of which it holds a reference. -1 with one line where it is no job. */
int job_view_read(struct job_view *view, json_t *json, struct error *error);

void job_list_fini(struct job_list *list);

/* A job at the end of the list, empty but for the name; NULL when memory is out. */
struct job_view *job_list_add(struct job_list *list, const char *session);

/* The job that the word names: "run-17", "17", or how the name or number of one alone begins. NULL with one line. */
struct job_view *job_list_find(struct job_list *list, const char *word, struct error *error);

/* The jobs as a table with a heading, of at most `width` columns. */
void job_list_print(const struct job_list *list, unsigned width, struct text *text);

/* All that is known of the job, over some lines. */
void job_view_print(const struct job_view *view, struct text *text);

/* "4,000 of 10,000 (40.0 %)" */
void job_view_print_done(const struct job_view *view, struct text *text);
