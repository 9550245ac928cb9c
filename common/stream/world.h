/* SPDX-License-Identifier: MIT */
/* The machine that an end of streams runs on: its clock, its sockets, and what wakes the end. machine.c is the real
 * one, over libevent. Tests have another, in which time passes and bytes come as they say: tests/unit/stream/net.h.
 * Everything that an end does to the world goes through here, except that it looks names up and asks munge. */
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

/* Calls an end when it is time, or while a socket can be read or written. */
struct stream_watch;

enum stream_watch_kind { STREAM_WATCH_TIME, STREAM_WATCH_READ, STREAM_WATCH_WRITE };

struct stream_world_ops {
    uint64_t (*now)(struct stream_world *world); /* ns of a clock that never goes back */

    /* --- what wakes the end --- */
    /* A watch that is off. `fd` is -1 where the kind is STREAM_WATCH_TIME. NULL when memory is out. */
    struct stream_watch *(*watch_new)(struct stream_world *world, enum stream_watch_kind kind, int fd,
                                      void (*call)(void *context), void *context);
    void (*watch_free)(struct stream_watch *watch);
    void (*watch_on)(struct stream_watch *watch);                    /* for a socket: until it is off */
    void (*watch_off)(struct stream_watch *watch);                   /* fine where it is off */
    void (*watch_at)(struct stream_watch *watch, uint64_t after_ns); /* for a time: once, in place of an earlier wish */
    void (*watch_call)(struct stream_watch *watch);                  /* calls it once at the next turn, on or off */
    /* Calls the watches that are due, and waits for one where `waits`. False where the world is to end. */
    bool (*turn)(struct stream_world *world, bool waits);

    /* --- sockets, none of which ever blocks: endpoint.h, and the calls of the system of the same names --- */
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
    struct event_base *base; /* borrowed; of the real one */
};

extern const struct stream_world_ops stream_machine_ops;

static inline uint64_t world_now(struct stream_world *world)
{
    return world->ops->now(world);
}
