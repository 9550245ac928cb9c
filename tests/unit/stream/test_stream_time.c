/* SPDX-License-Identifier: MIT */
/* Streams under virtual time: how long an end waits for the other, and what becomes of messages if connections break,
 * or machines stand still. The oracle of scene.h looks on in each of these. */
#include "tests/lib/suite.h"
#include "tests/unit/stream/scene.h"

#include <string.h>

/* What a machine needs for a turn and a message for its way, together, at most. */
#define SOON_NS (50 * MS_NS)

static struct scene scene;

static bool is_tls(int i)
{
    return i == 1;
}

static void set_up(int i)
{
    scene_init(&scene, 1, is_tls(i));
}

static void tear_down(void)
{
    scene_fini(&scene);
    ck_assert_msg(scene.wrong[0] == '\0', "%s", scene.wrong);
}

/* Lets time pass until the condition holds. */
#define WAIT(condition)                                                                                                \
    do {                                                                                                               \
        SCENE_WAIT(&scene, condition);                                                                                 \
        ck_assert_msg(scene.wrong[0] == '\0', "%s", scene.wrong);                                                      \
    } while (0)

static void settle(void)
{
    WAIT(scene_is_quiet(&scene));
}

static uint64_t since(uint64_t began_ns)
{
    return scene.net.now_ns - began_ns;
}

static void send_both_ways(struct scene_pod *pod, unsigned count)
{
    scene_send(&scene, pod, SCENE_SET, count, 100, false);
    scene_send(&scene, pod, SCENE_POD, count, 100, false);
}

/* --- silence --- */

START_TEST(quiet_ends_stay_connected)
{
    set_up(_i);
    const struct scene_pod *pod = scene_joined(&scene);
    const struct net_socket *socket = scene_socket(&scene, pod, SCENE_SET);
    scene_run(&scene, 60 * S_NS);
    ck_assert_ptr_eq(scene_socket(&scene, pod, SCENE_SET), socket);
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

START_TEST(a_silent_connection_is_broken_after_four_beats)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    const uint64_t began_ns = scene.net.now_ns;
    net_lose(&scene.net, scene_socket(&scene, pod, SCENE_SET));
    WAIT(scene_socket(&scene, pod, SCENE_SET) == NULL);
    ck_assert_uint_ge(since(began_ns), STREAM_SILENCE_NS - STREAM_BEAT_NS);
    ck_assert_uint_le(since(began_ns), STREAM_SILENCE_NS + SOON_NS);
    send_both_ways(pod, 3);
    settle();
    ck_assert_uint_le(since(began_ns), STREAM_SILENCE_NS + STREAM_BEAT_NS + STREAM_RETRY_LEAST_NS + 2 * SOON_NS);
    ck_assert_uint_eq(scene.welcomes, 1);
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

START_TEST(who_is_out_of_reach_is_lost_after_the_time_of_grace)
{
    set_up(_i);
    const struct scene_pod *pod = scene_joined(&scene);
    const uint64_t began_ns = scene.net.now_ns;
    net_cut(&scene.net, &scene.set_machine);
    WAIT(pod->side[SCENE_SET].is_lost || pod->side[SCENE_POD].is_lost);
    ck_assert_uint_ge(since(began_ns), STREAM_GRACE_NS + STREAM_SILENCE_NS - STREAM_BEAT_NS);
    WAIT(scene.lost == 2);
    ck_assert_uint_le(since(began_ns), STREAM_GRACE_NS + STREAM_SILENCE_NS + SOON_NS);
    tear_down();
}
END_TEST

START_TEST(who_is_out_of_reach_for_less_than_that_is_not)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    net_cut(&scene.net, &pod->machine);
    send_both_ways(pod, 5);
    scene_run(&scene, STREAM_GRACE_NS + STREAM_SILENCE_NS - 2 * STREAM_BEAT_NS - STREAM_RETRY_MOST_NS);
    net_mend(&scene.net, &pod->machine);
    settle();
    ck_assert_uint_eq(scene.lost, 0);
    ck_assert_uint_eq(scene.came, 10);
    tear_down();
}
END_TEST

/* Its kernel says that its process has ended. */
START_TEST(who_ends_is_lost_sooner)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    const uint64_t began_ns = scene.net.now_ns;
    scene_send(&scene, pod, SCENE_POD, 1, 100, false);
    scene_end_pod(&scene, pod);
    WAIT(pod->side[SCENE_SET].is_lost);
    ck_assert_uint_eq(pod->side[SCENE_SET].came, 1); /* all that it has said */
    ck_assert_uint_ge(since(began_ns), STREAM_CLOSED_NS);
    ck_assert_uint_le(since(began_ns), STREAM_CLOSED_NS + SOON_NS);
    ck_assert(!streams_is_open(scene.set, pod->peer) && streams_are_flushed(scene.set));
    tear_down();
}
END_TEST

START_TEST(a_set_that_ends_is_lost_to_its_pods)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    const uint64_t began_ns = scene.net.now_ns;
    scene_end_set(&scene);
    scene_send(&scene, pod, SCENE_POD, 1, 100, false);
    WAIT(pod->side[SCENE_POD].is_lost);
    ck_assert_uint_ge(since(began_ns), STREAM_CLOSED_NS);
    ck_assert_uint_le(since(began_ns), STREAM_CLOSED_NS + SOON_NS);
    ck_assert(streams_are_flushed(pod->streams));
    tear_down();
}
END_TEST

START_TEST(who_was_taken_for_lost_is_not_taken_back)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    net_reset(&scene.net, scene_socket(&scene, pod, SCENE_SET), true, true);
    net_stand(&scene.net, &pod->machine, STREAM_CLOSED_NS + STREAM_SILENCE_NS, false);
    WAIT(scene.lost == 2);
    ck_assert_ptr_nonnull(strstr(scene.warning, ": this set has taken the pod for lost"));
    scene_joined(&scene); /* anew it may */
    tear_down();
}
END_TEST

/* --- machines that stand still --- */

/* A set and its pods on one machine, which is stopped for longer than any of them waits. */
START_TEST(a_machine_that_stands_still_loses_nobody)
{
    struct scene_pod *pods[3];
    const struct net_socket *sockets[3];
    set_up(_i % 2);
    for (unsigned i = 0; i < 3; i++)
        pods[i] = scene_joined(&scene);
    for (unsigned i = 0; i < 3; i++)
        sockets[i] = scene_socket(&scene, pods[i], SCENE_SET);
    scene_run(&scene, STREAM_BEAT_NS - SOON_NS); /* nothing has come for so long */
    const bool with_clock = (_i & 2) != 0;
    const uint64_t for_ns = _i >= 4 ? STREAM_SILENCE_NS - STREAM_BEAT_NS / 2 : 15 * S_NS;
    for (unsigned i = 0; i < 3; i++)
        net_stand(&scene.net, &pods[i]->machine, for_ns, with_clock);
    net_stand(&scene.net, &scene.set_machine, for_ns, with_clock);
    scene_run(&scene, for_ns);
    for (unsigned i = 0; i < 3; i++)
        send_both_ways(pods[i], 1);
    settle();
    for (unsigned i = 0; i < 3; i++)
        ck_assert_ptr_eq(scene_socket(&scene, pods[i], SCENE_SET), sockets[i]);
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

/* The same while a pod has no connection: neither its time to come back passes, nor that which it waits for the set. */
START_TEST(nor_does_one_without_a_connection)
{
    const uint64_t least_ns = STREAM_SILENCE_NS, most_ns = 2 * STREAM_CLOSED_NS, step_ns = 100 * MS_NS;
    for (uint64_t for_ns = least_ns; for_ns <= most_ns; for_ns += step_ns) {
        set_up(_i);
        struct scene_pod *pod = scene_joined(&scene);
        net_reset(&scene.net, scene_socket(&scene, pod, SCENE_SET), true, true);
        net_cut(&scene.net, &pod->machine);
        scene_run(&scene, STREAM_BEAT_NS + SOON_NS);
        net_mend(&scene.net, &pod->machine);
        net_stand(&scene.net, &pod->machine, for_ns, false);
        net_stand(&scene.net, &scene.set_machine, for_ns, false);
        scene_run(&scene, for_ns);
        send_both_ways(pod, 1);
        settle();
        ck_assert_uint_eq(scene.lost, 0);
        tear_down();
    }
}
END_TEST

/* The pods take the set for silent and try to come back all the while. */
START_TEST(a_set_that_stood_still_lets_nobody_go)
{
    struct scene_pod *pods[3];
    set_up(_i);
    for (unsigned i = 0; i < 3; i++)
        pods[i] = scene_joined(&scene);
    net_stand(&scene.net, &scene.set_machine, STREAM_GRACE_NS, false);
    scene_run(&scene, STREAM_GRACE_NS / 2);
    for (unsigned i = 0; i < 3; i++)
        scene_send(&scene, pods[i], SCENE_POD, 7, 1000, false);
    settle();
    ck_assert_uint_eq(scene.lost, 0);
    ck_assert_uint_eq(scene.came, 21);
    ck_assert_uint_eq(scene.welcomes, 3);
    tear_down();
}
END_TEST

/* The set stood still, so the pod has closed the connection: it has the whole time of grace from then on. */
START_TEST(who_closes_for_that_has_long_to_come_back)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    net_stand(&scene.net, &scene.set_machine, 5 * S_NS, false);
    scene_run(&scene, 5 * S_NS - STREAM_RETRY_MOST_NS / 2);
    net_reset(&scene.net, net_socket(&scene.net, pod->streams->joiner->connection->channel.fd), true, false);
    net_stand(&scene.net, &pod->machine, 3 * STREAM_CLOSED_NS, false);
    scene_run(&scene, 3 * STREAM_CLOSED_NS);
    send_both_ways(pod, 1);
    settle();
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

/* What they said came while the set was still, which had not heard of them for long before: it reads that of one alone
 * in a turn. */
START_TEST(who_has_spoken_is_not_silent)
{
    struct scene_pod *pods[4];
    const struct net_socket *sockets[4];
    set_up(_i);
    for (unsigned i = 0; i < 4; i++)
        pods[i] = scene_joined(&scene);
    for (unsigned i = 0; i < 4; i++)
        sockets[i] = scene_socket(&scene, pods[i], SCENE_SET);
    scene.net.ready_most = 1;
    net_cut(&scene.net, &scene.set_machine);
    scene_run(&scene, STREAM_SILENCE_NS - STREAM_BEAT_NS - 2 * SOON_NS);
    net_mend(&scene.net, &scene.set_machine);
    net_stand(&scene.net, &scene.set_machine, STREAM_SILENCE_NS / 2 - SOON_NS, false);
    scene_run(&scene, S_NS);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_ptr_eq(scene_socket(&scene, pods[i], SCENE_SET), sockets[i]);
    tear_down();
}
END_TEST

/* The program around the set takes nothing, so the set reads nothing from some point on. */
START_TEST(who_is_not_read_is_not_silent)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    const struct net_socket *socket = scene_socket(&scene, pod, SCENE_SET);
    scene.set_waits = true;
    scene_send(&scene, pod, SCENE_POD, 100, STREAM_DATA_MAX, true);
    scene_run(&scene, 5 * S_NS);
    ck_assert_uint_gt(streams_unsent(pod->streams, 0), 0);
    ck_assert_uint_ge(fifo_size(&scene.set->inbox), INBOX_MAX);
    ck_assert_uint_lt(fifo_size(&scene.set->inbox), INBOX_MAX + 2 * STREAM_DATA_MAX);
    scene.set_waits = false;
    settle();
    ck_assert_ptr_eq(scene_socket(&scene, pod, SCENE_SET), socket);
    ck_assert_uint_eq(scene.came, 100);
    tear_down();
}
END_TEST

/* A frame, and a record of TLS, take longer to come than a silence may be. */
START_TEST(a_slow_line_is_not_silent)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    const struct net_socket *socket = scene_socket(&scene, pod, SCENE_SET);
    scene.net.room = 500;
    scene.net.delay_least_ns = 40 * MS_NS;
    scene.net.delay_most_ns = 50 * MS_NS;
    scene_send(&scene, pod, SCENE_POD, 3, STREAM_DATA_MAX, true);
    settle();
    ck_assert_ptr_eq(scene_socket(&scene, pod, SCENE_SET), socket);
    ck_assert_uint_eq(scene.came, 3);
    tear_down();
}
END_TEST

/* --- coming back --- */

/* A set that does not turn for some beats while a pod comes back finds nothing wrong with it. */
START_TEST(a_pod_that_comes_back_waits_in_silence)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    scene_send(&scene, pod, SCENE_SET, 3, 100, false);
    settle();
    net_reset(&scene.net, scene_socket(&scene, pod, SCENE_SET), true, true);
    net_stand(&scene.net, &scene.set_machine, 3 * STREAM_BEAT_NS, false);
    scene_run(&scene, 3 * STREAM_BEAT_NS);
    send_both_ways(pod, 1);
    settle();
    ck_assert_uint_eq(scene.lost, 0);
    ck_assert_uint_eq(scene.warnings, 0);
    tear_down();
}
END_TEST

/* Of which the other one does not hear before it is silent. */
START_TEST(one_end_may_find_the_connection_broken)
{
    set_up(_i % 2);
    struct scene_pod *pod = scene_joined(&scene);
    send_both_ways(pod, 20);
    net_reset(&scene.net, scene_socket(&scene, pod, _i < 2 ? SCENE_SET : SCENE_POD), false, false);
    send_both_ways(pod, 20);
    settle();
    ck_assert_uint_eq(scene.came, 80);
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

START_TEST(a_connection_may_break_at_any_byte)
{
    for (unsigned bytes = 0; bytes < 400; bytes += 1) {
        set_up(0);
        struct scene_pod *pod = scene_joined(&scene);
        settle();
        scene_send(&scene, pod, SCENE_POD, 2, 150, true);
        scene_send(&scene, pod, SCENE_POD, 1, 50, false);
        scene_send(&scene, pod, SCENE_SET, 3, 80, false);
        net_cut_short(&scene.net, scene_socket(&scene, pod, bytes % 2 == 0 ? SCENE_SET : SCENE_POD), bytes);
        settle();
        ck_assert_uint_eq(scene.came, 6);
        ck_assert_uint_eq(scene.lost, 0);
        tear_down();
    }
}
END_TEST

/* Over TLS the bytes are those of its handshake. */
START_TEST(so_may_one_over_which_a_pod_joins_or_comes_back)
{
    const bool comes_back = _i >= 2;
    for (unsigned bytes = 0; bytes < (is_tls(_i % 2) ? 400 : 180); bytes++) {
        set_up(_i % 2);
        struct scene_pod *pod = comes_back ? scene_joined(&scene) : scene_join(&scene);
        if (comes_back)
            net_reset(&scene.net, scene_socket(&scene, pod, SCENE_SET), true, true);
        const unsigned before = pod->welcomes;
        struct net_socket *socket = NULL;
        while (socket == NULL && pod->welcomes == before) { /* until its first bytes are on their way */
            scene_step(&scene, NET_NEVER - 1);
            const struct connection *attempt = pod->streams->joiner->connection;
            socket = attempt != NULL ? net_other(&scene.net, net_socket(&scene.net, attempt->channel.fd)) : NULL;
            if (socket != NULL && fifo_size(&socket->in) == socket->arrived)
                socket = NULL;
        }
        if (socket != NULL)
            net_cut_short(&scene.net, socket, bytes);
        WAIT(pod->state == SCENE_STAYS);
        send_both_ways(pod, 1);
        settle();
        ck_assert_uint_eq(scene.came, 2);
        ck_assert_uint_le(scene.lost, !comes_back); /* one that was not welcomed yet asks again */
        tear_down();
    }
}
END_TEST

/* A set that stood still finds the HELLOs of several attempts, and may read an old one after the pod has come back by a
 * newer one, and has received more since. */
START_TEST(a_hello_that_is_out_of_date_loses_nobody)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        scene_init(&scene, seed, false);
        struct scene_pod *pod = scene_joined(&scene);
        scene.net.ready_most = 1;
        scene.net.turn_most_ns = 5 * MS_NS;
        net_lose(&scene.net, scene_socket(&scene, pod, SCENE_SET));
        scene_send(&scene, pod, SCENE_SET, 2 * SESSION_ACK_BYTES / MESSAGE_MAX, MESSAGE_MAX, false);
        net_stand(&scene.net, &scene.set_machine, 3 * STREAM_HELLO_NS, false);
        scene_run(&scene, 3 * STREAM_HELLO_NS);
        send_both_ways(pod, 1);
        settle();
        ck_assert_uint_eq(scene.came, 2 * SESSION_ACK_BYTES / MESSAGE_MAX + 2);
        ck_assert_uint_eq(scene.lost + scene.warnings, 0);
        tear_down();
    }
}
END_TEST

/* Likewise, and the pod has received nothing more. */
START_TEST(a_hello_that_is_out_of_date_displaces_no_newer_connection)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        scene_init(&scene, seed, false);
        struct scene_pod *pod = scene_joined(&scene);
        const struct peer *peer = scene.set->peers[0];
        uint64_t newest = 0;
        scene.net.ready_most = 1;
        scene.net.turn_most_ns = 5 * MS_NS;
        net_lose(&scene.net, scene_socket(&scene, pod, SCENE_SET));
        net_stand(&scene.net, &scene.set_machine, 3 * STREAM_HELLO_NS, false);
        for (const uint64_t until_ns = scene.net.now_ns + 4 * STREAM_HELLO_NS; scene.net.now_ns < until_ns;) {
            scene_step(&scene, until_ns);
            ck_assert(peer->connection == NULL || peer->connection->number >= newest);
            newest = peer->connection != NULL ? peer->connection->number : newest;
        }
        send_both_ways(pod, 1);
        settle();
        ck_assert_uint_eq(scene.lost + scene.warnings, 0);
        tear_down();
    }
}
END_TEST

/* Attempts are 50 ms apart and then twice as long each time, up to 500 ms. */
START_TEST(attempts_to_come_back_are_apart)
{
    uint64_t began_ns = 0, before_ns = 0, apart_ns = 0;
    set_up(0);
    const struct scene_pod *pod = scene_joined(&scene);
    scene_end_set(&scene); /* nobody listens */
    began_ns = before_ns = scene.net.now_ns;
    for (unsigned attempts = 0; attempts < 5; attempts++) {
        WAIT(pod->streams->joiner->connection == NULL);
        WAIT(pod->streams->joiner->connection != NULL);
        ck_assert_uint_ge(scene.net.now_ns - before_ns, apart_ns * 19 / 10);
        apart_ns = scene.net.now_ns - before_ns;
        before_ns = scene.net.now_ns;
        ck_assert_uint_ge(apart_ns, STREAM_RETRY_LEAST_NS);
        ck_assert_uint_le(apart_ns, STREAM_RETRY_MOST_NS + SOON_NS);
        if (attempts == 3)
            apart_ns = 0; /* twice as much would be more than the most */
    }
    ck_assert_uint_gt(since(began_ns), STREAM_RETRY_MOST_NS);
    tear_down();
}
END_TEST

START_TEST(pauses_are_short_again_after_a_success)
{
    set_up(0);
    struct scene_pod *pod = scene_joined(&scene);
    net_reset(&scene.net, scene_socket(&scene, pod, SCENE_POD), true, true);
    for (unsigned attempts = 0; attempts < 3; attempts++) {
        WAIT(pod->streams->joiner->connection != NULL);
        net_reset(&scene.net, net_socket(&scene.net, pod->streams->joiner->connection->channel.fd), true, true);
        WAIT(pod->streams->joiner->connection == NULL);
    }
    WAIT(scene_socket(&scene, pod, SCENE_POD) != NULL);
    net_reset(&scene.net, scene_socket(&scene, pod, SCENE_POD), true, true);
    const uint64_t began_ns = scene.net.now_ns;
    WAIT(pod->streams->joiner->connection != NULL);
    ck_assert_uint_le(since(began_ns), STREAM_RETRY_LEAST_NS + SOON_NS);
    tear_down();
}
END_TEST

/* --- joining and leaving --- */

START_TEST(an_answer_may_come_late)
{
    set_up(_i);
    scene.holds_answers = true;
    const struct scene_pod *pod = scene_join(&scene);
    scene_run(&scene, SCENE_PATIENCE_NS - S_NS);
    scene_answer(&scene);
    WAIT(pod->state == SCENE_STAYS);
    ck_assert_uint_eq(scene.welcomes, 1);
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

START_TEST(patience_has_an_end)
{
    set_up(_i);
    scene.holds_answers = true;
    const uint64_t began_ns = scene.net.now_ns;
    const struct scene_pod *pod = scene_join(&scene);
    WAIT(pod->state == SCENE_IS_OVER);
    ck_assert_ptr_nonnull(strstr(pod->error.text, ": nobody answers"));
    ck_assert_uint_ge(since(began_ns), SCENE_PATIENCE_NS);
    ck_assert_uint_le(since(began_ns), SCENE_PATIENCE_NS + SOON_NS);
    WAIT(scene.set->peer_count == 0);
    tear_down();
}
END_TEST

START_TEST(who_leaves_in_order_has_said_all)
{
    set_up(_i % 2);
    struct scene_pod *pod = scene_joined(&scene);
    const enum scene_end end = _i < 2 ? SCENE_POD : SCENE_SET;
    send_both_ways(pod, 1000);
    scene_part(&scene, pod, end);
    net_reset(&scene.net, scene_socket(&scene, pod, end), true, true); /* even now */
    WAIT(pod->side[1 - end].has_left);
    WAIT(scene_socket(&scene, pod, SCENE_SET) == NULL && scene_socket(&scene, pod, SCENE_POD) == NULL);
    ck_assert_uint_eq(pod->side[1 - end].came, 1000);
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

/* --- strangers --- */

/* Time that a stranger is given who sends so many bytes of this, and no more. */
static uint64_t time_of_stranger(const void *bytes, size_t size)
{
    unsigned char answer[10];
    const int fd = net_connect(&scene.net, &scene.others);
    WAIT(scene.set->waiting > 0);
    const uint64_t began_ns = scene.net.now_ns;
    if (size > 0)
        ck_assert_int_eq(net_send(&scene.net, fd, bytes, size), (ssize_t)size);
    WAIT(net_socket(&scene.net, fd)->is_over || net_socket(&scene.net, fd)->error != 0);
    const uint64_t time_ns = since(began_ns);
    ck_assert_int_le(net_receive(&scene.net, fd, answer, sizeof answer), 0); /* it is answered with nothing */
    ck_assert_uint_eq(scene.set->waiting, 0);
    net_close(&scene.net, fd);
    return time_ns;
}

START_TEST(who_says_nothing_has_not_long)
{
    set_up(_i);
    const uint64_t silent_ns = time_of_stranger("", 0);
    const uint64_t half_ns = time_of_stranger(is_tls(_i) ? "\x16\x03\x01" : "\x01\x6c\0", 3);
    ck_assert(silent_ns >= STREAM_HELLO_NS - SOON_NS && silent_ns <= STREAM_HELLO_NS + SOON_NS);
    ck_assert(half_ns >= STREAM_HELLO_NS - SOON_NS && half_ns <= STREAM_HELLO_NS + SOON_NS);
    ck_assert_uint_eq(scene.warnings, 0);
    ck_assert_uint_lt(time_of_stranger("GET / HTTP/1.1\r\n\r\n", 18), is_tls(_i) ? NET_NEVER : SOON_NS);
    tear_down();
}
END_TEST

static void connect_crowd(int fds[], unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fds[i] = net_connect(&scene.net, &scene.others);
    scene_run(&scene, SOON_NS);
}

static void close_crowd(const int fds[], unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        net_close(&scene.net, fds[i]);
}

START_TEST(the_oldest_stranger_that_says_nothing_makes_room)
{
    int fds[STRANGERS_MAX + 1];
    unsigned over = 0;
    set_up(_i);
    const uint64_t began_ns = scene.net.now_ns;
    connect_crowd(fds, STRANGERS_MAX);
    fds[STRANGERS_MAX] = net_connect(&scene.net, &scene.others);
    scene_run(&scene, SOON_NS);
    ck_assert_uint_eq(scene.set->waiting, STRANGERS_MAX);
    for (unsigned i = 0; i <= STRANGERS_MAX; i++)
        over += net_socket(&scene.net, fds[i])->is_over;
    ck_assert_uint_eq(over, 1);
    ck_assert(!net_socket(&scene.net, fds[STRANGERS_MAX])->is_over);
    scene_joined(&scene);
    ck_assert_uint_le(since(began_ns), 6 * SOON_NS);
    close_crowd(fds, STRANGERS_MAX + 1);
    tear_down();
}
END_TEST

/* It has less time than strangers have. */
START_TEST(strangers_that_say_nothing_keep_no_pod_from_coming_back)
{
    int fds[STRANGERS_MAX];
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    connect_crowd(fds, STRANGERS_MAX);
    net_reset(&scene.net, scene_socket(&scene, pod, SCENE_SET), true, false);
    send_both_ways(pod, 3);
    settle();
    ck_assert_uint_eq(scene.lost, 0);
    close_crowd(fds, STRANGERS_MAX);
    tear_down();
}
END_TEST

/* Its first attempt to come back gets no answer, and nobody says so. */
START_TEST(a_pod_has_time_for_a_second_attempt_to_come_back)
{
    set_up(_i);
    struct scene_pod *pod = scene_joined(&scene);
    const struct joiner *joiner = pod->streams->joiner;
    const uint64_t began_ns = scene.net.now_ns;
    net_reset(&scene.net, scene_socket(&scene, pod, SCENE_SET), true, false);
    WAIT(joiner->connection != NULL);
    net_lose(&scene.net, net_socket(&scene.net, joiner->connection->channel.fd));
    send_both_ways(pod, 3);
    settle();
    ck_assert_uint_le(since(began_ns), STREAM_CLOSED_NS);
    ck_assert_uint_eq(scene.lost, 0);
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream-time");
    TCase *tests = tcase_create("stream-time");
#ifdef TEST_TLS
    const int kinds = 2;
#else
    const int kinds = 1;
#endif
    tcase_add_loop_test(tests, quiet_ends_stay_connected, 0, kinds);
    tcase_add_loop_test(tests, a_silent_connection_is_broken_after_four_beats, 0, kinds);
    tcase_add_loop_test(tests, who_is_out_of_reach_is_lost_after_the_time_of_grace, 0, kinds);
    tcase_add_loop_test(tests, who_is_out_of_reach_for_less_than_that_is_not, 0, kinds);
    tcase_add_loop_test(tests, who_ends_is_lost_sooner, 0, kinds);
    tcase_add_loop_test(tests, a_set_that_ends_is_lost_to_its_pods, 0, kinds);
    tcase_add_loop_test(tests, who_was_taken_for_lost_is_not_taken_back, 0, kinds);
    for (int way = 0; way < 4; way++)
        tcase_add_loop_test(tests, a_machine_that_stands_still_loses_nobody, 2 * way, 2 * way + kinds);
    tcase_add_loop_test(tests, nor_does_one_without_a_connection, 0, kinds);
    tcase_add_loop_test(tests, a_set_that_stood_still_lets_nobody_go, 0, kinds);
    tcase_add_loop_test(tests, who_closes_for_that_has_long_to_come_back, 0, kinds);
    tcase_add_loop_test(tests, who_is_not_read_is_not_silent, 0, kinds);
    tcase_add_loop_test(tests, who_has_spoken_is_not_silent, 0, kinds);
    tcase_add_loop_test(tests, a_slow_line_is_not_silent, 0, kinds);
    tcase_add_loop_test(tests, a_pod_that_comes_back_waits_in_silence, 0, kinds);
    for (int end = 0; end < 2; end++) {
        tcase_add_loop_test(tests, one_end_may_find_the_connection_broken, 2 * end, 2 * end + kinds);
        tcase_add_loop_test(tests, who_leaves_in_order_has_said_all, 2 * end, 2 * end + kinds);
        tcase_add_loop_test(tests, so_may_one_over_which_a_pod_joins_or_comes_back, 2 * end, 2 * end + kinds);
    }
    tcase_add_test(tests, a_connection_may_break_at_any_byte);
    tcase_add_test(tests, a_hello_that_is_out_of_date_loses_nobody);
    tcase_add_test(tests, a_hello_that_is_out_of_date_displaces_no_newer_connection);
    tcase_add_test(tests, attempts_to_come_back_are_apart);
    tcase_add_test(tests, pauses_are_short_again_after_a_success);
    tcase_add_loop_test(tests, an_answer_may_come_late, 0, kinds);
    tcase_add_loop_test(tests, patience_has_an_end, 0, kinds);
    tcase_add_loop_test(tests, who_says_nothing_has_not_long, 0, kinds);
    tcase_add_loop_test(tests, the_oldest_stranger_that_says_nothing_makes_room, 0, kinds);
    tcase_add_loop_test(tests, strangers_that_say_nothing_keep_no_pod_from_coming_back, 0, kinds);
    tcase_add_loop_test(tests, a_pod_has_time_for_a_second_attempt_to_come_back, 0, kinds);
    suite_add_tcase(suite, tests);
    setenv("CK_FORK", "no", 0); /* a process for each takes ten times as long as the tests */
    return suite_run(suite);
}
