/* SPDX-License-Identifier: MIT */
/* Defects of the links that were found where real runs failed now and then, and what the manual promises of silence:
 * each at will, on a fabric (fabric.h) in every order that some numbers make. link.c has all of it at random. */
#include "common/util/error.h"
#include "tests/lib/suite.h"
#include "tests/seeds/fabric.h"
#include "tests/seeds/gossip.h"

#include <stdio.h>

enum { SUPERMASTER, MASTER, WORKER, OTHER };

/* The numbers that each test is tried with. */
#define TRIES 20

static struct fabric_config config;
static struct gossip_config gossip;

/* Ranks in this order on the nodes, which are numbered by their first ranks. */
static void place(unsigned master_node, unsigned worker_node, unsigned other_node)
{
    const unsigned nodes[] = {SUPERMASTER, master_node, worker_node, other_node};
    for (unsigned i = 0; i < config.ranks; i++)
        config.hellos[i] = (struct hello){.role = i == SUPERMASTER ? ROLE_SUPERMASTER
                                                  : i == MASTER    ? ROLE_MASTER
                                                                   : ROLE_WORKER,
                                          .node = nodes[i]};
}

static void set_up(void)
{
    config = (struct fabric_config){.ranks = 4,
                                    .far_min_ns = 20000,
                                    .far_max_ns = 60000,
                                    .step_ns = 2000,
                                    .ahead_ns = 2000,
                                    .sends = 64,
                                    .limit_ns = 200 * FABRIC_S};
    gossip = (struct gossip_config){
        .end_ns = 30 * FABRIC_S, .pause_max_ns = FABRIC_S / 5, .burst_max = 3, .data_percent = 50, .data_max = 20000};
    place(SUPERMASTER, SUPERMASTER, SUPERMASTER);
    stderr = fopen("/dev/null", "w"); /* what ranks say of losses */
}

/* A run is right but for what the test looks at. */
static void run(int seed, const struct fabric_fault *faults, unsigned count)
{
    fabric_begin(&config, (uint64_t)seed);
    gossip_begin(&gossip, (uint64_t)seed);
    for (unsigned i = 0; i < count; i++)
        fabric_add_fault(&faults[i]);
    const char *wrong = fabric_run(gossip_live);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    wrong = gossip_check(2 * FABRIC_S, 40 * FABRIC_S);
    ck_assert_msg(wrong == NULL, "%s", wrong);
}

static void assert_status(unsigned rank, int status)
{
    ck_assert(!fabric_fate(rank)->was_killed);
    ck_assert_int_eq(fabric_fate(rank)->status, status);
}

static void assert_all_done(void)
{
    for (unsigned i = 0; i < config.ranks; i++) {
        assert_status(i, EXIT_STATUS_DONE);
        for (unsigned j = 0; j < config.ranks; j++)
            ck_assert(!gossip_has_lost(i, j));
    }
}

/* Results that another worker was quicker with: their room was freed, and MPI wrote there. */
START_TEST(data_that_nobody_waits_for_are_taken_before_the_end)
{
    gossip.end_ns = 10 * FABRIC_MS;
    gossip.pause_max_ns = FABRIC_MS / 2;
    gossip.burst_max = 8;
    gossip.data_percent = 100;
    gossip.data_max = 100000;
    if (_i % 2 == 0)
        place(SUPERMASTER, WORKER, WORKER);
    run(_i, NULL, 0);
    assert_all_done();
}
END_TEST

/* MPI tells of a failure and of a message in one step: the message came from rank -1, and ended its receiver. */
START_TEST(a_message_that_arrives_as_a_rank_is_found_to_have_failed_is_taken)
{
    const struct fabric_fault fault = {.kind = FABRIC_KILL, .rank = OTHER, .at_ns = 5 * FABRIC_S};
    const uint64_t before = fabric_tally.marked;
    config.has_ulfm = true;
    gossip.end_ns = 10 * FABRIC_S;
    gossip.pause_max_ns = 3 * FABRIC_MS;
    gossip.burst_max = 8;
    run(_i, &fault, 1);
    ck_assert_uint_gt(fabric_tally.marked, before);
    assert_status(SUPERMASTER, EXIT_STATUS_DONE);
    assert_status(MASTER, EXIT_STATUS_DONE);
    assert_status(WORKER, EXIT_STATUS_DONE);
}
END_TEST

/* Else Open MPI 5 ends the rank, if the receiver has failed. */
START_TEST(no_send_is_tested_before_it_is_over)
{
    const struct fabric_fault fault = {.kind = FABRIC_LOSE, .rank = OTHER, .at_ns = 5 * FABRIC_S};
    config.has_ulfm = _i % 2 == 0;
    config.held_percent = 100;
    config.held_max_ns = 50 * FABRIC_MS;
    gossip.end_ns = 10 * FABRIC_S;
    place(SUPERMASTER, WORKER, OTHER);
    run(_i, &fault, 1);
    assert_status(SUPERMASTER, EXIT_STATUS_DONE);
    assert_status(WORKER, EXIT_STATUS_DONE);
}
END_TEST

START_TEST(a_run_that_is_stopped_and_goes_on_blames_nobody)
{
    struct fabric_fault faults[4];
    for (unsigned i = 0; i < 4; i++)
        faults[i] = (struct fabric_fault){.kind = _i % 2 == 0 ? FABRIC_STOP : FABRIC_SUSPEND,
                                          .rank = i,
                                          .at_ns = 3 * FABRIC_S,
                                          .for_ns = 100 * FABRIC_S};
    place(SUPERMASTER, WORKER, OTHER);
    config.is_blind = _i % 3 == 0;
    run(_i, faults, 4);
    assert_all_done();
}
END_TEST

START_TEST(a_rank_that_stands_still_for_four_seconds_is_not_lost)
{
    const struct fabric_fault fault = {.kind = FABRIC_SUSPEND,
                                       .rank = (unsigned)_i % 4,
                                       .at_ns = (uint64_t)(_i + 1) * FABRIC_S / 2,
                                       .for_ns = 4 * FABRIC_S};
    place(MASTER, WORKER, OTHER);
    run(_i, &fault, 1);
    assert_all_done();
}
END_TEST

START_TEST(a_silent_rank_is_lost_in_time_and_leaves_when_it_is_back)
{
    const struct fabric_fault fault = {
        .kind = FABRIC_SUSPEND, .rank = OTHER, .at_ns = 5 * FABRIC_S, .for_ns = 22 * FABRIC_S};
    gossip.end_ns = 60 * FABRIC_S; /* else it leaves with the others */
    place(SUPERMASTER, SUPERMASTER, OTHER);
    run(_i, &fault, 1);
    ck_assert(gossip_has_lost(MASTER, OTHER));
    ck_assert_uint_ge(gossip_lost_ns(MASTER, OTHER), 14 * FABRIC_S);
    ck_assert_uint_le(gossip_lost_ns(MASTER, OTHER), 20 * FABRIC_S);
    assert_status(OTHER, EXIT_STATUS_FAILED);
    ck_assert_uint_le(fabric_fate(OTHER)->ended_ns, 32 * FABRIC_S);
    assert_status(SUPERMASTER, EXIT_STATUS_DONE);
}
END_TEST

/* Its workers have given up data to it, which MPI sends when it is back: what is in their memory by then. */
START_TEST(data_to_a_rank_that_comes_back_are_as_they_were)
{
    const struct fabric_fault fault = {
        .kind = FABRIC_SUSPEND, .rank = MASTER, .at_ns = 5 * FABRIC_S, .for_ns = 25 * FABRIC_S};
    const uint64_t before = gossip_tally.late;
    gossip.end_ns = 40 * FABRIC_S;
    gossip.data_percent = 100;
    gossip.data_max = 100000;
    place(MASTER, WORKER, OTHER);
    run(_i, &fault, 1);
    ck_assert(gossip_has_lost(WORKER, MASTER) && gossip_has_lost(OTHER, MASTER));
    ck_assert_uint_gt(gossip_tally.late, before);
    assert_status(MASTER, EXIT_STATUS_FAILED);
    assert_status(SUPERMASTER, EXIT_STATUS_DONE);
}
END_TEST

/* MPI may write to the room of data that were given up until their sender has ended. */
START_TEST(data_that_were_given_up_spoil_no_others)
{
    const struct fabric_fault fault = {
        .kind = FABRIC_SUSPEND, .rank = OTHER, .at_ns = 5 * FABRIC_S, .for_ns = 60 * FABRIC_S};
    config.far_min_ns = 50 * FABRIC_MS;
    config.far_max_ns = 200 * FABRIC_MS;
    gossip.pause_max_ns = 700 * FABRIC_MS;
    gossip.burst_max = 8;
    gossip.data_percent = 100;
    gossip.data_max = 60000;
    place(MASTER, WORKER, OTHER);
    run(_i, &fault, 1);
    ck_assert(gossip_has_lost(MASTER, OTHER));
    assert_status(WORKER, EXIT_STATUS_DONE);
}
END_TEST

/* All beats that have come are taken at each look: else those of a dead rank would be news for minutes. */
START_TEST(a_dead_rank_of_another_node_is_lost_in_time)
{
    const struct fabric_fault fault = {.kind = FABRIC_LOSE, .rank = OTHER, .at_ns = 40 * FABRIC_S};
    gossip.end_ns = 80 * FABRIC_S;
    gossip.pause_max_ns = 1000 * FABRIC_S; /* they say nothing */
    place(MASTER, WORKER, OTHER);
    run(_i, &fault, 1);
    ck_assert(gossip_has_lost(MASTER, OTHER));
    ck_assert_uint_le(gossip_lost_ns(MASTER, OTHER), 55 * FABRIC_S);
}
END_TEST

START_TEST(a_dead_rank_of_the_node_is_lost_at_once)
{
    const struct fabric_fault fault = {.kind = FABRIC_KILL, .rank = MASTER, .at_ns = 5 * FABRIC_S};
    run(_i, &fault, 1);
    for (unsigned i = 0; i < 4; i++)
        if (i != MASTER) {
            ck_assert(gossip_has_lost(i, MASTER));
            ck_assert_uint_le(gossip_lost_ns(i, MASTER), 5 * FABRIC_S + 1500 * FABRIC_MS);
            assert_status(i, EXIT_STATUS_DONE);
        }
}
END_TEST

/* While results of others are stored slowly, too. */
START_TEST(a_dead_rank_is_lost_in_time_while_results_of_others_are_stored)
{
    const struct fabric_fault fault = {.kind = FABRIC_KILL, .rank = OTHER, .at_ns = 5 * FABRIC_S};
    gossip.end_ns = 20 * FABRIC_S;
    gossip.pause_max_ns = 200 * FABRIC_MS;
    gossip.burst_max = 8;
    gossip.data_percent = 100;
    gossip.store_max_ns = 400 * FABRIC_MS;
    run(_i, &fault, 1);
    ck_assert(gossip_has_lost(MASTER, OTHER));
}
END_TEST

/* Others do what a stopped worker holds, or nobody may: then it is ended, or its tasks are waited for for ever. */
START_TEST(a_stopped_worker_is_ended_where_nobody_else_can_do_its_work)
{
    const struct fabric_fault fault = {
        .kind = FABRIC_STOP, .rank = WORKER, .at_ns = 5 * FABRIC_S, .for_ns = 1000 * FABRIC_S};
    gossip.needs_workers = _i % 2 == 0;
    run(_i, &fault, 1);
    ck_assert(gossip_has_lost(MASTER, WORKER) == gossip.needs_workers);
    ck_assert(fabric_fate(WORKER)->was_killed == gossip.needs_workers);
    if (gossip.needs_workers)
        ck_assert_uint_le(gossip_lost_ns(MASTER, WORKER), 18 * FABRIC_S);
    assert_status(SUPERMASTER, EXIT_STATUS_DONE);
    assert_status(OTHER, EXIT_STATUS_DONE);
}
END_TEST

START_TEST(a_message_wakes_a_sleeper_of_the_node)
{
    gossip.data_percent = 0;
    gossip.burst_max = 1;
    config.cores_are_free = _i % 2 == 0;
    run(_i, NULL, 0);
    assert_all_done();
    ck_assert_uint_le(gossip_longest_ns(), 2 * FABRIC_MS);
}
END_TEST

START_TEST(ranks_leave_where_the_launcher_does_not_answer)
{
    config.launcher_is_stopped = true;
    gossip.end_ns = FABRIC_S;
    run(_i, NULL, 0);
    assert_all_done();
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_le(fabric_fate(i)->ended_ns, 13 * FABRIC_S);
}
END_TEST

/* The supermaster serves an orphan before it knows of the master's loss. */
START_TEST(nobody_waits_for_room_behind_a_worker_that_dies_as_an_orphan)
{
    const struct fabric_fault faults[] = {{.kind = FABRIC_KILL, .rank = MASTER, .at_ns = 3 * FABRIC_S},
                                          {.kind = FABRIC_LOSE, .rank = WORKER, .at_ns = 6 * FABRIC_S}};
    config.sends = 4;
    gossip.burst_max = 8;
    place(MASTER, MASTER, MASTER);
    run(_i, faults, 2);
    assert_status(SUPERMASTER, EXIT_STATUS_DONE);
}
END_TEST

/* The kernel tells the supermaster of the master's end, and its silence the workers. */
START_TEST(orphans_on_another_node_than_their_master_are_not_lost)
{
    const struct fabric_fault fault = {
        .kind = FABRIC_KILL, .rank = MASTER, .at_ns = 3 * FABRIC_S + (uint64_t)_i * FABRIC_S / TRIES};
    place(SUPERMASTER, WORKER, OTHER);
    run(_i, &fault, 1);
    for (unsigned i = WORKER; i < config.ranks; i++) {
        ck_assert(!gossip_has_lost(SUPERMASTER, i));
        assert_status(i, EXIT_STATUS_DONE);
    }
    assert_status(SUPERMASTER, EXIT_STATUS_DONE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("link");
    TCase *all = tcase_create("link");
    tcase_add_checked_fixture(all, set_up, NULL);
    tcase_add_loop_test(all, data_that_nobody_waits_for_are_taken_before_the_end, 0, TRIES);
    tcase_add_loop_test(all, a_message_that_arrives_as_a_rank_is_found_to_have_failed_is_taken, 0, TRIES);
    tcase_add_loop_test(all, no_send_is_tested_before_it_is_over, 0, TRIES);
    tcase_add_loop_test(all, a_run_that_is_stopped_and_goes_on_blames_nobody, 0, TRIES);
    tcase_add_loop_test(all, a_rank_that_stands_still_for_four_seconds_is_not_lost, 0, TRIES);
    tcase_add_loop_test(all, a_silent_rank_is_lost_in_time_and_leaves_when_it_is_back, 0, TRIES);
    tcase_add_loop_test(all, data_to_a_rank_that_comes_back_are_as_they_were, 0, TRIES);
    tcase_add_loop_test(all, data_that_were_given_up_spoil_no_others, 0, TRIES);
    tcase_add_loop_test(all, a_dead_rank_of_another_node_is_lost_in_time, 0, TRIES);
    tcase_add_loop_test(all, a_dead_rank_of_the_node_is_lost_at_once, 0, TRIES);
    tcase_add_loop_test(all, a_dead_rank_is_lost_in_time_while_results_of_others_are_stored, 0, TRIES);
    tcase_add_loop_test(all, a_stopped_worker_is_ended_where_nobody_else_can_do_its_work, 0, TRIES);
    tcase_add_loop_test(all, a_message_wakes_a_sleeper_of_the_node, 0, TRIES);
    tcase_add_loop_test(all, ranks_leave_where_the_launcher_does_not_answer, 0, TRIES);
    tcase_add_loop_test(all, nobody_waits_for_room_behind_a_worker_that_dies_as_an_orphan, 0, TRIES);
    tcase_add_loop_test(all, orphans_on_another_node_than_their_master_are_not_lost, 0, TRIES);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
