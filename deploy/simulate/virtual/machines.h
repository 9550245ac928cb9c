/* SPDX-License-Identifier: MIT */
/* The settings that the machines of a simulated run get at their start. Every way to simulate them tells them the
 * same: virtual time (cluster_setup.c), and SimGrid's MPI (deploy/simulate/simgrid). */
#pragma once

#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "master/master.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"
#include "worker/worker.h"

/* The ranks that are there at the beginning, and those that ever are. */
/* Workers that are masters, or the supermaster, as well. */
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

/* The size of a record of a virtual run, see virtual_record(). */
#define RECORD_BYTES 8

/* Bytes of an iteration's results, as the daemons are told; and of the boundary data that a chunk hands to the next. */
uint64_t machines_record_bytes(const struct virtual_config *config);
uint64_t machines_boundary_bytes(const struct virtual_config *config);

/* Sets the hellos of the ranks, [launched_ranks()], and groups them. -1 when memory is out; the topology is to be
 * released all the same. */
int machines_group(const struct virtual_config *config, struct hello *hellos, struct topology *topology);

/* Sets `*speeds`, [workers], to be freed, to those that are given; to NULL where they are measured. -1 with one line.
 */
int machines_speeds(const struct virtual_config *config, double **speeds, struct error *error);

/* The configurations borrow from what they are made of, which is `config` too. */
struct supermaster_config machines_supermaster(const struct virtual_config *config, const struct topology *topology,
                                               const double *speeds);

/* The configuration of the m-th master. `ranks` has room for those of its workers, and they are set. */
struct master_config machines_master(const struct virtual_config *config, const struct topology *topology, unsigned m,
                                     unsigned *ranks);

/* The configuration of the w-th worker. `boundaries` is its own where iterations depend on those before them, else
 * NULL. */
/* Runnable processes on the core of the w-th worker at the start, itself being one. */
double machines_load(const struct virtual_config *config, unsigned w);

struct worker_config machines_worker(const struct virtual_config *config, const struct topology *topology, unsigned w,
                                     struct boundaries *boundaries);

/* True if `watcher` learns of the end of `rank`. `masterless`: where that is a worker, the supermaster looks after
 * it. */
bool machines_watches(const struct topology *topology, unsigned watcher, unsigned rank, bool masterless);

/* The time after the end of `rank` at which `watcher` learns of it. */
uint64_t machines_notice_ns(const struct virtual_config *config, unsigned watcher, unsigned rank);

/* Before the first iteration is timed. */
void machines_begin_probe(const struct virtual_config *config, struct probe *probe);
