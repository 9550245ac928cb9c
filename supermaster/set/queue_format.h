/* SPDX-License-Identifier: MIT */
/* The format of a queue's journal. Pure: nothing here reads or writes files.
 *
 * A file consists of a head and records. All integers are little-endian:
 *
 *     head     "HDSSQUEU"  u32 version  u32 newest  u32 CRC
 *     record   F5 51 52 F9  u32 CRC  u32 bytes of the text  u32 number  u32 kind  u32 job  u32 newest  u32 status
 *              u32 cancelled_by  i64 time  the text
 *
 * `newest` is the largest job number given so far. These are the kinds of records, and the fields that they use besides
 * number, kind, job, newest and time:
 *
 *     QUEUE_SUBMITTED     text: the submission as JSON (docs/CONTROL.md); cancelled_by if it was cancelled at once
 *     QUEUE_GIVEN         an open job got items; text: u64 items  u64 bytes of the list  u64 1 if complete, else 0
 *     QUEUE_BEGUN         status: number of sets that were lost while the job ran
 *     QUEUE_OVER          status; cancelled_by; text, if the job has run: u64 done  u64 total  u64 resumed  u64 failed
 *                         f64 elapsed seconds  the texts of enum queue_text, a NUL behind each
 *     QUEUE_ASKED_TO_END  a client has asked to cancel the job
 *     QUEUE_SET_OVER      the set has ended by itself; always the last record
 *
 * All other fields are 0, and a text that is not listed is empty. A QUEUE_GIVEN can have fewer items than an earlier
 * one, if the disk was full. The failure or cancellation of a job also cancels the jobs that wait for it. Only a
 * rewritten file has records of the ends of such jobs.
 *
 * A CRC covers all other bytes of its head or record, so each record can be checked by itself. Records are numbered
 * from 1. After damage the reader looks for the next F5 51 52 F9, which no text contains. The numbers then tell how
 * many records are missing. If QUEUE_SET_OVER is missing, the set was killed or the file was cut off. */
#pragma once

#include "common/util/error.h"
#include "supermaster/queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raise this if the layout or the meaning of a record changes. */
#define QUEUE_FORMAT_VERSION 4
/* The oldest version that can be read. In version 3 the technique was the only text of QUEUE_OVER, and no NUL followed
 * it. */
#define QUEUE_FORMAT_OLDEST 3

#define QUEUE_HEAD_BYTES   20
#define QUEUE_RECORD_BYTES 44
#define QUEUE_TEXT_MAX     (8u << 20)
#define QUEUE_FIGURE_BYTES 40
#define QUEUE_FIGURE_TEXT  1024 /* limit for the bytes of each text, with its NUL */

#define QUEUE_ITEM_BYTES 24

enum queue_record_kind {
    QUEUE_SUBMITTED = 1,
    QUEUE_BEGUN,
    QUEUE_OVER,
    QUEUE_ASKED_TO_END,
    QUEUE_GIVEN,
    QUEUE_SET_OVER
};

struct queue_record {
    enum queue_record_kind kind;
    uint32_t number;
    uint32_t job, newest;
    int64_t time_s;
    uint32_t status, cancelled_by;
    const char *text; /* [text_bytes] the text of QUEUE_SUBMITTED, QUEUE_OVER or QUEUE_GIVEN; borrowed */
    uint32_t text_bytes;
};

static inline size_t queue_record_size(uint32_t text_bytes)
{
    return QUEUE_RECORD_BYTES + (size_t)text_bytes;
}

void queue_head_put(uint32_t newest, unsigned char *out);
void queue_record_put(const struct queue_record *record, unsigned char *out);

struct queue_notes {
    unsigned char *bytes; /* [size] records that are not in the file yet; owned */
    size_t size, room;
    uint32_t number;
    uint32_t newest;
    bool set_is_over;
    bool failed; /* memory ran out: records are missing, and no more records are added */
};

void queue_notes_fini(struct queue_notes *notes);

void queue_note_items(struct queue_notes *notes, const struct queue_job *job);
void queue_note_submitted(struct queue_notes *notes, const struct queue_job *job);
void queue_note_begun(struct queue_notes *notes, const struct queue_job *job);
void queue_note_over(struct queue_notes *notes, const struct queue_job *job);
void queue_note_cancelled(struct queue_notes *notes, const struct queue_job *job);

void queue_note_set_over(struct queue_notes *notes);

void queue_note_all(struct queue_notes *notes, const struct queue *queue);

struct queue_damage {
    bool head_is_bad;
    /* `at`: offset of the first byte that is not part of an intact record. `bytes`: number of all such bytes. */
    uint64_t at, bytes;
    uint64_t records;
    uint64_t cancelled;
    bool is_unended; /* QUEUE_SET_OVER is missing: the set was killed, or the end of the file was cut off */
};

/* Returns true if records may be lost. A file that only lacks QUEUE_SET_OVER is not damaged, because a killed set
 * leaves such a file. */
static inline bool queue_is_damaged(const struct queue_damage *damage)
{
    return damage->head_is_bad || damage->bytes > 0 || damage->records > 0;
}

/* Reads a file of `size` bytes into an empty queue. If records are damaged, also reads the records after them. Jobs
 * that have begun count as running. The numbers of jobs that may be lost are not used again. Fails if the file has
 * another format or version, or if memory runs out. After a failure the queue may contain jobs. */
int queue_replay(struct queue *queue, const unsigned char *bytes, size_t size, struct queue_damage *damage,
                 struct error *error);
