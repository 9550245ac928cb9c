/* SPDX-License-Identifier: MIT */
/* The link of a rank to the other ranks. It serves any number of jobs: it receives messages and passes each to the
 * driver of its job, lets one driver at a time compute, and waits for events on behalf of all drivers. runtime_drive()
 * uses a link with one driver. */
#pragma once

#include "common/mpi/runtime.h"

#include <stdbool.h>
#include <stdint.h>

struct driver;
struct link;

/* What the link needs to drive a job. The pointers are borrowed until link_remove(). */
struct part_of_job {
    uint32_t job; /* number of the job, greater than the numbers of all earlier jobs */
    unsigned weight;
    int priority; /* if several jobs have a chunk on this rank, only those with the highest priority compute */
    const struct machine *machine;
    const struct effects *effects;
    bool exchanges;
    /* for a worker: the iterations are tasks, so one iteration may keep the core for hours while other jobs wait */
    bool are_tasks;
    /* error in the job, or NULL; if there is an error, the machine gets it in EVENT_FATAL instead of EVENT_START */
    const char *failure;
};

/* Opens the link of a rank, after runtime_group(). On failure prints the reason and returns NULL; the run then ends. */
struct link *link_open(struct runtime *runtime);
void link_close(struct link *link);

struct link_pod {
    unsigned first_rank, workers, cores;
    unsigned node_rank;
    const char *name; /* borrowed until the next turn */
    bool is_leaving;
};

struct job_source {
    void *context;
    /* Called after a job was announced to this rank, and this rank has forwarded the announcement. The function may add
     * the job. The bytes are valid during the call. */
    void (*announced)(void *context, uint32_t job, const unsigned char *bytes, size_t size);
    /* The next three functions are for a supermaster that accepts pods; for other ranks they are NULL. reserve() makes
     * room in all jobs for a pod with `workers` workers, and returns -1 if memory runs out. joined() adds the pod to
     * the topologies of all jobs and calls driver_tell_joined() for each job. leaving() calls driver_tell_leaving() for
     * each job. */
    int (*reserve)(void *context, unsigned workers);
    void (*joined)(void *context, const struct link_pod *pod);
    void (*leaving)(void *context, unsigned first_rank, bool now);
    /* Called after a signal has asked this rank to drain, but before its jobs are told. May be NULL. */
    void (*asked)(void *context);
};

/* Makes this the link of a set. While it is open, jobs are announced and added, and messages may arrive before their
 * job. The end of a job does not end the ranks. Copies the source. */
void link_expect_jobs(struct link *link, const struct job_source *source);

/* How long a job may keep the core while other jobs of the same priority wait. */
#define LINK_KEEPS_NS 10000000u
void link_keep_for(struct link *link, uint64_t ns);

/* For the supermaster of a set: announces a job to all ranks of the launch and, if `is_for_pods`, to present and future
 * pods. The job's number must be greater than all earlier numbers. Keeps a copy of the bytes, at most ANNOUNCEMENT_MAX,
 * until link_remove(). If memory runs out, announces nothing and returns -1. */
int link_announce(struct link *link, uint32_t job, const unsigned char *bytes, size_t size, bool is_for_pods);

void link_end(struct link *link);

bool link_is_over(const struct link *link);

/* For the supermaster of a set: makes a pod leave. If `now` is set, the pod does not finish its running iterations.
 * Returns false if there is no such pod. */
bool link_send_away(struct link *link, unsigned rank, bool now);

/* Describes present pod number `place`, counted from 0. Returns false if there are fewer pods. */
bool link_tell_pod(const struct link *link, size_t place, struct link_pod *pod);

/* Appends to the topology all pods that are not about to leave. Returns -1 if memory runs out. */
struct topology;
int link_append_pods(const struct link *link, struct topology *topology);

bool link_has_worker(const struct link *link);

/* Adds a job and starts its machine. If memory runs out, prints an error and returns NULL; the run then ends. */
struct driver *link_add(struct link *link, const struct part_of_job *part);

void link_turn(struct link *link);

bool driver_goes_on(const struct driver *driver);

void driver_drain(struct driver *driver, bool now);

void driver_tell_joined(struct driver *driver);

void driver_tell_leaving(struct driver *driver, unsigned master, bool now);

void driver_tell_more(struct driver *driver);

/* Removes a job; driver_goes_on() must be false. Returns the exit status of the job's machine. */
int link_remove(struct link *link, struct driver *driver);

uint64_t driver_used_ns(const struct driver *driver);
