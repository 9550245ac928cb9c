/* SPDX-License-Identifier: MIT */
/* Parts hold variable output until it is complete: the folder OUTPUT.parts, with a file for each rank that collects.
 * Inside common/results only.
 *
 * A file is a row of entries, each a head and a block (proto/block.h):
 *
 *     "HDSB"  u32 run  u64 first  u64 iterations  u64 bytes of the block  u64 checksum of the block  u64 of the head
 *
 * Files are only appended to, and each run of a job has its own, named RUN-RANK: a run that is resumed overwrites
 * nothing. What a writer that was killed left of an entry is not believed, nor what follows it. Where an iteration is
 * in several entries, which then are of a lost rank and of who did its work again, one of the latest run counts. The
 * file `run` says which run it is, and is locked by the rank that leads it. */
#pragma once

#include "common/results/results.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "proto/block.h"

#include <limits.h>

#define PART_HEAD_BYTES 48

struct part_head {
    uint32_t run;
    uint64_t first, count, bytes, sum;
};

void part_head_put(const struct part_head *head, unsigned char out[PART_HEAD_BYTES]);
/* False for bytes that are none. */
bool part_head_get(struct part_head *head, const unsigned char in[PART_HEAD_BYTES]);

/* The file of a stream with this ending: behind the output's name, or in the place of the .out there. Returns `file`.
 */
const char *parts_stream_file(const char *path, const char *ending, char file[PATH_MAX]);

/* Checks and makes the parts as the functions of the same names in results.h do. */
int parts_check(const char *path, const struct hdss_loop *loop, struct error *error);
int parts_check_place(const char *path, struct error *error);
int parts_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);
int parts_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);
int parts_look_for(const char *path, const struct hdss_loop *loop, struct error *error);
int parts_look_again(const char *path, int lock, struct error *error);
bool parts_exist(const char *path);
/* True if the folder is there, and was begun. */
bool parts_begun(const char *path);
int parts_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, unsigned writer,
               struct error *error);
int parts_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *bytes, uint64_t size,
                struct error *error);
int parts_sync(struct results_sink *sink, struct error *error);
void parts_remove(const char *path);

/* Takes iterations, in order: `count` of the block, from the `from`-th on, which is iteration `first`. -1 with one
 * line. */
typedef int parts_taker(void *context, uint64_t first, const struct block *block, uint32_t from, uint32_t count,
                        struct error *error);

/* Hands over all that is in the folder. With `by_heads` also entries whose blocks are not what their heads say: their
 * block is NULL. -1 with one line. */
int parts_sweep(const char *path, const struct hdss_loop *loop, bool by_heads, parts_taker *take, void *context,
                struct error *error);

/* Room for "RUN-RANK". */
#define PART_NAME_MAX 24

/* The folder's files of entries; `files` is the caller's to free. -1 with errno. */
struct part_file {
    char name[PART_NAME_MAX];
};
int parts_list(const char *folder, struct part_file **files, size_t *count);

/* Makes the streams' files. */
int parts_join(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
               struct reasons *reasons, struct error *error);

/* Looks through the parts as parts_join() does, and makes no file. */
int parts_review(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
                 struct reasons *reasons, struct error *error);

/* Makes parts of the files as results_take_back() in results.h does. */
int parts_take_back(const char *path, const struct hdss_loop *loop, struct range range, struct error *error);

/* Holds the parts as results_hold() in results.h does. */
int parts_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error);

/* Adds to `found` the iterations of `done` that are wanted, and sets the sum of the digests of those that are sound.
 * Nothing is found if there are no parts. -1 with one line. */
enum parts_wanted {
    PARTS_SOUND,     /* as they were written */
    PARTS_WITH_HEAD, /* with a head, be their bytes there or not */
    PARTS_FAILED     /* sound, and called failed */
};
int parts_look(const char *path, const struct hdss_loop *loop, const struct ranges *done, enum parts_wanted wanted,
               struct ranges *found, uint64_t *digest, struct error *error);
