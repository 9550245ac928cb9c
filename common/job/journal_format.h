/* SPDX-License-Identifier: MIT */
/* The journal's format: what of a loop is done, in bytes. Pure.
 *
 * A file is a head and records, all integers little-endian:
 *
 *     head     "HDSSJRNL"  u32 version  u32 bytes of the text  u64 first  u64 count  the text  u32 CRC
 *     record   u32 ranges  u32 CRC  u64 digest  { u64 first  u64 count } of each range
 *     deaths   u32 ranges and 2^31  u32 CRC  u32 workers  u32 processes  { u64 first  u64 count } of each range
 *     point    u32 n and 2^30  u32 CRC  u64 at  u64 bytes  the bytes  0 up to n times 16 bytes behind `at`
 *     growth   u32 1 and 2^31 and 2^30  u32 CRC  u64 inputs  u64 first  u64 count
 *     end      u32 0  u32 CRC  u64 bytes of the final files
 *
 * The text names the job: lines "what=value", each ended by a NUL. [first, first + count) is the loop. A record says
 * that its ranges are done and stored, and what they add to the checksum of the results. A record of deaths says
 * how many workers have died so far while they computed the ranges, and how many processes that ran them for a worker;
 * the latest one counts, until the ranges are done. A recovery point has the boundary data at an iteration of a loop
 * with dependencies, from which the loop can be gone on with. A growth says that the loop has become longer: what it is
 * by then, and a digest of what it is read from up to there. An end says that all is done and the final files are made.
 * Version 1 has no deaths and points, version 2 no growth, version 3 no end; all are read, too. A CRC is that of all
 * bytes of its head or record but itself, begun with the CRC that stands before it: a record is good only behind those
 * it was written behind. What follows the first bad byte, or an end, is not believed. Ranges never overlap: each
 * iteration is committed once. */
#pragma once

#include "common/service/poison.h"
#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be raised when the layout, the meaning of the text's lines or that of the digest changes. */
#define JOURNAL_VERSION 4
/* The oldest version that is read. */
#define JOURNAL_VERSION_LEAST 1

#define JOURNAL_HEAD_BYTES   36 /* without its text */
#define JOURNAL_RECORD_BYTES 16 /* without its ranges */
#define JOURNAL_RANGE_BYTES  16
/* Bytes of a recovery point's data, at most. */
#define JOURNAL_POINT_MAX (((UINT64_C(1) << 30) - 1) * JOURNAL_RANGE_BYTES - 8)
/* A job has 64 parameters at most, of a file name's length at most. */
#define JOURNAL_TEXT_MAX (1u << 20)
/* More deaths than this count as so many. */
#define JOURNAL_DEATHS_MAX 1000000u

/* Boundary data of a loop with dependencies: [bytes] of the boundary in front of iteration `at`. */
struct journal_point {
    uint64_t at;
    uint64_t bytes; /* 1 .. JOURNAL_POINT_MAX */
    const unsigned char *data;
};

/* The length of a loop at some moment, and a digest of the inputs of its first `count` iterations. */
struct journal_growth {
    uint64_t count;
    uint64_t inputs;
};

/* A loop that may become longer begins with none of its iterations, and grows by those that there are. */
struct journal_head {
    const char *text;
    size_t text_bytes; /* with the NUL of its last line */
    struct range loop;
    const struct journal_growth *growths; /* [growth_count] ascending, all behind loop.count; written behind the head */
    size_t growth_count;
};

/* The loop as it has grown. */
static inline struct range journal_loop(const struct journal_head *head)
{
    return head->growth_count == 0 ? head->loop
                                   : (struct range){head->loop.first, head->growths[head->growth_count - 1].count};
}

/* Bytes of a head and of a record. */
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

/* Write a head, a record of `count` ranges, or one of the deaths that the single range of `deaths` has seen (`deaths`
 * of workers, `failures` by the end of a process; one of both at least is not 0), a growth of the loop that begins at
 * `first`, a recovery point, or an end of JOURNAL_RECORD_BYTES to `out`, which has room for it. They return the CRC for
 * the next record. */
uint32_t journal_head_put(const struct journal_head *head, unsigned char *out);
uint32_t journal_record_put(const struct range *ranges, size_t count, uint64_t digest, uint32_t before,
                            unsigned char *out);
uint32_t journal_deaths_put(const struct poison *deaths, uint32_t before, unsigned char *out);
uint32_t journal_growth_put(uint64_t first, const struct journal_growth *growth, uint32_t before, unsigned char *out);
uint32_t journal_point_put(const struct journal_point *point, uint32_t before, unsigned char *out);
uint32_t journal_end_put(uint64_t bytes, uint32_t before, unsigned char *out);

/* Reads a file of `size` bytes. */
struct journal_content {
    struct journal_head head;       /* head, whose text is borrowed from the bytes, and whose growths from `growths` */
    struct journal_growth *growths; /* owned */
    size_t growth_room;
    struct ranges done;           /* owned */
    struct poison_set deaths;     /* of iterations that are not done, as for journal_deaths_put(); owned */
    struct journal_point *points; /* [point_count] as they were written, borrowing from the bytes; the list is owned */
    size_t point_count, point_room;
    uint64_t digest;
    bool is_over;         /* the journal has an end */
    uint64_t final_bytes; /* of the final files, as the end says */
    size_t valid;         /* bytes that are good; what follows is torn or corrupted */
};

enum journal_decoded {
    JOURNAL_GOOD,          /* the head and all records up to `valid` */
    JOURNAL_FOREIGN,       /* does not begin as a journal does */
    JOURNAL_OTHER_VERSION, /* a version that this program does not know */
    JOURNAL_BAD_HEAD,      /* torn or corrupted before the first record */
    JOURNAL_CONTRADICTS,   /* a good record says what cannot be: no HDSS has written it */
    JOURNAL_NO_MEMORY,
};

/* Accepts any bytes. `content` is to be released by journal_content_fini() whatever is returned. */
enum journal_decoded journal_decode(struct journal_content *content, const unsigned char *bytes, size_t size);
/* The last of the points that a loop whose iterations need the `distance` before them can be gone on from: not behind
 * the first iteration that is not done, and in front of it by nothing or by the distance at least, as what lies between
 * is a chunk. NULL: there is none with so many bytes. */
const struct journal_point *journal_find_point(const struct journal_content *content, uint64_t distance,
                                               uint64_t bytes);
void journal_content_fini(struct journal_content *content);
