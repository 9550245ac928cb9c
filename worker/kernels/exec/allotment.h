/* SPDX-License-Identifier: MIT */
/* The part of its node's resources that a task gets. If tasks need nothing, nothing is shared. */
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
    bool is_used; /* tasks need something */
    struct resources resources;
    struct claim claim;
    struct needs needs;                      /* of the current task */
    char (*settings)[ALLOTMENT_SETTING_MAX]; /* cores, memory, GPUs by three names, threads; owned */
};

/* `path`: from claim_path(). `any_core`: see resources_init(). On failure nothing is owned. */
int allotment_init(struct allotment *allotment, const struct needs_source *source, const char *path, bool any_core,
                   struct error *error);
void allotment_fini(struct allotment *allotment);

/* Requests what the current task needs. Returns an enum allotment_result, with an error for ALLOTMENT_REFUSED, or
 * -1. */
int allotment_begin(struct allotment *allotment, const struct tasks *tasks, struct error *error);

/* Tries again when the claim's descriptor is readable. */
int allotment_advance(struct allotment *allotment, struct error *error);

void allotment_end(struct allotment *allotment);

/* Sets variables that tell the task what it has, at most ALLOTMENT_SETTINGS. */
void allotment_tell(struct allotment *allotment, struct environment *environment);

/* Memory limit of the current task in bytes; 0: none. */
static inline uint64_t allotment_memory(const struct allotment *allotment)
{
    return allotment->is_used ? allotment->needs.amount[NEED_MEMORY] : 0;
}
