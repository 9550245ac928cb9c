/* SPDX-License-Identifier: MIT */
/* The way of results to their files: fixed records into one file, variable output into parts from which its files are
 * joined.
 *
 * Whoever leads the run calls results_check() before anything starts, results_create() once, and results_convert() and
 * results_remove() at the end; every collecting rank calls results_open(), results_write() for the ranges it has, in
 * any order, and results_close().
 *
 * Of records the file's extension says its kind. .npy and .bin or .raw are written directly, each record at the place
 * that follows from its iteration; .png and .csv are made at the end from FILE.records, which stands beside them until
 * then. Iterations nobody wrote stay 0.
 *
 * Variable output may have any name. Until the end it is in the folder FILE.parts: see parts.h. Iterations nobody wrote
 * have no bytes. */
#pragma once

#include "common/metrics/reasons.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct results_sink {
    int fd; /* -1 when closed */
    struct hdss_loop loop;
    uint64_t header_bytes;
    uint64_t record_bytes;
    char *path;         /* owned, path of the file that is written */
    char *line;         /* owned, one row of the array; for tiles only */
    uint64_t looked_ns; /* when the file was looked at last: see intact.h; 0: not yet */
    /* for variable output */
    uint32_t run;        /* number of this run of the job; earlier runs are resumed */
    uint64_t end;        /* end of the file */
    bool name_is_synced; /* the file is found after a crash */
};

/* Checks whether the file's kind is known, present in this build, and able to hold such results. -1 with one line. */
int results_check(const char *path, const struct hdss_loop *loop, struct error *error);

/* Checks whether results_create() can be expected to make its file there. Nothing is made to find that out. -1 with
 * one line. */
int results_check_place(const char *path, const struct hdss_loop *loop, struct error *error);

/* Returned where the results find no room. */
#define RESULTS_NO_ROOM 1

/* Makes the file that is written during the run, in its full size, or empties an old one. `*lock` receives an open
 * descriptor of it, the caller's to close: until then every other run is refused; NULL where that is not wanted. -1
 * with one line when that cannot be, as where another run is writing it, RESULTS_NO_ROOM with one line when the disk is
 * too small for it; then the file is removed again. */
int results_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);

/* Checks whether what results_create() made for such a loop is there, as a run that ended early leaves it, and makes
 * it ready to go on with; `lock` as there. RESULTS_ABSENT where it is not, -1 with one line where it is another file.
 */
#define RESULTS_ABSENT 2
int results_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);

/* Checks as results_find() does, and makes nothing ready. */
int results_look(const char *path, const struct hdss_loop *loop, struct error *error);

/* Checks, before the final files are made, whether what is written is still the file that `lock` is of, and as long as
 * it was made. -1 with one line where somebody has removed, replaced or cut it meanwhile. */
int results_look_again(const char *path, const struct hdss_loop *loop, int lock, struct error *error);

/* True if the file itself, or what is written for it during a run, is there. */
bool results_exist(const char *path, const struct hdss_loop *loop);

/* The number of the final files, and the path of the i-th of them, which is `path` or stands in `file`. */
unsigned results_files(const struct hdss_loop *loop);
const char *results_file(const char *path, const struct hdss_loop *loop, unsigned i, char file[PATH_MAX]);

/* Bytes of the final files, as far as they are there. */
uint64_t results_bytes(const char *path, const struct hdss_loop *loop);

/* Makes the parts of a complete run again from its final files, which hold the iterations of `range`: as if that run
 * had ended early, so that others can go on behind them. The final files stay. For variable output only. 0, -1 with one
 * line, or RESULTS_NO_ROOM. */
int results_take_back(const char *path, const struct hdss_loop *loop, struct range range, struct error *error);

/* Opens what results_create() made, perhaps on another node; `writer` is another number for each rank that does. -1
 * with one line, and nothing is open. */
int results_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, unsigned writer,
                 struct error *error);

/* Stores what iterations first .. first + count - 1 yield: their records one after another, or their block, of `size`
 * bytes. -1 with one line. */
int results_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *bytes, uint64_t size,
                  struct error *error);

/* Reads back records that are stored, whoever stored them, perhaps on another node; of layout rows only. -1 with one
 * line. */
int results_read(const char *path, const struct hdss_loop *loop, uint64_t first, uint64_t count, void *records,
                 struct error *error);

/* Brings to the disk what is stored so far. -1 with one line. */
int results_sync(struct results_sink *sink, struct error *error);

/* -1 with one line when the system reports only now that something was not stored; the sink is closed either way. */
int results_close(struct results_sink *sink, struct error *error);

/* Makes the final files where they are others than the one written; on failure what they are made from stays, and old
 * ones too. Of variable output all of `whole` must be there, unless its count is 0, and `failed` receives the
 * iterations that the kernel calls failed, and `reasons`, which may be NULL, why, where they are tasks with a log. -1
 * with one line. */
int results_convert(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
                    struct reasons *reasons, struct error *error);

/* Checks variable output as results_convert() does, and makes no file. -1 with one line. */
int results_review(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
                   struct reasons *reasons, struct error *error);

/* Brings the final files, and their names, to the disk. -1 with one line. */
int results_sync_files(const char *path, const struct hdss_loop *loop, struct error *error);

/* Removes what the final files were made from. */
void results_remove(const char *path, const struct hdss_loop *loop);

/* Checks whether what results_create() made holds all of `done`, as far as can be seen without reading it:
 * RESULTS_COMPLETE, RESULTS_LACKS where some of variable output is missing, RESULTS_ABSENT, or -1 with one line. */
enum { RESULTS_COMPLETE, RESULTS_LACKS = 3 };
int results_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error);

/* For variable output: finds the part of `done` that is there and as it was written, and the sum of its digests. With
 * `by_heads` the head of an entry is enough: a program that reads the parts while the run goes on may have given their
 * bytes back. -1 with one line. */
int results_find_sound(const char *path, const struct hdss_loop *loop, const struct ranges *done, bool by_heads,
                       struct ranges *sound, uint64_t *digest, struct error *error);

/* For variable output: finds the part of `done` that the earlier runs of a job call failed, and the sum of its
 * digests. -1 with one line. */
int results_find_failed(const char *path, const struct hdss_loop *loop, const struct ranges *done,
                        struct ranges *failed, uint64_t *digest, struct error *error);
