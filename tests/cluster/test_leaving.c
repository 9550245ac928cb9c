/* SPDX-License-Identifier: MIT */
/* How a worker leaves that computes when it is told to. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "proto/message.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

static struct worker worker;
static struct actions actions;

static void step(const struct event *event)
{
    actions_clear(&actions);
    worker_step(&worker, event, &actions);
}

static void give(uint64_t now_ns, const struct message *message)
{
    step(&(struct event){.type = EVENT_MESSAGE, .now_ns = now_ns, .from = 1, .message = message});
}

/* It computes [0, 100) from 10 on. */
static void start_worker(void)
{
    static const struct run_spec spec = {.ask_ahead = ASK_AHEAD_OFF, .drain_ns = 500};
    const struct worker_config config = {.spec = &spec, .rank = 7, .master = 1};
    ck_assert_int_eq(actions_init(&actions, 8), 0);
    worker_init(&worker, &config);
    step(&(struct event){.type = EVENT_START});
    give(10, &(struct message){.type = MESSAGE_ASSIGN, .assign = {1, 0, 100}});
    ck_assert_str_eq(worker_state_name(&worker), "COMPUTING");
}

/* The last step was GOODBYE and EXIT. */
static void assert_left(void)
{
    ck_assert_uint_eq(actions.length, 2);
    ck_assert_int_eq(actions.items[0].send.message.type, MESSAGE_GOODBYE);
    ck_assert_int_eq(actions.items[1].type, ACTION_EXIT);
    ck_assert_str_eq(worker_state_name(&worker), "GONE");
    actions_fini(&actions);
}

START_TEST(an_end_is_the_end_of_the_running_chunk)
{
    start_worker();
    give(20, &(struct message){.type = MESSAGE_END});
    assert_left();
}
END_TEST

START_TEST(a_drain_lets_it_finish)
{
    start_worker();
    give(20, &(struct message){.type = MESSAGE_END, .end = {.drain = true}});
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_CUT); /* nothing is to begin any more */
    ck_assert_uint_eq(actions.items[0].cut.waiting, RECALL_ALL);
    step(&(struct event){.type = EVENT_CUT, .now_ns = 20, .cut = {30, 70}});
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_int_eq(actions.items[0].send.message.type, MESSAGE_RETURNED);
    ck_assert_uint_eq(actions.items[0].send.message.record_count, 1);
    step(&(struct event){.type = EVENT_FINISHED, .now_ns = 400, .chunk = {.done = 30, .count = 30}});
    ck_assert_uint_eq(actions.length, 3);
    ck_assert(actions.items[0].send.message.request.done);
    actions_fini(&actions);
}
END_TEST

START_TEST(a_drain_does_not_wait_for_ever)
{
    start_worker();
    give(20, &(struct message){.type = MESSAGE_END, .end = {.drain = true}});
    const struct machine machine = worker_machine(&worker);
    ck_assert_uint_eq(machine.deadline(machine.self), 520);
    step(&(struct event){.type = EVENT_TIMER, .now_ns = 519});
    ck_assert_uint_eq(actions.length, 0);
    step(&(struct event){.type = EVENT_TIMER, .now_ns = 520});
    assert_left();
}
END_TEST

/* It gives back what is not done, also behind a drain, and leaves when its executor has ended. */
START_TEST(what_runs_is_given_back)
{
    start_worker();
    if (_i > 0) {
        give(15, &(struct message){.type = MESSAGE_END, .end = {.drain = true}});
        ck_assert(!actions.items[0].cut.now);
        step(&(struct event){.type = EVENT_CUT, .now_ns = 15, .cut = {90, 10}});
    }
    give(20, &(struct message){.type = MESSAGE_END, .end = {.drain = true, .now = true}});
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_CUT);
    ck_assert(actions.items[0].cut.now);
    const uint64_t done = _i > 1 ? 30 : 0;
    step(&(struct event){.type = EVENT_CUT, .now_ns = 20, .cut = {done, (_i > 0 ? 90 : 100) - done}});
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_int_eq(actions.items[0].send.message.type, MESSAGE_RETURNED);
    ck_assert_uint_eq(actions.items[0].send.message.record_count, 1);
    ck_assert_str_eq(worker_state_name(&worker), "LEAVING");
    step(&(struct event){.type = EVENT_FINISHED, .now_ns = 30, .chunk = {.done = done, .count = done}});
    if (done > 0) {
        ck_assert_uint_eq(actions.length, 3);
        ck_assert(actions.items[0].send.message.request.done);
        actions_fini(&actions);
    } else
        assert_left(); /* the master has nothing of it any more */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("leaving");
    TCase *all = tcase_create("leaving");
    tcase_add_test(all, an_end_is_the_end_of_the_running_chunk);
    tcase_add_test(all, a_drain_lets_it_finish);
    tcase_add_test(all, a_drain_does_not_wait_for_ever);
    tcase_add_loop_test(all, what_runs_is_given_back, 0, 3);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
