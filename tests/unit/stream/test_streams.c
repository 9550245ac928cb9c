/* SPDX-License-Identifier: MIT */
/* Streams over real sockets: who joins and who is sent away, messages in bulk, connections that break and come back,
 * and leaving. What can be had of a port as well as of a folder is run over both. How long an end waits is tested under
 * virtual time, in test_stream_time.c. */
#include "common/stream/peer.h"
#include "common/stream/stream.h"
#include "common/util/random.h"
#include "proto/frame.h"
#include "proto/message.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"
#include "tests/unit/stream/ends.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define BULK 100000

static bool is_tcp(int i)
{
    return i == 1;
}

START_TEST(a_pod_joins_and_is_told_what_it_is)
{
    struct ends ends;
    ends_init(&ends, is_tcp(_i));
    ends_joined(&ends, 0);
    ends_joined(&ends, 1);
    ck_assert_uint_eq(ends.from[0].joins, 1);
    ck_assert_uint_eq(ends.from[1].joins, 1);
    ck_assert_uint_eq(ends.from[1].lineup.workers, 4);
    ck_assert_uint_eq(ends.from[1].lineup.cores, 4);
    ck_assert_str_eq(ends.from[1].lineup.name, "node7");
    ck_assert(streams_is_open(ends.set, 1) && streams_is_open(ends.pod[1], 0));
    ck_assert_uint_eq(ends.warnings, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(a_pod_that_is_refused_is_told_why)
{
    struct ends ends;
    struct error error;
    ends_init(&ends, is_tcp(_i));
    ends.refusal = "this set takes no more than 0 pods";
    ck_assert(!ends_join(&ends, 0, &error));
    ck_assert_int_eq(errno, 0);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot join at "));
    ck_assert_ptr_nonnull(strstr(error.text, ": this set takes no more than 0 pods"));
    ck_assert(!streams_is_open(ends.set, 0));
    ck_assert_int_eq(streams_send(ends.set, 0, (const unsigned char *)"x", 1), 0); /* to nobody */
    ck_assert(streams_are_flushed(ends.set));
    ENDS_WAIT(&ends, ends.set->waiting == 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(words_may_be_long)
{
    static char words[STREAM_WORDS_MAX];
    struct ends ends;
    ends_init(&ends, is_tcp(_i));
    memset(words, 'w', sizeof words - 1);
    ends.welcome = (struct stream_welcome){7, words, sizeof words};
    ends_joined(&ends, 0);
    ends_send(ends.set, 0, 0);
    ends_send(ends.pod[0], 0, 0);
    ENDS_WAIT(&ends, ends.to[0].messages == 1 && ends.from[0].messages == 1);
    ends.welcome = (struct stream_welcome){9, NULL, 0};
    ends_joined(&ends, 1);
    ends_fini(&ends);
}
END_TEST

START_TEST(messages_come_in_order_both_ways)
{
    struct ends ends;
    const uint64_t count = is_tcp(_i) ? BULK / 2 : BULK;
    ends_init(&ends, is_tcp(_i));
    ends_joined(&ends, 0);
    for (uint64_t i = 0; i < count; i++) {
        ends_send(ends.set, 0, i);
        ends_send(ends.pod[0], 0, i);
        if (i % 1000 == 999)
            ends_turn(&ends);
    }
    ENDS_WAIT(&ends, ends.to[0].messages == count && ends.from[0].messages == count);
    ENDS_WAIT(&ends, streams_are_flushed(ends.set) && streams_are_flushed(ends.pod[0]));
    ck_assert_uint_eq(streams_unsent(ends.set, 0), 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(the_largest_messages_come_whole)
{
    static unsigned char large[MESSAGE_MAX];
    struct ends ends;
    struct stream_event event;
    unsigned came = 0;
    ends_init(&ends, is_tcp(_i));
    ends_joined(&ends, 0);
    for (unsigned i = 0; i < 3000; i++) { /* more than the inbox and the socket hold */
        memset(large, (int)(i & 0xff), sizeof large);
        ck_assert_int_eq(streams_send(ends.set, 0, large, sizeof large), 0);
    }
    ck_assert_uint_gt(streams_unsent(ends.set, 0), INBOX_MAX);
    while (fifo_size(&ends.pod[0]->inbox) < INBOX_MAX)
        event_base_loop(ends.base, EVLOOP_ONCE);
    for (unsigned i = 0; i < 1000; i++) /* nobody takes anything, so no more is read */
        event_base_loop(ends.base, EVLOOP_NONBLOCK);
    ck_assert_uint_lt(fifo_size(&ends.pod[0]->inbox), INBOX_MAX + 2 * MESSAGE_MAX);
    while (came < 3000) {
        event_base_loop(ends.base, EVLOOP_ONCE);
        while (streams_poll(ends.pod[0], &event)) {
            memset(large, (int)(came++ & 0xff), sizeof large);
            ck_assert_uint_eq(event.size, sizeof large);
            ck_assert_mem_eq(event.bytes, large, sizeof large);
        }
    }
    ends_fini(&ends);
}
END_TEST

START_TEST(much_is_acknowledged_before_the_next_beat)
{
    struct ends ends;
    ends_init(&ends, is_tcp(_i));
    ends.set->times.beat_ns = 2 * PATIENCE_NS;
    ends_joined(&ends, 0);
    for (uint64_t i = 0; i < 10000; i++)
        ends_send(ends.set, 0, i);
    ENDS_WAIT(&ends, ends.to[0].messages == 10000 && streams_unsent(ends.set, 0) < SESSION_ACK_BYTES);
    if (streams_unsent(ends.set, 0) == 0) { /* the last piece that was read was large enough by itself */
        ends_send(ends.set, 0, 10000);
        ENDS_WAIT(&ends, ends.to[0].messages == 10001);
    }
    ck_assert_uint_gt(streams_unsent(ends.set, 0), 0); /* the rest is, with the next beat */
    ends_fini(&ends);
}
END_TEST

/* A look finds what has come without a turn of the base, of a few peers as of many. */
START_TEST(a_look_finds_what_has_come)
{
    struct stream_event event;
    struct ends ends;
    const unsigned pods = _i > 0 ? 1 : PODS_MAX;
    ends_init(&ends, is_tcp(_i - 1));
    for (unsigned i = 0; i < pods; i++)
        ends_joined(&ends, i);
    streams_look(ends.set);
    ck_assert(!streams_poll(ends.set, &event));
    ends_send(ends.pod[pods - 1], 0, 0);
    for (const uint64_t until_ns = ends_now() + PATIENCE_NS; !streams_poll(ends.set, &event);) {
        ck_assert_msg(ends_now() < until_ns, "waits for a message");
        streams_look(ends.set);
    }
    ck_assert_int_eq(event.type, STREAM_MESSAGE);
    ck_assert_uint_eq(event.peer, pods - 1);
    ends_send(ends.set, pods - 1, 0);
    for (const uint64_t until_ns = ends_now() + PATIENCE_NS; !streams_poll(ends.pod[pods - 1], &event);) {
        ck_assert_msg(ends_now() < until_ns, "waits for the answer");
        streams_look(ends.pod[pods - 1]);
    }
    ck_assert_int_eq(event.type, STREAM_MESSAGE);
    ends_fini(&ends);
}
END_TEST

/* The first look at a socket that was closed ends its connection, and those after it find none. */
START_TEST(a_look_finds_that_a_peer_has_gone)
{
    struct stream_event event;
    struct ends ends;
    ends_init(&ends, is_tcp(_i));
    ends.set->setup.closed_ns = 0;
    ends_joined(&ends, 0);
    streams_free(ends.pod[0]);
    ends.pod[0] = NULL;
    while (ends.set->peers[0]->connection != NULL)
        streams_look(ends.set);
    streams_look(ends.set);
    ck_assert(!streams_poll(ends.set, &event)); /* the time of grace is the base's to end */
    ENDS_WAIT(&ends, ends.from[0].lost == 1);
    streams_look(ends.set);
    ends_joined(&ends, 1);
    ck_assert_uint_eq(ends.from[1].joins, 1);
    ends_fini(&ends);
}
END_TEST

START_TEST(a_connection_that_breaks_loses_nothing)
{
    struct ends ends;
    struct random random;
    ends_init(&ends, is_tcp(_i));
    random_init(&random, 25);
    ends_joined(&ends, 0);
    const uint64_t count = BULK / 10;
    for (uint64_t i = 0; i < count; i++) {
        ends_send(ends.set, 0, i);
        ends_send(ends.pod[0], 0, i);
        if (random_between(&random, 0, 99) == 0)
            ends_turn(&ends);
        if (random_between(&random, 0, count / 8) == 0)
            ends_cut(random_between(&random, 0, 1) ? ends.set : ends.pod[0], 0);
        if (random_between(&random, 0, count / 8) == 0)
            ENDS_WAIT(&ends, ends.pod[0]->peers[0]->connection != NULL);
    }
    ends_cut(ends.set, 0);
    ENDS_WAIT(&ends, ends.to[0].messages == count && ends.from[0].messages == count);
    ck_assert_uint_eq(ends.from[0].joins, 1);
    ck_assert_uint_eq(ends.from[0].lost + ends.to[0].lost, 0);
    ck_assert_uint_eq(ends.set->peer_count, 1);
    ends_fini(&ends);
}
END_TEST

START_TEST(data_come_in_order_with_messages_and_once)
{
    struct ends ends;
    ends_init(&ends, is_tcp(_i));
    ends_joined(&ends, 0);
    const uint64_t count = 500;
    for (uint64_t i = 0; i < count; i++) {
        ends_send(ends.pod[0], 0, i);
        ends_send_data(ends.pod[0], 0, i);
        if (i % 3 == 0)
            ends_turn(&ends);
        if (i % 100 == 50)
            ends_cut(i % 200 == 50 ? ends.set : ends.pod[0], 0);
    }
    ENDS_WAIT(&ends, ends.from[0].data == count);
    ENDS_WAIT(&ends, streams_unsent(ends.pod[0], 0) < SESSION_ACK_BYTES);
    ck_assert_uint_eq(ends.from[0].joins, 1);
    ck_assert_uint_eq(ends.from[0].lost + ends.to[0].lost, 0);
    ends_fini(&ends);
}
END_TEST

/* A set that takes one message where one comes always has one that waits. */
START_TEST(who_comes_or_goes_is_told_while_others_send)
{
    struct ends ends;
    struct stream_event event = {.type = STREAM_MESSAGE};
    uint64_t sent = 0, taken = 0;
    ends_init(&ends, false);
    ends_joined(&ends, 0);
    ends_joined(&ends, 1);
    event_del(ends.attending);
    ends_send(ends.pod[1], 0, 0);
    streams_part(ends.pod[1], 0); /* behind its message */
    while (fifo_size(&ends.set->inbox) == 0 || !peer_find(ends.set, 1)->has_left)
        event_base_loop(ends.base, EVLOOP_ONCE);
    for (; sent < 10; sent++)
        ends_send(ends.pod[0], 0, sent);
    while (peer_find(ends.set, 0)->kept < sent)
        event_base_loop(ends.base, EVLOOP_ONCE);
    ck_assert(streams_poll(ends.set, &event));
    ck_assert(event.type == STREAM_MESSAGE && event.peer == 1);
    for (; event.type == STREAM_MESSAGE && taken < 100; taken++) {
        ends_send(ends.pod[0], 0, sent++);
        while (peer_find(ends.set, 0)->kept + taken < sent)
            event_base_loop(ends.base, EVLOOP_ONCE);
        ck_assert(streams_poll(ends.set, &event));
    }
    ck_assert(event.type == STREAM_LEFT && event.peer == 1);
    ck_assert_uint_eq(taken, 1);
    event_add(ends.attending, &(struct timeval){0, 200});
    ENDS_WAIT(&ends, ends.from[0].messages == sent);
    ends_fini(&ends);
}
END_TEST

START_TEST(both_may_leave_at_once)
{
    struct ends ends;
    ends_init(&ends, is_tcp(_i));
    ends_joined(&ends, 0);
    streams_part(ends.pod[0], 0);
    streams_part(ends.set, 0);
    ENDS_WAIT(&ends, streams_are_flushed(ends.pod[0]) && streams_are_flushed(ends.set));
    ck_assert_uint_eq(ends.from[0].lost + ends.to[0].lost, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(who_is_dropped_is_not_heard_of_again)
{
    struct ends ends;
    ends_init(&ends, is_tcp(_i));
    ends_joined(&ends, 0);
    ends_send(ends.pod[0], 0, 0);
    streams_drop(ends.set, 0);
    ck_assert(!streams_is_open(ends.set, 0));
    ENDS_WAIT(&ends, ends.to[0].lost == 1);
    ck_assert_uint_eq(ends.from[0].messages + ends.from[0].lost + ends.from[0].left, 0);
    ends_fini(&ends);
}
END_TEST

/* --- strangers --- */

static void send_frame(int fd, enum frame_type type, const unsigned char *body, size_t size)
{
    unsigned char bytes[FRAME_HEAD_BYTES + MESSAGE_MAX];
    frame_head_encode(&(struct frame_head){.type = type, .size = (uint32_t)size}, bytes);
    memcpy(bytes + FRAME_HEAD_BYTES, body, size);
    ck_assert_int_eq(send(fd, bytes, FRAME_HEAD_BYTES + size, MSG_NOSIGNAL), (ssize_t)(FRAME_HEAD_BYTES + size));
}

static void encode_hello(unsigned char body[FRAME_HELLO_BYTES])
{
    frame_hello_encode(&(struct frame_hello){STREAM_VERSION, PROTOCOL_VERSION, 1, 1, 0, {0}, "node7"}, body);
}

START_TEST(another_version_is_told_so)
{
    unsigned char body[300], answer[FRAME_HEAD_BYTES + 100];
    struct frame_head head;
    struct error error;
    struct ends ends;
    ends_init(&ends, false);
    memset(body, 0xee, sizeof body); /* whatever else it says */
    encode_hello(body);
    wire_put16(body + 10, PROTOCOL_VERSION + 1);
    const int fd = ends_connect(&ends);
    send_frame(fd, FRAME_HELLO, body, sizeof body);
    char line[60];
    snprintf(line, sizeof line, "protocol version %d, this set has %d", PROTOCOL_VERSION + 1, PROTOCOL_VERSION);
    ck_assert_uint_eq(ends_read(&ends, fd, answer, FRAME_HEAD_BYTES + strlen(line)), FRAME_HEAD_BYTES + strlen(line));
    ck_assert_int_eq(frame_head_decode(&head, answer, &error), 0);
    ck_assert_int_eq(head.type, FRAME_REFUSED);
    ck_assert_mem_eq(answer + FRAME_HEAD_BYTES, line, strlen(line));
    ck_assert_ptr_nonnull(strstr(ends.warning.text, line));
    close(fd);
    ENDS_WAIT(&ends, ends.set->waiting == 0);
    ck_assert_uint_eq(ends.set->peer_count, 0);
    ends_fini(&ends);
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
} junk[] = {
    {"GET / HTTP/1.1\r\nHost: node7\r\n\r\n", 31},
    {"\0\0\0\0\0\0\0\0", 8},
    {"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
    {"\x01\x0c\0\0\0\0\0\0HDSSxxxx\0\0\0\0", 20}, /* another magic */
    {"\x01\x0c\0\0\0\0\0\0HDSSjoin\0\0\0\0", 20}, /* of these versions, but short */
    {"\x04\x01\0\0\0\0\0\0x", 9},                 /* a message before the hello */
    {"\x02\xff\xff\0\0\0\0\0", 8},                /* a frame that a stranger has no room for */
};

START_TEST(junk_is_answered_with_nothing)
{
    unsigned char answer[10], bytes[40];
    struct ends ends;
    ends_init(&ends, false);
    const int fd = ends_connect(&ends);
    memcpy(bytes, junk[_i].bytes, junk[_i].size);
    if (junk[_i].size == FRAME_HEAD_BYTES + FRAME_VERSION_BYTES) {
        wire_put16(bytes + FRAME_HEAD_BYTES + 8, STREAM_VERSION);
        wire_put16(bytes + FRAME_HEAD_BYTES + 10, PROTOCOL_VERSION);
    }
    ck_assert_int_eq(send(fd, bytes, junk[_i].size, 0), (ssize_t)junk[_i].size);
    ck_assert_uint_eq(ends_read(&ends, fd, answer, sizeof answer), 0);
    ck_assert_uint_eq(ends.set->waiting, 0);
    ck_assert_uint_eq(ends.warnings, 1);
    ck_assert_ptr_nonnull(strstr(ends.warning.text, "a stranger at this machine was sent away: "));
    close(fd);
    ends_joined(&ends, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(connections_are_taken_again_when_there_are_descriptors)
{
    struct rlimit limit, few;
    struct ends ends;
    ends_init(&ends, false);
    const int fd = ends_connect(&ends), next = dup(fd);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = (struct rlimit){(rlim_t)next, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ENDS_WAIT(&ends, ends.set->listens_ns != 0);
    ck_assert_uint_eq(ends.set->waiting, 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ends.set->listens_ns = ends_now();
    streams_wake(ends.set, 0);
    ENDS_WAIT(&ends, ends.set->waiting == 1);
    ck_assert_uint_eq(ends.set->listens_ns, 0);
    close(fd);
    ends_joined(&ends, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(a_pod_that_goes_before_it_is_answered_is_no_peer)
{
    unsigned char body[FRAME_HELLO_BYTES];
    struct stream_event event;
    struct ends ends;
    ends_init(&ends, false);
    event_del(ends.attending);
    encode_hello(body);
    int fd = ends_connect(&ends);
    send_frame(fd, FRAME_HELLO, body, sizeof body);
    while (ends.set->peer_count == 0)
        event_base_loop(ends.base, EVLOOP_ONCE);
    close(fd); /* nobody has heard of it */
    while (ends.set->waiting > 0)
        event_base_loop(ends.base, EVLOOP_ONCE);
    ck_assert(!streams_poll(ends.set, &event));
    fd = ends_connect(&ends);
    send_frame(fd, FRAME_HELLO, body, sizeof body);
    while (!streams_poll(ends.set, &event))
        event_base_loop(ends.base, EVLOOP_ONCE);
    ck_assert_int_eq(event.type, STREAM_JOINS);
    close(fd);
    while (!streams_poll(ends.set, &event))
        event_base_loop(ends.base, EVLOOP_ONCE);
    ck_assert_int_eq(event.type, STREAM_LOST);
    ck_assert_int_eq(streams_welcome(ends.set, event.peer, &ends.welcome), 0); /* too late */
    ck_assert(!streams_is_open(ends.set, event.peer));
    ends_fini(&ends);
}
END_TEST

/* Says a good HELLO and goes, before or after the set has heard of it. Returns the number of peers that were told. */
static unsigned join_and_go(struct ends *ends, bool is_heard, unsigned *number)
{
    unsigned char body[FRAME_HELLO_BYTES];
    struct stream_event event;
    unsigned told = 0;
    encode_hello(body);
    const int fd = ends_connect(ends);
    send_frame(fd, FRAME_HELLO, body, sizeof body);
    const unsigned next = ends->set->next_number;
    while (ends->set->next_number == next)
        event_base_loop(ends->base, EVLOOP_ONCE);
    while (is_heard && streams_poll(ends->set, &event)) {
        ck_assert_int_eq(event.type, STREAM_JOINS);
        ck_assert_int_eq(streams_welcome(ends->set, event.peer, &ends->welcome), 0);
        *number = event.peer;
        told++;
    }
    close(fd);
    while (ends->set->peer_count > 0) {
        event_base_loop(ends->base, EVLOOP_ONCE);
        while (streams_poll(ends->set, &event))
            ck_assert(event.type == STREAM_LOST && event.peer == *number);
    }
    return told;
}

START_TEST(peers_that_have_gone_take_no_memory)
{
    struct ends ends;
    unsigned number = 0, before = 0;
    ends_init(&ends, false);
    event_del(ends.attending);
    ends.set->setup.closed_ns = 0;
    for (unsigned i = 0; i < 5000; i++) {
        const bool is_heard = i % 2 == 0;
        ck_assert_uint_eq(join_and_go(&ends, is_heard, &number), is_heard);
        ck_assert(i == 0 || !is_heard || number > before);
        before = number;
    }
    ck_assert_uint_lt(ends.set->peer_capacity, 100);
    ck_assert_uint_eq(ends.set->due + ends.set->gone + ends.set->waiting, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(the_number_of_a_peer_is_not_given_again)
{
    struct ends ends;
    ends_init(&ends, false);
    ends_joined(&ends, 0);
    ends_joined(&ends, 1);
    ends.set->setup.closed_ns = 0;
    streams_free(ends.pod[0]);
    ends.pod[0] = NULL;
    ENDS_WAIT(&ends, ends.set->peer_count == 1);
    ends_joined(&ends, 2);
    ck_assert_uint_eq(ends.from[0].joins, 1);
    ck_assert_uint_eq(ends.from[2].joins, 1);
    ends_send(ends.set, 0, 0); /* to nobody, as is all that follows */
    streams_part(ends.set, 0);
    streams_drop(ends.set, 0);
    streams_refuse(ends.set, 0, "a line");
    ck_assert_int_eq(streams_welcome(ends.set, 0, &ends.welcome), 0);
    ck_assert_uint_eq(streams_unsent(ends.set, 0), 0);
    ck_assert(!streams_is_open(ends.set, 0));
    ends_send(ends.set, 1, 0);
    ends_send(ends.set, 2, 0);
    ENDS_WAIT(&ends, ends.to[1].messages == 1 && ends.to[2].messages == 1);
    ck_assert_uint_eq(ends.from[1].lost + ends.from[2].lost, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(a_peer_that_breaks_the_protocol_is_lost)
{
    static const unsigned char acknowledges[FRAME_HEAD_BYTES] = {FRAME_BEAT, 0, 0, 0, 7, 0, 0, 0};
    struct ends ends;
    ends_init(&ends, false);
    ends_joined(&ends, 0);
    ck_assert_int_eq(send(ends.pod[0]->peers[0]->connection->channel.fd, acknowledges, sizeof acknowledges, 0),
                     (ssize_t)sizeof acknowledges);
    ENDS_WAIT(&ends, ends.from[0].lost == 1);
    ck_assert_ptr_nonnull(strstr(ends.warning.text, "pod node7 at this machine has broken the protocol: "));
    ends_fini(&ends);
}
END_TEST

START_TEST(a_set_that_sends_data_is_lost)
{
    struct ends ends;
    ends_init(&ends, false);
    ends_joined(&ends, 0);
    ck_assert_int_eq(session_add(&ends.set->peers[0]->session, FRAME_DATA, (const unsigned char *)"x", 1), 0);
    ends_send(ends.set, 0, 0);
    ENDS_WAIT(&ends, ends.to[0].lost == 1);
    ck_assert_uint_eq(ends.to[0].messages + ends.to[0].data, 0);
    ends_fini(&ends);
}
END_TEST

/* --- folders --- */

START_TEST(a_socket_is_its_owners)
{
    struct stat status;
    struct ends ends;
    umask(0);
    ends_init(&ends, false);
    ck_assert_int_eq(stat(ends.path, &status), 0);
    ck_assert(S_ISSOCK(status.st_mode));
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    ends_fini(&ends);
}
END_TEST

START_TEST(a_stale_socket_is_replaced_and_a_live_one_is_not)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct error error = {""};
    struct ends ends;
    ends_init(&ends, false);
    const struct streams_setup setup = ends_setup(&ends);
    ck_assert_ptr_null(streams_listen(&setup, &ends.address, 1, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "somebody listens there already"));
    ends_joined(&ends, 0); /* the first one still has its name */
    snprintf(name.sun_path, sizeof name.sun_path, "%s/old.sock", ends.folder);
    const int old = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(old, (struct sockaddr *)&name, sizeof name), 0);
    close(old);
    struct stream_address address;
    ck_assert_int_eq(stream_address_parse(&address, name.sun_path, &error), 0);
    struct streams *second = streams_listen(&setup, &address, 1, &error);
    ck_assert_msg(second != NULL, "%s", error.text);
    streams_free(second);
    ck_assert_int_ne(access(name.sun_path, F_OK), 0);
    close(open(name.sun_path, O_CREAT | O_WRONLY, 0600));
    ck_assert_ptr_null(streams_listen(&setup, &address, 1, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "which is no socket"));
    unlink(name.sun_path);
    ends_fini(&ends);
}
END_TEST

/* Tries to join as another user, and exits with 0 where that is refused with the line. */
static void join_as_stranger(const char *path, const char *expected)
{
    const struct streams_setup setup = {.base = event_base_new(), .grace_ns = SECOND_NS, .closed_ns = SECOND_NS};
    struct stream_lineup lineup = {.workers = 1, .name = "node7"};
    struct stream_address address;
    struct stream_welcome welcome;
    struct error error = {""};
    if (setgid(65534) < 0 || setuid(65534) < 0 || stream_address_parse(&address, path, &error) < 0 ||
        streams_join(&setup, &address, &lineup, SECOND_NS / 4, &welcome, &error) != NULL)
        _exit(1);
    _exit(strstr(error.text, expected) != NULL ? 0 : 2);
}

START_TEST(another_user_is_sent_away)
{
    struct ends ends;
    int status = 0;
    if (geteuid() != 0)
        return;
    ends_init(&ends, false);
    chmod(ends.folder, 0755);
    chmod(ends.path, 0666); /* as if somebody had opened it */
    const pid_t child = fork();
    if (child == 0)
        join_as_stranger(ends.path, "whoever listens there is of user 0");
    ENDS_WAIT(&ends, waitpid(child, &status, WNOHANG) == child);
    ck_assert_int_eq(status, 0);
    ENDS_WAIT(&ends, ends.warnings == 1);
    ck_assert_ptr_nonnull(strstr(ends.warning.text, "a stranger was sent away: it is of user 65534"));
    ends_fini(&ends);
}
END_TEST

START_TEST(nobody_answers)
{
    const struct streams_setup setup = {.base = event_base_new(), .grace_ns = SECOND_NS, .closed_ns = SECOND_NS};
    struct stream_lineup lineup = {.workers = 1, .name = "node7"};
    struct stream_address address;
    struct stream_welcome welcome;
    struct error error = {""};
    ck_assert_int_eq(stream_address_parse(&address, "/no/such/folder/set.sock", &error), 0);
    ck_assert_ptr_null(streams_join(&setup, &address, &lineup, SECOND_NS / 10, &welcome, &error));
    ck_assert_str_eq(error.text, "cannot join at /no/such/folder/set.sock: nobody answers: No such file or directory");
    ck_assert_ptr_null(streams_listen(&setup, &address, 1, &error));
    ck_assert_str_eq(error.text, "cannot listen at /no/such/folder/set.sock: No such file or directory");
    event_base_free(setup.base);
}
END_TEST

START_TEST(a_lineup_is_looked_at_before_anybody_is_asked)
{
    const struct streams_setup setup = {.base = event_base_new(), .grace_ns = SECOND_NS};
    struct stream_lineup no_workers = {.workers = 0, .name = "node7"}, no_name = {.workers = 1};
    struct stream_address address;
    struct stream_welcome welcome;
    struct error error = {""};
    ck_assert_int_eq(stream_address_parse(&address, "/no/such/folder/set.sock", &error), 0);
    ck_assert_ptr_null(streams_join(&setup, &address, &no_workers, PATIENCE_NS, &welcome, &error));
    ck_assert_str_eq(error.text, "cannot join with a hello with 0 workers on 0 cores");
    ck_assert_ptr_null(streams_join(&setup, &address, &no_name, PATIENCE_NS, &welcome, &error));
    ck_assert_str_eq(error.text, "cannot join with a hello with a name that is none");
    event_base_free(setup.base);
}
END_TEST

/* --- keys --- */

START_TEST(a_port_takes_a_key)
{
    const struct streams_setup setup = {.base = event_base_new(), .grace_ns = SECOND_NS, .closed_ns = SECOND_NS};
    struct stream_address address;
    struct error error = {""};
    ck_assert_int_eq(stream_address_parse(&address, "127.0.0.1:4000", &error), 0);
    ck_assert_ptr_null(streams_listen(&setup, &address, 1, &error));
    ck_assert_str_eq(error.text, "cannot listen at 127.0.0.1:4000: a port takes a shared key");
    event_base_free(setup.base);
}
END_TEST

#ifdef TEST_TLS

START_TEST(another_key_gets_one_line_at_both_ends)
{
    static const unsigned char other[STREAM_KEY_BYTES] = "a key that nobody else has";
    struct error error = {""};
    struct ends ends;
    ends_init(&ends, true);
    const unsigned char *key = ends.key;
    ends.key = other;
    ck_assert(!ends_join(&ends, 0, &error));
    ck_assert_int_eq(errno, EACCES);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot join at 127.0.0.1:"));
    ck_assert_ptr_nonnull(strstr(error.text, ": it has another key"));
    ENDS_WAIT(&ends, ends.warnings == 1);
    ck_assert_ptr_nonnull(strstr(ends.warning.text, "a stranger at 127.0.0.1:"));
    ck_assert_ptr_nonnull(strstr(ends.warning.text, " was sent away: it has another key"));
    ends.key = key;
    ends_joined(&ends, 0);
    ends_fini(&ends);
}
END_TEST

START_TEST(a_set_may_listen_at_several_addresses)
{
    struct stream_address addresses[2];
    struct error error = {""};
    struct ends ends;
    ends_init(&ends, true);
    const struct streams_setup setup = ends_setup(&ends);
    streams_free(ends.set);
    ck_assert_int_eq(stream_address_parse(&addresses[0], ends.path, &error), 0);
    addresses[1] = ends.address;
    ends.set = streams_listen(&setup, addresses, 2, &error);
    ck_assert_msg(ends.set != NULL, "%s", error.text);
    ends_joined(&ends, 0);
    ends.address = *streams_address(ends.set, 0);
    ends_joined(&ends, 1);
    ck_assert_uint_eq(ends.from[1].joins, 1);
    snprintf(addresses[0].path, sizeof addresses[0].path, "%s/other.sock", ends.folder);
    ck_assert_ptr_null(streams_listen(&setup, addresses, 2, &error)); /* the port is taken */
    ck_assert_ptr_nonnull(strstr(error.text, "cannot listen at 127.0.0.1:"));
    ck_assert_int_ne(access(addresses[0].path, F_OK), 0); /* nothing is left of the first one */
    ends_fini(&ends);
}
END_TEST

START_TEST(a_hello_without_tls_is_not_read)
{
    unsigned char body[FRAME_HELLO_BYTES], answer[FRAME_HEAD_BYTES + 100];
    struct ends ends;
    ends_init(&ends, true);
    encode_hello(body);
    const int fd = ends_connect(&ends);
    send_frame(fd, FRAME_HELLO, body, sizeof body);
    const size_t came = ends_read(&ends, fd, answer, sizeof answer);
    ck_assert(came == 0 || answer[0] == 0x15); /* an alert of TLS at most */
    ck_assert_ptr_nonnull(strstr(ends.warning.text, " was sent away: it does not speak TLS 1.3 with a shared key"));
    ck_assert_uint_eq(ends.set->peer_count, 0);
    close(fd);
    ends_fini(&ends);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("streams");
    TCase *all = tcase_create("streams"), *folder = tcase_create("folder"), *port = tcase_create("port");
#ifdef TEST_TLS
    const int kinds = 2;
    tcase_add_test(port, another_key_gets_one_line_at_both_ends);
    tcase_add_test(port, a_set_may_listen_at_several_addresses);
    tcase_add_test(port, a_hello_without_tls_is_not_read);
#else
    const int kinds = 1;
#endif
    tcase_add_loop_test(all, a_pod_joins_and_is_told_what_it_is, 0, kinds);
    tcase_add_loop_test(all, a_pod_that_is_refused_is_told_why, 0, kinds);
    tcase_add_loop_test(all, words_may_be_long, 0, kinds);
    tcase_add_loop_test(all, messages_come_in_order_both_ways, 0, kinds);
    tcase_add_loop_test(all, the_largest_messages_come_whole, 0, kinds);
    tcase_add_loop_test(all, much_is_acknowledged_before_the_next_beat, 0, kinds);
    tcase_add_loop_test(all, a_look_finds_what_has_come, 0, kinds + 1);
    tcase_add_loop_test(all, a_look_finds_that_a_peer_has_gone, 0, kinds);
    tcase_add_loop_test(all, a_connection_that_breaks_loses_nothing, 0, kinds);
    tcase_add_loop_test(all, data_come_in_order_with_messages_and_once, 0, kinds);
    tcase_add_test(all, who_comes_or_goes_is_told_while_others_send);
    tcase_add_loop_test(all, both_may_leave_at_once, 0, kinds);
    tcase_add_loop_test(all, who_is_dropped_is_not_heard_of_again, 0, kinds);
    tcase_add_test(folder, another_version_is_told_so);
    tcase_add_loop_test(folder, junk_is_answered_with_nothing, 0, sizeof junk / sizeof *junk);
    tcase_add_test(folder, connections_are_taken_again_when_there_are_descriptors);
    tcase_add_test(folder, a_pod_that_goes_before_it_is_answered_is_no_peer);
    tcase_add_test(folder, peers_that_have_gone_take_no_memory);
    tcase_add_test(folder, the_number_of_a_peer_is_not_given_again);
    tcase_add_test(folder, a_peer_that_breaks_the_protocol_is_lost);
    tcase_add_test(folder, a_set_that_sends_data_is_lost);
    tcase_add_test(folder, a_socket_is_its_owners);
    tcase_add_test(folder, a_stale_socket_is_replaced_and_a_live_one_is_not);
    tcase_add_test(folder, another_user_is_sent_away);
    tcase_add_test(folder, nobody_answers);
    tcase_add_test(folder, a_lineup_is_looked_at_before_anybody_is_asked);
    tcase_add_test(port, a_port_takes_a_key);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, folder);
    suite_add_tcase(suite, port);
    return suite_run(suite);
}
