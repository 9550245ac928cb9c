/* SPDX-License-Identifier: MIT */
/* A simulated machine: nodes, their speeds, costs of messages, and service times of daemons. Both backends of `hdss
 * simulate` use it: one directly, the other by generating a SimGrid platform.
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

/* Consecutive equal nodes. */
struct platform_nodes {
    unsigned count, cores;
    double speed; /* of a core, relative to the core on which iteration costs were measured */
    unsigned site;
};

struct platform_link {
    double latency_ns;
    double bytes_per_ns; /* GB/s */
};

/* Defaults for the costs of empty iterations, measured on an AMD EPYC with tests/bench/free_iterations.c; the cost of a
 * cold call is that of real ranks (tests/bench/bench_first.py). */
#define PLATFORM_CALL_NS      30.0
#define PLATFORM_COLD_NS      550.0
#define PLATFORM_ITERATION_NS 2.5

/* Time that a rank is busy other than with iterations, on a core of speed 1. */
struct platform_service {
    double event_ns;       /* per event */
    double message_ns;     /* per message sent */
    double byte_ns;        /* per byte sent */
    double calculation_ns; /* per chunk cut */
    double call_ns;        /* per kernel call of a worker, in addition to the iterations */
    double cold_ns;        /* the same after the core has done other work */
    double iteration_ns;   /* lower bound of an iteration */
};

struct platform {
    char name[PLATFORM_NAME_MAX];
    char title[PLATFORM_TITLE_MAX];
    struct platform_nodes group[PLATFORM_GROUPS_MAX];
    unsigned groups;
    unsigned nodes, sites; /* over all groups */
    uint64_t cores;
    struct platform_link node, network, between_sites;
    struct platform_service service;
};

/* Parses a platform. Errors begin with "line N: ". */
int platform_parse(struct platform *platform, const char *text, struct error *error);

/* Built-in platforms of deploy/simulate/platforms: names, ended by NULL, and texts. */
extern const char *const platform_names[];
const char *platform_described(const char *name); /* NULL: unknown name */

/* A built-in platform with changes: NAME or NAME:nodes=N,cores=C,bandwidth=8GB/s,byte=0.1ns. Groups keep their
 * proportions; `bandwidth` is that of the network, `byte` that of the service. */
int platform_find(struct platform *platform, const char *spec, struct error *error);

/* Group of a node; nodes are numbered from 0 in the order of the groups. */
const struct platform_nodes *platform_node(const struct platform *platform, unsigned node);

/* Link between ranks on two nodes, which may be equal. */
const struct platform_link *platform_link_between(const struct platform *platform, unsigned node, unsigned other);
