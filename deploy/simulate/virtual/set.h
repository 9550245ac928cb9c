/* SPDX-License-Identifier: MIT */
/* A set in virtual time. Jobs enter its queue (supermaster/queue.h), begin as the queue decides, and compute on shared
 * ranks (ranks.h). Each job is a virtual cluster (cluster.h). All else is as in a run of one job.
 *
 * A waiting job ends as soon as it is cancelled. A running job finishes its running iterations first. Ranks may be
 * lost. If the supermaster is lost, the set ends. The caller keeps the queue's journal (`on_change`), and may begin
 * another set from that journal. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/ranks.h"
#include "supermaster/queue.h"

struct virtual_job {
    uint64_t at_ns;
    uint64_t cancel_at_ns;
    int priority;
    unsigned weight;
    /* [after_count] numbers of the jobs that must end before this job begins, counted from 1; borrowed */
    const uint32_t *after;
    unsigned after_count;
    /* The set overrides `begins_ns`, `loses_ranks`, the limits, `masters` and `workers`. */
    struct virtual_config config;
    uint64_t began_ns, ended_ns;
    uint64_t used_ns;
    enum queue_state state;
    int status;
};

struct virtual_loss {
    uint64_t at_ns;
    unsigned rank;
};

enum set_change { SET_SUBMITTED, SET_BEGUN, SET_OVER, SET_CANCELLED };

struct virtual_set_config {
    unsigned masters, workers;
    unsigned at_once;
    uint64_t turn_ns;
    unsigned turns_max;
    uint64_t iteration_ns;
    uint64_t begins_ns;
    struct virtual_job *jobs;
    unsigned job_count;
    const struct virtual_loss *losses;
    unsigned loss_count;
    uint64_t stop_at_ns;
    uint64_t limit_ns;
    /* queue with the jobs of an earlier set; NULL: there are none. Each job has the same number in `jobs`. Borrowed. */
    struct queue *queue;
    bool checks;
    void *context;
    /* Completes the configuration of a job before the job runs. The configuration is borrowed until the job ends. NULL:
     * configurations are complete. */
    int (*on_begin)(void *context, unsigned job, struct virtual_config *config, struct error *error);
    void (*on_change)(void *context, enum set_change change, const struct queue_job *job);
    void (*on_run)(void *context, unsigned job, const struct virtual_config *config,
                   const struct virtual_result *result);
};

enum set_outcome {
    SET_IS_OVER,
    SET_IS_LOST,
    SET_HANGS,
    SET_CANNOT_RUN,
};

struct virtual_set_result {
    enum set_outcome outcome;
    uint64_t end_ns;
    unsigned hung_job;
    struct ranks_figures figures;
    uint64_t events;
    struct error error;
};

struct virtual_set_result virtual_set_run(const struct virtual_set_config *config);
