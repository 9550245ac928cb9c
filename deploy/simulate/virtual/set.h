/* SPDX-License-Identifier: MIT */
/* A set in virtual time: jobs come to its queue (supermaster/queue.h), begin as it says, and compute on ranks that they
 * share (ranks.h), each as a virtual cluster (cluster.h). What is not said of a set there is as in a run of one job.
 *
 * Jobs are cancelled as a set does it: one that waits is over at once, one that runs is ended with what it runs. Ranks
 * are lost. Where the supermaster is lost the set ends at that moment; what its queue's journal has by then is the
 * caller's (`on_change`), who may begin another set. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/ranks.h"
#include "supermaster/queue.h"

/* A job, from the command line to its end. */
struct virtual_job {
    /* given */
    uint64_t at_ns;        /* submitted then; in the order of the list */
    uint64_t cancel_at_ns; /* NEVER: it is not cancelled */
    int priority;
    unsigned weight;
    const uint32_t *after; /* [after_count] numbers of jobs, from 1, that are before it; borrowed */
    unsigned after_count;
    /* of the run; `begins_ns`, `loses_ranks`, and limits are the set's to say; masters and workers are the set's */
    struct virtual_config config;
    /* found out */
    uint64_t began_ns, ended_ns; /* NEVER: not yet */
    uint64_t used_ns;            /* computed for it, on all workers */
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
    unsigned at_once;      /* jobs that run at once */
    uint64_t turn_ns;      /* of computing for a job, at least */
    unsigned turns_max;    /* these two as in ranks_new() */
    uint64_t iteration_ns; /* as in ranks_new() */
    uint64_t begins_ns;
    struct virtual_job *jobs; /* [job_count] borrowed */
    unsigned job_count;
    const struct virtual_loss *losses; /* [loss_count] in the order of their times; borrowed */
    unsigned loss_count;
    uint64_t stop_at_ns; /* the set stops: it drains what runs, the rest waits for another one; NEVER: it goes on */
    uint64_t limit_ns;   /* a set that is not over by then hangs */
    struct queue
        *queue;  /* with jobs of a set before, whose numbers are those of the list; NULL: it is empty; borrowed */
    bool checks; /* the invariants are checked behind each event */
    void *context;
    /* Makes the configuration of a job's run, which is borrowed until its end; -1 with one line. NULL: it is there. */
    int (*on_begin)(void *context, unsigned job, struct virtual_config *config, struct error *error);
    /* Tells of what the queue has just been told of a job; NULL: nobody. */
    void (*on_change)(void *context, enum set_change change, const struct queue_job *job);
    /* Tells of a job's run, at its end or that of the set; NULL: nobody. */
    void (*on_run)(void *context, unsigned job, const struct virtual_config *config,
                   const struct virtual_result *result);
};

enum set_outcome {
    SET_IS_OVER, /* all jobs are over, or, where it was stopped, none runs */
    SET_IS_LOST, /* with its supermaster */
    SET_HANGS,
    SET_CANNOT_RUN, /* with one line in `error` */
};

struct virtual_set_result {
    enum set_outcome outcome;
    uint64_t end_ns;   /* when the last rank left the last job */
    unsigned hung_job; /* SET_HANGS: a job that does not end, from 0 */
    struct ranks_figures figures;
    uint64_t events;
    struct error error;
};

/* Runs the set to its end. */
struct virtual_set_result virtual_set_run(const struct virtual_set_config *config);
