/* SPDX-License-Identifier: MIT */
/* A worker's claim on resources of its node, which the workers there share.
 *
 * Claims are granted in the order in which they are made. A waiting claim reserves what it waits for. A later claim may
 * be granted earlier, but only from resources that no waiting claim reserves. Resources become free after the worker
 * has released them, or after the worker's process has ended in any way. No function blocks. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/needs.h"

#include <stdbool.h>
#include <stdint.h>

#define CLAIM_PATH_MAX 96

enum claim_state { CLAIM_NONE, CLAIM_WAITING, CLAIM_GRANTED };

struct claim {
    char path[CLAIM_PATH_MAX];
    int file;
    int set;
    int changes; /* inotify descriptor that reports the end of other claims; -1: none, so the timer runs faster */
    int timer;
    int watch;
    bool is_watching;
    unsigned number;
    struct needs has;
    enum claim_state state;
    struct needs needs;
    uint64_t ticket;
    uint64_t gpus;
    char *records;
};

/* Returns the path of a file. The workers of this run or set use it to share this node. The path depends on the cores,
 * GPUs and batch job of the launch, and on `any_core`. */
const char *claim_path(bool any_core, char path[CLAIM_PATH_MAX]);

/* Joins the workers that share the file. The last worker to leave removes the file. On failure nothing is owned. */
int claim_init(struct claim *claim, const char *path, const struct needs *has, struct error *error);
void claim_fini(struct claim *claim);

/* Removes the file if no worker uses it. Returns true if the file is gone. The guard calls this, so it must not
 * allocate memory or lock a mutex. */
bool claim_clear(const char *path);

int claim_begin(struct claim *claim, const struct needs *needs, struct error *error);

/* Returns 1: granted; 0: waiting; -1: error. */
int claim_advance(struct claim *claim, struct error *error);

void claim_end(struct claim *claim);

static inline int claim_descriptor(const struct claim *claim)
{
    return claim->set;
}
