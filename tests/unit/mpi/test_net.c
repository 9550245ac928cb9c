/* SPDX-License-Identifier: MIT */
/* The ring of sends: a message waits until the one before it to the same rank is gone, and is given up where that rank
 * is lost; a rank waits for room only as long as somebody tells of such losses. And receives that fail with their
 * sender. The carrier is played here: a message is gone when the test says so. */
#include "common/carrier/carrier.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/driver.h"
#include "common/mpi/net.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/pulse.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"
#include "tests/lib/suite.h"

#include <stdbool.h>
#include <stdint.h>

#define RANKS 4
#define ROOM  8
#define BYTES 10000

/* --- the carrier --- */

static struct {
    const void *buffer;
    unsigned to;
    int tag, bytes;
    bool gone;
} begun[32]; /* sends in the order in which MPI was given them */
static int begun_count;

static carrier_request played_isend(carrier_comm comm, int to, int tag, const void *buffer, size_t bytes)
{
    (void)comm;
    begun[begun_count].buffer = buffer;
    begun[begun_count].to = (unsigned)to;
    begun[begun_count].tag = tag;
    begun[begun_count].bytes = (int)bytes;
    begun[begun_count].gone = false;
    return (carrier_request)(++begun_count);
}

/* Receives, numbered behind the sends; what testing them returns, which ends one unless it is done. */
#define FIRST_RECEIVE 100
static enum carrier_result receive_results[3];

static bool is_receive(carrier_request request)
{
    return request >= FIRST_RECEIVE && request < FIRST_RECEIVE + 3;
}

static carrier_request receive_request(unsigned place)
{
    return FIRST_RECEIVE + place;
}

static enum carrier_result test_receive(carrier_request *request, bool *is_over, struct carrier_status *status)
{
    const enum carrier_result result = receive_results[*request - FIRST_RECEIVE];
    *is_over = result != CARRIER_DONE;
    if (status != NULL)
        status->source = 1;
    if (result == CARRIER_LOST)
        *request = 0;
    return result;
}

static carrier_request played_irecv(carrier_comm comm, int from, int tag, void *buffer, size_t bytes)
{
    (void)comm, (void)tag, (void)buffer, (void)bytes;
    return receive_request((unsigned)from);
}

static int started;

static void played_start(carrier_request request)
{
    (void)request;
    started++;
}

static enum carrier_result played_test(carrier_request *request, bool *is_over, struct carrier_status *status)
{
    if (is_receive(*request))
        return test_receive(request, is_over, status);
    ck_assert(begun[*request - 1].gone); /* else Open MPI 5 may end the rank */
    *is_over = true;
    *request = 0;
    return CARRIER_DONE;
}

static bool played_is_over(carrier_request request)
{
    return begun[request - 1].gone;
}

static carrier_request played_recv_init(carrier_comm comm, int from, int tag, void *buffer, size_t bytes)
{
    (void)comm, (void)from, (void)tag, (void)buffer, (void)bytes;
    return 0;
}

static void played_release(carrier_request *request)
{
    *request = 0;
}

static void played_cancel(carrier_request request)
{
    (void)request;
}

static void played_wait(carrier_request *request)
{
    (void)request;
}

static const struct carrier played_carrier = {
    .isend = played_isend,
    .irecv = played_irecv,
    .recv_init = played_recv_init,
    .start = played_start,
    .test = played_test,
    .is_over = played_is_over,
    .wait = played_wait,
    .cancel = played_cancel,
    .release = played_release,
};

static size_t came_bytes; /* of the message that has come */

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

static bool is_sent(carrier_request *request)
{
    return runtime_mpi_ops.is_sent(request);
}

static const struct runtime_ops played = {
    .sends = ROOM, .start_receive = start_receive, .announce = announce, .is_sent = is_sent};
static unsigned char data[BYTES];
static struct runtime runtime;
static struct net net;
static struct net_user user = {.job = FIRST_JOB};

static void set_up(void)
{
    carrier = &played_carrier;
    begun_count = started = 0;
    for (int i = 0; i < 3; i++)
        receive_results[i] = CARRIER_DONE;
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
    ck_assert_int_eq(net_send(&net, to, &user, &message), 0);
}

static void send_large(unsigned to)
{
    const struct message message = {
        .type = MESSAGE_BOUNDARY, .payload = PAYLOAD_DATA, .payload_data = data, .payload_bytes = BYTES};
    ck_assert_int_eq(net_send(&net, to, &user, &message), 0);
}

/* Takes and sends what can be. Returns how many sends are over. */
static unsigned progress(void)
{
    unsigned to, over = 0;
    struct ended_send sent;
    while (net_sent(&net, &sent))
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
    peers_move(&runtime.peers, 3, PEER_FENCE);
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

/* MPI may still read what was given up: the message, which nothing is written over, and the data. */
START_TEST(what_is_given_up_is_left_to_mpi)
{
    struct ended_send sent;
    send_large(1);
    begun[0].gone = true;
    ck_assert(!net_sent(&net, &sent));
    assert_begun(1, 1, TAG_DATA);
    send_small(1);
    assert_begun(2, 1, TAG_CONTROL);
    peers_move(&runtime.peers, 1, PEER_FENCE);
    ck_assert(net_sent(&net, &sent));
    ck_assert(sent.payload == data && sent.is_kept);
    ck_assert(net_sent(&net, &sent));
    ck_assert(sent.payload == NULL && !sent.is_kept);
    for (int i = 0; i < 2 * ROOM; i++) {
        send_small(2);
        ck_assert_ptr_ne(begun[begun_count - 1].buffer, begun[2].buffer);
        begun[begun_count - 1].gone = true;
        ck_assert_uint_eq(progress(), 1);
    }
}
END_TEST

/* Nothing was begun of its data. */
START_TEST(data_that_wait_for_their_message_come_back)
{
    struct ended_send sent;
    send_large(1);
    peers_move(&runtime.peers, 1, PEER_FENCE);
    ck_assert(net_sent(&net, &sent));
    ck_assert(sent.payload == data && !sent.is_kept);
}
END_TEST

START_TEST(a_message_waits_for_a_beat)
{
    struct beat beats[RANKS] = {0};
    runtime.heartbeat.beats = beats;
    beats[2].request = carrier->isend(0, 2, 3, data, 1);
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

/* --- receives that fail with their sender --- */

START_TEST(data_of_a_lost_rank_are_never_here)
{
    struct net_user to = {0}, *whose = NULL;
    const struct part part = {.first = 7};
    const struct inbound inbound = {.user = &to, .data = {.from = 1, .bytes = BYTES}};
    struct inbound arrived;
    struct part given_up;
    receive_results[1] = CARRIER_LOST;
    ck_assert_int_eq(net_collect(&net, &to, &part, 1, BYTES), 0);
    ck_assert_int_eq(net_await(&net, &inbound, data), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(net_poll_collect(&net));
        ck_assert(!net_poll_inbound(&net, &arrived));
    }
    ck_assert(runtime.ulfm.told);
    ck_assert_int_eq(net_cancel(&net, 1, &whose, &given_up), 1);
    ck_assert_ptr_eq(whose, &to);
    ck_assert_uint_eq(given_up.first, 7);
    ck_assert_int_eq(net_cancel(&net, 1, &whose, &given_up), 0);
    net_cancel_inbound(&net, 1);
    ck_assert_uint_eq(net.inbound_count, 0);
}
END_TEST

/* What arrives in the place of a cancelled receive would be taken for the data of the next. */
START_TEST(the_last_data_of_a_rank_are_cancelled_first)
{
    struct net_user to = {0}, *whose = NULL;
    struct part part = {0}, given_up;
    for (; part.first < COLLECTS_MAX + 2; part.first++)
        ck_assert_int_eq(net_collect(&net, &to, &part, 1, BYTES), 0);
    for (uint64_t i = 0; i < 2; i++) { /* those whose receives have not begun */
        ck_assert_int_eq(net_cancel(&net, 1, &whose, &given_up), 1);
        ck_assert_uint_eq(given_up.first, COLLECTS_MAX + i);
    }
    for (uint64_t i = COLLECTS_MAX; i-- > 0;) {
        ck_assert_int_eq(net_cancel(&net, 1, &whose, &given_up), 1);
        ck_assert_uint_eq(given_up.first, i);
    }
    ck_assert_int_eq(net_cancel(&net, 1, &whose, &given_up), 0);
}
END_TEST

START_TEST(a_message_that_arrives_behind_a_failure_is_taken)
{
    struct carrier_status status;
    net.receives[0] = receive_request(0);
    receive_results[0] = CARRIER_PENDING;
    ck_assert(runtime_mpi_ops.find_message(&net, &status));
    ck_assert_int_eq(status.source, 1);
    ck_assert(runtime.ulfm.told);
    ck_assert_int_eq(started, 0);
}
END_TEST

START_TEST(a_receive_that_failed_with_its_sender_is_renewed)
{
    struct carrier_status status;
    runtime.ops = net.ops = &runtime_mpi_ops;
    net.receive_count = 2;
    net.receives[0] = receive_request(0);
    net.receives[1] = receive_request(1);
    receive_results[0] = CARRIER_LOST;
    ck_assert(!runtime_mpi_ops.find_message(&net, &status));
    ck_assert_int_eq(started, 1);
    ck_assert_uint_eq(net.receive_head, 1);
    net.receive_count = 1;
}
END_TEST

/* --- a worker that exchanges boundary data with a far one --- */

enum { SUPERMASTER, MASTER, WORKER, FAR };

static unsigned worker_ranks[] = {WORKER, FAR}, masters_of[] = {0, 0}, master_ranks[] = {MASTER};
static struct hello hellos[RANKS] = {
    {.role = ROLE_SUPERMASTER}, {.role = ROLE_MASTER}, {.role = ROLE_WORKER}, {.role = ROLE_WORKER}};
static const struct effects effects;
static struct link link_;
static struct driver driver;
static unsigned looks;
/* What happens at the third look: the master dies, or tells that the job is over. */
static enum { DIES, ENDS_JOB } master_does;

static uint64_t now(void)
{
    return 1;
}

static void look(struct wait *wait, uint64_t now_ns)
{
    (void)wait, (void)now_ns;
}

static void look_at_peers(struct runtime *runtime_, uint64_t now_ns)
{
    (void)now_ns;
    if (++looks == 3 && master_does == DIES)
        peers_move(&runtime_->peers, MASTER, PEER_DIES);
}

static bool find_message(struct net *net_, struct carrier_status *status)
{
    const struct message end = {.type = MESSAGE_END};
    const bool has_come = looks == 3 && master_does != DIES && came_bytes == 0;
    if (has_come)
        came_bytes = message_encode(&end, FIRST_JOB, net_->receive_bytes[0]);
    *status = (struct carrier_status){.source = MASTER, .bytes = came_bytes};
    return has_come;
}

static void ring(struct runtime *runtime_, unsigned to)
{
    (void)runtime_, (void)to;
}

static const struct runtime_ops driven = {
    .now = now,
    .look = look,
    .look_at_peers = look_at_peers,
    .sends = ROOM,
    .start_receive = start_receive,
    .announce = announce,
    .find_message = find_message,
    .is_sent = is_sent,
    .ring = ring,
};

/* Sends boundary data to the far worker, which is dead, until it has to wait for room and does so no longer. */
static void send_until_room_is_waited_for(bool is_of_set)
{
    const struct message message = {
        .type = MESSAGE_BOUNDARY, .payload = PAYLOAD_INLINE, .payload_data = data, .payload_bytes = 8};
    looks = 0;
    came_bytes = 0;
    runtime.ops = &driven;
    runtime.rank = WORKER;
    runtime.exchanges = true;
    runtime.hellos = hellos;
    runtime.topology = (struct topology){.supermaster = SUPERMASTER,
                                         .masters = 1,
                                         .workers = 2,
                                         .worker_rank = worker_ranks,
                                         .master_of = masters_of,
                                         .master_rank = master_ranks};
    peers_move(&runtime.peers, MASTER, PEER_WATCH);
    link_ = (struct link){
        .runtime = &runtime, .ops = &driven, .drivers = &driver, .newest = FIRST_JOB, .expects_jobs = is_of_set};
    driver = (struct driver){.user.job = FIRST_JOB, .link = &link_, .effects = &effects};
    ck_assert_int_eq(net_init(&link_.net, &runtime, 1), 0);
    for (unsigned i = 0; i <= ROOM; i++)
        driver_send(&driver, FAR, &message);
    ck_assert_uint_ge(looks, 3);
    ck_assert_int_eq(begun_count, 1);
}

static void end_link(void)
{
    net_fini(&link_.net);
    deferred_fini(&link_.deferred);
}

START_TEST(a_worker_that_has_lost_its_master_waits_for_no_room)
{
    const struct message adopt = {.type = MESSAGE_ADOPT};
    master_does = DIES;
    send_until_room_is_waited_for(false);
    ck_assert_uint_eq(link_.net.send_count, ROOM + 1);
    for (unsigned i = 0; i < 3 * ROOM; i++)
        driver_send(&driver, SUPERMASTER, &adopt);
    ck_assert_uint_eq(link_.net.send_count, 4 * ROOM + 1);
    assert_begun(1, SUPERMASTER, TAG_CONTROL);
    for (int i = 0; i < 2 + 3 * ROOM; i++) {
        if (i > 0 && i < begun_count)
            begun[i].gone = true;
        link_progress_sends(&link_);
    }
    ck_assert_int_eq(begun_count, 1 + 3 * ROOM);
    ck_assert_uint_eq(link_.net.send_count, 4 * ROOM + 1);
    peers_move(&runtime.peers, FAR, PEER_FENCE);
    link_progress_sends(&link_);
    ck_assert_uint_eq(link_.net.send_count, 0);
    ck_assert_uint_eq(link_.net.held_count, 0);
    end_link();
}
END_TEST

START_TEST(nobody_is_there_any_more_at_the_end_of_a_run)
{
    master_does = ENDS_JOB;
    send_until_room_is_waited_for(false);
    ck_assert_uint_eq(link_.net.send_count, 0);
    ck_assert_uint_eq(link_.deferred.count, 1);
    end_link();
}
END_TEST

START_TEST(a_payload_is_borrowed_until_its_receiver_has_it_or_is_lost)
{
    send_large(1);
    send_small(2);
    ck_assert(net_borrows(&net, &user));
    begun[0].gone = true;
    ck_assert(net_borrows(&net, &user));
    peers_move(&runtime.peers, 1, PEER_FENCE);
    ck_assert(!net_borrows(&net, &user));
    ck_assert_ptr_eq(net_forget(&net, &user), data);
    ck_assert_ptr_null(net_forget(&net, &user));
    ck_assert_uint_eq(net.nobody.pending, 2);
    user.pending = 0;
}
END_TEST

START_TEST(all_are_there_behind_a_job_of_a_set_and_no_room_is_waited_for)
{
    master_does = ENDS_JOB;
    send_until_room_is_waited_for(true);
    ck_assert_uint_eq(link_.net.send_count, ROOM + 1);
    ck_assert(!net_borrows(&link_.net, &driver.user));
    ck_assert_ptr_null(net_forget(&link_.net, &driver.user));
    driver.user.pending = 0; /* as the job is freed */
    peers_move(&runtime.peers, FAR, PEER_FENCE);
    link_progress_sends(&link_);
    ck_assert_uint_eq(link_.net.send_count, 0);
    ck_assert_uint_eq(driver.user.pending, 0);
    end_link();
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
    tcase_add_test(tests, what_is_given_up_is_left_to_mpi);
    tcase_add_test(tests, data_that_wait_for_their_message_come_back);
    tcase_add_test(tests, a_worker_that_has_lost_its_master_waits_for_no_room);
    tcase_add_test(tests, a_payload_is_borrowed_until_its_receiver_has_it_or_is_lost);
    tcase_add_test(tests, nobody_is_there_any_more_at_the_end_of_a_run);
    tcase_add_test(tests, all_are_there_behind_a_job_of_a_set_and_no_room_is_waited_for);
    tcase_add_test(tests, data_of_a_lost_rank_are_never_here);
    tcase_add_test(tests, the_last_data_of_a_rank_are_cancelled_first);
    tcase_add_test(tests, a_message_that_arrives_behind_a_failure_is_taken);
    tcase_add_test(tests, a_receive_that_failed_with_its_sender_is_renewed);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
