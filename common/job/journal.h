/* SPDX-License-Identifier: MIT */
/* Journal files: record which iterations are done and stored, next to the output, so that a run that ended early can be
 * resumed. Only the supermaster writes them; journal_format.h describes the content.
 *
 * A journal is created under a temporary name and renamed, so that a complete one always exists. Afterwards records are
 * appended, one write per group of ranges. When the file has grown to several times its minimum it is rewritten in the
 * same way: its size stays O(ranges). Recovery points that can still be used are kept. The writer holds a lock on the
 * file. */
#pragma once

#include "common/job/journal_format.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

enum journal_state {
    JOURNAL_ABSENT,
    JOURNAL_READABLE,
    JOURNAL_UNUSABLE, /* not a journal, or invalid from the start */
    JOURNAL_IN_USE,   /* another run writes it */
    JOURNAL_FAILED,
};

struct journal_file {
    struct journal_content content;
    size_t size; /* equals content.valid if the file is not truncated */
    unsigned char *bytes;
    int fd; /* holds the lock; owned; -1: none */
};

/* Reads the file. `file` must be released by journal_file_fini() in any case. */
enum journal_state journal_read(struct journal_file *file, const char *path, struct error *error);
void journal_file_fini(struct journal_file *file);

/* Fails if `there`, the head of the file `path`, is of another job than `here`; the error names the first difference.
 * Ignores growth. */
int journal_compare(const struct journal_head *there, const struct journal_head *here, const char *path,
                    struct error *error);

/* How many recovery points are kept: the last one up to which all iterations are done, and later ones. */
#define JOURNAL_POINTS 3

/* How many growths are kept; if there are more, every second one is dropped. */
#define JOURNAL_GROWTHS 64

struct journal {
    int fd;
    char *path, *temporary;
    bool sync;
    struct range loop;
    struct journal_growth growths[JOURNAL_GROWTHS]; /* [growth_count] ascending; the last one is the present loop */
    unsigned growth_count;
    unsigned char *head;
    size_t head_bytes;
    uint32_t head_crc;
    struct ranges done;
    struct poison_set deaths;                    /* as in journal_content */
    struct journal_point points[JOURNAL_POINTS]; /* [point_count] ascending; their data are owned */
    unsigned point_count;
    uint64_t digest;
    uint32_t crc;
    uint64_t size;
    unsigned char *bytes;
    size_t capacity;
};

/* Creates the journal at `path` and replaces an old file; the head has at most JOURNAL_GROWTHS growths. `earlier` (may
 * be NULL) contains done ranges and deaths of an earlier run; its head is ignored. On failure `journal` is closed. */
int journal_begin(struct journal *journal, const char *path, const struct journal_head *head,
                  const struct journal_content *earlier, bool sync, struct error *error);

/* Records that `count` ranges are done, and their share of the checksum. If it fails, the journal is unchanged, as
 * after each of the next functions. */
int journal_append(struct journal *journal, const struct range *ranges, size_t count, uint64_t digest,
                   struct error *error);

/* Records `count` extensions of the loop. */
int journal_append_growths(struct journal *journal, const struct journal_growth *growths, size_t count,
                           struct error *error);

/* Records the deaths of iterations so far, as in journal_deaths_put(). */
int journal_append_deaths(struct journal *journal, const struct poison *deaths, struct error *error);

/* Records a recovery point unless it is useless. */
int journal_append_point(struct journal *journal, const struct journal_point *point, struct error *error);

/* Rewrites the journal at minimal size and adds the end: the whole loop is recorded, and the final files, of `bytes` in
 * total, exist. On failure the file has no end. */
int journal_end(struct journal *journal, uint64_t bytes, struct error *error);

bool journal_is_complete(const struct journal *journal);

void journal_close(struct journal *journal, bool remove);
