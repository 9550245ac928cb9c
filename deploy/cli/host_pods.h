/* SPDX-License-Identifier: MIT */
/* A run with a pod on each host, `hdss run --hosts a,b,c`. The supermaster is launched here. On each host an agent
 * (ssh, or srun in a Slurm job) starts `hdss join` with the workers of that host. So the run survives the loss of a
 * host, like that of a master, with any MPI library. Pods start at the same time as the supermaster. They wait for the
 * ticket on standard input, where other users cannot read it. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define HOST_PODS_ANYWHERE "[::]"

struct host_pod {
    const struct host *host;
    unsigned first_worker;
    pid_t agent;
    int input; /* standard input of the agent, which gets the ticket; stays open until the launch ends; -1: not open */
};

struct host_pods {
    const struct launch_plan *plan;
    const struct launch *how;
    const struct launch_side *other;
    struct launch_side side;
    struct host_pod *pods;
    char hdss[PATH_MAX];
    struct stat earlier;
    bool is_delivered;
    bool is_over;
    /* An agent has ended by a signal or with status 0 or 1, so its pod may have joined. After any other status the pod
     * has not joined. */
    bool may_have_joined;
    bool waits_for_others;
    int64_t deserted_ms; /* when the last agent ended; 0: an agent runs; -1: no agent ran, so the launch was ended */
};

/* True if hosts become pods although no option says so: see SEVERAL HOSTS in hdss-run(1). The user or Slurm must name
 * several hosts, and the kernel must be able to describe its loop here. Neither an option nor the job may require a
 * single launch. */
bool host_pods_are_default(struct launch_plan *launch_plan);

/* Makes a pod of each host of the plan, and distributes the workers over the pods. After this the plan itself launches
 * only the supermaster. */
int host_pods_plan(struct launch_plan *launch_plan, struct error *error);

int host_pods_init(struct host_pods *pods, const struct launch_plan *launch_plan, struct launch *how,
                   struct error *error);

void host_pods_show(const struct host_pods *pods, FILE *to);

/* Must be called after a launch. Waits for the agents, and kills those that do not end. */
void host_pods_wait(struct host_pods *pods);

bool host_pods_are_deserted(const struct host_pods *pods);

void host_pods_fini(struct host_pods *pods);
