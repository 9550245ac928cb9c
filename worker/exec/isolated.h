/* SPDX-License-Identifier: MIT */
/* Runs iterations that have killed workers in a child process, one after the other. The child writes records and
 * progress to shared memory; if it dies the running iteration is to blame, and the next child continues after it.
 * Variable output comes through a file in memory, with one iteration per child. The child has a copy of the kernel's
 * instance, so nothing it does affects the worker. */
#pragma once

#include "hdss/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct isolated_share;

struct isolated {
    bool wanted;
    struct isolated_share *share;
    size_t share_bytes;
    pid_t child;
    int end;        /* read end of a pipe that is closed when the child ends */
    int block;      /* memory file for a block of variable output; 0: none */
    uint64_t taken; /* iterations taken over from this child */
};

struct isolated_job {
    const struct hdss_kernel *kernel;
    void *instance;
    uint64_t first, count;           /* count at least 1 */
    uint64_t record_bytes, capacity; /* count is at most capacity */
    struct output *output;           /* for variable output, with count 1; NULL: records */
    const struct hdss_loop *loop;
};

/* Starts a child for the job or continues with the running one, waits for one turn, and copies finished records;
 * returns their number, which the caller adds to `first` of the next job. `*failed`: the following iteration has failed
 * with `error`; `*final`: it killed the child. */
uint64_t isolated_turn(struct isolated *isolated, const struct isolated_job *job, void *records, bool *failed,
                       bool *final, char error[HDSS_ERROR_MAX]);

/* Number of iterations that the running child may have begun and that were not taken over. */
uint64_t isolated_begun(const struct isolated *isolated);

void isolated_fini(struct isolated *isolated);
