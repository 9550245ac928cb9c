/* SPDX-License-Identifier: MIT */
/* Runs iterations that have killed workers in a child process, one after the other. The child writes records and
 * progress to shared memory. If it dies the running iteration is to blame, and the next child continues after it.
 * Variable output comes through a memory file, with one iteration for each child. The child has a copy of the kernel's
 * instance, so nothing that it does affects the worker. */
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
    int end;
    int block;
    uint64_t taken;
};

struct isolated_job {
    const struct hdss_kernel *kernel;
    void *instance;
    uint64_t first, count;
    uint64_t record_bytes, capacity;
    struct output *output; /* for variable output, with count 1; NULL: records */
    const struct hdss_loop *loop;
};

/* Starts a child for the job, or continues with the running one, and waits for one turn. Copies finished records and
 * returns their number, which the caller adds to `first` of the next job. `*failed`: the iteration after them has
 * failed with `error`; `*final`: it has killed the child. */
uint64_t isolated_turn(struct isolated *isolated, const struct isolated_job *job, void *records, bool *failed,
                       bool *final, char error[HDSS_ERROR_MAX]);

uint64_t isolated_begun(const struct isolated *isolated);

void isolated_fini(struct isolated *isolated);
