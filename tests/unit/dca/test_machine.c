/* SPDX-License-Identifier: MIT */
/* The worker of DCA, event by event: what each answer leads to, delays included, and what a stop leaves undone. That
 * workers share a loop whatever the order of their accesses is tried by tests/seeds/dca.c. */
#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/dca/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <signal.h>
#include <string.h>

static struct dca_core core;
static struct dca_machine machine;
static struct dca_action action;

static void begin(const char *technique, bool two_counters, bool by_node)
{
    const struct sched_spec spec = spec_of(technique);
    const struct dca_config config = {
        .technique = &spec, .sched = {.iterations = 1000, .workers = 4}, .two_counters = two_counters};
    struct error error;
    ck_assert_msg(dca_init(&core, &config, &error) == 0, "%s", error.text);
    dca_machine_init(&machine, &core, 1, 1, by_node);
    ck_assert_ptr_eq(dca_machine_check(&machine), NULL);
}

static void step(const struct dca_event *event)
{
    action = dca_machine_step(&machine, event);
    ck_assert_ptr_eq(dca_machine_check(&machine), NULL);
}

static void tell(enum dca_event_type type)
{
    step(&(struct dca_event){.type = type});
}

static void answer(uint64_t value)
{
    step(&(struct dca_event){.type = DCA_EVENT_FETCHED, .value = value});
}

static void draw(enum dca_drawn result, uint64_t first, uint64_t count)
{
    step(&(struct dca_event){.type = DCA_EVENT_DREW, .drawn = {.result = result, .range = {first, count}}});
}

static void answer_claim(bool claimed)
{
    step(&(struct dca_event){.type = DCA_EVENT_CLAIMED, .claimed = claimed});
}

static void cut(uint64_t first, uint64_t count)
{
    step(&(struct dca_event){.type = DCA_EVENT_CUT, .cut = {first, count}});
}

static void expect_fetch(enum dca_counter counter, uint64_t amount, bool assigns, bool calculated)
{
    ck_assert_uint_eq(action.type, DCA_ACTION_FETCH_ADD);
    ck_assert_uint_eq(action.counter, counter);
    ck_assert_uint_eq(action.amount, amount);
    ck_assert(action.assigns == assigns && action.calculated == calculated);
}

static void expect_range(enum dca_action_type type, uint64_t first, uint64_t count, bool calculated)
{
    ck_assert_uint_eq(action.type, type);
    ck_assert_uint_eq(action.range.first, first);
    ck_assert_uint_eq(action.range.count, count);
    ck_assert(action.calculated == calculated);
}

static void expect(enum dca_action_type type)
{
    ck_assert_uint_eq(action.type, type);
}

START_TEST(by_place_one_counter_says_all)
{
    begin("css:chunk=100", false, false);
    tell(DCA_EVENT_START);
    expect_fetch(DCA_STEP, 1, true, false);
    answer(3);
    expect_range(DCA_ACTION_COMPUTE, 300, 100, true);
    tell(DCA_EVENT_FINISHED);
    expect_fetch(DCA_STEP, 1, true, false);
    answer(10);
    expect(DCA_ACTION_END);
    ck_assert_str_eq(dca_state_name(machine.state), "ENDED");
    dca_fini(&core);
}
END_TEST

START_TEST(by_step_the_second_counter_says_where)
{
    begin("css:chunk=300", true, false);
    tell(DCA_EVENT_START);
    expect_fetch(DCA_STEP, 1, false, false);
    answer(1);
    expect_fetch(DCA_START, 300, true, true);
    answer(800);
    expect_range(DCA_ACTION_COMPUTE, 800, 200, false);
    tell(DCA_EVENT_FINISHED);
    answer(2);
    answer(1000);
    expect(DCA_ACTION_END);
    dca_fini(&core);
}
END_TEST

START_TEST(by_rest_the_counter_is_read_first)
{
    begin("dgss", false, false);
    tell(DCA_EVENT_START);
    expect_fetch(DCA_START, 0, false, false);
    answer(600);
    expect_fetch(DCA_START, 100, true, true);
    answer(700); /* somebody was quicker */
    expect_range(DCA_ACTION_COMPUTE, 700, 100, false);
    dca_fini(&core);
}
END_TEST

START_TEST(who_learns_exchanges_before_each_draw)
{
    begin("af", false, false);
    dca_machine_measure(&machine, 10, 1000, 0, 5, 4);
    tell(DCA_EVENT_START);
    expect(DCA_ACTION_EXCHANGE);
    core.fresh[machine.worker] = machine.own;
    core.fresh[2] = (struct dca_measured){.chunks = 1, .iterations = 7, .check = 1}; /* half new */
    tell(DCA_EVENT_EXCHANGED);
    expect_fetch(DCA_START, 0, false, false);
    ck_assert_uint_eq(core.known[machine.worker].iterations, 10);
    ck_assert_uint_eq(core.known[2].iterations, 0);
    dca_fini(&core);
}
END_TEST

START_TEST(whoever_finds_the_queue_empty_refills_it)
{
    begin("css:chunk=400", false, true);
    tell(DCA_EVENT_START);
    expect(DCA_ACTION_DRAW);
    draw(DCA_REFILL, 0, 0);
    expect_fetch(DCA_STEP, 1, true, false);
    answer(2);
    expect_range(DCA_ACTION_PUBLISH, 800, 200, true);
    tell(DCA_EVENT_PUBLISHED);
    expect(DCA_ACTION_DRAW);
    draw(DCA_DRAWN, 810, 20);
    expect_range(DCA_ACTION_COMPUTE, 810, 20, true);
    tell(DCA_EVENT_FINISHED);
    draw(DCA_REFILL, 900, 100); /* what was left of a long one */
    expect_range(DCA_ACTION_PUBLISH, 900, 100, false);
    tell(DCA_EVENT_PUBLISHED);
    draw(DCA_REFILL, 0, 0);
    answer(3);
    expect_range(DCA_ACTION_PUBLISH, 0, 0, false); /* the end, for all of the node */
    tell(DCA_EVENT_PUBLISHED);
    draw(DCA_END, 0, 0);
    expect(DCA_ACTION_END);
    dca_fini(&core);
}
END_TEST

START_TEST(the_others_wait_for_the_refill)
{
    begin("css:chunk=400", false, true);
    tell(DCA_EVENT_START);
    for (int i = 0; i < 3; i++) {
        draw(DCA_WAIT, 0, 0);
        expect(DCA_ACTION_AWAIT);
        tell(DCA_EVENT_REFILLED); /* it may be too early */
        expect(DCA_ACTION_DRAW);
    }
    draw(DCA_BROKEN, 0, 0);
    expect(DCA_ACTION_END);
    dca_fini(&core);
}
END_TEST

/* The end of a chunk is cut off and given up once the queue is claimed, and the chunk ends earlier. */
START_TEST(a_chunk_is_cut_for_who_is_hungry)
{
    begin("css:chunk=400", false, true);
    tell(DCA_EVENT_START);
    draw(DCA_DRAWN, 400, 100);
    tell(DCA_EVENT_WANTED);
    expect(DCA_ACTION_CLAIM);
    answer_claim(false); /* another worker was quicker */
    expect(DCA_ACTION_NONE);
    tell(DCA_EVENT_WANTED);
    answer_claim(true);
    expect(DCA_ACTION_CUT);
    cut(460, 40);
    expect_range(DCA_ACTION_GIVE, 460, 40, false);
    ck_assert_uint_eq(machine.chunk.count, 60);
    tell(DCA_EVENT_WANTED);
    answer_claim(true);
    cut(0, 0); /* all has begun */
    expect_range(DCA_ACTION_GIVE, 0, 0, false);
    ck_assert_uint_eq(machine.chunk.count, 60);
    tell(DCA_EVENT_FINISHED);
    expect(DCA_ACTION_DRAW);
    dca_fini(&core);
}
END_TEST

START_TEST(who_is_hungry_draws_again_and_ends_with_the_queue)
{
    begin("css:chunk=400", false, true);
    tell(DCA_EVENT_START);
    draw(DCA_HUNGRY, 0, 0);
    expect(DCA_ACTION_STARVE);
    ck_assert_str_eq(dca_state_name(machine.state), "STARVING");
    tell(DCA_EVENT_REFILLED);
    expect(DCA_ACTION_DRAW);
    draw(DCA_DRAWN, 460, 10);
    expect_range(DCA_ACTION_COMPUTE, 460, 10, true);
    tell(DCA_EVENT_FINISHED);
    draw(DCA_HUNGRY, 0, 0);
    tell(DCA_EVENT_REFILLED);
    draw(DCA_END, 0, 0);
    expect(DCA_ACTION_END);
    dca_fini(&core);
}
END_TEST

START_TEST(a_stop_ends_what_has_not_begun)
{
    begin("dgss", false, false);
    tell(DCA_EVENT_START);
    tell(DCA_EVENT_STOP);
    expect(DCA_ACTION_STOP);
    ck_assert_uint_eq(action.counters, 1u << DCA_STEP | 1u << DCA_START);
    ck_assert_uint_eq(action.amount, core.stop);
    tell(DCA_EVENT_STOP);
    expect(DCA_ACTION_NONE); /* once for each rank */
    answer(0);               /* this was fetched before the stop */
    answer(0);
    expect_range(DCA_ACTION_COMPUTE, 0, 250, false);
    tell(DCA_EVENT_FINISHED);
    expect(DCA_ACTION_END);
    dca_fini(&core);
}
END_TEST

/* A big chunk that is fetched when the run is stopped is published, so that nobody waits for it. */
START_TEST(a_stop_leaves_nobody_waiting)
{
    begin("css:chunk=400", false, true);
    tell(DCA_EVENT_START);
    draw(DCA_REFILL, 0, 0);
    tell(DCA_EVENT_STOP);
    ck_assert_uint_eq(action.counters, 1u << DCA_STEP);
    answer(1);
    expect_range(DCA_ACTION_PUBLISH, 400, 400, true);
    tell(DCA_EVENT_PUBLISHED);
    expect(DCA_ACTION_END);
    dca_fini(&core);
}
END_TEST

START_TEST(a_draw_in_one_is_that_of_two_steps)
{
    struct range chunk;
    begin("fac2", false, false);
    for (uint64_t i = 0; dca_machine_draw_step(&machine, i, &chunk); i++) {
        const struct dca_machine quick = machine;
        machine.state = DCA_IDLE;
        tell(DCA_EVENT_START);
        answer(i);
        expect_range(DCA_ACTION_COMPUTE, chunk.first, chunk.count, true);
        ck_assert(quick.state == machine.state && memcmp(&quick.chunk, &machine.chunk, sizeof quick.chunk) == 0);
    }
    ck_assert_int_eq(machine.state, DCA_ENDED);
    dca_fini(&core);
}
END_TEST

START_TEST(the_check_finds_what_cannot_be)
{
    begin("css:chunk=400", false, false);
    machine.state = DCA_AWAITING;
    ck_assert_str_eq(dca_machine_check(&machine), "a worker without a queue waits for one");
    machine.state = DCA_COMPUTING;
    machine.chunk = (struct range){900, 101};
    ck_assert_str_eq(dca_machine_check(&machine), "a worker computes what is not in the loop");
    machine.state = DCA_TAKING;
    ck_assert_str_eq(dca_machine_check(&machine), "a worker takes iterations without a size");
    machine.state = DCA_EXCHANGING;
    ck_assert_ptr_ne(dca_machine_check(&machine), NULL);
    machine.state = DCA_IDLE;
    machine.carry = 1;
    ck_assert_ptr_ne(dca_machine_check(&machine), NULL);
    dca_fini(&core);
}
END_TEST

/* No answer is awaited of a counter before START. */
START_TEST(an_event_that_is_not_awaited_stops_the_program)
{
    begin("css:chunk=100", false, false);
    answer(3);
}
END_TEST

START_TEST(work_is_not_wanted_of_who_draws)
{
    begin("css:chunk=400", false, true);
    tell(DCA_EVENT_START);
    tell(DCA_EVENT_WANTED);
}
END_TEST

/* Who has no queue of its node does not come to wait for one. */
START_TEST(a_move_that_the_table_does_not_have_stops_the_program)
{
    begin("css:chunk=100", true, false);
    machine.state = DCA_AWAITING;
    tell(DCA_EVENT_REFILLED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dca-machine");
    TCase *tcase = tcase_create("steps");
    tcase_add_test(tcase, by_place_one_counter_says_all);
    tcase_add_test(tcase, by_step_the_second_counter_says_where);
    tcase_add_test(tcase, by_rest_the_counter_is_read_first);
    tcase_add_test(tcase, who_learns_exchanges_before_each_draw);
    tcase_add_test(tcase, whoever_finds_the_queue_empty_refills_it);
    tcase_add_test(tcase, the_others_wait_for_the_refill);
    tcase_add_test(tcase, a_chunk_is_cut_for_who_is_hungry);
    tcase_add_test(tcase, who_is_hungry_draws_again_and_ends_with_the_queue);
    tcase_add_test(tcase, a_stop_ends_what_has_not_begun);
    tcase_add_test(tcase, a_stop_leaves_nobody_waiting);
    tcase_add_test(tcase, a_draw_in_one_is_that_of_two_steps);
    tcase_add_test(tcase, the_check_finds_what_cannot_be);
    tcase_add_test_raise_signal(tcase, an_event_that_is_not_awaited_stops_the_program, SIGABRT);
    tcase_add_test_raise_signal(tcase, work_is_not_wanted_of_who_draws, SIGABRT);
    tcase_add_test_raise_signal(tcase, a_move_that_the_table_does_not_have_stops_the_program, SIGABRT);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
