/* SPDX-License-Identifier: MIT */
/* Queries of a run or set: see source.h. */
#include "common/control/source.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct control_session control_source_session(const struct control_source *source, const char *version,
                                              char name[CONTROL_NAME_MAX])
{
    const bool is_set = source->set != NULL;
    if (is_set)
        snprintf(name, CONTROL_NAME_MAX, "%s", source->set);
    else
        snprintf(name, CONTROL_NAME_MAX, "run-%d", (int)getpid());
    return (struct control_session){.kind = is_set ? "set" : "run",
                                    .name = name,
                                    .version = version,
                                    .started = time(NULL),
                                    .status = -1,
                                    .http = "",
                                    .token_file = "",
                                    .pods_file = source->pods_file != NULL ? source->pods_file : "",
                                    .masters = source->masters,
                                    .workers = source->workers};
}

void control_session_end(struct control_session *session, int status)
{
    session->status = status;
    session->ended = time(NULL);
}

bool control_source_tell(const struct control_source *source, const struct control_session *session, uint64_t id,
                         struct control_job *job)
{
    *job = (struct control_job){.id = id, .status = -1, .weight = 1, .band = {.rate_per_s = -1, -1, -1}};
    if (id == 0 || (source->set == NULL && id != CONTROL_ONLY_JOB))
        return false;
    source->tell(source->context, job);
    if (source->set != NULL)
        return job->id != 0;
    job->status = session->status;
    if (session->status >= 0)
        job->state = control_state_at_end(session->status);
    return true;
}

static size_t count_run(const struct control_source *source, const struct control_session *session,
                        struct metrics_counts *counts, uint64_t *running)
{
    struct control_job job;
    control_source_tell(source, session, CONTROL_ONLY_JOB, &job);
    *(job.state == CONTROL_WAITING     ? &counts->waiting
      : job.state == CONTROL_DONE      ? &counts->done
      : job.state == CONTROL_FAILED    ? &counts->failed
      : job.state == CONTROL_CANCELLED ? &counts->cancelled
                                       : &counts->running) += 1;
    *running = CONTROL_ONLY_JOB;
    return 1;
}

size_t control_source_count(const struct control_source *source, const struct control_session *session,
                            struct metrics_counts *counts, uint64_t running[METRICS_JOBS_MAX])
{
    *counts = (struct metrics_counts){0};
    return source->set != NULL ? source->count(source->context, counts, running)
                               : count_run(source, session, counts, running);
}

void control_source_count_ranks(const struct control_source *source, unsigned *masters, unsigned *workers)
{
    struct pod_figures pod;
    *masters = source->masters;
    *workers = source->workers;
    for (uint64_t place = 0; source->pod != NULL && source->pod(source->context, place, &pod); place++) {
        *masters += 1;
        *workers += pod.workers;
    }
}

char *control_source_metrics(const struct control_source *source, const struct control_session *session,
                             enum metrics_format format)
{
    struct metrics metrics = {.session = session};
    struct control_job jobs[METRICS_JOBS_MAX];
    uint64_t running[METRICS_JOBS_MAX];
    control_source_count_ranks(source, &metrics.masters, &metrics.workers);
    metrics.jobs = jobs;
    metrics.job_count = control_source_count(source, session, &metrics.counts, running);
    for (size_t i = 0; i < metrics.job_count; i++)
        control_source_tell(source, session, running[i], &jobs[i]);
    return metrics_text(&metrics, format);
}
