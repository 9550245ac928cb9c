/* SPDX-License-Identifier: MIT */
/* Allotments. An allotment is the part of a node's resources that a task gets. If no task says what it needs, nothing
 * is allotted. */
#pragma once

#include "worker/kernels/exec/claim.h"
#include "worker/kernels/exec/environment.h"
#include "worker/kernels/exec/needs.h"
#include "worker/kernels/exec/resources.h"

#define ALLOTMENT_SETTINGS    6
#define ALLOTMENT_SETTING_MAX 3000

enum allotment_result { ALLOTMENT_WAITS, ALLOTMENT_THERE, ALLOTMENT_REFUSED };

struct allotment {
    struct needs_source source;
    bool is_used;
    struct resources resources;
    struct claim claim;
    struct needs needs;
    /* Environment variables of the task: cores, memory, threads, and the GPUs under three names. Owned. */
    char (*settings)[ALLOTMENT_SETTING_MAX];
};

/* `path` comes from claim_path(); `any_core` has the meaning that it has in resources_init(). On failure nothing is
 * owned. */
int allotment_init(struct allotment *allotment, const struct needs_source *source, const char *path, bool any_core,
                   struct error *error);
void allotment_fini(struct allotment *allotment);

/* Requests what the current task needs. Returns an enum allotment_result. If the task asks for the impossible, returns
 * ALLOTMENT_REFUSED and sets `error`. Returns -1 for an error that the task has not caused. */
int allotment_begin(struct allotment *allotment, const struct tasks *tasks, struct error *error);

int allotment_advance(struct allotment *allotment, struct error *error);

void allotment_end(struct allotment *allotment);

void allotment_tell(struct allotment *allotment, struct environment *environment);

/* The task's memory in bytes; 0: no limit. */
static inline uint64_t allotment_memory(const struct allotment *allotment)
{
    return allotment->is_used ? allotment->needs.amount[NEED_MEMORY] : 0;
}
