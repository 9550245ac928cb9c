/* SPDX-License-Identifier: MIT */
/* Chooses how chunks are drawn, and learns from the measurements of all workers: see core.h. */
#include "common/dca/core.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check_span(const struct sched_config *config, struct error *error)
{
    if (config->iterations <= DCA_SPAN / config->workers)
        return 0;
    return error_set(error,
                     "a loop of %" PRIu64
                     " iterations is too long for %u workers without a coordinator (--dca): accepted is up to %" PRIu64,
                     config->iterations, config->workers, DCA_SPAN / config->workers);
}

/* Is the technique wf, or one that has batch_weight() and so learns the weights of wf? A chunk of wf is a chunk of
 * fac2, multiplied by a given weight ([RMA] Table 2). */
static bool is_wf(const struct sched_spec *spec)
{
    return spec->technique->batch_weight != NULL || strcmp(spec->technique->name, "wf") == 0;
}

static int init_sched(struct dca_core *core, const struct dca_config *config, struct error *error)
{
    struct sched_spec spec = *config->technique;
    if (spec.technique->batch_weight != NULL && sched_init(&core->weights, &spec, &config->sched, error) < 0)
        return -1;
    if ((is_wf(&spec) && sched_spec_parse(&spec, "fac2", error) < 0) ||
        sched_init(&core->sched, &spec, &config->sched, error) < 0) {
        sched_fini(&core->weights);
        return -1;
    }
    return 0;
}

/* Chooses how chunks are weighted. For wf, and for techniques that learn the weights of wf, the given powers are scaled
 * so that the weights sum to P. */
static void choose_weights(struct dca_core *core, const struct dca_config *config)
{
    const double *powers = config->sched.powers;
    const bool wf = is_wf(config->technique);
    core->to_the_letter = sched_spec_is_paper(config->technique);
    core->rounds_up = wf;
    core->weighted = config->sched.weighting == SCHED_WEIGHTING_ACP || core->weights.technique != NULL ||
                     (powers != NULL && (wf || config->sched.weighting != SCHED_WEIGHTING_NONE));
    for (unsigned j = 0; powers != NULL && wf && j < config->sched.workers; j++)
        core->power_sum += powers[j];
}

double dca_weight(const struct dca_core *core, double power)
{
    if (core->way != DCA_BY_STEP || !core->weighted)
        return 0;
    return core->power_sum > 0 ? power * core->sched.workers / core->power_sum : power;
}

static int choose_way(struct dca_core *core, const struct dca_config *config, struct error *error)
{
    struct error reason;
    const struct technique *technique = core->sched.technique;
    if (sched_check_closed(&core->sched, &reason) == 0) {
        choose_weights(core, config);
        core->way = core->weighted || config->two_counters ? DCA_BY_STEP : DCA_BY_POSITION;
        return sched_bounds_init(&core->bounds, &core->sched, error);
    }
    if (technique->from_rest == NULL)
        return technique->at != NULL ? error_set(error, "%s", reason.text)
                                     : error_set(error,
                                                 "technique %s cannot run without a coordinator (--dca): its next "
                                                 "chunk follows neither from the scheduling "
                                                 "step nor from the remaining work alone",
                                                 technique->name);
    core->way = DCA_BY_REMAINING;
    return 0;
}

static int prepare_learning(struct dca_core *core, struct error *error)
{
    unsigned workers = core->sched.workers;
    const bool learns = core->way == DCA_BY_REMAINING && (core->sched.technique->needs & SCHED_NEEDS_FEEDBACK) != 0;
    if (!learns && core->weights.technique == NULL)
        return 0;
    core->known = calloc(workers, sizeof *core->known);
    core->fresh = calloc(workers, sizeof *core->fresh);
    if (core->known != NULL && core->fresh != NULL)
        return 0;
    return error_set(error, "out of memory for what %u workers measure", workers);
}

int dca_init(struct dca_core *core, const struct dca_config *config, struct error *error)
{
    *core = (struct dca_core){
        .iterations = config->sched.iterations,
        .stop = 2 * (DCA_SPAN / config->sched.workers),
    };
    if (check_span(&config->sched, error) < 0 || init_sched(core, config, error) < 0)
        return -1;
    if (choose_way(core, config, error) == 0 && prepare_learning(core, error) == 0)
        return 0;
    dca_fini(core);
    return -1;
}

void dca_fini(struct dca_core *core)
{
    if (core->bounds.sched != NULL)
        sched_bounds_fini(&core->bounds);
    sched_fini(&core->sched);
    sched_fini(&core->weights);
    free(core->known);
    free(core->fresh);
    core->known = core->fresh = NULL;
    core->bounds.sched = NULL;
}

static uint64_t check_of(const struct dca_measured *measured)
{
    uint64_t words[6], check = UINT64_C(0x9e3779b97f4a7c15);
    memcpy(words, measured, sizeof words);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        check = (check ^ words[i]) * UINT64_C(0xbf58476d1ce4e5b9);
        check ^= check >> 29;
    }
    return check;
}

static void dca_core_learn(struct dca_core *core, unsigned worker, const struct dca_measured *now)
{
    struct dca_measured *before = &core->known[worker];
    uint64_t freedom = now->freedom - before->freedom;
    double squares = now->squares - before->squares;
    sched_feedback(core->weights.technique != NULL ? &core->weights : &core->sched,
                   &(struct sched_feedback){
                       .worker = worker,
                       .chunks = (uint32_t)(now->chunks - before->chunks),
                       .iterations = now->iterations - before->iterations,
                       .compute_s = (double)(now->compute_ns - before->compute_ns) / 1e9,
                       .wait_s = (double)(now->wait_ns - before->wait_ns) / 1e9,
                       .deviation_s = freedom > 0 && squares > 0 ? sqrt(squares / (double)freedom) / 1e9 : 0,
                       .samples = freedom > 0 ? (uint32_t)freedom + 1 : 0,
                   });
    *before = *now;
}

void dca_seal(struct dca_measured *measured)
{
    measured->check = check_of(measured);
}

void dca_learn(struct dca_core *core)
{
    for (unsigned w = 0; w < core->sched.workers; w++)
        if (core->fresh[w].chunks > core->known[w].chunks && core->fresh[w].check == check_of(&core->fresh[w]))
            dca_core_learn(core, w, &core->fresh[w]);
}

bool dca_is_over(const struct dca_core *core, uint64_t counter)
{
    switch (core->way) {
    case DCA_BY_POSITION: return counter >= core->bounds.count;
    case DCA_BY_STEP: return counter >= core->stop || (!core->weighted && counter >= core->bounds.count);
    case DCA_BY_REMAINING: return counter >= core->iterations;
    }
    return true;
}

enum dca_counter dca_first_counter(const struct dca_core *core)
{
    return core->way == DCA_BY_POSITION ? DCA_STEP : DCA_START;
}

uint64_t dca_drawn(const struct dca_core *core, uint64_t counter)
{
    if (core->way == DCA_BY_POSITION)
        return sched_bounds_start(&core->bounds, counter < core->bounds.count ? counter : core->bounds.count);
    return counter < core->iterations ? counter : core->iterations;
}
