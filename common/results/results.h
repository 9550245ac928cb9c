/* SPDX-License-Identifier: MIT */
/* Output files. Fixed-size records go to one file. Variable output goes to parts, which are joined to the final files.
 *
 * The leading rank calls results_check() before the start, results_create() once, and results_convert() and
 * results_remove() at the end. Each collecting rank calls results_open(), then results_write() for its ranges in any
 * order, and results_close().
 *
 * For records, the file's extension selects the format. Files of the formats .npy, .bin and .raw are written in place:
 * the position of a record follows from its iteration. A .png or .csv file is made at the end from the file
 * FILE.records. Iterations that were not written are 0.
 *
 * Variable output may have any name. Until the end it is in the folder FILE.parts: see parts.h. Iterations that were
 * not written have no bytes. */
#pragma once

#include "common/metrics/reasons.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct results_sink {
    int fd;
    struct hdss_loop loop;
    uint64_t header_bytes;
    uint64_t record_bytes;
    char *path;
    char *line;
    uint64_t looked_ns; /* time at which intact.h last checked the file; 0: never */
    /* This member and the next two are used only for variable output. */
    uint32_t run; /* number of this run; it is greater than those of the runs that this run resumes */
    uint64_t end;
    bool name_is_synced;
};

int results_check(const char *path, const struct hdss_loop *loop, struct error *error);

/* Checks whether results_create() will probably succeed. Creates nothing. */
int results_check_place(const char *path, const struct hdss_loop *loop, struct error *error);

/* Returned with an error if the disk is full. */
#define RESULTS_NO_ROOM 1

/* Creates the file that the run writes, in its full size, and empties the file of an earlier run. `*lock` receives a
 * descriptor, which keeps other runs from writing the file until the caller closes it. `lock` may be NULL. Returns 0,
 * -1 (for example if another run writes the file), or RESULTS_NO_ROOM. If it returns RESULTS_NO_ROOM, it has removed
 * the new file. */
int results_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);

/* Finds the file that an earlier run of this loop has written, and prepares the file for this run. `lock` is used as by
 * results_create(). Returns RESULTS_ABSENT if the file is missing, and -1 if the file is for another loop.
 * results_look() does the same but does not prepare the file. */
#define RESULTS_ABSENT 2
int results_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);

int results_look(const char *path, const struct hdss_loop *loop, struct error *error);

/* Checks that the written file is still the file that `lock` has open and has its full length. Otherwise somebody has
 * removed, replaced or truncated it. Call this before the final files are made. */
int results_look_again(const char *path, const struct hdss_loop *loop, int lock, struct error *error);

bool results_exist(const char *path, const struct hdss_loop *loop);

/* results_files() returns the number of final files. results_file() returns the path of final file number i: `path`
 * itself, or a path that it writes into `file`. */
unsigned results_files(const struct hdss_loop *loop);
const char *results_file(const char *path, const struct hdss_loop *loop, unsigned i, char file[PATH_MAX]);

uint64_t results_bytes(const char *path, const struct hdss_loop *loop);

/* Variable output only: recreates the parts of a complete run from its final files, so that the job can be continued.
 * `range` is the range of the iterations in these files. The final files remain. Returns 0, -1 or RESULTS_NO_ROOM. */
int results_take_back(const char *path, const struct hdss_loop *loop, struct range range, struct error *error);

/* Opens the output that results_create() has made, perhaps on another node. `writer` must be different for each
 * rank. */
int results_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, unsigned writer,
                 struct error *error);

/* Stores iterations first .. first + count - 1. `bytes` has `size` bytes: the records or, for variable output, the
 * block of these iterations. */
int results_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *bytes, uint64_t size,
                  struct error *error);

/* Reads stored records, including records that other nodes have written. Only for arrays that are stored row by row. */
int results_read(const char *path, const struct hdss_loop *loop, uint64_t first, uint64_t count, void *records,
                 struct error *error);

int results_sync(struct results_sink *sink, struct error *error);

/* Closes the sink, even on failure. Fails if the system reports a delayed write error. */
int results_close(struct results_sink *sink, struct error *error);

/* Makes the final files, unless the file is written in place. On failure the written files and old final files remain.
 * If the count of `whole` is not 0, variable output must contain all iterations of `whole`. `failed` receives the
 * failed iterations. If the iterations are tasks with a log, `reasons` receives why they failed. `reasons` may be NULL.
 */
int results_convert(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
                    struct reasons *reasons, struct error *error);

/* Variable output only: sets `failed` and `reasons` like results_convert(), but makes no final files and does not check
 * for missing iterations. Reads only entries with iterations of `among`; NULL: all entries. */
int results_review(const char *path, const struct hdss_loop *loop, const struct ranges *among, struct ranges *failed,
                   struct reasons *reasons, struct error *error);

int results_sync_files(const char *path, const struct hdss_loop *loop, struct error *error);

void results_remove(const char *path, const struct hdss_loop *loop);

/* Checks that the written file has all iterations of `done`. Does not read their data. Returns RESULTS_COMPLETE,
 * RESULTS_LACKS if variable output is missing, RESULTS_ABSENT or -1. */
enum { RESULTS_COMPLETE, RESULTS_LACKS = 3 };
int results_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error);

/* Variable output only: finds the iterations of `done` that exist undamaged, and the sum of their digests. If
 * `by_heads` is set, only the heads are checked, because a program that reads the parts during the run may have freed
 * the blocks. */
int results_find_sound(const char *path, const struct hdss_loop *loop, const struct ranges *done, bool by_heads,
                       struct ranges *sound, uint64_t *digest, struct error *error);

int results_find_failed(const char *path, const struct hdss_loop *loop, const struct ranges *done,
                        struct ranges *failed, uint64_t *digest, struct error *error);
