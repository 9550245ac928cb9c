/* SPDX-License-Identifier: MIT */
/* A job made ready: its command line parsed, its kernel found, the kernel's parameters checked, the loop known. Every
 * rank makes the same plan from the same words. */
#pragma once

#include "common/config/job.h"
#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

struct plan {
    struct job job;
    const struct kernel_loader *loader;
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    uint64_t first, count;    /* the part of the loop that this job runs */
    uint64_t step_iterations; /* iterations of a time step */
    bool min_chunk_raised;    /* as an iteration needs more of those before it */
    uint64_t record_bytes;    /* of one iteration's result, or RECORD_VARIABLE */
    bool collect;             /* results go to an output; else they are digested where they are made */
};

/* Whether each time step needs what the one before has yielded. */
static inline bool plan_has_dependent_steps(const struct plan *plan)
{
    return plan->loop.steps > 1 && plan->kernel->step != NULL;
}

/* Whether iterations need those before them. */
static inline bool plan_is_dependent(const struct plan *plan)
{
    return plan->loop.sync > 0;
}

/* True where iterations keep the cores of their workers busy: not where they wait, or other processes do them. */
static inline bool plan_computes(const struct plan *plan)
{
    return !plan->loop.waits && plan->kernel->descriptor == NULL;
}

/* Synchronization points of each chunk, where iterations need those before them. */
uint64_t plan_sync_points(const struct plan *plan, unsigned workers);

/* 0 when the plan is complete; OPTIONS_HELP or OPTIONS_VERSION when the user asks for that instead; -1 with one line in
 * `error`. The plan borrows from argv. */
int plan_make(struct plan *plan, const struct kernel_loader *loader, int argc, char *const *argv, struct error *error);

/* Its two halves: the words, the kernel and its parameters, and then the loop, of which the kernel may look for files
 * on this machine. */
int plan_read(struct plan *plan, const struct kernel_loader *loader, int argc, char *const *argv, struct error *error);
int plan_describe(struct plan *plan, struct error *error);

/* The speeds that --power gives, one for each of the ranks; NULL where they are measured. To be freed by the caller,
 * also after -1 (with one line). */
int plan_read_speeds(const struct plan *plan, const unsigned *ranks, unsigned workers, double **speeds,
                     struct error *error);
