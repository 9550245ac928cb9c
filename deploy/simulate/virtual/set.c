/* SPDX-License-Identifier: MIT */
/* A set of jobs in virtual time: see set.h. */
#include "deploy/simulate/virtual/set.h"

#include "common/config/submission.h"
#include "common/machine/machine.h"
#include "common/util/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

struct virtual_job_run {
    unsigned job;
    struct virtual_cluster *cluster;
    struct virtual_config config;
    bool is_over;
    struct virtual_job_run *next;
};

struct virtual_set {
    const struct virtual_set_config *config;
    struct ranks *ranks;
    struct queue own_queue, *queue;
    struct virtual_job_run *runs;
    unsigned *cancels;
    unsigned next_job, next_cancel, next_loss;
    bool has_stopped, is_lost;
    uint64_t now_ns;
    struct virtual_set_result result;
};

static int64_t seconds(const struct virtual_set *set)
{
    return (int64_t)(set->now_ns / NS_PER_S);
}

static struct virtual_job *job_of(const struct virtual_set *set, const struct queue_job *job)
{
    return &set->config->jobs[job->id - 1];
}

static void tell(const struct virtual_set *set, enum set_change change, const struct queue_job *job)
{
    if (set->config->on_change != NULL)
        set->config->on_change(set->config->context, change, job);
}

static void end_run(struct virtual_set *set, struct virtual_job_run *run)
{
    struct virtual_job_run **place = &set->runs;
    while (*place != run)
        place = &(*place)->next;
    *place = run->next;
    set->config->jobs[run->job].used_ns += ranks_used_ns(run->cluster);
    ranks_remove(run->cluster);
    const struct virtual_result result = virtual_end(run->cluster);
    set->result.events += result.events;
    if (result.end_ns > set->result.end_ns)
        set->result.end_ns = result.end_ns;
    if (set->config->on_run != NULL)
        set->config->on_run(set->config->context, run->job, &run->config, &result);
    virtual_free(run->cluster);
    free(run);
}

static int begin_run(struct virtual_set *set, unsigned number)
{
    struct virtual_job *job = &set->config->jobs[number];
    struct virtual_job_run *run = calloc(1, sizeof *run);
    struct error *error = &set->result.error;
    if (run == NULL)
        return error_set(error, "out of memory");
    run->job = number;
    if (set->config->on_begin != NULL && set->config->on_begin(set->config->context, number, &job->config, error) < 0) {
        free(run);
        return -1;
    }
    run->config = job->config;
    run->config.masters = set->config->masters;
    run->config.workers = set->config->workers;
    run->config.begins_ns = set->now_ns;
    run->config.loses_ranks = true;
    run->config.limit_ns = UINT64_MAX;
    run->cluster = virtual_new(&run->config, error);
    if (run->cluster != NULL && ranks_add(set->ranks, run->cluster, job->weight, job->priority) < 0) {
        error_set(error, "out of memory");
        virtual_free(run->cluster);
        run->cluster = NULL;
    }
    if (run->cluster == NULL) {
        free(run);
        return -1;
    }
    run->next = set->runs;
    set->runs = run;
    if (job->began_ns == NEVER)
        job->began_ns = set->now_ns;
    virtual_begin(run->cluster);
    ranks_tell_lost(set->ranks, run->cluster, set->now_ns);
    return 0;
}

static int begin_jobs(struct virtual_set *set)
{
    struct queue_job *job;
    while ((job = queue_next(set->queue)) != NULL) {
        queue_begun(set->queue, job, seconds(set));
        tell(set, SET_BEGUN, job);
        if (begin_run(set, job->id - 1) < 0)
            return -1;
    }
    return 0;
}

static void note_states(struct virtual_set *set)
{
    for (const struct queue_job *job = set->queue->first; job != NULL; job = job->next) {
        struct virtual_job *mine = job_of(set, job);
        if (job->state > QUEUE_RUNNING && mine->ended_ns == NEVER)
            mine->ended_ns = set->now_ns;
        mine->state = job->state;
        mine->status = job->status;
    }
}

static void note_status(struct virtual_set *set, struct virtual_job_run *run)
{
    struct queue_job *job = queue_find(set->queue, run->job + 1);
    const int status = virtual_status(run->cluster);
    if (run->is_over || status < 0 || set->is_lost)
        return;
    run->is_over = true;
    if (queue_over(set->queue, job, status, seconds(set)))
        tell(set, SET_OVER, job);
    note_states(set);
}

static int submit(struct virtual_set *set)
{
    const unsigned number = set->next_job++;
    const struct virtual_job *job = &set->config->jobs[number];
    struct submission submission = {
        .priority = job->priority, .weight = job->weight, .after_count = job->after_count, .folder = strdup("/")};
    struct error *error = &set->result.error;
    submission.words = (char **)calloc(2, sizeof *submission.words);
    submission.after = calloc(job->after_count + 1, sizeof *submission.after);
    if (submission.words == NULL || submission.after == NULL || submission.folder == NULL ||
        (submission.words[0] = strdup("synthetic")) == NULL) {
        submission_fini(&submission);
        return error_set(error, "out of memory");
    }
    submission.word_count = 1;
    if (job->after_count > 0)
        memcpy(submission.after, job->after, job->after_count * sizeof *job->after);
    struct queue_job *taken = queue_submit(set->queue, &submission, seconds(set), error);
    submission_fini(&submission);
    if (taken == NULL)
        return -1;
    assert(taken->id == number + 1);
    tell(set, SET_SUBMITTED, taken);
    note_states(set);
    if (set->next_job == set->config->job_count)
        queue_close(set->queue);
    return 0;
}

static void drain(struct virtual_set *set, unsigned job, bool now)
{
    for (const struct virtual_job_run *run = set->runs; run != NULL; run = run->next)
        if (run->job == job && !run->is_over)
            virtual_drain(run->cluster, set->now_ns, now);
}

static void cancel(struct virtual_set *set)
{
    const unsigned number = set->cancels[set->next_cancel++];
    struct queue_job *job = queue_find(set->queue, number + 1);
    if (job == NULL || job->state > QUEUE_RUNNING || job->is_cancelled)
        return;
    queue_cancel(set->queue, job, seconds(set));
    tell(set, SET_CANCELLED, job);
    note_states(set);
    drain(set, number, true);
}

static void stop(struct virtual_set *set)
{
    set->has_stopped = true;
    queue_stop(set->queue);
    for (const struct virtual_job_run *run = set->runs; run != NULL; run = run->next)
        drain(set, run->job, false);
}

static void lose(struct virtual_set *set)
{
    const unsigned rank = set->config->losses[set->next_loss++].rank;
    set->is_lost |= rank == 0;
    ranks_lose(set->ranks, rank, set->now_ns);
}

static uint64_t next_submission_ns(const struct virtual_set *set)
{
    const struct virtual_set_config *config = set->config;
    return set->next_job < config->job_count && !set->has_stopped ? config->jobs[set->next_job].at_ns : NEVER;
}

static uint64_t next_cancel_ns(const struct virtual_set *set)
{
    const struct virtual_set_config *config = set->config;
    return set->next_cancel < config->job_count ? config->jobs[set->cancels[set->next_cancel]].cancel_at_ns : NEVER;
}

static uint64_t next_loss_ns(const struct virtual_set *set)
{
    return set->next_loss < set->config->loss_count ? set->config->losses[set->next_loss].at_ns : NEVER;
}

static int happen_to_set(struct virtual_set *set, uint64_t before_ns)
{
    const uint64_t submission_ns = next_submission_ns(set), cancel_ns = next_cancel_ns(set),
                   loss_ns = next_loss_ns(set);
    const uint64_t stop_ns = set->has_stopped ? NEVER : set->config->stop_at_ns;
    const uint64_t first_ns = submission_ns < cancel_ns ? submission_ns : cancel_ns;
    const uint64_t second_ns = loss_ns < stop_ns ? loss_ns : stop_ns;
    const uint64_t at_ns = first_ns < second_ns ? first_ns : second_ns;
    if (at_ns == NEVER || at_ns > before_ns)
        return 0;
    set->now_ns = at_ns > set->now_ns ? at_ns : set->now_ns;
    if (submission_ns == at_ns)
        return submit(set) < 0 ? -1 : 1;
    if (cancel_ns == at_ns)
        cancel(set);
    else if (loss_ns == at_ns)
        lose(set);
    else
        stop(set);
    return 1;
}

static bool happen_to_job(struct virtual_set *set, struct virtual_cluster *cluster, uint64_t at_ns)
{
    struct virtual_job_run *run = set->runs;
    while (run->cluster != cluster)
        run = run->next;
    set->now_ns = at_ns;
    if (!virtual_advance(cluster)) {
        set->result.hung_job = run->job;
        return false;
    }
    if (set->config->checks)
        ranks_check(set->ranks);
    note_status(set, run);
    if (virtual_is_over(cluster))
        end_run(set, run);
    return true;
}

static void end_lost_runs(struct virtual_set *set)
{
    for (struct virtual_job_run *run = set->runs, *next; run != NULL; run = next) {
        next = run->next;
        if (virtual_is_over(run->cluster))
            end_run(set, run);
    }
}

static enum set_outcome go_on(struct virtual_set *set)
{
    for (;;) {
        uint64_t at_ns;
        if (!set->is_lost && begin_jobs(set) < 0)
            return SET_CANNOT_RUN;
        struct virtual_cluster *cluster = ranks_next(set->ranks, &at_ns);
        const int result = set->is_lost ? 0 : happen_to_set(set, at_ns);
        if (result < 0)
            return SET_CANNOT_RUN;
        if (result > 0) {
            end_lost_runs(set);
            continue;
        }
        if (cluster == NULL && set->runs == NULL && (set->is_lost || queue_is_over(set->queue)))
            return set->is_lost ? SET_IS_LOST : SET_IS_OVER;
        if (cluster == NULL || at_ns > set->config->limit_ns) {
            set->result.hung_job = set->runs != NULL ? set->runs->job : set->config->job_count;
            return SET_HANGS;
        }
        if (!happen_to_job(set, cluster, at_ns))
            return SET_HANGS;
        if (set->config->checks)
            queue_check(set->queue);
    }
}

static void sort_cancels(struct virtual_set *set)
{
    const struct virtual_job *jobs = set->config->jobs;
    for (unsigned i = 0; i < set->config->job_count; i++) {
        unsigned place = i;
        for (; place > 0 && jobs[set->cancels[place - 1]].cancel_at_ns > jobs[i].cancel_at_ns; place--)
            set->cancels[place] = set->cancels[place - 1];
        set->cancels[place] = i;
    }
}

static int init(struct virtual_set *set)
{
    const struct virtual_set_config *config = set->config;
    queue_init(&set->own_queue, config->at_once);
    set->own_queue.ended_max = config->job_count;
    set->queue = config->queue != NULL ? config->queue : &set->own_queue;
    set->next_job = set->queue->newest;
    set->now_ns = config->begins_ns;
    set->ranks =
        ranks_new(1 + config->masters + config->workers, config->turn_ns, config->turns_max, config->iteration_ns);
    set->cancels = calloc(config->job_count + 1, sizeof *set->cancels);
    if (set->ranks == NULL || set->cancels == NULL)
        return error_set(&set->result.error, "out of memory");
    sort_cancels(set);
    if (set->next_job == config->job_count)
        queue_close(set->queue);
    note_states(set);
    return 0;
}

struct virtual_set_result virtual_set_run(const struct virtual_set_config *config)
{
    struct virtual_set set = {.config = config};
    set.result.outcome = init(&set) < 0 ? SET_CANNOT_RUN : go_on(&set);
    note_states(&set);
    while (set.runs != NULL)
        end_run(&set, set.runs);
    if (set.ranks != NULL)
        set.result.figures = *ranks_figures(set.ranks);
    ranks_free(set.ranks);
    free(set.cancels);
    queue_fini(&set.own_queue);
    return set.result;
}
