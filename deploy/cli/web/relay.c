/* SPDX-License-Identifier: MIT */
/* Passing requests on: see relay.h.
 *
 * libevent's client of HTTP knows no Unix sockets before version 2.2, so the question is written here. It is one of
 * HTTP/1.0: the answer comes as it is, without pieces that have to be put together, and ends with the connection. As
 * much is read of it as the client takes, so that a stuck client fills no memory here. */
#include "deploy/cli/web/relay.h"

#include "common/control/door.h"
#include "common/control/socket.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Connections at a time: those of the door, and some more that have just ended. */
#define RELAYS_MAX 80
#define HEAD_MAX   8192u
/* Bytes of an answer that its client has not taken, from which on no more is read. */
#define UNTAKEN_MAX 262144u

#define STATUS_BAD_GATEWAY 502

struct relay {
    struct relay_list *list;
    struct relay *next;
    struct evhttp_request *request; /* evhttp frees it with the end of its answer */
    struct bufferevent *session;    /* the connection to the control socket; owned */
    bool is_stream;
    bool has_begun; /* the head of the answer is passed on */
    bool stays;     /* the client, as the answer goes on */
    struct door_stay stay;
};

/* Ends the connection to the socket; the request is left as it is. */
static void drop_relay(struct relay *relay)
{
    struct relay_list *list = relay->list;
    struct evhttp_connection *client = evhttp_request_get_connection(relay->request);
    if (client != NULL)
        evhttp_connection_set_closecb(client, NULL, NULL);
    for (struct relay **place = &list->first; *place != NULL; place = &(*place)->next)
        if (*place == relay) {
            *place = relay->next;
            break;
        }
    list->count--;
    bufferevent_free(relay->session);
    free(relay);
}

/* The client has gone: a request that has lost its connection is freed by the end of its answer. */
static void on_client_gone(struct evhttp_connection *client, void *context)
{
    struct relay *relay = context;
    struct evhttp_request *request = relay->request;
    (void)client;
    drop_relay(relay);
    if (evhttp_request_get_connection(request) == NULL)
        evhttp_send_reply_end(request);
}

static void on_client_took(struct evhttp_connection *client, void *context)
{
    struct relay *relay = context;
    (void)client;
    bufferevent_enable(relay->session, EV_READ);
}

/* Passes the status on, and what kind of answer it is, once all of the head has come. False where it has not. */
static bool pass_head(struct relay *relay, struct evbuffer *input)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(relay->request);
    const struct evbuffer_ptr end = evbuffer_search(input, "\r\n\r\n", 4, NULL);
    char line[32] = "";
    int status = 0;
    if (end.pos < 0 && evbuffer_get_length(input) < HEAD_MAX)
        return false;
    evbuffer_copyout(input, line, sizeof line - 1);
    if (end.pos < 0 || sscanf(line, "HTTP/1.%*1d %3d", &status) != 1 || status < 200)
        status = STATUS_BAD_GATEWAY;
    evbuffer_drain(input, end.pos < 0 ? evbuffer_get_length(input) : (size_t)end.pos + 4);
    relay->stays = relay->is_stream && status == 200;
    evhttp_add_header(headers, "Content-Type", relay->stays ? "text/event-stream" : "application/json");
    evhttp_add_header(headers, "Cache-Control", "no-store");
    if (relay->stays)
        door_let_stay(relay->request);
    evhttp_send_reply_start(relay->request, status, NULL);
    relay->has_begun = true;
    return true;
}

static void on_answer(struct bufferevent *session, void *context)
{
    struct relay *relay = context;
    struct evbuffer *input = bufferevent_get_input(session);
    if (!relay->has_begun && !pass_head(relay, input))
        return;
    if (evbuffer_get_length(input) == 0)
        return;
    struct evhttp_connection *client = evhttp_request_get_connection(relay->request);
    struct evbuffer *output = bufferevent_get_output(evhttp_connection_get_bufferevent(client));
    evhttp_send_reply_chunk_with_cb(relay->request, input, on_client_took, relay);
    if (evbuffer_get_length(output) > UNTAKEN_MAX)
        bufferevent_disable(session, EV_READ);
}

/* The answer is over, or the session. */
static void on_answer_end(struct bufferevent *session, short what, void *context)
{
    struct relay *relay = context;
    struct evhttp_request *request = relay->request;
    const bool has_begun = relay->has_begun, stays = relay->stays;
    (void)session, (void)what;
    drop_relay(relay);
    if (stays)
        door_end(request);
    else if (has_begun)
        evhttp_send_reply_end(request);
    else
        evhttp_send_error(request, STATUS_BAD_GATEWAY, NULL);
}

enum relay_end relay_begin(struct relay_list *list, struct evhttp_request *request, const char *uri, bool is_stream)
{
    const int fd = list->count < RELAYS_MAX ? control_connect(list->path) : -1;
    if (fd < 0)
        return list->count < RELAYS_MAX && (errno == ECONNREFUSED || errno == ENOENT) ? RELAY_GONE : RELAY_BUSY;
    struct relay *relay = malloc(sizeof *relay);
    struct bufferevent *session = bufferevent_socket_new(list->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (relay == NULL || session == NULL) {
        free(relay);
        if (session != NULL)
            bufferevent_free(session);
        else
            close(fd);
        return RELAY_BUSY;
    }
    *relay = (struct relay){
        .list = list, .next = list->first, .request = request, .session = session, .is_stream = is_stream};
    list->first = relay;
    list->count++;
    bufferevent_setcb(session, on_answer, NULL, on_answer_end, relay);
    bufferevent_setwatermark(session, EV_READ, 0, UNTAKEN_MAX);
    evbuffer_add_printf(bufferevent_get_output(session), "GET %s HTTP/1.0\r\nHost: hdss\r\n\r\n", uri);
    bufferevent_enable(session, EV_READ | EV_WRITE);
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_client_gone, relay);
    return RELAY_BEGUN;
}

void relay_look(struct relay_list *list, unsigned turn_ms)
{
    for (struct relay *relay = list->first, *next; relay != NULL; relay = next) {
        struct evhttp_request *request = relay->request;
        next = relay->next;
        if (!relay->stays || door_takes(&relay->stay, request, turn_ms))
            continue;
        drop_relay(relay);
        door_let_go(request);
    }
}

void relay_end_all(struct relay_list *list)
{
    while (list->first != NULL)
        drop_relay(list->first);
}
