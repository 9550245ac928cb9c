/* SPDX-License-Identifier: MIT */
/* The byte format of journals. Pure.
 *
 * A file is a head and records. All integers are little-endian:
 *     head     "HDSSJRNL"  u32 version  u32 bytes of the text  u64 first  u64 count  the text  u32 CRC
 *     record   u32 ranges  u32 CRC  u64 digest  { u64 first  u64 count } of each range
 *     deaths   u32 ranges + 2^31  u32 CRC  u32 deaths  u32 processes  { u64 first  u64 count } of each range
 *     point    u32 n + 2^30  u32 CRC  u64 at  u64 bytes  the bytes  zeros, so that n times 16 bytes follow `at`
 *     growth   u32 1 + 2^31 + 2^30  u32 CRC  u64 inputs  u64 first  u64 count
 *     end      u32 0  u32 CRC  u64 bytes of the final files
 *
 * The text names the job by lines "what=value", each ended by a NUL. [first, first + count) is the loop.
 *
 * A plain record lists ranges that are done and stored, and their share of the checksum of the results. A record of
 * deaths counts the workers, and the child processes of workers, that died while they computed the ranges. If
 * supermasters died meanwhile, they count as workers, and 2^31 is added to `deaths`. If an iteration has several
 * records of deaths, only the latest one counts. After the iteration is done, no record of deaths counts for it. A
 * recovery point contains the boundary data at an iteration, from which a loop with dependencies can continue. A
 * growth record gives a new length of the loop and a digest of the inputs up to that length. An end record says that
 * the whole loop is done and that the final files exist.
 *
 * Versions 1 to 4 are readable, too. Records of deaths and recovery points exist from version 2 on, growth records
 * from version 3 on, end records from version 4 on, and deaths of supermasters from version 5 on. A CRC covers all
 * bytes of its head or record except the CRC itself. Its computation starts with the preceding CRC, so a record is
 * valid only at its original position. Readers stop at the first invalid record and after an end record. Ranges
 * never overlap, because each iteration is committed once. */
#pragma once

#include "common/service/poison.h"
#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Increase this number if the layout, the lines of the text or the digest change. */
#define JOURNAL_VERSION       5
#define JOURNAL_VERSION_LEAST 1

#define JOURNAL_HEAD_BYTES   36
#define JOURNAL_RECORD_BYTES 16
#define JOURNAL_RANGE_BYTES  16
#define JOURNAL_POINT_MAX    (((UINT64_C(1) << 30) - 1) * JOURNAL_RANGE_BYTES - 8)
/* Enough for 64 parameters that are as long as a file name. */
#define JOURNAL_TEXT_MAX (1u << 20)
/* Higher numbers of deaths are recorded as this number. */
#define JOURNAL_DEATHS_MAX 1000000u

/* A recovery point: the boundary data data[bytes] with which a loop with dependencies continues at iteration `at`. */
struct journal_point {
    uint64_t at;
    uint64_t bytes; /* 1 .. JOURNAL_POINT_MAX */
    const unsigned char *data;
};

struct journal_growth {
    uint64_t count;
    uint64_t inputs;
};

/* If the loop may grow, loop.count is 0, and the last entry of `growths` has the number of iterations. */
struct journal_head {
    const char *text;
    size_t text_bytes;
    struct range loop;
    /* [growth_count] in ascending order; these records are written after the head */
    const struct journal_growth *growths;
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

/* Each of these functions writes a head or a record to `out`, which must be large enough. It returns the CRC with which
 * the computation of the next record's CRC starts. A record of deaths must have deaths of workers (deaths->deaths) or
 * of their child processes (deaths->failures). `first` is the number of the loop's first iteration. */
uint32_t journal_head_put(const struct journal_head *head, unsigned char *out);
uint32_t journal_record_put(const struct range *ranges, size_t count, uint64_t digest, uint32_t before,
                            unsigned char *out);
uint32_t journal_deaths_put(const struct poison *deaths, uint32_t before, unsigned char *out);
uint32_t journal_growth_put(uint64_t first, const struct journal_growth *growth, uint32_t before, unsigned char *out);
uint32_t journal_point_put(const struct journal_point *point, uint32_t before, unsigned char *out);
uint32_t journal_end_put(uint64_t bytes, uint32_t before, unsigned char *out);

struct journal_content {
    struct journal_head head; /* the text of the head is borrowed from the decoded bytes */
    struct journal_growth *growths;
    size_t growth_room;
    struct ranges done;
    struct poison_set deaths;
    /* [point_count] in the order of the file; the array is owned, the data are borrowed from the decoded bytes */
    struct journal_point *points;
    size_t point_count, point_room;
    uint64_t digest;
    bool is_over;
    uint64_t final_bytes;
    /* number of bytes at the beginning that are valid; the bytes after them are incomplete or corrupted */
    size_t valid;
};

enum journal_decoded {
    JOURNAL_GOOD,
    JOURNAL_FOREIGN,
    JOURNAL_OTHER_VERSION,
    JOURNAL_BAD_HEAD,
    JOURNAL_CONTRADICTS, /* a record with a correct CRC contradicts other records; HDSS does not write such a file */
    JOURNAL_NO_MEMORY,
};

/* Accepts any bytes. The caller must call journal_content_fini() for every result. */
enum journal_decoded journal_decode(struct journal_content *content, const unsigned char *bytes, size_t size);
/* Returns the last recovery point with `bytes` bytes from which a loop with dependencies can continue, or NULL. The
 * point is at the first iteration that is not done, or at least `distance` iterations before that iteration. In the
 * second case the iterations in between form a chunk, and a chunk must have at least `distance` iterations. */
const struct journal_point *journal_find_point(const struct journal_content *content, uint64_t distance,
                                               uint64_t bytes);
void journal_content_fini(struct journal_content *content);
