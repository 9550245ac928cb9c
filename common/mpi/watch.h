/* SPDX-License-Identifier: MIT */
/* Peers of this node whose process has ended: see watch.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct runtime;

/* The means by which the end of a peer's process is found. */
enum watch_means {
    WATCH_BY_KERNEL, /* by a pidfd that becomes readable */
    WATCH_BY_ASKING, /* once a second */
    WATCH_TOO_LATE,  /* the process was not there any more when its pidfd was to be opened */
};

struct watched {
    unsigned rank;
    int pid;
    int process; /* pidfd; -1: none */
    enum watch_means means;
    unsigned stopped_looks; /* in a row, in which it was found stopped */
};

struct watch {
    struct runtime *runtime;
    struct watched *peers; /* [count] that concern this rank, now or maybe one day; owned */
    unsigned count;
    int set; /* an epoll set: readable when somebody has ended */
    uint64_t ask_ns;
};

/* Opens the means that tell of the ends of peers that may ever be watched here. -1 when memory or files are out. */
int watch_init(struct watch *watch, struct runtime *runtime);
void watch_fini(struct watch *watch);

/* Has the end of `rank` reported from now on, if it can be watched here; where it could not concern this rank at first,
 * by means that are opened now. Once for a rank. */
void watch_begin(struct watch *watch, unsigned rank);

/* Reports the ends of which the kernel tells. */
void watch_look(struct watch *watch);
/* For a thread beside the rank's own. Has the epoll set become readable, once for each, when one of the peers ends. */
void watch_add_to(const struct watch *watch, int set);
/* Likewise. True where one of the peers has ended and not left in order: says which. */
bool watch_has_lost(const struct watch *watch, unsigned *rank);
/* Asks for those whose end the kernel does not tell, and ends masters that are stopped, once a second. */
void watch_ask(struct watch *watch, uint64_t now_ns);
