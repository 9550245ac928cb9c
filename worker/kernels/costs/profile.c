/* SPDX-License-Identifier: MIT */
/* Profiles of LB4OMP as costs: see profile.h. */
#include "worker/kernels/costs/profile.h"

#include "common/util/grow.h"
#include "common/util/number.h"
#include "worker/kernels/costs/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MHZ_MAX     1e6
#define TICKS_MAX   1e18
#define COST_MAX_NS 1e15
#define COV_LEAST   0.001
#define COV_MOST    10
#define LOCATION    "Location: "

struct execution {
    double mean_ns, cov;
    uint64_t start;
};

struct measured {
    struct execution *executions;
    size_t count;
    uint64_t iterations;
    uint64_t seed;
};

bool costs_is_profile(const char *spec)
{
    return strncmp(spec, COSTS_LB4OMP, strlen(COSTS_LB4OMP)) == 0;
}

static int take_profile_option(struct profile_request *request, const char *word, struct error *error)
{
    if (strncmp(word, "mhz=", 4) == 0) {
        if (number_parse_real(word + 4, &request->mhz) < 0 || !(request->mhz > 0) || request->mhz > MHZ_MAX)
            return error_set(error, "lb4omp: '%s': accepted: the clock in MHz, above 0, as KMP_CPU_SPEED", word);
        return 0;
    }
    if (strncmp(word, "seed=", 5) == 0)
        return number_parse_u64(word + 5, &request->seed) == 0
                   ? 0
                   : error_set(error, "lb4omp: '%s': accepted: an integer from 0", word);
    if (strncmp(word, "loop=", 5) == 0 && strlen(word + 5) < sizeof request->loop) {
        snprintf(request->loop, sizeof request->loop, "%s", word + 5);
        return 0;
    }
    return error_set(error, "lb4omp: '%.100s' is not accepted: mhz=MHZ, loop=TEXT, seed=N", word);
}

int profile_request_parse(struct profile_request *request, const char *spec, struct error *error)
{
    const char *text = spec + strlen(COSTS_LB4OMP);
    const size_t length = strcspn(text, ",");
    *request = (struct profile_request){.seed = 1};
    if (length == 0 || length >= sizeof request->file)
        return error_set(error, "'%.100s': accepted: lb4omp:FILE,mhz=MHZ[,loop=TEXT][,seed=N]", spec);
    snprintf(request->file, sizeof request->file, "%.*s", (int)length, text);
    for (text += length; *text == ',';) {
        char word[300];
        const size_t used = strcspn(++text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(used < sizeof word ? used : sizeof word - 1), text);
        if (take_profile_option(request, word, error) < 0)
            return -1;
        text += used;
    }
    if (request->mhz <= 0)
        return error_set(error, "lb4omp: mhz= is missing: the clock in MHz that KMP_CPU_SPEED had");
    return 0;
}

static double measured_at(void *context, uint64_t iteration)
{
    const struct measured *measured = context;
    const uint64_t place = iteration % measured->iterations;
    size_t low = 0, high = measured->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (measured->executions[middle].start <= place)
            low = middle;
        else
            high = middle;
    }
    const struct execution *execution = &measured->executions[low];
    const double cost_ns = execution->cov < COV_LEAST
                               ? execution->mean_ns
                               : draw_gamma(execution->mean_ns, execution->cov, measured->seed, iteration);
    return fmin(COST_MAX_NS, cost_ns);
}

static void measured_release(void *context)
{
    free(((struct measured *)context)->executions);
}

/* Parses `Location: LOOP,Mean M Sigma S iterations N`, in which LOOP may contain spaces. Returns -1 for any other
 * line. */
static int parse_execution(const char *line, size_t length, char loop[256], double figures[2], uint64_t *iterations)
{
    char text[1024];
    int end = 0;
    if (length >= sizeof text || strncmp(line, LOCATION, strlen(LOCATION)) != 0)
        return -1;
    snprintf(text, sizeof text, "%.*s", (int)length, line + 0);
    char *mean = strstr(text, "Mean ");
    for (char *next = mean; next != NULL; next = strstr(next + 1, "Mean "))
        mean = next;
    if (mean == NULL || mean == text ||
        sscanf(mean, "Mean %lf Sigma %lf iterations %" SCNu64 " %n", &figures[0], &figures[1], iterations, &end) != 3 ||
        mean[end] != '\0')
        return -1;
    mean[-1] = '\0';
    snprintf(loop, 256, "%.255s", text + strlen(LOCATION));
    return 0;
}

static int add_execution(struct measured *measured, size_t *room, const double figures[2], uint64_t iterations,
                         double mhz, struct error *error)
{
    struct execution *executions = grow(measured->executions, measured->count, room, sizeof *executions);
    if (executions == NULL)
        return error_set(error, "out of memory for the profile");
    /* LB4OMP writes NaN as the deviation of a single iteration. */
    const double cov = figures[0] > 0 && isfinite(figures[1]) ? figures[1] / figures[0] : 0;
    measured->executions = executions;
    executions[measured->count++] =
        (struct execution){figures[0] / mhz * 1000, fmin(cov, COV_MOST), measured->iterations};
    measured->iterations += iterations;
    return 0;
}

static int take_executions(struct measured *measured, const struct profile_request *request, const char *text,
                           struct error *error)
{
    char first_loop[256] = "", loop[256];
    size_t room = 0;
    for (unsigned line = 1; *text != '\0'; line++) {
        const size_t length = strcspn(text, "\r\n");
        double figures[2];
        uint64_t iterations;
        const bool is_known = parse_execution(text, length, loop, figures, &iterations) == 0 && iterations > 0 &&
                              iterations < COSTS_ITERATIONS_MAX && figures[0] >= 0 && figures[0] <= TICKS_MAX &&
                              !(figures[1] < 0);
        if (length > 0 && !is_known)
            return error_set(error, "line %u: accepted: Location: LOOP,Mean M Sigma S iterations N, in ticks", line);
        const bool is_wanted = length > 0 && strstr(loop, request->loop) != NULL;
        if (is_wanted && first_loop[0] != '\0' && strcmp(first_loop, loop) != 0)
            return error_set(error,
                             "line %u: a second loop, '%.100s' behind '%.100s'; accepted: loop=TEXT of one of them",
                             line, loop, first_loop);
        if (is_wanted) {
            snprintf(first_loop, sizeof first_loop, "%s", loop);
            if (add_execution(measured, &room, figures, iterations, request->mhz, error) < 0)
                return -1;
        }
        text += length;
        text += strspn(text, "\r");
        text += *text == '\n';
    }
    return measured->count > 0 ? 0 : error_set(error, "there is no loop '%s' in it", request->loop);
}

struct costs *costs_of_profile(const struct profile_request *request, const char *text, uint64_t first, uint64_t count,
                               struct error *error)
{
    struct measured measured = {.seed = request->seed};
    if (take_executions(&measured, request, text, error) < 0) {
        measured_release(&measured);
        return NULL;
    }
    return costs_of_function(measured_at, measured_release, &measured, sizeof measured, first, count, error);
}
