/* SPDX-License-Identifier: MIT */
/* Journal files record which iterations are done and stored, so that a run that ended early can be resumed. Only the
 * supermaster writes them; journal_format.h describes the content.
 *
 * A journal is created under a temporary name and then renamed, so a file under the final name always begins with a
 * complete journal. Afterwards each group of ranges is appended with one write. A journal that has grown to several
 * times its minimal size is rewritten under a temporary name, too, so its size stays O(ranges). Recovery points are
 * kept as long as a run could continue from them. The writer holds a lock on the file. */
#pragma once

#include "common/job/journal_format.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

enum journal_state {
    JOURNAL_ABSENT,
    JOURNAL_READABLE,
    JOURNAL_UNUSABLE,
    JOURNAL_IN_USE,
    JOURNAL_FAILED,
};

struct journal_file {
    struct journal_content content;
    size_t size; /* bytes of the file; more than content.valid if the end of the file is incomplete or corrupted */
    unsigned char *bytes;
    int fd; /* the file, which is locked; owned; -1: no file is open */
};

/* The caller must call journal_file_fini() for every result, also for failures. */
enum journal_state journal_read(struct journal_file *file, const char *path, struct error *error);
void journal_file_fini(struct journal_file *file);

/* Compares `there`, the head of the file `path`, with `here`, the head of this run. Fails if they belong to
 * different jobs; the error names the first difference. Growths are not compared. */
int journal_compare(const struct journal_head *there, const struct journal_head *here, const char *path,
                    struct error *error);

/* Returns the value of the line "name=value" of the head, or "" if there is no such line. Borrowed from the head. */
const char *journal_value(const struct journal_head *head, const char *name);

/* Limit of the recovery points that are kept. If all iterations before several points are done, only the last of these
 * points is kept. All other kept points are at later iterations. */
#define JOURNAL_POINTS 3

/* If a journal gets more growth records than this, every second one is dropped. */
#define JOURNAL_GROWTHS 64

struct journal {
    int fd;
    char *path, *temporary;
    bool sync;
    struct range loop;
    /* [growth_count] in ascending order; the last one describes the present loop */
    struct journal_growth growths[JOURNAL_GROWTHS];
    unsigned growth_count;
    unsigned char *head;
    size_t head_bytes;
    uint32_t head_crc;
    struct ranges done;
    struct poison_set deaths;
    /* [point_count] in ascending order; the data of the points are owned */
    struct journal_point points[JOURNAL_POINTS];
    unsigned point_count;
    uint64_t digest;
    uint32_t crc;
    uint64_t size;
    unsigned char *bytes;
    size_t capacity;
};

/* Creates the journal at `path`, replacing an old file. The head has at most JOURNAL_GROWTHS growths. If `earlier`
 * is not NULL, copies its content except the head. On failure `journal` is closed. */
int journal_begin(struct journal *journal, const char *path, const struct journal_head *head,
                  const struct journal_content *earlier, bool sync, struct error *error);

/* Records that these ranges are done, and adds `digest`, the checksum of their results. If this function or one of the
 * next functions fails, the file has no new valid record. If an incomplete record cannot be removed from the file, all
 * later calls fail, too. */
int journal_append(struct journal *journal, const struct range *ranges, size_t count, uint64_t digest,
                   struct error *error);

int journal_append_growths(struct journal *journal, const struct journal_growth *growths, size_t count,
                           struct error *error);

int journal_append_deaths(struct journal *journal, const struct poison *deaths, struct error *error);

/* Records a recovery point. Does nothing if JOURNAL_POINTS points are kept already, or if a kept point is at the same
 * or a later iteration. */
int journal_append_point(struct journal *journal, const struct journal_point *point, struct error *error);

/* Rewrites the journal at minimal size and appends the end record. This record says that the whole loop is done and
 * that the final files exist; `bytes` is their total size. On failure the file has no end record. */
int journal_end(struct journal *journal, uint64_t bytes, struct error *error);

bool journal_is_complete(const struct journal *journal);

void journal_close(struct journal *journal, bool remove);
