/* SPDX-License-Identifier: MIT */
/* The link of a rank to the others, for any number of jobs. It receives messages and passes them to the driver of their
 * job, lets one driver at a time compute, and waits for all. runtime_drive() is a link with one driver. */
#pragma once

#include "common/mpi/runtime.h"

#include <stdbool.h>
#include <stdint.h>

struct driver;
struct link;

/* Pointers are borrowed until link_remove(). */
struct part_of_job {
    uint32_t job; /* greater than the numbers of all earlier jobs */
    unsigned weight;
    int priority; /* of the jobs that have a chunk on this rank, those with the highest priority compute */
    const struct machine *machine;
    const struct effects *effects;
    bool exchanges;
    bool are_tasks;      /* for a worker: an iteration may take hours, in which other jobs wait for the core */
    const char *failure; /* an error that the machine gets instead of EVENT_START, or NULL */
};

/* Opens the link of a rank after grouping. On failure prints why and returns NULL; the run then ends. */
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
    /* Called after a job was announced to this rank and the announcement was forwarded. The callee may add the job. The
     * bytes are valid during the call. */
    void (*announced)(void *context, uint32_t job, const unsigned char *bytes, size_t size);
    /* For a supermaster that accepts pods, otherwise NULL. reserve() makes room in all jobs for a pod with this many
     * workers (-1: out of memory). joined() adds the pod to the topologies of all jobs and calls driver_tell_joined();
     * leaving() calls driver_tell_leaving(). */
    int (*reserve)(void *context, unsigned workers);
    void (*joined)(void *context, const struct link_pod *pod);
    void (*leaving)(void *context, unsigned first_rank, bool now);
    /* Called if a signal has asked this rank to drain, before the jobs are told. May be NULL. */
    void (*asked)(void *context);
};

/* Makes this the link of a set: jobs are announced and added while it is open, messages may arrive before their job,
 * and the end of a job does not end the ranks. Copies the source. */
void link_expect_jobs(struct link *link, const struct job_source *source);

/* How long a job may keep the core while others of its priority wait. */
#define LINK_KEEPS_NS 10000000u
void link_keep_for(struct link *link, uint64_t ns);

/* For the supermaster of a set: announces a job to all ranks of the launch and, if `is_for_pods`, to present and future
 * pods. The number must exceed all earlier ones. Keeps a copy of the bytes, at most ANNOUNCEMENT_MAX, until
 * link_remove(). -1: out of memory, nothing was announced. */
int link_announce(struct link *link, uint32_t job, const unsigned char *bytes, size_t size, bool is_for_pods);

void link_end(struct link *link);

bool link_is_over(const struct link *link);

/* For the supermaster of a set: makes a pod leave, at once if `now`. Returns false if the pod is not there. */
bool link_send_away(struct link *link, unsigned rank, bool now);

/* Describes the present pod number `place`, counted from 0. Returns false if fewer pods are present. */
bool link_tell_pod(const struct link *link, size_t place, struct link_pod *pod);

/* Leaves out pods that are leaving. -1: out of memory. */
struct topology;
int link_append_pods(const struct link *link, struct topology *topology);

bool link_has_worker(const struct link *link);

/* Adds a job and starts its machine. If memory runs out, prints that and returns NULL; the run then ends. */
struct driver *link_add(struct link *link, const struct part_of_job *part);

void link_turn(struct link *link);

bool driver_goes_on(const struct driver *driver);

void driver_drain(struct driver *driver, bool now);

void driver_tell_joined(struct driver *driver);

void driver_tell_leaving(struct driver *driver, unsigned master, bool now);

void driver_tell_more(struct driver *driver);

/* driver_goes_on() must be false. Returns the status of the job's machine. */
int link_remove(struct link *link, struct driver *driver);

uint64_t driver_used_ns(const struct driver *driver);
