/* SPDX-License-Identifier: MIT */
/* A run that pods can join. Its ranks form a set with one job, so pods work as in a set; messages and files are those
 * of a plain run. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "supermaster/lead/job.h"
#include "supermaster/lead/pods_door.h"

struct driver;

struct elastic {
    struct led_job *led;
    struct runtime *runtime;
    struct topology topology; /* of the launch and of all pods so far; owned */
    struct pods_door door;
    struct link *link; /* owned; NULL before and after the run */
    struct driver *driver;
    unsigned unfit; /* how many pods were told to leave because they cannot take part */
};

/* Prepares the job for pods and for the ranks of the launch, which are grouped, and starts listening. Returns an exit
 * status; errors are printed. The job is borrowed for the life of `elastic`. */
int elastic_prepare(struct elastic *elastic, struct led_job *led, struct runtime *runtime,
                    const struct topology *launch);

/* Tells all ranks whether the run takes place. If it does not, returns false, and all leave with `*status`. */
bool elastic_share(struct elastic *elastic, int *status);

/* Runs the job and ends all ranks. Returns the status of the machine. */
int elastic_drive(struct elastic *elastic);

/* Makes a pod leave. False if it is not there. */
bool elastic_send_away(struct elastic *elastic, unsigned rank, bool now);

/* Stops listening and removes the ticket; no effect if not listening. */
void elastic_close(struct elastic *elastic);

void elastic_fini(struct elastic *elastic);
