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
    int priority;    /* of the jobs that have a chunk here those of the highest one compute */
    const struct machine *machine;
    const struct effects *effects;
    bool exchanges;      /* a worker's: exchanges boundary data with other workers, and runs beside no other such job */
    const char *failure; /* NULL, or a line that the machine is told instead of to start */
};

/* Opens the link of a rank whose ranks are grouped. NULL where that cannot be: it has been said, and the run ends. */
struct link *link_open(struct runtime *runtime);
void link_close(struct link *link);

/* A pod, as those are told of it who ask, and those whom it joins. */
struct link_pod {
    unsigned first_rank, workers, cores;
    unsigned node_rank; /* by which its node is known, for topology_append() */
    const char *name;   /* of its node; borrowed until the next turn */
    bool is_leaving;
};

/* Who adds the jobs of a set. */
struct job_source {
    void *context;
    /* A job was announced; the ranks below know it already. The bytes are borrowed for the call, in which the job may
     * be added. */
    void (*announced)(void *context, uint32_t job, const unsigned char *bytes, size_t size);
    /* For a supermaster that pods may join; NULL: none may. reserve() has all jobs make room for a pod with so many
     * workers; -1 when memory is out. joined() has it in the topologies of all jobs, and tells their drivers, by
     * driver_tell_joined(); leaving() tells them, by driver_tell_leaving(), that it is to leave. */
    int (*reserve)(void *context, unsigned workers);
    void (*joined)(void *context, const struct link_pod *pod);
    void (*leaving)(void *context, unsigned first_rank, bool now);
    /* A signal has asked this rank to drain: called before its jobs are told; may be NULL. */
    void (*asked)(void *context);
};

/* Says that this is the link of a set: jobs are announced and added while it is open, messages may come before their
 * job, and the end of one is not the end of the ranks. The source is copied. */
void link_expect_jobs(struct link *link, const struct job_source *source);

/* Says for how long a job may have the core while others of its priority wait for it. LINK_KEEPS_NS by itself. */
#define LINK_KEEPS_NS 10000000u
void link_keep_for(struct link *link, uint64_t ns);

/* For the supermaster of a set: announces a job, whose number is above those of all before, to all ranks of the launch,
 * and, where it `is_for_pods`, to the pods that are there and that come. The link has a copy of the bytes, at most
 * ANNOUNCEMENT_MAX, until link_remove() of the job. -1 when memory is out: nobody knows of the job. */
int link_announce(struct link *link, uint32_t job, const unsigned char *bytes, size_t size, bool is_for_pods);

/* For the supermaster of a set: tells all ranks that no further job comes. Nothing where that is told already. */
void link_end(struct link *link);

/* True where no further job comes to this rank, none is left on it, and what it has said of jobs is gone. */
bool link_is_over(const struct link *link);

/* For the supermaster of a set: has a pod leave, which is found by any of its ranks; `now`: nor is what runs to be
 * finished. False where it is not there. */
bool link_send_away(struct link *link, unsigned rank, bool now);

/* Tells of the pod at that place, from 0, among those that are there. False where there is none. */
bool link_tell_pod(const struct link *link, size_t place, struct link_pod *pod);

/* For the supermaster of a set: appends to a topology of the launch the pods that are there and do not leave. -1 when
 * memory is out. */
struct topology;
int link_append_pods(const struct link *link, struct topology *topology);

/* False where this rank knows that all workers are lost. */
bool link_has_worker(const struct link *link);

/* Adds a job, and has its machine start. NULL when memory is out: it has been said, and the run ends. */
struct driver *link_add(struct link *link, const struct part_of_job *part);

/* Does once what is to be done, or waits. */
void link_turn(struct link *link);

/* True until the machine has exited and its last messages are gone. */
bool driver_goes_on(const struct driver *driver);

/* Asks one job to drain, as a signal asks all of them; `now`: nor is what runs to be finished. */
void driver_drain(struct driver *driver, bool now);

/* Tells the machine of a job, whose topology has a master more than before, with its workers. */
void driver_tell_joined(struct driver *driver);

/* Tells the machine of a job that a master which has joined is to leave with its workers; `now`: nor is what runs to be
 * finished. */
void driver_tell_leaving(struct driver *driver, unsigned master, bool now);

/* Tells the machine of a job that somebody has made its loop longer, or complete. */
void driver_tell_more(struct driver *driver);

/* Takes a job out that does not go on. Returns the status of its machine. */
int link_remove(struct link *link, struct driver *driver);

/* Time that the job has computed beside others, in nanoseconds. */
uint64_t driver_used_ns(const struct driver *driver);
