/* SPDX-License-Identifier: MIT */
/* A prepared job: its command line is parsed, its kernel is found, the parameters are checked, and the loop is
 * described. Every rank prepares the same job from the same command line. */
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
    bool is_described; /* `kernel` was made from `description` and was not loaded: see job_setup_take() */
    struct description description;
    uint64_t first, count;
    uint64_t step_iterations;
    bool min_chunk_raised;
    uint64_t record_bytes; /* size of the result of an iteration, or RECORD_VARIABLE */
    bool collect;          /* true: results are written to an output; false: results are only added to the checksum */
};

static inline bool job_setup_has_dependent_steps(const struct job_setup *setup)
{
    return setup->loop.steps > 1 && setup->kernel->step != NULL;
}

static inline bool job_setup_is_dependent(const struct job_setup *setup)
{
    return setup->loop.sync > 0;
}

/* True if the iterations keep the worker's core busy: they neither sleep nor wait for other processes. */
static inline bool job_setup_computes(const struct job_setup *setup)
{
    return !setup->loop.waits && setup->kernel->descriptor == NULL;
}

/* True if each worker runs the kernel in a helper process. This requires that a helper can run the kernel. It also
 * requires --isolate on, or a user's kernel and --isolate auto. */
bool job_setup_is_isolated(const struct job_setup *setup);

/* Fails if the job cannot run in a set. The ranks of a set are already grouped and serve several jobs. In a set a
 * worker with several threads needs a helper. */
int job_setup_check_for_set(const struct job_setup *setup, struct error *error);

unsigned job_setup_grouping(const struct job_setup *setup);

int job_setup_check_for_pods(const struct job_setup *setup, struct error *error);

bool job_setup_is_foreign(const struct job_setup *setup);

uint64_t job_setup_sync_points(const struct job_setup *setup, unsigned workers);

/* Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1. The set-up borrows from argv. */
int job_setup_make(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);

/* Like job_setup_make(), for a rank that does not run the kernel. If the command line contains a description of the
 * loop, the kernel is not loaded. Then `kernel` has no parameters, and its functions must not be called.
 * job_setup_fini() frees the set-up. */
int job_setup_take(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);

void job_setup_fini(struct job_setup *setup);

/* The two halves of job_setup_make(). job_setup_read() parses the command line and finds the kernel.
 * job_setup_describe() describes the loop; the kernel may read files to do that. */
int job_setup_read(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);
int job_setup_describe(struct job_setup *setup, struct error *error);

/* Sets `*inputs` to the digest of the input files. The digest must be equal on all ranks. If the loop grows and the
 * kernel has inputs(), the digest covers only the inputs that all iterations share. */
int job_setup_inputs(const struct job_setup *setup, uint64_t *inputs, struct error *error);

/* Sets `*speeds` to the speeds that --power gives for the workers with these ranks, or to NULL if the speeds are
 * measured. The caller frees `*speeds`, also on failure. */
int job_setup_read_speeds(const struct job_setup *setup, const unsigned *ranks, unsigned workers, double **speeds,
                          struct error *error);
