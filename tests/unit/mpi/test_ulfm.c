/* SPDX-License-Identifier: MIT */
/* What a library with ULFM tells: each failed rank ends once, if it is watched, and is acknowledged. The library is
 * played here, but for its groups, which are those of a world of one rank. */
#include "common/carrier/words.h"
#include "common/mpi/net.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/ulfm.h"
#include "tests/lib/suite.h"

#include <mpi-ext.h>

static bool has_failed;
static int asked, acknowledged;

int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed)
{
    asked++;
    *failed = MPI_GROUP_EMPTY;
    return has_failed ? MPI_Comm_group(comm, failed) : MPI_SUCCESS;
}

int MPIX_Comm_ack_failed(MPI_Comm comm, int count, int *done)
{
    (void)comm;
    *done = acknowledged = count;
    return MPI_SUCCESS;
}

static unsigned char state;
static int not_here = -1;
static struct runtime runtime;

static bool take(void)
{
    unsigned rank = 9;
    bool in_order = true;
    bool taken = peers_take_ended(&runtime.peers, &rank, &in_order);
    ck_assert(!taken || (rank == 0 && !in_order));
    return taken;
}

static void set_up(void)
{
    has_failed = false;
    asked = acknowledged = 0;
    state = PEER_WATCHED;
    runtime = (struct runtime){.world = carrier_word_of_comm(MPI_COMM_WORLD),
                               .ranks = 1,
                               .peers = {.state = &state, .ranks = 1},
                               .doorbell = {.node_index = &not_here}};
}

START_TEST(a_failed_rank_ends_once_and_is_acknowledged)
{
    ulfm_look(&runtime, 1);
    ck_assert(!take());
    ck_assert_int_eq(acknowledged, 0);
    has_failed = true;
    ulfm_look(&runtime, 1000000001);
    ck_assert(take());
    ck_assert_int_eq(acknowledged, 1);
    acknowledged = 0;
    ulfm_look(&runtime, 2000000001);
    ck_assert(!take());
    ck_assert_int_eq(acknowledged, 0);
    ck_assert_int_eq(asked, 3);
}
END_TEST

START_TEST(who_is_not_watched_does_not_end)
{
    state = PEER_UNWATCHED;
    has_failed = true;
    ulfm_look(&runtime, 1);
    ck_assert(!take());
    ck_assert_int_eq(acknowledged, 1);
}
END_TEST

START_TEST(it_is_asked_once_a_second_or_when_an_operation_failed)
{
    struct net net = {.ulfm = &runtime.ulfm};
    ulfm_look(&runtime, 1);
    ulfm_look(&runtime, 2);
    ck_assert_int_eq(asked, 1);
    ck_assert(net_is_loss(&net, CARRIER_PENDING));
    ulfm_look(&runtime, 3);
    ck_assert_int_eq(asked, 2);
    ck_assert(!net_is_loss(&net, CARRIER_ERROR));
    ulfm_look(&runtime, 4);
    ck_assert_int_eq(asked, 2);
}
END_TEST

START_TEST(a_message_that_arrives_behind_a_failure_is_taken)
{
    ck_assert(net_is_whole(CARRIER_DONE, true));
    ck_assert(!net_is_whole(CARRIER_DONE, false));
    ck_assert(net_is_whole(CARRIER_PENDING, true));
    ck_assert(!net_is_whole(CARRIER_PENDING, false));
    ck_assert(!net_is_whole(CARRIER_LOST, true));
}
END_TEST

int main(void)
{
    setenv("CK_FORK", "no", 1); /* MPI is not for children */
    carrier = &hdss_carrier;
    MPI_Init(NULL, NULL);
    Suite *suite = suite_create("ulfm");
    TCase *all = tcase_create("ulfm");
    tcase_add_checked_fixture(all, set_up, NULL);
    tcase_add_test(all, a_failed_rank_ends_once_and_is_acknowledged);
    tcase_add_test(all, who_is_not_watched_does_not_end);
    tcase_add_test(all, it_is_asked_once_a_second_or_when_an_operation_failed);
    tcase_add_test(all, a_message_that_arrives_behind_a_failure_is_taken);
    suite_add_tcase(suite, all);
    int failed = suite_run(suite);
    MPI_Finalize();
    return failed;
}
