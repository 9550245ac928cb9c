/* SPDX-License-Identifier: MIT */
/* The link of a rank to the others: all that it has once, however many jobs it works at. It receives messages and hands
 * each to the driver of its job, lets one driver at a time compute, and waits for all of them. runtime_drive() is a
 * link with one driver. */
#pragma once

#include "common/mpi/runtime.h"

#include <stdbool.h>
#include <stdint.h>

struct driver;
struct link;

/* The part of a job that a rank plays. All that is pointed to is borrowed until link_remove(). */
struct part_of_job {
    uint32_t job;    /* above those of all jobs before it */
    unsigned weight; /* share of the time for computing, over those of the other jobs; at least 1 */
    const struct machine *machine;
    const struct effects *effects;
    const char *failure; /* NULL, or a line that the machine is told instead of to start */
};

/* Opens the link of a rank whose ranks are grouped; `exchanges`: a job may exchange boundary data. NULL where that
 * cannot be: it has been said, and the run ends. */
struct link *link_open(struct runtime *runtime, bool exchanges);
void link_close(struct link *link);

/* Says that jobs are added while the link is open: messages may come before their job, and the end of one is not the
 * end of the ranks. */
void link_expect_jobs(struct link *link);

/* Adds a job, and has its machine start. NULL when memory is out: it has been said, and the run ends. */
struct driver *link_add(struct link *link, const struct part_of_job *part);

/* Does once what is to be done, or waits. */
void link_turn(struct link *link);

/* True until the machine has exited and its last messages are gone. */
bool driver_goes_on(const struct driver *driver);

/* Takes a job out that does not go on. Returns the status of its machine. */
int link_remove(struct link *link, struct driver *driver);

/* Time that the job has computed beside others, in nanoseconds. */
uint64_t driver_used_ns(const struct driver *driver);
