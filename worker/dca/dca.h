/* SPDX-License-Identifier: MIT */
/* The parts of a flat run, for its own files only: the ranks, the executor, and how they share the loop. */
#pragma once

#include "common/config/dca_options.h"
#include "common/dca/share.h"
#include "common/job/root.h"
#include "common/mpi/wait.h"
#include "common/os/load.h"
#include "proto/message.h"
#include "worker/exec/inline.h"

/* The statistics of a rank at the end. */
struct dca_figures {
    uint64_t iterations, chunks, refills, compute_ns, digest, messages, bytes, recalls, recalled;
    uint64_t first_ns, finish_ns; /* times since the common start; NEVER without a chunk */
    double power;
    double load_sum;        /* sum of the loads by which its chunks were cut, with weighting acp */
    struct threads sharing; /* cores, workers and processor time, as in THREADS */
};

struct dca {
    struct root root;
    struct dca_options options;
    struct runtime *runtime;
    const struct topology *topology;
    unsigned rank, ranks;
    struct share share;
    double *given_speeds; /* [ranks], rank 0, owned; NULL where they are measured */
    double *powers;       /* [ranks], owned; NULL where the technique takes none */
    bool core_ready;
    struct exec exec;
    bool exec_open;
    struct load_meter meter; /* with weighting acp */
    struct wait wait;
    struct wait_work work; /* the kernel's */
    uint64_t start_ns;
    uint64_t waited_ns;         /* for the running chunk, where the technique learns */
    uint64_t looked_compute_ns; /* computed since the last look at the clock */
    unsigned looked_chunks;
    uint64_t next_tick_ns;
    bool serves;   /* other ranks need this rank while it computes */
    bool stopping; /* stop() was called here */
    bool failed;   /* with root.error */
    struct dca_figures figures;
};

/* Ends the run here with root.error, and for all. */
void dca_fail(struct dca *dca);

/* Tells the transport of this rank, and of its way to wait: after runtime_group(). */
void dca_begin_sharing(struct dca *dca, const struct transport *transport);
/* Opens the transport. Collective. -1 with one line. */
int dca_open_transport(struct dca *dca);

/* Tells the executor that the following call may take a while and is not the kernel's. */
static inline void dca_pause(struct dca *dca)
{
    dca->figures.compute_ns += exec_pause(&dca->exec);
}
