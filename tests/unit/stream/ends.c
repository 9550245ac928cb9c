/* SPDX-License-Identifier: MIT */
/* Two ends of a stream in one process: see ends.h. */
#include "tests/unit/stream/ends.h"

#include "common/stream/connection.h"
#include "common/stream/endpoint.h"
#include "proto/wire.h"
#include "tests/lib/asserts.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ATTEND_US 200

static void note_warning(void *context, const char *line)
{
    struct ends *ends = context;
    ends->warnings++;
    error_set(&ends->warning, "%s", line);
}

struct streams_setup ends_setup(struct ends *ends)
{
    return (struct streams_setup){.base = ends->base,
                                  .key = ends->key,
                                  .grace_ns = ends->grace_ns,
                                  .closed_ns = ends->grace_ns,
                                  .warn = note_warning,
                                  .context = ends};
}

static void fill_numbered(unsigned char bytes[NUMBERED_BYTES], uint64_t number)
{
    memset(bytes, (int)(number & 0xff), NUMBERED_BYTES);
    wire_put64(bytes, number);
}

static size_t fill_data(unsigned char bytes[STREAM_DATA_MAX], uint64_t number)
{
    const size_t size = number % 2 == 0 ? STREAM_DATA_MAX : 1 + number % 1000;
    memset(bytes, (int)(number & 0xff), size);
    return size;
}

static void note_data(struct tally *tally, const struct stream_event *event)
{
    static unsigned char expected[STREAM_DATA_MAX];
    const size_t size = fill_data(expected, tally->data++);
    if (tally->data != tally->messages || event->size != size || memcmp(event->bytes, expected, size) != 0)
        ck_abort_msg("other data than number %u", (unsigned)tally->data - 1);
}

static void note_event(struct tally *tally, const struct stream_event *event)
{
    unsigned char expected[NUMBERED_BYTES];
    switch (event->type) {
    case STREAM_JOINS:
        tally->joins++;
        tally->lineup = event->lineup;
        break;
    case STREAM_LEFT: tally->left++; break;
    case STREAM_LOST: tally->lost++; break;
    case STREAM_DATA: note_data(tally, event); break;
    case STREAM_MESSAGE:
        fill_numbered(expected, tally->messages++);
        if (event->size != NUMBERED_BYTES || memcmp(event->bytes, expected, NUMBERED_BYTES) != 0)
            ck_abort_msg("another message than number %u", (unsigned)tally->messages - 1); /* a check takes long */
        break;
    }
}

/* The set answers and takes what has come, whoever turns the base. */
static void attend(int fd, short what, void *context)
{
    struct ends *ends = context;
    struct stream_event event;
    (void)fd, (void)what;
    while (ends->set != NULL && streams_poll(ends->set, &event)) {
        ck_assert_uint_lt(event.peer, PODS_MAX);
        note_event(&ends->from[event.peer], &event);
        if (event.type == STREAM_JOINS && ends->refusal != NULL)
            streams_refuse(ends->set, event.peer, ends->refusal);
        else if (event.type == STREAM_JOINS)
            ck_assert_int_eq(streams_welcome(ends->set, event.peer, &ends->welcome), 0);
    }
}

void ends_init(struct ends *ends, bool is_tcp)
{
    static const unsigned char key[STREAM_KEY_BYTES] = "a key that both ends have";
    struct error error = {""};
    *ends = (struct ends){.grace_ns = PATIENCE_NS, .key = is_tcp ? key : NULL};
    ends->welcome = (struct stream_welcome){5, "--technique\0gss", sizeof "--technique\0gss"};
    ends->base = event_base_new();
    strcpy(ends->folder, "/tmp/streams-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(ends->folder));
    snprintf(ends->path, sizeof ends->path, "%s/set.sock", ends->folder);
    ck_assert_int_eq(stream_address_parse(&ends->address, is_tcp ? "127.0.0.1:0" : ends->path, &error), 0);
    const struct streams_setup setup = ends_setup(ends);
    ends->set = streams_listen(&setup, &ends->address, 1, &error);
    ck_assert_msg(ends->set != NULL, "%s", error.text);
    ends->set->times.silence_ns = PATIENCE_NS; /* the machine may have much else to do */
    ends->address = *streams_address(ends->set, 0);
    ends->attending = event_new(ends->base, -1, EV_PERSIST, attend, ends);
    event_add(ends->attending, &(struct timeval){0, ATTEND_US});
}

void ends_fini(struct ends *ends)
{
    for (unsigned i = 0; i < PODS_MAX; i++)
        streams_free(ends->pod[i]);
    streams_free(ends->set);
    event_free(ends->attending);
    event_base_free(ends->base);
    ck_assert_int_ne(access(ends->path, F_OK), 0); /* the socket is removed */
    ck_assert_int_eq(rmdir(ends->folder), 0);
}

bool ends_join(struct ends *ends, unsigned i, struct error *error)
{
    const struct streams_setup setup = ends_setup(ends);
    struct stream_lineup lineup = {.workers = 3 + i, .cores = 4};
    struct stream_welcome welcome;
    strcpy(lineup.name, "node7");
    ends->pod[i] = streams_join(&setup, &ends->address, &lineup, PATIENCE_NS, &welcome, error);
    if (ends->pod[i] == NULL)
        return false;
    ends->pod[i]->times.silence_ns = PATIENCE_NS;
    ck_assert_uint_eq(welcome.first_rank, ends->welcome.first_rank);
    ck_assert_uint_eq(welcome.words_bytes, ends->welcome.words_bytes);
    if (welcome.words_bytes > 0)
        ck_assert_mem_eq(welcome.words, ends->welcome.words, welcome.words_bytes);
    return true;
}

void ends_joined(struct ends *ends, unsigned i)
{
    struct error error = {""};
    const bool has_joined = ends_join(ends, i, &error);
    ck_assert_msg(has_joined, "%s", error.text);
}

void ends_turn(struct ends *ends)
{
    struct stream_event event;
    event_base_loop(ends->base, EVLOOP_ONCE);
    for (unsigned i = 0; i < PODS_MAX; i++)
        while (ends->pod[i] != NULL && streams_poll(ends->pod[i], &event)) {
            ck_assert_uint_eq(event.peer, 0);
            note_event(&ends->to[i], &event);
        }
}

void ends_send(struct streams *streams, unsigned peer, uint64_t number)
{
    unsigned char bytes[NUMBERED_BYTES];
    fill_numbered(bytes, number);
    if (streams_send(streams, peer, bytes, sizeof bytes) != 0)
        ck_abort_msg("no memory for a message");
}

void ends_send_data(struct streams *streams, unsigned peer, uint64_t number)
{
    static unsigned char bytes[STREAM_DATA_MAX];
    if (streams_send_data(streams, peer, bytes, fill_data(bytes, number)) != 0)
        ck_abort_msg("no memory for data");
}

void ends_cut(struct streams *streams, unsigned peer)
{
    const struct connection *connection = peer_find(streams, peer)->connection;
    if (connection != NULL)
        shutdown(connection->channel.fd, SHUT_RDWR);
}

int ends_connect(const struct ends *ends)
{
    struct endpoint_target target;
    struct error error;
    ck_assert_int_eq(endpoint_resolve(&target, &ends->address, &error), 0);
    const int fd = endpoint_connect(&target);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1), 1);
    return fd;
}

size_t ends_read(struct ends *ends, int fd, unsigned char *bytes, size_t size)
{
    size_t came = 0;
    ssize_t count = -1;
    ENDS_WAIT(ends, (count = recv(fd, bytes + came, size - came, MSG_DONTWAIT)) == 0 ||
                        (count < 0 && errno != EAGAIN) || (came += count > 0 ? (size_t)count : 0) == size);
    return came;
}
