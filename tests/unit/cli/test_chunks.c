/* SPDX-License-Identifier: MIT */
/* The parts of `hdss chunks` that start nothing: a series, and the points of a drawn line. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/cli/curve.h"
#include "deploy/cli/series.h"
#include "tests/lib/suite.h"

#include <inttypes.h>
#include <string.h>

static char text[1 << 20];

static FILE *open_text(void)
{
    memset(text, 0, sizeof text);
    return fmemopen(text, sizeof text, "w");
}

static const char *curve_of(struct curve *curve, const uint64_t *sizes, size_t count)
{
    FILE *file = open_text();
    curve_begin(curve, file);
    for (size_t i = 0; i < count; i++)
        curve_take(curve, sizes[i]);
    curve_end(curve);
    fclose(file);
    return text;
}

START_TEST(points_are_where_the_size_changes)
{
    static struct curve curve;
    static const uint64_t sizes[] = {5, 5, 5, 2, 2, 1};
    ck_assert_str_eq(curve_of(&curve, sizes, 0), "");
    ck_assert_str_eq(curve_of(&curve, sizes, 1), "0.5 5\n1.5 5\n");
    ck_assert_str_eq(curve_of(&curve, sizes, 6), "0.5 5\n3.5 2\n5.5 1\n6.5 1\n");
    ck_assert_uint_eq(curve.chunks, 6);
    ck_assert_uint_eq(curve.least, 1);
    ck_assert_uint_eq(curve.most, 5);
    ck_assert(!curve.grouped);
}
END_TEST

static unsigned count_lines(void)
{
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines;
}

/* Sizes alternate between 1 and 3, and once the size is 9: a range is all that is left of a group, and no extreme is
 * lost. */
START_TEST(a_long_series_becomes_ranges)
{
    static struct curve curve;
    enum { CHUNKS = 1 << 22, ODD_ONE = 3000001 };
    FILE *file = open_text();
    curve_begin(&curve, file);
    for (uint64_t i = 0; i < CHUNKS; i++)
        curve_take(&curve, i == ODD_ONE ? 9 : i % 2 == 0 ? 1 : 3);
    curve_end(&curve);
    fclose(file);
    ck_assert(curve.grouped);
    ck_assert_uint_gt(count_lines(), CURVE_EXACT);
    ck_assert_uint_lt(count_lines(), CURVE_EXACT + 3 * 11 * CURVE_EXACT / 2 + 10);
    ck_assert_uint_le(curve.mark_count, CURVE_MARKS);
    ck_assert_uint_eq(curve.most, 9);
    ck_assert_ptr_nonnull(strstr(text, "\n2046.5 1\n2047.5 3\n2048.5 1\n2048.5 3\n2050.5 1\n"));
    const char *odd = strstr(text, " 9\n");
    ck_assert_ptr_nonnull(odd);
    while (odd > text && odd[-1] != '\n')
        odd--;
    ck_assert_uint_eq(strtoull(odd, NULL, 10), ODD_ONE - ODD_ONE % (2 * CURVE_EXACT / 2));
}
END_TEST

START_TEST(marks_are_few_and_along_the_whole_series)
{
    static struct curve curve;
    FILE *file = open_text();
    curve_begin(&curve, file);
    for (uint64_t i = 0; i < 1000000; i++)
        curve_take(&curve, 1);
    curve_end(&curve);
    fclose(file);
    ck_assert_str_eq(text, "0.5 1\n1000000.5 1\n");
    ck_assert_uint_gt(curve.mark_count, 64);
    ck_assert_uint_gt(curve.marks[curve.mark_count - 1].step, 950000);
    for (unsigned i = 1; i < curve.mark_count; i++)
        ck_assert_uint_lt(curve.marks[i - 1].step, curve.marks[i].step);
}
END_TEST

/* With more of another size before and behind. */
START_TEST(equal_chunks_are_taken_at_once)
{
    static const uint64_t counts[] = {0, 1, 2, 63, 64, 65, 2047, 2048, 2049, 4095, 4096, 100000, 1 << 20};
    static struct curve one_by_one, at_once;
    static char expected[sizeof text];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (unsigned before = 0; before < 3; before++) {
            FILE *file = open_text();
            curve_begin(&one_by_one, file);
            for (uint64_t i = 0; i < before + counts[c]; i++)
                curve_take(&one_by_one, i < before ? 9 : 7);
            curve_take(&one_by_one, 5);
            curve_end(&one_by_one);
            fclose(file);
            memcpy(expected, text, sizeof text);
            file = open_text();
            curve_begin(&at_once, file);
            curve_take_equal(&at_once, 9, before);
            curve_take_equal(&at_once, 7, counts[c]);
            curve_take(&at_once, 5);
            curve_end(&at_once);
            fclose(file);
            ck_assert_str_eq(text, expected);
            ck_assert_uint_eq(at_once.chunks, one_by_one.chunks);
            ck_assert(at_once.least == one_by_one.least && at_once.most == one_by_one.most);
            ck_assert_uint_eq(at_once.mark_count, one_by_one.mark_count);
            ck_assert_mem_eq(at_once.marks, one_by_one.marks, at_once.mark_count * sizeof *at_once.marks);
        }
}
END_TEST

/* Both forms cover the loop; the closed one from the steps alone. */
START_TEST(series_cover_the_loop)
{
    struct series_setup setup = {.config = {.iterations = 1000, .workers = 4}, .form = (enum sched_form)_i};
    struct series series;
    struct chunk chunk;
    uint64_t covered = 0;
    ck_assert_int_eq(series_init(&series, &setup, "gss", NULL), 0);
    for (unsigned worker = 0; series_next(&series, &chunk); worker = (worker + 1) % 4) {
        ck_assert_uint_eq(chunk.first, covered);
        ck_assert_uint_eq(chunk.worker, worker + 1);
        covered += chunk.count;
    }
    ck_assert_uint_eq(covered, 1000);
    ck_assert(!series_next(&series, &chunk));
    series_fini(&series);
}
END_TEST

START_TEST(series_that_cannot_be_are_refused)
{
    struct series_setup setup = {.config = {.iterations = 10, .workers = 2}, .form = SCHED_FORM_CLOSED};
    struct series series;
    struct error error;
    ck_assert_int_eq(series_init(&series, &setup, "dfss", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "closed"));
    ck_assert_int_eq(series_init(&series, &setup, "nope", &error), -1);
    setup.config.weighting = SCHED_WEIGHTING_POWER;
    ck_assert_int_eq(series_init(&series, &setup, "gss", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "--weighting power"));
}
END_TEST

/* What is said to be equal is, in both forms, for every technique; of those with one size it is said. */
START_TEST(equal_series_are_known)
{
    static const char *const constant[] = {"static", "ss", "css:chunk=7", "mfsc", "fsc:h=1,sigma=2", "rnd:lo=3,hi=3"};
    static const char *const others[] = {
        "gss", "tss",       "tss:first=30,last=30", "tfss", "fac2", "fiss", "viss", "rnd", "tap", "fsc", "af",
        "wf",  "pls:swr=1", "tap:mu=1,sigma=0.1"};
    enum { CONSTANT = sizeof constant / sizeof *constant, OTHERS = sizeof others / sizeof *others };
    unsigned known = 0;
    for (size_t s = 0; s < CONSTANT + OTHERS; s++)
        for (uint64_t iterations = 0; iterations < 1500; iterations += 7)
            for (int form = 0; form < 2; form++)
                for (uint64_t least = 1; least < 200; least += 90) {
                    struct series_setup setup = {.config = {.iterations = iterations, .workers = 4, .min_chunk = least},
                                                 .form = (enum sched_form)form};
                    struct series series;
                    struct chunk chunk;
                    struct error error;
                    uint64_t size;
                    const char *spec = s < CONSTANT ? constant[s] : others[s - CONSTANT];
                    if (series_init(&series, &setup, spec, &error) < 0)
                        continue; /* no closed form */
                    bool equal = series_is_equal(&series, &size);
                    if (equal != (iterations > 0) && s < CONSTANT)
                        ck_abort_msg("%s N=%" PRIu64 ": not known", spec, iterations);
                    known += equal;
                    while (equal && series_next(&series, &chunk))
                        if (chunk.count != size && (chunk.first + chunk.count != iterations || chunk.count > size))
                            ck_abort_msg("%s N=%" PRIu64 " form %d: %" PRIu64 " is not %" PRIu64, spec, iterations,
                                         form, chunk.count, size);
                    series_fini(&series);
                }
    ck_assert_uint_gt(known, 0);
    struct series_setup weighted = {.config = {.iterations = 100, .workers = 2, .weighting = SCHED_WEIGHTING_POWER}};
    struct series series;
    struct error error;
    uint64_t size;
    ck_assert_int_eq(series_init(&series, &weighted, "ss", &error), 0);
    ck_assert(!series_is_equal(&series, &size));
    series_fini(&series);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chunks");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, points_are_where_the_size_changes);
    tcase_add_test(tests, a_long_series_becomes_ranges);
    tcase_add_test(tests, marks_are_few_and_along_the_whole_series);
    tcase_add_test(tests, equal_chunks_are_taken_at_once);
    tcase_add_loop_test(tests, series_cover_the_loop, 0, 2);
    tcase_add_test(tests, equal_series_are_known);
    tcase_add_test(tests, series_that_cannot_be_are_refused);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
