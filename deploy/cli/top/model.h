/* SPDX-License-Identifier: MIT */
/* The knowledge of `hdss top` at a moment: the sessions of this user, their jobs, and the ranks of the job that is
 * looked into, as the control sockets tell of them (docs/CONTROL.md). Pure but for JSON. */
#pragma once

#include "common/metrics/rank.h"
#include "deploy/cli/job_view.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define TOP_HOST_MAX 48
/* Ranks of a job that are taken. */
#define TOP_RANKS_MAX 1000000

struct top_session {
    char name[CONTROL_NAME_MAX];
    bool is_set, is_silent; /* silent: somebody listens, and does not answer */
    double workers;
    double waiting, running, over; /* jobs */
    char reason[200];              /* why it refuses to answer; empty: it does not */
};

struct top_rank {
    struct rank_figures figures; /* without the host */
    char host[TOP_HOST_MAX];     /* empty: not known */
};

struct top_model {
    struct top_session *sessions; /* [session_count]; owned */
    size_t session_count, session_room;
    struct job_list jobs;    /* that are listed */
    struct job_list looked;  /* the job that is looked into, as it was told last; empty: none */
    bool looked_is_gone;     /* its session is not there any more */
    bool looked_is_silent;   /* its session does not answer */
    char looked_reason[200]; /* why its session tells nothing; empty: it does */
    struct top_rank *ranks;  /* [rank_count] of that job, by their places; owned */
    size_t rank_count, rank_room;
    char note[300]; /* what has happened last; empty: nothing */
    char clock[24]; /* the time of day; may be empty */
};

void top_model_fini(struct top_model *model);

/* Forgets sessions and jobs, before they are told anew. */
void top_model_clear_jobs(struct top_model *model);

/* Forgets the job that was looked into. */
void top_model_clear_looked(struct top_model *model);

/* A session without anything but its name; NULL when memory is out. */
struct top_session *top_model_add_session(struct top_model *model, const char *name, bool is_set);

/* Takes what a session says of itself. */
void top_session_read(struct top_session *session, const json_t *json);

/* Takes the jobs of an answer. What is no job is passed by. -1 when memory is out. */
int top_model_add_jobs(struct top_model *model, const char *session, const char *path, const json_t *jobs);

/* Takes a job as the one that is looked into. -1 when memory is out. */
int top_model_look(struct top_model *model, const char *session, const char *path, json_t *job);

/* The job that is looked into; NULL: there is none. */
const struct job_view *top_model_looked(const struct top_model *model);

/* Takes ranks from that place on; with `is_last` there are none behind them. -1 when memory is out. */
int top_model_put_ranks(struct top_model *model, size_t place, const json_t *ranks, bool is_last);
