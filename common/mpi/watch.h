/* SPDX-License-Identifier: MIT */
/* Ends of peers' processes on this node: see watch.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct runtime;

enum watch_means {
    WATCH_BY_KERNEL, /* by a readable pidfd */
    WATCH_BY_ASKING,
    WATCH_TOO_LATE, /* the process had ended before its pidfd could be opened */
};

struct watched {
    unsigned rank;
    int pid;
    int process; /* pidfd, or -1 */
    enum watch_means means;
    unsigned stopped_looks; /* consecutive checks in which it was stopped */
};

struct watch {
    struct runtime *runtime;
    struct watched *peers; /* [count] that may concern this rank; owned */
    unsigned count;
    int set; /* epoll set: readable if one has ended */
    uint64_t ask_ns;
};

/* Opens pidfds of peers that may be watched later. -1: out of memory or files. */
int watch_init(struct watch *watch, struct runtime *runtime);
void watch_fini(struct watch *watch);

/* Reports the end of `rank` from now on, if it can be watched from here. Once per rank. */
void watch_begin(struct watch *watch, unsigned rank);

bool watch_has_ended(const struct watch *watch, unsigned rank);
/* The rank is another process now, whose hello has arrived. watch_begin() must be called next. */
void watch_renew(struct watch *watch, unsigned rank);

void watch_look(struct watch *watch);
/* For another thread: makes its epoll set readable, once per peer, when one ends. */
void watch_add_to(const struct watch *watch, int set);
/* Also for another thread: true if a peer has ended without leaving in order, and which. */
bool watch_has_lost(const struct watch *watch, unsigned *rank);
/* Checks peers without a pidfd and ends stopped masters, once per second. */
void watch_ask(struct watch *watch, uint64_t now_ns);
