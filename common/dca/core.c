/* SPDX-License-Identifier: MIT */
/* The arithmetic of a draw: see core.h. */
#include "common/dca/core.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What lies this close below a whole number is that number: as in the techniques. */
#define ROUNDING_GUARD 1e-9

const char *flat_way_name(enum flat_way way)
{
    static const char *const names[] = {"place", "step", "rest"};
    return names[way];
}

/* --- which way --- */

static int check_span(const struct sched_config *config, struct error *error)
{
    if (config->iterations <= FLAT_SPAN / config->workers)
        return 0;
    return error_set(error,
                     "a loop of %" PRIu64
                     " iterations is too long for %u workers without a coordinator (--dca): accepted is up to %" PRIu64,
                     config->iterations, config->workers, FLAT_SPAN / config->workers);
}

/* wf is the closed form of fac2 with a weight, [RMA] Table 2. */
static bool is_wf(const struct sched_spec *spec)
{
    return strcmp(spec->technique->name, "wf") == 0;
}

static int init_sched(struct flat_core *core, const struct flat_config *config, struct error *error)
{
    struct sched_spec spec = *config->technique;
    if (is_wf(&spec) && sched_spec_parse(&spec, "fac2", error) < 0)
        return -1;
    return sched_init(&core->sched, &spec, &config->sched, error);
}

/* The weight of this worker's chunks; 0 where they are not weighted. wf's weights sum to P. */
static double weight_of(const struct flat_config *config)
{
    const double *powers = config->sched.powers;
    double sum = 0;
    bool acp = config->sched.weighting == SCHED_WEIGHTING_ACP;
    if (powers == NULL)
        return acp ? 1 : 0;
    if (!is_wf(config->technique) && config->sched.weighting == SCHED_WEIGHTING_NONE)
        return 0;
    for (unsigned j = 0; j < config->sched.workers; j++)
        sum += powers[j];
    return is_wf(config->technique) ? powers[config->worker] * config->sched.workers / sum : powers[config->worker];
}

static int choose_way(struct flat_core *core, const struct flat_config *config, struct error *error)
{
    struct error reason;
    const struct technique *technique = core->sched.technique;
    if (sched_check_closed(&core->sched, &reason) == 0) {
        core->power = weight_of(config);
        core->way = core->power > 0 || config->two_counters ? FLAT_BY_STEP : FLAT_BY_PLACE;
        return sched_bounds_init(&core->bounds, &core->sched, error);
    }
    if (technique->from_rest == NULL)
        return technique->at != NULL ? error_set(error, "%s", reason.text)
                                     : error_set(error,
                                                 "technique %s cannot run without a coordinator (--dca): its next "
                                                 "chunk follows neither from the scheduling "
                                                 "step nor from the remaining work alone",
                                                 technique->name);
    core->way = FLAT_BY_REST;
    return 0;
}

static int prepare_learning(struct flat_core *core, struct error *error)
{
    unsigned workers = core->sched.workers;
    if (core->way != FLAT_BY_REST || (core->sched.technique->needs & SCHED_NEEDS_FEEDBACK) == 0)
        return 0;
    core->known = calloc(workers, sizeof *core->known);
    core->fresh = calloc(workers, sizeof *core->fresh);
    if (core->known != NULL && core->fresh != NULL)
        return 0;
    return error_set(error, "out of memory for what %u workers measure", workers);
}

int flat_init(struct flat_core *core, const struct flat_config *config, struct error *error)
{
    *core = (struct flat_core){
        .worker = config->worker,
        .iterations = config->sched.iterations,
        .rest = config->sched.iterations,
        .load = 1,
        .stop = 2 * (FLAT_SPAN / config->sched.workers),
    };
    if (check_span(&config->sched, error) < 0 || init_sched(core, config, error) < 0)
        return -1;
    if (choose_way(core, config, error) == 0 && prepare_learning(core, error) == 0)
        return 0;
    flat_fini(core);
    return -1;
}

void flat_fini(struct flat_core *core)
{
    if (core->bounds.sched != NULL)
        sched_bounds_fini(&core->bounds);
    sched_fini(&core->sched);
    free(core->known);
    free(core->fresh);
    core->known = core->fresh = NULL;
    core->bounds.sched = NULL;
}

/* --- what others measured --- */

/* Mixes the words of a record, so that one of which only some words are new does not fit. */
static uint64_t check_of(const struct flat_measured *measured)
{
    uint64_t words[5], check = UINT64_C(0x9e3779b97f4a7c15);
    memcpy(words, measured, sizeof words);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        check = (check ^ words[i]) * UINT64_C(0xbf58476d1ce4e5b9);
        check ^= check >> 29;
    }
    return check;
}

static void learn(struct flat_core *core, unsigned worker, const struct flat_measured *now)
{
    struct flat_measured *before = &core->known[worker];
    uint64_t freedom = now->freedom - before->freedom;
    double squares = now->squares - before->squares;
    sched_feedback(&core->sched,
                   &(struct sched_feedback){
                       .worker = worker,
                       .chunks = (uint32_t)(now->chunks - before->chunks),
                       .iterations = now->iterations - before->iterations,
                       .compute_s = (double)(now->compute_ns - before->compute_ns) / 1e9,
                       .deviation_s = freedom > 0 && squares > 0 ? sqrt(squares / (double)freedom) / 1e9 : 0,
                       .samples = freedom > 0 ? (uint32_t)freedom + 1 : 0,
                   });
    *before = *now;
}

/* Tells the others what is measured here, and the technique what they have measured since. */
static void exchange(struct flat_core *core, const struct flat_counters *counters)
{
    core->own.check = check_of(&core->own);
    counters->share(counters->self, &core->own, core->fresh);
    core->fresh[core->worker] = core->own;
    for (unsigned w = 0; w < core->sched.workers; w++)
        if (core->fresh[w].chunks > core->known[w].chunks && core->fresh[w].check == check_of(&core->fresh[w]))
            learn(core, w, &core->fresh[w]);
}

void flat_measure(struct flat_core *core, uint64_t iterations, uint64_t compute_ns, double deviation_ns,
                  unsigned samples)
{
    if (!flat_learns(core))
        return;
    core->own.chunks++;
    core->own.iterations += iterations;
    core->own.compute_ns += compute_ns;
    if (samples > 1) {
        core->own.freedom += samples - 1;
        core->own.squares += (samples - 1) * deviation_ns * deviation_ns;
    }
}

void flat_set_load(struct flat_core *core, double load)
{
    if (core->sched.loads == NULL)
        return;
    core->load = load;
    sched_set_load(&core->sched, core->worker, load);
}

/* --- drawing --- */

static void calculate(const struct flat_counters *counters)
{
    if (counters->calculating != NULL)
        counters->calculating(counters->self);
}

static bool draw_by_place(struct flat_core *core, const struct flat_counters *counters, struct range *chunk)
{
    uint64_t step = counters->fetch_add(counters->self, FLAT_STEP, 1);
    if (step >= core->bounds.count)
        return false;
    calculate(counters);
    return flat_draw_step(core, step, chunk);
}

bool flat_take(struct flat_core *core, uint64_t start, uint64_t size, struct range *chunk)
{
    if (start >= core->iterations)
        return false;
    uint64_t left = core->iterations - start;
    *chunk = (struct range){.first = start, .count = size < left ? size : left};
    core->rest = left - chunk->count;
    return true;
}

/* Takes `size` iterations from the start of the loop. */
static bool take(struct flat_core *core, const struct flat_counters *counters, uint64_t size, struct range *chunk)
{
    return flat_take(core, counters->fetch_add(counters->self, FLAT_START, size), size, chunk);
}

/* K' = floor(K V_j / Q_j), [SW] eq 2, and K w_j, [RMA] Table 2. What rounding down cuts off goes to this worker's next
 * chunk, so that no crumbs are left for the end. */
static uint64_t weighted(struct flat_core *core, uint64_t size)
{
    double share = (double)size * core->power / core->load + core->carry;
    if (share >= (double)core->iterations)
        return core->iterations;
    uint64_t whole = (uint64_t)(share + ROUNDING_GUARD);
    double rest = share - (double)whole;
    core->carry = whole > 0 && rest > 0 ? rest : 0;
    return whole > core->sched.min_chunk ? whole : core->sched.min_chunk;
}

/* The size of chunk `step`. Weighted chunks may not add up to N in the closed form's own number of steps; the rest is
 * factored by two then, by what the last draw has told of it: else it would go out in chunks of the last size, which is
 * often 1. */
static uint64_t weighted_size(struct flat_core *core, uint64_t step)
{
    uint64_t size = sched_at(&core->sched, step);
    if (step >= core->bounds.count) {
        uint64_t half = core->rest / (2 * (uint64_t)core->sched.workers);
        size = half > size ? half : size;
    }
    return weighted(core, size);
}

bool flat_is_over(const struct flat_core *core, uint64_t counter)
{
    switch (core->way) {
    case FLAT_BY_PLACE: return counter >= core->bounds.count;
    case FLAT_BY_STEP: return counter >= core->stop || (core->power == 0 && counter >= core->bounds.count);
    case FLAT_BY_REST: return counter >= core->iterations;
    }
    return true;
}

uint64_t flat_size(struct flat_core *core, uint64_t counter)
{
    uint64_t size = core->way == FLAT_BY_REST ? sched_from_rest(&core->sched, core->worker, core->iterations - counter)
                    : core->power > 0         ? weighted_size(core, counter)
                                              : sched_at(&core->sched, counter);
    return size < core->iterations ? size : core->iterations;
}

/* [RMA]: draw i, calculate K_i, add it to the start. Without weights the steps below S cover the loop. */
static bool draw_by_step(struct flat_core *core, const struct flat_counters *counters, struct range *chunk)
{
    uint64_t step = counters->fetch_add(counters->self, FLAT_STEP, 1);
    if (flat_is_over(core, step))
        return false;
    calculate(counters);
    return take(core, counters, flat_size(core, step), chunk);
}

/* [DCA] section 4, as there for af: read R, calculate K, add it to the start. R may be older than the addition: then K
 * is what was right a moment ago. */
static bool draw_by_rest(struct flat_core *core, const struct flat_counters *counters, struct range *chunk)
{
    if (flat_learns(core))
        exchange(core, counters);
    uint64_t start = counters->fetch_add(counters->self, FLAT_START, 0);
    if (flat_is_over(core, start))
        return false;
    calculate(counters);
    return take(core, counters, flat_size(core, start), chunk);
}

bool flat_draw(struct flat_core *core, const struct flat_counters *counters, struct range *chunk)
{
    switch (core->way) {
    case FLAT_BY_PLACE: return draw_by_place(core, counters, chunk);
    case FLAT_BY_STEP: return draw_by_step(core, counters, chunk);
    case FLAT_BY_REST: return draw_by_rest(core, counters, chunk);
    }
    return false;
}

enum flat_counter flat_first_counter(const struct flat_core *core)
{
    return core->way == FLAT_BY_PLACE ? FLAT_STEP : FLAT_START;
}

/* No draw makes the step as large; by rest it is not used otherwise. */
void flat_stop(const struct flat_core *core, const struct flat_counters *counters)
{
    counters->fetch_add(counters->self, FLAT_STEP, core->stop);
    if (core->way == FLAT_BY_REST)
        counters->fetch_add(counters->self, FLAT_START, core->stop);
}

bool flat_is_stopped(const struct flat_core *core, const struct flat_counters *counters)
{
    return counters->fetch_add(counters->self, FLAT_STEP, 0) >= core->stop;
}

uint64_t flat_drawn(const struct flat_core *core, uint64_t counter)
{
    if (core->way == FLAT_BY_PLACE)
        return sched_bounds_start(&core->bounds, counter < core->bounds.count ? counter : core->bounds.count);
    return counter < core->iterations ? counter : core->iterations;
}
