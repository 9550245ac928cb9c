/* SPDX-License-Identifier: MIT */
/* The two backends of `hdss simulate` on the same jobs: each is the other's check. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"
#include "tests/simgrid/both.h"

#include <math.h>
#include <stdio.h>

/* What is asked of them: half a percent. */
#define MOST 0.005

/* Where single chunks do not decide: a chunk that goes to another worker, as two requests came in another order, is
 * less than that. */
static const struct both_case cases[] = {
    {"ranger", "dfss", SCHED_WEIGHTING_NONE, 4, 64, 20000, "uniform:mean=1000,cov=0.2", true, 0},
    {"cluster", "css:chunk=20", SCHED_WEIGHTING_NONE, 0, 64, 80000, "gamma:mean=500,cov=1", false, 0},
    {"cluster", "ss", SCHED_WEIGHTING_NONE, 2, 24, 20000, "exponential:mean=200", false, 0},
    {"two-speeds:nodes=2", "dfss", SCHED_WEIGHTING_NONE, 4, 100, 40000, "uniform:mean=1000,cov=0.2", true, 0},
    {"two-sites", "fac2", SCHED_WEIGHTING_NONE, 4, 120, 40000, "uniform:mean=10000,cov=0.2", false, 0},
    {"ranger", "af", SCHED_WEIGHTING_NONE, 2, 24, 20000, "normal:mean=1000,cov=0.3", true, 0},
    {"ranger", "awf-b", SCHED_WEIGHTING_NONE, 0, 24, 20000, "normal:mean=1000,cov=0.3", true, 0},
    {"cluster", "css:chunk=20000", SCHED_WEIGHTING_NONE, 0, 8, 8000000, "constant:mean=0", false, 0},
    {"cluster", "fac2", SCHED_WEIGHTING_NONE, 0, 16, 20000, "bimodal:mean=100,spread=1", true, 0},
    {"cluster", "static", SCHED_WEIGHTING_NONE, 0, 24, 24, "constant:mean=2000", false, 1000000},
    {"cluster", "static", SCHED_WEIGHTING_NONE, 2, 24, 24, "constant:mean=2000", false, 1000000},
    {"ranger", "gss", SCHED_WEIGHTING_NONE, 2, 24, 20000, "uniform:mean=1000,cov=0.2", false, 0, .threads = 4},
    {"cluster", "fac2", SCHED_WEIGHTING_NONE, 0, 20, 20000, "exponential:mean=1000", false, 0, .threads = 10},
    {"cluster", "fac2", SCHED_WEIGHTING_NONE, 0, 16, 20000, "gamma:mean=100,cov=1", false, 0, .masters_compute = true},
    {"cluster", "dfss", SCHED_WEIGHTING_NONE, 2, 24, 20000, "uniform:mean=500,cov=0.2", false, 0,
     .masters_compute = true},
};

START_TEST(test_backends_agree)
{
    const struct both_case *one = &cases[_i];
    struct both_figures ours, theirs;
    struct error error;
    ck_assert_msg(both_virtual(one, &ours, &error) == 0, "%s", error.text);
    ck_assert_msg(both_simgrid(one, &theirs, &error) == 0, "%s", error.text);
    double apart = ours.elapsed_s / theirs.elapsed_s - 1;
    printf("# %s %s %u masters %u workers: virtual %.6f s, simgrid %.6f s, %+.3f %%\n", one->platform, one->technique,
           one->masters, one->workers, ours.elapsed_s, theirs.elapsed_s, 100 * apart);
    fflush(stdout);
    ck_assert_msg(fabs(apart) <= MOST, "%s %s: virtual %.6f s, simgrid %.6f s", one->platform, one->technique,
                  ours.elapsed_s, theirs.elapsed_s);
    double chunks_apart = (double)ours.chunks / (double)theirs.chunks - 1;
    ck_assert_msg(fabs(chunks_apart) <= 0.02, "%llu chunks, %llu chunks", (unsigned long long)ours.chunks,
                  (unsigned long long)theirs.chunks);
}
END_TEST

START_TEST(test_same_job_same_figures)
{
    struct both_figures first, second;
    struct error error;
    ck_assert_msg(both_simgrid(&cases[2], &first, &error) == 0, "%s", error.text);
    ck_assert_msg(both_simgrid(&cases[2], &second, &error) == 0, "%s", error.text);
    ck_assert_double_eq(first.elapsed_s, second.elapsed_s);
    ck_assert_uint_eq(first.chunks, second.chunks);
    ck_assert_uint_eq(first.events, second.events);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("agreement");
    TCase *backends = tcase_create("backends");
    tcase_set_timeout(backends, 300);
    tcase_add_loop_test(backends, test_backends_agree, 0, sizeof cases / sizeof *cases);
    tcase_add_test(backends, test_same_job_same_figures);
    suite_add_tcase(suite, backends);
    return suite_run(suite);
}
