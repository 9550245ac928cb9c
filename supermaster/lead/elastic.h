/* SPDX-License-Identifier: MIT */
/* A run that pods can join. Its ranks are those of a set that has one job, so that all that a set can do with pods a
 * run can do, too; all that is said of the job, and what becomes of its files, is the run's. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "supermaster/lead/job.h"
#include "supermaster/lead/pods_door.h"

struct driver;

struct elastic {
    struct led_job *led;
    struct runtime *runtime;
    struct topology topology; /* of the launch and of the pods that are there, or have been; owned */
    struct pods_door door;
    struct link *link;     /* while the run goes on; owned */
    struct driver *driver; /* the link's, while the job goes on */
    unsigned unfit;        /* pods that cannot take part, and have been sent away */
};

/* Makes the job ready for the ranks of the launch, which are grouped, and for pods, and opens the door to them. Returns
 * an exit status; what is wrong has been said. The job is borrowed for the life of `elastic`. */
int elastic_prepare(struct elastic *elastic, struct led_job *led, struct runtime *runtime,
                    const struct topology *launch);

/* Has all ranks know what they are part of, or that there is none. False where there is none: all leave with `*status`.
 */
bool elastic_share(struct elastic *elastic, int *status);

/* Runs the job, and has all ranks leave. Returns the status of the machine. */
int elastic_drive(struct elastic *elastic);

/* Has a pod leave. False where it is not there. */
bool elastic_send_away(struct elastic *elastic, unsigned rank, bool now);

/* Closes the door, and removes the ticket. Nothing where it is not open. */
void elastic_close(struct elastic *elastic);

/* Releases the topology, when nobody has it any more. */
void elastic_fini(struct elastic *elastic);
