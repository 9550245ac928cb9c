/* SPDX-License-Identifier: MIT */
/* Running iterations that have taken workers down: in a child process, one after the other. It writes the records and
 * how far it is to memory that both share; when it dies, the one that it was at is to blame, and the next child goes on
 * behind it. Variable output comes by way of a file in memory, of one iteration in each child. The child has a copy of
 * the kernel's instance, so that nothing it does reaches the worker. */
#pragma once

#include "hdss/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct isolated_share;

struct isolated {
    bool wanted;                  /* for the running chunk */
    struct isolated_share *share; /* mapped at the first use */
    size_t share_bytes;
    pid_t child;    /* 0: none */
    int end;        /* pipe that closes when the child ends */
    int block;      /* file in memory, for the block that the child makes; where it makes one */
    uint64_t taken; /* iterations of the child that were taken over */
};

/* The next iterations to be computed. */
struct isolated_job {
    const struct hdss_kernel *kernel;
    void *instance;
    uint64_t first, count;           /* count at least 1 */
    uint64_t record_bytes, capacity; /* count is never above capacity */
    struct output *output;           /* room for variable output: count is 1 then; NULL: the kernel has records */
    const struct hdss_loop *loop;    /* for `output` */
};

/* Begins a child for the job, or goes on with the one that runs, waits for it for a turn, and copies to `records` what
 * it has done meanwhile; returns how many iterations that are. The caller counts them, so that the next job begins
 * behind them. `*failed`: the iteration after them has not worked, `error` says why; `*final`: it ended the child. */
uint64_t isolated_turn(struct isolated *isolated, const struct isolated_job *job, void *records, bool *failed,
                       bool *final, char error[HDSS_ERROR_MAX]);

/* Iterations that the child that runs may have begun, and of which nothing was taken over. */
uint64_t isolated_begun(const struct isolated *isolated);

/* Ends the child, where there is one, and gives the memory back. */
void isolated_fini(struct isolated *isolated);
