/* SPDX-License-Identifier: MIT */
/* Parts: the files in the folder OUTPUT.parts, which hold variable output until it is complete. Each collecting rank
 * writes one part. Internal interface between the files of common/results.
 *
 * A part is a sequence of entries, each a head and a block (proto/block.h):
 *     "HDSB"  u32 run  u64 first  u64 iterations  u64 bytes of the block  u64 checksum of the block  u64 of the head
 *
 * Parts are only appended to. Each run of a job writes new parts, named RUN-RANK, so a resumed run overwrites nothing.
 * From its first incomplete entry on, a part is ignored. If a rank was lost and another rank has repeated its work,
 * several entries may contain the same iteration. In this case an entry of the latest run counts. The file `run`
 * contains the number of the latest run; the leading rank of that run locks this file. */
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

bool part_head_get(struct part_head *head, const unsigned char in[PART_HEAD_BYTES]);

/* Writes the path of the final file of a stream into `file`, and returns `file`. The path is `path` with `ending`
 * appended. If `path` ends with ".out" and `ending` is another word with a dot, such as ".err", `ending` replaces
 * ".out". */
const char *parts_stream_file(const char *path, const char *ending, char file[PATH_MAX]);

/* These work like the functions of similar names in results.h. */
int parts_check(const char *path, const struct hdss_loop *loop, struct error *error);
int parts_check_place(const char *path, struct error *error);
int parts_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);
int parts_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);
int parts_look_for(const char *path, const struct hdss_loop *loop, struct error *error);
int parts_look_again(const char *path, int lock, struct error *error);
bool parts_exist(const char *path);
bool parts_begun(const char *path);
int parts_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, unsigned writer,
               struct error *error);
int parts_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *bytes, uint64_t size,
                struct error *error);
int parts_sync(struct results_sink *sink, struct error *error);
void parts_remove(const char *path);

/* Receives `count` iterations of a block. `first` is the number of the first of these iterations, and `from` is its
 * index in the block. The calls are in the order of iterations. */
typedef int parts_taker(void *context, uint64_t first, const struct block *block, uint32_t from, uint32_t count,
                        struct error *error);

/* Passes the iterations of all parts to `take`. If `among` is not NULL, passes only entries that have iterations of
 * `among`. If `by_heads` is set, entries with an invalid block are passed too, with block NULL. */
int parts_sweep(const char *path, const struct hdss_loop *loop, const struct ranges *among, bool by_heads,
                parts_taker *take, void *context, struct error *error);

/* Size of the name "RUN-RANK" with its NUL. */
#define PART_NAME_MAX 24

struct part_file {
    char name[PART_NAME_MAX];
};
int parts_list(const char *folder, struct part_file **files, size_t *count);

int parts_join(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
               struct reasons *reasons, struct error *error);

int parts_review(const char *path, const struct hdss_loop *loop, const struct ranges *among, struct ranges *failed,
                 struct reasons *reasons, struct error *error);

int parts_take_back(const char *path, const struct hdss_loop *loop, struct range range, struct error *error);

int parts_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error);

/* Finds those iterations of `done` that meet the condition `wanted`, and adds them to `found`. Sets `digest` to the sum
 * of the digests of these iterations. An iteration with damaged data counts as 0 in this sum. */
enum parts_wanted {
    PARTS_SOUND,
    PARTS_WITH_HEAD, /* the entry of the iteration has a valid head; its data may be damaged */
    PARTS_FAILED     /* the entry of the iteration is undamaged, and the kernel has reported the iteration as failed */
};
int parts_look(const char *path, const struct hdss_loop *loop, const struct ranges *done, enum parts_wanted wanted,
               struct ranges *found, uint64_t *digest, struct error *error);
