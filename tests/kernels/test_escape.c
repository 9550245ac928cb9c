/* SPDX-License-Identifier: MIT */
/* Escape times: each vector variant against the plain definition, to the last count. */
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "worker/kernels/escape.h"

#include <math.h>
#include <string.h>

static struct escape_batch *batch;
static uint32_t *counts;

static void set_up(void)
{
    batch = aligned_alloc(64, sizeof *batch);
    counts = malloc((ESCAPE_BATCH + ESCAPE_PAD) * sizeof *counts);
    ck_assert(batch != NULL && counts != NULL);
}

static void tear_down(void)
{
    free(batch);
    free(counts);
}

/* Runs the points in batch->fresh on every variant this machine has. */
static void check_rule(const struct escape_rule *rule)
{
    size_t variants, length = batch->fresh.length;
    const struct escape_variant *variant = escape_variants(&variants);
    for (size_t v = 0; v < variants; v++) {
        if (!variant[v].usable())
            continue;
        memset(counts, 0xee, (ESCAPE_BATCH + ESCAPE_PAD) * sizeof *counts);
        batch->fresh.length = length;
        variant[v].run(batch, rule, counts);
        for (size_t i = 0; i < length; i++) {
            uint32_t expected = escape_scalar(batch->fresh.cx[i], batch->fresh.cy[i], rule);
            ck_assert_msg(counts[i] == expected,
                          "%s, exponent %u, bound %g, max_iter %u: c = %.17g %+.17gi gives %u, not %u", variant[v].name,
                          rule->exponent, rule->bound, rule->max_iter, batch->fresh.cx[i], batch->fresh.cy[i],
                          counts[i], expected);
        }
        ck_assert_msg(counts[length] == 0xeeeeeeee, "%s writes beyond the %zu counts", variant[v].name, length);
    }
}

/* A z beyond a bound other than 4 may come back: the first time counts. */
static void check(unsigned exponent, uint32_t max_iter)
{
    static const double bounds[] = {ESCAPE_BOUND, 2, 0, 0.3, 3.999, 16, 1e100};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        check_rule(&(struct escape_rule){exponent, bounds[b], max_iter});
}

static void add(double cx, double cy)
{
    size_t i = batch->fresh.length++;
    batch->fresh.cx[i] = cx;
    batch->fresh.cy[i] = cy;
}

static void add_random(struct random *random, double x, double y, double radius, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(x + radius * (2 * random_uniform(random) - 1), y + radius * (2 * random_uniform(random) - 1));
}

/* Around the lengths where the stages of the vector code begin and end. */
static const uint32_t max_iters[] = {1, 2, 5, 31, 32, 33, 63, 64, 65, 95, 96, 97, 500, 1023, 1024, 1025};

START_TEST(random_points_of_the_plane)
{
    struct random random;
    random_init(&random, 7);
    batch->fresh.length = 0;
    add_random(&random, -0.6, 0, 1.5, 700);
    add_random(&random, -0.75, 0.1, 0.01, 400);
    add_random(&random, -1.25, 0, 0.05, 200);
    add_random(&random, 0, 0, 100, 50);
    check(2, max_iters[_i]);
    check(4, max_iters[_i]);
}
END_TEST

START_TEST(points_on_the_edge_of_what_escapes)
{
    struct random random;
    random_init(&random, 8);
    batch->fresh.length = 0;
    for (double step = 1e-16; step < 0.1; step *= 3) {
        add(-2 - step, 0);
        add(-2 + step, 0);
        add(-2, step);
        add(-2 + step, -step);
        add(0.25 + step, 0);
        add_random(&random, -2, 0, step, 10);
    }
    for (int i = 0; i < 200; i++)
        add(2 * cos(i * 0.0314), 2 * sin(i * 0.0314));
    add(0, 0);
    add(-0.0, -0.0);
    add(0, 1);
    add(0, -2);
    add(1e308, 1e308);
    add(-1e200, 3);
    add(5e-324, 0);
    check(2, max_iters[_i]);
    check(4, max_iters[_i]);
}
END_TEST

START_TEST(any_number_of_points)
{
    static const size_t lengths[] = {0, 1, 2, 7, 8, 9, 47, 48, 49, 100, ESCAPE_BATCH - 1, ESCAPE_BATCH};
    struct random random;
    random_init(&random, 9);
    batch->fresh.length = 0;
    add_random(&random, -0.6, 0, 1.5, lengths[_i]);
    check(2, 150);
}
END_TEST

START_TEST(all_inside_and_all_outside)
{
    batch->fresh.length = 0;
    for (int i = 0; i < 300; i++)
        add(-0.1 + i * 1e-4, 0.1);
    check(2, 1000);
    batch->fresh.length = 0;
    for (int i = 0; i < 300; i++)
        add(1 + i, 2);
    check(2, 1000);
}
END_TEST

#define RULE(...) (&(struct escape_rule){__VA_ARGS__})

/* By hand: c = 0 stays; c = 1 gives 1, 2, 5; c = -2 gives -2, 2, 2, ...; c = 2 gives 2, 6; c = 3 is out at once. */
START_TEST(the_definition_counts_steps_until_z_is_beyond_2)
{
    ck_assert_uint_eq(escape_scalar(0, 0, RULE(2, 4, 77)), 77);
    ck_assert_uint_eq(escape_scalar(1, 0, RULE(2, 4, 77)), 3);
    ck_assert_uint_eq(escape_scalar(-2, 0, RULE(2, 4, 77)), 77);
    ck_assert_uint_eq(escape_scalar(2, 0, RULE(2, 4, 77)), 2);
    ck_assert_uint_eq(escape_scalar(3, 0, RULE(2, 4, 77)), 1);
    ck_assert_uint_eq(escape_scalar(3, 0, RULE(2, 4, 1)), 1);
    ck_assert_uint_eq(escape_scalar(1, 0, RULE(4, 4, 77)), 3);   /* 1, 2, 18 */
    ck_assert_uint_eq(escape_scalar(-1, 0, RULE(4, 4, 77)), 77); /* -1, 0, -1, ... */
    ck_assert_uint_eq(escape_scalar_from(1, 0, 1, 0, RULE(2, 4, 77), 1), 3);
}
END_TEST

/* By hand: c = -1.5 gives -1.5, whose square is 2.25, then 0.75; c = 1 gives 1, 2; c = -2 is out at once. */
/* Of this point z is beyond the bound 2 after 32 steps, with which stage 1 ends, back after 33, and beyond it after 69
 * again. */
START_TEST(a_z_may_come_back_behind_stage_1)
{
    batch->fresh.length = 0;
    add(-0.7495040760607935, 0.094586960457667749);
    check_rule(&(struct escape_rule){2, 2, 64});
    check_rule(&(struct escape_rule){2, 2, 1024});
}
END_TEST

START_TEST(a_lower_bound_is_passed_sooner)
{
    ck_assert_uint_eq(escape_scalar(-1.5, 0, RULE(2, 2, 77)), 1);
    ck_assert_uint_gt(escape_scalar(-1.5, 0, RULE(2, 4, 77)), 1);
    ck_assert_uint_eq(escape_scalar(1, 0, RULE(2, 2, 77)), 2);
    ck_assert_uint_eq(escape_scalar(1, 1, RULE(2, 2, 77)), 2); /* a square of 2 is not beyond 2 */
    ck_assert_uint_eq(escape_scalar(-2, 0, RULE(2, 2, 77)), 1);
    ck_assert_uint_eq(escape_scalar(3, 0, RULE(2, 100, 77)), 2); /* 3, 12 */
}
END_TEST

START_TEST(the_last_variant_runs_everywhere)
{
    size_t variants;
    const struct escape_variant *variant = escape_variants(&variants);
    ck_assert(variant[variants - 1].usable());
    ck_assert(escape_best()->usable());
}
END_TEST

int main(void)
{
    enum { MAX_ITERS = sizeof max_iters / sizeof max_iters[0] };
    Suite *suite = suite_create("escape");
    TCase *tcase = tcase_create("escape");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, random_points_of_the_plane, 0, MAX_ITERS);
    tcase_add_loop_test(tcase, points_on_the_edge_of_what_escapes, 0, MAX_ITERS);
    tcase_add_loop_test(tcase, any_number_of_points, 0, 12);
    tcase_add_test(tcase, all_inside_and_all_outside);
    tcase_add_test(tcase, the_definition_counts_steps_until_z_is_beyond_2);
    tcase_add_test(tcase, a_z_may_come_back_behind_stage_1);
    tcase_add_test(tcase, a_lower_bound_is_passed_sooner);
    tcase_add_test(tcase, the_last_variant_runs_everywhere);
    suite_add_tcase(suite, tcase);
    return suite_run_together(suite);
}
