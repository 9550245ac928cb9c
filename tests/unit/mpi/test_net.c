/* SPDX-License-Identifier: MIT */
/* The ring of sends: a message waits until the one before it to the same rank is gone, and is given up where that rank
 * is lost. MPI is played here: a message is gone when the test says so. */
#include "common/mpi/net.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/pulse.h"
#include "common/mpi/rank.h"
#include "proto/message.h"
#include "tests/lib/suite.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define RANKS 4
#define ROOM  8
#define BYTES 10000

/* --- MPI --- */

static struct {
    unsigned to;
    int tag, bytes;
    bool gone;
} begun[32]; /* sends in the order in which MPI was given them */
static int begun_count;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)buffer, (void)type, (void)comm;
    begun[begun_count].to = (unsigned)to;
    begun[begun_count].tag = tag;
    begun[begun_count].bytes = count;
    begun[begun_count].gone = false;
    *request = (MPI_Request)(intptr_t)(++begun_count);
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *is_over, MPI_Status *status)
{
    (void)status;
    *is_over = *request == MPI_REQUEST_NULL || begun[(intptr_t)*request - 1].gone;
    if (*is_over)
        *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)from, (void)tag, (void)comm;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)request, (void)status;
    return MPI_SUCCESS;
}

/* --- the ring --- */

static void start_receive(struct net *net, unsigned receive)
{
    (void)net, (void)receive;
}

static bool announce(struct net *net, unsigned to, size_t bytes)
{
    (void)net, (void)to, (void)bytes;
    return true;
}

static const struct runtime_ops played = {.sends = ROOM, .start_receive = start_receive, .announce = announce};
static unsigned char data[BYTES];
static struct runtime runtime;
static struct net net;

static void set_up(void)
{
    begun_count = 0;
    runtime = (struct runtime){.ops = &played, .ranks = RANKS};
    ck_assert_int_eq(peers_init(&runtime.peers, RANKS), 0);
    ck_assert_int_eq(net_init(&net, &runtime, 1), 0);
}

static void tear_down(void)
{
    net_fini(&net);
    peers_fini(&runtime.peers);
}

static void send_small(unsigned to)
{
    const struct message message = {.type = MESSAGE_RECALL};
    ck_assert_int_eq(net_send(&net, to, &message), 0);
}

static void send_large(unsigned to)
{
    const struct message message = {
        .type = MESSAGE_BOUNDARY, .payload = PAYLOAD_DATA, .payload_data = data, .payload_bytes = BYTES};
    ck_assert_int_eq(net_send(&net, to, &message), 0);
}

/* Takes and sends what can be. Returns how many sends are over. */
static unsigned progress(void)
{
    unsigned to, over = 0;
    const void *payload;
    while (net_sent(&net, &to, &payload))
        over++;
    while (net_send_held(&net, &to))
        ;
    return over;
}

static void assert_begun(int place, unsigned to, int tag)
{
    ck_assert_int_gt(begun_count, place);
    ck_assert_uint_eq(begun[place].to, to);
    ck_assert_int_eq(begun[place].tag, tag);
}

/* --- tests --- */

START_TEST(data_follow_the_message_that_announces_them)
{
    send_large(1);
    assert_begun(0, 1, TAG_CONTROL);
    ck_assert_int_eq(begun_count, 1);
    ck_assert_uint_eq(progress(), 0);
    begun[0].gone = true;
    ck_assert_uint_eq(progress(), 0);
    assert_begun(1, 1, TAG_DATA);
    ck_assert_int_eq(begun[1].bytes, BYTES);
    begun[1].gone = true;
    ck_assert_uint_eq(progress(), 1);
    ck_assert_int_eq(begun_count, 2);
}
END_TEST

START_TEST(a_message_waits_for_the_one_before_it_to_the_same_rank)
{
    send_small(1);
    send_large(1);
    send_small(2);
    send_small(1);
    ck_assert_int_eq(begun_count, 2);
    assert_begun(0, 1, TAG_CONTROL);
    assert_begun(1, 2, TAG_CONTROL);
    ck_assert_uint_eq(progress(), 0);
    begun[0].gone = true;
    ck_assert_uint_eq(progress(), 1);
    ck_assert_int_eq(begun_count, 3);
    assert_begun(2, 1, TAG_CONTROL);
    begun[2].gone = true;
    ck_assert_uint_eq(progress(), 0);
    ck_assert_int_eq(begun_count, 5); /* a message does not wait for the data before it, which their receiver fetches */
    assert_begun(3, 1, TAG_DATA);
    assert_begun(4, 1, TAG_CONTROL);
    begun[1].gone = begun[3].gone = begun[4].gone = true;
    ck_assert_uint_eq(progress(), 3);
    ck_assert_uint_eq(net.send_count, 0);
}
END_TEST

START_TEST(to_a_lost_rank_nothing_is_waited_for)
{
    send_small(3);
    while (net_can_send(&net)) {
        send_large(3);
        if (net_can_send(&net))
            send_small(2);
    }
    const int before = begun_count;
    ck_assert_uint_eq(progress(), 0);
    peers_move(&runtime.peers, 3, PEER_NAMED);
    begun[1].gone = true;
    progress();
    ck_assert_int_eq(begun[0].to, 3);
    for (int i = 1; i < begun_count; i++) {
        ck_assert_uint_eq(begun[i].to, 2);
        begun[i].gone = true;
    }
    while (progress() > 0)
        for (int i = before; i < begun_count; i++)
            begun[i].gone = true;
    ck_assert_uint_eq(net.send_count, 0);
    ck_assert_uint_eq(net.held_count, 0);
    ck_assert_uint_eq(net.over, ROOM);
}
END_TEST

START_TEST(a_message_waits_for_a_beat)
{
    struct beat beats[RANKS] = {0};
    for (unsigned i = 0; i < RANKS; i++)
        beats[i].request = MPI_REQUEST_NULL;
    runtime.heartbeat.beats = beats;
    MPI_Isend(data, 1, MPI_BYTE, 2, 3, MPI_COMM_WORLD, &beats[2].request);
    ck_assert(!net_is_clear(&net, 2));
    send_small(2);
    ck_assert_int_eq(begun_count, 1);
    begun[0].gone = true;
    ck_assert_uint_eq(progress(), 0);
    assert_begun(1, 2, TAG_CONTROL);
    ck_assert(!net_is_clear(&net, 2));
    ck_assert(net_is_clear(&net, 1));
    begun[1].gone = true;
    ck_assert(net_is_clear(&net, 2));
    ck_assert_uint_eq(progress(), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net");
    TCase *tests = tcase_create("sends");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, data_follow_the_message_that_announces_them);
    tcase_add_test(tests, a_message_waits_for_the_one_before_it_to_the_same_rank);
    tcase_add_test(tests, to_a_lost_rank_nothing_is_waited_for);
    tcase_add_test(tests, a_message_waits_for_a_beat);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
