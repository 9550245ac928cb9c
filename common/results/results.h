/* SPDX-License-Identifier: MIT */
/* Output files: fixed-size records go to one file, variable output goes to parts from which the final files are joined.
 *
 * The leading rank calls results_check() before the start, results_create() once, and results_convert() and
 * results_remove() at the end. Each collecting rank calls results_open(), results_write() for its ranges in any order,
 * and results_close().
 *
 * For records the file's extension selects the format. .npy, .bin and .raw are written in place, each record at a
 * position that follows from its iteration; .png and .csv are made at the end from FILE.records. Iterations that were
 * not written are 0.
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
    uint64_t looked_ns; /* when intact.h last checked the file; 0: never */
    /* This member and the next two are for variable output only. */
    uint32_t run; /* number of this run; the runs that it resumes have smaller numbers */
    uint64_t end;
    bool name_is_synced;
};

int results_check(const char *path, const struct hdss_loop *loop, struct error *error);

/* Checks that results_create() will probably succeed; creates nothing. */
int results_check_place(const char *path, const struct hdss_loop *loop, struct error *error);

/* Returned with an error if the disk is full. */
#define RESULTS_NO_ROOM 1

/* Creates the file that the run writes, in its full size; a file of an earlier run is emptied. `*lock` (`lock` may be
 * NULL) receives a descriptor that keeps other runs out; the caller closes it. Returns 0, -1 (for example if another
 * run writes the file), or RESULTS_NO_ROOM; then the new file is removed. */
int results_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);

/* Finds the file that an earlier run of this loop has written, and prepares it so that this run can continue it; `lock`
 * as in results_create(). Returns RESULTS_ABSENT if the file is missing, and -1 if the file is for another loop.
 * results_look() does the same without preparing the file. */
#define RESULTS_ABSENT 2
int results_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);

int results_look(const char *path, const struct hdss_loop *loop, struct error *error);

/* Call it before the final files are made. Checks that the written file is still the file that `lock` has open, and has
 * its full length: others may have removed, replaced or truncated it. */
int results_look_again(const char *path, const struct hdss_loop *loop, int lock, struct error *error);

bool results_exist(const char *path, const struct hdss_loop *loop);

/* results_files() returns the number of final files. results_file() returns the path of final file number i: either
 * `path`, or a path that it has stored in `file`. */
unsigned results_files(const struct hdss_loop *loop);
const char *results_file(const char *path, const struct hdss_loop *loop, unsigned i, char file[PATH_MAX]);

uint64_t results_bytes(const char *path, const struct hdss_loop *loop);

/* Variable output only: recreates the parts of a complete run from its final files, with the iterations of `range`, so
 * that the job can be continued. The final files remain. Returns 0, -1 or RESULTS_NO_ROOM. */
int results_take_back(const char *path, const struct hdss_loop *loop, struct range range, struct error *error);

/* Opens for writing what results_create() has made, perhaps on another node. `writer` must be different for each
 * rank. */
int results_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, unsigned writer,
                 struct error *error);

/* Stores iterations first .. first + count - 1: their records, or their block, of `size` bytes. */
int results_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *bytes, uint64_t size,
                  struct error *error);

/* Reads stored records, including records that other nodes have written. Only for arrays in the layout rows. */
int results_read(const char *path, const struct hdss_loop *loop, uint64_t first, uint64_t count, void *records,
                 struct error *error);

int results_sync(struct results_sink *sink, struct error *error);

/* Closes the sink in any case. Fails if the system reports a delayed write error. */
int results_close(struct results_sink *sink, struct error *error);

/* Makes the final files, unless the file is written in place. On failure the written files and old final files remain.
 * Variable output must contain all iterations of `whole`, unless its count is 0. `failed` receives the failed
 * iterations, and `reasons` (may be NULL) why they failed, if they are tasks with a log. */
int results_convert(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
                    struct reasons *reasons, struct error *error);

/* For variable output only: sets `failed` and `reasons` like results_convert(), but does not check that iterations
 * exist, and makes no final files. Reads only entries with iterations of `among`; NULL: all entries. */
int results_review(const char *path, const struct hdss_loop *loop, const struct ranges *among, struct ranges *failed,
                   struct reasons *reasons, struct error *error);

int results_sync_files(const char *path, const struct hdss_loop *loop, struct error *error);

void results_remove(const char *path, const struct hdss_loop *loop);

/* Checks without reading the data that the written file has all iterations of `done`. Returns RESULTS_COMPLETE,
 * RESULTS_LACKS if variable output is missing, RESULTS_ABSENT or -1. */
enum { RESULTS_COMPLETE, RESULTS_LACKS = 3 };
int results_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error);

/* Variable output only: finds the iterations of `done` that exist undamaged, and the sum of their digests. If
 * `by_heads`, only the heads must exist, because a program that reads the parts during the run may have freed their
 * blocks. */
int results_find_sound(const char *path, const struct hdss_loop *loop, const struct ranges *done, bool by_heads,
                       struct ranges *sound, uint64_t *digest, struct error *error);

int results_find_failed(const char *path, const struct hdss_loop *loop, const struct ranges *done,
                        struct ranges *failed, uint64_t *digest, struct error *error);
