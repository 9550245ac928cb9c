/* SPDX-License-Identifier: MIT */
/* A simulated machine: nodes, their speeds, costs of messages, and how long daemons are busy with each event. Both
 * backends of `hdss simulate` use it. Virtual time uses it directly; for SimGrid, it is converted to a SimGrid
 * platform.
 *
 * Text format, one statement per line, # comments:
 *     title A cluster of the year 2008
 *     nodes 3936 cores=16 speed=1 site=0      a group of equal nodes; more lines: more groups, in this order
 *     node    latency=600ns bandwidth=4GB/s   between two cores of a node
 *     network latency=2.3us bandwidth=1GB/s   between two nodes of a site
 *     sites   latency=8ms   bandwidth=1.2GB/s between two sites
 *     service event=700ns message=300ns byte=0.1ns calculation=20ns     how long a daemon is busy
 *     service call=30ns cold=550ns iteration=2.5ns                      and a worker beside the costs
 *
 * Pure: the text is passed as a string. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define PLATFORM_NAME_MAX   64
#define PLATFORM_TITLE_MAX  160
#define PLATFORM_GROUPS_MAX 64
#define PLATFORM_NODES_MAX  (1u << 24)
#define PLATFORM_CORES_MAX  4096

struct platform_nodes {
    unsigned count, cores;
    double speed; /* relative to the core on which the costs of the iterations were measured */
    unsigned site;
};

struct platform_link {
    double latency_ns;
    double bytes_per_ns;
};

/* Times that a worker needs even if iterations cost nothing, measured on an AMD EPYC. The times of a kernel call and of
 * an iteration are from tests/bench/free_iterations.c. The time of a cold call between real ranks is from
 * tests/bench/bench_first.py. */
#define PLATFORM_CALL_NS      30.0
#define PLATFORM_COLD_NS      550.0
#define PLATFORM_ITERATION_NS 2.5

/* How long a core of speed 1 is busy with work other than the body of the loop. */
struct platform_service {
    double event_ns;
    double message_ns;
    double byte_ns;
    double calculation_ns;
    double call_ns;
    double cold_ns; /* for a kernel call with cold caches, after the core has done other work */
    double iteration_ns;
};

struct platform {
    char name[PLATFORM_NAME_MAX];
    char title[PLATFORM_TITLE_MAX];
    struct platform_nodes group[PLATFORM_GROUPS_MAX];
    unsigned groups;
    unsigned nodes, sites;
    uint64_t cores;
    struct platform_link node, network, between_sites;
    struct platform_service service;
};

int platform_parse(struct platform *platform, const char *text, struct error *error);

/* The last element of platform_names[] is NULL. platform_described() returns NULL if the name is unknown. */
extern const char *const platform_names[];
const char *platform_described(const char *name);

/* Finds a built-in platform and applies changes: NAME or NAME:nodes=N,cores=C,bandwidth=8GB/s,byte=0.1ns. If `nodes`
 * changes, the groups of nodes keep their proportions. `bandwidth` changes the network, and `byte` the service
 * times. */
int platform_find(struct platform *platform, const char *spec, struct error *error);

const struct platform_nodes *platform_node(const struct platform *platform, unsigned node);

const struct platform_link *platform_link_between(const struct platform *platform, unsigned node, unsigned other);
