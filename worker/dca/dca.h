/* SPDX-License-Identifier: MIT */
/* Internal interface of the worker in a run without a supermaster (--dca): its rank, executor and shared loop. */
#pragma once

#include "common/config/dca_options.h"
#include "common/dca/share.h"
#include "common/job/root.h"
#include "common/mpi/wait.h"
#include "common/os/load.h"
#include "proto/message.h"
#include "worker/exec/inline.h"

struct dca_figures {
    uint64_t iterations, chunks, refills, compute_ns, digest, messages, bytes, recalls, recalled;
    /* when the first chunk began and the last one ended, counted from the common start; NEVER: this worker had no
     * chunk */
    uint64_t first_ns, finish_ns;
    double power;
    double load_sum;
    struct threads sharing;
};

struct dca {
    struct root root;
    struct dca_options options;
    struct runtime *runtime;
    const struct topology *topology;
    unsigned rank, ranks;
    struct share share;
    double *given_speeds;
    double *powers;
    bool core_ready;
    struct exec exec;
    bool exec_open;
    struct load_meter meter;
    struct wait wait;
    struct wait_work work;
    uint64_t start_ns;
    uint64_t waited_ns;
    uint64_t looked_compute_ns;
    unsigned looked_chunks;
    uint64_t next_tick_ns;
    bool serves;
    bool stopping;
    bool failed;
    struct dca_figures figures;
};

void dca_begin_sharing(struct dca *dca, const struct transport *transport);
int dca_open_transport(struct dca *dca);

/* Interrupts the timing of the kernel. Call it before work that is not the kernel's and may take a while. */
static inline void dca_pause(struct dca *dca)
{
    dca->figures.compute_ns += exec_pause(&dca->exec);
}
