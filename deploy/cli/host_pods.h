/* SPDX-License-Identifier: MIT */
/* A run with one pod per host, `hdss run --hosts a,b,c`: the supermaster is launched here, and an agent (ssh, or srun
 * in a Slurm job) starts `hdss join` with the workers of each host. The loss of a host costs what the loss of a master
 * costs, with any MPI library. Pods start concurrently with the supermaster and wait for the ticket on standard input,
 * where other users cannot see it. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Host of an address that means all interfaces. */
#define HOST_PODS_ANYWHERE "[::]"

struct host_pod {
    const struct host *host; /* in the plan */
    unsigned first_worker;   /* index among all workers, for list options */
    pid_t agent;             /* 0: none, or reaped */
    int input;               /* its standard input, for the ticket; closed when the launch ends; -1: none */
};

struct host_pods {
    const struct launch_plan *plan;  /* borrowed */
    const struct launch *how;        /* borrowed */
    const struct launch_side *other; /* work of the caller; borrowed; NULL: none */
    struct launch_side side;
    struct host_pod *pods; /* [plan->line_up.pod_hosts.count]; owned */
    char hdss[PATH_MAX];   /* path of the program, which is the same on each host */
    struct stat earlier;   /* status of the ticket file before the launch */
    bool is_delivered;     /* all agents have the ticket */
    bool is_over;
    bool may_have_joined;  /* an agent runs, or has ended like one whose pod had joined */
    bool waits_for_others; /* no agent is left and others may join; this was printed */
    int64_t
        deserted_ms; /* time since when there is no agent; 0: there are some; -1: the launch is to end because of it */
};

/* True if hosts become pods by default (SEVERAL HOSTS in hdss-run(1)): the user or Slurm names several, and neither the
 * job nor an option requires a single launch. The loop must be described if possible. */
bool host_pods_are_default(struct launch_plan *launch_plan);

/* Moves the hosts of the plan to its pods, deals the workers to them, and leaves the supermaster to launch. */
int host_pods_plan(struct launch_plan *launch_plan, struct error *error);

/* Prepares the agents, which start with each launch that has the side. */
int host_pods_init(struct host_pods *pods, const struct launch_plan *launch_plan, struct launch *how,
                   struct error *error);

/* Prints the line of each pod. */
void host_pods_show(const struct host_pods *pods, FILE *to);

/* After a launch: waits for the agents and kills those that do not end. */
void host_pods_wait(struct host_pods *pods);

/* True if the launch was ended because no pod was left. */
bool host_pods_are_deserted(const struct host_pods *pods);

void host_pods_fini(struct host_pods *pods);
