/* SPDX-License-Identifier: MIT */
/* The rate of the latest looks and the band of the end: even and uneven rates, one that changes, and where nobody knows
 * anything. */
#include "common/metrics/pace.h"
#include "tests/lib/suite.h"

static struct pace pace;
static struct progress progress;

static void set_up(void)
{
    pace = (struct pace){0};
    progress = (struct progress){.total = 100000};
}

/* So many seconds of so many iterations each. */
static void go_on(unsigned seconds, uint64_t each)
{
    for (unsigned i = 0; i < seconds; i++) {
        progress.elapsed_s += 1;
        progress.done += each;
        pace_note(&pace, &progress);
    }
}

START_TEST(an_even_rate_has_no_spread)
{
    go_on(10, 100);
    const struct pace_band band = pace_foresee(&pace, &progress);
    ck_assert_double_eq_tol(band.rate_per_s, 100, 1e-9);
    ck_assert_double_eq_tol(band.soonest_s, 990, 1e-6);
    ck_assert_double_eq_tol(band.latest_s, 990, 1e-6);
}
END_TEST

/* Rates of 50 and 150: their deviation is 50 sqrt(10 / 9), over the root of ten of them some 16.7. */
START_TEST(an_uneven_rate_has_a_band)
{
    go_on(1, 100);
    for (int i = 0; i < 5; i++) {
        go_on(1, 50);
        go_on(1, 150);
    }
    const struct pace_band band = pace_foresee(&pace, &progress);
    ck_assert_double_eq_tol(band.rate_per_s, 100, 1e-9);
    ck_assert_double_eq_tol(band.soonest_s, 98900 / (100 + 100.0 / 3), 1e-6);
    ck_assert_double_eq_tol(band.latest_s, 98900 / (100 - 100.0 / 3), 1e-6);
}
END_TEST

/* The rate of the last half a minute is a tenth of the one before: the end lies between what both promise. */
START_TEST(a_rate_that_changes_widens_the_band)
{
    go_on(60, 1000);
    go_on(PACE_LOOKS, 100);
    const struct pace_band band = pace_foresee(&pace, &progress);
    ck_assert_double_eq_tol(band.rate_per_s, 100, 1e-9);
    ck_assert_double_eq_tol(band.soonest_s, progress_left_s(&progress), 1e-6);
    ck_assert_double_eq_tol(band.latest_s, 369, 1e-6);
}
END_TEST

START_TEST(a_loop_that_stands_still_has_no_latest_end)
{
    go_on(10, 100);
    go_on(PACE_LOOKS, 0);
    const struct pace_band band = pace_foresee(&pace, &progress);
    ck_assert_double_eq(band.rate_per_s, 0);
    ck_assert_double_eq_tol(band.soonest_s, progress_left_s(&progress), 1e-6);
    ck_assert_double_lt(band.latest_s, 0);
}
END_TEST

START_TEST(nothing_is_said_where_nobody_knows)
{
    struct pace_band band = pace_foresee(&pace, &progress);
    ck_assert(band.rate_per_s < 0 && band.soonest_s < 0 && band.latest_s < 0);
    go_on(2, 100);
    band = pace_foresee(&pace, &progress);
    ck_assert(band.rate_per_s > 0 && band.soonest_s < 0 && band.latest_s < 0);
    go_on(2, 100);
    progress.grows = true;
    band = pace_foresee(&pace, &progress);
    ck_assert(band.rate_per_s > 0 && band.soonest_s < 0 && band.latest_s < 0);
}
END_TEST

START_TEST(looks_are_apart)
{
    for (int i = 0; i < 100; i++) {
        progress.elapsed_s += 0.1;
        progress.done++;
        pace_note(&pace, &progress);
    }
    ck_assert_uint_ge(pace.count, 9);
    ck_assert_uint_le(pace.count, 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pace");
    TCase *tcase = tcase_create("pace");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, an_even_rate_has_no_spread);
    tcase_add_test(tcase, an_uneven_rate_has_a_band);
    tcase_add_test(tcase, a_rate_that_changes_widens_the_band);
    tcase_add_test(tcase, a_loop_that_stands_still_has_no_latest_end);
    tcase_add_test(tcase, nothing_is_said_where_nobody_knows);
    tcase_add_test(tcase, looks_are_apart);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
