/* SPDX-License-Identifier: MIT */
/* The ledger: every iteration is in one place, whatever the order of grants, results, losses and repeats. */
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "supermaster/ledger.h"
#include "tests/lib/suite.h"

#include <string.h>

static uint64_t accounted(const struct ledger *ledger)
{
    uint64_t sum = ledger->done + ranges_total(&ledger->free) + ranges_total(&ledger->failed);
    for (unsigned i = 0; i < ledger->holders; i++)
        sum += ranges_total(&ledger->granted[i]);
    return sum;
}

START_TEST(grants_are_the_lowest_free_range)
{
    struct ledger ledger;
    struct range range;
    ck_assert_int_eq(ledger_init(&ledger, 100, 50, 2), 0);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 20, &range), 1);
    ck_assert_uint_eq(range.first, 100);
    ck_assert_uint_eq(range.count, 20);
    ck_assert_int_eq(ledger_grant(&ledger, 1, 100, &range), 1);
    ck_assert_uint_eq(range.first, 120);
    ck_assert_uint_eq(range.count, 30);
    ck_assert_int_eq(ledger_grant(&ledger, 1, 1, &range), 0);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 100, 20, 5), LEDGER_COMMITTED);
    ck_assert(!ledger_is_complete(&ledger));
    ck_assert_int_eq(ledger_commit(&ledger, 1, 130, 20, 7), LEDGER_COMMITTED); /* a part of a grant */
    ck_assert_int_eq(ledger_commit(&ledger, 1, 120, 10, 8), LEDGER_COMMITTED);
    ck_assert(ledger_is_complete(&ledger));
    ck_assert_uint_eq(ledger.digest, 20);
    ledger_fini(&ledger);
}
END_TEST

/* Workers compute chunks that were cut for others, and copies. With many holders the holder of a range is not searched.
 */
START_TEST(results_of_another_count_with_many_holders)
{
    enum { HOLDERS = 200, EACH = 5 };
    struct ledger ledger;
    struct range range;
    uint64_t released;
    ck_assert_int_eq(ledger_init(&ledger, 1000, (uint64_t)HOLDERS * EACH, HOLDERS), 0);
    for (unsigned i = 0; i < HOLDERS; i++)
        ck_assert_int_eq(ledger_grant(&ledger, i, EACH, &range), 1);
    for (unsigned i = 0; i < HOLDERS; i += 2) /* what is known of these is old afterwards */
        ck_assert_int_eq(ledger_release(&ledger, i, &released), 0);
    for (unsigned i = HOLDERS; i > 0; i -= 4)
        ck_assert_int_eq(ledger_claim(&ledger, i - 1, 1000 + (uint64_t)(i - 2) * EACH, EACH), 1);
    for (unsigned i = HOLDERS; i > 0; i -= 2) {
        const uint64_t first = 1000 + (uint64_t)(i - 2) * EACH;
        const int expected = (HOLDERS - i) % 4 == 0 ? LEDGER_COMMITTED : LEDGER_GIVEN_BACK; /* claimed, or free */
        ck_assert_int_eq(ledger_commit(&ledger, (i + 6) % HOLDERS, first + 1, 2 * EACH - 2, i), expected);
        ck_assert_int_eq(ledger_commit(&ledger, (i + 8) % HOLDERS, first, 1, 0), expected);
        ck_assert_int_eq(ledger_commit(&ledger, (i + 8) % HOLDERS, first, 1, 0), LEDGER_DUPLICATE);
        ck_assert_int_eq(ledger_commit(&ledger, i - 1, first, 2 * EACH, 0), LEDGER_MISMATCH);
        ck_assert_int_eq(ledger_commit(&ledger, i - 1, first + 2 * EACH - 1, 1, 0), LEDGER_COMMITTED);
        ledger_check(&ledger);
    }
    ck_assert(ledger_is_complete(&ledger));
    ck_assert_uint_eq(ledger.duplicates, HOLDERS / 2);
    ck_assert_uint_eq(ledger.digest, HOLDERS / 2 * (HOLDERS / 2 + 1));
    ledger_fini(&ledger);
}
END_TEST

START_TEST(the_first_result_wins)
{
    struct ledger ledger;
    struct range range;
    uint64_t released;
    ck_assert_int_eq(ledger_init(&ledger, 0, 30, 2), 0);
    ledger_grant(&ledger, 0, 10, &range);
    ck_assert_int_eq(ledger_release(&ledger, 0, &released), 0);
    ck_assert_uint_eq(released, 10);
    ck_assert_int_eq(ledger_grant(&ledger, 1, 10, &range), 1);
    ck_assert_uint_eq(range.first, 0);
    /* The one who was given up comes back with its result after all. */
    ck_assert_int_eq(ledger_commit(&ledger, 0, 0, 10, 3), LEDGER_COMMITTED);
    ck_assert_int_eq(ledger_commit(&ledger, 1, 0, 10, 3), LEDGER_DUPLICATE);
    ck_assert_uint_eq(ledger.duplicates, 1);
    ck_assert_uint_eq(ledger.done, 10);
    ck_assert_uint_eq(ledger.digest, 3);
    ck_assert_uint_eq(accounted(&ledger), 30);
    ledger_fini(&ledger);
}
END_TEST

START_TEST(exactly_one_range_is_claimed_and_returned)
{
    struct ledger ledger;
    struct range range;
    ck_assert_int_eq(ledger_init(&ledger, 0, 30, 2), 0);
    ck_assert_int_eq(ledger_claim(&ledger, 1, 10, 5), 1);
    ck_assert_int_eq(ledger_claim(&ledger, 0, 14, 5), 0); /* one of it is taken */
    ck_assert_int_eq(ledger_claim(&ledger, 0, 29, 2), 0); /* outside */
    ck_assert_int_eq(ledger_grant(&ledger, 0, 30, &range), 1);
    ck_assert_uint_eq(range.count, 10);
    ck_assert_int_eq(ledger_return(&ledger, 1, 12, 3), 0);
    ck_assert_uint_eq(ranges_total(&ledger.granted[1]), 2);
    ck_assert_int_eq(ledger_commit(&ledger, 1, 10, 2, 1), LEDGER_COMMITTED);
    ck_assert_uint_eq(accounted(&ledger), 30);
    ledger_fini(&ledger);
}
END_TEST

START_TEST(what_is_given_up_completes_the_loop)
{
    struct ledger ledger;
    struct range range;
    struct ranges given_up;
    ranges_init(&given_up);
    ck_assert_int_eq(ledger_init(&ledger, 0, 30, 2), 0);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 10, &range), 1);
    ck_assert_int_eq(ledger_grant(&ledger, 1, 10, &range), 1);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 0, 7, 1), LEDGER_COMMITTED);
    ck_assert_int_eq(ledger_give_up(&ledger, 5, 17, &given_up), 0); /* done, of both, and free */
    ck_assert_uint_eq(ranges_total(&ledger.failed), 15);
    ck_assert(ranges_total(&given_up) == 15 && ranges_covers(&given_up, 7, 15));
    ranges_clear(&given_up);
    ck_assert_int_eq(ledger_give_up(&ledger, 5, 17, &given_up), 0);
    ck_assert_uint_eq(ranges_total(&given_up), 0);
    ranges_fini(&given_up);
    ck_assert_uint_eq(accounted(&ledger), 30);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 7, 3, 1), LEDGER_DUPLICATE);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 30, &range), 1);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 22, 8, 1), LEDGER_COMMITTED);
    ck_assert(ledger_is_complete(&ledger));
    ledger_fini(&ledger);
}
END_TEST

/* The last holder, which is all workers without a master, stays the last one. */
START_TEST(holders_join)
{
    struct ledger ledger;
    struct range range;
    uint64_t released;
    ck_assert_int_eq(ledger_init(&ledger, 0, 100, 2), 0);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 10, &range), 1);
    ck_assert_int_eq(ledger_grant(&ledger, 1, 20, &range), 1);
    ck_assert_int_eq(ledger_reserve(&ledger, 1), 0);
    ck_assert_int_eq(ledger_reserve(&ledger, 4), 0);
    ck_assert_uint_eq(ledger.holders, 2);
    ledger_add_holder(&ledger);
    ck_assert(ledger.holders == 3 && ranges_total(&ledger.granted[1]) == 0 && ranges_total(&ledger.granted[2]) == 20);
    ck_assert_int_eq(ledger_grant(&ledger, 1, 30, &range), 1);
    ck_assert_uint_eq(range.first, 30);
    ledger_add_holder(&ledger);
    ck_assert(ledger.holders == 4 && ranges_total(&ledger.granted[2]) == 0 && ranges_total(&ledger.granted[3]) == 20);
    ck_assert_uint_eq(accounted(&ledger), 100);
    ck_assert_int_eq(ledger_release(&ledger, 3, &released), 0);
    ck_assert_uint_eq(released, 20);
    ck_assert_int_eq(ledger_commit(&ledger, 1, 30, 30, 5), LEDGER_COMMITTED);
    ck_assert_int_eq(ledger_grant(&ledger, 2, 20, &range), 1);
    ck_assert_uint_eq(range.first, 10);
    ck_assert_uint_eq(accounted(&ledger), 100);
    ledger_fini(&ledger);
}
END_TEST

START_TEST(what_was_never_granted_is_refused)
{
    struct ledger ledger;
    struct range range;
    ck_assert_int_eq(ledger_init(&ledger, 10, 30, 1), 0);
    ledger_grant(&ledger, 0, 10, &range);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 0, 10, 0), LEDGER_MISMATCH);  /* before the loop */
    ck_assert_int_eq(ledger_commit(&ledger, 0, 35, 10, 0), LEDGER_MISMATCH); /* over its end */
    ck_assert_int_eq(ledger_commit(&ledger, 0, UINT64_MAX - 1, 10, 0), LEDGER_MISMATCH);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 10, 0, 0), LEDGER_MISMATCH);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 10, 5, 0), LEDGER_COMMITTED);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 12, 5, 0), LEDGER_MISMATCH);  /* half done, half open */
    ck_assert_int_eq(ledger_commit(&ledger, 0, 20, 5, 0), LEDGER_MISMATCH);  /* free */
    ck_assert_int_eq(ledger_commit(&ledger, 0, 15, 10, 0), LEDGER_MISMATCH); /* granted to it, and free */
    ck_assert_uint_eq(ledger.done, 5);
    ck_assert_uint_eq(accounted(&ledger), 30);
    ledger_fini(&ledger);
}
END_TEST

/* Its holder has given it back, or was lost, and the result comes after all. */
START_TEST(what_was_granted_before_counts)
{
    struct ledger ledger;
    struct range range;
    uint64_t released;
    ck_assert_int_eq(ledger_init(&ledger, 10, 50, 2), 0);
    ledger_grant(&ledger, 0, 10, &range);
    ledger_grant(&ledger, 1, 10, &range);
    ck_assert_int_eq(ledger_return(&ledger, 1, 25, 5), 0);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 28, 2, 1), LEDGER_GIVEN_BACK);
    ck_assert_int_eq(ledger_commit(&ledger, 1, 28, 2, 1), LEDGER_DUPLICATE);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 26, 6, 1), LEDGER_MISMATCH);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 30, 1, 1), LEDGER_MISMATCH);
    ck_assert_int_eq(ledger_release(&ledger, 0, &released), 0);
    ck_assert_int_eq(ledger_commit(&ledger, 1, 12, 3, 1), LEDGER_GIVEN_BACK);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 20, 6, 1), LEDGER_GIVEN_BACK); /* of the other, and free */
    ck_assert_int_eq(ledger_commit(&ledger, 0, 29, 2, 1), LEDGER_MISMATCH);
    ck_assert_uint_eq(ledger.done, 11);
    ck_assert_uint_eq(accounted(&ledger), 50);
    ledger_fini(&ledger);
}
END_TEST

START_TEST(an_empty_loop_is_complete)
{
    struct ledger ledger;
    struct range range;
    ck_assert_int_eq(ledger_init(&ledger, 7, 0, 3), 0);
    ck_assert(ledger_is_complete(&ledger));
    ck_assert_int_eq(ledger_grant(&ledger, 0, 5, &range), 0);
    ledger_fini(&ledger);
}
END_TEST

START_TEST(a_loop_that_grows_is_not_complete_before_its_end_is_known)
{
    struct ledger ledger;
    struct range range;
    ck_assert_int_eq(ledger_init(&ledger, 7, 0, 3), 0);
    ledger.grows = true;
    ck_assert(!ledger_is_complete(&ledger));
    ck_assert_int_eq(ledger_grant(&ledger, 0, 5, &range), 0);
    ck_assert_int_eq(ledger_grow(&ledger, 3), 0);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 5, &range), 1);
    ck_assert(range.first == 7 && range.count == 3);
    ck_assert_int_eq(ledger_grow(&ledger, 4), 0);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 7, 3, 1), LEDGER_COMMITTED);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 11, 1, 1), LEDGER_MISMATCH); /* nobody knows of it yet */
    ck_assert_uint_eq(ranges_total(&ledger.free), 1);
    ledger_check(&ledger);
    ck_assert_int_eq(ledger_grant(&ledger, 2, 5, &range), 1);
    ck_assert_int_eq(ledger_commit(&ledger, 2, 10, 1, 1), LEDGER_COMMITTED);
    ck_assert(!ledger_is_complete(&ledger));
    ledger.grows = false;
    ck_assert(ledger_is_complete(&ledger));
    ledger_fini(&ledger);
}
END_TEST

/* Holders take ranges, finish them whole, lose them, and sometimes report them twice: it must add up, and end. */
START_TEST(random_histories_end_with_each_iteration_done_once)
{
    enum { HOLDERS = 5, LOOP = 500 };
    struct ledger ledger;
    struct random random;
    struct range held[HOLDERS], old = {0, 0};
    bool holds[HOLDERS] = {false};
    random_init(&random, (uint64_t)_i);
    ck_assert_int_eq(ledger_init(&ledger, 0, LOOP, HOLDERS), 0);
    for (int step = 0; step < 100000 && !ledger_is_complete(&ledger); step++) {
        unsigned h = (unsigned)random_between(&random, 0, HOLDERS - 1);
        uint64_t released;
        if (!holds[h]) {
            holds[h] = ledger_grant(&ledger, h, random_between(&random, 1, 20), &held[h]) == 1;
        } else if (random_between(&random, 0, 3) == 0) {
            ledger_release(&ledger, h, &released);
            ck_assert_uint_eq(released, held[h].count);
            holds[h] = false;
        } else {
            ck_assert_int_eq(ledger_commit(&ledger, h, held[h].first, held[h].count, held[h].count), LEDGER_COMMITTED);
            old = held[h];
            holds[h] = false;
        }
        if (old.count > 0 && random_between(&random, 0, 9) == 0)
            ck_assert_int_eq(ledger_commit(&ledger, h, old.first, old.count, 99), LEDGER_DUPLICATE);
        ck_assert_uint_eq(accounted(&ledger), LOOP);
    }
    ck_assert(ledger_is_complete(&ledger));
    ck_assert_uint_eq(ledger.digest, LOOP);
    ledger_fini(&ledger);
}
END_TEST

START_TEST(what_an_earlier_run_has_done_is_not_granted)
{
    struct ledger ledger;
    struct ranges done;
    struct range range;
    ranges_init(&done);
    ck_assert_int_eq(ranges_add(&done, 100, 10, NULL), 0);
    ck_assert_int_eq(ranges_add(&done, 120, 5, NULL), 0);
    ck_assert_int_eq(ledger_init(&ledger, 100, 30, 1), 0);
    ck_assert_int_eq(ledger_restore(&ledger, &done, 77), 0);
    ck_assert_uint_eq(accounted(&ledger), 30);
    ck_assert_uint_eq(ledger.done, 15);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 30, &range), 1);
    ck_assert(range.first == 110 && range.count == 10);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 30, &range), 1);
    ck_assert(range.first == 125 && range.count == 5);
    ck_assert_int_eq(ledger_grant(&ledger, 0, 30, &range), 0);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 120, 5, 1), LEDGER_DUPLICATE);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 110, 10, 2), LEDGER_COMMITTED);
    ck_assert_int_eq(ledger_commit(&ledger, 0, 125, 5, 3), LEDGER_COMMITTED);
    ck_assert(ledger_is_complete(&ledger));
    ck_assert_uint_eq(ledger.digest, 82);
    ledger_fini(&ledger);
    ranges_fini(&done);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *all = tcase_create("ledger");
    tcase_add_test(all, grants_are_the_lowest_free_range);
    tcase_add_test(all, the_first_result_wins);
    tcase_add_test(all, results_of_another_count_with_many_holders);
    tcase_add_test(all, exactly_one_range_is_claimed_and_returned);
    tcase_add_test(all, what_is_given_up_completes_the_loop);
    tcase_add_test(all, what_was_never_granted_is_refused);
    tcase_add_test(all, what_was_granted_before_counts);
    tcase_add_test(all, an_empty_loop_is_complete);
    tcase_add_test(all, holders_join);
    tcase_add_test(all, a_loop_that_grows_is_not_complete_before_its_end_is_known);
    tcase_add_test(all, what_an_earlier_run_has_done_is_not_granted);
    tcase_add_loop_test(all, random_histories_end_with_each_iteration_done_once, 0, 20);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
