/* SPDX-License-Identifier: MIT */
/* The journal's file: what is done and stored of a loop, kept beside the output so that a run that ended early can be
 * resumed. Written by the supermaster alone; see journal_format.h for what is in it.
 *
 * A journal is begun as a new file under a temporary name and takes its place by renaming, so that there is always a
 * whole one; after that it is only appended to, one write for a group of ranges. When it has grown to several times
 * what its ranges need it is written anew in the same way: it stays O(ranges), however long the run is. Of recovery
 * points those are written anew that may still be gone on from. A writer holds a lock on it. */
#pragma once

#include "common/job/journal_format.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

/* --- reading --- */

enum journal_state {
    JOURNAL_ABSENT,   /* no such file */
    JOURNAL_READABLE, /* `content` has what it says */
    JOURNAL_UNUSABLE, /* not a journal, or nothing in it can be believed: `error` says what */
    JOURNAL_IN_USE,   /* the journal is written by another run: `error` says so */
    JOURNAL_FAILED,   /* the journal could not be read: `error` */
};

struct journal_file {
    struct journal_content content; /* JOURNAL_READABLE only */
    size_t size;                    /* content.valid where nothing was torn off */
    unsigned char *bytes;           /* owned; content borrows from them */
    int fd;                         /* keeps the lock, -1 if there is none; owned */
};

/* Reads the file. `file` is to be released by journal_file_fini() whatever is returned. */
enum journal_state journal_read(struct journal_file *file, const char *path, struct error *error);
void journal_file_fini(struct journal_file *file);

/* -1 with one line that names the first difference where `there`, the head of the journal `path`, is of another job
 * than `here`. The lengths of loops that grow are not compared. */
int journal_compare(const struct journal_head *there, const struct journal_head *here, const char *path,
                    struct error *error);

/* --- writing --- */

/* Recovery points that are kept: the last one that is not behind all that is done from the beginning of the loop on,
 * and later ones. */
#define JOURNAL_POINTS 3

/* Growths that are kept; where there are more, every second is forgotten. */
#define JOURNAL_GROWTHS 64

struct journal {
    int fd;                 /* -1 when it is not open */
    char *path, *temporary; /* owned */
    bool sync;              /* each record is on the disk, not only with the system, before more is done */
    struct range loop;      /* as it has grown */
    struct journal_growth growths[JOURNAL_GROWTHS]; /* [growth_count] ascending; the last one is what the loop is */
    unsigned growth_count;
    unsigned char *head; /* owned, encoded */
    size_t head_bytes;
    uint32_t head_crc;
    struct ranges done;                          /* ranges of the whole loop that are recorded as done; owned */
    struct poison_set deaths;                    /* as journal_content has it; owned */
    struct journal_point points[JOURNAL_POINTS]; /* [point_count] ascending; their data owned */
    unsigned point_count;
    uint64_t digest;
    uint32_t crc;         /* CRC of the last record */
    uint64_t size;        /* bytes of the good part of the file */
    unsigned char *bytes; /* room for the record that is written; owned */
    size_t capacity;
};

/* Begins the journal of a run at `path`, in the place of what is there; the head has no more than JOURNAL_GROWTHS.
 * `earlier` (NULL: nothing) has what was done before, and deaths; its head is not looked at. -1 with one line, and
 * `journal` is closed. */
int journal_begin(struct journal *journal, const char *path, const struct journal_head *head,
                  const struct journal_content *earlier, bool sync, struct error *error);

/* Records that `count` ranges are done, and what they add to the checksum. -1 with one line where they are not
 * recorded; the journal then says what it said before. */
int journal_append(struct journal *journal, const struct range *ranges, size_t count, uint64_t digest,
                   struct error *error);

/* Records that the loop has become longer, `count` times in a row. As journal_append(). */
int journal_append_growths(struct journal *journal, const struct journal_growth *growths, size_t count,
                           struct error *error);

/* Records the deaths that the iterations have seen so far, as for journal_deaths_put(). As journal_append(). */
int journal_append_deaths(struct journal *journal, const struct poison *deaths, struct error *error);

/* Records a recovery point, unless it is of no use beside those that are. As journal_append(). */
int journal_append_point(struct journal *journal, const struct journal_point *point, struct error *error);

/* Writes the journal anew, as short as it can be, and then the end: the whole loop is recorded, and the final files, of
 * so many bytes, are made. -1 with one line, and the file has no end. */
int journal_end(struct journal *journal, uint64_t bytes, struct error *error);

/* True if the whole loop is recorded. */
bool journal_is_complete(const struct journal *journal);

/* Closes it, and removes the file where `remove` says so. */
void journal_close(struct journal *journal, bool remove);
