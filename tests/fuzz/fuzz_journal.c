/* SPDX-License-Identifier: MIT */
/* journal_decode(): any bytes give a named state, and what is believed of them is right: inside of the loop, nothing
 * twice, and the good part by itself, or written anew, says the same. With the first byte odd all CRCs are made right
 * before, as no fuzzer guesses them. */
#include "tests/fuzz/fuzz.h"
#include "common/job/journal_format.h"
#include "common/service/poison.h"
#include "common/util/crc.h"
#include "common/util/ranges.h"
#include "proto/wire.h"

#include <string.h>

/* Where journal_format.h has them. */
enum { VERSION_AT = 8, TEXT_BYTES_AT = 12, TEXT_AT = 32, RECORD_CRC_AT = 4, RECORD_REST_AT = 8 };
#define DEATHS_MARK 0x80000000u
#define POINT_MARK  0x40000000u

/* Ranges of the record, or 16 bytes of it behind its first ones; `*marks` is what it is beside a record of what is
 * done, where the version has such. */
static size_t ranges_of(const uint8_t *bytes, size_t at, uint32_t *marks)
{
    uint32_t word = wire_get32(bytes + at);
    *marks = wire_get32(bytes + VERSION_AT) > 1 ? word & (DEATHS_MARK | POINT_MARK) : 0;
    return word & ~*marks;
}

static void mend(uint8_t *bytes, size_t size)
{
    if (size < JOURNAL_HEAD_BYTES || wire_get32(bytes + TEXT_BYTES_AT) > size - JOURNAL_HEAD_BYTES)
        return;
    size_t at = TEXT_AT + wire_get32(bytes + TEXT_BYTES_AT);
    uint32_t crc = crc32c(0, bytes, at);
    wire_put32(bytes + at, crc);
    for (at += 4; size - at >= JOURNAL_RECORD_BYTES;) {
        uint32_t marks;
        size_t count = ranges_of(bytes, at, &marks);
        if (count > (size - at - JOURNAL_RECORD_BYTES) / JOURNAL_RANGE_BYTES)
            return;
        size_t record = journal_record_size(count);
        crc = crc32c(crc, bytes + at, RECORD_CRC_AT);
        crc = crc32c(crc, bytes + at + RECORD_REST_AT, record - RECORD_REST_AT);
        wire_put32(bytes + at + RECORD_CRC_AT, crc);
        at += record;
    }
}

static void check_ranges(const struct journal_content *content)
{
    const struct range whole = journal_loop(&content->head), *loop = &whole;
    uint64_t end = loop->first, total = 0;
    for (size_t i = 0; i < ranges_length(&content->done); i++) {
        const struct range *range = ranges_at(&content->done, i);
        REQUIRE(range->count > 0 && range->first >= end && (i == 0 || range->first > end));
        end = range->first + range->count;
        total += range->count;
    }
    REQUIRE(end - loop->first <= loop->count && total == ranges_total(&content->done));
}

/* What is done has no deaths any more. */
static void check_deaths(const struct journal_content *content)
{
    const struct range whole = journal_loop(&content->head), *loop = &whole;
    poison_check(&content->deaths);
    for (size_t i = 0; i < content->deaths.count; i++) {
        const struct poison *deaths = &content->deaths.items[i];
        REQUIRE(deaths->first >= loop->first && deaths->first - loop->first < loop->count);
        REQUIRE(deaths->count <= loop->count - (deaths->first - loop->first));
        REQUIRE(deaths->deaths <= JOURNAL_DEATHS_MAX && deaths->failures <= JOURNAL_DEATHS_MAX);
        for (size_t k = 0; k < ranges_length(&content->done); k++) {
            const struct range *done = ranges_at(&content->done, k);
            REQUIRE(done->first + done->count <= deaths->first || deaths->first + deaths->count <= done->first);
        }
    }
}

/* Recovery points lie inside of the loop, and their data inside of what is good. */
static void check_points(const struct journal_content *content, const uint8_t *bytes)
{
    const struct range whole = journal_loop(&content->head), *loop = &whole;
    for (size_t i = 0; i < content->point_count; i++) {
        const struct journal_point *point = &content->points[i];
        REQUIRE(point->at > loop->first && point->at - loop->first < loop->count && point->bytes > 0);
        REQUIRE(point->data > bytes && point->bytes <= content->valid);
        REQUIRE((size_t)(point->data - bytes) <= content->valid - point->bytes);
    }
    const struct journal_point *best =
        content->point_count > 0 ? journal_find_point(content, 2, content->points[0].bytes) : NULL;
    REQUIRE(best == NULL || (ranges_length(&content->done) > 0 && ranges_at(&content->done, 0)->first == loop->first &&
                             best->at - loop->first <= ranges_at(&content->done, 0)->count));
}

/* The loop becomes longer with each. */
static void check_growths(const struct journal_content *content)
{
    const struct journal_head *head = &content->head;
    uint64_t count = head->loop.count;
    for (size_t i = 0; i < head->growth_count; i++) {
        REQUIRE(head->growths[i].count > count && head->growths[i].count <= UINT64_MAX - head->loop.first);
        count = head->growths[i].count;
    }
}

/* No iteration is told of twice. */
static void check_sum(const struct journal_content *content, const uint8_t *bytes)
{
    uint64_t total = 0;
    for (size_t at = journal_head_size(&content->head); at < content->valid;) {
        uint32_t marks;
        size_t count = ranges_of(bytes, at, &marks);
        for (size_t i = 0; i < count && marks == 0; i++)
            total += wire_get64(bytes + at + JOURNAL_RECORD_BYTES + i * JOURNAL_RANGE_BYTES + 8);
        at += journal_record_size(count);
    }
    REQUIRE(total == ranges_total(&content->done));
}

static bool are_same(const struct poison *a, const struct poison *b)
{
    return a->first == b->first && a->count == b->count && a->deaths == b->deaths && a->failures == b->failures;
}

static void require_same(const struct journal_content *content, const unsigned char *bytes, size_t size)
{
    struct journal_content again;
    REQUIRE(journal_decode(&again, bytes, size) == JOURNAL_GOOD && again.valid == size);
    REQUIRE(again.digest == content->digest && ranges_length(&again.done) == ranges_length(&content->done));
    for (size_t i = 0; i < ranges_length(&again.done); i++)
        REQUIRE(memcmp(ranges_at(&again.done, i), ranges_at(&content->done, i), sizeof(struct range)) == 0);
    REQUIRE(again.deaths.count == content->deaths.count);
    for (size_t i = 0; i < again.deaths.count; i++)
        REQUIRE(are_same(&again.deaths.items[i], &content->deaths.items[i]));
    REQUIRE(again.point_count == content->point_count);
    for (size_t i = 0; i < again.point_count; i++) {
        const struct journal_point *a = &again.points[i], *b = &content->points[i];
        REQUIRE(a->at == b->at && a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0);
    }
    REQUIRE(again.head.growth_count == content->head.growth_count);
    for (size_t i = 0; i < again.head.growth_count; i++)
        REQUIRE(again.growths[i].count == content->growths[i].count &&
                again.growths[i].inputs == content->growths[i].inputs);
    REQUIRE(again.head.text_bytes == content->head.text_bytes);
    REQUIRE(memcmp(again.head.text, content->head.text, again.head.text_bytes) == 0);
    journal_content_fini(&again);
}

/* As a run that goes on writes it: the head, the growths, one record of all that is done, the deaths, and the points.
 */
static void check_anew(const struct journal_content *content)
{
    const size_t growths = content->head.growth_count, ranges = ranges_length(&content->done);
    size_t head = journal_head_size(&content->head);
    size_t size = head + growths * journal_record_size(1) + (ranges > 0 ? journal_record_size(ranges) : 0);
    size_t more = content->deaths.count * journal_record_size(1);
    for (size_t i = 0; i < content->point_count; i++)
        more += journal_point_size(content->points[i].bytes);
    unsigned char *bytes = malloc(size + more);
    REQUIRE(bytes != NULL);
    uint32_t crc = journal_head_put(&content->head, bytes);
    for (size_t i = 0; i < growths; i++, head += journal_record_size(1))
        crc = journal_growth_put(content->head.loop.first, &content->growths[i], crc, bytes + head);
    if (ranges > 0)
        crc = journal_record_put(ranges_at(&content->done, 0), ranges, content->digest, crc, bytes + head);
    for (size_t i = 0; i < content->deaths.count; i++, size += journal_record_size(1))
        crc = journal_deaths_put(&content->deaths.items[i], crc, bytes + size);
    for (size_t i = 0; i < content->point_count; size += journal_point_size(content->points[i++].bytes))
        crc = journal_point_put(&content->points[i], crc, bytes + size);
    if (ranges > 0 || content->digest == 0)
        require_same(content, bytes, size);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct journal_content content;
    if (size == 0)
        return 0;
    uint8_t *copy = malloc(size);
    REQUIRE(copy != NULL);
    memcpy(copy, bytes + 1, size - 1);
    if (bytes[0] & 1)
        mend(copy, size - 1);
    if (journal_decode(&content, copy, size - 1) == JOURNAL_GOOD) {
        REQUIRE(content.valid <= size - 1);
        check_growths(&content);
        check_ranges(&content);
        check_sum(&content, copy);
        check_deaths(&content);
        check_points(&content, copy);
        require_same(&content, copy, content.valid);
        check_anew(&content);
    }
    journal_content_fini(&content);
    free(copy);
    return 0;
}
