/* SPDX-License-Identifier: MIT */
/* The list of what is given up: places stay what they are, neighbours with one reason are one range, memory is bounded.
 */
#include "common/metrics/rank.h"
#include "common/metrics/report.h"
#include "supermaster/given_up.h"
#include "tests/lib/suite.h"

#include <stdio.h>

/* Workers of the ranks 1 and 2 on the nodes 0 and 5. */
static unsigned ranks[] = {1, 2}, nodes[] = {0, 5};
static const struct topology topology = {.workers = 2, .worker_rank = ranks, .worker_node = nodes};

static void add(struct given_up *given_up, uint64_t first, uint64_t count, unsigned rank, const char *reason)
{
    ck_assert_int_eq(given_up_add(given_up, &(struct range){first, count}, rank, reason), 0);
    given_up_check(given_up);
}

static void check_tells(const struct given_up *given_up, uint64_t place, const struct failure_figures *expected)
{
    struct failure_figures figures;
    ck_assert(given_up_tell(given_up, &topology, place, &figures));
    ck_assert_uint_eq(figures.range.first, expected->range.first);
    ck_assert_uint_eq(figures.range.count, expected->range.count);
    ck_assert_uint_eq(figures.rank, expected->rank);
    ck_assert_uint_eq(figures.node, expected->node);
    ck_assert_str_eq(figures.reason, expected->reason);
}

START_TEST(places_stay_while_ranges_grow)
{
    struct given_up given_up = {0};
    struct failure_figures figures;
    ck_assert(!given_up_tell(&given_up, &topology, 0, &figures));
    add(&given_up, 40, 2, 2, "died");
    check_tells(&given_up, 0, &(struct failure_figures){{40, 2}, 2, 5, "died"});
    ck_assert(!given_up_tell(&given_up, &topology, 2, &figures));
    add(&given_up, 42, 3, 2, "died");
    ck_assert_uint_eq(given_up.count, 1);
    check_tells(&given_up, 2, &(struct failure_figures){{42, 3}, 2, 5, "died"});
    add(&given_up, 45, 1, 1, "died");             /* another worker */
    add(&given_up, 46, 1, 1, "hung");             /* another reason */
    add(&given_up, 3, 4, 1, "hung");              /* no neighbour */
    add(&given_up, 7, 1, REPORT_NO_RANK, "hung"); /* nobody */
    ck_assert_uint_eq(given_up.reason_count, 2);
    check_tells(&given_up, 4, &(struct failure_figures){{44, 1}, 2, 5, "died"});
    check_tells(&given_up, 5, &(struct failure_figures){{45, 1}, 1, 0, "died"});
    check_tells(&given_up, 6, &(struct failure_figures){{46, 1}, 1, 0, "hung"});
    check_tells(&given_up, 9, &(struct failure_figures){{5, 2}, 1, 0, "hung"});
    check_tells(&given_up, 11, &(struct failure_figures){{7, 1}, RANK_NONE, RANK_NONE, "hung"});
    ck_assert(!given_up_tell(&given_up, &topology, 12, &figures));
    given_up_fini(&given_up);
    ck_assert(!given_up_tell(&given_up, &topology, 0, &figures));
}
END_TEST

START_TEST(memory_is_bounded)
{
    struct given_up given_up = {0};
    struct failure_figures figures;
    char reason[40];
    for (unsigned i = 0; i < GIVEN_UP_RANGES_MAX + 10; i++) {
        snprintf(reason, sizeof reason, "reason %u", i);
        ck_assert_int_eq(given_up_add(&given_up, &(struct range){2 * (uint64_t)i, 1}, 1, reason), 0);
    }
    given_up_check(&given_up);
    ck_assert_uint_eq(given_up.total, GIVEN_UP_RANGES_MAX);
    ck_assert_uint_eq(given_up.reason_count, GIVEN_UP_REASONS_MAX);
    check_tells(&given_up, GIVEN_UP_REASONS_MAX - 1,
                &(struct failure_figures){{2 * (GIVEN_UP_REASONS_MAX - 1), 1}, 1, 0, "reason 9999"});
    check_tells(&given_up, GIVEN_UP_REASONS_MAX,
                &(struct failure_figures){
                    {2 * GIVEN_UP_REASONS_MAX, 1}, 1, 0, "not kept, as there are too many different reasons"});
    ck_assert(!given_up_tell(&given_up, &topology, GIVEN_UP_RANGES_MAX, &figures));
    given_up_fini(&given_up);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("given-up");
    TCase *all = tcase_create("given-up");
    tcase_add_test(all, places_stay_while_ranges_grow);
    tcase_add_test(all, memory_is_bounded);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
