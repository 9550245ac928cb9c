/* SPDX-License-Identifier: MIT */
/* A run whose hosts are a pod each, `hdss run --hosts a,b,c`: the supermaster is launched here, and on each host
 * `hdss join` with the workers of that host, by an agent: ssh, or in a job of Slurm's srun. A host that is lost costs
 * what a lost master costs, whatever the MPI library would make of it. The pods start side by side, and beside the
 * supermaster; each waits for the ticket on its standard input, where nobody else sees it. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The host of an address that is open at all interfaces. */
#define HOST_PODS_ANYWHERE "[::]"

struct host_pod {
    const struct host *host; /* the plan's */
    unsigned first_worker;   /* among those of all hosts, for lists that have a value for each */
    pid_t agent;             /* 0: there is none, or it was waited for */
    int input; /* its standard input, by which it gets the ticket, and which ends with the launch; -1: there is none */
};

struct host_pods {
    const struct launch_plan *plan;  /* borrowed */
    const struct launch *how;        /* borrowed */
    const struct launch_side *other; /* work of the caller's own; borrowed; NULL: there is none */
    struct launch_side side;         /* for the launch */
    struct host_pod *pods;           /* [plan->line_up.pod_hosts.count]; owned */
    char hdss[PATH_MAX];             /* the program, which is at the same place on each host */
    struct stat earlier;             /* the file of the ticket before the launch, which leads elsewhere, if anywhere */
    bool is_delivered;               /* the ticket is with all agents */
    bool is_over;                    /* the launch has ended */
    bool may_have_joined;            /* some pod may: its agent goes on, or has ended as one does that had joined */
    bool waits_for_others;           /* no agent is there, and others may join the run: that is said */
    int64_t deserted_ms;             /* since when no agent is there; 0: some is; -1: the launch is to end for it */
};

/* True where each of the hosts gets a pod though nobody says so, as that is quicker and survives more (SEVERAL
 * HOSTS in hdss-run(1)): there are several, which the user or Slurm names, and neither the job nor an option of the
 * launch takes one launch for all. The loop of the job is described, if it can be. */
bool host_pods_are_default(struct launch_plan *launch_plan);

/* Takes the hosts of the plan for pods, deals the workers to them, and has the supermaster alone be launched. -1 with
 * one line. */
int host_pods_plan(struct launch_plan *launch_plan, struct error *error);

/* Makes the agents ready, which begin with each launch that has the side. -1 with one line. */
int host_pods_init(struct host_pods *pods, const struct launch_plan *launch_plan, struct launch *how,
                   struct error *error);

/* Shows the line of each pod. */
void host_pods_show(const struct host_pods *pods, FILE *to);

/* After a launch: waits for the agents, which end with it, and ends those that do not. */
void host_pods_wait(struct host_pods *pods);

/* True where the launch was ended as no pod was left. */
bool host_pods_are_deserted(const struct host_pods *pods);

void host_pods_fini(struct host_pods *pods);
