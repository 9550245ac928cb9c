/* SPDX-License-Identifier: MIT */
/* Probing: see probe.h. */
#include "common/machine/probe.h"

#include <math.h>
#include <string.h>

void probe_init(struct probe *probe, uint64_t first, uint64_t count, unsigned least)
{
    *probe = (struct probe){.first = first, .count = count, .least = least, .enough_ns = PROBE_NS};
    stats_init(&probe->all);
}

/* floor(numerator / 2^64 * count) */
static uint64_t part_of(uint64_t numerator, uint64_t count)
{
    return (uint64_t)((unsigned __int128)numerator * count >> 64);
}

/* Returns the position of probe iteration k in the loop, as a fraction times 2^64. The positions are the van der Corput
 * sequence, so any number of first iterations is spread evenly over the loop. */
static uint64_t place(uint64_t k)
{
    uint64_t reversed = 0;
    for (uint64_t bits = k, half = UINT64_C(1) << 63; bits != 0; bits >>= 1, half >>= 1)
        reversed += bits & 1 ? half : 0;
    return reversed;
}

uint64_t probe_iteration(const struct probe *probe, uint64_t k)
{
    return probe->first + part_of(place(k), probe->count);
}

uint64_t probe_next(const struct probe *probe)
{
    uint64_t level = UINT64_C(1) << probe->levels;
    uint64_t least = probe->least < probe->count ? probe->least : probe->count;
    bool more = probe->levels < LEVELS_MAX && probe->elapsed_ns < probe->enough_ns && level <= probe->count;
    if (probe->levels == 0 || more)
        return level - probe->done;
    return probe->done < least ? least - probe->done : 0;
}

bool probe_times_each(const struct probe *probe)
{
    return (double)probe->elapsed_ns >= PROBE_SHORT_NS * (double)probe->done && probe->done > 0;
}

void probe_add(struct probe *probe, uint64_t count, uint64_t elapsed_ns)
{
    if (count == 1 && probe->all.count == 0 && probe->done == 0 && (double)elapsed_ns >= PROBE_SHORT_NS)
        probe_add_single(probe, 0, (double)elapsed_ns);
    probe->elapsed_ns += elapsed_ns;
    probe->done += count;
    if (probe->levels < LEVELS_MAX && probe->done == UINT64_C(1) << probe->levels)
        probe->level_ns[probe->levels++] = probe->elapsed_ns;
}

static size_t cell_of(const struct probe *probe, uint64_t k)
{
    uint64_t i = part_of(place(k), probe->count);
    return probe->count > 0 ? (size_t)((unsigned __int128)i * SPEED_CELLS / probe->count) : 0;
}

void probe_add_single(struct probe *probe, uint64_t k, double elapsed_ns)
{
    size_t cell = cell_of(probe, k);
    if (probe->all.count < PROBE_SWR) {
        probe->shortest_ns = probe->all.count == 0 ? elapsed_ns : fmin(probe->shortest_ns, elapsed_ns);
        probe->longest_ns = fmax(probe->longest_ns, elapsed_ns);
    }
    stats_add(&probe->all, elapsed_ns);
    probe->cells[cell].sum_ns += elapsed_ns;
    probe->cells[cell].count++;
}

uint64_t probe_wants_singles(struct probe *probe)
{
    if (2 * probe->all.count >= probe->done)
        return 0;
    stats_init(&probe->all);
    memset(probe->cells, 0, sizeof probe->cells);
    probe->shortest_ns = probe->longest_ns = 0;
    return probe->done < PROBE_SINGLES ? probe->done : PROBE_SINGLES;
}

static double shortest_over_longest(const struct probe *probe)
{
    if (probe->all.count < 2)
        return 0;
    return probe->longest_ns > 0 ? fmax(probe->shortest_ns / probe->longest_ns, PROBE_SWR_MIN) : 1;
}

void probe_finish(const struct probe *probe, struct speed *speed)
{
    const struct stats *all = &probe->all;
    *speed = (struct speed){
        .mean_ns = all->count > 0 ? fmax(all->mean, SPEED_MEAN_MIN_NS) : 0,
        .deviation_ns = all->count < 2 ? 0 : sqrt(all->m2 / (double)(all->count - 1)),
        .swr = shortest_over_longest(probe),
        .levels = probe->levels,
    };
    for (size_t i = 0; i < SPEED_CELLS; i++)
        if (probe->cells[i].count > 0)
            speed->cells[i] =
                (struct speed_cell){(float)(probe->cells[i].sum_ns / probe->cells[i].count), probe->cells[i].count};
    for (unsigned i = 0; i < probe->levels; i++)
        speed->elapsed_ns[i] = probe->level_ns[i] > 0 ? probe->level_ns[i] : 1;
}

void speed_share(struct speed *speed, double share)
{
    speed->mean_ns = speed->mean_ns > 0 ? fmax(speed->mean_ns / share, SPEED_MEAN_MIN_NS) : 0;
    speed->deviation_ns /= share;
    for (unsigned i = 0; i < SPEED_CELLS; i++)
        speed->cells[i].mean_ns /= (float)share;
    for (unsigned i = 0; i < speed->levels; i++) {
        double elapsed_ns = (double)speed->elapsed_ns[i] / share;
        speed->elapsed_ns[i] = elapsed_ns > 1 ? (uint64_t)elapsed_ns : 1;
    }
}

struct speed_levels speed_levels_of(const struct speed *speed)
{
    struct speed_levels levels = {.count = speed->levels};
    for (unsigned i = 0; i < speed->levels; i++)
        levels.elapsed_ns[i] = speed->elapsed_ns[i];
    return levels;
}

void probe_compare(const struct speed_levels *levels, unsigned workers, double *mean_s)
{
    const struct speed_levels *best = &levels[0];
    for (unsigned w = 1; w < workers; w++)
        if (levels[w].count > best->count)
            best = &levels[w];
    double best_s = (double)best->elapsed_ns[best->count - 1] / (double)(UINT64_C(1) << (best->count - 1)) / 1e9;
    for (unsigned w = 0; w < workers; w++) {
        unsigned last = levels[w].count - 1;
        mean_s[w] = best_s * ((double)levels[w].elapsed_ns[last] / (double)best->elapsed_ns[last]);
    }
}
