/* SPDX-License-Identifier: MIT */
/* The synchronization dimension of a simulated loop with dependencies: its columns, the steps of a chunk, and the
 * boundary data. Both backends use it. */
#pragma once

#include "common/config/run_spec.h"
#include "deploy/simulate/virtual/cluster.h"

static inline uint64_t columns_distance(const struct virtual_config *config)
{
    return config->distance > 0 ? config->distance : 1;
}

static inline uint64_t columns_of_step(const struct virtual_config *config)
{
    uint64_t points =
        config->spec.sync_points > 0 ? config->spec.sync_points : RUN_SYNC_POINTS * (uint64_t)config->workers;
    points = points < config->columns ? points : config->columns;
    return (config->columns + points - 1) / points;
}

static inline uint64_t columns_steps(const struct virtual_config *config)
{
    uint64_t columns = columns_of_step(config);
    return (config->columns + columns - 1) / columns;
}

static inline uint64_t columns_behind(const struct virtual_config *config, uint64_t steps)
{
    uint64_t columns = steps * columns_of_step(config);
    return columns < config->columns ? columns : config->columns;
}

static inline uint64_t columns_bytes(const struct virtual_config *config, uint64_t columns)
{
    return columns * columns_distance(config) * sizeof(uint64_t);
}

/* Returns how many bytes of boundary data a chunk of `count` rows needs for step number `step`; steps count from 0. To
 * compute some columns of a row, the same columns of the previous row and `reach` more are needed. So the first row of
 * the chunk needs the most. */
static inline uint64_t columns_needed(const struct virtual_config *config, uint64_t step, uint64_t count)
{
    uint64_t needed = columns_behind(config, step + 1) + count * config->reach;
    return columns_bytes(config, needed < config->columns ? needed : config->columns);
}
