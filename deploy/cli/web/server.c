/* SPDX-License-Identifier: MIT */
/* The server of `hdss page`: see server.h.
 *
 * It has the door of the daemons (common/control/door.h), so that the same is asked of a request: that its Host names
 * this machine, and that it shows the token. The page itself has no secret in it, and is given without: a browser sends
 * no token with the address that it opens. The page finds the token behind the '#' there, which no browser sends to
 * anybody, and shows it with what it asks for. Only questions are passed on, and of these only those of the page. */
#include "deploy/cli/web/server.h"

#include "common/control/door.h"
#include "common/control/route.h"
#include "common/control/tcp.h"
#include "deploy/cli/web/relay.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Time between two looks whether the session is there, and its clients. */
#define LOOK_S 1

/* Signals that end the server. */
#define SIGNALS 3

#define STATUS_OK          200
#define STATUS_NO_TOKEN    401
#define STATUS_WRONG_HOST  403
#define STATUS_NOT_FOUND   404
#define STATUS_NO_METHOD   405
#define STATUS_GONE        410
#define STATUS_UNAVAILABLE 503

struct web_server {
    const char *name; /* of the session; borrowed */
    struct event_base *base;
    struct address address;
    struct bearer bearer;
    struct door_share share;
    struct door *door;
    struct relay_list relays;
    void (*on_change)(const char *name, bool has_ended);
    bool has_ended;                 /* the session */
    bool is_over;                   /* a signal has come */
    struct event *signals[SIGNALS]; /* owned */
};

static void send_text(struct evhttp_request *request, int status, const char *type, const char *text, size_t length)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    struct evbuffer *body = evbuffer_new();
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    evhttp_add_header(headers, "X-Frame-Options", "DENY");
    evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
    if (status == STATUS_NO_TOKEN)
        evhttp_add_header(headers, "WWW-Authenticate", "Bearer");
    if (status == STATUS_NO_METHOD)
        evhttp_add_header(headers, "Allow", "GET");
    if (status == STATUS_NO_TOKEN || status == STATUS_WRONG_HOST)
        evhttp_add_header(headers, "Connection", "close");
    if (body != NULL)
        evbuffer_add_reference(body, text, length, NULL, NULL);
    evhttp_send_reply(request, status, NULL, body);
    if (body != NULL)
        evbuffer_free(body);
}

/* `text` is a constant without characters that JSON escapes. */
#define SEND_ERROR(REQUEST, STATUS, TEXT)                                                                              \
    send_text(REQUEST, STATUS, "application/json", "{\"error\":\"" TEXT "\"}\n", strlen("{\"error\":\"" TEXT "\"}\n"))

static void note_session(struct web_server *server, bool has_ended)
{
    if (server->has_ended == has_ended)
        return;
    server->has_ended = has_ended;
    server->on_change(server->name, has_ended);
}

/* True for what the page asks. */
static bool is_of_page(const char *uri, bool *is_stream)
{
    struct control_route route;
    struct error error;
    if (control_route_read(&route, uri, &error) != 0)
        return false;
    *is_stream = route.place == CONTROL_EVENTS;
    return *is_stream || route.place == CONTROL_SESSION || route.place == CONTROL_JOBS || route.place == CONTROL_JOB ||
           route.place == CONTROL_RANKS;
}

static void pass_on(struct web_server *server, struct evhttp_request *request, const char *uri)
{
    bool is_stream;
    if (!is_of_page(uri, &is_stream)) {
        SEND_ERROR(request, STATUS_NOT_FOUND,
                   "this is not here; accepted: /, /v1, /v1/jobs, /v1/jobs/ID, /v1/jobs/ID/ranks, /v1/events");
        return;
    }
    const enum relay_end end = relay_begin(&server->relays, request, uri, is_stream);
    if (end == RELAY_GONE)
        SEND_ERROR(request, STATUS_GONE, "the run or set has ended");
    else if (end == RELAY_BUSY)
        SEND_ERROR(request, STATUS_UNAVAILABLE, "the run or set cannot be asked now");
    if (end != RELAY_BUSY)
        note_session(server, end == RELAY_GONE);
}

static void on_request(struct evhttp_request *request, void *context)
{
    struct web_server *server = context;
    const char *uri = evhttp_request_get_uri(request), *text;
    const bool is_get = evhttp_request_get_command(request) == EVHTTP_REQ_GET, is_page = strcmp(uri, "/") == 0;
    const int refusal = door_refusal(request, &server->address, &server->bearer, &text);
    if (refusal == STATUS_WRONG_HOST)
        SEND_ERROR(request, STATUS_WRONG_HOST, "the Host is not what this machine is called here");
    else if (refusal != 0 && !(is_get && is_page))
        SEND_ERROR(request, STATUS_NO_TOKEN, "accepted: Authorization: Bearer TOKEN");
    else if (!is_get)
        SEND_ERROR(request, STATUS_NO_METHOD, "accepted: GET");
    else if (is_page)
        send_text(request, STATUS_OK, "text/html; charset=utf-8", web_page, strlen(web_page));
    else
        pass_on(server, request, uri);
}

/* --- while it serves --- */

static void on_look(evutil_socket_t unused, short what, void *context)
{
    struct web_server *server = context;
    const int fd = control_connect(server->relays.path);
    (void)unused, (void)what;
    relay_look(&server->relays, LOOK_S * 1000);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || errno == ECONNREFUSED || errno == ENOENT)
        note_session(server, fd < 0);
}

static void on_signal(evutil_socket_t unused, short what, void *context)
{
    struct web_server *server = context;
    (void)unused, (void)what;
    server->is_over = true;
}

int web_server_run(struct web_server *server, void (*on_change)(const char *name, bool has_ended), struct error *error)
{
    struct event *look = event_new(server->base, -1, EV_PERSIST, on_look, server);
    const bool is_ready = look != NULL && event_add(look, &(struct timeval){.tv_sec = LOOK_S}) == 0;
    server->on_change = on_change;
    while (is_ready && !server->is_over) /* the door breaks the loop off after each of its turns */
        event_base_loop(server->base, EVLOOP_ONCE);
    if (look != NULL)
        event_free(look);
    return is_ready ? 0 : error_set(error, "out of memory");
}

/* --- beginning and end --- */

/* Whoever is told the address may end the server at once. False when memory is out. */
static bool await_signals(struct web_server *server)
{
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
    for (unsigned i = 0; i < SIGNALS; i++) {
        server->signals[i] = evsignal_new(server->base, numbers[i], on_signal, server);
        if (server->signals[i] == NULL || event_add(server->signals[i], NULL) < 0)
            return false;
    }
    return true;
}

int web_server_check(struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    error->text[0] = '\0';
    return 0;
}

struct web_server *web_server_new(const char *name, const char *path, uint16_t port, struct error *error)
{
    struct web_server *server = calloc(1, sizeof *server);
    struct event_base *base = event_base_new();
    if (server == NULL || base == NULL) {
        error_set(error, "out of memory");
        free(server);
        if (base != NULL)
            event_base_free(base);
        return NULL;
    }
    *server = (struct web_server){.name = name,
                                  .base = base,
                                  .address = {.host = "127.0.0.1", .port = port},
                                  .share = {.base = base},
                                  .relays = {.base = base, .path = path}};
    signal(SIGPIPE, SIG_IGN);
    const int fd = bearer_draw(&server->bearer, error) == 0 ? tcp_listen(&server->address, error) : -1;
    if (fd >= 0) {
        server->door = door_new(DOOR_TCP, fd, &server->share, on_request, server);
        if (server->door != NULL && await_signals(server))
            return server;
        error_set(error, "out of memory");
    }
    web_server_free(server);
    return NULL;
}

void web_server_free(struct web_server *server)
{
    if (server == NULL)
        return;
    relay_end_all(&server->relays);
    door_free(server->door);
    for (unsigned i = 0; i < SIGNALS; i++)
        if (server->signals[i] != NULL)
            event_free(server->signals[i]);
    event_base_free(server->base);
    free(server);
}

uint16_t web_server_port(const struct web_server *server)
{
    return server->address.port;
}

const char *web_server_token(const struct web_server *server)
{
    return server->bearer.token;
}
