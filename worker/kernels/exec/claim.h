/* SPDX-License-Identifier: MIT */
/* A worker's claim on resources of its node, which the workers there share.
 *
 * Claims are granted in the order they are made: a waiting claim reserves what it waits for, so a later one passes it
 * only if that takes nothing from it. Resources are free again when the worker releases them, or when its process ends
 * in any way. No function blocks. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/needs.h"

#include <stdbool.h>
#include <stdint.h>

#define CLAIM_PATH_MAX 96

enum claim_state { CLAIM_NONE, CLAIM_WAITING, CLAIM_GRANTED };

struct claim {
    char path[CLAIM_PATH_MAX];
    int file;    /* file with the claims of this node's workers */
    int set;     /* epoll set of the next two */
    int changes; /* inotify for ended claims; -1: the timer is faster instead */
    int timer;   /* for checks while the claim waits */
    int watch;   /* watch of `changes`; -1: none */
    bool is_watching;
    unsigned number;
    struct needs has; /* what the node has, as found by the first worker */
    enum claim_state state;
    struct needs needs;
    uint64_t ticket; /* order of claims */
    uint64_t gpus;   /* granted GPUs, one bit each */
    char *records;   /* scratch for the file's records; owned */
};

/* Path by which the workers of this run or set on this node find each other's claims. Launches with other cores or
 * GPUs, or in another batch job, do not share, nor do tasks on any core and tasks on cores that their worker is bound
 * to. */
const char *claim_path(bool any_core, char path[CLAIM_PATH_MAX]);

/* Joins the other workers at that path; the last one to leave removes it. On failure nothing is owned. */
int claim_init(struct claim *claim, const char *path, const struct needs *has, struct error *error);
void claim_fini(struct claim *claim);

/* Removes the file if no worker uses it. True if it is gone. Takes no lock of the process and does not allocate. */
bool claim_clear(const char *path);

/* Reserves the task's cores, memory and GPUs on this node. Fails if the node does not have enough. */
int claim_begin(struct claim *claim, const struct needs *needs, struct error *error);

/* 1: granted; 0: waiting; -1: error. */
int claim_advance(struct claim *claim, struct error *error);

/* Releases the claim, granted or not. */
void claim_end(struct claim *claim);

/* Readable when claim_advance() should be called. */
static inline int claim_descriptor(const struct claim *claim)
{
    return claim->set;
}
