/* SPDX-License-Identifier: MIT */
/* Announcements of jobs: they come back as they were packed, and bytes that are none are refused with one line. */
#include "common/util/error.h"
#include "proto/announcement.h"
#include "proto/message.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"
#include "tests/unit/proto/support.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"supermaster", "exec", "", "--", "a b\nc", NULL};
static const char *const variables[] = {"HOME=/home/a", "EMPTY=", "LINES=a\nb=c", NULL};
static const struct announcement sample = {
    .weight = 3,
    .priority = -7,
    .umask = 027,
    .folder = "/work/a b",
    .words = (char *const *)words,
    .word_count = 5,
    .environment = (char *const *)variables,
    .variable_count = 3,
};

static unsigned char *packed(const struct announcement *announcement, size_t *size)
{
    *size = announcement_size(announcement);
    unsigned char *bytes = malloc(*size);
    ck_assert_ptr_nonnull(bytes);
    announcement_pack(announcement, bytes);
    return bytes;
}

static void assert_same_list(char *const *got, char *const *want, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        ck_assert_str_eq(got[i], want[i]);
    ck_assert_ptr_null(got[count]);
}

static void assert_survives(const struct announcement *announcement)
{
    size_t size;
    unsigned char *bytes = packed(announcement, &size);
    struct announcement got;
    struct error error;
    ck_assert_int_eq(announcement_unpack(&got, bytes, size, &error), 0);
    free(bytes); /* what was unpacked has its own */
    ck_assert_uint_eq(got.weight, announcement->weight);
    ck_assert_int_eq(got.priority, announcement->priority);
    ck_assert_uint_eq(got.umask, announcement->umask);
    ck_assert_str_eq(got.folder, announcement->folder);
    ck_assert_uint_eq(got.word_count, announcement->word_count);
    ck_assert_uint_eq(got.variable_count, announcement->variable_count);
    assert_same_list(got.words, announcement->words, announcement->word_count);
    assert_same_list(got.environment, announcement->environment, announcement->variable_count);
    announcement_fini(&got);
    ck_assert_ptr_null(got.memory);
}

START_TEST(an_announcement_survives_the_way)
{
    struct announcement least = {.weight = 1,
                                 .priority = INT_MIN,
                                 .folder = "/",
                                 .words = (char *const *)words,
                                 .word_count = 1,
                                 .environment = (char *const *)variables};
    static const char *const one[] = {"", NULL}, *const none[] = {NULL};
    least.words = (char *const *)one;
    least.environment = (char *const *)none;
    assert_survives(&sample);
    assert_survives(&least);
    least.weight = ANNOUNCEMENT_WEIGHT_MAX;
    least.priority = INT_MAX;
    least.umask = 0777;
    assert_survives(&least);
}
END_TEST

static void assert_refused(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = exact_copy(bytes, size);
    struct announcement got;
    struct error error = {""};
    ck_assert_int_eq(announcement_unpack(&got, copy, size, &error), -1);
    ck_assert_str_ne(error.text, "");
    ck_assert_ptr_null(got.memory);
    free(copy);
}

START_TEST(what_is_cut_off_is_refused)
{
    size_t size;
    unsigned char *bytes = packed(&sample, &size);
    for (size_t shorter = 0; shorter < size; shorter++)
        assert_refused(bytes, shorter);
    free(bytes);
}
END_TEST

START_TEST(a_field_out_of_its_limits_is_refused)
{
    static const struct {
        size_t at;
        uint32_t value;
    } wrong[] = {{0, 0},          {0, ANNOUNCEMENT_WEIGHT_MAX + 1},
                 {8, 01000}, /* no umask */
                 {12, 0},         {12, 4},
                 {12, 6},         {12, UINT32_MAX},
                 {16, 2},         {16, 4},
                 {16, UINT32_MAX}};
    size_t size;
    unsigned char *bytes = packed(&sample, &size);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint32_t before = wire_get32(bytes + wrong[i].at);
        wire_put32(bytes + wrong[i].at, wrong[i].value);
        assert_refused(bytes, size);
        wire_put32(bytes + wrong[i].at, before);
    }
    bytes[20] = 'w'; /* not an absolute folder */
    assert_refused(bytes, size);
    bytes[20] = '/';
    bytes[size - 1] = 'x';
    assert_refused(bytes, size);
    free(bytes);
}
END_TEST

START_TEST(a_variable_has_a_name_and_a_value)
{
    static const char *const wrong[] = {"NAME", "=value", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *const list[] = {"HOME=/", wrong[i], NULL};
        struct announcement bad = sample;
        size_t size;
        bad.environment = (char *const *)list;
        bad.variable_count = 2;
        unsigned char *bytes = packed(&bad, &size);
        assert_refused(bytes, size);
        free(bytes);
    }
}
END_TEST

START_TEST(none_is_longer_than_the_limit)
{
    unsigned char *bytes = calloc(1, ANNOUNCEMENT_MAX + 1u);
    ck_assert_ptr_nonnull(bytes);
    assert_refused(bytes, ANNOUNCEMENT_MAX + 1u);
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("announcement");
    TCase *all = tcase_create("announcement");
    tcase_add_test(all, an_announcement_survives_the_way);
    tcase_add_test(all, what_is_cut_off_is_refused);
    tcase_add_test(all, a_field_out_of_its_limits_is_refused);
    tcase_add_test(all, a_variable_has_a_name_and_a_value);
    tcase_add_test(all, none_is_longer_than_the_limit);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
