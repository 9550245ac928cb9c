/* SPDX-License-Identifier: MIT */
/* Server-sent events: see events.h.
 *
 * While there are subscribers, one event is composed ten times a second for all of them. It is composed job by job
 * within the share of clients, so even an event about 64 jobs does not delay chunks. An event is sent only if it
 * differs from the previous one.
 *
 * A subscriber has at most one unread event. It gets no other event until it has read that one. Then it gets the latest
 * event. So a slow subscriber costs no memory beyond one event, and always gets the latest state. A subscriber that
 * reads nothing is disconnected. */
#include "common/control/events.h"

#include "common/os/clock.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>

#define SUBSCRIBERS_MAX 16
#define EVENT_MAX       196608u
#define INTERVAL_NS     UINT64_C(100000000)
/* If nothing was sent for this time, a comment line is sent to show that the connection is alive. */
#define QUIET_NS UINT64_C(15000000000)

#define STATUS_OK 200

struct subscriber {
    struct evhttp_request *request;
    uint64_t version;
    uint64_t sent_ns;
    struct door_stay stay;
};

struct events {
    struct door_share *share;
    struct events_source source;
    struct event *tick;
    struct subscriber subscribers[SUBSCRIBERS_MAX];
    unsigned subscriber_count;
    struct evbuffer *latest;
    uint64_t version;
    struct evbuffer *made;
    uint64_t made_ns;
    uint64_t ids[METRICS_JOBS_MAX];
    size_t id_count, next_id;
    unsigned told, left_out;
};

static void add_object(struct evbuffer *made, json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    evbuffer_add_printf(made, "%s", text != NULL ? text : "null");
    json_decref(object);
    free(text);
}

static bool begin_event(struct events *events)
{
    const struct events_source *source = &events->source;
    events->made = evbuffer_new();
    if (events->made == NULL)
        return false;
    events->made_ns = clock_ns(CLOCK_MONOTONIC);
    events->id_count = source->running(source->context, events->ids);
    events->next_id = events->told = events->left_out = 0;
    evbuffer_add_printf(events->made, "data: {\"session\":");
    add_object(events->made, source->session(source->context));
    evbuffer_add_printf(events->made, ",\"jobs\":[");
    return true;
}

static void tell_next_job(struct events *events)
{
    json_t *job = events->source.job(events->source.context, events->ids[events->next_id++]);
    char *text = job != NULL ? json_dumps(job, JSON_COMPACT) : NULL;
    json_decref(job);
    if (text == NULL)
        return;
    if (evbuffer_get_length(events->made) + strlen(text) > EVENT_MAX)
        events->left_out++;
    else
        evbuffer_add_printf(events->made, "%s%s", events->told++ > 0 ? "," : "", text);
    free(text);
}

static bool is_same(struct evbuffer *a, struct evbuffer *b)
{
    const size_t length = evbuffer_get_length(a);
    return evbuffer_get_length(b) == length && memcmp(evbuffer_pullup(a, -1), evbuffer_pullup(b, -1), length) == 0;
}

static void complete_event(struct events *events)
{
    struct evbuffer *made = events->made;
    events->made = NULL;
    evbuffer_add_printf(made, "],\"more\":%u}\n\n", events->left_out);
    if (evbuffer_pullup(made, -1) == NULL || (events->latest != NULL && is_same(made, events->latest))) {
        evbuffer_free(made);
        return;
    }
    if (events->latest != NULL)
        evbuffer_free(events->latest);
    events->latest = made;
    events->version++;
}

/* Sends the line and the text to the subscriber; either may be NULL. `line` must not be "", because libevent 2.1.12
 * corrupts a buffer if "" is added before a buffer reference. */
static void send_shared(struct subscriber *subscriber, const char *line, struct evbuffer *text)
{
    struct evbuffer *piece = evbuffer_new();
    if (piece == NULL)
        return;
    if ((line == NULL || evbuffer_add(piece, line, strlen(line)) == 0) &&
        (text == NULL || evbuffer_add_buffer_reference(piece, text) == 0))
        evhttp_send_reply_chunk(subscriber->request, piece);
    evbuffer_free(piece);
}

static bool serve_subscriber(const struct events *events, struct subscriber *subscriber, uint64_t now_ns)
{
    if (!door_takes(&subscriber->stay, subscriber->request, INTERVAL_NS / 1000000))
        return false;
    if (subscriber->stay.untaken > 0)
        return true;
    const bool is_new = events->latest != NULL && subscriber->version != events->version;
    if (!is_new && now_ns - subscriber->sent_ns < QUIET_NS)
        return true;
    send_shared(subscriber, is_new ? NULL : ":\n\n", is_new ? events->latest : NULL);
    subscriber->version = events->version;
    subscriber->sent_ns = now_ns;
    return true;
}

static void serve_all(struct events *events)
{
    const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < events->subscriber_count;) {
        struct subscriber *subscriber = &events->subscribers[i];
        if (serve_subscriber(events, subscriber, now_ns)) {
            i++;
            continue;
        }
        door_let_go(subscriber->request);
        *subscriber = events->subscribers[--events->subscriber_count];
    }
}

static void on_tick(evutil_socket_t unused, short what, void *context)
{
    struct events *events = context;
    (void)unused, (void)what;
    if (events->made == NULL && !begin_event(events)) {
        door_set_timer(events->tick, INTERVAL_NS / 1000);
        return;
    }
    while (events->next_id < events->id_count) {
        if (door_rest(events->share)) {
            door_set_timer(events->tick, 0);
            return;
        }
        tell_next_job(events);
    }
    complete_event(events);
    serve_all(events);
    const uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - events->made_ns;
    if (events->subscriber_count > 0)
        door_set_timer(events->tick, took_ns < INTERVAL_NS ? (long)((INTERVAL_NS - took_ns) / 1000) : 0);
}

bool events_subscribe(struct events *events, struct evhttp_request *request)
{
    const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    if (events->subscriber_count == SUBSCRIBERS_MAX)
        return false;
    evhttp_add_header(headers, "Content-Type", "text/event-stream");
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "Connection", "close");
    door_let_stay(request);
    evhttp_send_reply_start(request, STATUS_OK, NULL);
    events->subscribers[events->subscriber_count++] = (struct subscriber){.request = request, .sent_ns = now_ns};
    if (!event_pending(events->tick, EV_TIMEOUT, NULL)) {
        const uint64_t since_ns = now_ns - events->made_ns;
        door_set_timer(events->tick, since_ns < INTERVAL_NS ? (long)((INTERVAL_NS - since_ns) / 1000) : 0);
    }
    return true;
}

unsigned events_end(struct events *events, void (*on_sent)(struct evhttp_request *request, void *context),
                    void *context)
{
    unsigned awaited = 0;
    if (events->subscriber_count == 0)
        return 0;
    if (events->made != NULL)
        evbuffer_free(events->made);
    if (begin_event(events)) {
        while (events->next_id < events->id_count)
            tell_next_job(events);
        complete_event(events);
    }
    for (unsigned i = 0; i < events->subscriber_count; i++) {
        struct subscriber *subscriber = &events->subscribers[i];
        if (evhttp_request_get_connection(subscriber->request) != NULL) {
            awaited++;
            evhttp_request_set_on_complete_cb(subscriber->request, on_sent, context);
            send_shared(subscriber, "event: end\n", events->latest);
        }
        door_end(subscriber->request);
    }
    events->subscriber_count = 0;
    return awaited;
}

struct events *events_new(struct door_share *share, const struct events_source *source)
{
    struct events *events = calloc(1, sizeof *events);
    if (events == NULL)
        return NULL;
    events->share = share;
    events->source = *source;
    events->tick = event_new(share->base, -1, 0, on_tick, events);
    if (events->tick != NULL)
        return events;
    events_free(events);
    return NULL;
}

void events_free(struct events *events)
{
    if (events == NULL)
        return;
    /* Ends those requests whose connections are lost already. All other requests are freed together with their
     * connections. */
    for (unsigned i = 0; i < events->subscriber_count; i++)
        if (evhttp_request_get_connection(events->subscribers[i].request) == NULL)
            evhttp_send_reply_end(events->subscribers[i].request);
    if (events->tick != NULL)
        event_free(events->tick);
    if (events->latest != NULL)
        evbuffer_free(events->latest);
    if (events->made != NULL)
        evbuffer_free(events->made);
    free(events);
}
