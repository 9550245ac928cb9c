/* SPDX-License-Identifier: MIT */
/* The life of a master or worker of a set. Jobs are announced to the rank while the set runs. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

struct set_role {
    void *context;
    /* Returns this rank's part of a job, which owns the announcement. Fills in `of_job` for the link, except the
     * number, weight and priority of the job. If the job is invalid, a part is returned all the same, and it reports
     * the failure. Returns NULL if memory runs out; this ends the rank and the set. */
    void *(*take)(void *context, struct runtime *runtime, const struct topology *topology,
                  struct announcement *announcement, struct part_of_job *of_job);
    void (*end)(void *part, int status);
};

/* Groups the ranks as the command line of the set (word[words]) says, and serves jobs until the set ends. Returns
 * the exit status. */
int set_rank_run(struct runtime *runtime, unsigned words, char *const *word, const struct set_role *role);
