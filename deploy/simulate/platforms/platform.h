/* SPDX-License-Identifier: MIT */
/* A simulated machine: its nodes, how fast they compute, what a message costs between them, and how long the daemons
 * are busy with an event. Both backends of `hdss simulate` are given it: one takes the figures as they are, the other
 * makes a SimGrid platform of them.
 *
 * The text of a platform, one statement a line, # comments:
 *
 *     title A cluster of the year 2008
 *     nodes 3936 cores=16 speed=1 site=0      a group of equal nodes; more lines: more groups, in this order
 *     node    latency=600ns bandwidth=4GB/s   between two cores of a node
 *     network latency=2.3us bandwidth=1GB/s   between two nodes of a site
 *     sites   latency=8ms   bandwidth=1.2GB/s between two sites
 *     service event=700ns message=300ns byte=0.1ns calculation=20ns     how long a daemon is busy
 *     service call=30ns cold=550ns iteration=2.5ns                      and a worker beside the costs
 *
 * Pure: the text comes in as a string. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define PLATFORM_NAME_MAX   64
#define PLATFORM_TITLE_MAX  160
#define PLATFORM_GROUPS_MAX 64
#define PLATFORM_NODES_MAX  (1u << 24)
#define PLATFORM_CORES_MAX  4096

/* Nodes that are alike and follow one another. */
struct platform_nodes {
    unsigned count, cores;
    double speed; /* speed of a core, relative to the core on which the costs of the iterations were measured */
    unsigned site;
};

struct platform_link {
    double latency_ns;
    double bytes_per_ns; /* GB/s */
};

/* Costs of iterations that cost nothing, where the platform does not say them: measured on an AMD EPYC by
 * tests/bench/free_iterations.c; that of a cold call is what real ranks need (tests/bench/bench_first.py). */
#define PLATFORM_CALL_NS      30.0
#define PLATFORM_COLD_NS      550.0
#define PLATFORM_ITERATION_NS 2.5

/* How long a rank is busy with what it does beside computing; on a core of speed 1. */
struct platform_service {
    double event_ns;       /* with any event that it handles */
    double message_ns;     /* with each message that it sends then */
    double byte_ns;        /* and with each byte of it */
    double calculation_ns; /* and with each chunk that it cuts */
    double call_ns;        /* a worker with a call of the kernel, beside the costs of the iterations */
    double cold_ns;        /* the same where its core has done something else for a while */
    double iteration_ns;   /* an iteration takes at least */
};

struct platform {
    char name[PLATFORM_NAME_MAX];
    char title[PLATFORM_TITLE_MAX];
    struct platform_nodes group[PLATFORM_GROUPS_MAX];
    unsigned groups;
    unsigned nodes, sites; /* numbers over all groups */
    uint64_t cores;
    struct platform_link node, network, between_sites;
    struct platform_service service;
};

/* Reads the text of a platform. -1 with one line that begins with "line N: " where it is not one. */
int platform_parse(struct platform *platform, const char *text, struct error *error);

/* The platforms that are described in deploy/simulate/platforms: their names, ended by a NULL, and their texts. */
extern const char *const platform_names[];
const char *platform_described(const char *name); /* NULL where there is none of that name */

/* The described platform of that name, with changes: NAME or NAME:nodes=N,cores=C,bandwidth=8GB/s,byte=0.1ns (all
 * groups keep their share of the nodes; `bandwidth` is that of the network, `byte` that of the service). -1 with one
 * line. */
int platform_find(struct platform *platform, const char *spec, struct error *error);

/* The group of node `node`, from 0 in the order of the groups. */
const struct platform_nodes *platform_node(const struct platform *platform, unsigned node);

/* Between ranks on two nodes, which may be the same. */
const struct platform_link *platform_link_between(const struct platform *platform, unsigned node, unsigned other);
