/* SPDX-License-Identifier: MIT */
/* Costs of synthetic iterations: see synthetic.h. Each cost is a function of the iteration's index, so 10^12 iterations
 * need no table, and the order of calls does not matter. */
#include "worker/kernels/synthetic.h"

#include "common/util/number.h"
#include "common/util/random.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TWO_PI 6.283185307179586

uint64_t synthetic_record(uint64_t seed, uint64_t i)
{
    return random_at(seed, i);
}

static double synthetic_cost_uniform(const struct synthetic_costs *costs, uint64_t i, uint64_t stream)
{
    return random_to_uniform(random_at(costs->seed + 0x636f7374 + stream, i));
}

static double synthetic_cost_ramp(const struct synthetic_costs *costs, uint64_t i)
{
    return costs->iterations < 2 ? 0 : 2 * (double)i / (double)(costs->iterations - 1) - 1;
}

/* A standard normal number by Box and Muller (1958). 1 - u is in (0, 1], so its logarithm is finite. */
static double synthetic_cost_normal(const struct synthetic_costs *costs, uint64_t i)
{
    return sqrt(-2 * log(1 - synthetic_cost_uniform(costs, i, 0))) * cos(TWO_PI * synthetic_cost_uniform(costs, i, 1));
}

double synthetic_cost_us(const struct synthetic_costs *costs, uint64_t i)
{
    double mean = costs->mean_us, spread = costs->spread;
    switch (costs->distribution) {
    case SYNTHETIC_CONSTANT: return mean;
    case SYNTHETIC_INCREASING: return mean * (1 + spread * synthetic_cost_ramp(costs, i));
    case SYNTHETIC_DECREASING: return mean * (1 - spread * synthetic_cost_ramp(costs, i));
    case SYNTHETIC_GAUSSIAN: return fmax(0, mean * (1 + spread * synthetic_cost_normal(costs, i)));
    case SYNTHETIC_EXPONENTIAL: return -mean * log(1 - synthetic_cost_uniform(costs, i, 0));
    case SYNTHETIC_BIMODAL: return mean * (synthetic_cost_uniform(costs, i, 0) < 0.5 ? 1 - spread : 1 + spread);
    case SYNTHETIC_FILE: return costs->file_us[i];
    }
    return 0;
}

static char *trim(char *line)
{
    line += strspn(line, " \t");
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
        length--;
    line[length] = '\0';
    return line;
}

#define LINE_MAX_BYTES 256

static bool is_whole(const char *line, FILE *file)
{
    size_t length = strlen(line);
    return (length > 0 && line[length - 1] == '\n') || (length > 0 && length < LINE_MAX_BYTES - 1 && feof(file));
}

/* Reads the next cost of the file. Returns 1; 0 at the end of the file; -1 for an invalid line, which is then in
 * `line`. */
static int next_cost(FILE *file, uint64_t *number, double *cost, char line[LINE_MAX_BYTES])
{
    while (fgets(line, LINE_MAX_BYTES, file) != NULL) {
        ++*number;
        if (!is_whole(line, file))
            return -1;
        char *text = trim(line);
        if (text[0] == '\0' || text[0] == '#')
            continue;
        if (number_parse_real(text, cost) == 0 && *cost >= 0 && *cost <= SYNTHETIC_COST_MAX_US)
            return 1;
        memmove(line, text, strlen(text) + 1);
        return -1;
    }
    return 0;
}

static bool synthetic_cost_read_all(FILE *file, const char *path, double *costs, uint64_t count, char *error,
                                    unsigned size)
{
    char line[LINE_MAX_BYTES];
    uint64_t number = 0;
    for (uint64_t i = 0; i < count; i++) {
        int status = next_cost(file, &number, &costs[i], line);
        if (status > 0)
            continue;
        if (status < 0)
            snprintf(error, size, "%.200s, line %llu: '%.40s'; accepted: a cost in us, from 0 to 1e9", path,
                     (unsigned long long)number, line);
        else if (ferror(file))
            snprintf(error, size, "%.200s: %s", path, strerror(errno));
        else
            snprintf(error, size, "%.200s has %llu costs, iterations is %llu; accepted: one line per iteration", path,
                     (unsigned long long)i, (unsigned long long)count);
        return false;
    }
    return true;
}

double *synthetic_read_costs(const char *path, uint64_t count, char *error, unsigned size)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(error, size, "file=%.200s: not a regular file", path);
        return NULL;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(error, size, "file=%.200s: %s", path, strerror(errno));
        return NULL;
    }
    double *costs = count < SIZE_MAX / sizeof *costs ? malloc((count + 1) * sizeof *costs) : NULL;
    if (costs == NULL) {
        snprintf(error, size, "out of memory for %llu costs", (unsigned long long)count);
    } else if (!synthetic_cost_read_all(file, path, costs, count, error, size)) {
        free(costs);
        costs = NULL;
    }
    fclose(file);
    return costs;
}
