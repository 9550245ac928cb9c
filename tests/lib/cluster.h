/* Clusters under virtual time that must come into being. */
#pragma once

#include "common/runtime/virtual/cluster.h"

#include <check.h>

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
