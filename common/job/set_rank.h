/* SPDX-License-Identifier: MIT */
/* The life of a master or worker of a set: jobs are announced to it and end while it runs. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

struct set_role {
    void *context;
    /* Prepares this rank's part of a job and fills `of_job`, which has number, weight and priority, for the link. An
     * invalid job is reported as its failure. The part owns the announcement. NULL: out of memory, which ends the rank
     * and the set. */
    void *(*take)(void *context, struct runtime *runtime, const struct topology *topology,
                  struct announcement *announcement, struct part_of_job *of_job);
    void (*end)(void *part, int status);
};

/* Groups the ranks according to the set's words and serves jobs until the set ends. Returns the exit status. */
int set_rank_run(struct runtime *runtime, unsigned words, char *const *word, const struct set_role *role);
