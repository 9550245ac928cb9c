/* SPDX-License-Identifier: MIT */
/* The table of peers: which moves there are, what follows from a state, and that each end is told once. */
#include "common/mpi/peers.h"
#include "tests/lib/suite.h"

#include <signal.h>

#define RANKS 4

static struct peers peers;

static void set_up(void)
{
    ck_assert_int_eq(peers_init(&peers, RANKS), 0);
}

static void tear_down(void)
{
    ck_assert(peers_check(&peers));
    peers_fini(&peers);
}

static void expect(unsigned rank, enum peer_state state)
{
    ck_assert_str_eq(peers_state_name(peers_state(&peers, rank)), peers_state_name(state));
}

START_TEST(less_is_exchanged_with_a_peer_from_state_to_state)
{
    static const struct {
        enum peer_event event;
        enum peer_state state;
        bool can_send, can_receive;
    } life[] = {
        {PEER_WATCH, PEER_WATCHED, true, true},
        {PEER_DISMISS, PEER_DISMISSED, false, true},
        {PEER_DIES, PEER_DIED, false, true},
        {PEER_LEAVES, PEER_LEFT, false, true}, /* its last beat has come late */
        {PEER_CLOSE, PEER_CLOSED, false, true},
        {PEER_EMPTY, PEER_EMPTIED, false, true},
        {PEER_FENCE, PEER_FENCED, false, false},
        {PEER_LOSE, PEER_LOST, false, false},
        {PEER_RETURN, PEER_UNWATCHED, true, true},
    };
    ck_assert(peers_can_send(&peers, 2) && peers_can_receive(&peers, 2));
    for (size_t i = 0; i < sizeof life / sizeof *life; i++) {
        ck_assert(peers_move(&peers, 2, life[i].event));
        expect(2, life[i].state);
        ck_assert(peers_can_send(&peers, 2) == life[i].can_send);
        ck_assert(peers_can_receive(&peers, 2) == life[i].can_receive);
        ck_assert(peers_can_receive_data(&peers, 2) == (life[i].state < PEER_EMPTIED));
        ck_assert(peers_check(&peers));
    }
    expect(1, PEER_UNWATCHED);
}
END_TEST

START_TEST(an_end_is_taken_once_whoever_tells_of_it)
{
    unsigned rank;
    bool in_order;
    peers_move(&peers, 1, PEER_WATCH);
    peers_move(&peers, 3, PEER_WATCH);
    ck_assert(peers_move(&peers, 3, PEER_DIES));
    ck_assert(!peers_move(&peers, 3, PEER_DIES)); /* another detector */
    ck_assert(peers_move(&peers, 1, PEER_LEAVES));
    ck_assert_uint_eq(peers.ended, 2);
    ck_assert(peers_take_ended(&peers, &rank, &in_order) && rank == 1 && in_order);
    ck_assert(peers_take_ended(&peers, &rank, &in_order) && rank == 3 && !in_order);
    ck_assert(!peers_take_ended(&peers, &rank, &in_order));
    ck_assert(!peers_move(&peers, 3, PEER_DIES));
    ck_assert(!peers_take_ended(&peers, &rank, &in_order));
}
END_TEST

START_TEST(only_the_end_of_a_watched_peer_is_taken)
{
    unsigned rank;
    bool in_order;
    ck_assert(!peers_move(&peers, 0, PEER_DIES)); /* its detector tells again once it is watched */
    peers_move(&peers, 1, PEER_LEAVES);           /* this one's does not */
    expect(1, PEER_GONE);
    ck_assert(!peers_take_ended(&peers, &rank, &in_order));
    peers_move(&peers, 0, PEER_WATCH);
    peers_move(&peers, 1, PEER_WATCH);
    ck_assert(peers_take_ended(&peers, &rank, &in_order) && rank == 1 && in_order);
    ck_assert(!peers_take_ended(&peers, &rank, &in_order));
    expect(0, PEER_WATCHED);
}
END_TEST

START_TEST(a_fenced_peer_is_lost_once_and_its_end_is_none)
{
    unsigned rank;
    bool in_order;
    peers_move(&peers, 1, PEER_WATCH);
    peers_move(&peers, 1, PEER_FENCE);
    peers_move(&peers, 2, PEER_FENCE);
    peers_move(&peers, 1, PEER_DIES);
    ck_assert(!peers_take_ended(&peers, &rank, &in_order));
    ck_assert(peers_take_fenced(&peers, &rank) && rank == 1);
    ck_assert(peers_take_fenced(&peers, &rank) && rank == 2);
    ck_assert(!peers_take_fenced(&peers, &rank));
    expect(1, PEER_LOST);
}
END_TEST

START_TEST(a_wrong_count_is_found)
{
    peers.ended = 1;
    ck_assert(!peers_check(&peers));
    peers.ended = 0;
    peers.state[1] = PEER_FENCED;
    ck_assert(!peers_check(&peers));
    peers.state[1] = PEER_STATES;
    ck_assert(!peers_check(&peers));
    peers.state[1] = PEER_UNWATCHED;
}
END_TEST

/* Moves that no detector and no machine can ask for. */
static const struct {
    enum peer_event before, event;
} illegal[] = {
    {PEER_WATCH, PEER_CLOSE}, {PEER_DISMISS, PEER_CLOSE}, {PEER_FENCE, PEER_FENCE},
    {PEER_WATCH, PEER_LOSE},  {PEER_FENCE, PEER_RETURN},
};

START_TEST(peers_that_have_come_are_watched_as_others_are)
{
    unsigned rank;
    bool in_order;
    peers_move(&peers, 2, PEER_WATCH);
    ck_assert_int_eq(peers_grow(&peers, RANKS + 3), 0);
    ck_assert(peers.ranks == RANKS + 3 && peers_state(&peers, 2) == PEER_WATCHED &&
              peers_state(&peers, RANKS + 2) == PEER_UNWATCHED);
    peers_move(&peers, RANKS + 2, PEER_WATCH);
    peers_move(&peers, RANKS + 2, PEER_DIES);
    ck_assert(peers_take_ended(&peers, &rank, &in_order) && rank == RANKS + 2 && !in_order);
}
END_TEST

START_TEST(an_illegal_move_ends_the_process)
{
    peers_move(&peers, 1, illegal[_i].before);
    peers_move(&peers, 1, illegal[_i].event);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("peers");
    TCase *all = tcase_create("peers");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, less_is_exchanged_with_a_peer_from_state_to_state);
    tcase_add_test(all, an_end_is_taken_once_whoever_tells_of_it);
    tcase_add_test(all, only_the_end_of_a_watched_peer_is_taken);
    tcase_add_test(all, a_fenced_peer_is_lost_once_and_its_end_is_none);
    tcase_add_test(all, a_wrong_count_is_found);
    tcase_add_test(all, peers_that_have_come_are_watched_as_others_are);
    tcase_add_loop_test_raise_signal(all, an_illegal_move_ends_the_process, SIGABRT, 0,
                                     (int)(sizeof illegal / sizeof *illegal));
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
