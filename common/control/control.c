/* SPDX-License-Identifier: MIT */
/* The control socket of a run: HTTP over a Unix socket, by libevent's evhttp, in the event base that the rank waits in.
 * docs/CONTROL.md has what is asked and answered.
 *
 * Nothing here runs unless a client has sent something, so that a run of which nobody asks pays for one descriptor in
 * the base. A client never delays a chunk by more than some hundred microseconds: the machine is only read, never
 * stepped; an answer is small, and goes out as its reader takes it; clients are accepted a few at a time; and where
 * many have sent something, the loop over what is ready is broken off after a turn's share, and goes on in a later one.
 *
 * Who may ask: the folder and the socket are the user's alone (socket.c). Beside that the user at the other end is
 * looked up before any byte of a client's is read as HTTP. */
#include "common/control/control.h"

#include "common/control/route.h"
#include "common/control/socket.h"
#include "common/os/clock.h"
#include "common/util/error.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Limits of a request. */
#define HEADERS_MAX 8192
#define BODY_MAX    1048576
/* A client that sends or takes nothing for so long is let go. */
#define IDLE_MAX_S 60
/* Requests that wait for a change at a time. */
#define WAITERS_MAX 4096
/* Time between two looks whether there is a change, while a request waits for it. */
#define LOOK_US 100000
/* The part of a turn that clients get, and the time from which on they get it anew. */
#define SHARE_NS 200000u
#define TURN_NS  1000000u
/* Clients that are accepted at once, and the pause behind them. */
#define ACCEPTS_MAX     8
#define ACCEPT_PAUSE_US 1000
/* Pause of accepting while descriptors are short. */
#define SHORT_PAUSE_US 200000
/* Descriptors that are left to the run, and those that clients may have beside them where the system permits. */
#define DESCRIPTORS_KEPT 128
#define DESCRIPTORS_MORE 2048
/* The longest time that the last answers have to go out. */
#define LAST_ANSWERS_US 100000

#define STATUS_OK          200
#define STATUS_ACCEPTED    202
#define STATUS_NOT_FOUND   404
#define STATUS_NO_METHOD   405
#define STATUS_CONFLICT    409
#define STATUS_UNAVAILABLE 503
#define STATUS_BROKEN      500

/* The number of the job of a run. */
#define ONLY_JOB 1

/* A request that waits for another state of the job. */
struct waiter {
    struct evhttp_request *request; /* evhttp frees it with its answer, also where its client has gone */
    enum control_state state;
    uint64_t until_ns;
    struct waiter *next;
};

struct control {
    struct event_base *base; /* borrowed */
    const struct control_source *source;
    const char *version;
    char name[CONTROL_NAME_MAX];
    char folder[1024];
    time_t started;
    struct control_socket socket;
    struct evhttp *http;              /* owned, with its listener */
    struct evconnlistener *listener;  /* of `http` */
    struct event *look, *accept_soon; /* timers; owned */
    struct waiter *waiters;           /* owned */
    unsigned waiting, accepted;
    uint64_t share_began_ns;
    int status;         /* of the job that is over; below 0: it is not */
    unsigned unsent;    /* last answers that have not gone out */
    bool was_asked;     /* somebody has ever asked */
    bool was_cancelled; /* by a client */
    bool late;          /* the last answers have had their time */
};

/* --- a client's share of the time --- */

/* Breaks the loop off where clients have had their share of this turn; what is ready then stays so. */
static void rest(struct control *control)
{
    const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (now_ns - control->share_began_ns > TURN_NS)
        control->share_began_ns = now_ns;
    else if (now_ns - control->share_began_ns > SHARE_NS)
        event_base_loopbreak(control->base);
}

static void set_timer(struct event *timer, long us)
{
    const struct timeval span = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    event_add(timer, &span);
}

/* --- answers --- */

/* Sends the object, which it takes. */
static void send_json(struct evhttp_request *request, int status, json_t *object)
{
    struct evbuffer *body = evbuffer_new();
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    json_decref(object);
    if (text == NULL)
        status = STATUS_BROKEN;
    evhttp_add_header(headers, "Content-Type", "application/json");
    evhttp_add_header(headers, "Cache-Control", "no-store");
    if (status == STATUS_NO_METHOD)
        evhttp_add_header(headers, "Allow", "GET, DELETE");
    if (body != NULL && text != NULL)
        evbuffer_add_printf(body, "%s\n", text);
    evhttp_send_reply(request, status, NULL, body);
    if (body != NULL)
        evbuffer_free(body);
    free(text);
}

static void send_error(struct evhttp_request *request, int status, const char *text)
{
    json_t *object = json_object();
    json_object_set_new(object, "error", json_string(text));
    send_json(request, status, object);
}

static void look_at_job(struct control *control, struct control_job *job)
{
    *job = (struct control_job){.id = ONLY_JOB, .folder = control->folder, .status = -1};
    control->source->tell(control->source->context, job);
    if (control->was_cancelled)
        job->state = CONTROL_DRAINING;
    job->status = control->status;
    if (control->status >= 0)
        job->state = control_state_at_end(control->status);
}

static json_t *job_json(struct control *control)
{
    struct control_job job;
    look_at_job(control, &job);
    return control_job_json(&job);
}

static json_t *session_json(const struct control *control)
{
    const struct control_session session = {control->name, control->version, control->started};
    return control_session_json(&session);
}

static json_t *jobs_json(struct control *control)
{
    json_t *object = json_object(), *jobs = json_array();
    json_array_append_new(jobs, job_json(control));
    json_object_set_new(object, "session", session_json(control));
    json_object_set_new(object, "jobs", jobs);
    return object;
}

/* --- requests that wait --- */

static void note_sent(struct evhttp_request *request, void *context)
{
    struct control *control = context;
    (void)request;
    if (control->unsent > 0)
        control->unsent--;
}

/* Answers those that wait for another state than this one, and those whose time is over. */
static void answer_waiters(struct control *control)
{
    const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    struct control_job job;
    look_at_job(control, &job);
    for (struct waiter **place = &control->waiters; *place != NULL;) {
        struct waiter *waiter = *place;
        if (waiter->state == job.state && now_ns < waiter->until_ns) {
            place = &waiter->next;
            continue;
        }
        if (control->status >= 0) {
            control->unsent += evhttp_request_get_connection(waiter->request) != NULL;
            evhttp_request_set_on_complete_cb(waiter->request, note_sent, control);
        }
        send_json(waiter->request, STATUS_OK, control_job_json(&job));
        *place = waiter->next;
        free(waiter);
        control->waiting--;
    }
}

static void on_look(evutil_socket_t unused, short what, void *context)
{
    struct control *control = context;
    (void)unused, (void)what;
    answer_waiters(control);
    if (control->waiters != NULL)
        set_timer(control->look, LOOK_US);
}

static void wait_for_change(struct control *control, struct evhttp_request *request, unsigned wait_s,
                            enum control_state state)
{
    struct waiter *waiter = control->waiting < WAITERS_MAX ? malloc(sizeof *waiter) : NULL;
    if (waiter == NULL) {
        send_error(request, STATUS_UNAVAILABLE, "too many requests wait for a change");
        return;
    }
    *waiter = (struct waiter){.request = request,
                              .state = state,
                              .until_ns = clock_ns(CLOCK_MONOTONIC) + UINT64_C(1000000000) * wait_s,
                              .next = control->waiters};
    control->waiters = waiter;
    control->waiting++;
    if (!event_pending(control->look, EV_TIMEOUT, NULL))
        set_timer(control->look, LOOK_US);
}

/* --- requests --- */

static void answer_get(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    struct control_job job;
    switch (route->place) {
    case CONTROL_SESSION: send_json(request, STATUS_OK, session_json(control)); break;
    case CONTROL_JOBS: send_json(request, STATUS_OK, jobs_json(control)); break;
    case CONTROL_JOB:
        look_at_job(control, &job);
        if (route->wait_s > 0 && job.status < 0)
            wait_for_change(control, request, route->wait_s, job.state);
        else
            send_json(request, STATUS_OK, control_job_json(&job));
        break;
    }
}

/* A second request changes nothing; a job that is over cannot be cancelled any more, which its state says. */
static void answer_delete(struct control *control, struct evhttp_request *request)
{
    if (control->status < 0)
        control->source->drain(control->source->context);
    control->was_cancelled = true;
    send_json(request, STATUS_ACCEPTED, job_json(control));
}

static void on_request(struct evhttp_request *request, void *context)
{
    struct control *control = context;
    struct control_route route;
    struct error error;
    const enum evhttp_cmd_type method = evhttp_request_get_command(request);
    const int refusal = control_route_read(&route, evhttp_request_get_uri(request), &error);
    control->was_asked = true;
    if (refusal != 0)
        send_error(request, refusal, error.text);
    else if (route.place == CONTROL_JOB && route.job != ONLY_JOB)
        send_error(request, STATUS_NOT_FOUND, "a run has job 1 alone");
    else if (method == EVHTTP_REQ_GET)
        answer_get(control, request, &route);
    else if (method == EVHTTP_REQ_DELETE && route.place == CONTROL_JOB)
        answer_delete(control, request);
    else if (method == EVHTTP_REQ_POST && route.place == CONTROL_JOBS)
        send_error(request, STATUS_CONFLICT, "a run takes no further jobs");
    else
        send_error(request, STATUS_NO_METHOD, "accepted: GET, and DELETE of a job");
}

/* --- clients --- */

/* Called before evhttp reads what has come of a client: somebody else's is dropped unread. */
static void on_bytes(struct evbuffer *input, const struct evbuffer_cb_info *info, void *context)
{
    struct bufferevent *client = context;
    const int fd = bufferevent_getfd(client);
    if (info->n_added == 0 || control_peer_may(fd))
        return;
    evbuffer_drain(input, evbuffer_get_length(input));
    shutdown(fd, SHUT_RDWR);
}

/* Called for bytes that have come, and for those that have gone out. */
static void on_traffic(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context)
{
    (void)buffer, (void)info;
    rest(context);
}

/* True where a further client leaves the run the descriptors that it may need. */
static bool has_descriptors(void)
{
    struct rlimit limit;
    const int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0); /* the lowest that is free */
    if (next < 0)
        return false;
    close(next);
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)next + DESCRIPTORS_KEPT < limit.rlim_cur;
}

static void on_accept_soon(evutil_socket_t unused, short what, void *context)
{
    struct control *control = context;
    (void)unused, (void)what;
    control->accepted = 0;
    if (has_descriptors())
        evconnlistener_enable(control->listener);
    else
        set_timer(control->accept_soon, SHORT_PAUSE_US);
}

static void pause_accepting(struct control *control, long us)
{
    evconnlistener_disable(control->listener);
    set_timer(control->accept_soon, us);
}

static void on_accept_error(struct evconnlistener *listener, void *context)
{
    (void)listener;
    pause_accepting(context, SHORT_PAUSE_US);
}

/* Makes what carries a client that was just accepted. */
static struct bufferevent *new_client(struct event_base *base, void *context)
{
    struct control *control = context;
    struct bufferevent *client = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (client != NULL) {
        evbuffer_add_cb(bufferevent_get_input(client), on_bytes, client);
        evbuffer_add_cb(bufferevent_get_input(client), on_traffic, control);
        evbuffer_add_cb(bufferevent_get_output(client), on_traffic, control);
    }
    if (!has_descriptors())
        pause_accepting(control, SHORT_PAUSE_US);
    else if (++control->accepted >= ACCEPTS_MAX)
        pause_accepting(control, ACCEPT_PAUSE_US);
    return client;
}

/* --- beginning and end --- */

/* Clients are to find descriptors that the run does not need. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    const rlim_t wanted = limit.rlim_cur + DESCRIPTORS_MORE;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int serve(struct control *control)
{
    const int methods = EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
                        EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH;
    control->http = evhttp_new(control->base);
    control->look = event_new(control->base, -1, 0, on_look, control);
    control->accept_soon = event_new(control->base, -1, 0, on_accept_soon, control);
    control->listener = evconnlistener_new(control->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0,
                                           control->socket.fd);
    if (control->listener == NULL)
        return -1;
    control->socket.fd = -1; /* it is the listener's now */
    if (control->http == NULL || control->look == NULL || control->accept_soon == NULL ||
        evhttp_bind_listener(control->http, control->listener) == NULL) {
        evconnlistener_free(control->listener);
        return -1;
    }
    evconnlistener_set_error_cb(control->listener, on_accept_error);
    evhttp_set_bevcb(control->http, new_client, control);
    evhttp_set_gencb(control->http, on_request, control);
    evhttp_set_allowed_methods(control->http, (ev_uint16_t)methods);
    evhttp_set_max_headers_size(control->http, HEADERS_MAX);
    evhttp_set_max_body_size(control->http, BODY_MAX);
    evhttp_set_timeout(control->http, IDLE_MAX_S);
    return 0;
}

static void release(struct control *control)
{
    control_unlink(&control->socket);
    if (control->http != NULL)
        evhttp_free(control->http);
    if (control->look != NULL)
        event_free(control->look);
    if (control->accept_soon != NULL)
        event_free(control->accept_soon);
    if (control->socket.fd >= 0)
        close(control->socket.fd);
    free(control);
}

struct control *control_new(struct event_base *base, const char *version, const struct control_source *source)
{
    struct error error;
    struct control *control = base != NULL ? calloc(1, sizeof *control) : NULL;
    if (control == NULL)
        return NULL;
    *control = (struct control){
        .base = base, .source = source, .version = version, .started = time(NULL), .status = -1, .socket = {.fd = -1}};
    snprintf(control->name, sizeof control->name, "run-%d", (int)getpid());
    if (getcwd(control->folder, sizeof control->folder) == NULL)
        control->folder[0] = '\0';
    if (control_listen(&control->socket, control->name, &error) < 0 || serve(control) < 0) {
        release(control);
        return NULL;
    }
    raise_limit();
    return control;
}

static void on_late(evutil_socket_t unused, short what, void *context)
{
    (void)unused, (void)what;
    ((struct control *)context)->late = true;
}

/* Tells whoever waits; and whoever has asked in this moment, as one that waits asks again and again. */
static void give_last_answers(struct control *control)
{
    struct event *timer = event_new(control->base, -1, 0, on_late, control);
    event_base_loop(control->base, EVLOOP_NONBLOCK);
    answer_waiters(control);
    if (timer != NULL)
        set_timer(timer, LAST_ANSWERS_US);
    while (timer != NULL && control->unsent > 0 && !control->late)
        event_base_loop(control->base, EVLOOP_ONCE);
    if (timer != NULL)
        event_free(timer);
}

void control_free(struct control *control, int status)
{
    if (control == NULL)
        return;
    control->status = status;
    control_unlink(&control->socket);
    if (control->was_asked)
        give_last_answers(control);
    release(control);
}
