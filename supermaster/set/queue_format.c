/* SPDX-License-Identifier: MIT */
/* Encoding of the queue's journal: see queue_format.h. */
#include "supermaster/set/queue_format.h"

#include "common/control/submission_json.h"
#include "common/util/crc.h"
#include "proto/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'H', 'D', 'S', 'S', 'Q', 'U', 'E', 'U'};

enum { VERSION_AT = 8, NEWEST_AT = 12, HEAD_CRC_AT = 16 };
enum {
    MARK_AT = 0,
    CRC_AT = 4,
    TEXT_BYTES_AT = 8,
    NUMBER_AT = 12,
    KIND_AT = 16,
    JOB_AT = 20,
    RECORD_NEWEST_AT = 24,
    STATUS_AT = 28,
    BY_AT = 32,
    TIME_AT = 36,
    TEXT_AT = 44
};

static const unsigned char mark[4] = {0xf5, 0x51, 0x52, 0xf9};

enum { DONE_AT = 0, TOTAL_AT = 8, RESUMED_AT = 16, FAILED_AT = 24, ELAPSED_AT = 32 };

enum { ITEMS_AT = 0, LIST_BYTES_AT = 8, IS_COMPLETE_AT = 16 };

#define STATUS_MAX  255
#define FIGURES_MAX (QUEUE_FIGURE_BYTES + QUEUE_TEXTS * QUEUE_FIGURE_TEXT)
#define NOTES_LEAST 4096

static uint32_t record_crc(const unsigned char *record, size_t size)
{
    return crc32c(crc32c(0, record, CRC_AT), record + TEXT_BYTES_AT, size - TEXT_BYTES_AT);
}

void queue_head_put(uint32_t newest, unsigned char *out)
{
    memcpy(out, magic, sizeof magic);
    wire_put32(out + VERSION_AT, QUEUE_FORMAT_VERSION);
    wire_put32(out + NEWEST_AT, newest);
    wire_put32(out + HEAD_CRC_AT, crc32c(0, out, HEAD_CRC_AT));
}

void queue_record_put(const struct queue_record *record, unsigned char *out)
{
    memcpy(out + MARK_AT, mark, sizeof mark);
    wire_put32(out + TEXT_BYTES_AT, record->text_bytes);
    wire_put32(out + NUMBER_AT, record->number);
    wire_put32(out + KIND_AT, record->kind);
    wire_put32(out + JOB_AT, record->job);
    wire_put32(out + RECORD_NEWEST_AT, record->newest);
    wire_put32(out + STATUS_AT, record->status);
    wire_put32(out + BY_AT, record->cancelled_by);
    wire_put64(out + TIME_AT, (uint64_t)record->time_s);
    if (record->text_bytes > 0)
        memcpy(out + TEXT_AT, record->text, record->text_bytes);
    wire_put32(out + CRC_AT, record_crc(out, queue_record_size(record->text_bytes)));
}

static unsigned char *make_room(struct queue_notes *notes, size_t size)
{
    size_t room = notes->room > 0 ? notes->room : NOTES_LEAST;
    while (room < notes->size + size)
        room *= 2;
    unsigned char *bytes = room > notes->room && !notes->failed ? realloc(notes->bytes, room) : notes->bytes;
    notes->failed |= bytes == NULL;
    if (notes->failed)
        return NULL;
    notes->bytes = bytes;
    notes->room = room;
    return bytes + notes->size;
}

static void note(struct queue_notes *notes, const struct queue_record *what)
{
    const size_t size = queue_record_size(what->text_bytes);
    struct queue_record record = *what;
    unsigned char *out = make_room(notes, size);
    if (out == NULL)
        return;
    notes->newest = record.job > notes->newest ? record.job : notes->newest;
    record.newest = notes->newest;
    record.number = ++notes->number;
    queue_record_put(&record, out);
    notes->size += size;
}

void queue_note_submitted(struct queue_notes *notes, const struct queue_job *job)
{
    json_t *object = submission_json(&job->submission);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    const size_t bytes = text != NULL ? strlen(text) : 0;
    json_decref(object);
    if (text != NULL && bytes <= QUEUE_TEXT_MAX)
        note(notes, &(struct queue_record){.kind = QUEUE_SUBMITTED,
                                           .job = job->id,
                                           .time_s = job->submitted_s,
                                           .cancelled_by = job->cancelled_by,
                                           .text = text,
                                           .text_bytes = (uint32_t)bytes});
    else
        notes->failed = true;
    free(text);
}

void queue_note_begun(struct queue_notes *notes, const struct queue_job *job)
{
    note(notes, &(struct queue_record){
                    .kind = QUEUE_BEGUN, .job = job->id, .time_s = job->began_s, .status = job->losses & STATUS_MAX});
}

void queue_note_items(struct queue_notes *notes, const struct queue_job *job)
{
    unsigned char items[QUEUE_ITEM_BYTES];
    wire_put64(items + ITEMS_AT, job->items.count);
    wire_put64(items + LIST_BYTES_AT, job->items.bytes);
    wire_put64(items + IS_COMPLETE_AT, job->items.is_complete);
    note(notes, &(struct queue_record){
                    .kind = QUEUE_GIVEN, .job = job->id, .text = (const char *)items, .text_bytes = sizeof items});
}

static bool has_figures(const struct queue_job *job)
{
    bool has = job->figures.total > 0;
    for (unsigned i = 0; i < QUEUE_TEXTS; i++)
        has |= job->figures.texts[i] != NULL;
    return has;
}

static uint32_t figures_put(const struct queue_figures *figures, unsigned char *out)
{
    size_t bytes = QUEUE_FIGURE_BYTES;
    wire_put64(out + DONE_AT, figures->done);
    wire_put64(out + TOTAL_AT, figures->total);
    wire_put64(out + RESUMED_AT, figures->resumed);
    wire_put64(out + FAILED_AT, figures->failed);
    wire_put_double(out + ELAPSED_AT, figures->elapsed_s);
    for (unsigned i = 0; i < QUEUE_TEXTS; i++)
        bytes += (size_t)snprintf((char *)out + bytes, QUEUE_FIGURE_TEXT, "%.*s", QUEUE_FIGURE_TEXT - 1,
                                  figures->texts[i] != NULL ? figures->texts[i] : "") +
                 1;
    return (uint32_t)bytes;
}

void queue_note_over(struct queue_notes *notes, const struct queue_job *job)
{
    unsigned char figures[FIGURES_MAX];
    note(notes, &(struct queue_record){.kind = QUEUE_OVER,
                                       .job = job->id,
                                       .time_s = job->ended_s,
                                       .status = (uint32_t)job->status & STATUS_MAX,
                                       .cancelled_by = job->cancelled_by,
                                       .text = (const char *)figures,
                                       .text_bytes = has_figures(job) ? figures_put(&job->figures, figures) : 0});
}

void queue_note_cancelled(struct queue_notes *notes, const struct queue_job *job)
{
    note(notes, &(struct queue_record){.kind = QUEUE_ASKED_TO_END, .job = job->id, .time_s = job->ended_s});
}

void queue_note_set_over(struct queue_notes *notes)
{
    notes->set_is_over = true;
    note(notes, &(struct queue_record){.kind = QUEUE_SET_OVER});
}

static void note_whole(struct queue_notes *notes, const struct queue_job *job)
{
    queue_note_submitted(notes, job);
    if (job->submission.is_open)
        queue_note_items(notes, job);
    if (job->state > QUEUE_RUNNING) {
        queue_note_over(notes, job);
        return;
    }
    if (job->state == QUEUE_RUNNING || job->has_run)
        queue_note_begun(notes, job);
    if (job->is_cancelled)
        queue_note_cancelled(notes, job);
}

void queue_note_all(struct queue_notes *notes, const struct queue *queue)
{
    const bool set_is_over = notes->set_is_over;
    queue_notes_fini(notes);
    notes->number = 0;
    unsigned char *head = make_room(notes, QUEUE_HEAD_BYTES);
    if (head == NULL)
        return;
    queue_head_put(queue->newest, head);
    notes->size = QUEUE_HEAD_BYTES;
    notes->newest = queue->newest;
    for (const struct queue_job *job = queue->first; job != NULL; job = job->next)
        note_whole(notes, job);
    if (set_is_over)
        queue_note_set_over(notes);
}

void queue_notes_fini(struct queue_notes *notes)
{
    free(notes->bytes);
    *notes = (struct queue_notes){.number = notes->number, .newest = notes->newest};
}

static size_t read_record(struct queue_record *record, const unsigned char *bytes, size_t left)
{
    if (left < QUEUE_RECORD_BYTES || memcmp(bytes + MARK_AT, mark, sizeof mark) != 0)
        return 0;
    const uint32_t text_bytes = wire_get32(bytes + TEXT_BYTES_AT);
    if (text_bytes > QUEUE_TEXT_MAX || text_bytes > left - QUEUE_RECORD_BYTES)
        return 0;
    const size_t size = queue_record_size(text_bytes);
    if (wire_get32(bytes + CRC_AT) != record_crc(bytes, size))
        return 0;
    *record = (struct queue_record){.kind = (enum queue_record_kind)wire_get32(bytes + KIND_AT),
                                    .number = wire_get32(bytes + NUMBER_AT),
                                    .job = wire_get32(bytes + JOB_AT),
                                    .newest = wire_get32(bytes + RECORD_NEWEST_AT),
                                    .time_s = (int64_t)wire_get64(bytes + TIME_AT),
                                    .status = wire_get32(bytes + STATUS_AT),
                                    .cancelled_by = wire_get32(bytes + BY_AT),
                                    .text = (const char *)bytes + TEXT_AT,
                                    .text_bytes = text_bytes};
    return size;
}

enum taken { TAKEN, CONTRADICTS, NO_MEMORY };

static enum taken replay_submission(struct queue *queue, const struct queue_record *record)
{
    struct submission submission;
    struct error reason;
    json_t *object = json_loadb(record->text, record->text_bytes, JSON_REJECT_DUPLICATES, NULL);
    const int result =
        object != NULL && record->job > queue->newest ? submission_read(&submission, object, &reason) : -1;
    json_decref(object);
    if (result < 0)
        return CONTRADICTS;
    struct queue_job *job = queue_restore(queue, record->job, &submission, record->time_s);
    if (job != NULL && job->state == QUEUE_WAITING && record->cancelled_by != 0)
        queue_restore_end(queue, job, EXIT_STATUS_DRAINED, record->cancelled_by, record->time_s);
    if (job != NULL)
        return TAKEN;
    submission_fini(&submission);
    return NO_MEMORY;
}

static int read_figures(struct queue_job *job, const struct queue_record *record)
{
    const unsigned char *bytes = (const unsigned char *)record->text;
    char texts[QUEUE_TEXTS * QUEUE_FIGURE_TEXT + QUEUE_TEXTS] = "";
    if (record->text_bytes == 0)
        return 0;
    if (record->text_bytes < QUEUE_FIGURE_BYTES || record->text_bytes > FIGURES_MAX ||
        wire_double_is_bad(bytes + ELAPSED_AT))
        return -1;
    struct queue_figures figures = {.done = wire_get64(bytes + DONE_AT),
                                    .total = wire_get64(bytes + TOTAL_AT),
                                    .resumed = wire_get64(bytes + RESUMED_AT),
                                    .failed = wire_get64(bytes + FAILED_AT),
                                    .elapsed_s = wire_get_double(bytes + ELAPSED_AT)};
    memcpy(texts, bytes + QUEUE_FIGURE_BYTES, record->text_bytes - QUEUE_FIGURE_BYTES);
    /* the bytes after the text of the record are NUL, so a missing text is empty */
    for (size_t i = 0, at = 0; i < QUEUE_TEXTS; i++) {
        figures.texts[i] = texts + at;
        at += strlen(texts + at) + 1;
    }
    queue_keep_figures(job, &figures);
    return 0;
}

/* Replays items of an open job. In a rewritten file the submission comes first, and its replay may end the job at once.
 * The record of the items then comes after the end of the job, and the items are ignored. */
static enum taken replay_items(struct queue *queue, struct queue_job *job, const struct queue_record *record)
{
    const unsigned char *bytes = (const unsigned char *)record->text;
    if (record->text_bytes != QUEUE_ITEM_BYTES || !job->submission.is_open)
        return CONTRADICTS;
    const struct queue_items items = {wire_get64(bytes + ITEMS_AT), wire_get64(bytes + LIST_BYTES_AT),
                                      wire_get64(bytes + IS_COMPLETE_AT) == 1};
    if (items.count > QUEUE_ITEMS_MAX || items.bytes > INT64_MAX || wire_get64(bytes + IS_COMPLETE_AT) > 1)
        return CONTRADICTS;
    if (job->state <= QUEUE_RUNNING)
        queue_set_items(queue, job, &items);
    return TAKEN;
}

/* Handles a job that has begun although a job of its `after` is not done. The record of the end of that other job must
 * be lost. The job that has begun will begin again from its own journal. */
static enum taken replay_early_beginning(struct queue_job *job, int64_t began_s, const struct queue_damage *damage)
{
    if (!queue_is_damaged(damage))
        return CONTRADICTS;
    job->has_run = true;
    job->began_s = began_s;
    return TAKEN;
}

/* Replays a change of a job. A job that continued in a later set has several records of its beginning. If a job was
 * cancelled because of another job, a rewritten file has a record of its end. The replay of the other job's end has
 * then already cancelled this job. */
static enum taken replay_change(struct queue *queue, struct queue_job *job, const struct queue_record *record,
                                const struct queue_damage *damage)
{
    const bool is_over = job->state > QUEUE_RUNNING;
    if (record->kind == QUEUE_BEGUN)
        job->losses = record->status;
    if (record->kind == QUEUE_OVER && record->status <= STATUS_MAX && read_figures(job, record) == 0) {
        if (is_over)
            job->ended_s = record->time_s;
        else
            queue_restore_end(queue, job, (int)record->status, record->cancelled_by, record->time_s);
        return TAKEN;
    }
    if (record->kind == QUEUE_BEGUN && job->state == QUEUE_RUNNING) {
        job->began_s = record->time_s;
        return TAKEN;
    }
    if (record->kind == QUEUE_BEGUN && !is_over && job->awaited > 0)
        return replay_early_beginning(job, record->time_s, damage);
    if (record->kind == QUEUE_BEGUN && !is_over) {
        queue_begun(queue, job, record->time_s);
        return TAKEN;
    }
    if (record->kind != QUEUE_ASKED_TO_END)
        return CONTRADICTS;
    queue_cancel(queue, job, record->time_s);
    return TAKEN;
}

static enum taken replay_record(struct queue *queue, const struct queue_record *record,
                                const struct queue_damage *damage)
{
    if (record->kind == QUEUE_SET_OVER)
        return TAKEN;
    if (record->kind == QUEUE_SUBMITTED)
        return replay_submission(queue, record);
    struct queue_job *job = queue_find(queue, record->job);
    const bool may_have_text = record->kind == QUEUE_OVER;
    if (job != NULL && record->kind == QUEUE_GIVEN)
        return replay_items(queue, job, record);
    return job != NULL && (record->text_bytes == 0 || may_have_text) ? replay_change(queue, job, record, damage)
                                                                     : CONTRADICTS;
}

struct replay {
    struct queue *queue;
    struct queue_damage *damage;
    uint32_t number, newest;
    uint32_t behind;
};

static void note_damage(struct queue_damage *damage, uint64_t at, uint64_t bytes)
{
    if (damage->bytes == 0)
        damage->at = at;
    damage->bytes += bytes;
}

static size_t find_record(const unsigned char *bytes, size_t size, size_t at)
{
    struct queue_record record;
    while (at < size) {
        const unsigned char *next = memchr(bytes + at, mark[0], size - at);
        if (next == NULL)
            return size;
        at = (size_t)(next - bytes);
        if (read_record(&record, next, size - at) > 0)
            return at;
        at++;
    }
    return size;
}

static int take_record(struct replay *replay, const struct queue_record *record, size_t at)
{
    struct queue_damage *damage = replay->damage;
    if (record->number <= replay->number) {
        note_damage(damage, at, queue_record_size(record->text_bytes));
        return 0;
    }
    damage->records += record->number - replay->number - 1;
    replay->number = record->number;
    if (record->newest > replay->newest)
        replay->newest = record->newest;
    damage->is_unended = record->kind != QUEUE_SET_OVER;
    if (replay->behind == 0 && record->kind == QUEUE_SUBMITTED && queue_is_damaged(damage))
        replay->behind = record->job;
    const enum taken taken = replay_record(replay->queue, record, damage);
    if (taken == CONTRADICTS) {
        note_damage(damage, at, queue_record_size(record->text_bytes));
        damage->records++;
    }
    return taken == NO_MEMORY ? -1 : 0;
}

static int take_records(struct replay *replay, const unsigned char *bytes, size_t size, size_t at)
{
    struct queue_record record;
    while (at < size) {
        const size_t next = find_record(bytes, size, at);
        if (next > at)
            note_damage(replay->damage, at, next - at);
        if (next == size) { /* no later record tells how many records are missing here, so at least one is counted */
            replay->damage->records++;
            replay->damage->is_unended = true;
            const uint64_t lost = (next - at) / QUEUE_RECORD_BYTES;
            replay->newest += lost < UINT32_MAX - replay->newest ? (uint32_t)lost : UINT32_MAX - replay->newest;
            return 0;
        }
        at = next + read_record(&record, bytes + next, size - next);
        if (take_record(replay, &record, next) < 0)
            return -1;
    }
    return 0;
}

static uint32_t find_lost(const struct queue *queue, const struct queue_job *job)
{
    for (size_t i = 0; i < job->submission.after_count; i++)
        if (queue_find(queue, job->submission.after[i]) == NULL)
            return job->submission.after[i];
    return 0;
}

static struct queue_job *next_live(struct queue_job *job)
{
    while (job != NULL && job->state > QUEUE_RUNNING)
        job = job->next;
    return job;
}

/* Cancels jobs that wait for a lost job. `behind`: the lowest number of a job that was submitted after the first
 * damage. Jobs with lower numbers can wait only for known jobs, and for forgotten jobs, which are done. */
static void cancel_dependents_of_lost(struct queue *queue, uint32_t behind, struct queue_damage *damage)
{
    for (struct queue_job *job = next_live(queue->first), *next; job != NULL; job = next) {
        next = next_live(job->next); /* must be read before queue_restore_end(), which may free `job` */
        const bool waits = job->id >= behind && job->state == QUEUE_WAITING && !job->has_run;
        const uint32_t lost = waits ? find_lost(queue, job) : 0;
        if (lost == 0)
            continue;
        queue_restore_end(queue, job, EXIT_STATUS_DRAINED, lost, job->submitted_s);
        damage->cancelled++;
    }
}

static int read_head(struct replay *replay, const unsigned char *bytes, size_t size, struct error *error)
{
    if (size < QUEUE_HEAD_BYTES || memcmp(bytes, magic, sizeof magic) != 0 ||
        wire_get32(bytes + HEAD_CRC_AT) != crc32c(0, bytes, HEAD_CRC_AT))
        return 0;
    if (wire_get32(bytes + VERSION_AT) < QUEUE_FORMAT_OLDEST || wire_get32(bytes + VERSION_AT) > QUEUE_FORMAT_VERSION)
        return error_set(error, "is a journal of another version of HDSS");
    replay->newest = wire_get32(bytes + NEWEST_AT);
    return 1;
}

static int refuse_file(const unsigned char *bytes, size_t size, struct error *error)
{
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0
               ? error_set(error, "is torn or corrupted at its beginning, and no job of it is left")
               : error_set(error, "is not the journal of a queue");
}

int queue_replay(struct queue *queue, const unsigned char *bytes, size_t size, struct queue_damage *damage,
                 struct error *error)
{
    *damage = (struct queue_damage){.is_unended = true};
    struct replay replay = {.queue = queue, .damage = damage};
    const int head = read_head(&replay, bytes, size, error);
    if (head < 0)
        return -1;
    damage->head_is_bad = head == 0;
    if (head == 0 && find_record(bytes, size, 0) == size)
        return refuse_file(bytes, size, error);
    if (take_records(&replay, bytes, size, head > 0 ? QUEUE_HEAD_BYTES : 0) < 0)
        return error_set(error, "out of memory");
    if (replay.behind > 0)
        cancel_dependents_of_lost(queue, replay.behind, damage);
    if (queue->newest < replay.newest)
        queue->newest = replay.newest;
    return 0;
}
