/* SPDX-License-Identifier: MIT */
/* The synchronization dimension of a simulated loop with dependencies: its columns, in which a chunk goes on step by
 * step, and the boundary data of them. Common to all ways to simulate such loops. */
#pragma once

#include "common/config/run_spec.h"
#include "deploy/simulate/virtual/cluster.h"

/* Number of rows before a row that it needs. */
static inline uint64_t columns_distance(const struct virtual_config *config)
{
    return config->distance > 0 ? config->distance : 1;
}

/* Columns of a step of a chunk. */
static inline uint64_t columns_of_step(const struct virtual_config *config)
{
    uint64_t points =
        config->spec.sync_points > 0 ? config->spec.sync_points : RUN_SYNC_POINTS * (uint64_t)config->workers;
    points = points < config->columns ? points : config->columns;
    return (config->columns + points - 1) / points;
}

/* Steps of a chunk. */
static inline uint64_t columns_steps(const struct virtual_config *config)
{
    uint64_t columns = columns_of_step(config);
    return (config->columns + columns - 1) / columns;
}

/* The columns before this one are complete when so many steps are. */
static inline uint64_t columns_behind(const struct virtual_config *config, uint64_t steps)
{
    uint64_t columns = steps * columns_of_step(config);
    return columns < config->columns ? columns : config->columns;
}

/* Bytes of their boundary data. */
static inline uint64_t columns_bytes(const struct virtual_config *config, uint64_t columns)
{
    return columns * columns_distance(config) * sizeof(uint64_t);
}

/* Bytes of the boundary data that a chunk of `count` rows needs for a step, from 0: the first row is ahead of the last
 * by what each row needs of the one before it. */
static inline uint64_t columns_needed(const struct virtual_config *config, uint64_t step, uint64_t count)
{
    uint64_t needed = columns_behind(config, step + 1) + count * config->reach;
    return columns_bytes(config, needed < config->columns ? needed : config->columns);
}
