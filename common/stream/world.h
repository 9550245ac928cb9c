/* SPDX-License-Identifier: MIT */
/* The environment of an end of streams: clock, sockets and wake-ups. machine.c is the real environment, with libevent.
 * The simulated environment of the tests is tests/unit/stream/net.h. An end uses its environment only through this
 * interface, except for name resolution and munge. */
#pragma once

#include "common/stream/address.h"
#include "common/stream/endpoint.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct stream_world;

struct stream_watch;

enum stream_watch_kind { STREAM_WATCH_TIME, STREAM_WATCH_READ, STREAM_WATCH_WRITE };

struct stream_world_ops {
    uint64_t (*now)(struct stream_world *world); /* monotonic, in ns */

    /* Creates an inactive watch. `fd` is -1 for STREAM_WATCH_TIME. NULL if memory runs out. */
    struct stream_watch *(*watch_new)(struct stream_world *world, enum stream_watch_kind kind, int fd,
                                      void (*call)(void *context), void *context);
    void (*watch_free)(struct stream_watch *watch);
    void (*watch_on)(struct stream_watch *watch);
    void (*watch_off)(struct stream_watch *watch); /* does nothing if the watch is off already */
    /* the watch calls back once at this time; a time that was set before is replaced */
    void (*watch_at)(struct stream_watch *watch, uint64_t after_ns);
    /* Makes the next turn call the watch back once, even if the watch is off. */
    void (*watch_call)(struct stream_watch *watch);
    /* Calls the watches that are due. If none is due and `waits` is true, waits until one is due. Returns false if the
     * world is to end. */
    bool (*turn)(struct stream_world *world, bool waits);

    int (*listen)(struct stream_address *address, struct endpoint_file *file, struct error *error);
    void (*unlink)(const struct stream_address *address, const struct endpoint_file *file);
    int (*accept)(int fd);
    int (*connect)(struct endpoint_target *target);
    int (*connected)(int fd);
    bool (*is_own)(int fd, uid_t *user);
    void (*prepare)(int fd, bool is_tcp, char name[ENDPOINT_NAME_MAX]);
    ssize_t (*receive)(int fd, void *bytes, size_t size, int flags);
    ssize_t (*send)(int fd, const void *bytes, size_t size, int flags);
    int (*close)(int fd);
};

struct stream_world {
    const struct stream_world_ops *ops;
    struct event_base *base;
};

extern const struct stream_world_ops stream_machine_ops;

static inline uint64_t world_now(struct stream_world *world)
{
    return world->ops->now(world);
}
