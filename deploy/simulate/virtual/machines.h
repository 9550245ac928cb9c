/* SPDX-License-Identifier: MIT */
/* Makes the configurations of the machines of a simulated run, in virtual time (cluster_setup.c) and on SimGrid
 * (deploy/simulate/simgrid). */
#pragma once

#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "master/master.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"
#include "worker/worker.h"

static inline unsigned serving_workers(const struct virtual_config *config)
{
    return !config->spec.masters_compute ? 0 : config->masters > 0 ? config->masters : 1;
}

static inline unsigned launched_ranks(const struct virtual_config *config)
{
    return 1 + config->masters + config->workers - serving_workers(config);
}

static inline unsigned cluster_ranks(const struct virtual_config *config)
{
    unsigned ranks = launched_ranks(config);
    for (unsigned i = 0; i < config->pod_count; i++)
        ranks += 1 + config->pods[i].workers;
    return ranks;
}

#define RECORD_BYTES 8

uint64_t machines_record_bytes(const struct virtual_config *config);
uint64_t machines_boundary_bytes(const struct virtual_config *config);

/* Fills hellos[launched_ranks()], and makes the topology. Returns -1 if memory runs out. The topology must be freed
 * also on failure. */
int machines_group(const struct virtual_config *config, struct hello *hellos, struct topology *topology);

/* Sets `*speeds` to an array of [workers], which the caller frees. Sets it to NULL if speeds are measured. */
int machines_speeds(const struct virtual_config *config, double **speeds, struct error *error);

struct supermaster_config machines_supermaster(const struct virtual_config *config, const struct topology *topology,
                                               const double *speeds);

struct master_config machines_master(const struct virtual_config *config, const struct topology *topology, unsigned m,
                                     unsigned *ranks);

double machines_load(const struct virtual_config *config, unsigned w);

struct worker_config machines_worker(const struct virtual_config *config, const struct topology *topology, unsigned w,
                                     struct boundaries *boundaries);

/* Returns whether `watcher` is notified when `rank` ends. `masterless` means that `rank` is a worker without a master,
 * which the supermaster serves. */
bool machines_watches(const struct topology *topology, unsigned watcher, unsigned rank, bool masterless);

uint64_t machines_notice_ns(const struct virtual_config *config, unsigned watcher, unsigned rank);

void machines_begin_probe(const struct virtual_config *config, struct probe *probe);
