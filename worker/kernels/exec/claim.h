/* SPDX-License-Identifier: MIT */
/* A worker's claim on resources of its node, which it shares with the other workers there.
 *
 * Claims are granted in the order in which they are made: one that cannot be granted yet keeps for itself what it waits
 * for, so that a later one passes it only where that takes nothing from it. What a worker claims is free again when it
 * says so, and when its process has ended in whatever way. Nothing here waits. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/needs.h"

#include <stdbool.h>
#include <stdint.h>

#define CLAIM_PATH_MAX 96

enum claim_state { CLAIM_NONE, CLAIM_WAITING, CLAIM_GRANTED };

struct claim {
    char path[CLAIM_PATH_MAX];
    int file;         /* the claims of this node's workers */
    int set;          /* epoll set of the next two */
    int changes;      /* inotify: claims of others have ended; -1: the timer looks often instead */
    int timer;        /* looks while the claim waits */
    int watch;        /* of `changes`; -1: none */
    bool is_watching; /* while the claim waits */
    unsigned number;  /* this worker's, from 1 */
    struct needs has; /* what the node has, as the first of its workers found it */
    enum claim_state state;
    struct needs needs;
    uint64_t ticket; /* place in the order of claims */
    uint64_t gpus;   /* those that are granted, a bit each */
    char *records;   /* those of the file, while they are looked at; owned */
};

/* The path by which the workers of this run or set on this node find one another's claims, of whichever launch and job
 * they are. Launches that have other cores or GPUs of the node, or another job of a batch system, do not share, nor do
 * tasks on any core and those on cores that their worker is bound to, which find other numbers of them. */
const char *claim_path(bool any_core, char path[CLAIM_PATH_MAX]);

/* Joins the other workers at that path, which is removed when the last of them leaves. -1 with one line, and nothing
 * owned. */
int claim_init(struct claim *claim, const char *path, const struct needs *has, struct error *error);
void claim_fini(struct claim *claim);

/* Removes the file at the path if no worker is there any more. True if it is gone. Takes no lock of the process and
 * does not allocate. */
bool claim_clear(const char *path);

/* Claims what is needed, within what the node has. -1 with one line. */
int claim_begin(struct claim *claim, const struct needs *needs, struct error *error);

/* 1 when the claim is granted, 0 while it waits, -1 with one line. */
int claim_advance(struct claim *claim, struct error *error);

/* Gives back what is claimed, be it granted or not. */
void claim_end(struct claim *claim);

/* Readable when there is something for claim_advance(). */
static inline int claim_descriptor(const struct claim *claim)
{
    return claim->set;
}
