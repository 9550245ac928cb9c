/* SPDX-License-Identifier: MIT */
/* Notices that processes of peers on this node have ended: see watch.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct runtime;

enum watch_means {
    WATCH_BY_KERNEL,
    WATCH_BY_ASKING,
    WATCH_TOO_LATE, /* the process had ended before its pidfd could be opened */
};

struct watched {
    unsigned rank;
    int pid;
    int process; /* pidfd, or -1 */
    enum watch_means means;
    unsigned stopped_looks;
};

struct watch {
    struct runtime *runtime;
    struct watched *peers; /* [count] the peers on this node whose end may matter to this rank; owned */
    unsigned count;
    int set; /* epoll set that becomes readable after a peer has ended */
    uint64_t ask_ns;
};

/* Opens pidfds of all peers that may be watched later. Returns -1 if memory or files run out. */
int watch_init(struct watch *watch, struct runtime *runtime);
void watch_fini(struct watch *watch);

/* Begins to watch a rank. Call it once per rank. */
void watch_begin(struct watch *watch, unsigned rank);

bool watch_has_ended(const struct watch *watch, unsigned rank);
/* Called after another process has taken the place of the lost rank and has sent its hello: opens a pidfd of the new
 * process. watch_begin() must follow. */
void watch_renew(struct watch *watch, unsigned rank);

void watch_look(struct watch *watch);
/* Adds the pidfds to `set`, the epoll set of another thread. This set becomes readable once for each peer that ends. */
void watch_add_to(const struct watch *watch, int set);
/* If a peer has ended without leaving in order, sets `*rank` to it and returns true. May be called by any thread. */
bool watch_has_lost(const struct watch *watch, unsigned *rank);
/* Checks two kinds of peers once per second: those without a pidfd, and those for which this rank waits. Kills a peer
 * of the second kind if it has been stopped for MAY_MISS checks in a row. */
void watch_ask(struct watch *watch, uint64_t now_ns);
