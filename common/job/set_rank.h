/* SPDX-License-Identifier: MIT */
/* The life of a master or worker of a set: jobs are announced to it and end while it is there. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

/* What this rank has of each job. */
struct set_role {
    void *context;
    /* Takes a job, and says what the link is to drive: number, weight and priority are set. What is wrong with the job
     * here is its failure. The announcement becomes the part's. NULL when memory is out: the rank ends, and the set. */
    void *(*take)(void *context, struct runtime *runtime, const struct topology *topology,
                  struct announcement *announcement, struct part_of_job *of_job);
    /* The machine has exited with `status`. */
    void (*end)(void *part, int status);
};

/* Groups the ranks as the words of the set say, and serves jobs until the set is over. Returns the exit status. */
int set_rank_run(struct runtime *runtime, unsigned words, char *const *word, const struct set_role *role);
