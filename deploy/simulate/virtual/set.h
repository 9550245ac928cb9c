/* SPDX-License-Identifier: MIT */
/* A set in virtual time: jobs enter its queue (supermaster/queue.h), begin as the queue decides, and compute on shared
 * ranks (ranks.h), each as a virtual cluster (cluster.h). Settings not given for the set are as in a run of one job.
 *
 * Cancelled jobs that wait end immediately; running ones end with their running iterations. Ranks may be lost. If the
 * supermaster is lost the set ends; the caller stores the queue's journal (`on_change`) and may begin another set. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/ranks.h"
#include "supermaster/queue.h"

/* A job of the list. */
struct virtual_job {
    /* given */
    uint64_t at_ns;        /* submission, in the order of the list */
    uint64_t cancel_at_ns; /* NEVER: not cancelled */
    int priority;
    unsigned weight;
    const uint32_t *after; /* [after_count] numbers of jobs, from 1, to wait for; borrowed */
    unsigned after_count;
    /* the set overrides `begins_ns`, `loses_ranks`, limits, masters and workers */
    struct virtual_config config;
    /* results */
    uint64_t began_ns, ended_ns; /* NEVER: not yet */
    uint64_t used_ns;
    enum queue_state state;
    int status;
};

struct virtual_loss {
    uint64_t at_ns;
    unsigned rank; /* 0: the supermaster */
};

enum set_change { SET_SUBMITTED, SET_BEGUN, SET_OVER, SET_CANCELLED };

struct virtual_set_config {
    unsigned masters, workers;
    unsigned at_once;      /* limit of running jobs */
    uint64_t turn_ns;      /* minimum computing time of a job */
    unsigned turns_max;    /* these two as in ranks_new() */
    uint64_t iteration_ns; /* as in ranks_new() */
    uint64_t begins_ns;
    struct virtual_job *jobs; /* [job_count] borrowed */
    unsigned job_count;
    const struct virtual_loss *losses; /* [loss_count] by time; borrowed */
    unsigned loss_count;
    uint64_t stop_at_ns; /* drains running jobs and leaves the rest to another set; NEVER: does not stop */
    uint64_t limit_ns;   /* the set counts as hung after this time */
    struct queue *queue; /* with jobs of an earlier set, numbered as in the list; NULL: empty; borrowed */
    bool checks;         /* invariants are checked after each event */
    void *context;
    /* Completes the configuration of a job's run, borrowed until its end. NULL: it is complete. */
    int (*on_begin)(void *context, unsigned job, struct virtual_config *config, struct error *error);
    /* Called after each change in the queue; may be NULL. */
    void (*on_change)(void *context, enum set_change change, const struct queue_job *job);
    /* Called at the end of a job's run or of the set; may be NULL. */
    void (*on_run)(void *context, unsigned job, const struct virtual_config *config,
                   const struct virtual_result *result);
};

enum set_outcome {
    SET_IS_OVER, /* all jobs are over or, after a stop, none is running */
    SET_IS_LOST, /* with its supermaster */
    SET_HANGS,
    SET_CANNOT_RUN, /* with one line in `error` */
};

struct virtual_set_result {
    enum set_outcome outcome;
    uint64_t end_ns;   /* end of the last rank of the last job */
    unsigned hung_job; /* SET_HANGS: a job that does not end, from 0 */
    struct ranks_figures figures;
    uint64_t events;
    struct error error;
};

struct virtual_set_result virtual_set_run(const struct virtual_set_config *config);
