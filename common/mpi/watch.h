/* SPDX-License-Identifier: MIT */
/* Peers of this node whose process has ended: see watch.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct runtime;

struct peer {
    unsigned rank;
    int pid;
    int process;         /* pidfd, -1: none */
    bool is_gone;        /* before it could be watched */
    bool watched, aided; /* aided: by its pidfd */
    bool ended, taken;
};

struct watch {
    struct peer *peers; /* owned; NULL: nobody is watched */
    unsigned count;
    unsigned unaided; /* peers that must be asked for */
    unsigned ended;   /* peers that have ended and were not taken */
    int set;          /* an epoll set: readable when somebody has ended */
    uint64_t ask_ns;
};

/* -1 when memory or files are out. */
int watch_peers(struct watch *watch, const struct runtime *runtime);
void watch_fini(struct watch *watch);

/* From now on `rank`, a peer that was of no concern so far, is watched, too. */
void watch_begin(struct watch *watch, unsigned rank);

void watch_look(struct watch *watch);
/* The peer, if it is watched, has ended. */
void watch_note(struct watch *watch, unsigned rank);
/* Asks for those whose end the kernel does not tell, once a second. */
void watch_ask(struct watch *watch, uint64_t now_ns);
/* A peer that has ended, each once. */
bool watch_take(struct watch *watch, unsigned *rank);
