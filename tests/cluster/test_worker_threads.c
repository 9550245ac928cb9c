/* SPDX-License-Identifier: MIT */
/* A worker whose executor has several chunks, step by step: with threads chunks begin as they come, with a helper one
 * begins ahead; the oldest is told of, and what waits is given up where another worker would just not begin it. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

enum { MASTER_RANK = 1 };

static struct worker worker;
static struct actions actions;
static struct threads figures = {3, 4, 1.5f, 0.25f, 60, 0, 0, 0};

static const struct action *step(struct event event, size_t count)
{
    actions_clear(&actions);
    worker_step(&worker, &event, &actions);
    ck_assert_uint_eq(actions.length, count);
    return actions.items;
}

static const struct action *tell(struct message message, size_t count)
{
    return step((struct event){.type = EVENT_MESSAGE, .from = MASTER_RANK, .message = &message, .now_ns = 1000}, count);
}

static const struct action *assign(uint32_t chunk, uint64_t first, uint64_t count, size_t actions_wanted)
{
    return tell((struct message){.type = MESSAGE_ASSIGN, .assign = {chunk, first, count, false}}, actions_wanted);
}

static const struct action *finish(size_t count)
{
    return step((struct event){.type = EVENT_FINISHED, .now_ns = 2000, .chunk = {.count = 10, .compute_ns = 500}},
                count);
}

static struct run_spec spec;

static void begin(enum ask_ahead ask_ahead)
{
    spec = (struct run_spec){.drain_ns = 1000000, .ask_ahead = ask_ahead, .ask_ahead_chunks = 2};
    worker_init(&worker, &(struct worker_config){.spec = &spec, .rank = 3, .master = MASTER_RANK, .threads = &figures});
    ck_assert_int_eq(actions_init(&actions, 16), 0);
    const struct action *asks = step((struct event){.type = EVENT_START}, 1);
    ck_assert_int_eq(asks->send.message.type, MESSAGE_REQUEST);
}

static void assert_runs(const struct action *action, uint64_t first)
{
    ck_assert_int_eq(action->type, ACTION_RUN);
    ck_assert_uint_eq(action->run.first, first);
}

START_TEST(chunks_begin_as_they_come_and_finish_in_order)
{
    begin(ASK_AHEAD_FIXED);
    const struct action *action = assign(1, 0, 10, 2); /* runs, and asks for two more */
    assert_runs(&action[0], 0);
    ck_assert_uint_eq(action[1].send.message.request.asks, 2);
    assert_runs(assign(2, 10, 10, 1), 10);
    assert_runs(assign(3, 20, 10, 1), 20);
    for (uint32_t chunk = 1; chunk <= 3; chunk++) { /* nothing is begun again */
        action = finish(1);
        ck_assert_int_eq(action->type, ACTION_SEND);
        ck_assert_uint_eq(action->send.message.request.chunk, chunk);
    }
    ck_assert_str_eq(worker_state_name(&worker), "ASKING");
    actions_fini(&actions);
}
END_TEST

START_TEST(threads_that_run_dry_are_asked_for_once)
{
    begin(ASK_AHEAD_AUTO);
    assign(1, 0, 10, 2);
    const struct action *action = step((struct event){.type = EVENT_DRY, .now_ns = 1200}, 1);
    ck_assert_int_eq(action->send.message.type, MESSAGE_REQUEST);
    ck_assert_uint_eq(action->send.message.request.asks, 1);
    step((struct event){.type = EVENT_DRY, .now_ns = 1300}, 0); /* one is on its way */
    assert_runs(assign(2, 10, 10, 1), 10);
    step((struct event){.type = EVENT_DRY, .now_ns = 1400}, 1);
    actions_fini(&actions);
}
END_TEST

START_TEST(a_drain_gives_up_all_but_the_oldest)
{
    begin(ASK_AHEAD_FIXED);
    assign(1, 0, 10, 2);
    assign(2, 10, 10, 1);
    const struct action *drained = tell((struct message){.type = MESSAGE_END, .end = {.drain = true}}, 2);
    ck_assert_int_eq(drained[0].type, ACTION_FORGET);
    ck_assert_int_eq(drained[1].type, ACTION_CUT);
    step((struct event){.type = EVENT_DRY, .now_ns = 1500}, 0);
    const struct action *action = finish(4);
    ck_assert_uint_eq(action[0].send.message.request.chunk, 1);
    ck_assert_int_eq(action[1].send.message.type, MESSAGE_THREADS);
    ck_assert_uint_eq(action[1].send.message.threads.chunks, figures.chunks);
    ck_assert_int_eq(action[2].send.message.type, MESSAGE_GOODBYE);
    ck_assert_int_eq(action[3].type, ACTION_EXIT);
    actions_fini(&actions);
}
END_TEST

/* A single thread is told of only where it shares its core. */
START_TEST(a_worker_that_shares_its_core_says_so)
{
    struct threads alone = {3, 1, 1, 0, 0, 0, 0, 0};
    for (unsigned shares = 0; shares < 2; shares++) {
        begin(ASK_AHEAD_OFF);
        worker.config.threads = NULL;
        worker.config.alone = &alone;
        alone.cores = 2 * shares;
        alone.workers = 4 * shares;
        const struct action *action = tell((struct message){.type = MESSAGE_END, .end = {.drain = false}}, 2 + shares);
        if (shares) {
            ck_assert_int_eq(action[0].send.message.type, MESSAGE_THREADS);
            ck_assert_uint_eq(action[0].send.message.threads.workers, 4);
        }
        ck_assert_int_eq(action[shares].send.message.type, MESSAGE_GOODBYE);
        actions_fini(&actions);
    }
}
END_TEST

/* A kernel that refuses a time step: nobody waits for the chunk, whatever comes first. */
START_TEST(a_chunk_that_cannot_be_over_is_not_waited_for)
{
    for (unsigned ended = 0; ended < 2; ended++) {
        const struct message end = {.type = MESSAGE_END, .end = {.drain = true}};
        const struct event problem = {.type = EVENT_FATAL, .text = "no", .now_ns = 1500};
        begin(ASK_AHEAD_FIXED);
        assign(1, 0, 10, 2);
        if (ended)
            tell(end, 1);
        else
            ck_assert_int_eq(step(problem, 1)->send.message.type, MESSAGE_FATAL);
        const struct action *action = ended ? step(problem, 4) : tell(end, 3);
        ck_assert_int_eq(action[0].send.message.type, ended ? MESSAGE_FATAL : MESSAGE_THREADS);
        ck_assert_int_eq(action[ended + 1].send.message.type, MESSAGE_GOODBYE);
        ck_assert_int_eq(action[ended + 2].type, ACTION_EXIT);
        actions_fini(&actions);
    }
}
END_TEST

/* --- with a helper --- */

static void begin_with_helper(void)
{
    begin(ASK_AHEAD_FIXED);
    actions_fini(&actions);
    worker_init(&worker, &(struct worker_config){.spec = &spec, .rank = 3, .master = MASTER_RANK, .ahead = 1});
    ck_assert_int_eq(actions_init(&actions, 16), 0);
    step((struct event){.type = EVENT_START}, 1);
    assert_runs(&assign(1, 0, 10, 2)[0], 0);
    assert_runs(assign(2, 10, 10, 1), 10);
    assign(3, 20, 10, 0);
    worker_check(&worker);
}

START_TEST(one_chunk_begins_ahead)
{
    begin_with_helper();
    const struct action *action = finish(2);
    ck_assert_uint_eq(action[0].send.message.request.chunk, 1);
    assert_runs(&action[1], 20);
    ck_assert_uint_eq(finish(1)->send.message.request.chunk, 2);
    ck_assert_uint_eq(finish(1)->send.message.request.chunk, 3);
    ck_assert_str_eq(worker_state_name(&worker), "ASKING");
    actions_fini(&actions);
}
END_TEST

static const struct message recall = {.type = MESSAGE_RECALL, .recall = {.waiting = RECALL_ALL}};

static struct range returned_range(const struct action *action)
{
    struct range range = {0};
    ck_assert_int_eq(action->send.message.type, MESSAGE_RETURNED);
    if (action->send.message.record_count > 0)
        assign_record_get(action->send.message.records, 0, &range.first, &range.count);
    return range;
}

/* What the executor has not got is returned at once, and else the executor says what it gives up. */
START_TEST(what_has_begun_ahead_is_recalled_from_the_executor)
{
    begin_with_helper();
    struct range range = returned_range(tell(recall, 1));
    ck_assert_uint_eq(range.first, 20);
    ck_assert_uint_eq(range.count, 10);
    ck_assert_int_eq(tell(recall, 1)->type, ACTION_CUT);
    range = returned_range(step((struct event){.type = EVENT_CUT, .cut = {10, 10}}, 1));
    ck_assert_uint_eq(range.first, 10);
    worker_check(&worker);
    ck_assert_int_eq(tell(recall, 1)->type, ACTION_CUT);
    range = returned_range(step((struct event){.type = EVENT_CUT, .cut = {5, 5}}, 1));
    ck_assert_uint_eq(range.first, 5);
    finish(1);
    ck_assert_str_eq(worker_state_name(&worker), "ASKING");
    actions_fini(&actions);
}
END_TEST

/* The worker has been given again what was taken from it, and has begun it by now: that is told of the chunk ahead. */
START_TEST(of_two_chunks_that_end_alike_the_newest_is_cut)
{
    begin_with_helper();
    tell(recall, 1);
    tell(recall, 1);
    step((struct event){.type = EVENT_CUT, .cut = {10, 10}}, 1);
    worker.asked = 1; /* as it has asked meanwhile */
    assert_runs(assign(4, 0, 10, 1), 0);
    ck_assert_int_eq(tell(recall, 1)->type, ACTION_CUT);
    step((struct event){.type = EVENT_CUT, .cut = {0, 10}}, 1);
    worker_check(&worker);
    ck_assert_uint_eq(worker.running.count, 10);
    ck_assert_uint_eq(worker.queue_count, 0);
    actions_fini(&actions);
}
END_TEST

static const struct action *cut_of(uint64_t first, uint64_t count, size_t actions_wanted)
{
    return step((struct event){.type = EVENT_CUT, .cut = {first, count}}, actions_wanted);
}

/* Of the chunk ahead nothing has begun, or two iterations have, which are finished like those of the running one. */
START_TEST(a_drain_leaves_what_has_begun)
{
    const unsigned begun = _i > 0 ? 2 : 0;
    begin_with_helper();
    ck_assert_int_eq(tell((struct message){.type = MESSAGE_END, .end = {.drain = true}}, 1)->type, ACTION_CUT);
    const struct action *action = cut_of(10 + begun, 10 - begun, 2);
    ck_assert_uint_eq(returned_range(&action[0]).first, 10 + begun);
    ck_assert_int_eq(action[1].type, ACTION_CUT);
    worker_check(&worker);
    cut_of(begun ? 0 : 5, begun ? 0 : 5, 1);
    if (begun > 0)
        ck_assert_uint_eq(finish(1)->send.message.request.chunk, 1);
    worker_check(&worker);
    action = finish(3);
    ck_assert_uint_eq(action[0].send.message.request.chunk, begun ? 2 : 1);
    ck_assert_int_eq(action[1].send.message.type, MESSAGE_GOODBYE);
    actions_fini(&actions);
}
END_TEST

START_TEST(what_has_begun_ahead_is_forgotten)
{
    begin_with_helper();
    const struct action *ended = tell((struct message){.type = MESSAGE_END, .end = {.drain = true, .now = true}}, 2);
    ck_assert_int_eq(ended[0].type, ACTION_FORGET);
    ck_assert_int_eq(ended[1].type, ACTION_CUT);
    ck_assert(ended[1].cut.now);
    worker_check(&worker);
    const struct action *action = finish(3);
    ck_assert_uint_eq(action[0].send.message.request.chunk, 1);
    ck_assert_int_eq(action[1].send.message.type, MESSAGE_GOODBYE);
    actions_fini(&actions);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker-threads");
    TCase *all = tcase_create("steps");
    tcase_add_test(all, chunks_begin_as_they_come_and_finish_in_order);
    tcase_add_test(all, a_worker_that_shares_its_core_says_so);
    tcase_add_test(all, threads_that_run_dry_are_asked_for_once);
    tcase_add_test(all, a_drain_gives_up_all_but_the_oldest);
    tcase_add_test(all, a_chunk_that_cannot_be_over_is_not_waited_for);
    tcase_add_test(all, one_chunk_begins_ahead);
    tcase_add_test(all, what_has_begun_ahead_is_recalled_from_the_executor);
    tcase_add_test(all, of_two_chunks_that_end_alike_the_newest_is_cut);
    tcase_add_loop_test(all, a_drain_leaves_what_has_begun, 0, 2);
    tcase_add_test(all, what_has_begun_ahead_is_forgotten);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
