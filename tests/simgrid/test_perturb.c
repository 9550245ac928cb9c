/* SPDX-License-Identifier: MIT */
/* The faults and changes that happen to the ranks of a run on SimGrid, made of the faults of its configuration. */
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "deploy/simulate/virtual/perturb.h"
#include "proto/message.h"
#include "tests/lib/suite.h"

#include <stdlib.h>

/* A supermaster, two masters of two workers each: ranks 0, 1 to 2, 3 to 6. */
struct fixture {
    struct hello hellos[7];
    struct topology topology;
    struct virtual_config config;
    struct perturbations perturbations;
};

static void set_up(struct fixture *fixture, const struct virtual_fault *faults, unsigned count)
{
    struct error error;
    *fixture = (struct fixture){
        .config = {.masters = 2, .workers = 4, .nodes = 2, .faults = faults, .fault_count = count, .detect_ns = 1000}};
    ck_assert_int_eq(machines_group(&fixture->config, fixture->hellos, &fixture->topology), 0);
    ck_assert_int_eq(perturbations_init(&fixture->perturbations, &fixture->config, &fixture->topology, &error), 0);
}

static void tear_down(struct fixture *fixture)
{
    perturbations_fini(&fixture->perturbations);
    topology_fini(&fixture->topology);
}

START_TEST(test_slow_rank_takes_longer)
{
    static const struct virtual_fault faults[] = {
        {.type = VIRTUAL_SLOW, .rank = 3, .at_ns = 300, .factor = 0.5},
        {.type = VIRTUAL_SLOW, .rank = 3, .at_ns = 100, .factor = 2},
        {.type = VIRTUAL_SLOW, .rank = 3, .at_ns = 200, .factor = 4},
        {.type = VIRTUAL_SLOW, .rank = 5, .at_ns = 0, .factor = 3},
    };
    /* Until 100 as ever, until 200 twice as long, until 300 eight times, then four times. */
    static const struct {
        double from_ns, ns, taken_ns;
    } cases[] = {{0, 100, 100},   {0, 101, 102}, {0, 150, 200},    {0, 151, 208},  {0, 162.5, 300},
                 {0, 163.5, 304}, {150, 25, 50}, {150, 37.5, 150}, {1000, 10, 40}, {50, 0, 0}};
    struct fixture fixture;
    set_up(&fixture, faults, sizeof faults / sizeof *faults);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double from_ns = cases[i].from_ns, until_ns = from_ns + cases[i].taken_ns;
        ck_assert_double_eq_tol(perturbed_ns(&fixture.perturbations, 3, from_ns, cases[i].ns), cases[i].taken_ns, 1e-9);
        ck_assert_double_eq_tol(unperturbed_ns(&fixture.perturbations, 3, from_ns, until_ns), cases[i].ns, 1e-9);
    }
    ck_assert_double_eq(perturbed_ns(&fixture.perturbations, 4, 0, 1000), 1000);
    ck_assert_double_eq(perturbed_ns(&fixture.perturbations, 5, 0, 1000), 3000);
    ck_assert_ptr_null(fixture.perturbations.ends_ns);
    tear_down(&fixture);
}
END_TEST

/* Of whom a rank learns, in the order of their ranks, and whether that is within the time that it may take. */
static void assert_learns(const struct fixture *fixture, unsigned rank, const char *expected)
{
    const struct perturbations *perturbations = &fixture->perturbations;
    char text[8] = "-------";
    uint64_t before_ns = 0;
    for (unsigned i = perturbations->first_notice[rank]; i < perturbations->first_notice[rank + 1]; i++) {
        const struct notice *notice = &perturbations->notices[i];
        uint64_t end_ns = perturbations->ends_ns[notice->lost];
        ck_assert_uint_eq(notice->rank, rank);
        ck_assert_uint_ge(notice->at_ns, before_ns);
        ck_assert_uint_gt(notice->at_ns, end_ns);
        ck_assert_int_eq(text[notice->lost], '-');
        text[notice->lost] = '!';
        before_ns = notice->at_ns;
    }
    ck_assert_str_eq(text, expected);
}

START_TEST(test_who_learns_of_failures)
{
    /* A worker fails, later its master, which is named twice; then another worker of it, and one of the other master.
     */
    static const struct virtual_fault faults[] = {
        {.type = VIRTUAL_KILL, .rank = 1, .at_ns = 9000}, {.type = VIRTUAL_KILL, .rank = 3, .at_ns = 1000},
        {.type = VIRTUAL_KILL, .rank = 1, .at_ns = 5000}, {.type = VIRTUAL_KILL, .rank = 4, .at_ns = 7000},
        {.type = VIRTUAL_KILL, .rank = 6, .at_ns = 7000},
    };
    struct fixture fixture;
    set_up(&fixture, faults, sizeof faults / sizeof *faults);
    ck_assert_uint_eq(fixture.perturbations.ends_ns[1], 5000);
    ck_assert_uint_eq(fixture.perturbations.ends_ns[0], NEVER);
    assert_learns(&fixture, 0, "-!-!!--"); /* of the master, and of workers that it has left behind */
    assert_learns(&fixture, 1, "---!!--");
    assert_learns(&fixture, 2, "------!");
    assert_learns(&fixture, 3, "-!-----");
    assert_learns(&fixture, 5, "-------");
    tear_down(&fixture);
}
END_TEST

START_TEST(test_all_learn_of_the_supermaster)
{
    static const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = 0, .at_ns = 1};
    struct fixture fixture;
    set_up(&fixture, &fault, 1);
    assert_learns(&fixture, 0, "-------");
    for (unsigned rank = 1; rank < 7; rank++)
        assert_learns(&fixture, rank, "!------");
    tear_down(&fixture);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perturb");
    TCase *ranks = tcase_create("ranks");
    tcase_add_test(ranks, test_slow_rank_takes_longer);
    tcase_add_test(ranks, test_who_learns_of_failures);
    tcase_add_test(ranks, test_all_learn_of_the_supermaster);
    suite_add_tcase(suite, ranks);
    return suite_run(suite);
}
