/* SPDX-License-Identifier: MIT */
/* Answers the requests that a set gets over its control socket: see common/control/control.h. */
#include "supermaster/set/requests.h"

#include "supermaster/set/items.h"
#include "supermaster/set/jobs.h"
#include "supermaster/set/words.h"

#include <inttypes.h>
#include <stdio.h>

static struct queue_job *find_queued(const struct set *set, uint64_t id)
{
    return id <= UINT32_MAX ? queue_find(&set->queue, (uint32_t)id) : NULL;
}

static const char *turn_waits_for(struct set *set, const struct queue_job *queued)
{
    uint32_t other;
    switch (queue_hold(&set->queue, queued, &other)) {
    case QUEUE_IN_TURN: return "its turn";
    case QUEUE_IS_STOPPED: return "the next set";
    case QUEUE_MUST_ALONE: return "all others to end";
    case QUEUE_IS_FULL:
        snprintf(set->waits_for, sizeof set->waits_for, "its turn (%u jobs run)", set->queue.at_once);
        break;
    case QUEUE_OTHER_ALONE: snprintf(set->waits_for, sizeof set->waits_for, "job %" PRIu32 ", alone", other); break;
    }
    return set->waits_for;
}

static const char *beginning_waits_for(struct set *set, const struct queue_job *queued)
{
    const struct submission *submission = &queued->submission;
    if (queued->state == QUEUE_RUNNING)
        return "its kernel";
    for (size_t i = 0; i < submission->after_count; i++) {
        const struct queue_job *other = queue_find(&set->queue, submission->after[i]);
        if (other == NULL || other->state > QUEUE_RUNNING)
            continue;
        snprintf(set->waits_for, sizeof set->waits_for, "job %" PRIu32, other->id);
        return set->waits_for;
    }
    return turn_waits_for(set, queued);
}

static void tell_resting(struct set *set, const struct queue_job *queued, struct control_job *job)
{
    /* Indexed by enum queue_state. A job in QUEUE_RUNNING comes here only while its kernel is being loaded, and is then
     * shown as waiting. */
    static const enum control_state states[] = {CONTROL_WAITING, CONTROL_WAITING, CONTROL_DONE, CONTROL_FAILED,
                                                CONTROL_CANCELLED};
    const struct queue_figures *figures = &queued->figures;
    job->kernel = submission_kernel(&queued->submission);
    job->technique = figures->texts[QUEUE_TECHNIQUE] != NULL ? figures->texts[QUEUE_TECHNIQUE] : "";
    job->output = figures->texts[QUEUE_OUTPUT];
    job->reason = figures->texts[QUEUE_REASON];
    if (queued->state <= QUEUE_RUNNING)
        job->waits_for = beginning_waits_for(set, queued);
    job->topology = set->topology->masters > 0 || set->options.listens ? "hierarchical" : "central";
    job->state = states[queued->state];
    job->status = queued->status;
    job->failed = figures->failed;
    job->progress = (struct progress){
        .done = figures->done, .total = figures->total, .resumed = figures->resumed, .elapsed_s = figures->elapsed_s};
    job->progress.grows = queue_is_open(queued);
}

static void tell_queued(const struct queue_job *queued, struct control_job *job)
{
    const struct submission *submission = &queued->submission;
    job->command = submission->words;
    job->words = (int)submission->word_count;
    job->folder = submission->folder;
    job->name = submission->name;
    job->priority = submission->priority;
    job->weight = submission->weight;
    job->is_open = queue_is_open(queued);
    job->after = submission->after;
    job->after_count = submission->after_count;
    job->cancelled_by = queued->cancelled_by;
    job->submitted = queued->submitted_s;
    job->began = queued->began_s;
    job->ended = queued->ended_s;
}

static void tell(void *context, struct control_job *job)
{
    struct set *set = context;
    const struct queue_job *queued = find_queued(set, job->id);
    job->id = queued != NULL ? queued->id : 0;
    if (queued == NULL)
        return;
    if (!set_tell_running(set, queued->id, job))
        tell_resting(set, queued, job);
    else if (queued->is_cancelled)
        job->state = CONTROL_DRAINING;
    tell_queued(queued, job);
}

static bool failure(void *context, uint64_t job, uint64_t place, struct failure_figures *figures)
{
    return job <= UINT32_MAX && set_tell_failure(context, (uint32_t)job, place, figures);
}

static bool rank(void *context, uint64_t job, uint64_t place, struct rank_figures *figures)
{
    return job <= UINT32_MAX && set_tell_rank(context, (uint32_t)job, place, figures);
}

static uint64_t next(void *context, uint64_t id)
{
    const struct set *set = context;
    const struct queue_job *job = set->queue.first;
    const struct queue_job *known = find_queued(set, id);
    if (known != NULL)
        return known->next != NULL ? known->next->id : 0;
    while (job != NULL && job->id <= id)
        job = job->next;
    return job != NULL ? job->id : 0;
}

static int output(void *context, uint64_t id, enum control_stream stream)
{
    return set_folder_read(&((struct set *)context)->folder, id, stream);
}

/* Cancels a job. Without `finishes`, the job's running iterations are abandoned, even if an earlier request with
 * `finishes` has already made the job drain. */
static void cancel(void *context, uint64_t id, bool finishes)
{
    struct set *set = context;
    struct queue_job *queued = find_queued(set, id);
    if (queued == NULL)
        return;
    if (!queued->is_cancelled) {
        queue_cancel(&set->queue, queued, set_now_s());
        queue_journal_cancelled(set->journal, queued);
    }
    set_drain_job(set, queued->id, !finishes);
    control_note_change(set->control);
}

static enum refusal submit(void *context, struct submission *submission, uint64_t *id, struct error *error)
{
    struct set *set = context;
    if (set->queue.mode != QUEUE_OPEN) {
        error_set(error, "the set is about to end, and takes no further jobs");
        return REFUSAL_CONFLICT;
    }
    char list[PATH_MAX];
    const enum refusal refusal =
        submission_check(submission, set->version, set_folder_list(&set->folder, 0, list), error);
    if (refusal != REFUSAL_NONE)
        return refusal;
    const bool is_full = queue_is_full(&set->queue) || (submission->is_open && queue_is_full_of_open(&set->queue));
    struct queue_job *job = queue_submit(&set->queue, submission, set_now_s(), error);
    if (job == NULL)
        return is_full ? REFUSAL_FULL : REFUSAL_WRONG;
    *id = job->id;
    queue_journal_submitted(set->journal, job);
    if (set_begin_items(set, job, error) == 0)
        return REFUSAL_NONE;
    cancel(set, job->id, false);
    return REFUSAL_BROKEN;
}

static enum refusal add(void *context, uint64_t id, struct items *items, uint64_t *count, bool *is_complete,
                        struct error *error)
{
    struct set *set = context;
    const enum refusal refusal = set_add_items(set, id <= UINT32_MAX ? (uint32_t)id : 0, items, error);
    const struct queue_job *queued = find_queued(set, id);
    *count = queued != NULL ? queued->items.count : 0;
    *is_complete = queued != NULL && queued->items.is_complete;
    return refusal;
}

static int commit(void *context, struct error *error)
{
    struct set *set = context;
    const int result = queue_journal_commit(set->journal, true, error);
    set_settle_items(set, result == 0);
    return result;
}

static size_t count(void *context, struct metrics_counts *counts, uint64_t *running)
{
    const struct set *set = context;
    const struct queue_totals *totals = &set->queue.totals;
    *counts = (struct metrics_counts){.waiting = set->queue.waiting,
                                      .running = set->queue.running,
                                      .done = totals->done,
                                      .failed = totals->failed,
                                      .cancelled = totals->cancelled};
    return set_list_running(set, running, METRICS_JOBS_MAX);
}

static void close_queue(void *context)
{
    queue_close(&((struct set *)context)->queue);
}

static void drain(void *context)
{
    set_stop(context);
}

static bool tell_pod(void *context, uint64_t place, struct pod_figures *pod)
{
    return pods_door_tell(((struct set *)context)->link, place, pod);
}

static bool leave(void *context, uint64_t pod, bool finishes)
{
    const struct set *set = context;
    return set->link != NULL && link_send_away(set->link, (unsigned)pod, !finishes);
}

struct control_source set_control_source(struct set *set)
{
    return (struct control_source){.context = set,
                                   .tell = tell,
                                   .drain = drain,
                                   .rank = rank,
                                   .failure = failure,
                                   .http = set->options.http.host[0] != '\0' ? &set->options.http : NULL,
                                   .set = set->options.name,
                                   .error = &set->error,
                                   .next = next,
                                   .cancel = cancel,
                                   .submit = submit,
                                   .add = add,
                                   .commit = commit,
                                   .output = output,
                                   .close = close_queue,
                                   .count = count,
                                   .pod = tell_pod,
                                   .leave = set->pods.streams != NULL ? leave : NULL,
                                   .masters = set->topology->masters,
                                   .workers = set->topology->workers,
                                   .pods_file = set->pods.streams != NULL ? set->pods.ticket : NULL};
}
