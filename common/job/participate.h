/* SPDX-License-Identifier: MIT */
/* The life of masters and workers: they join, receive the job, run it, and leave. */
#pragma once

#include "common/job/startup.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

struct participant {
    enum role role;
    bool has_threads;
    /* For a master that joins a set as a pod: the ticket of the set, and how long the master tries to join. The
     * ticket is borrowed; NULL: the process joins no set. */
    const char *ticket;
    uint64_t patience_ns;
    /* Runs the job whose command line is word[words]. Returns the exit status. */
    int (*run)(void *context, struct runtime *runtime, unsigned words, char *const *word);
    void *context;
};

/* Returns the exit status. participate() releases `startup`, which startup_take() has filled. */
int participate(const struct participant *participant, struct startup *startup, int argc, char **argv);
