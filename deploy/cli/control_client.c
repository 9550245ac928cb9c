/* SPDX-License-Identifier: MIT */
/* Requests to a control socket: see control_client.h. The requests are HTTP/1.1, one at a time. The head of an answer
 * gives its length. The HTTP client of libevent is not used, because it supports Unix sockets only from version 2.2
 * on. */
#include "deploy/cli/control_client.h"

#include "common/os/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX (64u << 20)
#define PIECE      65536u
#define TRY_MS     10

static int64_t now_ms(void)
{
    return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

static bool wait_for(int fd, short what, int64_t until_ms)
{
    for (;;) {
        const int64_t left_ms = until_ms - now_ms();
        struct pollfd waits = {fd, what, 0};
        const int ready = poll(&waits, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static void disconnect(struct control_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    client->was_used = false;
    client->length = 0;
}

void control_client_init(struct control_client *client, const char *path)
{
    *client = (struct control_client){.fd = -1};
    snprintf(client->path, sizeof client->path, "%s", path);
}

void control_client_fini(struct control_client *client)
{
    disconnect(client);
    free(client->bytes);
    client->bytes = NULL;
}

static enum ask_end connect_until(struct control_client *client, int64_t until_ms, struct error *error)
{
    while (client->fd < 0) {
        client->fd = control_connect(client->path);
        if (client->fd >= 0)
            break;
        const int reason = errno;
        if (reason != EAGAIN || now_ms() >= until_ms) {
            error_set(error, "%s: %s", client->path, strerror(reason));
            return reason == ECONNREFUSED || reason == ENOENT ? ASK_GONE : ASK_SILENT;
        }
        poll(NULL, 0, TRY_MS);
    }
    return ASK_ANSWERED;
}

static enum ask_end end_with(struct control_client *client, enum ask_end end, struct error *error)
{
    error_set(error, end == ASK_SILENT ? "it does not answer" : "it has ended");
    if (end == ASK_GONE)
        disconnect(client);
    return end;
}

static enum ask_end send_all(struct control_client *client, const char *bytes, size_t length, int64_t until_ms,
                             struct error *error)
{
    while (length > 0) {
        const ssize_t sent = send(client->fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return end_with(client, ASK_GONE, error);
        if (sent < 0 && !wait_for(client->fd, POLLOUT, until_ms)) {
            disconnect(client); /* part of the request may have been sent */
            return end_with(client, ASK_SILENT, error);
        }
        bytes += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
    }
    return ASK_ANSWERED;
}

enum ask_end control_client_send(struct control_client *client, const char *method, const char *target,
                                 const char *body, int timeout_ms, struct error *error)
{
    char *question;
    const int64_t until_ms = now_ms() + timeout_ms;
    enum ask_end end = connect_until(client, until_ms, error);
    if (end != ASK_ANSWERED)
        return end;
    const int length = body != NULL ? asprintf(&question,
                                               "%s %s HTTP/1.1\r\nHost: hdss\r\nContent-Type: application/json\r\n"
                                               "Content-Length: %zu\r\n\r\n%s",
                                               method, target, strlen(body), body)
                                    : asprintf(&question, "%s %s HTTP/1.1\r\nHost: hdss\r\n\r\n", method, target);
    if (length < 0) {
        error_set(error, "out of memory");
        return ASK_REFUSED;
    }
    client->length = 0;
    end = send_all(client, question, (size_t)length, until_ms, error);
    free(question);
    return end;
}

static bool make_room(struct control_client *client)
{
    if (client->room - client->length >= PIECE)
        return true;
    const size_t room = client->room > 0 ? 2 * client->room : 2 * PIECE;
    char *more = client->length < ANSWER_MAX ? realloc(client->bytes, room) : NULL;
    if (more == NULL)
        return false;
    client->bytes = more;
    client->room = room;
    return true;
}

static enum ask_end take_bytes(struct control_client *client, int64_t until_ms, bool *ended)
{
    *ended = false;
    while (client->length == 0 || client->length < control_answer_size(client->bytes, client->length)) {
        if (!make_room(client))
            return ASK_REFUSED;
        const ssize_t got = recv(client->fd, client->bytes + client->length, PIECE, 0);
        *ended = got == 0 || (got < 0 && errno == ECONNRESET);
        if (*ended)
            return client->length > 0 ? ASK_ANSWERED : ASK_GONE;
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return ASK_GONE;
        if (got < 0 && !wait_for(client->fd, POLLIN, until_ms))
            return ASK_SILENT;
        client->length += got > 0 ? (size_t)got : 0;
    }
    return ASK_ANSWERED;
}

enum ask_end control_client_take(struct control_client *client, int timeout_ms, struct control_answer *answer,
                                 struct error *error)
{
    bool ended = true;
    *answer = (struct control_answer){0};
    const enum ask_end end = client->fd >= 0 ? take_bytes(client, now_ms() + timeout_ms, &ended) : ASK_GONE;
    if (end == ASK_REFUSED) {
        disconnect(client);
        error_set(error, "its answer is too long");
        return end;
    }
    if (end != ASK_ANSWERED)
        return end_with(client, end, error);
    const int result = control_answer_read(answer, client->bytes, client->length, error);
    client->was_used = true;
    client->length = 0;
    if (ended)
        disconnect(client);
    return result < 0 ? ASK_REFUSED : ASK_ANSWERED;
}

enum ask_end control_client_ask(struct control_client *client, const char *method, const char *target, const char *body,
                                int timeout_ms, struct control_answer *answer, struct error *error)
{
    const bool is_old = client->fd >= 0 && client->was_used && strcmp(method, "POST") != 0;
    *answer = (struct control_answer){0};
    enum ask_end end = control_client_send(client, method, target, body, timeout_ms, error);
    if (end == ASK_ANSWERED)
        end = control_client_take(client, timeout_ms, answer, error);
    if (end == ASK_GONE && is_old)
        return control_client_ask(client, method, target, body, timeout_ms, answer, error);
    if (end == ASK_SILENT)
        disconnect(client); /* a late answer must not be taken for the answer to the next request */
    return end;
}
