/* SPDX-License-Identifier: MIT */
/* The journal: its bytes, torn at each place and with each bit changed, and its file, which grows and is written anew.
 * What is read is always something that was once recorded, from the beginning on, or nothing. */
#include "common/job/journal.h"
#include "common/job/journal_format.h"
#include "common/service/poison.h"
#include "common/util/crc.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT "the kernel=one\0width=5\0"

enum { GROUPS = 8, BYTES_MAX = 4096 };

static const struct journal_head head = {TEXT, sizeof TEXT - 1, {10, 100}, NULL, 0};

/* What each record says: what is done, no range of which touches another, in any order; or what deaths there were. */
static const struct group {
    struct range ranges[3];
    size_t count;
    uint64_t digest;
    uint32_t workers, processes; /* deaths */
} groups[GROUPS] = {
    {{{10, 5}}, 1, 111, 0, 0},
    {{{30, 20}}, 1, 0, 1, 0}, /* before and after some of them are done */
    {{{50, 10}, {30, 1}}, 2, 0xffffffffffffff00, 0, 0},
    {{{100, 10}}, 1, 7, 0, 0},
    {{{33, 1}}, 1, 0, 1, 3},
    {{{15, 2}, {40, 5}, {90, 1}}, 3, 1000, 0, 0},
    {{{39, 3}}, 1, 0, 2, 0},
    {{{17, 3}}, 1, 5, 0, 0},
};

static bool is_of_deaths(const struct group *group)
{
    return group->workers + group->processes > 0;
}

static struct poison deaths_of(const struct group *group)
{
    return (struct poison){.first = group->ranges[0].first,
                           .count = group->ranges[0].count,
                           .deaths = group->workers,
                           .failures = group->processes,
                           .shares_blame = group->workers == 2};
}

static unsigned char bytes[BYTES_MAX];
static size_t ends[GROUPS + 1]; /* of the head and of each record */

static size_t write_bytes(void)
{
    size_t size = journal_head_size(&head);
    uint32_t crc = journal_head_put(&head, bytes);
    ends[0] = size;
    for (int i = 0; i < GROUPS; i++) {
        const struct poison deaths = deaths_of(&groups[i]);
        crc = is_of_deaths(&groups[i])
                  ? journal_deaths_put(&deaths, crc, bytes + size)
                  : journal_record_put(groups[i].ranges, groups[i].count, groups[i].digest, crc, bytes + size);
        size += journal_record_size(groups[i].count);
        ends[i + 1] = size;
    }
    return size;
}

/* Whether the content has the deaths that the first `count` groups tell of iterations that are not done. */
static void check_deaths(const struct journal_content *content, const struct ranges *done, int count)
{
    const struct poison_set *set = &content->deaths;
    uint64_t known = 0;
    poison_check(set);
    for (uint64_t i = 10; i < 110; i++) {
        struct poison found, told = {0};
        for (int g = 0; g < count; g++)
            if (is_of_deaths(&groups[g]) && i - groups[g].ranges[0].first < groups[g].ranges[0].count)
                told = deaths_of(&groups[g]);
        for (size_t k = 0; k < ranges_length(done); k++)
            if (i - ranges_at(done, k)->first < ranges_at(done, k)->count)
                told = (struct poison){0};
        poison_look(set, &(struct range){i, 1}, &found);
        ck_assert_uint_eq(found.deaths, told.deaths);
        ck_assert(found.shares_blame == told.shares_blame);
        ck_assert_uint_eq(found.failures, told.failures);
        known += found.deaths + found.failures > 0;
    }
    for (size_t i = 0; i < set->count; i++)
        known -= set->items[i].count;
    ck_assert_uint_eq(known, 0);
}

/* Whether the content is what the first `count` groups say. */
static void check_content(const struct journal_content *content, int count)
{
    struct ranges done;
    uint64_t digest = 0;
    ranges_init(&done);
    for (int i = 0; i < count; i++) {
        digest += groups[i].digest;
        for (size_t k = 0; k < groups[i].count && !is_of_deaths(&groups[i]); k++)
            ck_assert_int_eq(ranges_add(&done, groups[i].ranges[k].first, groups[i].ranges[k].count, NULL), 0);
    }
    ck_assert_uint_eq(content->digest, digest);
    ck_assert_uint_eq(content->valid, ends[count]);
    ck_assert_uint_eq(ranges_length(&content->done), ranges_length(&done));
    for (size_t i = 0; i < ranges_length(&done); i++) {
        ck_assert_uint_eq(ranges_at(&content->done, i)->first, ranges_at(&done, i)->first);
        ck_assert_uint_eq(ranges_at(&content->done, i)->count, ranges_at(&done, i)->count);
    }
    check_deaths(content, &done, count);
    ranges_fini(&done);
}

START_TEST(a_checksum_is_that_of_the_standard)
{
    ck_assert_uint_eq(crc32c(0, "123456789", 9), 0xe3069283);
    ck_assert_uint_eq(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
    ck_assert_uint_eq(crc32c(0, "", 0), 0);
}
END_TEST

START_TEST(what_is_written_is_read)
{
    struct journal_content content;
    size_t size = write_bytes();
    ck_assert_int_eq(journal_decode(&content, bytes, size), JOURNAL_GOOD);
    check_content(&content, GROUPS);
    ck_assert_uint_eq(content.head.loop.first, 10);
    ck_assert_uint_eq(content.head.loop.count, 100);
    ck_assert_uint_eq(content.head.text_bytes, head.text_bytes);
    ck_assert_mem_eq(content.head.text, head.text, head.text_bytes);
    journal_content_fini(&content);
}
END_TEST

/* The bytes are copied to where they end with the memory, so that a sanitizer sees a look behind them. */
static enum journal_decoded decode_exactly(struct journal_content *content, size_t size)
{
    unsigned char *copy = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    enum journal_decoded decoded = journal_decode(content, copy, size);
    free(copy);
    return decoded;
}

START_TEST(torn_at_any_byte_the_whole_records_before_it_are_good)
{
    size_t size = write_bytes();
    for (size_t cut = 0; cut <= size; cut++) {
        struct journal_content content;
        enum journal_decoded decoded = decode_exactly(&content, cut);
        int whole = -1;
        while (whole < GROUPS && ends[whole + 1] <= cut)
            whole++;
        if (whole < 0)
            ck_assert_int_eq(decoded, cut < 8 ? JOURNAL_FOREIGN : JOURNAL_BAD_HEAD);
        else
            ck_assert_int_eq(decoded, JOURNAL_GOOD);
        if (whole >= 0)
            check_content(&content, whole);
        journal_content_fini(&content);
    }
}
END_TEST

START_TEST(with_any_bit_changed_the_records_before_it_are_good)
{
    size_t size = write_bytes();
    for (size_t bit = 0; bit < 8 * size; bit++) {
        struct journal_content content;
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        enum journal_decoded decoded = decode_exactly(&content, size);
        int whole = -1;
        while (whole < GROUPS && ends[whole + 1] <= bit / 8)
            whole++;
        if (whole < 0)
            ck_assert(decoded != JOURNAL_GOOD);
        else
            check_content(&content, whole);
        journal_content_fini(&content);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}
END_TEST

START_TEST(a_record_counts_only_behind_those_it_was_written_behind)
{
    struct journal_content content;
    size_t size = write_bytes(), third = ends[3] - ends[2];
    memmove(bytes + ends[2], bytes + ends[3], size - ends[3]); /* one is lost in the middle */
    ck_assert_int_eq(decode_exactly(&content, size - third), JOURNAL_GOOD);
    check_content(&content, 2);
    journal_content_fini(&content);
    size = write_bytes();
    memcpy(bytes + size, bytes + ends[0], ends[1] - ends[0]); /* the first comes again */
    ck_assert_int_eq(decode_exactly(&content, size + ends[1] - ends[0]), JOURNAL_GOOD);
    check_content(&content, GROUPS);
    journal_content_fini(&content);
}
END_TEST

static enum journal_decoded decode_with(const struct range *ranges, size_t count)
{
    struct journal_content content;
    uint32_t crc = journal_head_put(&head, bytes);
    size_t at = journal_head_size(&head);
    journal_record_put(ranges, count, 0, crc, bytes + at);
    enum journal_decoded decoded = decode_exactly(&content, at + journal_record_size(count));
    journal_content_fini(&content);
    return decoded;
}

START_TEST(a_journal_that_says_what_cannot_be_is_refused)
{
    static const struct range impossible[][2] = {
        {{9, 1}, {20, 1}},           {{20, 1}, {109, 2}},         {{20, 5}, {24, 1}},   {{20, 0}, {30, 1}},
        {{20, 1}, {0, UINT64_MAX}},  {{UINT64_MAX, 1}, {20, 1}},  {{10, 101}, {20, 1}}, {{20, 1}, {20, 1}},
        {{20, UINT64_MAX}, {30, 1}}, {{11, UINT64_MAX}, {30, 1}},
    };
    static const struct range possible[2] = {{20, 1}, {10, 5}};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
        ck_assert_int_eq(decode_with(impossible[i], 2), JOURNAL_CONTRADICTS);
    ck_assert_int_eq(decode_with(possible, 2), JOURNAL_GOOD);
}
END_TEST

START_TEST(deaths_that_cannot_be_are_refused)
{
    static const struct poison impossible[] = {{9, 1, 1, 0, 0},  {109, 2, 1, 0, 0},        {20, 0, 1, 0, 0},
                                               {20, 1, 0, 0, 0}, {UINT64_MAX, 1, 1, 0, 0}, {20, UINT64_MAX, 0, 1, 0}};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        struct journal_content content;
        size_t at = journal_head_size(&head);
        journal_deaths_put(&impossible[i], journal_head_put(&head, bytes), bytes + at);
        ck_assert_int_eq(decode_exactly(&content, at + journal_record_size(1)), JOURNAL_CONTRADICTS);
        journal_content_fini(&content);
    }
}
END_TEST

/* A journal of version 1 has no deaths: what looks like one is a torn record. */
START_TEST(a_journal_of_the_version_before_is_read)
{
    struct journal_content content;
    size_t size = journal_head_size(&head);
    journal_head_put(&head, bytes);
    wire_put32(bytes + 8, 1);
    uint32_t crc = crc32c(0, bytes, size - 4);
    wire_put32(bytes + size - 4, crc);
    crc = journal_record_put(groups[0].ranges, groups[0].count, groups[0].digest, crc, bytes + size);
    size += journal_record_size(groups[0].count);
    ck_assert_int_eq(decode_exactly(&content, size), JOURNAL_GOOD);
    ck_assert_uint_eq(content.valid, size);
    ck_assert_uint_eq(content.digest, groups[0].digest);
    journal_content_fini(&content);
    journal_deaths_put(&(struct poison){30, 20, 1, 0, 0}, crc, bytes + size);
    ck_assert_int_eq(decode_exactly(&content, size + journal_record_size(1)), JOURNAL_GOOD);
    ck_assert(content.valid == size && content.deaths.count == 0);
    journal_content_fini(&content);
}
END_TEST

static size_t write_growths(const struct journal_head *empty, const struct journal_growth *growths, size_t count)
{
    size_t size = journal_head_size(empty);
    uint32_t crc = journal_head_put(empty, bytes);
    for (size_t i = 0; i < count; i++, size += journal_record_size(1))
        crc = journal_growth_put(10, &growths[i], crc, bytes + size);
    return size;
}

START_TEST(a_loop_grows_and_what_is_done_of_it_counts)
{
    const struct journal_head empty = {TEXT, sizeof TEXT - 1, {10, 0}, NULL, 0};
    const struct journal_growth growths[] = {{3, 33}, {20, 7}};
    struct journal_content content;
    size_t size = write_growths(&empty, growths, 2);
    ck_assert_int_eq(decode_exactly(&content, size), JOURNAL_GOOD);
    ck_assert(content.valid == size && content.head.growth_count == 2);
    ck_assert(content.growths[0].count == 3 && content.growths[0].inputs == 33 && content.growths[1].inputs == 7);
    ck_assert(journal_loop(&content.head).first == 10 && journal_loop(&content.head).count == 20);
    journal_content_fini(&content);
    for (uint64_t last = 29; last <= 30; last++) { /* the last of them, and one behind it */
        const uint32_t crc = wire_get32(bytes + size - journal_record_size(1) + 4);
        journal_record_put(&(struct range){last, 1}, 1, 5, crc, bytes + size);
        ck_assert_int_eq(decode_exactly(&content, size + journal_record_size(1)),
                         last == 29 ? JOURNAL_GOOD : JOURNAL_CONTRADICTS);
        journal_content_fini(&content);
    }
}
END_TEST

START_TEST(growths_that_cannot_be_are_refused)
{
    const struct journal_head empty = {TEXT, sizeof TEXT - 1, {10, 2}, NULL, 0};
    static const struct journal_growth impossible[][2] = {
        {{2, 1}, {20, 1}}, {{1, 1}, {3, 1}}, {{5, 1}, {5, 1}}, {{5, 1}, {4, 1}}, {{5, 1}, {UINT64_MAX - 9, 1}}};
    struct journal_content content;
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        ck_assert_int_eq(decode_exactly(&content, write_growths(&empty, impossible[i], 2)), JOURNAL_CONTRADICTS);
        journal_content_fini(&content);
    }
    size_t size = journal_head_size(&empty); /* another loop's */
    journal_growth_put(11, &(struct journal_growth){5, 1}, journal_head_put(&empty, bytes), bytes + size);
    ck_assert_int_eq(decode_exactly(&content, size + journal_record_size(1)), JOURNAL_CONTRADICTS);
    journal_content_fini(&content);
}
END_TEST

START_TEST(an_end_is_believed_where_all_is_done)
{
    for (uint64_t missing = 0; missing <= 1; missing++) {
        const struct range done = {head.loop.first, head.loop.count - missing};
        struct journal_content content;
        size_t at = journal_head_size(&head);
        uint32_t crc = journal_record_put(&done, 1, 5, journal_head_put(&head, bytes), bytes + at);
        at += journal_record_size(1);
        crc = journal_end_put(77, crc, bytes + at);
        at += journal_record_size(0);
        journal_deaths_put(&(struct poison){30, 20, 1, 0, 0}, crc, bytes + at); /* behind the end */
        ck_assert_int_eq(decode_exactly(&content, at + journal_record_size(1)),
                         missing ? JOURNAL_CONTRADICTS : JOURNAL_GOOD);
        ck_assert(missing || (content.is_over && content.final_bytes == 77 && content.digest == 5 &&
                              content.valid == at && content.deaths.count == 0));
        journal_content_fini(&content);
        ck_assert_int_eq(decode_exactly(&content, at - 1), JOURNAL_GOOD); /* torn */
        ck_assert(!content.is_over && content.valid == at - journal_record_size(0));
        journal_content_fini(&content);
    }
}
END_TEST

START_TEST(another_version_and_another_file_are_told_apart)
{
    struct journal_content content;
    size_t size = write_bytes();
    wire_put32(bytes + 8, JOURNAL_VERSION + 1);
    ck_assert_int_eq(decode_exactly(&content, size), JOURNAL_OTHER_VERSION);
    journal_content_fini(&content);
    memset(bytes, 'x', size);
    ck_assert_int_eq(decode_exactly(&content, size), JOURNAL_FOREIGN);
    journal_content_fini(&content);
}
END_TEST

START_TEST(any_bytes_behind_a_good_beginning_are_taken)
{
    struct random random;
    random_init(&random, 5);
    for (int trial = 0; trial < 20000; trial++) {
        struct journal_content content;
        size_t size = write_bytes(), from = random_next(&random) % size, count = 1 + random_next(&random) % 40;
        for (size_t i = from; i < from + count && i < size; i++)
            bytes[i] = (unsigned char)random_next(&random);
        enum journal_decoded decoded = decode_exactly(&content, size);
        ck_assert(decoded != JOURNAL_CONTRADICTS && decoded != JOURNAL_NO_MEMORY);
        if (decoded == JOURNAL_GOOD) {
            int whole = 0;
            while (whole < GROUPS && ends[whole + 1] <= content.valid)
                whole++;
            check_content(&content, whole);
        }
        journal_content_fini(&content);
    }
}
END_TEST

/* --- recovery points --- */

/* Boundary data: `bytes` of them, 1 to 16, so that some fill their record and others do not. */
static struct journal_point point_of(uint64_t at, uint64_t count)
{
    static const unsigned char data[] = "sixteen letters.";
    return (struct journal_point){at, count, data};
}

/* A head, the first done, and two points with some done between them. */
static size_t write_points(void)
{
    static const struct range done[] = {{10, 20}, {30, 30}};
    const struct journal_point first = point_of(24, 9), second = point_of(60, 8);
    size_t size = journal_head_size(&head);
    uint32_t crc = journal_record_put(&done[0], 1, 5, journal_head_put(&head, bytes), bytes + size);
    ends[0] = size;
    ends[1] = size += journal_record_size(1);
    crc = journal_point_put(&first, crc, bytes + size);
    ends[2] = size += journal_point_size(first.bytes);
    crc = journal_record_put(&done[1], 1, 6, crc, bytes + size);
    ends[3] = size += journal_record_size(1);
    journal_point_put(&second, crc, bytes + size);
    ends[4] = size += journal_point_size(second.bytes);
    return size;
}

/* Whether the content is what the first `count` records of write_points() say. Its bytes are still there. */
static void check_points(const struct journal_content *content, int count)
{
    static const uint64_t done[] = {0, 20, 20, 50, 50}, digests[] = {0, 5, 5, 11, 11};
    ck_assert_uint_eq(content->valid, ends[count]);
    ck_assert_uint_eq(content->point_count, (size_t)count / 2);
    ck_assert_uint_eq(ranges_total(&content->done), done[count]);
    ck_assert_uint_eq(content->digest, digests[count]);
    for (size_t i = 0; i < content->point_count; i++) {
        const struct journal_point *is = &content->points[i], was = i == 0 ? point_of(24, 9) : point_of(60, 8);
        ck_assert(is->at == was.at && is->bytes == was.bytes);
        ck_assert_mem_eq(is->data, was.data, was.bytes);
    }
}

START_TEST(points_that_are_torn_or_changed_are_not_believed)
{
    const size_t size = write_points();
    for (size_t at = 0; at <= 2 * size; at++) {
        struct journal_content content;
        const size_t cut = at <= size ? at : size;
        int whole = -1;
        for (unsigned bit = 0; bit < (at < size ? 1 : 8); bit++) { /* first the lengths, then the bits */
            const size_t changed = at > size ? at - size - 1 : SIZE_MAX;
            if (changed < size)
                bytes[changed] ^= (unsigned char)(1u << bit);
            enum journal_decoded decoded = journal_decode(&content, bytes, cut);
            for (whole = -1; whole < 4 && ends[whole + 1] <= (changed < size ? changed : cut);)
                whole++;
            ck_assert_int_eq(decoded == JOURNAL_GOOD, whole >= 0);
            if (changed < size)
                bytes[changed] ^= (unsigned char)(1u << bit);
            if (whole >= 0)
                check_points(&content, whole);
            journal_content_fini(&content);
        }
    }
}
END_TEST

/* With a good CRC. */
START_TEST(points_that_cannot_be_are_refused)
{
    enum { AT = 8, BYTES = 16, DATA = 24 };
    const struct journal_point good = point_of(20, 9);
    for (int i = 0; i < 8; i++) {
        struct journal_content content;
        const size_t at = journal_head_size(&head), size = journal_point_size(good.bytes);
        const uint32_t before = journal_head_put(&head, bytes);
        unsigned char *record = bytes + at;
        journal_point_put(&good, before, record);
        switch (i) {
        case 1: wire_put64(record + AT, 10); break; /* nothing is before the loop */
        case 2: wire_put64(record + AT, 110); break;
        case 3: wire_put64(record + BYTES, 0); break;
        case 4: wire_put64(record + BYTES, 8); break; /* would be shorter */
        case 5: wire_put64(record + BYTES, UINT64_MAX); break;
        case 6: record[DATA + 9] = 1; break;
        case 7: wire_put32(record, wire_get32(record) | 0x80000000u); break; /* not deaths as well */
        default: break;
        }
        wire_put32(record + 4, crc32c(crc32c(before, record, 4), record + 8, size - 8));
        ck_assert_int_eq(decode_exactly(&content, at + size), i == 0 ? JOURNAL_GOOD : JOURNAL_CONTRADICTS);
        journal_content_fini(&content);
    }
}
END_TEST

START_TEST(a_loop_goes_on_from_the_last_point_that_it_can)
{
    struct journal_content content;
    ck_assert_int_eq(journal_decode(&content, bytes, write_points()), JOURNAL_GOOD);
    const struct journal_point *points = content.points;
    ck_assert_ptr_eq(journal_find_point(&content, 1, 8), &points[1]); /* done up to 60 */
    ck_assert_ptr_eq(journal_find_point(&content, 1, 9), &points[0]);
    ck_assert_ptr_null(journal_find_point(&content, 1, 7));
    content.points[1].bytes = 9;
    ck_assert_ptr_eq(journal_find_point(&content, 9, 9), &points[1]);
    content.points[1].at = 61; /* not all before it is done */
    ck_assert_ptr_eq(journal_find_point(&content, 9, 9), &points[0]);
    content.points[1].at = 52;
    ck_assert_ptr_eq(journal_find_point(&content, 8, 9), &points[1]);
    ck_assert_ptr_eq(journal_find_point(&content, 9, 9), &points[0]); /* a chunk of 8 would be too short */
    ck_assert_int_eq(ranges_remove(&content.done, 10, 1, NULL), 0);
    ck_assert_ptr_null(journal_find_point(&content, 1, 9));
    journal_content_fini(&content);
}
END_TEST

/* --- the file --- */

static char folder[] = "/tmp/hdss-test-journal-XXXXXX";

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    unlink("j");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary file is left either */
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

static void begin(struct journal *journal, const struct journal_file *from, bool sync)
{
    struct error error;
    const struct journal_content *earlier = from != NULL ? &from->content : NULL;
    ck_assert_msg(journal_begin(journal, "j", &head, earlier, sync, &error) == 0, "%s", error.text);
}

static void append(struct journal *journal, int group)
{
    struct error error;
    const struct group *that = &groups[group];
    const struct poison deaths = deaths_of(that);
    if (is_of_deaths(that))
        ck_assert_msg(journal_append_deaths(journal, &deaths, &error) == 0, "%s", error.text);
    else
        ck_assert_msg(journal_append(journal, that->ranges, that->count, that->digest, &error) == 0, "%s", error.text);
}

static enum journal_state read_journal(struct journal_file *file)
{
    struct error error;
    return journal_read(file, "j", &error);
}

static off_t file_size(void)
{
    struct stat status;
    ck_assert_int_eq(stat("j", &status), 0);
    return status.st_size;
}

START_TEST(a_file_is_begun_appended_to_and_read)
{
    struct journal journal;
    struct journal_file file;
    write_bytes();
    ck_assert_int_eq(read_journal(&file), JOURNAL_ABSENT);
    begin(&journal, NULL, _i == 1);
    for (int i = 0; i < GROUPS; i++)
        append(&journal, i);
    ck_assert(!journal_is_complete(&journal));
    journal_close(&journal, false);
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    check_content(&file.content, GROUPS);
    ck_assert_uint_eq(file.size, file.content.valid);
    journal_file_fini(&file);
}
END_TEST

START_TEST(a_file_is_resumed_without_its_torn_end)
{
    struct journal journal;
    struct journal_file file;
    write_bytes();
    begin(&journal, NULL, false);
    for (int i = 0; i < 3; i++)
        append(&journal, i);
    journal_close(&journal, false);
    ck_assert_int_eq(truncate("j", file_size() - 3), 0);
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    check_content(&file.content, 2);
    ck_assert_uint_eq(file.content.deaths.count, 1); /* they are kept, too */
    ck_assert_uint_gt(file.size, file.content.valid);
    begin(&journal, &file, false);
    journal_file_fini(&file);
    for (int i = 2; i < GROUPS; i++)
        append(&journal, i);
    journal_close(&journal, false);
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    uint64_t digest = 0;
    for (int i = 0; i < GROUPS; i++)
        digest += groups[i].digest;
    ck_assert_uint_eq(file.content.digest, digest);
    ck_assert_uint_eq(ranges_total(&file.content.done), 5 + 11 + 10 + 8 + 3);
    check_deaths(&file.content, &file.content.done, GROUPS);
    journal_file_fini(&file);
}
END_TEST

/* Of many points those are kept that may be gone on from: the last that is not behind what is done, and later ones. */
START_TEST(a_long_run_keeps_few_points)
{
    enum { COUNT = 3000, BYTES = 5000 };
    static unsigned char data[BYTES];
    const struct journal_head whole = {TEXT, sizeof TEXT - 1, {0, COUNT}, NULL, 0};
    struct journal journal;
    struct journal_file file;
    struct error error;
    ck_assert_int_eq(journal_begin(&journal, "j", &whole, NULL, false, &error), 0);
    for (uint64_t i = 0; i < COUNT - 10; i += 10) {
        const struct range done = {i, 10};
        memset(data, (int)(i / 10 % 251), sizeof data);
        const struct journal_point point = {i + 20, BYTES, data}; /* what is before it is done one round later */
        ck_assert_msg(i + 20 >= COUNT || journal_append_point(&journal, &point, &error) == 0, "%s", error.text);
        ck_assert_msg(journal_append(&journal, &done, 1, 1, &error) == 0, "%s", error.text);
        ck_assert_uint_le(journal.point_count, 3);
        ck_assert_uint_lt(journal.size, 400000);
    }
    journal_close(&journal, false);
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    const struct journal_point *point = journal_find_point(&file.content, 2, BYTES);
    ck_assert(point != NULL && point->at == COUNT - 10);
    ck_assert_int_eq(point->data[0], (COUNT - 30) / 10 % 251);
    const uint64_t at = point->at;
    ck_assert_int_eq(journal_begin(&journal, "j", &whole, &file.content, false, &error), 0);
    journal_file_fini(&file);
    ck_assert_uint_gt(journal.point_count, 0);
    journal_close(&journal, false);
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    ck_assert(file.content.point_count > 0 && at > 0);
    journal_file_fini(&file);
}
END_TEST

START_TEST(a_file_that_is_written_is_in_use)
{
    struct journal journal;
    struct journal_file file;
    begin(&journal, NULL, false);
    ck_assert_int_eq(read_journal(&file), JOURNAL_IN_USE);
    journal_file_fini(&file);
    journal_close(&journal, true);
    ck_assert_int_ne(access("j", F_OK), 0);
}
END_TEST

/* What another run does to the file between its opening and its lock. */
static void (*meanwhile)(void);

int flock(int fd, int operation)
{
    void (*now)(void) = meanwhile;
    meanwhile = NULL;
    if (now != NULL)
        now();
    return (int)syscall(SYS_flock, fd, operation);
}

static void remove_it(void)
{
    unlink("j");
}

static void write_it_anew(void)
{
    struct journal journal;
    remove_it();
    begin(&journal, NULL, false);
    journal_close(&journal, false);
}

START_TEST(a_file_that_is_removed_meanwhile_is_not_in_use)
{
    struct journal journal;
    struct journal_file file;
    begin(&journal, NULL, false);
    journal_close(&journal, false);
    meanwhile = _i == 0 ? remove_it : write_it_anew;
    ck_assert_int_eq(read_journal(&file), _i == 0 ? JOURNAL_ABSENT : JOURNAL_READABLE);
    journal_file_fini(&file);
}
END_TEST

/* Iterations in a random order, one to a record: the file would be 32 bytes for each. */
START_TEST(a_long_run_keeps_a_short_file)
{
    enum { COUNT = 40000 };
    const struct journal_head whole = {TEXT, sizeof TEXT - 1, {0, COUNT}, NULL, 0};
    struct journal journal;
    struct journal_file file;
    struct error error;
    struct random random;
    static uint32_t order[COUNT];
    random_init(&random, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t other = (uint32_t)(random_next(&random) % (i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    ck_assert_int_eq(journal_begin(&journal, "j", &whole, NULL, false, &error), 0);
    ck_assert_int_eq(journal_append_deaths(&journal, &(struct poison){7, 20, 2, 0, 0}, &error), 0);
    ck_assert_int_eq(journal_append_deaths(&journal, &(struct poison){COUNT - 1, 1, 0, 1, 0}, &error), 0);
    off_t most = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        struct range range = {order[i], 1};
        ck_assert_int_eq(journal_append(&journal, &range, 1, i, &error), 0);
        most = file_size() > most ? file_size() : most;
    }
    ck_assert(journal_is_complete(&journal));
    journal_close(&journal, false);
    ck_assert_int_le(most, 800000); /* there are 10,000 ranges in the middle of the run: four times 160,000 bytes */
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    ck_assert_uint_eq(ranges_length(&file.content.done), 1);
    ck_assert_uint_eq(ranges_total(&file.content.done), COUNT);
    ck_assert_uint_eq(file.content.deaths.count, 0);
    ck_assert_uint_eq(file.content.digest, (uint64_t)COUNT * (COUNT - 1) / 2);
    journal_file_fini(&file);
}
END_TEST

/* A list that is written for long: of its growths those are kept that are spread over it. */
START_TEST(a_loop_that_grows_for_long_keeps_few_growths)
{
    enum { TIMES = 20000 };
    const struct journal_growth first = {3, 3};
    const struct journal_head empty = {TEXT, sizeof TEXT - 1, {10, 0}, &first, 1};
    struct journal journal;
    struct journal_file file;
    struct error error;
    off_t most = 0;
    ck_assert_int_eq(journal_begin(&journal, "j", &empty, NULL, false, &error), 0);
    ck_assert_int_eq(journal_append(&journal, &(struct range){10, 3}, 1, 1, &error), 0);
    ck_assert(journal_is_complete(&journal));
    for (uint64_t i = 4; i <= TIMES; i++) {
        ck_assert_int_eq(journal_append_growths(&journal, &(struct journal_growth){i, i}, 1, &error), 0);
        ck_assert(!journal_is_complete(&journal));
        ck_assert_int_eq(journal_append(&journal, &(struct range){9 + i, 1}, 1, 1, &error), 0);
        most = file_size() > most ? file_size() : most;
    }
    ck_assert(journal_is_complete(&journal));
    journal_close(&journal, false);
    ck_assert_int_le(most, 300000); /* 1.3 MB of records */
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    ck_assert_uint_eq(ranges_total(&file.content.done), TIMES);
    ck_assert_uint_eq(journal_loop(&file.content.head).count, TIMES);
    for (size_t i = 0; i < file.content.head.growth_count; i++)
        ck_assert_uint_eq(file.content.growths[i].inputs, file.content.growths[i].count);
    struct journal_head again = file.content.head; /* and is gone on with */
    again.growths = &file.content.growths[file.content.head.growth_count - 1];
    again.growth_count = 1;
    struct journal_file next;
    struct journal_content earlier = file.content;
    close(file.fd);
    file.fd = -1;
    ck_assert_int_eq(journal_begin(&journal, "j", &again, &earlier, false, &error), 0);
    journal_close(&journal, false);
    ck_assert_int_eq(read_journal(&next), JOURNAL_READABLE);
    ck_assert_uint_eq(ranges_total(&next.content.done), TIMES);
    journal_file_fini(&next);
    journal_file_fini(&file);
}
END_TEST

/* A limit on the size of files stands for a full disk. */
START_TEST(what_cannot_be_written_leaves_a_good_file)
{
    struct journal journal;
    struct journal_file file;
    struct error error;
    write_bytes();
    signal(SIGXFSZ, SIG_IGN);
    begin(&journal, NULL, false);
    append(&journal, 0);
    const struct rlimit limit = {(rlim_t)file_size() + 10, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(journal_append_deaths(&journal, &(struct poison){30, 20, 1, 0, 0}, &error), -1);
    ck_assert_msg(strstr(error.text, "File too large") != NULL, "%s", error.text);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    append(&journal, 1); /* there is room again */
    journal_close(&journal, false);
    ck_assert_int_eq(read_journal(&file), JOURNAL_READABLE);
    check_content(&file.content, 2);
    journal_file_fini(&file);
}
END_TEST

START_TEST(other_files_are_not_taken_for_journals)
{
    struct journal_file file;
    FILE *other = fopen("j", "w");
    ck_assert_ptr_nonnull(other);
    fputs("something else\n", other);
    fclose(other);
    ck_assert_int_eq(read_journal(&file), JOURNAL_UNUSABLE);
    journal_file_fini(&file);
    unlink("j");
    ck_assert_int_eq(mkdir("j", 0700), 0);
    ck_assert_int_eq(read_journal(&file), JOURNAL_UNUSABLE);
    journal_file_fini(&file);
    rmdir("j");
}
END_TEST

static const char *difference(const char *text, size_t size, uint64_t count)
{
    static struct error error;
    const struct journal_head other = {text, size, {10, count}, NULL, 0};
    error.text[0] = '\0';
    return journal_compare(&other, &head, "j", &error) == 0 ? "" : error.text;
}

#define DIFFERENCE(text, count) difference(text, sizeof text - 1, count)

START_TEST(another_job_is_refused_with_the_difference)
{
    ck_assert_str_eq(DIFFERENCE(TEXT, 100), "");
    ck_assert_str_eq(DIFFERENCE("the kernel=one\0width=6\0", 100),
                     "j: is the journal of another job: width is 6 there and 5 here");
    ck_assert_str_eq(DIFFERENCE("the kernel=two\0width=6\0", 100),
                     "j: is the journal of another job: the kernel is two there and one here");
    ck_assert_str_eq(DIFFERENCE("the kernel=one\0", 100),
                     "j: is the journal of another job: width is not said there and 5 here");
    ck_assert_str_eq(DIFFERENCE("the kernel=one\0width=5\0height=3\0", 100),
                     "j: is the journal of another job: height is 3 there and not said here");
    ck_assert_ptr_nonnull(strstr(DIFFERENCE(TEXT, 90), "its loop is 10:90 there and 10:100 here"));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("journal");
    TCase *codec = tcase_create("bytes"), *file = tcase_create("file");
    tcase_set_timeout(codec, 60);
    tcase_set_timeout(file, 60);
    tcase_add_test(codec, a_checksum_is_that_of_the_standard);
    tcase_add_test(codec, what_is_written_is_read);
    tcase_add_test(codec, torn_at_any_byte_the_whole_records_before_it_are_good);
    tcase_add_test(codec, with_any_bit_changed_the_records_before_it_are_good);
    tcase_add_test(codec, a_record_counts_only_behind_those_it_was_written_behind);
    tcase_add_test(codec, a_journal_that_says_what_cannot_be_is_refused);
    tcase_add_test(codec, deaths_that_cannot_be_are_refused);
    tcase_add_test(codec, a_journal_of_the_version_before_is_read);
    tcase_add_test(codec, a_loop_grows_and_what_is_done_of_it_counts);
    tcase_add_test(codec, growths_that_cannot_be_are_refused);
    tcase_add_test(codec, an_end_is_believed_where_all_is_done);
    tcase_add_test(codec, another_version_and_another_file_are_told_apart);
    tcase_add_test(codec, points_that_are_torn_or_changed_are_not_believed);
    tcase_add_test(codec, points_that_cannot_be_are_refused);
    tcase_add_test(codec, a_loop_goes_on_from_the_last_point_that_it_can);
    tcase_add_test(codec, any_bytes_behind_a_good_beginning_are_taken);
    suite_add_tcase(suite, codec);
    tcase_add_checked_fixture(file, set_up, tear_down);
    tcase_add_loop_test(file, a_file_is_begun_appended_to_and_read, 0, 2);
    tcase_add_test(file, a_file_is_resumed_without_its_torn_end);
    tcase_add_test(file, a_long_run_keeps_few_points);
    tcase_add_test(file, a_file_that_is_written_is_in_use);
    tcase_add_loop_test(file, a_file_that_is_removed_meanwhile_is_not_in_use, 0, 2);
    tcase_add_test(file, a_long_run_keeps_a_short_file);
    tcase_add_test(file, a_loop_that_grows_for_long_keeps_few_growths);
    tcase_add_test(file, what_cannot_be_written_leaves_a_good_file);
    tcase_add_test(file, other_files_are_not_taken_for_journals);
    tcase_add_test(file, another_job_is_refused_with_the_difference);
    suite_add_tcase(suite, file);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
