/* SPDX-License-Identifier: MIT */
/* When the next refill of a pool is asked for, by made-up times, and in which order one is cut. */
#include "common/service/refill.h"
#include "tests/lib/suite.h"

enum { WORKERS = 4 };

static struct refills refills;
static uint64_t assigned, now_ns;

static void begin(void)
{
    refills_init(&refills, WORKERS, 1, REFILLS_OPEN_MAX, false);
    assigned = 0;
    now_ns = 1000;
}

/* Hands out `count` chunks, one every `gap_ns`. */
static void hand_out(unsigned count, uint64_t gap_ns)
{
    for (unsigned i = 0; i < count; i++) {
        now_ns += gap_ns;
        assigned++;
        if (refills_gap_is_over(&refills, assigned))
            refills_measure_gap(&refills, assigned, now_ns);
    }
}

static void ask_and_take(uint64_t round_trip_ns)
{
    refills_ask(&refills, now_ns);
    now_ns += round_trip_ns;
    refills_take(&refills, now_ns);
}

START_TEST(until_something_is_known_it_is_asked_for_with_the_pool_empty)
{
    begin();
    ck_assert(!refills_are_wanted(&refills, 0, 0));
    ck_assert(refills_are_wanted(&refills, 0, 1));
    ck_assert(!refills_are_wanted(&refills, 1, 1));
    refills_ask(&refills, now_ns);
    ck_assert(!refills_are_wanted(&refills, 0, 3));
    hand_out(WORKERS, 10);
    ck_assert_uint_eq(refills.gap_ns, UINT64_MAX); /* the first chunks of the workers tell nothing */
}
END_TEST

/* Whatever the times are that let another master ask ahead. */
START_TEST(when_empty_waits_for_the_last_chunk_to_be_handed_out)
{
    begin();
    refills.when_empty = true;
    ck_assert(!refills_are_wanted(&refills, 0, 0)); /* nobody has asked for anything yet */
    ck_assert(refills_are_wanted(&refills, 0, 1));
    for (unsigned i = 0; i < 60; i++) {
        ask_and_take(8000);
        hand_out(WORKERS, 1000);
    }
    ck_assert_uint_gt(refills.low_water_mark, 1);
    ck_assert(!refills_are_wanted(&refills, 1, 1));
    ck_assert(refills_are_wanted(&refills, 0, 0));
    refills_ask(&refills, now_ns);
    ck_assert(!refills_are_wanted(&refills, 0, 3));
    refills.parked = true;
    ck_assert(!refills_are_wanted(&refills, 0, 3));
}
END_TEST

START_TEST(the_pool_lasts_for_a_round_trip_and_a_half)
{
    begin();
    for (unsigned i = 0; i < 60; i++) { /* smoothed: in the end nothing is left of what was taken for it at first */
        ask_and_take(8000);
        hand_out(WORKERS, 1000);
    }
    ck_assert_uint_eq(refills.low_water_mark, refills.round_trip_ns * 3 / 2 / refills.gap_ns);
    ck_assert(refills.round_trip_ns >= 8000 && refills.round_trip_ns < 8100);
    uint64_t mark = refills.low_water_mark;
    ck_assert(mark >= 3 && mark <= 12);
    ck_assert(refills_are_wanted(&refills, mark, 0));
    ck_assert(!refills_are_wanted(&refills, mark + 1, 0));
    ck_assert(refills_are_wanted(&refills, mark + 1, 1));
    refills_ask(&refills, now_ns); /* what is on its way counts */
    ck_assert(!refills_are_wanted(&refills, mark, 0));
    ck_assert(mark < WORKERS || refills_are_wanted(&refills, mark - WORKERS, 0));
}
END_TEST

START_TEST(a_refill_that_lasts_is_not_asked_for_ahead)
{
    begin();
    for (unsigned i = 0; i < 60; i++) {
        ask_and_take(1000);
        hand_out(WORKERS, 100000);
    }
    ck_assert_uint_eq(refills.low_water_mark, 0);
    ck_assert(refills_are_wanted(&refills, 0, 1) && !refills_are_wanted(&refills, 1, 1));
}
END_TEST

START_TEST(no_more_are_open_than_may_be)
{
    begin();
    ask_and_take(1000000);
    hand_out(3 * WORKERS, 1);
    for (unsigned i = 0; i < REFILLS_OPEN_MAX; i++) {
        ck_assert(refills_are_wanted(&refills, 0, 1));
        refills_ask(&refills, now_ns);
    }
    ck_assert(!refills_are_wanted(&refills, 0, 100));
}
END_TEST

/* Fifty refills are handed out in a round trip over a stream: it keeps as many open as may be. */
START_TEST(more_are_open_over_a_stream)
{
    begin();
    refills_init(&refills, WORKERS, 1, REFILLS_OPEN_FAR_MAX, false);
    for (unsigned i = 0; i < 3 * REFILLS_OPEN_FAR_MAX; i++) { /* the ring of their times goes round */
        refills_ask(&refills, now_ns);
        hand_out(50 * WORKERS, 1000); /* while it is on its way */
        refills_take(&refills, now_ns);
    }
    ck_assert_uint_gt(refills.low_water_mark, REFILLS_OPEN_MAX * WORKERS);
    for (unsigned i = 0; i < REFILLS_OPEN_FAR_MAX; i++) {
        ck_assert(refills_are_wanted(&refills, 0, 1));
        refills_ask(&refills, now_ns);
    }
    ck_assert(!refills_are_wanted(&refills, 0, 100));
}
END_TEST

START_TEST(a_parked_refill_is_no_round_trip)
{
    begin();
    hand_out(2 * WORKERS, 1000);
    uint64_t before = refills.round_trip_ns;
    refills_ask(&refills, now_ns);
    refills.parked = true;
    ck_assert(!refills_are_wanted(&refills, 0, 1));
    now_ns += UINT64_C(1000000000);
    refills_take(&refills, now_ns);
    ck_assert_uint_eq(refills.round_trip_ns, before);
    ck_assert(!refills.parked);
}
END_TEST

struct cuts {
    unsigned order[64], count, most;
};

static bool note_cut(void *context, unsigned i)
{
    struct cuts *cuts = context;
    if (cuts->count == cuts->most)
        return false;
    cuts->order[cuts->count++] = i;
    return true;
}

START_TEST(a_refill_is_cut_for_each_worker_in_turn)
{
    struct cuts all = {.most = 64}, some = {.most = 5}, none = {.most = 64};
    refill_cut(3, 6, note_cut, &all);
    ck_assert_uint_eq(all.count, 6);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(all.order[i], i % 3);
    refill_cut(3, 6, note_cut, &some);
    ck_assert_uint_eq(some.count, 5);
    refill_cut(0, 0, note_cut, &none);
    ck_assert_uint_eq(none.count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refills");
    TCase *all = tcase_create("refills");
    tcase_add_test(all, until_something_is_known_it_is_asked_for_with_the_pool_empty);
    tcase_add_test(all, when_empty_waits_for_the_last_chunk_to_be_handed_out);
    tcase_add_test(all, the_pool_lasts_for_a_round_trip_and_a_half);
    tcase_add_test(all, a_refill_that_lasts_is_not_asked_for_ahead);
    tcase_add_test(all, no_more_are_open_than_may_be);
    tcase_add_test(all, more_are_open_over_a_stream);
    tcase_add_test(all, a_parked_refill_is_no_round_trip);
    tcase_add_test(all, a_refill_is_cut_for_each_worker_in_turn);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
