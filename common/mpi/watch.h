/* SPDX-License-Identifier: MIT */
/* Notices the ends of peers' processes on this node: see watch.c. */
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
    struct watched *peers; /* [count] peers whose end may concern this rank; owned */
    unsigned count;
    int set; /* epoll set; readable after a peer has ended */
    uint64_t ask_ns;
};

/* Opens pidfds of peers that may be watched later. -1: out of memory or files. */
int watch_init(struct watch *watch, struct runtime *runtime);
void watch_fini(struct watch *watch);

/* Call it once per rank. */
void watch_begin(struct watch *watch, unsigned rank);

bool watch_has_ended(const struct watch *watch, unsigned rank);
/* Another process, whose hello has arrived, has taken the place of the rank. watch_begin() must follow. */
void watch_renew(struct watch *watch, unsigned rank);

void watch_look(struct watch *watch);
/* Makes the epoll set of another thread readable, once per peer, after a peer has ended. */
void watch_add_to(const struct watch *watch, int set);
/* Returns true, and sets `*rank`, if a peer has ended without leaving in order. May be called by another thread. */
bool watch_has_lost(const struct watch *watch, unsigned *rank);
/* Once per second, checks peers without a pidfd, and kills stopped peers for which this rank waits. */
void watch_ask(struct watch *watch, uint64_t now_ns);
