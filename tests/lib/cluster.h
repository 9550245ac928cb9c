/* SPDX-License-Identifier: MIT */
/* Clusters under virtual time that must come into being. */
#pragma once

#include "deploy/simulate/virtual/cluster.h"
#include "tests/lib/asserts.h"

/* One node whose messages take 2 us, and 500 ns in the daemons; the rest is for the test to say. */
static inline struct virtual_config cluster_plain(unsigned masters, unsigned workers, const char *technique,
                                                  uint64_t count)
{
    return (struct virtual_config){
        .masters = masters,
        .workers = workers,
        .nodes = 1,
        .technique = technique,
        .spec.min_chunk = 1,
        .count = count,
        .latency_ns = 2000,
        .service_ns = 500,
    };
}

static inline struct virtual_cluster *cluster_new(const struct virtual_config *config)
{
    struct error error = {0};
    struct virtual_cluster *cluster = virtual_new(config, &error);
    ck_assert_msg(cluster != NULL, "%s", error.text);
    return cluster;
}

/* Run to its end; owned by the caller, as what the result points to. */
static inline struct virtual_cluster *cluster_ran(const struct virtual_config *config, struct virtual_result *result)
{
    struct virtual_cluster *cluster = cluster_new(config);
    *result = virtual_run(cluster);
    return cluster;
}
