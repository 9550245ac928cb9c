/* SPDX-License-Identifier: MIT */
/* The life of masters and workers: join, receive the job, run it, leave. */
#pragma once

#include "common/job/startup.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

struct participant {
    enum role role;
    bool has_threads; /* see struct introduction */
    /* Ticket of the set that a master joins as a pod, borrowed, and how long it waits for the set; NULL: it joins none.
     */
    const char *ticket;
    uint64_t patience_ns;
    /* Runs the job with command line word[words]. Returns the exit status. */
    int (*run)(void *context, struct runtime *runtime, unsigned words, char *const *word);
    void *context;
};

/* Returns the exit status. `startup` has taken the command line; participate() releases it. */
int participate(const struct participant *participant, struct startup *startup, int argc, char **argv);
