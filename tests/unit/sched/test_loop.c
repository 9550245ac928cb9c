/* SPDX-License-Identifier: MIT */
/* One loop: bad configurations, the clamping, the weighting mechanism, stages, work that comes back, and powers from
 * speeds. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <math.h>
#include <string.h>

static void check_refused(const char *text, struct sched_config config, const char *message)
{
    struct sched_spec spec = spec_of(text);
    struct sched sched;
    struct error error;
    ck_assert_int_eq(sched_init(&sched, &spec, &config, &error), -1);
    ck_assert_str_eq(error.text, message);
    ck_assert(sched.powers == NULL && sched.own == NULL);
}

START_TEST(bad_configurations_get_one_line)
{
    const double powers[][2] = {{1, 0}, {-1, 1}, {1, NAN}, {INFINITY, 1}};
    struct sched_config config = {.iterations = 100, .workers = 2};
    check_refused("gss", (struct sched_config){.iterations = 100},
                  "workers=0 is not accepted: an integer from 1 to 16777216");
    check_refused("ss", (struct sched_config){.iterations = SCHED_ITERATIONS_MAX + 1, .workers = 1},
                  "a loop of 9223372036854775809 iterations is too long: accepted is up to 2^63");
    check_refused("ss", (struct sched_config){.iterations = 1, .workers = SCHED_WORKERS_MAX + 1},
                  "workers=16777217 is not accepted: an integer from 1 to 16777216");
    check_refused("gss", (struct sched_config){.iterations = 1, .workers = 1, .weighting = SCHED_WEIGHTING_ACP},
                  "weighting acp is not available here: it needs the load of each worker's core, which only a run "
                  "measures; accepted are none, power");
    config.powers = powers[0];
    check_refused("dgss", config, "power 0 of worker 2 is not accepted: a number from 1e-09 to 1e+09");
    config.powers = powers[1];
    check_refused("gss", config, "power -1 of worker 1 is not accepted: a number from 1e-09 to 1e+09");
    config.powers = powers[2];
    check_refused("dgss", config, "power nan of worker 2 is not accepted: a number from 1e-09 to 1e+09");
    config.powers = powers[3];
    check_refused("dgss", config, "power inf of worker 1 is not accepted: a number from 1e-09 to 1e+09");
}
END_TEST

START_TEST(a_trapezoid_does_not_rise)
{
    struct sched_config config = {.iterations = 1000, .workers = 4};
    check_refused("tss:first=10,last=80", config,
                  "technique tss: first=10 is smaller than last=80: accepted is first >= last");
    check_refused("dtss:first=10,last=80", config,
                  "technique dtss: first=10 is smaller than last=80: accepted is first >= last");
    /* A default that is smaller than the last chunk asked for gives way. */
    struct sched sched = loop_of("tss:last=300", 1000, 4);
    ck_assert_uint_eq(sched_next(&sched, 0), 300);
    sched_fini(&sched);
}
END_TEST

START_TEST(an_interval_is_not_empty)
{
    struct sched_config config = {.iterations = 1000, .workers = 4};
    check_refused("rnd:lo=5,hi=4", config, "technique rnd: lo=5 is larger than hi=4: accepted is lo <= hi");
    check_refused("tfss:first=10,last=80", config,
                  "technique tfss: first=10 is smaller than last=80: accepted is first >= last");
}
END_TEST

START_TEST(the_static_part_of_pls_may_be_measured)
{
    struct sched_config config = {.iterations = 1000, .workers = 4};
    struct sched_value_used used[SCHED_PARAMS_MAX];
    check_refused("pls", config,
                  "technique pls: swr is measured in a run: accepted here is swr= with a number from 0 to 1");
    config.swr = 0.7;
    struct sched sched = loop_with("pls:swr=measure", &config);
    ck_assert(sched_spec_probes(&sched.spec));
    ck_assert_uint_eq(sched_values_used(&sched, used), 1);
    ck_assert_str_eq(used[0].name, "swr");
    ck_assert_double_eq(used[0].value, 0.7);
    ck_assert_uint_eq(sched_next(&sched, 0), 175);
    ck_assert_uint_eq(sched_at(&sched, 4), 75);
    sched_fini(&sched);
    sched = loop_with("pls:swr=0.5", &config); /* what is given counts */
    ck_assert(!sched_spec_probes(&sched.spec));
    ck_assert_uint_eq(sched_values_used(&sched, used), 0);
    ck_assert_uint_eq(sched_next(&sched, 0), 125);
    sched_fini(&sched);
}
END_TEST

START_TEST(chunks_are_clamped)
{
    struct sched_config config = {.iterations = 100, .workers = 4, .min_chunk = 30};
    struct sched sched = loop_with("gss", &config);
    ck_assert_uint_eq(sched_at(&sched, 0), 30);
    ck_assert_uint_eq(sched_next(&sched, 0), 30);
    ck_assert_uint_eq(sched_next(&sched, 1), 30);
    ck_assert_uint_eq(sched_next(&sched, 2), 30);
    ck_assert_uint_eq(sched_next(&sched, 3), 10);
    ck_assert_uint_eq(sched_next(&sched, 0), 0);
    ck_assert_uint_eq(sched.step, 4);
    sched_fini(&sched);
    sched = loop_of("gss", 0, 4);
    ck_assert_uint_eq(sched_next(&sched, 0), 0);
    ck_assert_uint_eq(sched_at(&sched, 0), 1);
    sched_fini(&sched);
}
END_TEST

START_TEST(chunks_have_a_greatest_size)
{
    const struct sched_config config = {.iterations = 1000, .workers = 4, .min_chunk = 20, .max_chunk = 100};
    struct sched sched = loop_with("gss", &config);
    uint64_t sum = 0, before = 100;
    for (uint64_t chunk = 0; (chunk = sched_next(&sched, 0)) > 0; before = chunk) {
        ck_assert_uint_le(chunk, before);
        ck_assert(chunk >= 20 || sched.remaining == 0);
        ck_assert(sum >= 700 || chunk == 100);
        sum += chunk;
    }
    ck_assert_uint_eq(sum, 1000);
    struct error error;
    ck_assert_int_lt(sched_check_closed(&sched, &error), 0);
    sched_fini(&sched);
}
END_TEST

START_TEST(weighting_guards_the_product)
{
    /* 0.29 * 100 is 28.999999999999996 in doubles. */
    const double powers[] = {0.29, 1, 0.57, 1e9};
    struct sched_config config = {
        .iterations = 100000, .workers = 4, .powers = powers, .weighting = SCHED_WEIGHTING_POWER};
    struct sched sched = loop_with("css:chunk=100", &config);
    ck_assert_uint_eq(sched_next(&sched, 0), 29);
    ck_assert_uint_eq(sched_next(&sched, 1), 100);
    ck_assert_uint_eq(sched_next(&sched, 2), 57);
    ck_assert_uint_eq(sched.remaining, 100000 - 29 - 100 - 57);
    ck_assert_uint_eq(sched_next(&sched, 3), 100000 - 29 - 100 - 57);
    sched_fini(&sched);
}
END_TEST

START_TEST(weighting_leaves_the_weighted_by_nature_alone)
{
    const double powers[] = {1, 2, 3, 2};
    const char *const specs[] = {"dtss", "dfss", "dgss"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        struct sched_config config = {.iterations = 1000, .workers = 4, .powers = powers};
        struct sched plain = loop_with(specs[s], &config);
        config.weighting = SCHED_WEIGHTING_POWER;
        struct sched weighted = loop_with(specs[s], &config);
        for (unsigned i = 0; plain.remaining > 0; i++)
            ck_assert_uint_eq(sched_next(&plain, i % 4), sched_next(&weighted, i % 4));
        sched_fini(&plain);
        sched_fini(&weighted);
    }
}
END_TEST

/* Whole powers: the closed formula is the loop of the paper, one step of the trapezoid for each unit of power. */
static struct sched loop_by_acp(const char *spec, uint64_t iterations, unsigned workers, const double *powers)
{
    return loop_with(spec, &(struct sched_config){.iterations = iterations,
                                                  .workers = workers,
                                                  .powers = powers,
                                                  .weighting = SCHED_WEIGHTING_ACP,
                                                  .loads = true});
}

START_TEST(acp_is_the_power_over_the_load)
{
    const double powers[] = {1, 0.8, 1, 0.8};
    struct sched sched = loop_by_acp("css:chunk=1000", 100000, 4, powers);
    ck_assert_uint_eq(sched_next(&sched, 0), 1000);
    ck_assert_uint_eq(sched_next(&sched, 1), 800);
    sched_set_load(&sched, 1, 2);
    sched_set_load(&sched, 2, 1.5);
    ck_assert_uint_eq(sched_next(&sched, 1), 400);
    ck_assert_uint_eq(sched_next(&sched, 2), 666); /* both are real numbers: their floors would give 0 and 1000 */
    ck_assert_uint_eq(sched_next(&sched, 3), 800);
    ck_assert_uint_eq(sched.remaining, 100000 - 1000 - 800 - 400 - 666 - 800);
    sched_set_load(&sched, 1, 256);
    ck_assert_uint_eq(sched_next(&sched, 1), 3);
    sched_set_load(&sched, 1, 1e6);
    ck_assert_uint_eq(sched_next(&sched, 1), 1); /* never none */
    sched_fini(&sched);
    sched = loop_by_acp("css:chunk=100", 1000, 2, (const double[]){0.87, 0.87});
    sched_set_load(&sched, 0, 3);
    ck_assert_uint_eq(sched_next(&sched, 0), 29); /* 28.999999999999996 in doubles */
    sched_fini(&sched);
}
END_TEST

START_TEST(acp_divides_the_weighted_by_nature)
{
    const double powers[] = {1, 2, 3, 2};
    const char *const by_nature[] = {"dtss", "dfss", "dgss", "wf", "awf", "awf-c"};
    for (size_t s = 0; s < sizeof by_nature / sizeof *by_nature; s++) {
        struct sched_config config = {.iterations = 1000000, .workers = 4, .powers = powers};
        struct sched plain = loop_with(by_nature[s], &config), acp = loop_by_acp(by_nature[s], 1000000, 4, powers);
        sched_set_load(&acp, 2, 2);
        uint64_t chunk = sched_next(&plain, 2);
        ck_assert_uint_gt(chunk, 1);
        ck_assert_uint_eq(sched_next(&acp, 2), chunk / 2);
        sched_fini(&plain);
        sched_fini(&acp);
    }
}
END_TEST

/* What a worker measures on a loaded core says how fast it is; that it is loaded is known already. */
START_TEST(a_load_does_not_count_twice)
{
    struct sched sched = loop_by_acp("awf-c", 1000000, 2, NULL);
    for (unsigned i = 0; i < 20; i++)
        for (unsigned w = 0; w < 2; w++) {
            struct sched_feedback feedback = {.worker = w, .chunks = 1, .iterations = sched_next(&sched, w)};
            feedback.compute_s = (double)feedback.iterations * (w == 0 ? 1e-6 : 2e-6);
            sched_set_load(&sched, 1, 2);
            sched_feedback(&sched, &feedback);
        }
    ck_assert_double_eq_tol(sched_weight(&sched, 0), 1, 0.01);
    ck_assert_double_eq_tol(sched_weight(&sched, 1), 1, 0.01);
    sched_fini(&sched);
}
END_TEST

START_TEST(dtss_takes_a_step_for_each_unit_of_power)
{
    const double powers[] = {1, 2, 3, 2};
    struct sched_config config = {.iterations = 1000000, .workers = 4, .powers = powers};
    struct sched sched = loop_with("dtss", &config);
    const uint64_t first = 62500, steps = 32, decrement = (first - 1) / (steps - 1); /* S = ceil(2000000/62501) */
    uint64_t level = first;
    for (unsigned i = 0; i < 14; i++) {
        uint64_t expected = 0;
        for (unsigned k = 0; k < (unsigned)powers[i % 4]; k++, level -= decrement)
            expected += level;
        ck_assert_uint_eq(sched_next(&sched, i % 4), expected);
    }
    sched_fini(&sched);
}
END_TEST

START_TEST(dtss_never_serves_steps_below_the_last)
{
    /* S = 2: the trapezoid is 900, 100, and 10 units of power take both at once, and 8 times 100 after them. */
    const double powers[] = {10};
    struct sched_config config = {.iterations = 1000, .workers = 1, .powers = powers};
    struct sched sched = loop_with("dtss:first=900,last=100", &config);
    ck_assert_uint_eq(sched_next(&sched, 0), 1000);
    sched_fini(&sched);
    config.iterations = 1000000000;
    sched = loop_with("dtss:first=900000000,last=1", &config); /* S = 3, D = 449999999 */
    ck_assert_uint_eq(sched_next(&sched, 0), 1000000000);
    sched_fini(&sched);
}
END_TEST

START_TEST(a_stage_of_dfss_ends_when_the_powers_served_reach_their_sum)
{
    const double powers[] = {1, 2, 3, 2}; /* V = 8 */
    struct sched_config config = {.iterations = 1600, .workers = 4, .powers = powers};
    struct sched sched = loop_with("dfss", &config);
    const unsigned order[] = {2, 2, 3, 0, 0, 3, 2, 1};
    /* ceil(1600/16) = 100 until 3 + 3 + 2 = 8 are served; then ceil(800/16) = 50 until 1 + 1 + 2 + 3 + 2 = 9. */
    const uint64_t expected[] = {300, 300, 200, 50, 50, 100, 150, 100};
    for (unsigned i = 0; i < 8; i++)
        ck_assert_uint_eq(sched_next(&sched, order[i]), expected[i]);
    ck_assert_uint_eq(sched_next(&sched, 0), 22); /* ceil(350/16) */
    sched_fini(&sched);
}
END_TEST

START_TEST(stages_are_not_lost_to_rounding)
{
    /* Ten times 0.1 is 0.9999999999999999 in doubles: every stage must still be ten chunks of the same size. */
    const double powers[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    struct sched_config config = {.iterations = 10000000, .workers = 10, .powers = powers};
    struct sched sched = loop_with("dfss", &config);
    for (unsigned stage = 0; stage < 10; stage++) {
        uint64_t chunk = sched_next(&sched, 0);
        for (unsigned j = 1; j < 10; j++)
            ck_assert_uint_eq(sched_next(&sched, j), chunk);
    }
    sched_fini(&sched);
}
END_TEST

START_TEST(the_order_of_the_requests_does_not_stretch_a_stage)
{
    /* 0.3 + 0.2 + 0.1 is 0.6 and 0.1 + 0.2 + 0.3 is 0.6000000000000001. */
    const double powers[] = {0.1, 0.2, 0.3};
    struct sched_config config = {.iterations = 12000000, .workers = 3, .powers = powers};
    struct sched sched = loop_with("dfss", &config);
    const uint64_t expected[] = {3000000, 2000000, 1000000, 1500000, 1000000, 500000, 750000};
    for (unsigned i = 0; i < 7; i++)
        ck_assert_uint_eq(sched_next(&sched, 2 - i % 3), expected[i]);
    sched_fini(&sched);
}
END_TEST

/* ceil(R/(alpha V)) is 2^92 with the least power, and 1 with the greatest. */
START_TEST(shares_stand_the_least_and_the_greatest_powers)
{
    static double powers[1024];
    struct sched_config config = {.iterations = SCHED_ITERATIONS_MAX, .workers = 1, .powers = powers};
    for (unsigned j = 0; j < 1024; j++)
        powers[j] = SCHED_POWER_MAX;
    for (unsigned half = 1; half <= 2; half++) {
        powers[0] = SCHED_POWER_MIN;
        struct sched next = loop_with(half == 2 ? "dfss" : "dgss", &config);
        struct sched from = loop_with(half == 2 ? "dfss" : "dgss", &config);
        double expected = (double)(SCHED_ITERATIONS_MAX / half);
        ck_assert_double_eq_tol((double)sched_next(&next, 0), expected, expected * 1e-12);
        ck_assert_double_eq_tol((double)sched_from_rest(&from, 0, SCHED_ITERATIONS_MAX), expected, expected * 1e-12);
        for (uint64_t rest = SCHED_ITERATIONS_MAX; rest > 1000; rest /= 1000)
            ck_assert_uint_ge(sched_from_rest(&from, 0, rest), rest / half / 2);
        ck_assert_uint_eq(sched_from_rest(&from, 0, 1), 1);
        ck_assert_uint_eq(sched_from_rest(&from, 0, 0), 0);
        sched_fini(&next);
        sched_fini(&from);
        powers[0] = SCHED_POWER_MAX;
        next = loop_with(half == 2 ? "dfss" : "dgss", &(struct sched_config){1000, 1024, powers});
        from = loop_with(half == 2 ? "dfss" : "dgss", &(struct sched_config){1000, 1024, powers});
        ck_assert_uint_eq(sched_next(&next, 0), 1000);
        ck_assert_uint_eq(sched_from_rest(&from, 0, 1000), 1000);
        ck_assert_uint_eq(sched_from_rest(&from, 0, 1), 1);
        sched_fini(&next);
        sched_fini(&from);
    }
}
END_TEST

START_TEST(shares_guard_the_quotient)
{
    /* 123/4.1 is 30.000000000000004 in doubles. */
    const double powers[] = {1.1, 1.5, 1.5};
    struct sched_config config = {.iterations = 123, .workers = 3, .powers = powers};
    struct sched sched = loop_with("dgss", &config);
    ck_assert_uint_eq(sched_next(&sched, 0), 33);
    sched_fini(&sched);
}
END_TEST

/* F = 125000, S = 16, D = 8333. The rest of 100000 takes the level sqrt(1 + 2 * 8333 * 100000) = 40824.01. */
START_TEST(trapezoids_start_again_where_they_cover_the_rest)
{
    struct sched tss = loop_of("tss", 1000000, 4), dtss = loop_of("dtss", 1000000, 4);
    while (sched_next(&tss, 0) > 0 && sched_next(&dtss, 0) > 0)
        continue;
    ck_assert_uint_eq(tss.remaining + dtss.remaining, 0);
    sched_give_back(&tss, 100000);
    sched_give_back(&dtss, 100000);
    sched_next(&tss, 0); /* what is left of the first trapezoid */
    sched_next(&dtss, 0);
    sched_give_back(&tss, 100000 - tss.remaining);
    sched_give_back(&dtss, 100000 - dtss.remaining);
    ck_assert_uint_eq(sched_next(&tss, 0), 41670); /* the step 10 */
    ck_assert_uint_eq(sched_next(&dtss, 0), 40824);
    sched_fini(&tss);
    sched_fini(&dtss);
}
END_TEST

/* Whether a second time step of the loop has the chunks of the first. */
static bool is_repeated(struct sched *sched)
{
    enum { CHUNKS_MAX = 4096 };
    static uint64_t first[CHUNKS_MAX];
    struct error error;
    unsigned chunks = 0, i = 0;
    for (; sched->remaining > 0; chunks++) {
        ck_assert_uint_lt(chunks, CHUNKS_MAX);
        first[chunks] = sched_next(sched, chunks % sched->workers);
    }
    ck_assert_int_eq(sched_again(sched, sched->iterations, &error), 0);
    while (sched->remaining > 0 && i < chunks && sched_next(sched, i % sched->workers) == first[i])
        i++;
    return sched->remaining == 0 && i == chunks;
}

/* With nothing measured nothing is kept: neither the step, nor what a weighted chunk's rounding left. */
START_TEST(a_time_step_is_as_the_one_before)
{
    const double powers[] = {1, 2, 4, 0.7};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t t = 0; t < count; t++)
        for (uint64_t iterations = 300; iterations < 700; iterations++) {
            struct sched_config config = {.iterations = iterations, .workers = 4, .powers = powers, .swr = 0.5};
            struct sched sched = loop_with(techniques[t]->name, &config);
            if (!is_repeated(&sched))
                ck_abort_msg("%s N=%" PRIu64, techniques[t]->name, iterations);
            sched_fini(&sched);
        }
}
END_TEST

static const char *const specs[] = {"static",
                                    "ss",
                                    "css:chunk=40",
                                    "gss",
                                    "tss",
                                    "tss:decrement=real",
                                    "fac2",
                                    "dtss",
                                    "dtss:carry=chunk",
                                    "dfss",
                                    "dgss",
                                    "fsc:h=1,sigma=9",
                                    "fac",
                                    "fac:mu=1,sigma=2",
                                    "tap",
                                    "tap:mu=1,sigma=2",
                                    "wf",
                                    "awf",
                                    "awf-b",
                                    "awf-c",
                                    "awf-d",
                                    "awf-e",
                                    "af"};
enum { SPECS = sizeof specs / sizeof *specs };

START_TEST(acp_with_free_cores_is_the_power)
{
    const double powers[] = {1, 0.4, 0.8, 0.4};
    for (size_t s = 0; s < SPECS; s++) {
        struct sched acp = loop_by_acp(specs[s], 100000, 4, powers);
        struct sched_config config = {
            .iterations = 100000, .workers = 4, .powers = powers, .weighting = SCHED_WEIGHTING_POWER};
        struct sched power = loop_with(specs[s], &config);
        for (unsigned i = 0; power.remaining > 0; i++)
            ck_assert_uint_eq(sched_next(&power, i % 4), sched_next(&acp, i % 4));
        ck_assert_uint_eq(acp.remaining, 0);
        sched_fini(&acp);
        sched_fini(&power);
    }
}
END_TEST

START_TEST(work_that_comes_back_is_cut_again)
{
    const double powers[] = {0.3, 1, 2.5};
    struct sched_config config = {
        .iterations = 5000, .workers = 3, .powers = powers, .weighting = SCHED_WEIGHTING_POWER};
    struct sched sched = loop_with(specs[_i], &config);
    struct random random;
    uint64_t cut = 0, returned = 0;
    random_init(&random, 7);
    while (sched.remaining > 0) {
        uint64_t chunk = sched_next(&sched, (unsigned)random_between(&random, 0, 2));
        ck_assert_uint_gt(chunk, 0);
        cut += chunk;
        if (returned < 20000 && random_between(&random, 0, 3) == 0) {
            uint64_t back = random_between(&random, 0, chunk);
            sched_give_back(&sched, back);
            returned += back;
        }
        ck_assert_uint_eq(cut - returned, config.iterations - sched.remaining);
    }
    ck_assert_uint_eq(cut - returned, config.iterations);
    sched_fini(&sched);
}
END_TEST

/* What a lost worker held at the very end goes out in chunks, not in crumbs. */
START_TEST(work_that_comes_back_late_is_cut_into_chunks)
{
    if (strcmp(specs[_i], "ss") == 0 || strncmp(specs[_i], "css", 3) == 0 || strncmp(specs[_i], "fsc", 3) == 0)
        return;
    struct sched sched = loop_of(specs[_i], 1000000000, 8);
    for (unsigned i = 0; sched_next(&sched, i % 8) > 0; i++)
        continue;
    sched_give_back(&sched, 100000000);
    unsigned chunks = 0;
    while (sched_next(&sched, chunks % 8) > 0)
        chunks++;
    ck_assert_msg(chunks < 300, "%s: %u chunks", specs[_i], chunks);
    sched_fini(&sched);
}
END_TEST

START_TEST(powers_come_from_speeds)
{
    const double speeds[] = {20, 50, 30, 100};
    double powers[4];
    sched_powers_from_speeds(sched_find("dfss"), SCHED_WEIGHTING_NONE, speeds, 4, powers);
    ck_assert(powers[0] == 1 && powers[1] == 2.5 && powers[2] == 1.5 && powers[3] == 5);
    sched_powers_from_speeds(sched_find("dfss"), SCHED_WEIGHTING_POWER, speeds, 4, powers);
    ck_assert(powers[0] == 1 && powers[3] == 5);
    sched_powers_from_speeds(sched_find("gss"), SCHED_WEIGHTING_POWER, speeds, 4, powers);
    ck_assert(powers[0] == 0.2 && powers[1] == 0.5 && powers[2] == 0.3 && powers[3] == 1);
    struct technique by_mean = *sched_find("dfss");
    by_mean.powers = SCHED_POWERS_BY_MEAN;
    sched_powers_from_speeds(&by_mean, SCHED_WEIGHTING_NONE, speeds, 4, powers);
    ck_assert(powers[0] == 0.4 && powers[1] == 1 && powers[2] == 0.6 && powers[3] == 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-loop");
    TCase *all = tcase_create("loop");
    tcase_add_test(all, bad_configurations_get_one_line);
    tcase_add_test(all, a_trapezoid_does_not_rise);
    tcase_add_test(all, an_interval_is_not_empty);
    tcase_add_test(all, the_static_part_of_pls_may_be_measured);
    tcase_add_test(all, chunks_are_clamped);
    tcase_add_test(all, chunks_have_a_greatest_size);
    tcase_add_test(all, weighting_guards_the_product);
    tcase_add_test(all, weighting_leaves_the_weighted_by_nature_alone);
    tcase_add_test(all, acp_is_the_power_over_the_load);
    tcase_add_test(all, acp_with_free_cores_is_the_power);
    tcase_add_test(all, acp_divides_the_weighted_by_nature);
    tcase_add_test(all, a_load_does_not_count_twice);
    tcase_add_test(all, dtss_takes_a_step_for_each_unit_of_power);
    tcase_add_test(all, dtss_never_serves_steps_below_the_last);
    tcase_add_test(all, a_stage_of_dfss_ends_when_the_powers_served_reach_their_sum);
    tcase_add_test(all, stages_are_not_lost_to_rounding);
    tcase_add_test(all, the_order_of_the_requests_does_not_stretch_a_stage);
    tcase_add_test(all, shares_stand_the_least_and_the_greatest_powers);
    tcase_add_test(all, shares_guard_the_quotient);
    tcase_add_test(all, trapezoids_start_again_where_they_cover_the_rest);
    tcase_add_test(all, a_time_step_is_as_the_one_before);
    tcase_add_loop_test(all, work_that_comes_back_is_cut_again, 0, SPECS);
    tcase_add_loop_test(all, work_that_comes_back_late_is_cut_into_chunks, 0, SPECS);
    tcase_add_test(all, powers_come_from_speeds);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
