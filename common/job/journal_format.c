/* SPDX-License-Identifier: MIT */
/* Journals as bytes: see journal_format.h. */
#include "common/job/journal_format.h"

#include "common/util/crc.h"
#include "common/util/grow.h"
#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'H', 'D', 'S', 'S', 'J', 'R', 'N', 'L'};

enum { VERSION_AT = 8, TEXT_BYTES_AT = 12, FIRST_AT = 16, COUNT_AT = 24, TEXT_AT = 32, CRC_BYTES = 4 };
enum { RANGES_AT = 0, CRC_AT = 4, DIGEST_AT = 8, WORKERS_AT = 8, PROCESSES_AT = 12, LIST_AT = 16 };
#define DEATHS_MARK 0x80000000u
/* Flag in a record's number of deaths. It shows that supermasters are among the processes that died. */
#define SHARED_MARK 0x80000000u
/* Flag of a recovery point in the first word of its record. The other bits of the word are the length of the
 * point, in units of JOURNAL_RANGE_BYTES. */
#define POINT_MARK     0x40000000u
#define GROWTH_MARK    (DEATHS_MARK | POINT_MARK)
#define GROWTH_VERSION 3
#define END_VERSION    4

enum { BOUNDARY_AT = 8, BYTES_AT = 16, DATA_AT = 24 };

uint32_t journal_head_put(const struct journal_head *head, unsigned char *out)
{
    memcpy(out, magic, sizeof magic);
    wire_put32(out + VERSION_AT, JOURNAL_VERSION);
    wire_put32(out + TEXT_BYTES_AT, (uint32_t)head->text_bytes);
    wire_put64(out + FIRST_AT, head->loop.first);
    wire_put64(out + COUNT_AT, head->loop.count);
    memcpy(out + TEXT_AT, head->text, head->text_bytes);
    uint32_t crc = crc32c(0, out, TEXT_AT + head->text_bytes);
    wire_put32(out + TEXT_AT + head->text_bytes, crc);
    return crc;
}

static uint32_t record_crc(const unsigned char *record, size_t size, uint32_t before)
{
    return crc32c(crc32c(before, record, CRC_AT), record + DIGEST_AT, size - DIGEST_AT);
}

uint32_t journal_record_put(const struct range *ranges, size_t count, uint64_t digest, uint32_t before,
                            unsigned char *out)
{
    wire_put32(out + RANGES_AT, (uint32_t)count);
    wire_put64(out + DIGEST_AT, digest);
    for (size_t i = 0; i < count; i++) {
        wire_put64(out + LIST_AT + i * JOURNAL_RANGE_BYTES, ranges[i].first);
        wire_put64(out + LIST_AT + i * JOURNAL_RANGE_BYTES + 8, ranges[i].count);
    }
    uint32_t crc = record_crc(out, journal_record_size(count), before);
    wire_put32(out + CRC_AT, crc);
    return crc;
}

uint32_t journal_deaths_put(const struct poison *deaths, uint32_t before, unsigned char *out)
{
    wire_put32(out + RANGES_AT, 1 | DEATHS_MARK);
    const uint32_t known = deaths->deaths < JOURNAL_DEATHS_MAX ? deaths->deaths : JOURNAL_DEATHS_MAX;
    wire_put32(out + WORKERS_AT, known | (deaths->shares_blame ? SHARED_MARK : 0));
    wire_put32(out + PROCESSES_AT, deaths->failures < JOURNAL_DEATHS_MAX ? deaths->failures : JOURNAL_DEATHS_MAX);
    wire_put64(out + LIST_AT, deaths->first);
    wire_put64(out + LIST_AT + 8, deaths->count);
    uint32_t crc = record_crc(out, journal_record_size(1), before);
    wire_put32(out + CRC_AT, crc);
    return crc;
}

uint32_t journal_growth_put(uint64_t first, const struct journal_growth *growth, uint32_t before, unsigned char *out)
{
    wire_put32(out + RANGES_AT, 1 | GROWTH_MARK);
    wire_put64(out + DIGEST_AT, growth->inputs);
    wire_put64(out + LIST_AT, first);
    wire_put64(out + LIST_AT + 8, growth->count);
    uint32_t crc = record_crc(out, journal_record_size(1), before);
    wire_put32(out + CRC_AT, crc);
    return crc;
}

uint32_t journal_point_put(const struct journal_point *point, uint32_t before, unsigned char *out)
{
    const size_t size = journal_point_size(point->bytes);
    wire_put32(out + RANGES_AT, (uint32_t)((size - LIST_AT) / JOURNAL_RANGE_BYTES) | POINT_MARK);
    wire_put64(out + BOUNDARY_AT, point->at);
    wire_put64(out + BYTES_AT, point->bytes);
    memcpy(out + DATA_AT, point->data, point->bytes);
    memset(out + DATA_AT + point->bytes, 0, size - DATA_AT - point->bytes);
    uint32_t crc = record_crc(out, size, before);
    wire_put32(out + CRC_AT, crc);
    return crc;
}

uint32_t journal_end_put(uint64_t bytes, uint32_t before, unsigned char *out)
{
    return journal_record_put(NULL, 0, bytes, before, out);
}

static enum journal_decoded take_head(struct journal_content *content, const unsigned char *bytes, size_t size,
                                      uint32_t *crc)
{
    struct journal_head *head = &content->head;
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return JOURNAL_FOREIGN;
    if (size < JOURNAL_HEAD_BYTES)
        return JOURNAL_BAD_HEAD;
    size_t text_bytes = wire_get32(bytes + TEXT_BYTES_AT);
    bool fits = text_bytes <= JOURNAL_TEXT_MAX && text_bytes <= size - JOURNAL_HEAD_BYTES;
    *crc = fits ? crc32c(0, bytes, TEXT_AT + text_bytes) : 0;
    bool good = fits && wire_get32(bytes + TEXT_AT + text_bytes) == *crc;
    uint32_t version = wire_get32(bytes + VERSION_AT);
    if (version < JOURNAL_VERSION_LEAST || version > JOURNAL_VERSION)
        return JOURNAL_OTHER_VERSION;
    *head = (struct journal_head){.text = (const char *)bytes + TEXT_AT,
                                  .text_bytes = text_bytes,
                                  .loop = {wire_get64(bytes + FIRST_AT), wire_get64(bytes + COUNT_AT)}};
    good = good && text_bytes > 0 && head->text[text_bytes - 1] == '\0' &&
           head->loop.count <= UINT64_MAX - head->loop.first;
    return good ? JOURNAL_GOOD : JOURNAL_BAD_HEAD;
}

static struct range range_at(const unsigned char *record, size_t i)
{
    const unsigned char *entry = record + LIST_AT + i * JOURNAL_RANGE_BYTES;
    return (struct range){wire_get64(entry), wire_get64(entry + 8)};
}

static bool is_inside(const struct range *loop, const struct range *range)
{
    return range->count > 0 && range->first >= loop->first && range->count <= loop->count &&
           range->first - loop->first <= loop->count - range->count;
}

static int add_ranges(struct journal_content *content, const unsigned char *record, size_t count,
                      enum journal_decoded *reason)
{
    const struct range loop = journal_loop(&content->head);
    for (size_t i = 0; i < count; i++) {
        struct range range = range_at(record, i);
        uint64_t added = 0;
        bool inside = is_inside(&loop, &range);
        bool memory = !inside || ranges_add(&content->done, range.first, range.count, &added) == 0;
        if (inside && memory && added == range.count)
            continue;
        *reason = memory ? JOURNAL_CONTRADICTS : JOURNAL_NO_MEMORY;
        return -1;
    }
    return 0;
}

static int add_deaths(struct journal_content *content, const unsigned char *record, size_t count,
                      enum journal_decoded *reason)
{
    const struct range loop = journal_loop(&content->head);
    struct poison deaths = {.deaths = wire_get32(record + WORKERS_AT) & ~SHARED_MARK,
                            .failures = wire_get32(record + PROCESSES_AT),
                            .shares_blame = (wire_get32(record + WORKERS_AT) & SHARED_MARK) != 0};
    bool can_be = deaths.deaths <= JOURNAL_DEATHS_MAX && deaths.failures <= JOURNAL_DEATHS_MAX &&
                  deaths.deaths + deaths.failures > 0 && (deaths.deaths > 0 || !deaths.shares_blame);
    for (size_t i = 0; i < count; i++) {
        struct range range = range_at(record, i);
        deaths.first = range.first;
        deaths.count = range.count;
        if (!can_be || !is_inside(&loop, &range)) {
            *reason = JOURNAL_CONTRADICTS;
            return -1;
        }
        if (poison_forget(&content->deaths, range.first, range.count) < 0 ||
            poison_add(&content->deaths, &deaths) < 0) {
            *reason = JOURNAL_NO_MEMORY;
            return -1;
        }
    }
    return 0;
}

static int add_point(struct journal_content *content, const unsigned char *record, size_t count,
                     enum journal_decoded *reason)
{
    const struct range loop = journal_loop(&content->head);
    const struct journal_point point = {wire_get64(record + BOUNDARY_AT), wire_get64(record + BYTES_AT),
                                        record + DATA_AT};
    const size_t size = journal_record_size(count);
    bool can_be = point.at > loop.first && point.at - loop.first < loop.count && point.bytes > 0 &&
                  point.bytes <= JOURNAL_POINT_MAX && journal_point_size(point.bytes) == size;
    for (size_t i = DATA_AT + (size_t)point.bytes; can_be && i < size; i++)
        can_be = record[i] == 0;
    *reason = JOURNAL_CONTRADICTS;
    if (!can_be)
        return -1;
    struct journal_point *points =
        grow(content->points, content->point_count, &content->point_room, sizeof *content->points);
    *reason = points != NULL ? JOURNAL_GOOD : JOURNAL_NO_MEMORY;
    if (points == NULL)
        return -1;
    content->points = points;
    points[content->point_count++] = point;
    return 0;
}

static int add_growth(struct journal_content *content, const unsigned char *record, size_t count,
                      enum journal_decoded *reason)
{
    struct journal_head *head = &content->head;
    const struct range loop = journal_loop(head), grown = range_at(record, 0);
    const bool can_be =
        count == 1 && grown.first == loop.first && grown.count > loop.count && grown.count <= UINT64_MAX - grown.first;
    *reason = JOURNAL_CONTRADICTS;
    if (!can_be)
        return -1;
    struct journal_growth *growths =
        grow(content->growths, head->growth_count, &content->growth_room, sizeof *content->growths);
    *reason = growths != NULL ? JOURNAL_GOOD : JOURNAL_NO_MEMORY;
    if (growths == NULL)
        return -1;
    head->growths = content->growths = growths;
    growths[head->growth_count++] = (struct journal_growth){grown.count, wire_get64(record + DIGEST_AT)};
    return 0;
}

static int add_end(struct journal_content *content, const unsigned char *record, enum journal_decoded *reason)
{
    content->final_bytes = wire_get64(record + DIGEST_AT);
    content->is_over = ranges_total(&content->done) == journal_loop(&content->head).count;
    if (!content->is_over)
        *reason = JOURNAL_CONTRADICTS;
    return content->is_over ? 0 : -1;
}

static enum journal_decoded forget_done(struct journal_content *content)
{
    for (size_t i = 0; content->deaths.count > 0 && i < ranges_length(&content->done); i++) {
        const struct range *range = ranges_at(&content->done, i);
        if (poison_forget(&content->deaths, range->first, range->count) < 0)
            return JOURNAL_NO_MEMORY;
    }
    return JOURNAL_GOOD;
}

static size_t take_record(struct journal_content *content, const unsigned char *record, size_t left, uint32_t version,
                          uint32_t *crc, enum journal_decoded *reason)
{
    const uint32_t marks = version > JOURNAL_VERSION_LEAST ? DEATHS_MARK | POINT_MARK : 0;
    if (left < JOURNAL_RECORD_BYTES)
        return 0;
    size_t count = wire_get32(record + RANGES_AT) & ~marks;
    const uint32_t mark = wire_get32(record + RANGES_AT) & marks;
    const bool is_end = count == 0 && mark == 0 && version >= END_VERSION;
    if ((count == 0 && !is_end) || count > (left - JOURNAL_RECORD_BYTES) / JOURNAL_RANGE_BYTES)
        return 0;
    size_t size = journal_record_size(count);
    uint32_t own = record_crc(record, size, *crc);
    if (wire_get32(record + CRC_AT) != own)
        return 0;
    int result = -1;
    switch (mark) {
    case 0: result = is_end ? add_end(content, record, reason) : add_ranges(content, record, count, reason); break;
    case DEATHS_MARK: result = add_deaths(content, record, count, reason); break;
    case POINT_MARK: result = add_point(content, record, count, reason); break;
    default:
        if (version >= GROWTH_VERSION)
            result = add_growth(content, record, count, reason);
        else
            /* Journals of versions before GROWTH_VERSION have no records with both flags. */
            *reason = JOURNAL_CONTRADICTS;
    }
    if (result < 0)
        return 0;
    content->digest += mark == 0 && !is_end ? wire_get64(record + DIGEST_AT) : 0;
    *crc = own;
    return size;
}

enum journal_decoded journal_decode(struct journal_content *content, const unsigned char *bytes, size_t size)
{
    uint32_t crc;
    *content = (struct journal_content){0};
    enum journal_decoded decoded = take_head(content, bytes, size, &crc);
    if (decoded != JOURNAL_GOOD)
        return decoded;
    const uint32_t version = wire_get32(bytes + VERSION_AT);
    size_t taken = journal_head_size(&content->head);
    while (taken > 0) {
        content->valid += taken;
        taken = content->is_over
                    ? 0
                    : take_record(content, bytes + content->valid, size - content->valid, version, &crc, &decoded);
    }
    return decoded == JOURNAL_GOOD ? forget_done(content) : decoded;
}

const struct journal_point *journal_find_point(const struct journal_content *content, uint64_t distance, uint64_t bytes)
{
    const uint64_t first = content->head.loop.first;
    const struct range *done = ranges_length(&content->done) > 0 ? ranges_at(&content->done, 0) : NULL;
    const uint64_t end = done != NULL && done->first == first ? done->first + done->count : first;
    const struct journal_point *best = NULL;
    for (size_t i = 0; i < content->point_count; i++) {
        const struct journal_point *point = &content->points[i];
        const bool is_before = point->at == end || (point->at < end && end - point->at >= distance);
        if (is_before && point->bytes == bytes && (best == NULL || point->at > best->at))
            best = point;
    }
    return best;
}

void journal_content_fini(struct journal_content *content)
{
    ranges_fini(&content->done);
    poison_fini(&content->deaths);
    free(content->points);
    free(content->growths);
    *content = (struct journal_content){0};
}
