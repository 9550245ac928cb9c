/* SPDX-License-Identifier: MIT */
/* The journal in bytes: see journal_format.h. */
#include "common/job/journal_format.h"

#include "common/util/crc.h"
#include "proto/wire.h"

#include <string.h>

static const char magic[8] = {'H', 'D', 'S', 'S', 'J', 'R', 'N', 'L'};

enum { VERSION_AT = 8, TEXT_BYTES_AT = 12, FIRST_AT = 16, COUNT_AT = 24, TEXT_AT = 32, CRC_BYTES = 4 };
enum { RANGES_AT = 0, CRC_AT = 4, DIGEST_AT = 8, WORKERS_AT = 8, PROCESSES_AT = 12, LIST_AT = 16 };
/* Added to the ranges of a record of deaths. */
#define DEATHS_MARK 0x80000000u

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

/* Returns the CRC of a record of `size` bytes without the CRC itself. */
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
    wire_put32(out + WORKERS_AT, deaths->deaths < JOURNAL_DEATHS_MAX ? deaths->deaths : JOURNAL_DEATHS_MAX);
    wire_put32(out + PROCESSES_AT, deaths->failures < JOURNAL_DEATHS_MAX ? deaths->failures : JOURNAL_DEATHS_MAX);
    wire_put64(out + LIST_AT, deaths->first);
    wire_put64(out + LIST_AT + 8, deaths->count);
    uint32_t crc = record_crc(out, journal_record_size(1), before);
    wire_put32(out + CRC_AT, crc);
    return crc;
}

/* Takes the head; `*crc` receives the value for the first record. */
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
    *head = (struct journal_head){
        (const char *)bytes + TEXT_AT, text_bytes, {wire_get64(bytes + FIRST_AT), wire_get64(bytes + COUNT_AT)}};
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

/* Adds the ranges of a record. 0, or -1 with the reason: a range outside of the loop, or done already, was never
 * written by HDSS. */
static int add_ranges(struct journal_content *content, const unsigned char *record, size_t count,
                      enum journal_decoded *reason)
{
    for (size_t i = 0; i < count; i++) {
        struct range range = range_at(record, i);
        uint64_t added = 0;
        bool inside = is_inside(&content->head.loop, &range);
        bool memory = !inside || ranges_add(&content->done, range.first, range.count, &added) == 0;
        if (inside && memory && added == range.count)
            continue;
        *reason = memory ? JOURNAL_CONTRADICTS : JOURNAL_NO_MEMORY;
        return -1;
    }
    return 0;
}

/* Takes the ranges of a record of deaths. 0, or -1 with the reason. */
static int add_deaths(struct journal_content *content, const unsigned char *record, size_t count,
                      enum journal_decoded *reason)
{
    struct poison deaths = {.deaths = wire_get32(record + WORKERS_AT), .failures = wire_get32(record + PROCESSES_AT)};
    bool can_be = deaths.deaths <= JOURNAL_DEATHS_MAX && deaths.failures <= JOURNAL_DEATHS_MAX &&
                  deaths.deaths + deaths.failures > 0;
    for (size_t i = 0; i < count; i++) {
        struct range range = range_at(record, i);
        deaths.first = range.first;
        deaths.count = range.count;
        if (!can_be || !is_inside(&content->head.loop, &range)) {
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

/* Forgets the deaths of iterations that are done. */
static enum journal_decoded forget_done(struct journal_content *content)
{
    for (size_t i = 0; content->deaths.count > 0 && i < ranges_length(&content->done); i++) {
        const struct range *range = ranges_at(&content->done, i);
        if (poison_forget(&content->deaths, range->first, range->count) < 0)
            return JOURNAL_NO_MEMORY;
    }
    return JOURNAL_GOOD;
}

/* Takes the record at `record`, of which `left` bytes are there. Returns its size; 0 where the record is torn or
 * `reason` says what is wrong with the whole. `marks`: bits of the first word that say what the record is. */
static size_t take_record(struct journal_content *content, const unsigned char *record, size_t left, uint32_t marks,
                          uint32_t *crc, enum journal_decoded *reason)
{
    if (left < JOURNAL_RECORD_BYTES)
        return 0;
    size_t count = wire_get32(record + RANGES_AT) & ~marks;
    bool is_deaths = wire_get32(record + RANGES_AT) & marks;
    if (count == 0 || count > (left - JOURNAL_RECORD_BYTES) / JOURNAL_RANGE_BYTES)
        return 0;
    size_t size = journal_record_size(count);
    uint32_t own = record_crc(record, size, *crc);
    if (wire_get32(record + CRC_AT) != own)
        return 0;
    int result = is_deaths ? add_deaths(content, record, count, reason) : add_ranges(content, record, count, reason);
    if (result < 0)
        return 0;
    content->digest += is_deaths ? 0 : wire_get64(record + DIGEST_AT);
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
    const uint32_t marks = wire_get32(bytes + VERSION_AT) > JOURNAL_VERSION_LEAST ? DEATHS_MARK : 0;
    size_t taken = journal_head_size(&content->head);
    while (taken > 0) {
        content->valid += taken;
        taken = take_record(content, bytes + content->valid, size - content->valid, marks, &crc, &decoded);
    }
    return decoded == JOURNAL_GOOD ? forget_done(content) : decoded;
}

void journal_content_fini(struct journal_content *content)
{
    ranges_fini(&content->done);
    poison_fini(&content->deaths);
    *content = (struct journal_content){0};
}
