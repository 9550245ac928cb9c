/* SPDX-License-Identifier: MIT */
/* The queue's journal in bytes: see queue_format.h. */
#include "supermaster/set/queue_format.h"

#include "common/control/submission_json.h"
#include "common/util/crc.h"
#include "proto/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'H', 'D', 'S', 'S', 'Q', 'U', 'E', 'U'};

enum { VERSION_AT = 8, NEWEST_AT = 12, HEAD_CRC_AT = 16 };
enum {
    TEXT_BYTES_AT = 0,
    CRC_AT = 4,
    KIND_AT = 8,
    JOB_AT = 12,
    TIME_AT = 16,
    STATUS_AT = 24,
    BY_AT = 28,
    TEXT_AT = 32
};

enum { DONE_AT = 0, TOTAL_AT = 8, RESUMED_AT = 16, FAILED_AT = 24, ELAPSED_AT = 32, TECHNIQUE_AT = 40 };

enum { ITEMS_AT = 0, LIST_BYTES_AT = 8, IS_COMPLETE_AT = 16 };

/* The largest exit status. */
#define STATUS_MAX 255
/* The least room for notes. */
#define NOTES_LEAST 4096

/* --- writing --- */

static uint32_t record_crc(const unsigned char *record, size_t size, uint32_t before)
{
    return crc32c(crc32c(before, record, CRC_AT), record + KIND_AT, size - KIND_AT);
}

uint32_t queue_head_put(uint32_t newest, unsigned char *out)
{
    memcpy(out, magic, sizeof magic);
    wire_put32(out + VERSION_AT, QUEUE_FORMAT_VERSION);
    wire_put32(out + NEWEST_AT, newest);
    const uint32_t crc = crc32c(0, out, HEAD_CRC_AT);
    wire_put32(out + HEAD_CRC_AT, crc);
    return crc;
}

uint32_t queue_record_put(const struct queue_record *record, uint32_t before, unsigned char *out)
{
    wire_put32(out + TEXT_BYTES_AT, record->text_bytes);
    wire_put32(out + KIND_AT, record->kind);
    wire_put32(out + JOB_AT, record->job);
    wire_put64(out + TIME_AT, (uint64_t)record->time_s);
    wire_put32(out + STATUS_AT, record->status);
    wire_put32(out + BY_AT, record->cancelled_by);
    if (record->text_bytes > 0)
        memcpy(out + TEXT_AT, record->text, record->text_bytes);
    const uint32_t crc = record_crc(out, queue_record_size(record->text_bytes), before);
    wire_put32(out + CRC_AT, crc);
    return crc;
}

/* --- notes --- */

/* Room for `size` bytes more; NULL when memory is out. */
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

static void note(struct queue_notes *notes, const struct queue_record *record)
{
    const size_t size = queue_record_size(record->text_bytes);
    unsigned char *out = make_room(notes, size);
    if (out == NULL)
        return;
    notes->crc = queue_record_put(record, notes->crc, out);
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
    note(notes, &(struct queue_record){.kind = QUEUE_BEGUN, .job = job->id, .time_s = job->began_s});
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
    return job->figures.total > 0 || job->figures.technique != NULL;
}

/* Writes how far a job came to `out`. Returns the bytes. */
static uint32_t figures_put(const struct queue_figures *figures, unsigned char *out)
{
    const char *technique = figures->technique != NULL ? figures->technique : "";
    const size_t length = strnlen(technique, QUEUE_TECHNIQUE_MAX);
    wire_put64(out + DONE_AT, figures->done);
    wire_put64(out + TOTAL_AT, figures->total);
    wire_put64(out + RESUMED_AT, figures->resumed);
    wire_put64(out + FAILED_AT, figures->failed);
    wire_put_double(out + ELAPSED_AT, figures->elapsed_s);
    memcpy(out + TECHNIQUE_AT, technique, length);
    return (uint32_t)(QUEUE_FIGURE_BYTES + length);
}

void queue_note_over(struct queue_notes *notes, const struct queue_job *job)
{
    unsigned char figures[QUEUE_FIGURE_BYTES + QUEUE_TECHNIQUE_MAX];
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

/* All that is to be known of a job. */
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
    queue_notes_fini(notes);
    unsigned char *head = make_room(notes, QUEUE_HEAD_BYTES);
    if (head == NULL)
        return;
    notes->crc = queue_head_put(queue->newest, head);
    notes->size = QUEUE_HEAD_BYTES;
    for (const struct queue_job *job = queue->first; job != NULL; job = job->next)
        note_whole(notes, job);
}

void queue_notes_fini(struct queue_notes *notes)
{
    free(notes->bytes);
    *notes = (struct queue_notes){.crc = notes->crc};
}

/* --- reading --- */

/* Reads the record at `bytes`, of which `left` are there. Returns its size; 0 where it is torn. */
static size_t read_record(struct queue_record *record, const unsigned char *bytes, size_t left, uint32_t *crc)
{
    if (left < QUEUE_RECORD_BYTES)
        return 0;
    const uint32_t text_bytes = wire_get32(bytes + TEXT_BYTES_AT);
    if (text_bytes > QUEUE_TEXT_MAX || text_bytes > left - QUEUE_RECORD_BYTES)
        return 0;
    const size_t size = queue_record_size(text_bytes);
    const uint32_t own = record_crc(bytes, size, *crc);
    if (wire_get32(bytes + CRC_AT) != own)
        return 0;
    *crc = own;
    *record = (struct queue_record){.kind = (enum queue_record_kind)wire_get32(bytes + KIND_AT),
                                    .job = wire_get32(bytes + JOB_AT),
                                    .time_s = (int64_t)wire_get64(bytes + TIME_AT),
                                    .status = wire_get32(bytes + STATUS_AT),
                                    .cancelled_by = wire_get32(bytes + BY_AT),
                                    .text = (const char *)bytes + TEXT_AT,
                                    .text_bytes = text_bytes};
    return size;
}

static int contradict(const struct queue_record *record, struct error *error)
{
    return error_set(error, "contradicts itself, of job %" PRIu32, record->job);
}

static int replay_submission(struct queue *queue, const struct queue_record *record, struct error *error)
{
    struct submission submission;
    struct error reason;
    json_t *object = json_loadb(record->text, record->text_bytes, JSON_REJECT_DUPLICATES, NULL);
    const int result =
        object != NULL && record->job > queue->newest ? submission_read(&submission, object, &reason) : -1;
    json_decref(object);
    if (result < 0)
        return contradict(record, error);
    struct queue_job *job = queue_restore(queue, record->job, &submission, record->time_s);
    if (job != NULL && job->state == QUEUE_WAITING && record->cancelled_by != 0)
        queue_restore_end(queue, job, EXIT_STATUS_DRAINED, record->cancelled_by, record->time_s);
    if (job != NULL)
        return 0;
    submission_fini(&submission);
    return error_set(error, "out of memory");
}

/* Reads how far the job came, where that is told. -1 where it is not told right. */
static int read_figures(struct queue_job *job, const struct queue_record *record)
{
    const unsigned char *bytes = (const unsigned char *)record->text;
    char technique[QUEUE_TECHNIQUE_MAX + 1] = "";
    if (record->text_bytes == 0)
        return 0;
    if (record->text_bytes < QUEUE_FIGURE_BYTES || record->text_bytes > QUEUE_FIGURE_BYTES + QUEUE_TECHNIQUE_MAX ||
        wire_double_is_bad(bytes + ELAPSED_AT))
        return -1;
    const struct queue_figures figures = {.done = wire_get64(bytes + DONE_AT),
                                          .total = wire_get64(bytes + TOTAL_AT),
                                          .resumed = wire_get64(bytes + RESUMED_AT),
                                          .failed = wire_get64(bytes + FAILED_AT),
                                          .elapsed_s = wire_get_double(bytes + ELAPSED_AT)};
    memcpy(technique, bytes + TECHNIQUE_AT, record->text_bytes - QUEUE_FIGURE_BYTES);
    queue_keep_figures(job, &figures, technique);
    return 0;
}

/* Items are told of a job that is over, too, where the file was written anew and it was so at once. */
static int replay_items(struct queue *queue, struct queue_job *job, const struct queue_record *record,
                        struct error *error)
{
    const unsigned char *bytes = (const unsigned char *)record->text;
    if (record->text_bytes != QUEUE_ITEM_BYTES || !job->submission.is_open)
        return contradict(record, error);
    const struct queue_items items = {wire_get64(bytes + ITEMS_AT), wire_get64(bytes + LIST_BYTES_AT),
                                      wire_get64(bytes + IS_COMPLETE_AT) == 1};
    if (items.count > QUEUE_ITEMS_MAX || items.bytes > INT64_MAX || wire_get64(bytes + IS_COMPLETE_AT) > 1)
        return contradict(record, error);
    if (job->state <= QUEUE_RUNNING)
        queue_set_items(queue, job, &items);
    return 0;
}

/* A job that went on in a later set has begun more than once. One that was cancelled as another was not done is told to
 * be over where the file was written anew, though that follows from the other. */
static int replay_change(struct queue *queue, struct queue_job *job, const struct queue_record *record,
                         struct error *error)
{
    const bool is_over = job->state > QUEUE_RUNNING;
    if (record->kind == QUEUE_OVER && record->status <= STATUS_MAX && read_figures(job, record) == 0) {
        if (is_over)
            job->ended_s = record->time_s;
        else
            queue_restore_end(queue, job, (int)record->status, record->cancelled_by, record->time_s);
        return 0;
    }
    if (record->kind == QUEUE_BEGUN && job->state == QUEUE_RUNNING) {
        job->began_s = record->time_s;
        return 0;
    }
    if (record->kind == QUEUE_BEGUN && !is_over && job->awaited == 0) {
        queue_begun(queue, job, record->time_s);
        return 0;
    }
    if (record->kind != QUEUE_ASKED_TO_END)
        return contradict(record, error);
    queue_cancel(queue, job, record->time_s);
    return 0;
}

static int replay_record(struct queue *queue, const struct queue_record *record, struct error *error)
{
    if (record->kind == QUEUE_SUBMITTED)
        return replay_submission(queue, record, error);
    struct queue_job *job = queue_find(queue, record->job);
    const bool may_have_text = record->kind == QUEUE_OVER;
    if (job != NULL && record->kind == QUEUE_GIVEN)
        return replay_items(queue, job, record, error);
    return job != NULL && (record->text_bytes == 0 || may_have_text) ? replay_change(queue, job, record, error)
                                                                     : contradict(record, error);
}

/* Reads the head, whose `newest` is given. -1 with one line. */
static int read_head(const unsigned char *bytes, size_t size, uint32_t *newest, uint32_t *crc, struct error *error)
{
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return error_set(error, "is not the journal of a queue");
    if (size < QUEUE_HEAD_BYTES || wire_get32(bytes + HEAD_CRC_AT) != crc32c(0, bytes, HEAD_CRC_AT))
        return error_set(error, "is torn or corrupted at its beginning");
    if (wire_get32(bytes + VERSION_AT) != QUEUE_FORMAT_VERSION)
        return error_set(error, "is a journal of another version of HDSS");
    *newest = wire_get32(bytes + NEWEST_AT);
    *crc = wire_get32(bytes + HEAD_CRC_AT);
    return 0;
}

int64_t queue_replay(struct queue *queue, const unsigned char *bytes, size_t size, uint32_t *crc, struct error *error)
{
    struct queue_record record;
    uint32_t newest = 0;
    if (read_head(bytes, size, &newest, crc, error) < 0)
        return -1;
    size_t valid = QUEUE_HEAD_BYTES;
    for (size_t taken; (taken = read_record(&record, bytes + valid, size - valid, crc)) > 0; valid += taken)
        if (replay_record(queue, &record, error) < 0)
            return -1;
    if (queue->newest < newest)
        queue->newest = newest;
    return (int64_t)valid;
}
