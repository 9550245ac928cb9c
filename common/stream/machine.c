/* SPDX-License-Identifier: MIT */
/* The real implementation of world.h, with libevent. */
#include "common/os/clock.h"
#include "common/stream/endpoint.h"
#include "common/stream/world.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_US 1000
#define US_PER_S  1000000

struct stream_watch {
    struct event event;
    void (*call)(void *context);
    void *context;
};

static uint64_t machine_now(struct stream_world *world)
{
    (void)world;
    return clock_ns(CLOCK_MONOTONIC);
}

static void on_event(evutil_socket_t fd, short what, void *context)
{
    const struct stream_watch *watch = context;
    (void)fd, (void)what;
    watch->call(watch->context);
}

static struct stream_watch *machine_watch_new(struct stream_world *world, enum stream_watch_kind kind, int fd,
                                              void (*call)(void *context), void *context)
{
    static const short wishes[] = {[STREAM_WATCH_TIME] = 0,
                                   [STREAM_WATCH_READ] = EV_READ | EV_PERSIST,
                                   [STREAM_WATCH_WRITE] = EV_WRITE | EV_PERSIST};
    struct stream_watch *watch = malloc(sizeof *watch);
    if (watch == NULL)
        return NULL;
    watch->call = call;
    watch->context = context;
    if (event_assign(&watch->event, world->base, fd, wishes[kind], on_event, watch) == 0)
        return watch;
    free(watch);
    return NULL;
}

static void machine_watch_off(struct stream_watch *watch)
{
    event_del(&watch->event);
}

static void machine_watch_free(struct stream_watch *watch)
{
    event_del(&watch->event);
    free(watch);
}

static void machine_watch_on(struct stream_watch *watch)
{
    event_add(&watch->event, NULL);
}

static void machine_watch_at(struct stream_watch *watch, uint64_t after_ns)
{
    const uint64_t us = after_ns / NS_PER_US + (after_ns % NS_PER_US != 0);
    event_add(&watch->event, &(struct timeval){(time_t)(us / US_PER_S), (suseconds_t)(us % US_PER_S)});
}

static void machine_watch_call(struct stream_watch *watch)
{
    event_active(&watch->event, EV_READ, 0);
}

static bool machine_turn(struct stream_world *world, bool waits)
{
    return event_base_loop(world->base, waits ? EVLOOP_ONCE : EVLOOP_NONBLOCK) == 0 &&
           !event_base_got_break(world->base) && !event_base_got_exit(world->base);
}

static int machine_accept(int fd)
{
    return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

const struct stream_world_ops stream_machine_ops = {
    .now = machine_now,
    .watch_new = machine_watch_new,
    .watch_free = machine_watch_free,
    .watch_on = machine_watch_on,
    .watch_off = machine_watch_off,
    .watch_at = machine_watch_at,
    .watch_call = machine_watch_call,
    .turn = machine_turn,
    .listen = endpoint_listen,
    .unlink = endpoint_unlink,
    .accept = machine_accept,
    .connect = endpoint_connect,
    .connected = endpoint_connected,
    .is_own = endpoint_is_own,
    .prepare = endpoint_prepare,
    .receive = recv,
    .send = send,
    .close = close,
};
