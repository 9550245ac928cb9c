/* SPDX-License-Identifier: MIT */
/* The part of its node's resources that a task has. Where tasks need nothing, nothing is shared and nothing waits. */
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
    struct needs needs;                      /* of the task at hand */
    char (*settings)[ALLOTMENT_SETTING_MAX]; /* owned */
    char threads[40];
};

/* `path`: of claim_path(). `any_core`: see resources_init(). -1 with one line, and nothing owned. */
int allotment_init(struct allotment *allotment, const struct needs_source *source, const char *path, bool any_core,
                   struct error *error);
void allotment_fini(struct allotment *allotment);

/* Asks for what the task at hand needs. An enum allotment_result, with one line where it is ALLOTMENT_REFUSED, or -1
 * with one line. */
int allotment_begin(struct allotment *allotment, const struct tasks *tasks, struct error *error);

/* Asks again, when the descriptor of the claim is readable. */
int allotment_advance(struct allotment *allotment, struct error *error);

/* The task has ended. */
void allotment_end(struct allotment *allotment);

/* Tells the task what it has, by ALLOTMENT_SETTINGS variables at most. */
void allotment_tell(struct allotment *allotment, struct environment *environment);

/* Bytes of memory that the task at hand may have; 0: as many as there are. */
static inline uint64_t allotment_memory(const struct allotment *allotment)
{
    return allotment->is_used ? allotment->needs.amount[NEED_MEMORY] : 0;
}
