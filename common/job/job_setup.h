/* SPDX-License-Identifier: MIT */
/* A prepared job: command line parsed, kernel found, parameters checked, loop described. Every rank prepares the same
 * job from the same words. */
#pragma once

#include "common/config/description.h"
#include "common/config/job.h"
#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

struct job_setup {
    struct job job;
    const struct kernel_loader *loader;
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    bool is_described; /* the kernel is not loaded and only described: see job_setup_take() */
    struct description description;
    uint64_t first, count; /* the part of the loop that this job runs */
    uint64_t step_iterations;
    bool min_chunk_raised; /* the minimum chunk was raised to the distance of the dependencies */
    uint64_t record_bytes; /* bytes of a result, or RECORD_VARIABLE */
    bool collect;          /* results go to an output; otherwise workers only digest them */
};

/* True if each time step needs the results of the one before. */
static inline bool job_setup_has_dependent_steps(const struct job_setup *setup)
{
    return setup->loop.steps > 1 && setup->kernel->step != NULL;
}

static inline bool job_setup_is_dependent(const struct job_setup *setup)
{
    return setup->loop.sync > 0;
}

/* True if iterations keep the cores busy: they do not wait, and no other processes run them. */
static inline bool job_setup_computes(const struct job_setup *setup)
{
    return !setup->loop.waits && setup->kernel->descriptor == NULL;
}

/* True if a helper runs the kernel on each worker: with --isolate, and by default for user kernels if possible. */
bool job_setup_is_isolated(const struct job_setup *setup);

/* Checks that the job can run in a set, whose workers are grouped and serve several jobs: threads need a helper. */
int job_setup_check_for_set(const struct job_setup *setup, struct error *error);

/* Returns the grouping of the ranks, a set of enum topology_grouping. */
unsigned job_setup_grouping(const struct job_setup *setup);

int job_setup_check_for_pods(const struct job_setup *setup, struct error *error);

/* True for user kernels: a shared object, or a Python function. */
bool job_setup_is_foreign(const struct job_setup *setup);

/* Returns the synchronization points per chunk of a loop with dependencies. */
uint64_t job_setup_sync_points(const struct job_setup *setup, unsigned workers);

/* Prepares a job. Returns 0, or OPTIONS_HELP or OPTIONS_VERSION if requested, or -1. The set-up borrows from argv. */
int job_setup_make(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);

/* Like job_setup_make(), for a rank that does not run the kernel: if the job contains a description of the loop, the
 * kernel is not loaded, its functions must not be called, and its parameters are missing. job_setup_fini() frees the
 * set-up. */
int job_setup_take(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);

void job_setup_fini(struct job_setup *setup);

/* The halves of job_setup_make(): first words, kernel and parameters; then the loop, for which files may be read. */
int job_setup_read(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);
int job_setup_describe(struct job_setup *setup, struct error *error);

/* Sets the digest of the input files, which must be equal on all ranks. For a growing list it is that of its
 * beginning. */
int job_setup_inputs(const struct job_setup *setup, uint64_t *inputs, struct error *error);

/* Reads the speeds of --power, one per rank; NULL if they are measured. The caller frees them, also on failure. */
int job_setup_read_speeds(const struct job_setup *setup, const unsigned *ranks, unsigned workers, double **speeds,
                          struct error *error);
