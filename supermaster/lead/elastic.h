/* SPDX-License-Identifier: MIT */
/* A run that pods can join. Its ranks form a set with a single job, so pods work in the same way as in a set. Messages
 * and files are those of a plain run. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "supermaster/lead/job.h"
#include "supermaster/lead/pods_door.h"

struct driver;

struct elastic {
    struct led_job *led;
    struct runtime *runtime;
    struct topology topology;
    struct pods_door door;
    struct link *link; /* owned; NULL before the run begins and after it has ended */
    struct driver *driver;
    unsigned unfit;
};

/* Prepares the job for the ranks of `launch` and for pods, and starts listening for pods. Prints errors and returns an
 * exit status. `led` is borrowed as long as `elastic` exists. */
int elastic_prepare(struct elastic *elastic, struct led_job *led, struct runtime *runtime,
                    const struct topology *launch);

/* Tells all ranks whether the run takes place. If the run does not take place, returns false, and the caller must leave
 * with `*status`. */
bool elastic_share(struct elastic *elastic, int *status);

int elastic_drive(struct elastic *elastic);

bool elastic_send_away(struct elastic *elastic, unsigned rank, bool now);

void elastic_close(struct elastic *elastic);

void elastic_fini(struct elastic *elastic);
