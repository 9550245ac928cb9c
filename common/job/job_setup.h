/* SPDX-License-Identifier: MIT */
/* A job made ready: its command line parsed, its kernel found, the kernel's parameters checked, the loop known. Every
 * rank makes the same set-up from the same words. */
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
    bool is_described; /* the kernel is not loaded, and can only be asked about: see job_setup_take() */
    struct description description;
    uint64_t first, count;    /* the part of the loop that this job runs */
    uint64_t step_iterations; /* iterations of a time step */
    bool min_chunk_raised;    /* raised because an iteration needs more earlier ones */
    uint64_t record_bytes;    /* bytes of one iteration's result, or RECORD_VARIABLE */
    bool collect;             /* results go to an output; else they are digested where they are made */
};

/* True if each time step needs what the one before has yielded. */
static inline bool job_setup_has_dependent_steps(const struct job_setup *setup)
{
    return setup->loop.steps > 1 && setup->kernel->step != NULL;
}

/* True if iterations need those before them. */
static inline bool job_setup_is_dependent(const struct job_setup *setup)
{
    return setup->loop.sync > 0;
}

/* True where iterations keep the cores of their workers busy: not where they wait, or other processes do them. */
static inline bool job_setup_computes(const struct job_setup *setup)
{
    return !setup->loop.waits && setup->kernel->descriptor == NULL;
}

/* True if each worker is to have a helper run the kernel: where --isolate asks for it, and by default for a user's
 * kernel, if a helper can. */
bool job_setup_is_isolated(const struct job_setup *setup);

/* True where a helper can run the kernel, asked for or not. */
bool job_setup_can_be_isolated(const struct job_setup *setup);

/* Looks whether a set can have the job: its workers are grouped already, and its ranks work at several jobs in turn, so
 * that only a helper has threads. -1 with one line. */
int job_setup_check_for_set(const struct job_setup *setup, struct error *error);

/* How the ranks of a launch are grouped for the job, a set of enum topology_grouping. */
unsigned job_setup_grouping(const struct job_setup *setup);

/* Looks whether pods can join the job's run, whose ranks work as those of a set. -1 with one line. */
int job_setup_check_for_pods(const struct job_setup *setup, struct error *error);

/* True if the kernel is a user's: a shared object, or a function in Python. */
bool job_setup_is_foreign(const struct job_setup *setup);

/* Synchronization points of each chunk, where iterations need those before them. */
uint64_t job_setup_sync_points(const struct job_setup *setup, unsigned workers);

/* 0 when the set-up is complete; OPTIONS_HELP or OPTIONS_VERSION when the user asks for that instead; -1 with one line
 * in `error`. The set-up borrows from argv. */
int job_setup_make(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);

/* job_setup_make() for a rank that does not run the kernel: where the job has a description of the loop the kernel is
 * not loaded, none of its functions may be called, and its parameters are left out. The description lives until
 * job_setup_fini(). */
int job_setup_take(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);

/* Frees a description that job_setup_take() has read. */
void job_setup_fini(struct job_setup *setup);

/* The two halves of job_setup_make(): the words, the kernel and its parameters, and then the loop, of which the
 * kernel may look for files on this machine. */
int job_setup_read(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error);
int job_setup_describe(struct job_setup *setup, struct error *error);

/* The digest of input files in which all ranks must agree: of a list that grows that of its beginning. -1 with one
 * line.
 */
int job_setup_inputs(const struct job_setup *setup, uint64_t *inputs, struct error *error);

/* The speeds that --power gives, one for each of the ranks; NULL where they are measured. To be freed by the caller,
 * also after -1 (with one line). */
int job_setup_read_speeds(const struct job_setup *setup, const unsigned *ranks, unsigned workers, double **speeds,
                          struct error *error);
