/* SPDX-License-Identifier: MIT */
/* Helpers that die, hang, are late, and cannot be had, at each point of their lives in turn: what their worker makes of
 * it, under a clock of the test's own (helpers.h). What any life has to keep is looked at in helpers_rank.c and
 * helpers.c; here is what some of them come to. */
#include "common/machine/executor.h"
#include "tests/lib/suite.h"
#include "tests/seeds/helpers.h"
#include "tests/seeds/helpers_rank.h"

#include <signal.h>
#include <string.h>

#define LIMIT_NS UINT64_C(500000000)
#define OVERDUE  "ran for longer than 0.5 s (--iteration-timeout)"
#define CRASHED  "killed the child process: signal 11 (Segmentation fault)"
#define KILLED   "killed the child process: signal 9 (Killed)"
#define EXITS(n) ((n) << 8)

static struct helpers_rank rank;

static void renew(void)
{
    static const struct hdss_loop none = {0};
    helpers_init(&none);
}

static void open_rank(const struct helpers_rank_config *config)
{
    ck_assert_int_eq(rank_open(&rank, config), 0);
}

static void open_plainly(void)
{
    open_rank(&(struct helpers_rank_config){.collect = true});
}

static void close_rank(void)
{
    rank_close(&rank);
    helpers_fini();
    ck_assert_str_eq(helpers.wrong, "");
}

static void finish(void)
{
    rank_finish(&rank);
    ck_assert_str_eq(helpers.wrong, "");
}

static void run_chunk(uint64_t first, uint64_t count)
{
    rank_begin(&rank, first, count, 0);
    finish();
}

/* All from `first` on have come to the end, but for one that may have come to another. */
static void check_ends(uint64_t first, uint64_t count, uint64_t but, enum helpers_end end)
{
    for (uint64_t i = first; i < first + count; i++)
        ck_assert_uint_eq(rank.end[i], i == but ? (unsigned)end : END_DONE);
}

static void strike_at(unsigned helper, enum helpers_point point, unsigned nth, int status)
{
    helpers.script[helper].strike[0] = (struct helpers_strike){point, nth, status, 0};
}

static void pause_at(unsigned helper, enum helpers_point point, unsigned nth, uint64_t ns)
{
    helpers.script[helper].strike[0] = (struct helpers_strike){point, nth, 0, ns};
}

/* Turns until so many helpers have begun, and the latest is not at its first step any more. */
static void turn_until_begun(unsigned count)
{
    while (helpers.begun < count && helpers.wrong[0] == '\0')
        if (rank_turn(&rank))
            rank_sleep(&rank);
    ck_assert_str_eq(helpers.wrong, "");
}

/* --- each point in turn --- */

enum { NTHS = 4, KINDS = 4, CONFIGS = 6 };

/* One strike anywhere: every iteration comes to its end, and no more than the one that ran is lost. */
START_TEST(a_strike_costs_one_iteration_at_most)
{
    static const struct helpers_rank_config configs[CONFIGS] = {
        {0},
        {.collect = true},
        {.collect = true, .limit_ns = LIMIT_NS},
        {.collect = true, .limit_ns = LIMIT_NS, .has_effects = true},
        {.collect = true, .variable = true, .limit_ns = LIMIT_NS},
        {.variable = true, .lets_go = true},
    };
    for (unsigned kind = 0; kind < KINDS * CONFIGS; kind++)
        for (unsigned nth = 1; nth <= NTHS; nth++) {
            const enum helpers_point point = (enum helpers_point)_i;
            const int status = kind % KINDS == 0 ? SIGKILL : kind % KINDS == 1 ? EXITS(3) : 0;
            renew();
            helpers.script[0].call = 3;
            if (status != 0)
                strike_at(0, point, nth, status);
            else
                pause_at(0, point, nth, kind % KINDS == 2 ? 3000000 : LIMIT_NS * 3 / 4);
            if (rank_open(&rank, &configs[kind / KINDS]) < 0) {
                ck_assert_uint_le(point, POINT_OPENED);
                helpers_fini();
                ck_assert_str_eq(helpers.wrong, "");
                continue;
            }
            rank_begin(&rank, 0, 20, 7);
            rank_begin(&rank, 20, 20, 0);
            finish();
            run_chunk(40, 20);
            ck_assert_uint_le(rank.failures, status != 0);
            ck_assert_uint_le(helpers.begun, 2);
            close_rank();
        }
}
END_TEST

START_TEST(a_death_costs_the_iteration_that_ran)
{
    renew();
    helpers.script[0].call = helpers.script[1].call = 4;
    helpers.iteration[9].fate = FATE_DIES;
    open_plainly();
    run_chunk(0, 20);
    check_ends(0, 20, 9, END_DIED);
    ck_assert_str_eq(rank.text, CRASHED);
    ck_assert_uint_eq(helpers.begun, 3); /* it died with others in the air, and then alone */
    ck_assert_uint_eq(helpers.iteration[8].begun, 2);
    ck_assert_uint_eq(helpers.iteration[9].begun, 2);
    close_rank();
}
END_TEST

/* Three helpers in a row die before they have begun an iteration. The iteration that would be next is blamed. */
START_TEST(a_helper_that_never_begins_an_iteration_costs_the_next_one)
{
    renew();
    for (unsigned i = 0; i < 3; i++)
        strike_at(i, POINT_WAITS, 1, SIGKILL);
    open_plainly();
    run_chunk(0, 5);
    check_ends(0, 5, 0, END_DIED);
    ck_assert_uint_eq(helpers.begun, 4);
    ck_assert_uint_eq(helpers.iteration[0].begun, 0);
    close_rank();
}
END_TEST

/* Helpers die before they have begun an iteration, but one between them dies while it computes some. */
START_TEST(deaths_that_are_not_in_a_row_cost_nobody)
{
    renew();
    for (unsigned i = 0; i < 4; i++)
        strike_at(i, POINT_WAITS, 1, SIGKILL);
    strike_at(2, POINT_CLAIMED, 1, SIGKILL);
    open_plainly();
    run_chunk(0, 5);
    check_ends(0, 5, 5, END_NONE);
    ck_assert_uint_eq(helpers.begun, 5);
    close_rank();
}
END_TEST

/* --- what cannot be had --- */

START_TEST(no_process_costs_the_next_iteration)
{
    renew();
    strike_at(0, POINT_CLAIMED, 1, SIGKILL);
    helpers.script[1].no_process = true;
    open_plainly();
    run_chunk(0, 5);
    check_ends(0, 5, 0, END_FAILED);
    ck_assert_str_eq(rank.text, "no helper can be started");
    close_rank();
    renew();
    helpers.script[0].no_process = true;
    ck_assert_int_eq(rank_open(&rank, &(struct helpers_rank_config){0}), -1);
    ck_assert_str_eq(rank.exec.error, "no helper can be started");
    helpers_fini();
    ck_assert_str_eq(helpers.wrong, "");
}
END_TEST

/* The rank looks up by itself. */
START_TEST(a_death_without_a_descriptor_is_seen)
{
    renew();
    helpers.script[0].no_descriptor = true;
    helpers.script[0].call = 1;
    strike_at(0, POINT_CLAIMED, 4, SIGKILL);
    open_plainly();
    const uint64_t began_ns = helpers.now_ns;
    run_chunk(0, 5);
    check_ends(0, 5, 3, END_DIED);
    ck_assert_uint_le(helpers.now_ns - began_ns, 30000000);
    ck_assert_uint_eq(helpers.adopted, 1);
    close_rank();
}
END_TEST

START_TEST(a_kernel_that_cannot_be_opened_says_why)
{
    renew();
    helpers.script[0].refuses = true;
    ck_assert_int_eq(rank_open(&rank, &(struct helpers_rank_config){.lets_go = _i > 0}), -1);
    ck_assert_str_eq(rank.exec.error, "it cannot be opened");
    helpers_fini();
    ck_assert_str_eq(helpers.wrong, "");
    renew();
    for (unsigned i = 0; i < 3; i++)
        strike_at(i, _i > 0 ? POINT_STARTED : POINT_OPENED, 1, SIGSEGV);
    ck_assert_int_eq(rank_open(&rank, &(struct helpers_rank_config){0}), -1);
    ck_assert_str_eq(rank.exec.error, "made-up: loading or opening it " CRASHED);
    helpers_fini();
    ck_assert_str_eq(helpers.wrong, "");
}
END_TEST

/* One that has refused the kernel, and stands still before it is told to leave, never takes what the next one is told.
 */
START_TEST(a_helper_that_is_let_go_takes_no_command_of_the_next)
{
    renew();
    strike_at(0, POINT_CLAIMED, 1, SIGKILL);
    helpers.script[1].refuses = true;
    pause_at(1, POINT_WAITS, 1, UINT64_C(1500000000));
    helpers.script[2].start_ns = UINT64_C(3000000000);
    open_rank(&(struct helpers_rank_config){.collect = true, .lets_go = _i > 0});
    run_chunk(0, 5);
    check_ends(0, 5, 0, END_FAILED);
    ck_assert_str_eq(rank.text, "it cannot be opened");
    ck_assert_uint_eq(helpers.begun, 3);
    close_rank();
}
END_TEST

/* --- time --- */

START_TEST(an_iteration_that_hangs_has_its_limit_and_no_more)
{
    renew();
    helpers.iteration[3].fate = FATE_HANGS;
    open_rank(&(struct helpers_rank_config){.collect = true, .limit_ns = LIMIT_NS, .has_effects = true});
    const uint64_t began_ns = helpers.now_ns;
    run_chunk(0, 10);
    check_ends(0, 10, 3, END_DIED);
    ck_assert_str_eq(rank.text, OVERDUE);
    ck_assert_uint_ge(helpers.now_ns - began_ns, LIMIT_NS);
    ck_assert_uint_le(helpers.now_ns - began_ns, LIMIT_NS + 50000000);
    close_rank();
}
END_TEST

/* A call has the time of one iteration; its iterations are run again one by one, each with the time of its own. */
START_TEST(iterations_that_keep_within_their_limit_do_not_fail)
{
    renew();
    for (unsigned i = 0; i < 10; i++)
        helpers.iteration[i].ns = LIMIT_NS * 9 / 10;
    open_rank(&(struct helpers_rank_config){.collect = true, .limit_ns = LIMIT_NS});
    run_chunk(0, 10);
    check_ends(0, 10, 10, END_NONE);
    ck_assert_uint_eq(helpers.begun, 2);
    close_rank();
}
END_TEST

/* The next chunk has lost nothing, whether the helper had it or not. */
START_TEST(a_hang_costs_the_next_chunk_nothing)
{
    renew();
    helpers.iteration[1].fate = FATE_HANGS;
    open_rank(&(struct helpers_rank_config){.collect = true, .limit_ns = LIMIT_NS, .has_effects = true});
    rank_begin(&rank, 0, 3, 0);
    run_chunk(3, 3);
    check_ends(0, 6, 1, END_DIED);
    close_rank();
}
END_TEST

/* The signal takes its time: an iteration that is over meanwhile is done, and those behind it have lost nothing. */
START_TEST(an_iteration_may_be_over_as_its_helper_is_killed)
{
    for (uint64_t late_ns = 0; late_ns < 60000000; late_ns += 500000) {
        renew();
        helpers.script[0].call = 1;
        helpers.script[0].is_slow_to_die = true;
        helpers.iteration[2].ns = LIMIT_NS + late_ns;
        helpers.iteration[3].ns = helpers.iteration[4].ns = 1500000;
        open_rank(&(struct helpers_rank_config){
            .collect = true, .limit_ns = LIMIT_NS, .has_effects = true, .variable = _i > 0});
        rank_begin(&rank, 0, 3, 0);
        run_chunk(3, 3);
        ck_assert_uint_eq(rank.failures, rank.end[2] == END_DIED);
        check_ends(0, 6, 2, (enum helpers_end)rank.end[2]);
        close_rank();
    }
}
END_TEST

/* The time for which nobody looked is not the iteration's. */
START_TEST(a_worker_that_was_stopped_blames_no_iteration)
{
    renew();
    helpers.iteration[0].ns = 3 * LIMIT_NS;
    helpers.script[0].call = 1;
    open_rank(&(struct helpers_rank_config){.collect = true, .limit_ns = LIMIT_NS});
    rank_begin(&rank, 0, 5, 0);
    rank_turn(&rank);
    helpers.limit_ns = 4 * LIMIT_NS; /* that it is late is the worker's doing */
    helpers_pass(helpers.now_ns + 5 * LIMIT_NS / 2);
    finish();
    check_ends(0, 5, 5, END_NONE);
    ck_assert_uint_eq(helpers.begun, 1);
    close_rank();
}
END_TEST

/* It has taken the command, or has not; it has nothing in the air. */
START_TEST(a_helper_that_is_silent_is_ended)
{
    static const enum helpers_point at[] = {POINT_WAITS, POINT_DONE, POINT_OVER};
    renew();
    helpers.script[0].call = 2;
    pause_at(0, at[_i], 1, HELPERS_NEVER);
    open_rank(&(struct helpers_rank_config){.collect = true, .limit_ns = LIMIT_NS});
    run_chunk(0, 6);
    check_ends(0, 6, 6, END_NONE);
    ck_assert_uint_eq(helpers.begun, at[_i] == POINT_OVER ? 1 : 2);
    close_rank();
}
END_TEST

/* There is none before an iteration was seen, and then it is a hundred times the longest one. */
START_TEST(a_limit_adapts_to_what_was_seen)
{
    renew();
    helpers.iteration[0].ns = 80000000;
    helpers.iteration[2].fate = FATE_HANGS;
    open_rank(&(struct helpers_rank_config){.collect = true, .limit_ns = 1000000, .has_effects = true});
    rank.exec.config.limit_adapts = true;
    helpers.limit_ns = UINT64_C(8000000000);
    helpers.script[0].call = 1;
    run_chunk(0, 1);
    const uint64_t began_ns = helpers.now_ns;
    run_chunk(1, 2);
    check_ends(0, 3, 2, END_DIED);
    ck_assert_uint_ge(helpers.now_ns - began_ns, UINT64_C(8000000000));
    close_rank();
}
END_TEST

START_TEST(a_probe_leaves_out_what_kills_and_hangs)
{
    struct speed speed;
    renew();
    helpers.iteration[0].fate = FATE_DIES;
    helpers.iteration[HELPERS_LOOP / 2].fate = FATE_HANGS;
    open_rank(&(struct helpers_rank_config){.collect = true, .limit_ns = LIMIT_NS});
    ck_assert(!executor_probe(&rank.exec.executor, &speed));
    while (rank.probed == 0 && helpers.wrong[0] == '\0')
        if (rank_turn(&rank))
            rank_sleep(&rank);
    ck_assert_str_eq(helpers.wrong, "");
    ck_assert_double_gt(rank.exec.remote.speed.mean_ns, 0);
    ck_assert_uint_eq(helpers.begun, 3);
    close_rank();
}
END_TEST

/* --- leaving --- */

/* Whoever does not close in time is killed; only a worker that has nothing else to do waits for it. */
START_TEST(a_helper_that_does_not_leave_is_killed)
{
    renew();
    helpers.script[0].close_ns = HELPERS_NEVER;
    helpers.no_threads = _i == 2;
    open_rank(&(struct helpers_rank_config){.lets_go = _i > 0});
    run_chunk(0, 5);
    const uint64_t began_ns = helpers.now_ns;
    rank_close(&rank);
    ck_assert_uint_le(helpers.now_ns - began_ns, _i > 0 ? 25000000 : UINT64_C(10005000000));
    ck_assert_uint_eq(helpers.reaped, _i != 1);
    helpers_fini();
    ck_assert_uint_eq(helpers.reaped, 1);
    ck_assert_str_eq(helpers.wrong, "");
}
END_TEST

/* What is done stays, and leaves; nobody is blamed for the rest. */
START_TEST(a_helper_is_killed_when_nobody_wants_the_rest)
{
    renew();
    helpers.script[0].call = 1;
    helpers.iteration[2].fate = FATE_HANGS;
    helpers.script[0].is_slow_to_die = true;
    open_plainly();
    rank_begin(&rank, 0, 5, 0);
    rank_begin(&rank, 5, 5, 0);
    for (unsigned i = 0; i < 5; i++)
        if (rank_turn(&rank))
            rank_sleep(&rank);
    rank_end(&rank);
    finish();
    check_ends(0, 2, 5, END_NONE);
    for (unsigned i = 2; i < 10; i++)
        ck_assert_uint_eq(rank.end[i], END_BACK);
    ck_assert_uint_eq(helpers.reaped, 1);
    close_rank();
}
END_TEST

/* Also where it had come to a chunk that had been given up before. */
START_TEST(what_was_given_up_before_is_ended_too)
{
    renew();
    helpers.iteration[5].fate = FATE_HANGS;
    open_plainly();
    rank_begin(&rank, 0, 5, 0);
    rank_begin(&rank, 5, 5, 0);
    helpers_pass(helpers.now_ns + 10000000);
    rank_forget(&rank);
    rank_end(&rank);
    finish();
    ck_assert(!helpers_lives());
    close_rank();
}
END_TEST

/* --- what was wrong once --- */

/* The rest of a chunk is recalled while a new helper opens the kernel for it: nothing of the rank looked at that helper
 * any more, and its answer kept the rank from its rest. */
START_TEST(a_helper_for_which_nothing_is_left_keeps_nobody_awake)
{
    renew();
    helpers.iteration[0].fate = FATE_DIES;
    helpers.script[1].open_ns = 50000000;
    helpers.script[0].call = 1;
    if (_i > 0)
        strike_at(1, POINT_OPENED, 1, SIGKILL);
    open_plainly();
    rank_begin(&rank, 0, 10, 0);
    turn_until_begun(2);
    rank_cut(&rank, RECALL_ALL);
    finish();
    for (const uint64_t until_ns = helpers.now_ns + 100000000; helpers.now_ns < until_ns;)
        if (rank_turn(&rank))
            rank_sleep(&rank);
    run_chunk(10, 5);
    check_ends(10, 5, 0, END_NONE);
    ck_assert_uint_eq(helpers.begun, 2 + (unsigned)_i);
    close_rank();
}
END_TEST

/* A helper with a chunk ahead is through with it before the results of the chunk before have gone: the rank looked at
 * the helper again and again, and not at its messages, so that these never went. */
START_TEST(a_chunk_ahead_waits_for_what_is_sent)
{
    renew();
    open_rank(&(struct helpers_rank_config){.collect = true, .variable = true});
    rank.keeps_sends = true;
    rank_begin(&rank, 0, 10, 0);
    for (unsigned i = 0; i < 2; i++) {
        rank_begin(&rank, 10 + 10 * i, 10, 0);
        while (rank.finished <= i && helpers.wrong[0] == '\0')
            if (rank_turn(&rank))
                rank_sleep(&rank);
    }
    for (unsigned i = 0; i < 10; i++) {
        ck_assert(rank_turn(&rank));
        rank_sleep(&rank);
    }
    ck_assert_uint_eq(rank.finished, 2);
    rank.keeps_sends = false;
    finish();
    check_ends(0, 30, 30, END_NONE);
    close_rank();
}
END_TEST

/* The helper is at a chunk that was given up: what it has begun of that was taken for begun of the next one. */
START_TEST(a_chunk_behind_one_that_was_given_up_is_cut)
{
    renew();
    helpers.script[0].call = 8;
    helpers.iteration[15].ns = 50000000;
    open_plainly();
    rank_begin(&rank, 0, 5, 0);
    rank_begin(&rank, 5, 20, 0);
    helpers_pass(helpers.now_ns + 10000000);
    ck_assert(helpers.iteration[15].begun);
    rank_forget(&rank);
    rank_begin(&rank, 30, 4, 0);
    rank_cut(&rank, 1);
    ck_assert_uint_eq(rank.end[33], END_BACK);
    finish();
    ck_assert_uint_eq(rank.end[30], END_DONE);
    close_rank();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("helper-deaths");
    TCase *all = tcase_create("deaths");
    tcase_add_loop_test(all, a_strike_costs_one_iteration_at_most, 0, HELPERS_POINTS);
    tcase_add_test(all, a_death_costs_the_iteration_that_ran);
    tcase_add_test(all, a_helper_that_never_begins_an_iteration_costs_the_next_one);
    tcase_add_test(all, deaths_that_are_not_in_a_row_cost_nobody);
    tcase_add_test(all, no_process_costs_the_next_iteration);
    tcase_add_test(all, a_death_without_a_descriptor_is_seen);
    tcase_add_loop_test(all, a_kernel_that_cannot_be_opened_says_why, 0, 2);
    tcase_add_loop_test(all, a_helper_that_is_let_go_takes_no_command_of_the_next, 0, 2);
    tcase_add_test(all, an_iteration_that_hangs_has_its_limit_and_no_more);
    tcase_add_test(all, iterations_that_keep_within_their_limit_do_not_fail);
    tcase_add_test(all, a_hang_costs_the_next_chunk_nothing);
    tcase_add_loop_test(all, an_iteration_may_be_over_as_its_helper_is_killed, 0, 2);
    tcase_add_test(all, a_worker_that_was_stopped_blames_no_iteration);
    tcase_add_loop_test(all, a_helper_that_is_silent_is_ended, 0, 3);
    tcase_add_test(all, a_limit_adapts_to_what_was_seen);
    tcase_add_test(all, a_probe_leaves_out_what_kills_and_hangs);
    tcase_add_loop_test(all, a_helper_that_does_not_leave_is_killed, 0, 3);
    tcase_add_test(all, a_helper_is_killed_when_nobody_wants_the_rest);
    tcase_add_test(all, what_was_given_up_before_is_ended_too);
    tcase_add_loop_test(all, a_helper_for_which_nothing_is_left_keeps_nobody_awake, 0, 2);
    tcase_add_test(all, a_chunk_ahead_waits_for_what_is_sent);
    tcase_add_test(all, a_chunk_behind_one_that_was_given_up_is_cut);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
