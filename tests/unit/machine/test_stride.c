/* SPDX-License-Identifier: MIT */
/* Which of several jobs computes next on a rank, by made-up times. */
#include "common/machine/stride.h"
#include "tests/lib/suite.h"

enum { JOBS_MAX = 4, TURN_NS = 1000 };

static struct stride stride;
static struct stride_share jobs[JOBS_MAX];
static unsigned job_count;

static void begin(void)
{
    stride = (struct stride){0};
    job_count = 0;
}

/* A job that has something to compute. */
static struct stride_share *add(unsigned weight, int priority)
{
    struct stride_share *job = &jobs[job_count++];
    *job = (struct stride_share){.weight = weight, .priority = priority};
    stride_admit(&stride, job);
    stride_want(&stride, job);
    stride_check(&stride);
    return job;
}

/* A turn: the first job that has its chance, and has something to compute, computes. */
static struct stride_share *take_turn(void)
{
    struct stride_share *job;
    stride_begin(&stride);
    while ((job = stride_next(&stride)) != NULL && !job->has_chunk)
        stride_pass(job);
    if (job != NULL)
        stride_charge(&stride, job, TURN_NS);
    stride_check(&stride);
    return job;
}

static void take_turns(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        take_turn();
}

START_TEST(time_is_shared_by_weight)
{
    begin();
    const struct stride_share *light = add(1, 0), *heavy = add(3, 0);
    take_turns(400);
    ck_assert_uint_eq(light->used_ns, 100 * TURN_NS);
    ck_assert_uint_eq(heavy->used_ns, 300 * TURN_NS);
}
END_TEST

START_TEST(of_two_that_have_used_as_much_the_first_is_next)
{
    begin();
    struct stride_share *first = add(1, 0), *second = add(1, 0);
    ck_assert_ptr_eq(take_turn(), first);
    ck_assert_ptr_eq(take_turn(), second);
    ck_assert_ptr_eq(take_turn(), first);
}
END_TEST

START_TEST(who_comes_later_begins_where_the_others_are)
{
    begin();
    const struct stride_share *old = add(1, 0);
    take_turns(1000);
    const struct stride_share *young = add(1, 0);
    take_turns(100);
    ck_assert_uint_eq(old->used_ns, 1050 * TURN_NS);
    ck_assert_uint_eq(young->used_ns, 50 * TURN_NS);
}
END_TEST

START_TEST(time_that_was_not_used_is_not_saved_up)
{
    begin();
    const struct stride_share *busy = add(1, 0);
    struct stride_share *idle = add(1, 0);
    idle->has_chunk = false;
    take_turns(1000);
    ck_assert_uint_eq(idle->used_ns, 0);
    stride_want(&stride, idle);
    take_turns(100);
    ck_assert_uint_eq(idle->used_ns, 50 * TURN_NS);
    ck_assert_uint_eq(busy->used_ns, 1050 * TURN_NS);
}
END_TEST

START_TEST(jobs_that_come_and_go_do_not_keep_the_others_from_computing)
{
    begin();
    const struct stride_share *stays = add(1, 0);
    struct stride_share *first = add(1, 0), *second = add(1, 0);
    for (unsigned i = 0; i < 100; i++) { /* each of them is over within its first turn */
        struct stride_share *job = take_turn();
        if (job == first || job == second) {
            stride_leave(&stride, job);
            *job = (struct stride_share){.weight = 1};
            stride_admit(&stride, job);
            stride_want(&stride, job);
        }
    }
    ck_assert_uint_ge(stays->used_ns, 20 * TURN_NS);
}
END_TEST

/* Though it had the highest priority, and others computed for it. */
START_TEST(who_ends_keeps_nobody_waiting)
{
    begin();
    struct stride_share *low = add(1, 0), *high = add(1, 2);
    stride_hold(high, 1);
    stride_end(high);
    stride_check(&stride);
    stride_begin(&stride);
    ck_assert_ptr_eq(stride_next(&stride), low);
    stride_pass(low);
    ck_assert_ptr_null(stride_next(&stride));
}
END_TEST

START_TEST(none_of_lower_priority_computes_while_a_job_has_a_chunk)
{
    begin();
    struct stride_share *low = add(100, 0), *high = add(1, 1);
    take_turns(100);
    ck_assert_uint_eq(high->used_ns, 100 * TURN_NS);
    ck_assert_uint_eq(low->used_ns, 0);
    high->has_chunk = false;
    ck_assert_ptr_eq(take_turn(), low);
    stride_want(&stride, high);
    ck_assert_ptr_eq(take_turn(), high);
    stride_leave(&stride, high); /* with its chunk */
    ck_assert_ptr_eq(take_turn(), low);
}
END_TEST

START_TEST(in_one_turn_each_job_has_its_chance_once)
{
    begin();
    struct stride_share *high = add(1, 1), *first = add(1, 0), *second = add(1, 0);
    high->has_chunk = false;
    stride_begin(&stride);
    ck_assert_ptr_eq(stride_next(&stride), high);
    ck_assert_ptr_eq(stride_next(&stride), first);
    ck_assert_ptr_eq(stride_next(&stride), second);
    ck_assert_ptr_null(stride_next(&stride));
}
END_TEST

START_TEST(while_others_compute_for_a_job_no_other_has_its_chance)
{
    begin();
    struct stride_share *away = add(1, 0), *other = add(1, 0), *high = add(1, 1);
    high->has_chunk = false;
    take_turn();
    stride_hold(away, 17);
    stride_want(&stride, high);
    stride_begin(&stride);
    ck_assert_ptr_eq(stride_next(&stride), away);
    ck_assert_uint_eq(away->held_since_ns, 17);
    stride_charge(&stride, away, TURN_NS);
    ck_assert_uint_eq(away->held_since_ns, 0);
    ck_assert_ptr_eq(take_turn(), high);
    high->has_chunk = false;
    ck_assert_ptr_eq(take_turn(), other);
}
END_TEST

START_TEST(who_has_left_has_no_chance_and_may_leave_again)
{
    begin();
    struct stride_share *first = add(1, 0), *second = add(1, 0);
    stride_leave(&stride, first);
    stride_leave(&stride, first);
    stride_check(&stride);
    take_turns(10);
    ck_assert_uint_eq(first->used_ns, 0);
    ck_assert_uint_eq(second->used_ns, 10 * TURN_NS);
    stride_leave(&stride, second);
    ck_assert_ptr_null(take_turn());
}
END_TEST

/* The owner leaves when its time is over and another has the lesser pass, or at once to a higher priority. */
START_TEST(a_turn_ends_when_another_has_the_lesser_pass)
{
    begin();
    stride.keeps_ns = 10;
    struct stride_share *owner = add(2, 0), *other = add(1, 0), *high = add(1, 1), *low = add(1, -1);
    high->has_chunk = other->has_chunk = false;
    ck_assert_uint_eq(stride_due_ns(&stride), STRIDE_NEVER);
    stride_own(&stride, owner, 100);
    stride_hold(owner, 100);
    stride_check(&stride);
    ck_assert_uint_eq(stride_due_ns(&stride), STRIDE_NEVER); /* a lower priority does not count */
    other->has_chunk = true;
    ck_assert_uint_eq(stride_due_ns(&stride), 110);
    other->pass = 15 * STRIDE_PASS_SCALE; /* twice the weight: 30 until it is as far */
    ck_assert_uint_eq(stride_due_ns(&stride), 130);
    stride_hold(owner, 0);
    ck_assert_uint_eq(stride_due_ns(&stride), STRIDE_NEVER); /* it is charged behind each turn */
    high->has_chunk = true;
    ck_assert_uint_eq(stride_due_ns(&stride), 0);
    stride_own(&stride, low, 100);
    high->has_chunk = false;
    ck_assert_uint_eq(stride_due_ns(&stride), 0);
    stride_leave(&stride, low);
    ck_assert_ptr_null(stride.owner);
    stride_check(&stride);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stride");
    TCase *all = tcase_create("stride");
    tcase_add_test(all, time_is_shared_by_weight);
    tcase_add_test(all, of_two_that_have_used_as_much_the_first_is_next);
    tcase_add_test(all, who_comes_later_begins_where_the_others_are);
    tcase_add_test(all, time_that_was_not_used_is_not_saved_up);
    tcase_add_test(all, jobs_that_come_and_go_do_not_keep_the_others_from_computing);
    tcase_add_test(all, who_ends_keeps_nobody_waiting);
    tcase_add_test(all, none_of_lower_priority_computes_while_a_job_has_a_chunk);
    tcase_add_test(all, in_one_turn_each_job_has_its_chance_once);
    tcase_add_test(all, while_others_compute_for_a_job_no_other_has_its_chance);
    tcase_add_test(all, who_has_left_has_no_chance_and_may_leave_again);
    tcase_add_test(all, a_turn_ends_when_another_has_the_lesser_pass);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
