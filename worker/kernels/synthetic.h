/* SPDX-License-Identifier: MIT */
/* The cost of a synthetic iteration: see synthetic.c for the parameters. */
#pragma once

#include <stdint.h>

/* The time of one iteration, as the parameter `mean` has it, too. */
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
    const double *file_us; /* times, one per iteration, for SYNTHETIC_FILE */
};

/* The cost of iteration i in microseconds, never negative. */
double synthetic_cost_us(const struct synthetic_costs *costs, uint64_t i);

/* The iteration's record. */
uint64_t synthetic_record(uint64_t seed, uint64_t i);

/* Reads `count` costs, one per line; empty lines and lines that begin with '#' are skipped, lines beyond the
 * `count`-th cost are not read. The array is the caller's to free. NULL with one line (file, line number, what is
 * expected) in `error` of `size` bytes. */
double *synthetic_read_costs(const char *path, uint64_t count, char *error, unsigned size);
