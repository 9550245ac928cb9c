/* SPDX-License-Identifier: MIT */
/* What is measured, on its way through each machine by itself: the worker's echoes and completions, what the master
 * gathers, what the supermaster takes and what it refuses. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/supermaster.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

static struct actions actions;

static void open_actions(void)
{
    ck_assert_int_eq(actions_init(&actions, 8), 0);
}

static void close_actions(void)
{
    actions_fini(&actions);
}

/* --- the worker --- */

static struct worker worker;

static void step_worker(const struct event *event)
{
    actions_clear(&actions);
    worker_step(&worker, event, &actions);
}

static void start_worker(bool probe)
{
    static const struct run_spec spec = {.ask_ahead = ASK_AHEAD_OFF};
    const struct worker_config config = {.spec = &spec, .rank = 7, .master = 1, .probe = probe};
    worker_init(&worker, &config);
    step_worker(&(struct event){.type = EVENT_START});
}

static void give_worker(uint64_t now_ns, const struct message *message)
{
    step_worker(&(struct event){.type = EVENT_MESSAGE, .now_ns = now_ns, .from = 1, .message = message});
}

static void give_echo(uint64_t now_ns, uint32_t id)
{
    give_worker(now_ns, &(struct message){.type = MESSAGE_ECHO, .echo = {id}});
}

/* The first action of the last step is to send this. */
static const struct message *sent(enum message_type type)
{
    ck_assert_uint_ge(actions.length, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_SEND);
    ck_assert_int_eq(actions.items[0].send.message.type, type);
    return &actions.items[0].send.message;
}

/* The last step was to drop this rank and nothing else. */
static void refused(unsigned rank, const char *text)
{
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_DROP);
    ck_assert_uint_eq(actions.items[0].drop.rank, rank);
    ck_assert_str_eq(actions.items[0].drop.text, text);
}

START_TEST(the_quickest_echo_is_the_round_trip)
{
    const struct speed probed = {.levels = 1, .elapsed_ns = {5}, .mean_ns = 5};
    struct speed speed;
    start_worker(true);
    ck_assert_uint_eq(sent(MESSAGE_ECHO)->echo.id, 1);
    give_echo(50, 1);
    ck_assert_uint_eq(sent(MESSAGE_ECHO)->echo.id, 2);
    give_echo(60, 2);
    ck_assert_uint_eq(sent(MESSAGE_ECHO)->echo.id, 3);
    give_echo(90, 3);
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_PROBE);
    step_worker(&(struct event){.type = EVENT_PROBED, .now_ns = 100, .speed = &probed});
    speed_get(sent(MESSAGE_SPEED), &speed);
    ck_assert_uint_eq(speed.worker, 7);
    ck_assert_uint_eq(speed.round_trip_ns, 10);
    ck_assert(speed.mean_ns == 5 && speed.levels == 1 && speed.elapsed_ns[0] == 5);
    ck_assert_int_eq(actions.items[1].send.message.type, MESSAGE_REQUEST);
    give_echo(110, 3); /* nobody waits for it any more */
    refused(1, "sent an echo of what it was not sent");
}
END_TEST

START_TEST(a_wrong_echo_loses_the_master)
{
    start_worker(true);
    give_echo(50, 2);
    refused(1, "sent an echo of what it was not sent");
    start_worker(false);
    sent(MESSAGE_REQUEST); /* at once */
    give_echo(50, 1);
    refused(1, "sent an echo of what it was not sent");
}
END_TEST

START_TEST(an_end_spares_the_probe)
{
    start_worker(true);
    give_worker(10, &(struct message){.type = MESSAGE_END, .end = {true}});
    ck_assert_uint_eq(actions.length, 0); /* its echo is on the way */
    give_echo(20, 1);
    sent(MESSAGE_GOODBYE);
    ck_assert_int_eq(actions.items[1].type, ACTION_EXIT);
}
END_TEST

START_TEST(a_completion_tells_the_spread)
{
    const struct message assign = {.type = MESSAGE_ASSIGN, .assign = {1, 0, 100}};
    struct event event = {
        .type = EVENT_FINISHED, .now_ns = 500, .chunk = {.done = 100, .count = 100, .compute_ns = 400}};
    event.chunk.deviation_ns = 2.5;
    event.chunk.samples = 70000;
    start_worker(false);
    give_worker(100, &assign);
    step_worker(&event);
    ck_assert_uint_eq(sent(MESSAGE_REQUEST)->request.samples, UINT16_MAX);
    ck_assert(sent(MESSAGE_REQUEST)->request.deviation_ns == 2.5f);
    ck_assert_uint_eq(sent(MESSAGE_REQUEST)->request.wait_ns, 100); /* the first too: the master cuts it */
}
END_TEST

/* A worker that asks ahead, with `count` chunks of one iteration assigned and the first of them running. */
static void start_ahead(unsigned count)
{
    static unsigned char more[ASKS_MAX * ASSIGN_RECORD_BYTES];
    static const struct run_spec spec = {.ask_ahead = ASK_AHEAD_AUTO};
    const struct worker_config config = {.spec = &spec, .rank = 7, .master = 1};
    worker_init(&worker, &config);
    step_worker(&(struct event){.type = EVENT_START});
    worker.asked = count; /* as if it had asked for so many at once */
    if (count == 0)
        return;
    for (unsigned i = 1; i < count; i++)
        assign_record_put(more, i - 1, i, 1);
    give_worker(
        10, &(struct message){.type = MESSAGE_ASSIGN, .assign = {1, 0, 1}, .records = more, .record_count = count - 1});
}

static void finish_chunk(uint64_t now_ns, uint64_t compute_ns)
{
    step_worker(&(struct event){.type = EVENT_FINISHED,
                                .now_ns = now_ns,
                                .chunk = {.done = 1, .count = 1, .compute_ns = compute_ns, .digest = 3}});
}

static struct event mark_at(uint64_t now_ns, uint64_t done, uint64_t compute_ns)
{
    return (struct event){.type = EVENT_MARK, .now_ns = now_ns, .chunk = {.done = done, .compute_ns = compute_ns}};
}

/* A worker that asks ahead, in its first chunk, of `count` iterations. */
static void begin_chunk(uint64_t count)
{
    start_ahead(0);
    worker.asked = 1;
    give_worker(10, &(struct message){.type = MESSAGE_ASSIGN, .assign = {1, 0, count}});
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_uint_eq(actions.items[0].run.mark, 1);
}

/* Iterations that cost nothing: the worker looks after 1, 2, 4 .. of them, and asks when half of the chunk is over. */
START_TEST(free_iterations_are_not_believed_at_once)
{
    begin_chunk(64);
    for (uint64_t done = 1; done < 32; done *= 2) {
        const struct event mark = mark_at(10 + done, done, done);
        step_worker(&mark);
        ck_assert_uint_eq(actions.length, 1);
        ck_assert_int_eq(actions.items[0].type, ACTION_MARK);
        ck_assert_uint_eq(actions.items[0].run.mark, 2 * done);
    }
    const struct event half = mark_at(50, 32, 32);
    step_worker(&half);
    ck_assert_uint_ge(sent(MESSAGE_REQUEST)->request.asks, 1);
}
END_TEST

/* A long iteration behind free ones: all that is measured lasts for many leads, and nothing is asked for. */
START_TEST(a_long_iteration_is_believed_at_once)
{
    begin_chunk(64);
    struct event mark = mark_at(20, 1, 1);
    step_worker(&mark);
    mark = mark_at(20000000, 2, 20000000);
    step_worker(&mark);
    ck_assert_uint_eq(actions.length, 0); /* it looks again at the end */
    ck_assert_double_eq(worker.iteration_ns, 1e7);
}
END_TEST

/* Chunks of one iteration: few are asked for behind the first, many behind many that are short, and after a long one
 * only the next. */
START_TEST(many_chunks_are_asked_for_after_many_short_ones)
{
    start_ahead(1);
    finish_chunk(100, 1);
    ck_assert_uint_le(sent(MESSAGE_REQUEST)->request.asks, 5);
    for (uint32_t chunk = 2; chunk < 20; chunk++) {
        worker.asked = 1; /* as if it had asked for one only */
        give_worker(100 * chunk, &(struct message){.type = MESSAGE_ASSIGN, .assign = {chunk, 0, 1}});
        if (chunk < 19)
            finish_chunk(100 * chunk + 50, 1);
    }
    ck_assert_uint_eq(sent(MESSAGE_REQUEST)->request.asks, ASKS_MAX); /* for behind the running one */
    worker.asked = 0;
    finish_chunk(100000000, 100000000);
    ck_assert_uint_eq(sent(MESSAGE_REQUEST)->request.asks, 1);
}
END_TEST

START_TEST(completions_of_short_chunks_go_together)
{
    uint64_t deadline = NEVER;
    struct request earlier;
    start_ahead(ASKS_MAX);
    for (uint64_t now_ns = 100; worker.done_count < 2; now_ns += 100) { /* until it holds some */
        finish_chunk(now_ns, 100);
        deadline = worker_machine(&worker).deadline(&worker);
    }
    ck_assert_uint_ne(deadline, NEVER);
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_RUN);
    uint32_t running = worker.running.chunk;
    step_worker(&(struct event){.type = EVENT_TIMER, .now_ns = deadline}); /* the next one is long */
    ck_assert_uint_eq(sent(MESSAGE_REQUEST)->request.chunk, running - 1);
    ck_assert_uint_eq(sent(MESSAGE_REQUEST)->record_count, 1);
    completion_get(sent(MESSAGE_REQUEST)->records, 0, &earlier);
    ck_assert(earlier.compute_ns == 100 && earlier.digest == 3);
    ck_assert_uint_eq(worker_machine(&worker).deadline(&worker), NEVER);
}
END_TEST

START_TEST(no_completion_is_kept_by_a_worker_without_work)
{
    unsigned told = 0;
    start_ahead(ASKS_MAX);
    for (uint64_t now_ns = 100; worker.state == WORKER_COMPUTING; now_ns += 100) {
        finish_chunk(now_ns, 100);
        ck_assert(worker.done_count == 0 || worker.state == WORKER_COMPUTING);
        if (actions.items[0].type == ACTION_SEND)
            told += 1 + sent(MESSAGE_REQUEST)->record_count;
    }
    ck_assert_uint_eq(told, ASKS_MAX);
    ck_assert_uint_eq(worker.asked, ASKS_MAX); /* and no more than it may */
}
END_TEST

START_TEST(completions_of_long_chunks_go_one_by_one)
{
    start_ahead(4);
    for (uint64_t now_ns = 1000000; worker.state == WORKER_COMPUTING; now_ns += 1000000) {
        finish_chunk(now_ns, 1000000);
        ck_assert_uint_eq(sent(MESSAGE_REQUEST)->record_count, 0);
    }
}
END_TEST

/* --- the master --- */

enum { MANY = FEEDBACK_MAX + 30 };
static unsigned ranks[MANY];
static struct master master;

static void step_master(unsigned from, const struct message *message)
{
    actions_clear(&actions);
    master_step(&master, &(struct event){.type = EVENT_MESSAGE, .now_ns = 1000, .from = from, .message = message},
                &actions);
}

static void start_master(unsigned workers, bool feedback)
{
    for (unsigned w = 0; w < workers; w++)
        ranks[w] = 10 + w;
    static const struct run_spec spec = {.refill_chunks = 1, .threads = 1};
    const struct master_config config = {
        .spec = &spec, .rank = 1, .ranks = ranks, .workers = workers, .feedback = feedback};
    ck_assert_int_eq(master_init(&master, &config), 0);
}

static void ask_master(unsigned w)
{
    step_master(ranks[w], &(struct message){.type = MESSAGE_REQUEST, .request = {.asks = 1}});
}

/* Worker w has finished its chunk number `chunk`, of 10 iterations. */
static void finish(unsigned w, uint32_t chunk, uint64_t compute_ns, float deviation_ns, unsigned samples)
{
    step_master(ranks[w], &(struct message){.type = MESSAGE_REQUEST,
                                            .request = {.chunk = chunk,
                                                        .asks = 1,
                                                        .done = true,
                                                        .compute_ns = compute_ns,
                                                        .wait_ns = 7,
                                                        .deviation_ns = deviation_ns,
                                                        .samples = samples}});
}

/* One chunk of 10 iterations for each of the first `workers`. */
static void refill(unsigned workers)
{
    static unsigned char records[REFILL_MAX * CHUNK_RECORD_BYTES];
    static uint64_t first;
    for (unsigned w = 0; w < workers; w++, first += 10)
        chunk_record_put(records, w, &(struct chunk_record){first, 10, ranks[w]});
    step_master(0, &(struct message){.type = MESSAGE_REFILL, .records = records, .record_count = workers});
}

START_TEST(a_master_gathers_what_a_worker_measured)
{
    struct feedback_record record;
    start_master(2, true);
    ask_master(0);
    sent(MESSAGE_REPORT); /* nothing was measured yet */
    refill(2);            /* the other's chunk goes to worker 0 as well */
    for (size_t i = 0; i < actions.length; i++)
        ck_assert_int_ne(actions.items[i].send.message.type, MESSAGE_FEEDBACK);
    finish(0, 1, 100, 2, 4);
    ck_assert_int_eq(sent(MESSAGE_ASSIGN)->assign.chunk, 2);
    ck_assert_uint_eq(actions.length, 1);
    /* Then the pool is dry: feedback and report go up, in this order. */
    finish(0, 2, 300, 0, 1);
    ck_assert_uint_eq(actions.length, 2);
    const struct message *message = sent(MESSAGE_FEEDBACK);
    ck_assert_int_eq(actions.items[1].send.message.type, MESSAGE_REPORT);
    ck_assert(actions.items[1].send.message.report.refill);
    ck_assert_uint_eq(message->record_count, 1);
    feedback_record_get(message->records, 0, &record);
    ck_assert_uint_eq(record.worker, 10);
    ck_assert_uint_eq(record.chunks, 2);
    ck_assert_uint_eq(record.iterations, 20);
    ck_assert_uint_eq(record.compute_ns, 400);
    ck_assert_uint_eq(record.wait_ns, 7); /* not the one before its first chunk */
    /* Three pairs of neighbours in the first, none in the second. */
    ck_assert_uint_eq(record.samples, 4);
    ck_assert_double_eq_tol((double)record.deviation_ns, 2, 1e-6);
    refill(1);
    finish(0, 3, 50, 0, 1); /* begins anew */
    feedback_record_get(sent(MESSAGE_FEEDBACK)->records, 0, &record);
    ck_assert_uint_eq(record.chunks, 1);
    ck_assert_uint_eq(record.iterations, 10);
    ck_assert(record.deviation_ns == 0 && record.samples == 1);
    master_fini(&master);
}
END_TEST

START_TEST(a_master_adds_up_the_waits)
{
    struct feedback_record record;
    start_master(4, true);
    ask_master(0);
    refill(4); /* all for worker 0 */
    for (uint32_t chunk = 1; chunk < 4; chunk++) {
        finish(0, chunk, 100, 0, 1);
        ck_assert_int_eq(sent(MESSAGE_ASSIGN)->assign.chunk, chunk + 1);
    }
    finish(0, 4, 100, 0, 1);
    feedback_record_get(sent(MESSAGE_FEEDBACK)->records, 0, &record);
    ck_assert_uint_eq(record.chunks, 4);
    ck_assert_uint_eq(record.wait_ns, 3 * 7); /* not the one before its first chunk */
    master_fini(&master);
}
END_TEST

START_TEST(feedback_of_many_workers_takes_several_messages)
{
    unsigned told = 0, messages = 0;
    bool seen[MANY] = {false};
    start_master(MANY, true);
    for (unsigned w = 0; w < MANY; w++)
        ask_master(w);
    refill(MANY);
    /* All finish, but the refill that is open keeps the reports back. */
    for (unsigned w = 0; w < MANY; w++) {
        finish(w, 1, 100, 0, 1);
        for (size_t i = 0; i < actions.length; i++)
            ck_assert(actions.items[i].send.message.type != MESSAGE_FEEDBACK || w == 0);
    }
    actions_clear(&actions);
    master_step(&master, &(struct event){.type = EVENT_TIMER, .now_ns = 1000000000}, &actions);
    for (size_t i = 0; i < actions.length; i++) {
        const struct message *message = &actions.items[i].send.message;
        for (unsigned k = 0; message->type == MESSAGE_FEEDBACK && k < message->record_count; k++, told++) {
            struct feedback_record record;
            feedback_record_get(message->records, k, &record);
            ck_assert(!seen[record.worker - 10]);
            seen[record.worker - 10] = true;
        }
        messages += message->type == MESSAGE_FEEDBACK;
    }
    ck_assert_uint_eq(messages, 2);
    ck_assert_uint_eq(told, MANY - 1); /* the first was told with the request for the refill */
    ck_assert_int_eq(actions.items[actions.length - 1].send.message.type, MESSAGE_REPORT);
    master_fini(&master);
}
END_TEST

START_TEST(a_master_is_silent_where_nobody_learns)
{
    start_master(2, false);
    ask_master(0);
    refill(1);
    finish(0, 1, 100, 2, 4);
    ck_assert_uint_eq(actions.length, 1);
    sent(MESSAGE_REPORT);
    master_fini(&master);
}
END_TEST

/* --- the supermaster --- */

static struct topology topology;
static struct supermaster supermaster;

static void give_supermaster(unsigned from, const struct message *message)
{
    actions_clear(&actions);
    supermaster_step(&supermaster, &(struct event){.type = EVENT_MESSAGE, .from = from, .message = message}, &actions);
}

/* Two masters, ranks 1 and 2, with a worker each, ranks 3 and 4; a loop of 100 iterations. */
static void start_supermaster_that(const char *technique, bool probes)
{
    static const double speeds[] = {1, 1};
    struct hello hellos[5];
    struct error error;
    for (unsigned i = 0; i < 5; i++)
        hellos[i] = (struct hello){.role = i == 0 ? ROLE_SUPERMASTER : i < 3 ? ROLE_MASTER : ROLE_WORKER};
    ck_assert_int_eq(topology_init(&topology, hellos, 5, false), 0);
    static struct run_spec spec;
    const struct supermaster_config config = {
        .topology = &topology, .spec = &spec, .count = 100, .speeds = speeds, .probe = probes};
    run_spec_init(&spec);
    ck_assert_int_eq(run_spec_set_technique(&spec, technique, &error), 0);
    ck_assert_int_eq(supermaster_init(&supermaster, &config, &error), 0);
    supermaster_step(&supermaster, &(struct event){.type = EVENT_START}, &actions);
}

static void start_supermaster(const char *technique)
{
    start_supermaster_that(technique, false);
}

static void end_supermaster(void)
{
    supermaster_fini(&supermaster);
    topology_fini(&topology);
}

static void give_feedback(unsigned master_rank, const struct feedback_record *record)
{
    unsigned char records[FEEDBACK_RECORD_BYTES];
    feedback_record_put(records, 0, record);
    give_supermaster(master_rank, &(struct message){.type = MESSAGE_FEEDBACK, .records = records, .record_count = 1});
}

/* awf-c learns from the compute time, awf-e from the wait as well. */
START_TEST(all_that_was_measured_reaches_the_technique)
{
    static const struct {
        const char *technique;
        double ratio; /* of the weights */
    } cases[] = {{"awf-c", 3}, {"awf-e", 2}};
    for (size_t i = 0; i < 2; i++) {
        start_supermaster(cases[i].technique);
        give_feedback(1, &(struct feedback_record){3, 1, 10, 1000000, 1000000, 0, 1});
        give_feedback(2, &(struct feedback_record){4, 1, 10, 3000000, 1000000, 0, 1});
        ck_assert_str_eq(supermaster.failure.text, "");
        ck_assert_double_eq_tol(sched_weight(&supermaster.technique.sched, 0) /
                                    sched_weight(&supermaster.technique.sched, 1),
                                cases[i].ratio, 1e-9);
        end_supermaster();
    }
}
END_TEST

START_TEST(feedback_that_cannot_be_loses_the_master)
{
    static const struct {
        uint32_t worker;
        uint64_t iterations;
        const char *says;
    } wrong[] = {
        {4, 10, "sent feedback of rank 4, which is not a worker of this master"},
        {2, 10, "sent feedback of rank 2, which is not a worker of this master"},
        {3, 101, "sent feedback of 101 iterations, which are more than the loop has"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        start_supermaster("awf-c");
        give_feedback(1, &(struct feedback_record){3, 1, 10, 5, 0, 0, 1});
        ck_assert_str_eq(supermaster.failure.text, "");
        give_feedback(1, &(struct feedback_record){wrong[i].worker, 1, wrong[i].iterations, 5, 0, 0, 1});
        refused(1, wrong[i].says);
        end_supermaster();
    }
}
END_TEST

static void ask_for_refill(unsigned master_rank)
{
    give_supermaster(master_rank, &(struct message){.type = MESSAGE_REPORT, .report = {.refill = true}});
}

/* The first refill is here before the workers are, which then come all at once: as often none will ask again. */
START_TEST(a_master_does_not_hoard_for_workers_that_begin_together)
{
    enum { WORKERS = 24 };
    start_master(WORKERS, false);
    ask_master(0);
    ck_assert(sent(MESSAGE_REPORT)->report.refill);
    refill(WORKERS);
    for (unsigned w = 1; w < WORKERS; w++) {
        ask_master(w);
        sent(MESSAGE_ASSIGN);
        ck_assert_uint_eq(actions.length, 1); /* and no report that asks for more */
    }
    finish(0, 1, 100, 0, 1);
    ck_assert(sent(MESSAGE_REPORT)->report.refill);
    master_fini(&master);
}
END_TEST

START_TEST(several_refills_may_be_open_after_the_first)
{
    start_supermaster("css:chunk=10");
    for (unsigned i = 0; i < 3; i++) {
        ask_for_refill(1);
        ck_assert_uint_eq(sent(MESSAGE_REFILL)->record_count, 1);
    }
    end_supermaster();
    start_supermaster_that("css:chunk=10", true); /* still waits for the speeds */
    ask_for_refill(1);
    ask_for_refill(2);
    ck_assert_str_eq(supermaster.failure.text, "");
    ask_for_refill(1);
    refused(1, "asked for a second refill before it had the first");
    end_supermaster();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("feedback");
    TCase *all = tcase_create("feedback");
    tcase_add_checked_fixture(all, open_actions, close_actions);
    tcase_add_test(all, the_quickest_echo_is_the_round_trip);
    tcase_add_test(all, a_wrong_echo_loses_the_master);
    tcase_add_test(all, an_end_spares_the_probe);
    tcase_add_test(all, a_completion_tells_the_spread);
    tcase_add_test(all, free_iterations_are_not_believed_at_once);
    tcase_add_test(all, a_long_iteration_is_believed_at_once);
    tcase_add_test(all, many_chunks_are_asked_for_after_many_short_ones);
    tcase_add_test(all, completions_of_short_chunks_go_together);
    tcase_add_test(all, no_completion_is_kept_by_a_worker_without_work);
    tcase_add_test(all, completions_of_long_chunks_go_one_by_one);
    tcase_add_test(all, a_master_gathers_what_a_worker_measured);
    tcase_add_test(all, a_master_adds_up_the_waits);
    tcase_add_test(all, feedback_of_many_workers_takes_several_messages);
    tcase_add_test(all, a_master_is_silent_where_nobody_learns);
    tcase_add_test(all, all_that_was_measured_reaches_the_technique);
    tcase_add_test(all, feedback_that_cannot_be_loses_the_master);
    tcase_add_test(all, a_master_does_not_hoard_for_workers_that_begin_together);
    tcase_add_test(all, several_refills_may_be_open_after_the_first);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
