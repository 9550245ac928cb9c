/* SPDX-License-Identifier: MIT */
/* Costs of synthetic iterations. The parameters are in synthetic.c. */
#pragma once

#include <stdint.h>

#define SYNTHETIC_COST_MAX_US 1e9

enum synthetic_distribution {
    SYNTHETIC_CONSTANT,
    SYNTHETIC_INCREASING,
    SYNTHETIC_DECREASING,
    SYNTHETIC_GAUSSIAN,
    SYNTHETIC_EXPONENTIAL,
    SYNTHETIC_BIMODAL,
    SYNTHETIC_FILE,
};

struct synthetic_costs {
    enum synthetic_distribution distribution;
    uint64_t iterations;
    double mean_us;
    double spread; /* relative to the mean, 0 .. 1 */
    uint64_t seed;
    const double *file_us;
};

double synthetic_cost_us(const struct synthetic_costs *costs, uint64_t i);

uint64_t synthetic_record(uint64_t seed, uint64_t i);

/* Reads `count` costs, one per line. Skips empty lines and lines that begin with '#'. Ignores the rest of the file
 * after the last cost. The caller frees the array. Returns NULL on failure; `error`, of `size` bytes, names file and
 * line. */
double *synthetic_read_costs(const char *path, uint64_t count, char *error, unsigned size);
