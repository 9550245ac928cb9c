/* SPDX-License-Identifier: MIT */
/* The items of open jobs: see items.h. */
#include "supermaster/set/items.h"

#include "common/os/files.h"
#include "common/os/say.h"
#include "supermaster/set/jobs.h"
#include "supermaster/set/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char list_end[] = "\\.\n";

static int fail(const struct set *set, uint32_t job, const char *what, struct error *error)
{
    char path[PATH_MAX];
    return error_set(error, "%.300s: %s: %s", set_folder_list(&set->folder, job, path), what, strerror(errno));
}

int set_begin_items(struct set *set, struct queue_job *queued, struct error *error)
{
    struct queue_items items = {0};
    if (!submission_takes_rows(&queued->submission) || queued->state > QUEUE_RUNNING)
        return 0;
    const int file = set_folder_open_list(&set->folder, queued->id, true, &items.bytes);
    if (file < 0)
        return fail(set, queued->id, "cannot create", error);
    const int result = fdatasync(file) < 0 ? fail(set, queued->id, "cannot write", error) : 0;
    close(file);
    if (result < 0)
        return -1;
    queue_set_items(&set->queue, queued, &items);
    queue_journal_items(set->journal, queued);
    return 0;
}

static enum refusal refuse(const struct set *set, const struct queue_job *queued, const struct items *items,
                           struct error *error)
{
    enum refusal refusal = REFUSAL_CONFLICT;
    if (queued == NULL) {
        error_set(error, "there is no such job, or it ended long ago");
        return REFUSAL_ABSENT;
    }
    const bool takes_rows = queued->items.bytes > 0;
    const uint64_t more = items->rows + items->iterations;
    if (!queued->submission.is_open)
        error_set(error, "job %" PRIu32 " is not open: only to one of `hdss submit --open` can be added", queued->id);
    else if (queued->state > QUEUE_RUNNING)
        error_set(error, "job %" PRIu32 " is over", queued->id);
    else if (queued->is_cancelled)
        error_set(error, "job %" PRIu32 " is cancelled", queued->id);
    else if (queued->items.is_complete)
        error_set(error, "job %" PRIu32 " is complete: it was said that nothing more comes", queued->id);
    else if (set->queue.mode != QUEUE_OPEN)
        error_set(error, "the set is about to end, and takes nothing more");
    else if (more > QUEUE_ITEMS_MAX - queued->items.count)
        error_set(error, "job %" PRIu32 " has %" PRIu64 " %s; accepted: %" PRIu64 " at most", queued->id,
                  queued->items.count, takes_rows ? "rows" : "iterations", (uint64_t)QUEUE_ITEMS_MAX);
    else if (items->has_rows && !takes_rows) {
        error_set(error, "job %" PRIu32 " takes no rows, as its kernel is not exec; accepted: iterations", queued->id);
        refusal = REFUSAL_WRONG;
    } else if (items->has_iterations && takes_rows) {
        error_set(error, "job %" PRIu32 " takes no iterations, as its kernel is exec; accepted: rows", queued->id);
        refusal = REFUSAL_WRONG;
    } else
        refusal = REFUSAL_NONE;
    return refusal;
}

static int write_list(struct set *set, const struct queue_job *queued, const struct items *items, struct error *error)
{
    const uint64_t end = queued->items.bytes + items->bytes;
    uint64_t bytes = 0;
    const int file = set_folder_open_list(&set->folder, queued->id, false, &bytes);
    int result = 0;
    if (file < 0)
        return fail(set, queued->id, "cannot open", error);
    if (bytes != queued->items.bytes)
        result = error_set(error,
                           "the list of job %" PRIu32 " has %" PRIu64 " bytes, and not %" PRIu64
                           ": somebody else has changed it",
                           queued->id, bytes, queued->items.bytes);
    else if (file_write_at(file, items->text, items->bytes, queued->items.bytes) < 0 ||
             (items->ends && file_write_at(file, list_end, strlen(list_end), end) < 0) ||
             (!queued->submission.is_attached && fdatasync(file) < 0)) {
        result = fail(set, queued->id, "cannot write", error);
        if (ftruncate(file, (off_t)queued->items.bytes) < 0)
            say(stderr, "supermaster: job %" PRIu32 ": cannot shorten its list: %s", queued->id, strerror(errno));
    }
    close(file);
    return result;
}

static void note_before(struct set *set, const struct queue_job *queued)
{
    for (unsigned i = 0; i < set->addition_count; i++)
        if (set->additions[i].job == queued->id)
            return;
    set->additions[set->addition_count++] = (struct set_addition){queued->id, queued->items};
}

static int add_to(struct set *set, struct queue_job *queued, const struct items *added, struct error *error)
{
    struct queue_items items = queued->items;
    const bool takes_rows = items.bytes > 0;
    if (added->rows + added->iterations == 0 && !added->ends)
        return 0;
    if (takes_rows && write_list(set, queued, added, error) < 0)
        return -1;
    note_before(set, queued);
    items.count += added->rows + added->iterations;
    items.bytes += takes_rows ? added->bytes + (added->ends ? strlen(list_end) : 0) : 0;
    items.is_complete = added->ends;
    queue_set_items(&set->queue, queued, &items);
    queue_journal_items(set->journal, queued);
    return 0;
}

enum refusal set_add_items(struct set *set, uint32_t id, struct items *items, struct error *error)
{
    struct queue_job *queued = queue_find(&set->queue, id);
    if (items->is_total && queued != NULL)
        items->iterations -= items->iterations < queued->items.count ? items->iterations : queued->items.count;
    const enum refusal refusal = refuse(set, queued, items, error);
    if (refusal != REFUSAL_NONE)
        return refusal;
    if (set->addition_count == QUEUE_OPEN_MAX) {
        error_set(error, "too many jobs are being added to at a time");
        return REFUSAL_CONFLICT;
    }
    return add_to(set, queued, items, error) < 0 ? REFUSAL_BROKEN : REFUSAL_NONE;
}

static void take_back(struct set *set, struct queue_job *queued, const struct queue_items *before)
{
    uint64_t bytes;
    const int file = before->bytes > 0 ? set_folder_open_list(&set->folder, queued->id, false, &bytes) : -1;
    if (file >= 0 && ftruncate(file, (off_t)before->bytes) < 0)
        say(stderr, "supermaster: job %" PRIu32 ": cannot shorten its list: %s", queued->id, strerror(errno));
    if (file >= 0)
        close(file);
    queue_set_items(&set->queue, queued, before);
    queue_journal_items(set->journal, queued);
}

void set_settle_items(struct set *set, bool is_committed)
{
    for (unsigned i = 0; i < set->addition_count; i++) {
        const struct set_addition *addition = &set->additions[i];
        struct queue_job *queued = queue_find(&set->queue, addition->job);
        if (queued == NULL || queued->state > QUEUE_RUNNING)
            continue;
        if (is_committed)
            set_tell_more(set, queued);
        else
            take_back(set, queued, &addition->before);
    }
    if (set->addition_count > 0)
        control_note_change(set->control);
    set->addition_count = 0;
}

void set_complete_items(struct set *set)
{
    static const struct items none = {.ends = true};
    struct error error = {0};
    int result = 0;
    for (struct queue_job *job = set->queue.first_open, *next; job != NULL; job = next) {
        next = job->next_open;
        if (queue_is_open(job))
            result |= add_to(set, job, &none, &error);
    }
    if (set->addition_count == 0 && result == 0)
        return;
    const bool is_committed = queue_journal_commit(set->journal, true, &error) == 0;
    set_settle_items(set, is_committed);
    if (!is_committed || result < 0)
        say(stderr, "supermaster: %s; it is tried again", error.text);
}

static int mend(struct set *set, const struct queue_job *queued, struct error *error)
{
    uint64_t bytes;
    if (queued->state > QUEUE_RUNNING || queued->items.bytes == 0)
        return 0;
    const int file = set_folder_open_list(&set->folder, queued->id, false, &bytes);
    if (file < 0) /* This is no error here. The job will fail with an error when it begins without its list. */
        return 0;
    const bool has_more = bytes > queued->items.bytes;
    const int result = has_more && (ftruncate(file, (off_t)queued->items.bytes) < 0 || fdatasync(file) < 0)
                           ? fail(set, queued->id, "cannot shorten", error)
                           : 0;
    close(file);
    return result;
}

int set_mend_items(struct set *set, struct error *error)
{
    for (const struct queue_job *job = set->queue.first; job != NULL; job = job->next)
        if (mend(set, job, error) < 0)
            return -1;
    return 0;
}

void set_end_items(const struct set *set, const struct queue_job *queued)
{
    if (queued->items.bytes > 0 && queued->state == QUEUE_DONE)
        set_folder_remove_list(&set->folder, queued->id);
}
