/* SPDX-License-Identifier: MIT */
/* The life of masters and workers: they join, receive the job, run it, and leave. */
#pragma once

#include "common/job/startup.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

struct participant {
    enum role role;
    bool has_threads;
    /* The ticket of the set that a master joins as a pod, and how long it waits for the set. The ticket is borrowed;
     * NULL: it joins no set. */
    const char *ticket;
    uint64_t patience_ns;
    /* Runs the job with command line word[words]. Returns the exit status. */
    int (*run)(void *context, struct runtime *runtime, unsigned words, char *const *word);
    void *context;
};

/* `startup` has read the command line; participate() releases it. Returns the exit status. */
int participate(const struct participant *participant, struct startup *startup, int argc, char **argv);
