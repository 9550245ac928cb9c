/* Where fixed records go: one output file, written in place by whoever collects.
 *
 * Whoever leads the run calls results_check() before anything starts, results_create() once, and results_finish() once
 * at the end; every collecting rank calls results_open(), results_write() for the ranges it has, in any order, and
 * results_close(). A record's place follows from its iteration alone, so nobody has to agree on anything.
 *
 * The file's extension says its kind. .npy and .bin or .raw are written directly; .png and .csv are made by
 * results_finish() from FILE.records, which stands beside them until then. Iterations nobody wrote stay 0. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

struct results_sink {
    int fd; /* -1 when closed */
    struct hdss_loop loop;
    uint64_t header_bytes;
    uint64_t record_bytes;
    char *path; /* owned, of the file that is written */
    char *line; /* owned, one row of the array; for tiles only */
};

/* Whether the file's kind is known, present in this build, and able to hold such results. -1 with one line. */
int results_check(const char *path, const struct hdss_loop *loop, struct error *error);

/* There is no room for the results. */
#define RESULTS_NO_ROOM 1

/* Makes the file that is written during the run, in its full size, or empties an old one. -1 with one line when that
 * cannot be, RESULTS_NO_ROOM with one line when the disk is too small for it; then the file is removed again. */
int results_create(const char *path, const struct hdss_loop *loop, struct error *error);

/* Whether what results_create() made for such a loop is there, as a run that ended early leaves it. RESULTS_ABSENT
 * where it is not, -1 with one line where it is another file. */
#define RESULTS_ABSENT 2
int results_find(const char *path, const struct hdss_loop *loop, struct error *error);

/* Whether the file itself, or what is written for it during a run, is there. */
bool results_exist(const char *path);

/* Opens what results_create() made, perhaps on another node; never creates. -1 with one line, and nothing is open. */
int results_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, struct error *error);

/* Stores the records of iterations first .. first + count - 1, which follow one another at `records`. */
int results_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *records, struct error *error);

/* Brings to the disk what is stored so far. -1 with one line. */
int results_sync(struct results_sink *sink, struct error *error);

/* -1 with one line when the system reports only now that something was not stored; the sink is closed either way. */
int results_close(struct results_sink *sink, struct error *error);

/* Removes FILE.records, where the final file is made from it. */
void results_remove_records(const char *path);

/* Brings the final file, and its name, to the disk. -1 with one line. */
int results_sync_file(const char *path, struct error *error);

/* results_finish(), in two steps: the final file is made, and FILE.records stays for now. */
int results_convert(const char *path, const struct hdss_loop *loop, struct error *error);

/* Makes the final file where that is another than the one written. Does nothing for the others. On failure FILE.records
 * stays, and an old FILE too. */
int results_finish(const char *path, const struct hdss_loop *loop, struct error *error);
