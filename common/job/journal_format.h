/* SPDX-License-Identifier: MIT */
/* The byte format of journals. Pure.
 *
 * A file is a head and records, all integers little-endian:
 *     head     "HDSSJRNL"  u32 version  u32 bytes of the text  u64 first  u64 count  the text  u32 CRC
 *     record   u32 ranges  u32 CRC  u64 digest  { u64 first  u64 count } of each range
 *     deaths   u32 ranges and 2^31  u32 CRC  u32 deaths  u32 processes  { u64 first  u64 count } of each range
 *     point    u32 n and 2^30  u32 CRC  u64 at  u64 bytes  the bytes  0 up to n times 16 bytes behind `at`
 *     growth   u32 1 and 2^31 and 2^30  u32 CRC  u64 inputs  u64 first  u64 count
 *     end      u32 0  u32 CRC  u64 bytes of the final files
 *
 * The text names the job: lines "what=value", each ended by a NUL. [first, first + count) is the loop. A record lists
 * ranges that are done and stored, and their share of the checksum of the results. A record of deaths counts the
 * workers, and the child processes of workers, that died while they computed the ranges; the supermasters that died
 * meanwhile count as workers, and 2^31 is added then. The latest record counts until the ranges are done. A recovery
 * point contains the boundary data at an iteration of a loop with dependencies, from which the loop can be continued. A
 * growth gives a new length of the loop, and a digest of the inputs up to it. An end says that all is done and the
 * final files exist. Version 1 has no deaths and points, version 2 no growths, version 3 no end, version 4 no deaths of
 * supermasters; all are readable. A CRC covers all bytes of its head or record except itself and starts with the
 * preceding CRC, so that a record is valid only at its original place. Nothing after the first invalid byte, or after
 * an end, is read. Ranges never overlap: each iteration is committed once. */
#pragma once

#include "common/service/poison.h"
#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raise this when the layout, the lines of the text or the digest change. */
#define JOURNAL_VERSION       5
#define JOURNAL_VERSION_LEAST 1

#define JOURNAL_HEAD_BYTES   36
#define JOURNAL_RECORD_BYTES 16
#define JOURNAL_RANGE_BYTES  16
#define JOURNAL_POINT_MAX    (((UINT64_C(1) << 30) - 1) * JOURNAL_RANGE_BYTES - 8)
/* At most 64 parameters, each up to the length of a file name. */
#define JOURNAL_TEXT_MAX (1u << 20)
/* Counts of deaths saturate here. */
#define JOURNAL_DEATHS_MAX 1000000u

/* Boundary data of a loop with dependencies before iteration `at`: data[bytes]. */
struct journal_point {
    uint64_t at;
    uint64_t bytes; /* 1 .. JOURNAL_POINT_MAX */
    const unsigned char *data;
};

/* Length of a loop at some time, and the digest of the inputs of its first `count` iterations. */
struct journal_growth {
    uint64_t count;
    uint64_t inputs;
};

/* A loop that may grow has an initial length of 0, and its iterations as growths. */
struct journal_head {
    const char *text;
    size_t text_bytes;
    struct range loop;
    const struct journal_growth *growths; /* [growth_count] ascending, beyond loop.count; written after the head */
    size_t growth_count;
};

static inline struct range journal_loop(const struct journal_head *head)
{
    return head->growth_count == 0 ? head->loop
                                   : (struct range){head->loop.first, head->growths[head->growth_count - 1].count};
}

static inline size_t journal_head_size(const struct journal_head *head)
{
    return JOURNAL_HEAD_BYTES + head->text_bytes;
}

static inline size_t journal_record_size(size_t ranges)
{
    return JOURNAL_RECORD_BYTES + ranges * JOURNAL_RANGE_BYTES;
}

static inline size_t journal_point_size(uint64_t bytes)
{
    return journal_record_size((size_t)((8 + bytes + JOURNAL_RANGE_BYTES - 1) / JOURNAL_RANGE_BYTES));
}

/* These write to `out`, which must have room: a head, a record of `count` ranges, the deaths of the range in `deaths`
 * (`deaths` of workers, `failures` of child processes; not both 0), a growth of the loop that begins at `first`, a
 * recovery point, or an end of JOURNAL_RECORD_BYTES. They return the CRC for the next record. */
uint32_t journal_head_put(const struct journal_head *head, unsigned char *out);
uint32_t journal_record_put(const struct range *ranges, size_t count, uint64_t digest, uint32_t before,
                            unsigned char *out);
uint32_t journal_deaths_put(const struct poison *deaths, uint32_t before, unsigned char *out);
uint32_t journal_growth_put(uint64_t first, const struct journal_growth *growth, uint32_t before, unsigned char *out);
uint32_t journal_point_put(const struct journal_point *point, uint32_t before, unsigned char *out);
uint32_t journal_end_put(uint64_t bytes, uint32_t before, unsigned char *out);

struct journal_content {
    struct journal_head head; /* the text borrows from the bytes, the growths are those below */
    struct journal_growth *growths;
    size_t growth_room;
    struct ranges done;
    struct poison_set deaths;     /* of iterations that are not done */
    struct journal_point *points; /* [point_count] in file order; the list is owned, the data borrow from the bytes */
    size_t point_count, point_room;
    uint64_t digest;
    bool is_over;
    uint64_t final_bytes;
    size_t valid; /* valid bytes; the rest is truncated or corrupted */
};

enum journal_decoded {
    JOURNAL_GOOD, /* `content` has the head and all records up to `valid` */
    JOURNAL_FOREIGN,
    JOURNAL_OTHER_VERSION,
    JOURNAL_BAD_HEAD,    /* truncated or corrupted before the first record */
    JOURNAL_CONTRADICTS, /* a valid record contradicts others: not written by HDSS */
    JOURNAL_NO_MEMORY,
};

/* Accepts any bytes. `content` must be released by journal_content_fini() in any case. */
enum journal_decoded journal_decode(struct journal_content *content, const unsigned char *bytes, size_t size);
/* Returns the last point, of `bytes`, from which a loop with dependencies of the given distance can be continued, or
 * NULL. It is not beyond the first iteration that is not done, and either at it or at least `distance` before it,
 * because the iterations in between form a chunk. */
const struct journal_point *journal_find_point(const struct journal_content *content, uint64_t distance,
                                               uint64_t bytes);
void journal_content_fini(struct journal_content *content);
