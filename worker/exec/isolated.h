/* SPDX-License-Identifier: MIT */
/* Runs iterations in a child process, because they may have killed a worker before. The child runs them one after the
 * other, and writes records and progress to shared memory. If the child dies, the iteration that it was running is
 * blamed. The next child continues after that iteration. If the output is variable, each child runs one iteration and
 * writes the output to a memory file. The child has a copy of the kernel's instance, so nothing that it does affects
 * the worker. */
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
    struct output *output; /* for variable output, with a `count` of 1; NULL: iterations yield records */
    const struct hdss_loop *loop;
};

/* Starts a child for the job, or continues with the running child, and waits for one turn. Copies the records of the
 * finished iterations to `records` and returns their number; the caller adds it to `first` of the next job. `*failed`:
 * the next iteration has failed with `error`. `*final`: that iteration has killed the child. */
uint64_t isolated_turn(struct isolated *isolated, const struct isolated_job *job, void *records, bool *failed,
                       bool *final, char error[HDSS_ERROR_MAX]);

uint64_t isolated_begun(const struct isolated *isolated);

void isolated_fini(struct isolated *isolated);
