/* SPDX-License-Identifier: MIT */
/* Speeds from recorded chunks: see recorded.h. */
#include "worker/kernels/costs/recorded.h"

#include <math.h>
#include <stdlib.h>

/* A chunk is compared with its neighbours: on each side as many chunks as there are workers, so that most workers are
 * among them. But the neighbours span at most 1/NEIGHBOURS_PART of the loop, because costs may change along the
 * loop. */
#define NEIGHBOURS_LEAST 2
#define NEIGHBOURS_PART  16

#define ROUNDS_MAX       300
#define ROUNDS_PRECISION 1e-7

/* Ratio of the standard deviation to the median absolute deviation of a normal distribution. */
#define MAD_TO_DEVIATION 1.4826
#define DISTURBED_BEYOND 5.0

/* The speeds count as different if the sum of their squared deviations exceeds its expectation by this many standard
 * deviations: see are_speeds_different(). */
#define DIFFERENCE_BEYOND 3.0

struct recorded_estimate {
    const struct recorded_chunk *chunks;
    size_t count, neighbours;
    unsigned workers;
    /* Arrays are owned. slowness: [workers]; cost_ns and left_out: [count]. cost_ns[k] is the cost of an iteration
     * around chunk k. It is 0 if the slowness of the chunk's worker cannot be estimated from it. */
    double *slowness;
    double *cost_ns;
    bool *left_out;
    /* [3 * (count + 1)] scratch: three arrays of prefix sums, of the time at slowness 1, of the iterations, and of the
     * iterations in the order of workers. */
    double *sums;
    struct own_chunks {
        size_t place;
        /* The neighbours that the worker of this chunk computed: index of the first one, and end, in the order of
         * workers. */
        size_t low, high;
    } * own;
    double *room;
    double beyond;
    size_t used;
    struct worker_sums {
        double ns, expected_ns;
        double squares;
        double step;
        unsigned chunks;
    } * of;
};

static size_t reach_of(const struct recorded_estimate *all, size_t k)
{
    const size_t behind = all->count - 1 - k, least = k < behind ? k : behind;
    return least < all->neighbours ? least : all->neighbours;
}

static void find_own_chunks(struct recorded_estimate *all, size_t *next, size_t *low, size_t *high)
{
    size_t before = 0, behind = 0;
    for (size_t k = 0; k < all->count; k++)
        next[all->chunks[k].worker + 1]++;
    for (unsigned w = 0; w < all->workers; w++)
        next[w + 1] += next[w];
    for (unsigned w = 0; w < all->workers; w++)
        low[w] = high[w] = next[w];
    for (size_t k = 0; k < all->count; k++) {
        const unsigned w = all->chunks[k].worker;
        const size_t reach = reach_of(all, k);
        for (; before < k - reach; before++)
            low[all->chunks[before].worker]++;
        for (; behind < k + 1 + reach; behind++)
            high[all->chunks[behind].worker]++;
        all->own[k] = (struct own_chunks){next[w]++, low[w], high[w]};
    }
}

/* Finds the cost of an iteration around each chunk. If the worker of the chunk also computed all neighbours on one
 * side, the worker's slowness cannot be estimated from this chunk. Such a chunk gets no cost, unless `alone_counts`. */
static void find_costs_around(struct recorded_estimate *all, bool alone_counts)
{
    const size_t size = all->count + 1;
    double *ns = all->sums, *iterations = ns + size, *own_iterations = iterations + size;
    ns[0] = iterations[0] = own_iterations[0] = 0;
    for (size_t k = 0; k < all->count; k++) {
        const struct recorded_chunk *chunk = &all->chunks[k];
        const double counts = all->left_out[k] ? 0 : 1;
        own_iterations[all->own[k].place + 1] = counts * (double)chunk->count;
        ns[k + 1] = ns[k] + counts * chunk->ns / all->slowness[chunk->worker];
        iterations[k + 1] = iterations[k] + counts * (double)chunk->count;
    }
    for (size_t k = 0; k < all->count; k++)
        own_iterations[k + 1] += own_iterations[k];
    for (size_t k = 0; k < all->count; k++) {
        const struct own_chunks *own = &all->own[k];
        const size_t reach = reach_of(all, k), before = k - reach, behind = k + 1 + reach;
        const double left = iterations[k] - iterations[before], right = iterations[behind] - iterations[k + 1];
        const double around_ns = ns[behind] - ns[k + 1] + (ns[k] - ns[before]);
        const bool counts = alone_counts || (left > own_iterations[own->place] - own_iterations[own->low] &&
                                             right > own_iterations[own->high] - own_iterations[own->place + 1]);
        all->cost_ns[k] = counts && around_ns > 0 && left + right > 0 ? around_ns / (left + right) : 0;
    }
}

static void sum_up_workers(struct recorded_estimate *all)
{
    all->beyond = 0;
    all->used = 0;
    for (unsigned w = 0; w < all->workers; w++)
        all->of[w] = (struct worker_sums){.ns = 0};
    for (size_t k = 0; k < all->count; k++) {
        const struct recorded_chunk *chunk = &all->chunks[k];
        struct worker_sums *of = &all->of[chunk->worker];
        if (all->left_out[k] || all->cost_ns[k] <= 0)
            continue;
        const double expected_ns = (double)chunk->count * all->cost_ns[k];
        const double beyond = chunk->ns / (all->slowness[chunk->worker] * expected_ns) - 1;
        of->ns += chunk->ns;
        of->expected_ns += expected_ns;
        of->squares += expected_ns * expected_ns;
        of->chunks++;
        all->beyond += beyond * beyond;
        all->used++;
    }
}

/* Improves each worker's slowness by half a step on the logarithmic scale. Two workers that alternate are compared only
 * with each other; whole steps would swap their values forever. Only ratios of speeds are defined, so the mean of all
 * steps is subtracted. Returns the largest step. */
static double improve_slowness(struct recorded_estimate *all)
{
    double largest = 0, mean = 0;
    unsigned moved = 0;
    for (unsigned w = 0; w < all->workers; w++) {
        struct worker_sums *of = &all->of[w];
        of->step = of->ns > 0 ? log(of->ns / (of->expected_ns * all->slowness[w])) / 2 : 0;
        mean += of->step;
        moved += of->ns > 0;
    }
    mean /= moved > 0 ? moved : 1;
    for (unsigned w = 0; w < all->workers; w++) {
        if (all->of[w].ns <= 0)
            continue;
        all->slowness[w] *= exp(all->of[w].step - mean);
        largest = fmax(largest, fabs(all->of[w].step - mean));
    }
    return largest;
}

static void solve_recorded(struct recorded_estimate *all)
{
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        find_costs_around(all, false);
        sum_up_workers(all);
        if (improve_slowness(all) < ROUNDS_PRECISION)
            break;
    }
    find_costs_around(all, false);
    sum_up_workers(all);
}

static int compare_recorded(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double surprise_of(const struct recorded_estimate *all, size_t k)
{
    const struct recorded_chunk *chunk = &all->chunks[k];
    if (all->cost_ns[k] <= 0 || chunk->ns <= 0)
        return NAN;
    return log(chunk->ns / ((double)chunk->count * all->cost_ns[k] * all->slowness[chunk->worker]));
}

static void leave_out_disturbed(struct recorded_estimate *all)
{
    size_t known = 0;
    find_costs_around(all, true);
    for (size_t k = 0; k < all->count; k++)
        if (!isnan(surprise_of(all, k)))
            all->room[known++] = surprise_of(all, k);
    if (known == 0)
        return;
    qsort(all->room, known, sizeof *all->room, compare_recorded);
    const double median = all->room[known / 2];
    for (size_t k = 0; k < known; k++)
        all->room[k] = fabs(all->room[k] - median);
    qsort(all->room, known, sizeof *all->room, compare_recorded);
    const double most = DISTURBED_BEYOND * MAD_TO_DEVIATION * all->room[known / 2];
    for (size_t k = 0; most > 0 && k < all->count; k++)
        all->left_out[k] = fabs(surprise_of(all, k) - median) > most;
}

static bool is_recorded_known(const struct recorded_estimate *all, unsigned w)
{
    return all->of[w].chunks >= RECORDED_CHUNKS_LEAST && all->of[w].ns > 0;
}

/* Squared standard error of the logarithm of the worker's slowness. It is computed from the variance over all workers,
 * because a single worker may have too few chunks. */
static double error_squared(const struct recorded_estimate *all, const struct worker_sums *of)
{
    const double variance = all->beyond / (double)(all->used > all->workers ? all->used - all->workers : 1);
    return variance * of->squares / (of->expected_ns * of->expected_ns);
}

/* The error counts as at least one in a million, so that no weight is too large. */
static double weight_of_speed(const struct recorded_estimate *all, unsigned w)
{
    return is_recorded_known(all, w) ? 1 / fmax(error_squared(all, &all->of[w]), 1e-12) : 0;
}

/* True if chance alone is unlikely to explain the differences of speed. This is the homogeneity test of Cochran (1954),
 * whose statistic has mean n - 1 and variance 2 (n - 1) for n equal speeds. */
static bool are_speeds_different(const struct recorded_estimate *all)
{
    double weights = 0, weighted = 0, sum = 0;
    unsigned known = 0;
    for (unsigned w = 0; w < all->workers; w++) {
        weights += weight_of_speed(all, w);
        weighted += weight_of_speed(all, w) * log(all->slowness[w]);
        known += is_recorded_known(all, w);
    }
    for (unsigned w = 0; known > 1 && w < all->workers; w++) {
        const double apart = log(all->slowness[w]) - weighted / weights;
        sum += weight_of_speed(all, w) * apart * apart;
    }
    return known > 1 && sum > known - 1 + DIFFERENCE_BEYOND * sqrt(2.0 * (known - 1));
}

/* Mean of the speeds, weighted by compute time. If all speeds are divided by this mean, the total cost of all
 * iterations stays the same. */
static double mean_speed_of(const struct recorded_estimate *all, const double *busy_ns)
{
    double ns = 0, work_ns = 0;
    for (unsigned w = 0; w < all->workers; w++) {
        if (!is_recorded_known(all, w))
            continue;
        ns += busy_ns[w];
        work_ns += busy_ns[w] / all->slowness[w];
    }
    return work_ns / ns;
}

static void set_speeds(struct recorded_speeds *speeds, const struct recorded_estimate *all, double *busy_ns)
{
    for (size_t k = 0; k < all->count; k++)
        busy_ns[all->chunks[k].worker] += all->chunks[k].ns;
    speeds->are_different = are_speeds_different(all);
    const double mean = mean_speed_of(all, busy_ns);
    for (unsigned w = 0; w < all->workers; w++) {
        const bool is_known = is_recorded_known(all, w);
        speeds->known += is_known;
        speeds->speed[w] = is_known && speeds->are_different ? 1 / (all->slowness[w] * mean) : 1;
    }
}

int recorded_speeds_find(struct recorded_speeds *speeds, const struct recorded_chunk *chunks, size_t count,
                         unsigned workers, struct error *error)
{
    size_t neighbours = workers < count / NEIGHBOURS_PART ? workers : count / NEIGHBOURS_PART;
    struct recorded_estimate all = {.chunks = chunks, .count = count, .workers = workers};
    all.neighbours = neighbours < NEIGHBOURS_LEAST ? NEIGHBOURS_LEAST : neighbours;
    all.slowness = calloc(workers + 1, sizeof *all.slowness);
    all.cost_ns = calloc(count + 1, sizeof *all.cost_ns);
    all.left_out = calloc(count + 1, sizeof *all.left_out);
    all.sums = calloc(3 * (count + 1), sizeof *all.sums);
    all.own = calloc(count + 1, sizeof *all.own);
    size_t *next = calloc(3 * ((size_t)workers + 1), sizeof *next);
    all.room = calloc(count + 1, sizeof *all.room);
    all.of = calloc(workers + 1, sizeof *all.of);
    double *busy_ns = calloc(workers + 1, sizeof *busy_ns);
    *speeds = (struct recorded_speeds){.speed = calloc(workers + 1, sizeof *speeds->speed), .workers = workers};
    const bool is_ready = all.slowness != NULL && all.cost_ns != NULL && all.left_out != NULL && all.sums != NULL &&
                          all.own != NULL && next != NULL && all.room != NULL && all.of != NULL && busy_ns != NULL &&
                          speeds->speed != NULL;
    if (is_ready) {
        for (unsigned w = 0; w < workers; w++)
            all.slowness[w] = 1;
        find_own_chunks(&all, next, next + workers + 1, next + 2 * ((size_t)workers + 1));
        solve_recorded(&all);
        leave_out_disturbed(&all);
        solve_recorded(&all);
        set_speeds(speeds, &all, busy_ns);
    } else {
        recorded_speeds_fini(speeds);
    }
    free(all.slowness);
    free(all.cost_ns);
    free(all.left_out);
    free(all.sums);
    free(all.own);
    free(next);
    free(all.room);
    free(all.of);
    free(busy_ns);
    return is_ready ? 0 : error_set(error, "out of memory for the speeds of %u recorded workers", workers);
}

void recorded_speeds_fini(struct recorded_speeds *speeds)
{
    free(speeds->speed);
    *speeds = (struct recorded_speeds){.workers = 0};
}
