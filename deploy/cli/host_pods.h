/* SPDX-License-Identifier: MIT */
/* A run with a pod on each host, `hdss run --hosts a,b,c`. The supermaster is launched here; an agent (ssh, or srun
 * in a Slurm job) starts `hdss join` with the workers of each host. The loss of a host then costs what the loss of a
 * master costs, with any MPI library. Pods start at the same time as the supermaster and wait for the ticket on
 * standard input, where other users cannot see it. */
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
    int input; /* the agent's standard input, for the ticket; open until the launch ends; -1: none */
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
    bool may_have_joined; /* an agent has ended by a signal or with status 0 or 1, so its pod may have joined */
    bool waits_for_others;
    int64_t deserted_ms; /* since when no agent runs; 0: some run; -1: the launch was ended because none ran */
};

/* True if hosts become pods without an option (SEVERAL HOSTS in hdss-run(1)): the user or Slurm names several hosts,
 * the loop can be described here, and neither the job nor an option requires one launch. */
bool host_pods_are_default(struct launch_plan *launch_plan);

/* Makes a pod of each host of the plan, and distributes the workers over the pods. The launch itself then starts only
 * the supermaster. */
int host_pods_plan(struct launch_plan *launch_plan, struct error *error);

int host_pods_init(struct host_pods *pods, const struct launch_plan *launch_plan, struct launch *how,
                   struct error *error);

void host_pods_show(const struct host_pods *pods, FILE *to);

/* Must be called after a launch. Waits for the agents, and kills those that do not end. */
void host_pods_wait(struct host_pods *pods);

bool host_pods_are_deserted(const struct host_pods *pods);

void host_pods_fini(struct host_pods *pods);
