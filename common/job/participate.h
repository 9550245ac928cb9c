/* SPDX-License-Identifier: MIT */
/* The common life of master and worker: they join, are given the job, run it, and leave. */
#pragma once

#include "common/job/startup.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

struct participant {
    enum role role;
    bool has_threads; /* see struct introduction */
    /* The ticket, borrowed, of the set that a master's launch joins as a pod, and for how long the set is waited for;
     * NULL: it joins none. */
    const char *ticket;
    uint64_t patience_ns;
    /* Runs the job; the words are its command line. Returns the exit status. */
    int (*run)(void *context, struct runtime *runtime, unsigned words, char *const *word);
    void *context;
};

/* Returns the exit status; `front` has taken the command line and is released. */
int participate(const struct participant *participant, struct startup *startup, int argc, char **argv);
