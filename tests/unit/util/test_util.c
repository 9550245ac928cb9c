/* SPDX-License-Identifier: MIT */
/* util: the interval set against a bit set, statistics, published random vectors, digests, numbers. */
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "common/util/heap.h"
#include "common/util/list.h"
#include "common/util/number.h"
#include "common/util/plain.h"
#include "common/util/random.h"
#include "common/util/precedence.h"
#include "common/util/ranges.h"
#include "common/util/stats.h"
#include "common/util/twofold.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNIVERSE = 200 };

static void check_against_bits(const struct ranges *set, const bool *bits)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < UNIVERSE; i++) {
        ck_assert_int_eq(ranges_contains(set, i), bits[i]);
        total += bits[i];
    }
    ck_assert_uint_eq(ranges_total(set), total);
    for (size_t i = 0; i < ranges_length(set); i++) {
        ck_assert_uint_gt(ranges_at(set, i)->count, 0);
        if (i > 0)
            ck_assert_uint_gt(ranges_at(set, i)->first, ranges_at(set, i - 1)->first + ranges_at(set, i - 1)->count);
    }
}

static uint64_t set_bits(bool *bits, uint64_t first, uint64_t count, bool value)
{
    uint64_t changed = 0;
    for (uint64_t i = first; i < first + count; i++) {
        changed += bits[i] != value;
        bits[i] = value;
    }
    return changed;
}

START_TEST(ranges_behave_like_a_bit_set)
{
    struct ranges set;
    struct random random;
    bool bits[UNIVERSE] = {false};
    ranges_init(&set);
    random_init(&random, (uint64_t)_i);
    for (int step = 0; step < 400; step++) {
        uint64_t first = random_between(&random, 0, UNIVERSE - 1);
        uint64_t count = random_between(
            &random, 0, step % 3 == 0 ? UNIVERSE - first : (UNIVERSE - first < 5 ? UNIVERSE - first : 5));
        uint64_t changed;
        struct range taken;
        switch (random_between(&random, 0, 4)) {
        case 0:
        case 1:
            ck_assert_int_eq(ranges_add(&set, first, count, &changed), 0);
            ck_assert_uint_eq(changed, set_bits(bits, first, count, true));
            break;
        case 2:
        case 3:
            ck_assert_int_eq(ranges_remove(&set, first, count, &changed), 0);
            ck_assert_uint_eq(changed, set_bits(bits, first, count, false));
            break;
        default:
            if (ranges_take(&set, count, &taken)) {
                for (uint64_t i = 0; i < taken.first; i++)
                    ck_assert(!bits[i]);
                ck_assert_uint_eq(set_bits(bits, taken.first, taken.count, false), taken.count);
            }
        }
        check_against_bits(&set, bits);
    }
    ranges_fini(&set);
}
END_TEST

START_TEST(ranges_reach_the_end_of_64_bits)
{
    struct ranges set;
    uint64_t changed;
    struct range taken;
    ranges_init(&set);
    ck_assert_int_eq(ranges_add(&set, 0, UINT64_MAX, &changed), 0);
    ck_assert_uint_eq(changed, UINT64_MAX);
    ck_assert(ranges_take(&set, UINT64_MAX - 5, &taken));
    ck_assert_uint_eq(taken.count, UINT64_MAX - 5);
    ck_assert_uint_eq(ranges_total(&set), 5);
    ranges_fini(&set);
}
END_TEST

START_TEST(stats_match_the_two_pass_formulas)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct stats all, none;
    stats_init(&all);
    for (int i = 0; i < 8; i++)
        stats_add(&all, values[i]);
    ck_assert_double_eq_tol(all.mean, 5, 1e-12);
    ck_assert_double_eq_tol(stats_deviation(&all), 2, 1e-12);
    ck_assert_double_eq_tol(stats_cov(&all), 0.4, 1e-12);
    ck_assert_double_eq(all.minimum, 2);
    ck_assert_double_eq(all.maximum, 9);
    stats_init(&none);
    ck_assert_double_eq(stats_deviation(&none), 0);
    ck_assert_double_eq(stats_cov(&none), 0);
}
END_TEST

START_TEST(random_gives_the_published_vectors)
{
    /* splitmix64 from 1234567: the values every published implementation lists. */
    const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                                 16408922859458223821u};
    uint64_t state = 1234567;
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(splitmix64(&state), expected[i]);
    /* xoshiro256** from the state {1, 2, 3, 4}: the vector of the Rust and NumPy test suites. */
    const uint64_t xoshiro[] = {11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600};
    struct random random = {{1, 2, 3, 4}};
    for (int i = 0; i < 6; i++)
        ck_assert_uint_eq(random_next(&random), xoshiro[i]);
}
END_TEST

START_TEST(random_stays_in_its_interval)
{
    struct random random;
    bool seen[7] = {false};
    random_init(&random, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t value = random_between(&random, 3, 9);
        ck_assert(value >= 3 && value <= 9);
        seen[value - 3] = true;
        double u = random_uniform(&random);
        ck_assert(u >= 0 && u < 1);
    }
    for (int i = 0; i < 7; i++)
        ck_assert(seen[i]);
    random_between(&random, 0, UINT64_MAX);
    ck_assert_uint_eq(random_between(&random, 5, 5), 5);
}
END_TEST

START_TEST(digest_depends_on_place_but_not_on_the_cut)
{
    uint32_t records[100];
    for (uint32_t i = 0; i < 100; i++)
        records[i] = i * i;
    uint64_t whole = digest_records(0, 100, records, sizeof *records);
    uint64_t parts = digest_records(60, 40, records + 60, 4) + digest_records(0, 60, records, 4);
    ck_assert_uint_eq(whole, parts);
    ck_assert_uint_ne(whole, digest_records(0, 99, records, 4));
    ck_assert_uint_eq(digest_record(3, &records[3], 4), digest_records(3, 1, &records[3], 4));
    uint32_t swap = records[10];
    records[10] = records[11];
    records[11] = swap;
    ck_assert_uint_ne(whole, digest_records(0, 100, records, 4));
}
END_TEST

START_TEST(bounds_are_written_as_people_do)
{
    const struct {
        double bound;
        const char *text;
    } cases[] = {{0, "0"},         {-3, "-3"},           {0.25, "0.25"},   {1024, "1024"},     {999999, "999999"},
                 {1e6, "1e6"},     {1000001, "1000001"}, {1e18, "1e18"},   {0x1p19, "524288"}, {0x1p20, "2^20"},
                 {0x1p63, "2^63"}, {1e300, "1e+300"},    {-1e18, "-1e18"}, {-0.25, "-0.25"}};
    char text[NUMBER_BOUND_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(number_bound_text(cases[i].bound, text), cases[i].text);
}
END_TEST

START_TEST(numbers_are_strict)
{
    uint64_t u = 77;
    int64_t i;
    double d = 77;
    ck_assert(number_parse_u64("0", &u) == 0 && u == 0);
    ck_assert(number_parse_u64("18446744073709551615", &u) == 0 && u == UINT64_MAX);
    ck_assert(number_parse_u64("1e6", &u) == 0 && u == 1000000);
    ck_assert(number_parse_u64("2^20", &u) == 0 && u == 1048576);
    ck_assert(number_parse_u64("1_000", &u) == 0 && u == 1000);
    u = 77;
    const char *const bad[] = {"",     "-1",  "+1", " 1", "1 ", "1.5", "0x10", "18446744073709551616",
                               "1e20", "abc", "1_", "_1", "2^", "^2",  "nan",  "1e-3"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_assert_msg(number_parse_u64(bad[k], &u) == -1 && u == 77, "'%s' was accepted", bad[k]);
    ck_assert(number_parse_i64("-5", &i) == 0 && i == -5);
    ck_assert(number_parse_i64("9223372036854775808", &i) == -1);
    ck_assert(number_parse_i64("--5", &i) == -1);
    ck_assert(number_parse_real("-2.5e-3", &d) == 0 && d == -2.5e-3);
    const char *const unreal[] = {"", "nan", "inf", "0x1p3", "1e999", "1.2.3", "1 ", "e"};
    for (size_t k = 0; k < sizeof unreal / sizeof *unreal; k++)
        ck_assert_msg(number_parse_real(unreal[k], &d) == -1, "'%s' was accepted", unreal[k]);
}
END_TEST

START_TEST(errors_are_one_line)
{
    struct error error;
    ck_assert_int_eq(error_set(&error, "bad %s", "a\nb\x1b[m"), -1);
    ck_assert_str_eq(error.text, "bad a?b?[m");
    ck_assert_int_eq(error_set(NULL, "ignored"), -1);
    struct error unread;
    ck_assert_ptr_eq(error_or(&error, &unread), &error);
    ck_assert_ptr_eq(error_or(NULL, &unread), &unread);
    ck_assert_str_eq(unread.text, "");
}
END_TEST

START_TEST(words_stand_before_and_after_an_error)
{
    struct error error;
    char words[ERROR_TEXT_MAX];
    error_set(&error, "line");
    ck_assert_int_eq(error_before(&error, "%s\n: ", "it"), -1);
    ck_assert_int_eq(error_after(&error, "; accepted: %d", 7), -1);
    ck_assert_str_eq(error.text, "it?: line; accepted: 7");
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    error_set(&error, "%s", words);
    error_after(&error, "; accepted: 7");
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
    ck_assert_str_eq(error.text + sizeof error.text - 14, "; accepted: 7");
    error_before(&error, "it: ");
    ck_assert_mem_eq(error.text, "it: xx", 6);
    error_after(&error, "%s", words);
    ck_assert_str_eq(error.text, words);
    ck_assert_int_eq(error_before(NULL, "ignored"), -1);
    ck_assert_int_eq(error_after(NULL, "ignored"), -1);
}
END_TEST

START_TEST(lists_are_read_word_by_word)
{
    const char *list = "ab,,a word that is cut,", *const expected[] = {"ab", "", "a word ", ""};
    char word[8];
    size_t count = 0;
    ck_assert_uint_eq(list_count(list), 4);
    for (const char *rest = list; list_next(&rest, word, sizeof word); count++) {
        ck_assert_uint_lt(count, 4);
        ck_assert_str_eq(word, expected[count]);
    }
    ck_assert_uint_eq(count, 4);
    list = "";
    ck_assert(list_count(list) == 1 && list_next(&list, word, sizeof word) && word[0] == '\0');
    ck_assert(list == NULL && !list_next(&list, word, sizeof word));
}
END_TEST

START_TEST(arrays_grow_to_what_is_wanted)
{
    uint32_t *items = NULL;
    size_t count = 0;
    for (size_t now = 0; now < 300; now += 1 + now) {
        ck_assert_int_eq(grow_to(&items, count, now, sizeof *items), 0);
        ck_assert_ptr_nonnull(items);
        for (size_t i = 0; i < count; i++)
            ck_assert_uint_eq(items[i], 1000 + i);
        for (size_t i = count; i < now; i++)
            ck_assert_uint_eq(items[i], 0);
        for (size_t i = count; i < now; i++)
            items[i] = (uint32_t)(1000 + i);
        count = now;
    }
    free(items);
}
END_TEST

struct heap_item {
    uint64_t key;
    unsigned char more[16];
};

static bool key_before(const void *item, const void *other, const void *context)
{
    (void)context;
    return ((const struct heap_item *)item)->key < ((const struct heap_item *)other)->key;
}

START_TEST(heaps_give_the_first_first)
{
    const struct heap_kind kind = {sizeof(struct heap_item), (size_t)_i, key_before};
    struct heap_item items[UNIVERSE];
    struct random random;
    size_t count = 0;
    random_init(&random, 7);
    for (uint64_t sum = 0, took = 0, round = 0; round < 3 || count > 0; round++) {
        while (round < 3 && count < UNIVERSE) {
            items[count].key = (uint64_t)(random_uniform(&random) * 100);
            memset(items[count].more, (int)items[count].key, sizeof items->more);
            sum += items[count].key;
            heap_sift_up(&kind, NULL, items, count++);
        }
        uint64_t last = 0;
        for (size_t left = round < 3 ? UNIVERSE / 2 : count; left > 0; left--) {
            ck_assert_uint_ge(items[0].key, last);
            ck_assert_uint_eq(items[0].more[15], items[0].key);
            last = items[0].key;
            took += last;
            items[0] = items[--count];
            if (count > 0)
                heap_sift_down(&kind, NULL, items, count, 0);
        }
        ck_assert(count > 0 || took == sum);
    }
}
END_TEST

/* --- precedence --- */

START_TEST(precedence_tells_who_waits)
{
    struct precedence precedence;
    precedence_init(&precedence);
    ck_assert_int_eq(precedence_add(&precedence, 3, 1) | precedence_add(&precedence, 0, 3), 0);
    ck_assert_int_eq(precedence_add(&precedence, 2, 1) | precedence_add(&precedence, 3, 1), 0);
    ck_assert_int_eq(precedence_close(&precedence, 5), 0);
    const uint64_t begin[] = {0, 0, 3, 3, 4, 4}, waiting[] = {3, 2, 3, 0};
    ck_assert_uint_eq(precedence.count, 5);
    ck_assert_mem_eq(precedence.begin, begin, sizeof begin);
    ck_assert_mem_eq(precedence.waiting, waiting, sizeof waiting);
    uint64_t *circle;
    ck_assert_int_eq(precedence_find_circle(&precedence, &circle), 0);
    precedence_fini(&precedence);
}
END_TEST

/* Iterations 10, 20, 30 wait for one another; others wait for these, or are waited for. */
START_TEST(a_circle_is_found)
{
    const uint64_t pairs[][2] = {{10, 20}, {20, 30}, {30, 10}, {40, 30}, {5, 40}, {20, 1}, {2, 1}};
    struct precedence precedence;
    uint64_t *circle;
    precedence_init(&precedence);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        ck_assert_int_eq(precedence_add(&precedence, pairs[i][0], pairs[i][1]), 0);
    ck_assert_int_eq(precedence_close(&precedence, 50), 0);
    ck_assert_int_eq(precedence_find_circle(&precedence, &circle), 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(circle[(i + 1) % 3], circle[i] == 30 ? 10 : circle[i] + 10);
    free(circle);
    precedence_fini(&precedence);
    ck_assert_int_eq(precedence_add(&precedence, 1, 1), 0);
    ck_assert_int_eq(precedence_close(&precedence, 2), 0);
    ck_assert_int_eq(precedence_find_circle(&precedence, &circle), 1);
    ck_assert_uint_eq(circle[0], 1);
    free(circle);
    precedence_fini(&precedence);
}
END_TEST

static double distance(struct twofold a, struct twofold b)
{
    return fabs(twofold_subtract(a, b).high);
}

START_TEST(decimals_are_those_that_were_written)
{
    struct twofold number;
    ck_assert(twofold_of_decimal(&number, 0.29));
    ck_assert_double_lt(distance(twofold_multiply(number, twofold_of(1e15)), twofold_of(29e13)), 1e-15);
    ck_assert(twofold_of_decimal(&number, 1e-9));
    ck_assert_double_lt(distance(twofold_multiply(number, twofold_of(1e18)), twofold_of(1e9)), 1e-20);
    ck_assert(twofold_of_decimal(&number, 0.333333333333333));
    ck_assert_double_lt(distance(twofold_multiply(number, twofold_of(1e15)), twofold_of(333333333333333)), 1e-15);
    ck_assert(!twofold_of_decimal(&number, 1.0 / 3));
    ck_assert(number.high == 1.0 / 3 && number.low == 0);
    ck_assert(twofold_of_decimal(&number, 0x1p60) && number.low == 0);
}
END_TEST

START_TEST(twofold_numbers_have_twice_the_digits)
{
    struct twofold large = twofold_of_integer(UINT64_MAX), root = twofold_root(twofold_of(2));
    ck_assert(large.high == 0x1p64 && large.low == -1);
    ck_assert_double_lt(distance(twofold_multiply(root, root), twofold_of(2)), 1e-30);
    struct twofold third = twofold_divide(twofold_of(1), twofold_of(3));
    ck_assert_double_lt(distance(twofold_add(third, twofold_add(third, third)), twofold_of(1)), 1e-30);
    struct twofold below = twofold_subtract(twofold_of(7), twofold_of(1e-20));
    ck_assert(twofold_floor(below).high == 6 && twofold_floor(twofold_negative(below)).high == -7);
    ck_assert(twofold_floor(twofold_subtract(twofold_of(0x1p60), twofold_of(0.5))).low == -1);
    ck_assert(twofold_is_below(below, twofold_of(7)) && !twofold_is_below(twofold_of(7), below));
}
END_TEST

/* What plain() makes of some bytes. */
#define PLAIN(from, to)                                                                                                \
    do {                                                                                                               \
        char text[80];                                                                                                 \
        strcpy(text, from);                                                                                            \
        ck_assert_str_eq(plain(text), to);                                                                             \
    } while (0)

/* Each byte by itself, in a word, and each code that has two bytes or is among those that change the direction. */
START_TEST(plain_text_has_nothing_that_a_terminal_obeys)
{
    for (unsigned byte = 1; byte < 256; byte++) {
        char text[] = {'a', (char)byte, 'b', '\0'};
        const char shown = (char)(byte == '\t' ? ' ' : byte < ' ' || byte >= 0x7f ? '?' : byte);
        ck_assert_str_eq(plain(text), ((char[]){'a', shown, 'b', '\0'}));
        ck_assert_uint_eq(plain_length((char[]){(char)byte, '\0'}), byte >= ' ' && byte < 0x7f);
    }
    for (unsigned code = 0x80; code < 0x800; code++) {
        const char two[] = {(char)(0xc0 | code >> 6), (char)(0x80 | (code & 0x3f)), '\0'};
        char text[3];
        const bool is_shown = code >= 0xa0 && code != 0x61c;
        ck_assert_str_eq(plain(strcpy(text, two)), is_shown ? two : "?");
    }
    for (unsigned code = 0x2000; code < 0x2080; code++) {
        const char three[] = {'\xe2', (char)(0x80 | (code >> 6 & 1)), (char)(0x80 | (code & 0x3f)), '\0'};
        char text[4];
        const bool is_obeyed = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                               (code >= 0x2066 && code <= 0x2069);
        ck_assert_str_eq(plain(strcpy(text, three)), is_obeyed ? "?" : three);
    }
}
END_TEST

START_TEST(plain_text_is_utf8)
{
    PLAIN("", "");
    PLAIN("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    PLAIN("bad \xc2\x9b"
          "31mred \x1b[31mred\n",
          "bad ?31mred ?[31mred?");
    PLAIN("caf\xe9 x", "caf? x");
    PLAIN("\xe2\x82", "?"); /* cut */
    PLAIN("\xe2\x82z", "?z");
    PLAIN("\xc0\x9b"
          "a\xe0\x82\x9b"
          "a\xf0\x80\x82\x9b"
          "a",
          "?a?a?a"); /* overlong */
    PLAIN("\xed\xa0\x80|\xf4\x90\x80\x80|\xff\xbf|\xef\xbf\xbe", "?|?|?|?");
    ck_assert_uint_eq(plain_columns("caf\xc3\xa9 \xe2\x82\xac\xc2\x9b\xe2"), 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("util");
    TCase *all = tcase_create("util");
    tcase_add_loop_test(all, ranges_behave_like_a_bit_set, 1, 9);
    tcase_add_test(all, ranges_reach_the_end_of_64_bits);
    tcase_add_test(all, precedence_tells_who_waits);
    tcase_add_test(all, a_circle_is_found);
    tcase_add_test(all, stats_match_the_two_pass_formulas);
    tcase_add_test(all, random_gives_the_published_vectors);
    tcase_add_test(all, random_stays_in_its_interval);
    tcase_add_test(all, digest_depends_on_place_but_not_on_the_cut);
    tcase_add_test(all, bounds_are_written_as_people_do);
    tcase_add_test(all, numbers_are_strict);
    tcase_add_test(all, lists_are_read_word_by_word);
    tcase_add_test(all, errors_are_one_line);
    tcase_add_test(all, words_stand_before_and_after_an_error);
    tcase_add_test(all, plain_text_has_nothing_that_a_terminal_obeys);
    tcase_add_test(all, plain_text_is_utf8);
    tcase_add_test(all, decimals_are_those_that_were_written);
    tcase_add_test(all, twofold_numbers_have_twice_the_digits);
    tcase_add_test(all, arrays_grow_to_what_is_wanted);
    tcase_add_loop_test(all, heaps_give_the_first_first, 2, 5);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
