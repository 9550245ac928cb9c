/* SPDX-License-Identifier: MIT */
/* The queue of a set: see queue.h.
 *
 * Jobs are found by number in hash buckets. Jobs that may begin are in a heap, ordered by priority and number. After a
 * job has begun or was cancelled, its entry in the heap is stale. A stale entry stays until it reaches the top. The
 * heap has room for twice the number of live jobs, so only a submission allocates memory. Stale entries are removed
 * before this room runs out.
 *
 * Each job has a list of its dependents, the jobs that wait for it. When a job ends unsuccessfully, its dependents are
 * cancelled and added to the list of ended jobs. One loop processes this list. So there is no recursion, even if a
 * chain of dependents is long. */
#include "supermaster/queue.h"

#include "common/util/grow.h"
#include "common/util/heap.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_LEAST 64

struct queue_ready {
    int priority;
    uint32_t id;
};

static bool is_before(const void *item, const void *other, const void *context)
{
    const struct queue_ready *a = item, *b = other;
    (void)context;
    return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
}

static const struct heap_kind ready_heap = {sizeof(struct queue_ready), 4, is_before};

static size_t live_count(const struct queue *queue)
{
    return queue->waiting + queue->running;
}

static struct queue_job **bucket_of(const struct queue *queue, uint32_t id)
{
    return &queue->buckets[id & (queue->bucket_count - 1)];
}

struct queue_job *queue_find(const struct queue *queue, uint32_t id)
{
    struct queue_job *job = queue->bucket_count > 0 ? *bucket_of(queue, id) : NULL;
    while (job != NULL && job->id != id)
        job = job->next_of_bucket;
    return job;
}

static int reserve_buckets(struct queue *queue)
{
    const size_t jobs = live_count(queue) + queue->ended + 1;
    if (jobs <= queue->bucket_count)
        return 0;
    const size_t count = queue->bucket_count > 0 ? 2 * queue->bucket_count : BUCKETS_LEAST;
    struct queue_job **buckets = (struct queue_job **)calloc(count, sizeof *buckets);
    if (buckets == NULL)
        return -1;
    free((void *)queue->buckets);
    queue->buckets = buckets;
    queue->bucket_count = count;
    for (struct queue_job *job = queue->first; job != NULL; job = job->next) {
        job->next_of_bucket = *bucket_of(queue, job->id);
        *bucket_of(queue, job->id) = job;
    }
    return 0;
}

static void list_job(struct queue *queue, struct queue_job *job)
{
    job->previous = queue->last;
    *(queue->last != NULL ? &queue->last->next : &queue->first) = job;
    queue->last = job;
    job->next_of_bucket = *bucket_of(queue, job->id);
    *bucket_of(queue, job->id) = job;
}

static void free_texts(struct queue_figures *figures)
{
    for (unsigned i = 0; i < QUEUE_TEXTS; i++)
        free((char *)figures->texts[i]);
}

static void free_job(struct queue_job *job)
{
    submission_fini(&job->submission);
    free_texts(&job->figures);
    free(job->dependents);
    free(job);
}

static void forget(struct queue *queue, struct queue_job *job)
{
    struct queue_job **place = bucket_of(queue, job->id);
    while (*place != job)
        place = &(*place)->next_of_bucket;
    *place = job->next_of_bucket;
    *(job->previous != NULL ? &job->previous->next : &queue->first) = job->next;
    *(job->next != NULL ? &job->next->previous : &queue->last) = job->previous;
    free_job(job);
}

static void forget_oldest(struct queue *queue)
{
    while (queue->ended > queue->ended_max) {
        struct queue_job *oldest = queue->first_ended;
        queue->first_ended = oldest->next_ended;
        queue->ended--;
        if (queue->on_forget != NULL)
            queue->on_forget(queue->context, oldest->id);
        forget(queue, oldest);
    }
}

static bool is_incomplete(const struct queue_job *job)
{
    return job->submission.is_open && !job->items.is_complete && job->state <= QUEUE_RUNNING;
}

bool queue_is_open(const struct queue_job *job)
{
    return is_incomplete(job) && !job->is_cancelled;
}

bool queue_is_full_of_open(const struct queue *queue)
{
    return queue->open >= QUEUE_OPEN_MAX;
}

static void list_open(struct queue *queue, struct queue_job *job)
{
    job->previous_open = NULL;
    job->next_open = queue->first_open;
    if (queue->first_open != NULL)
        queue->first_open->previous_open = job;
    queue->first_open = job;
    queue->open++;
    queue->running_open += job->state == QUEUE_RUNNING;
}

static void unlist_open(struct queue *queue, struct queue_job *job)
{
    *(job->previous_open != NULL ? &job->previous_open->next_open : &queue->first_open) = job->next_open;
    if (job->next_open != NULL)
        job->next_open->previous_open = job->previous_open;
    queue->open--;
    queue->running_open -= job->state == QUEUE_RUNNING;
}

void queue_set_items(struct queue *queue, struct queue_job *job, const struct queue_items *items)
{
    assert(job->submission.is_open && job->state <= QUEUE_RUNNING);
    if (is_incomplete(job))
        unlist_open(queue, job);
    job->items = *items;
    if (is_incomplete(job))
        list_open(queue, job);
}

static struct queue_job *ready_job(const struct queue *queue, const struct queue_ready *entry)
{
    struct queue_job *job = queue_find(queue, entry->id);
    return job != NULL && job->state == QUEUE_WAITING && job->awaited == 0 ? job : NULL;
}

static void put_ready(struct queue *queue, const struct queue_ready *entry)
{
    queue->ready[queue->ready_count] = *entry;
    heap_sift_up(&ready_heap, NULL, queue->ready, queue->ready_count++);
}

static void drop_top(struct queue *queue)
{
    struct queue_job *job = queue_find(queue, queue->ready[0].id);
    if (job != NULL)
        job->is_in_heap = false;
    queue->ready[0] = queue->ready[--queue->ready_count];
    if (queue->ready_count > 0)
        heap_sift_down(&ready_heap, NULL, queue->ready, queue->ready_count, 0);
}

static void clear_stale(struct queue *queue)
{
    const size_t count = queue->ready_count;
    queue->ready_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct queue_ready entry = queue->ready[i];
        struct queue_job *job = queue_find(queue, entry.id);
        if (ready_job(queue, &entry) != NULL)
            put_ready(queue, &entry);
        else if (job != NULL)
            job->is_in_heap = false;
    }
}

static void note_ready(struct queue *queue, struct queue_job *job)
{
    job->is_in_heap = true;
    if (queue->ready_count == queue->ready_room)
        clear_stale(queue);
    assert(queue->ready_count < queue->ready_room);
    put_ready(queue, &(struct queue_ready){job->submission.priority, job->id});
}

static int reserve_ready(struct queue *queue)
{
    while (queue->ready_room < 2 * (live_count(queue) + 1)) {
        void *items = grow(queue->ready, queue->ready_room, &queue->ready_room, sizeof *queue->ready);
        if (items == NULL)
            return -1;
        queue->ready = items;
    }
    return 0;
}

static struct queue_job *next_open(const struct queue *queue)
{
    struct queue_job *best = NULL;
    for (struct queue_job *job = queue->first_open; job != NULL; job = job->next_open) {
        const struct queue_ready entry = {job->submission.priority, job->id};
        if (ready_job(queue, &entry) != NULL &&
            (best == NULL || is_before(&entry, &(struct queue_ready){best->submission.priority, best->id}, NULL)))
            best = job;
    }
    return best;
}

static struct queue_job *first_ready(struct queue *queue)
{
    for (; queue->ready_count > 0; drop_top(queue)) {
        struct queue_job *job = ready_job(queue, &queue->ready[0]);
        if (job != NULL)
            return job;
    }
    return NULL;
}

static bool has_to_wait(const struct queue *queue, const struct queue_job *job)
{
    return job != NULL && job->is_alone && queue->running > 0;
}

struct queue_job *queue_next(struct queue *queue)
{
    if (queue->mode == QUEUE_STOPPED || queue->alone != NULL)
        return NULL;
    const bool has_place = queue->running - queue->running_open < queue->at_once;
    struct queue_job *job = first_ready(queue);
    /* If the first job must run alone, it waits until no other job runs. Until it has begun, no other job may begin. */
    if (!has_place && !has_to_wait(queue, job))
        job = next_open(queue);
    return has_to_wait(queue, job) ? NULL : job;
}

enum queue_hold queue_hold(struct queue *queue, const struct queue_job *job, uint32_t *other)
{
    if (queue->mode == QUEUE_STOPPED)
        return QUEUE_IS_STOPPED;
    const struct queue_job *alone = queue->alone != NULL ? queue->alone : first_ready(queue);
    if (alone != NULL && alone != job && (alone == queue->alone || has_to_wait(queue, alone))) {
        *other = alone->id;
        return QUEUE_OTHER_ALONE;
    }
    if (has_to_wait(queue, job))
        return QUEUE_MUST_ALONE;
    const bool is_full = queue->running - queue->running_open >= queue->at_once;
    return is_full && !is_incomplete(job) ? QUEUE_IS_FULL : QUEUE_IN_TURN;
}

void queue_keep_alone(struct queue_job *job)
{
    assert(job->state == QUEUE_WAITING);
    job->is_alone = true;
}

static void take_out(struct queue *queue, const struct queue_job *job)
{
    *(job->state == QUEUE_RUNNING ? &queue->running : &queue->waiting) -= 1;
    if (queue->alone == job)
        queue->alone = NULL;
}

static void let_wait(struct queue *queue, struct queue_job *job)
{
    queue->running_open -= is_incomplete(job);
    take_out(queue, job);
    job->state = QUEUE_WAITING;
    job->has_run = true;
    queue->waiting++;
}

static void list_ended(struct queue *queue, struct queue_job *job, enum queue_state state, int status, int64_t now_s)
{
    if (is_incomplete(job))
        unlist_open(queue, job);
    take_out(queue, job);
    job->state = state;
    job->status = status;
    job->ended_s = now_s;
    submission_forget_environment(&job->submission);
    *(queue->ended > 0 ? &queue->last_ended->next_ended : &queue->first_ended) = job;
    queue->last_ended = job;
    queue->ended++;
    struct queue_totals *totals = &queue->totals;
    *(state == QUEUE_DONE ? &totals->done : state == QUEUE_FAILED ? &totals->failed : &totals->cancelled) += 1;
}

static void tell_dependent(struct queue *queue, uint32_t id, const struct queue_job *job)
{
    struct queue_job *dependent = queue_find(queue, id);
    if (dependent == NULL)
        return;
    dependent->awaited--;
    if (dependent->state != QUEUE_WAITING)
        return;
    if (job->state != QUEUE_DONE) {
        dependent->cancelled_by = job->id;
        list_ended(queue, dependent, QUEUE_CANCELLED, EXIT_STATUS_DRAINED, job->ended_s);
    } else if (dependent->awaited == 0)
        note_ready(queue, dependent);
}

static void end(struct queue *queue, struct queue_job *job, enum queue_state state, int status, int64_t now_s)
{
    list_ended(queue, job, state, status, now_s);
    for (struct queue_job *ended = job; ended != NULL; ended = ended->next_ended) {
        for (size_t i = 0; i < ended->dependent_count; i++)
            tell_dependent(queue, ended->dependents[i], ended);
        free(ended->dependents);
        ended->dependents = NULL;
        ended->dependent_count = ended->dependent_room = 0;
    }
}

static enum queue_state state_at_end(int status)
{
    switch (status) {
    case EXIT_STATUS_DONE: return QUEUE_DONE;
    case EXIT_STATUS_DRAINED: return QUEUE_CANCELLED;
    default: return QUEUE_FAILED;
    }
}

bool queue_over(struct queue *queue, struct queue_job *job, int status, int64_t now_s)
{
    assert(job->state == QUEUE_RUNNING);
    forget_oldest(queue);
    if (queue->mode == QUEUE_STOPPED && status == EXIT_STATUS_DRAINED && !job->is_cancelled) {
        let_wait(queue, job);
        return false;
    }
    end(queue, job, state_at_end(status), status, now_s);
    return true;
}

void queue_keep_figures(struct queue_job *job, const struct queue_figures *figures)
{
    free_texts(&job->figures);
    job->figures = *figures;
    memset(job->figures.texts, 0, sizeof job->figures.texts);
    for (unsigned i = 0; i < QUEUE_TEXTS; i++)
        queue_keep_text(job, i, figures->texts[i] != NULL ? figures->texts[i] : "");
}

void queue_keep_text(struct queue_job *job, enum queue_text which, const char *text)
{
    free((char *)job->figures.texts[which]);
    job->figures.texts[which] = text[0] != '\0' ? strdup(text) : NULL;
}

void queue_cancel(struct queue *queue, struct queue_job *job, int64_t now_s)
{
    if (job->state == QUEUE_RUNNING)
        job->is_cancelled = true;
    else if (job->state == QUEUE_WAITING) {
        job->is_cancelled = true;
        end(queue, job, QUEUE_CANCELLED, EXIT_STATUS_DRAINED, now_s);
    }
}

void queue_begun(struct queue *queue, struct queue_job *job, int64_t now_s)
{
    assert(job->state == QUEUE_WAITING && job->awaited == 0);
    assert(queue->alone == NULL && (!job->is_alone || queue->running == 0));
    if (job->is_alone)
        queue->alone = job;
    job->state = QUEUE_RUNNING;
    job->began_s = now_s;
    queue->waiting--;
    queue->running++;
    queue->running_open += is_incomplete(job);
}

void queue_put_back(struct queue *queue, struct queue_job *job, bool has_run)
{
    let_wait(queue, job);
    job->has_run = has_run;
    job->began_s = 0;
    if (!job->is_in_heap)
        note_ready(queue, job);
}

/* Registers the job with the unfinished jobs of its `after`. Returns -1 if memory runs out; then some of those jobs may
 * already list this job. */
static int wait_for_others(struct queue *queue, struct queue_job *job)
{
    const struct submission *submission = &job->submission;
    for (size_t i = 0; i < submission->after_count; i++) {
        struct queue_job *other = queue_find(queue, submission->after[i]);
        if (other == NULL || other->state > QUEUE_RUNNING)
            continue;
        uint32_t *grown =
            grow(other->dependents, other->dependent_count, &other->dependent_room, sizeof *other->dependents);
        if (grown == NULL)
            return -1;
        other->dependents = grown;
        grown[other->dependent_count++] = job->id;
        job->awaited++;
    }
    return 0;
}

static uint32_t find_failed(const struct queue *queue, const struct submission *submission)
{
    for (size_t i = 0; i < submission->after_count; i++) {
        const struct queue_job *other = queue_find(queue, submission->after[i]);
        if (other != NULL && (other->state == QUEUE_FAILED || other->state == QUEUE_CANCELLED))
            return other->id;
    }
    return 0;
}

struct queue_job *queue_restore(struct queue *queue, uint32_t id, struct submission *submission, int64_t submitted_s)
{
    assert(id > queue->newest);
    struct queue_job *job = calloc(1, sizeof *job);
    if (job == NULL || reserve_buckets(queue) < 0 || reserve_ready(queue) < 0) {
        free(job);
        return NULL;
    }
    *job = (struct queue_job){.id = id, .status = -1, .submitted_s = submitted_s, .submission = *submission};
    /* Even if the submission fails, the number is not used again. Dependents may name it, and must not wait for another
     * job. */
    queue->newest = id;
    if (wait_for_others(queue, job) < 0) {
        free(job);
        return NULL;
    }
    *submission = (struct submission){0};
    queue->waiting++;
    list_job(queue, job);
    if (job->submission.is_open)
        list_open(queue, job);
    job->cancelled_by = find_failed(queue, &job->submission);
    if (job->cancelled_by != 0)
        end(queue, job, QUEUE_CANCELLED, EXIT_STATUS_DRAINED, submitted_s);
    else if (job->awaited == 0)
        note_ready(queue, job);
    return job;
}

struct queue_job *queue_submit(struct queue *queue, struct submission *submission, int64_t now_s, struct error *error)
{
    if (queue->mode != QUEUE_OPEN) {
        error_set(error, "the set is about to end and takes no further jobs");
        return NULL;
    }
    if (queue_is_full(queue)) {
        error_set(error, "the set has %d jobs that wait or run, and takes no more", QUEUE_LIVE_MAX);
        return NULL;
    }
    if (submission->is_open && queue_is_full_of_open(queue)) {
        error_set(error, "the set has %d jobs that are open, and takes no more of them", QUEUE_OPEN_MAX);
        return NULL;
    }
    forget_oldest(queue);
    for (size_t i = 0; i < submission->after_count; i++) {
        const uint32_t id = submission->after[i];
        if (queue_find(queue, id) == NULL) {
            error_set(error, "after %" PRIu32 ": %s", id,
                      id == 0 || id > queue->newest ? "there is no such job"
                                                    : "this job ended long ago, and is forgotten");
            return NULL;
        }
    }
    struct queue_job *job = queue_restore(queue, queue->newest + 1, submission, now_s);
    if (job == NULL)
        error_set(error, "out of memory");
    return job;
}

void queue_restore_end(struct queue *queue, struct queue_job *job, int status, uint32_t cancelled_by, int64_t ended_s)
{
    forget_oldest(queue);
    job->cancelled_by = cancelled_by;
    end(queue, job, state_at_end(status), status, ended_s);
}

/* Counts a lost set for a job that was running in the set. Returns true if the job must have caused the loss, because
 * the job was running alone. */
static bool note_loss(const struct queue *queue, struct queue_job *job)
{
    static const char reason[] = "it has run in three sets that were lost, at last alone: it is given up";
    if (job->losses++ < QUEUE_LOSSES_ALONE || queue->open > 0)
        return false;
    queue_keep_text(job, QUEUE_REASON, reason);
    return true;
}

void queue_restart(struct queue *queue, bool after_loss, int64_t now_s)
{
    forget_oldest(queue);
    queue->totals = (struct queue_totals){0};
    queue->ready_count = 0;
    for (struct queue_job *job = queue->first; job != NULL; job = job->next) {
        job->is_in_heap = false;
        const bool has_run = job->state == QUEUE_RUNNING;
        if (has_run)
            let_wait(queue, job);
        if (has_run && after_loss && note_loss(queue, job))
            end(queue, job, QUEUE_FAILED, EXIT_STATUS_FAILED, now_s);
        job->is_alone |= job->losses >= QUEUE_LOSSES_ALONE && queue->open == 0;
    }
    for (struct queue_job *job = queue->first; job != NULL; job = job->next)
        if (job->state == QUEUE_WAITING && job->awaited == 0)
            note_ready(queue, job);
    for (struct queue_job *job = queue->first; job != NULL; job = job->next)
        if (job->state == QUEUE_WAITING && (job->is_cancelled || job->submission.is_attached))
            end(queue, job, QUEUE_CANCELLED, EXIT_STATUS_DRAINED, now_s);
}

void queue_init(struct queue *queue, unsigned at_once)
{
    assert(at_once > 0);
    *queue = (struct queue){.mode = QUEUE_OPEN, .at_once = at_once, .ended_max = QUEUE_ENDED_MAX};
}

void queue_fini(struct queue *queue)
{
    for (struct queue_job *job = queue->first, *next; job != NULL; job = next) {
        next = job->next;
        free_job(job);
    }
    free((void *)queue->buckets);
    free(queue->ready);
    *queue = (struct queue){0};
}

void queue_close(struct queue *queue)
{
    if (queue->mode == QUEUE_OPEN)
        queue->mode = QUEUE_CLOSED;
}

void queue_stop(struct queue *queue)
{
    queue->mode = QUEUE_STOPPED;
}

bool queue_is_full(const struct queue *queue)
{
    return live_count(queue) >= QUEUE_LIVE_MAX || queue->newest == UINT32_MAX;
}

bool queue_is_idle(const struct queue *queue)
{
    return live_count(queue) == 0;
}

bool queue_is_over(const struct queue *queue)
{
    return (queue->mode == QUEUE_CLOSED && queue_is_idle(queue)) ||
           (queue->mode == QUEUE_STOPPED && queue->running == 0);
}

static bool has_entry(const struct queue *queue, const struct queue_job *job)
{
    for (size_t i = 0; i < queue->ready_count; i++)
        if (queue->ready[i].id == job->id)
            return true;
    return false;
}

static void check_job(const struct queue *queue, const struct queue_job *job)
{
    size_t awaited = 0;
    assert(queue_find(queue, job->id) == job && "a job is found by its number");
    assert((job->previous == NULL ? queue->first == job : job->previous->id < job->id) && "numbers rise");
    assert((job->status >= 0) == (job->state > QUEUE_RUNNING) && "a job that is over has a status");
    assert((job->state != QUEUE_DONE || job->status == EXIT_STATUS_DONE) && "a job that is done has ended well");
    for (size_t i = 0; i < job->submission.after_count; i++) {
        const struct queue_job *other = queue_find(queue, job->submission.after[i]);
        const bool goes_on = other != NULL && other->state <= QUEUE_RUNNING;
        awaited += goes_on;
        assert((job->state == QUEUE_CANCELLED || !goes_on || job->state == QUEUE_WAITING) &&
               "no job begins before those that it is after");
        assert((job->state == QUEUE_CANCELLED || other == NULL || goes_on || other->state == QUEUE_DONE) &&
               "a job whose others are not done is cancelled");
    }
    assert(awaited == job->awaited && "a job waits for those that are not over");
    assert(has_entry(queue, job) == job->is_in_heap && "a job knows whether it is in the heap");
    if (job->state == QUEUE_WAITING && awaited == 0 && queue->mode != QUEUE_STOPPED)
        assert(job->is_in_heap && "a job that may begin will");
}

void queue_check(const struct queue *queue)
{
    size_t counts[] = {0, 0, 0, 0, 0}, ended = 0, open = 0, running_open = 0, incomplete = 0;
    for (const struct queue_job *job = queue->first; job != NULL; job = job->next) {
        check_job(queue, job);
        counts[job->state]++;
        incomplete += is_incomplete(job);
        assert((job->next != NULL || queue->last == job) && "the last job is the last");
    }
    for (const struct queue_job *job = queue->ended > 0 ? queue->first_ended : NULL; job != NULL; job = job->next_ended)
        ended++;
    assert(counts[QUEUE_WAITING] == queue->waiting && counts[QUEUE_RUNNING] == queue->running && "jobs are counted");
    assert(counts[QUEUE_DONE] + counts[QUEUE_FAILED] + counts[QUEUE_CANCELLED] == queue->ended &&
           ended == queue->ended && "jobs that are over are listed");
    for (const struct queue_job *job = queue->first_open; job != NULL; job = job->next_open) {
        assert(is_incomplete(job) && "a job that is listed as open is");
        open++;
        running_open += job->state == QUEUE_RUNNING;
    }
    assert(open == incomplete && open == queue->open && running_open == queue->running_open &&
           "jobs that are open are counted");
    assert(queue->running <= queue->at_once + QUEUE_OPEN_MAX && "as many jobs run as may");
    assert((queue->alone == NULL || (queue->running == 1 && queue->alone->state == QUEUE_RUNNING)) &&
           "a job that runs alone is the only one");
}
