/* SPDX-License-Identifier: MIT */
/* Internal interface of a flat run: its ranks, executor and shared loop. */
#pragma once

#include "common/config/dca_options.h"
#include "common/dca/share.h"
#include "common/job/root.h"
#include "common/mpi/wait.h"
#include "common/os/load.h"
#include "proto/message.h"
#include "worker/exec/inline.h"

/* Statistics of a rank at the end. */
struct dca_figures {
    uint64_t iterations, chunks, refills, compute_ns, digest, messages, bytes, recalls, recalled;
    uint64_t first_ns, finish_ns; /* since the common start; NEVER without a chunk */
    double power;
    double load_sum;        /* sum of the loads by which its chunks were cut, with --weighting acp */
    struct threads sharing; /* cores, workers and processor time, as in THREADS */
};

struct dca {
    struct root root;
    struct dca_options options;
    struct runtime *runtime;
    const struct topology *topology;
    unsigned rank, ranks;
    struct share share;
    double *given_speeds; /* [ranks], rank 0, owned; NULL: measured */
    double *powers;       /* [ranks], owned; NULL if the technique uses none */
    bool core_ready;
    struct exec exec;
    bool exec_open;
    struct load_meter meter; /* with --weighting acp */
    struct wait wait;
    struct wait_work work; /* the kernel's */
    uint64_t start_ns;
    uint64_t waited_ns;         /* before the running chunk, if the technique learns */
    uint64_t looked_compute_ns; /* compute time since the clock was last read */
    unsigned looked_chunks;
    uint64_t next_tick_ns;
    bool serves;   /* other ranks need this rank while it computes */
    bool stopping; /* stop() was called here */
    bool failed;   /* with root.error */
    struct dca_figures figures;
};

/* Initialises the transport's view of this rank; call after runtime_group(). */
void dca_begin_sharing(struct dca *dca, const struct transport *transport);
/* Opens the transport; collective. */
int dca_open_transport(struct dca *dca);

/* Tells the executor that the following call does not belong to the kernel and may take a while. */
static inline void dca_pause(struct dca *dca)
{
    dca->figures.compute_ns += exec_pause(&dca->exec);
}
