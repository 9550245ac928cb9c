/* SPDX-License-Identifier: MIT */
/* Doors of the control socket: see door.h.
 *
 * A door accepts a few clients at a time. It accepts clients only while there are descriptors that the run does not
 * need. If clients have used up their share of a turn, the event loop is interrupted. A later turn then handles the
 * other events of clients.
 *
 * At the user's own socket the kernel identifies the client before evhttp parses a byte. At a TCP port evhttp reads a
 * whole request before its token can be checked. Without a limit, strangers could exhaust the memory. So a TCP door has
 * PLACES_MAX places, one for each connection, and accepts no client while all are taken.
 *
 * evhttp does not report the end of a connection. So a place stores the descriptor and the inode of its connection. The
 * place is free as soon as the descriptor is closed or refers to another file. */
#include "common/control/door.h"

#include "common/control/socket.h"
#include "common/os/clock.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADERS_MAX       8192
#define BODY_MAX          1048576
#define IDLE_MAX_S        60
#define STAYING_INPUT_MAX 4096
#define SHARE_NS          200000u
#define TURN_NS           1000000u
#define ACCEPTS_MAX       8
#define ACCEPT_PAUSE_US   1000
#define SHORT_PAUSE_US    200000
/* DESCRIPTORS_KEPT: descriptors that are reserved for the run. DESCRIPTORS_MORE: additional descriptors for clients, if
 * the system permits them. */
#define DESCRIPTORS_KEPT 128
#define DESCRIPTORS_MORE 2048
#define PLACES_MAX       64

#define STATUS_NO_TOKEN   401
#define STATUS_WRONG_HOST 403

struct place {
    int fd;
    ino_t inode;
};

struct door {
    enum door_kind kind;
    struct door_share *share;
    struct evhttp *http;
    struct evconnlistener *listener;
    struct evhttp_bound_socket *bound;
    struct event *accept_soon;
    unsigned accepted;
    struct place places[PLACES_MAX];
    struct event *place_newest;
    struct bufferevent *newest; /* the latest accepted client, until it gets a place; holds a reference; may be NULL */
};

void door_set_timer(struct event *timer, long us)
{
    const struct timeval span = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    event_add(timer, &span);
}

bool door_rest(struct door_share *share)
{
    const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (share->is_whole)
        return false;
    if (now_ns - share->began_ns > TURN_NS)
        share->began_ns = now_ns;
    else if (now_ns - share->began_ns > SHARE_NS) {
        event_base_loopbreak(share->base);
        return true;
    }
    return false;
}

/* Disconnects a client of another user before evhttp reads any of the client's bytes. */
static void on_bytes(struct evbuffer *input, const struct evbuffer_cb_info *info, void *context)
{
    struct bufferevent *client = context;
    const int fd = bufferevent_getfd(client);
    if (info->n_added == 0 || control_peer_may(fd))
        return;
    evbuffer_drain(input, evbuffer_get_length(input));
    shutdown(fd, SHUT_RDWR);
}

static void on_traffic(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context)
{
    (void)buffer, (void)info;
    door_rest(context);
}

int door_refusal(struct evhttp_request *request, const struct address *address, const struct bearer *bearer,
                 const char **text)
{
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    if (address_is_loopback(address) && !address_has_host(address, evhttp_find_header(headers, "Host"))) {
        *text = "the Host is not what this machine is called here";
        return STATUS_WRONG_HOST;
    }
    if (!bearer_is_shown(bearer, evhttp_find_header(headers, "Authorization"))) {
        *text = "accepted: Authorization: Bearer TOKEN";
        return STATUS_NO_TOKEN;
    }
    return 0;
}

static struct bufferevent *client_of(struct evhttp_request *request)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    return connection != NULL ? evhttp_connection_get_bufferevent(connection) : NULL;
}

void door_let_stay(struct evhttp_request *request)
{
    bufferevent_set_timeouts(client_of(request), NULL, NULL);
    bufferevent_setwatermark(client_of(request), EV_READ, 0, STAYING_INPUT_MAX);
}

bool door_takes(struct door_stay *stay, struct evhttp_request *request, unsigned turn_ms)
{
    struct bufferevent *client = client_of(request);
    if (client == NULL)
        return false;
    const size_t untaken = evbuffer_get_length(bufferevent_get_output(client));
    stay->idle_ms = untaken > 0 && untaken == stay->untaken ? stay->idle_ms + turn_ms : 0;
    stay->untaken = untaken;
    return stay->idle_ms < DOOR_STUCK_S * 1000u;
}

void door_end(struct evhttp_request *request)
{
    struct bufferevent *client = client_of(request);
    if (client != NULL) {
        bufferevent_set_timeouts(client, &(struct timeval){.tv_sec = IDLE_MAX_S},
                                 &(struct timeval){.tv_sec = DOOR_STUCK_S});
        bufferevent_setwatermark(client, EV_READ, 0, 0);
    }
    evhttp_send_reply_end(request);
}

void door_let_go(struct evhttp_request *request)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    if (connection != NULL)
        evhttp_connection_free(connection);
    else
        evhttp_send_reply_end(request);
}

static bool has_descriptors(void)
{
    struct rlimit limit;
    const int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (next < 0)
        return false;
    close(next);
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)next + DESCRIPTORS_KEPT < limit.rlim_cur;
}

static ino_t inode_of(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

static struct place *find_place(struct door *door)
{
    for (struct place *place = door->places; place < door->places + PLACES_MAX; place++)
        if (place->fd < 0 || inode_of(place->fd) != place->inode)
            return place;
    return NULL;
}

static void pause_accepting(struct door *door, long us)
{
    evconnlistener_disable(door->listener);
    door_set_timer(door->accept_soon, us);
}

static void end_pause(struct door *door)
{
    door->accepted = 0;
    if (has_descriptors() && (door->kind == DOOR_OWN || find_place(door) != NULL))
        evconnlistener_enable(door->listener);
    else
        door_set_timer(door->accept_soon, SHORT_PAUSE_US);
}

static void on_accept_soon(evutil_socket_t unused, short what, void *context)
{
    (void)unused, (void)what;
    end_pause(context);
}

static void on_accept_error(struct evconnlistener *listener, void *context)
{
    struct door *door = context;
    (void)listener;
    pause_accepting(door, SHORT_PAUSE_US);
}

/* Gives the latest client its place. This runs after evhttp has handled the new connection, because evhttp sets the
 * descriptor only after it has called new_client(). */
static void on_place_newest(evutil_socket_t unused, short what, void *context)
{
    struct door *door = context;
    struct place *place = find_place(door);
    const int fd = door->newest != NULL ? bufferevent_getfd(door->newest) : -1;
    (void)unused, (void)what;
    if (place != NULL && fd >= 0)
        *place = (struct place){fd, inode_of(fd)};
    if (door->newest != NULL)
        bufferevent_decref(door->newest);
    door->newest = NULL;
}

static struct bufferevent *new_client(struct event_base *base, void *context)
{
    struct door *door = context;
    struct bufferevent *client = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (client != NULL) {
        if (door->kind == DOOR_OWN)
            evbuffer_add_cb(bufferevent_get_input(client), on_bytes, client);
        evbuffer_add_cb(bufferevent_get_input(client), on_traffic, door->share);
        evbuffer_add_cb(bufferevent_get_output(client), on_traffic, door->share);
    }
    if (!has_descriptors())
        pause_accepting(door, SHORT_PAUSE_US);
    else if (!door->share->is_whole && ++door->accepted >= ACCEPTS_MAX)
        pause_accepting(door, ACCEPT_PAUSE_US);
    if (client != NULL && door->kind == DOOR_TCP) {
        bufferevent_incref(client);
        door->newest = client;
        event_active(door->place_newest, EV_TIMEOUT, 0);
        pause_accepting(door, ACCEPT_PAUSE_US);
    }
    return client;
}

void door_admit_all(struct door *door)
{
    if (door != NULL)
        end_pause(door);
}

void door_raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    const rlim_t wanted = limit.rlim_cur + DESCRIPTORS_MORE;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

bool door_move(struct door *door, int fd)
{
    struct evconnlistener *listener =
        evconnlistener_new(door->share->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    if (listener == NULL) {
        close(fd);
        return false;
    }
    struct evhttp_bound_socket *bound = evhttp_bind_listener(door->http, listener);
    if (bound == NULL) {
        evconnlistener_free(listener);
        return false;
    }
    if (door->bound != NULL)
        evhttp_del_accept_socket(door->http, door->bound);
    door->bound = bound;
    door->listener = listener;
    evconnlistener_set_error_cb(door->listener, on_accept_error);
    return true;
}

static bool serve(struct door *door, int fd, void (*on_request)(struct evhttp_request *request, void *context),
                  void *context)
{
    const int methods = EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
                        EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH;
    struct event_base *base = door->share->base;
    door->http = evhttp_new(base);
    door->accept_soon = event_new(base, -1, 0, on_accept_soon, door);
    door->place_newest = event_new(base, -1, 0, on_place_newest, door);
    if (door->http == NULL || door->accept_soon == NULL || door->place_newest == NULL) {
        close(fd);
        return false;
    }
    if (!door_move(door, fd))
        return false;
    evhttp_set_bevcb(door->http, new_client, door);
    evhttp_set_gencb(door->http, on_request, context);
    evhttp_set_allowed_methods(door->http, (ev_uint16_t)methods);
    evhttp_set_max_headers_size(door->http, HEADERS_MAX);
    evhttp_set_max_body_size(door->http, BODY_MAX);
    evhttp_set_timeout(door->http, IDLE_MAX_S);
    return true;
}

struct door *door_new(enum door_kind kind, int fd, struct door_share *share,
                      void (*on_request)(struct evhttp_request *request, void *context), void *context)
{
    struct door *door = calloc(1, sizeof *door);
    if (door == NULL) {
        close(fd);
        return NULL;
    }
    *door = (struct door){.kind = kind, .share = share};
    for (struct place *place = door->places; place < door->places + PLACES_MAX; place++)
        place->fd = -1;
    if (serve(door, fd, on_request, context))
        return door;
    door_free(door);
    return NULL;
}

void door_free(struct door *door)
{
    if (door == NULL)
        return;
    if (door->newest != NULL)
        bufferevent_decref(door->newest);
    if (door->http != NULL)
        evhttp_free(door->http);
    if (door->accept_soon != NULL)
        event_free(door->accept_soon);
    if (door->place_newest != NULL)
        event_free(door->place_newest);
    free(door);
}
