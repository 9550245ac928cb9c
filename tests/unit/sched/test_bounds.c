/* SPDX-License-Identifier: MIT */
/* The boundaries of the closed forms: each chunk ends where the next one starts, from 0 to N, with no table where the
 * technique has a formula. A series that is too long to be walked is looked at in many places. */
#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <string.h>

static const uint64_t loops[] = {0, 1, 2, 3, 7, 10, 1000, (UINT64_C(1) << 31) + 7, UINT64_C(1000000000000)};
static const unsigned worker_counts[] = {1, 2, 3, 5, 64, 4096};
enum { LOOPS = sizeof loops / sizeof *loops, WORKER_COUNTS = sizeof worker_counts / sizeof *worker_counts };

static const struct {
    const char *spec;
    bool table;
} series[] = {
    {"static", false},
    {"ss", false},
    {"css", false},
    {"css:chunk=3", false},
    {"css:chunk=2^63", false},
    {"fsc:h=0.01,sigma=0.1", false},
    {"mfsc", false},
    {"gss", true},
    {"tss", false},
    {"tss:decrement=real", false},
    {"tss:last=100", false},
    {"tss:last=100,decrement=real", false},
    {"tss:first=1250,last=80", false},
    {"tss:first=1e13,last=10,decrement=real", false},
    {"tss:first=2^63,last=2^62", false},
    {"tss:first=2^63,last=1,decrement=real", false},
    {"tfss", false},
    {"tfss:decrement=real", false},
    {"tfss:last=100", false},
    {"tfss:last=100,decrement=real", false},
    {"tfss:first=1250,last=80", false},
    {"tfss:first=1e13,last=10,decrement=real", false},
    {"tfss:first=2^63,last=2^62", false},
    {"fac2", false},
    {"fiss", false},
    {"fiss:stages=2", false},
    {"fiss:stages=40", false},
    {"fiss:stages=2^63", false},
    {"viss", false},
    {"viss:x=1", false},
    {"viss:x=1000", false},
    {"viss:x=2^63", false},
    {"rnd", true},
    {"rnd:seed=5", true},
    {"rnd:lo=3,hi=3", false},
    {"rnd:lo=2^63,hi=2^63", false},
    {"pls:swr=0.7", true},
    {"pls:swr=0", true},
    {"pls:swr=1", true},
    {"tap:mu=0.1,sigma=1e-7,alpha=1", true},
    {"mfac:mu=0.1,sigma=1e-7", true},
};
enum { SERIES = sizeof series / sizeof *series };

/* Steps looked at one by one from each place. */
enum { WALK = 300, PLACES = 20 };

static struct sched_bounds bounds_of(const struct sched *sched)
{
    struct sched_bounds bounds;
    struct error error;
    if (sched_bounds_init(&bounds, sched, &error) < 0)
        ck_abort_msg("%s", error.text);
    return bounds;
}

static void check_chunk(const struct sched_bounds *bounds, const char *spec, uint64_t step)
{
    const struct sched *sched = bounds->sched;
    uint64_t start = sched_bounds_start(bounds, step), end = sched_bounds_start(bounds, step + 1);
    uint64_t chunk = sched_at(sched, step), rest = sched->iterations - start;
    chunk = chunk < rest ? chunk : rest;
    if (end - start != chunk)
        ck_abort_msg("%s N=%" PRIu64 " P=%u min_chunk=%" PRIu64 " i=%" PRIu64 ": [%" PRIu64 ", %" PRIu64
                     ") is not %" PRIu64,
                     spec, sched->iterations, sched->workers, sched->min_chunk, step, start, end, chunk);
}

static void check_walk(const struct sched_bounds *bounds, const char *spec, uint64_t first)
{
    for (uint64_t i = 0; i < WALK && first + i < bounds->count; i++)
        check_chunk(bounds, spec, first + i);
}

static void check_ends(const struct sched_bounds *bounds, const char *spec)
{
    uint64_t iterations = bounds->sched->iterations, count = bounds->count;
    bool right = sched_bounds_start(bounds, 0) == 0 && (count > 0) == (iterations > 0) &&
                 (count == 0 || sched_bounds_start(bounds, count - 1) < iterations) &&
                 sched_bounds_start(bounds, count) == iterations &&
                 sched_bounds_start(bounds, count + 1) == iterations &&
                 sched_bounds_start(bounds, UINT64_MAX) == iterations;
    if (!right)
        ck_abort_msg("%s N=%" PRIu64 " P=%u min_chunk=%" PRIu64 ": %" PRIu64 " chunks", spec, iterations,
                     bounds->sched->workers, bounds->sched->min_chunk, count);
}

static void check_bounds(const char *spec, bool table, const struct sched_config *config)
{
    struct sched sched = loop_with(spec, config);
    struct sched_bounds bounds = bounds_of(&sched);
    struct random random;
    random_init(&random, config->iterations + config->workers);
    check_ends(&bounds, spec);
    check_walk(&bounds, spec, 0);
    check_walk(&bounds, spec, bounds.count > WALK ? bounds.count - WALK : 0);
    for (int i = 0; i < PLACES && bounds.count > WALK; i++) {
        uint64_t most = bounds.count >> random_between(&random, 0, 40); /* early and late */
        check_walk(&bounds, spec, random_between(&random, 0, most));
    }
    ck_assert_msg(table || bounds.table == NULL, "%s: a table", spec);
    sched_bounds_fini(&bounds);
    sched_fini(&sched);
}

START_TEST(chunks_follow_one_another)
{
    for (size_t n = 0; n < LOOPS; n++)
        for (size_t w = 0; w < WORKER_COUNTS; w++) {
            struct sched_config config = {.iterations = loops[n], .workers = worker_counts[w], .min_chunk = 1};
            check_bounds(series[_i].spec, series[_i].table, &config);
            config.min_chunk = 80;
            check_bounds(series[_i].spec, series[_i].table, &config);
        }
}
END_TEST

/* The sum of the chunks as they come, over the whole of series that are short enough. */
START_TEST(starts_are_the_sums_of_the_chunks)
{
    static const uint64_t sizes[] = {1000, 12345, 1000003};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (unsigned workers = 1; workers < 12; workers += 2)
            for (uint64_t min_chunk = 1; min_chunk < 100; min_chunk += 31) {
                struct sched_config config = {.iterations = sizes[n], .workers = workers, .min_chunk = min_chunk};
                struct sched sched = loop_with(series[_i].spec, &config);
                struct sched_bounds bounds = bounds_of(&sched);
                uint64_t sum = 0, chunks = 0;
                for (; sum < sizes[n]; sum += sched_at(&sched, chunks++))
                    if (sched_bounds_start(&bounds, chunks) != sum)
                        ck_abort_msg("%s N=%" PRIu64 " P=%u i=%" PRIu64, series[_i].spec, sizes[n], workers, chunks);
                ck_assert_uint_eq(bounds.count, chunks);
                sched_bounds_fini(&bounds);
                sched_fini(&sched);
            }
}
END_TEST

START_TEST(the_longest_loops_have_bounds)
{
    static const uint64_t least[] = {1, 80, UINT64_C(1) << 40, UINT64_MAX};
    static const unsigned many[] = {1, 3, 4096, SCHED_WORKERS_MAX};
    for (uint64_t less = 0; less < 2; less++)
        for (size_t w = 0; w < sizeof many / sizeof *many; w++)
            for (size_t m = 0; m < sizeof least / sizeof *least; m++) {
                if (series[_i].table && many[w] == SCHED_WORKERS_MAX &&
                    least[m] <= 80) /* too many chunks for a table */
                    continue;
                struct sched_config config = {
                    .iterations = SCHED_ITERATIONS_MAX - less, .workers = many[w], .min_chunk = least[m]};
                check_bounds(series[_i].spec, series[_i].table, &config);
            }
}
END_TEST

START_TEST(every_closed_form_is_looked_at)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t t = 0; t < count; t++) {
        bool found = techniques[t]->at == NULL;
        for (size_t s = 0; s < SERIES; s++)
            found = found || strncmp(series[s].spec, techniques[t]->name, strcspn(series[s].spec, ":")) == 0;
        ck_assert_msg(found, "%s has no bounds here", techniques[t]->name);
    }
}
END_TEST

START_TEST(single_iterations_take_no_memory)
{
    struct sched sched = loop_of("ss", SCHED_ITERATIONS_MAX, 64);
    struct sched_bounds bounds = bounds_of(&sched);
    ck_assert_ptr_null(bounds.table);
    ck_assert_uint_eq(bounds.count, SCHED_ITERATIONS_MAX);
    ck_assert_uint_eq(sched_bounds_start(&bounds, UINT64_C(999999999999)), UINT64_C(999999999999));
    sched_bounds_fini(&bounds);
    sched_fini(&sched);
}
END_TEST

START_TEST(too_many_chunks_for_a_table_are_refused)
{
    struct sched sched = loop_of("rnd:lo=1,hi=2", UINT64_C(1000000000000), 64);
    struct sched_bounds bounds;
    struct error error;
    ck_assert_int_eq(sched_bounds_init(&bounds, &sched, &error), -1);
    ck_assert_str_eq(
        error.text, "technique rnd cuts 1000000000000 iterations into more than 67108864 chunks, which is too many for "
                    "its closed form: accepted are fewer, with a larger min_chunk");
    ck_assert_ptr_null(bounds.table);
    sched_fini(&sched);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-bounds");
    TCase *all = tcase_create("bounds");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, chunks_follow_one_another, 0, SERIES);
    tcase_add_loop_test(all, starts_are_the_sums_of_the_chunks, 0, SERIES);
    tcase_add_loop_test(all, the_longest_loops_have_bounds, 0, SERIES);
    tcase_add_test(all, every_closed_form_is_looked_at);
    tcase_add_test(all, single_iterations_take_no_memory);
    tcase_add_test(all, too_many_chunks_for_a_table_are_refused);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
