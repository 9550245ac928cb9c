/* SPDX-License-Identifier: MIT */
/* What all techniques share: preparation, weighting, clamping, and powers from measured speeds.
 *
 * For any result of a technique's formula this file guarantees three properties: a chunk is not empty while work
 * remains, a chunk is not larger than the remaining work, and the loop ends. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const weighting_names[] = {
    [SCHED_WEIGHTING_NONE] = "none",
    [SCHED_WEIGHTING_POWER] = "power",
    [SCHED_WEIGHTING_ACP] = "acp",
};

int sched_weighting_parse(enum sched_weighting *weighting, const char *text, struct error *error)
{
    for (size_t i = 0; i < sizeof weighting_names / sizeof *weighting_names; i++) {
        if (strcmp(text, weighting_names[i]) == 0) {
            *weighting = (enum sched_weighting)i;
            return 0;
        }
    }
    return error_set(error, "weighting '%s' is unknown: accepted are none, power, acp", text);
}

const char *sched_weighting_name(enum sched_weighting weighting)
{
    return weighting_names[weighting];
}

static int check_config(const struct sched_config *config, struct error *error)
{
    if (config->iterations > SCHED_ITERATIONS_MAX)
        return error_set(error, "a loop of %" PRIu64 " iterations is too long: accepted is up to 2^63",
                         config->iterations);
    if (config->workers < 1 || config->workers > SCHED_WORKERS_MAX)
        return error_set(error, "workers=%u is not accepted: an integer from 1 to %u", config->workers,
                         SCHED_WORKERS_MAX);
    if (config->weighting == SCHED_WEIGHTING_ACP && !config->loads)
        return error_set(error, "weighting acp is not available here: it needs the load of each worker's core, which "
                                "only a run measures; accepted are none, power");
    for (unsigned j = 0; config->powers != NULL && j < config->workers; j++)
        if (!(config->powers[j] >= SCHED_POWER_MIN && config->powers[j] <= SCHED_POWER_MAX))
            return error_set(error, "power %g of worker %u is not accepted: a number from %g to %g", config->powers[j],
                             j + 1, SCHED_POWER_MIN, SCHED_POWER_MAX);
    return 0;
}

static int check_measured(const struct sched_config *config, struct error *error)
{
    if (!(config->overhead_s >= 0 && config->overhead_s < INFINITY))
        return error_set(error, "overhead_s=%g is not accepted: a time from 0", config->overhead_s);
    if (!(config->swr >= 0 && config->swr <= 1))
        return error_set(error, "swr=%g is not accepted: a number from 0 to 1", config->swr);
    return 0;
}

static int copy_power(struct sched *sched, unsigned worker, struct error *error)
{
    struct twofold power;
    if (!twofold_of_decimal(&power, sched->powers[worker]))
        sched->power_doubt = DOUBLE_DOUBT;
    if (power.low != 0 && sched->power_rests == NULL) {
        sched->power_rests = calloc(sched->workers, sizeof *sched->power_rests);
        if (sched->power_rests == NULL)
            return error_set(error, "out of memory for the powers of %u workers", sched->workers);
    }
    if (power.low != 0)
        sched->power_rests[worker] = power.low;
    sched->power_total = twofold_add(sched->power_total, power);
    sched->power_sum += sched->powers[worker];
    return 0;
}

static int copy_powers(struct sched *sched, const double *powers, struct error *error)
{
    sched->powers = malloc(sched->workers * sizeof *sched->powers);
    if (sched->powers == NULL)
        return error_set(error, "out of memory for the powers of %u workers", sched->workers);
    for (unsigned j = 0; j < sched->workers; j++) {
        sched->powers[j] = powers != NULL ? powers[j] : 1;
        if (copy_power(sched, j, error) < 0)
            return -1;
    }
    return 0;
}

static int init_loads(struct sched *sched, struct error *error)
{
    if (sched->weighting != SCHED_WEIGHTING_ACP)
        return 0;
    sched->loads = malloc(sched->workers * sizeof *sched->loads);
    if (sched->loads == NULL)
        return error_set(error, "out of memory for the loads of %u workers", sched->workers);
    for (unsigned j = 0; j < sched->workers; j++)
        sched->loads[j] = 1;
    return 0;
}

/* A technique with SCHED_NEEDS_POWER uses the powers itself, so it must not be weighted by power again. It can be
 * weighted by acp, because the technique does not use the loads. */
static enum sched_weighting weighting_of(const struct technique *technique, enum sched_weighting weighting)
{
    bool by_nature = (technique->needs & SCHED_NEEDS_POWER) != 0;
    return by_nature && weighting == SCHED_WEIGHTING_POWER ? SCHED_WEIGHTING_NONE : weighting;
}

static int init_technique(struct sched *sched, const struct sched_config *config, struct error *error)
{
    const struct technique *technique = sched->technique;
    bool weighted = (technique->needs & SCHED_NEEDS_POWER) != 0 || sched->weighting != SCHED_WEIGHTING_NONE;
    if (weighted && copy_powers(sched, config->powers, error) < 0)
        return -1;
    return technique->init != NULL ? technique->init(sched, error) : 0;
}

int sched_init(struct sched *sched, const struct sched_spec *spec, const struct sched_config *config,
               struct error *error)
{
    *sched = (struct sched){
        .technique = spec->technique,
        .spec = *spec,
        .iterations = config->iterations,
        .workers = config->workers,
        .min_chunk = config->min_chunk > 1 ? config->min_chunk : 1,
        .max_chunk = config->max_chunk > 0 ? config->max_chunk : UINT64_MAX,
        .weighting = weighting_of(spec->technique, config->weighting),
        .remaining = config->iterations,
        .is_disturbed = true,
        .overhead_s = config->overhead_s,
        .swr = config->swr,
    };
    for (unsigned i = 0; i < SCHED_PARAMS_MAX; i++)
        sched->measured[i] = NAN;
    if (check_config(config, error) == 0 && check_measured(config, error) == 0 && init_loads(sched, error) == 0 &&
        init_technique(sched, config, error) == 0)
        return 0;
    sched_fini(sched);
    return -1;
}

static void release_own(struct sched *sched)
{
    if (sched->own != NULL && sched->technique->fini != NULL)
        sched->technique->fini(sched);
    free(sched->own);
    sched->own = NULL;
    sched->failure = NULL;
}

void sched_fini(struct sched *sched)
{
    release_own(sched);
    free(sched->powers);
    free(sched->power_rests);
    free(sched->loads);
    sched->powers = NULL;
    sched->power_rests = NULL;
    sched->loads = NULL;
}

/* Returns K V_j / Q_j, [SW] eq 2. For techniques with SCHED_NEEDS_POWER, K already includes V_j. Learned speeds
 * do not include the load: see unload(). */
static double available(const struct sched *sched, unsigned worker, double chunk)
{
    bool by_nature = (sched->technique->needs & SCHED_NEEDS_POWER) != 0;
    return chunk * (by_nature ? 1 : sched->powers[worker]) / sched->loads[worker];
}

void sched_set_load(struct sched *sched, unsigned worker, double load)
{
    assert(worker < sched->workers && load >= 1);
    if (sched->loads != NULL)
        sched->loads[worker] = load;
}

static uint64_t take_formula(struct sched *sched, uint64_t chunk)
{
    sched->formula = chunk;
    return chunk < sched->max_chunk ? chunk : sched->max_chunk;
}

static uint64_t next_placed(struct sched *sched, unsigned worker)
{
    const struct technique_places *places = sched->technique->places;
    if (sched->is_disturbed) {
        places->lay_out(sched);
        sched->is_disturbed = false;
        sched->is_laid_out = true;
    }
    uint64_t chunk = take_formula(sched, sched->technique->next(sched, worker));
    if (chunk < sched->min_chunk)
        chunk = sched->min_chunk;
    chunk = places->take(sched, worker, chunk);
    assert(chunk > 0 && chunk <= sched->remaining && "while work remains a part has some for whoever asks");
    sched->remaining -= chunk;
    sched->step++;
    return chunk;
}

uint64_t sched_next(struct sched *sched, unsigned worker)
{
    assert(worker < sched->workers);
    if (sched->remaining == 0)
        return 0;
    if (sched->technique->places != NULL)
        return next_placed(sched, worker);
    uint64_t chunk = take_formula(sched, sched->technique->next(sched, worker));
    /* this is K' = floor(K V_j), [SW] eq 2 */
    if (sched->weighting == SCHED_WEIGHTING_POWER)
        chunk = floor_times_power(sched, worker, twofold_of_integer(chunk));
    else if (sched->weighting == SCHED_WEIGHTING_ACP)
        chunk = floor_real(available(sched, worker, (double)chunk));
    if (chunk < sched->min_chunk)
        chunk = sched->min_chunk;
    if (chunk > sched->remaining)
        chunk = sched->remaining;
    sched->remaining -= chunk;
    sched->step++;
    return chunk;
}

bool sched_cut(struct sched *sched, unsigned worker, struct range *chunk)
{
    chunk->first = sched->iterations - sched->remaining;
    chunk->count = sched_next(sched, worker);
    if (sched->technique->places != NULL)
        chunk->first = sched->place;
    return chunk->count > 0;
}

uint64_t sched_widen(struct sched *sched, unsigned worker, uint64_t more)
{
    const struct technique_places *places = sched->technique->places;
    const uint64_t place = sched->place;
    more = more < sched->remaining ? more : sched->remaining;
    if (places != NULL)
        more = places->take(sched, worker, more);
    sched->place = place;
    sched->remaining -= more;
    return more;
}

void sched_shorten(struct sched *sched, unsigned worker, uint64_t count)
{
    assert(count <= sched->iterations - sched->remaining);
    if (sched->technique->places != NULL && count > 0)
        sched->technique->places->put_back(sched, worker, count);
    sched->remaining += count;
}

void sched_give_back(struct sched *sched, uint64_t count)
{
    uint64_t cut = sched->iterations - sched->remaining;
    assert(count <= cut);
    sched->remaining += count < cut ? count : cut;
    sched->is_disturbed |= count > 0;
}

void sched_grow(struct sched *sched, uint64_t count)
{
    assert(sched->technique->may_grow && count <= SCHED_ITERATIONS_MAX - sched->iterations);
    sched->iterations += count;
    sched->remaining += count;
    sched->is_disturbed |= count > 0;
}

void sched_claim(struct sched *sched, uint64_t count)
{
    assert(count <= sched->remaining);
    sched->remaining -= count < sched->remaining ? count : sched->remaining;
    sched->is_disturbed |= count > 0;
}

/* Removes the load of the core from a measurement. Otherwise the technique would learn that a worker on a loaded
 * core is slow, and the load would count twice. */
static void unload(struct sched_feedback *feedback, double load)
{
    feedback->compute_s /= load;
    feedback->deviation_s /= load;
}

void sched_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    assert(feedback->worker < sched->workers);
    bool sound = feedback->iterations > 0 && feedback->chunks > 0 && feedback->compute_s >= 0 &&
                 feedback->compute_s < INFINITY && feedback->wait_s >= 0 && feedback->wait_s < INFINITY &&
                 feedback->deviation_s >= 0 && feedback->deviation_s < INFINITY;
    if (!sound || sched->technique->feedback == NULL)
        return;
    struct sched_feedback alone = *feedback;
    if (sched->loads != NULL && sched->technique->weight != NULL)
        unload(&alone, sched->loads[feedback->worker]);
    sched->technique->feedback(sched, &alone);
}

double sched_weight(const struct sched *sched, unsigned worker)
{
    assert(worker < sched->workers);
    if (sched->technique->weight != NULL)
        return sched->technique->weight(sched, worker);
    return sched->powers != NULL ? sched->powers[worker] * sched->workers / sched->power_sum : 1;
}

unsigned sched_values_used(const struct sched *sched, struct sched_value_used used[SCHED_PARAMS_MAX])
{
    const struct technique_param *params = sched->technique->params;
    unsigned count = 0;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++)
        if (!sched->spec.given[i] && !isnan(sched->measured[i]))
            used[count++] = (struct sched_value_used){params[i].name, sched->measured[i]};
    return count;
}

int sched_again(struct sched *sched, uint64_t iterations, struct error *error)
{
    const struct technique *technique = sched->technique;
    if (iterations > SCHED_ITERATIONS_MAX)
        return error_set(error, "a loop of %" PRIu64 " iterations is too long: accepted is up to 2^63", iterations);
    sched->iterations = sched->remaining = iterations;
    sched->step = 0;
    sched->is_disturbed = true;
    if (technique->again != NULL) {
        technique->again(sched);
        return 0;
    }
    release_own(sched);
    memset(&sched->constant, 0, sizeof sched->constant);
    memset(&sched->state, 0, sizeof sched->state);
    return technique->init != NULL ? technique->init(sched, error) : 0;
}

/* True if the closed form needs the parameter and its value is not known. The closed form cannot use a value that is
 * measured during the loop: it is unknown in the first steps and differs between workers. A value that was probed
 * before the loop is as good as a given value. */
static bool sched_is_missing(const struct sched *sched, unsigned param)
{
    switch (sched->technique->params[param].measured) {
    case SCHED_MEASURED_BY_FEEDBACK: return !sched->spec.given[param];
    case SCHED_MEASURED_BY_PROBE: return !sched->spec.given[param] && isnan(sched->measured[param]);
    case SCHED_NOT_MEASURED: break;
    }
    return false;
}

int sched_check_closed(const struct sched *sched, struct error *error)
{
    const struct technique *technique = sched->technique;
    if (technique->at == NULL)
        return error_set(error, "%s has no closed form: accepted is the recursive form", technique->name);
    if (sched->max_chunk < UINT64_MAX)
        return error_set(error, "--max-chunk is for the recursive form, and the closed one is asked for");
    for (unsigned i = 0; technique->params != NULL && technique->params[i].name != NULL; i++)
        if (sched_is_missing(sched, i))
            return error_set(error,
                             "technique %s: the closed form needs %s=, as nothing is measured before its steps "
                             "are known: accepted is a number, or the recursive form",
                             technique->name, technique->params[i].name);
    return 0;
}

uint64_t sched_at(const struct sched *sched, uint64_t step)
{
    uint64_t chunk = sched->technique->at(sched, step);
    return chunk > sched->min_chunk ? chunk : sched->min_chunk;
}

uint64_t sched_from_rest(struct sched *sched, unsigned worker, uint64_t remaining)
{
    assert(worker < sched->workers);
    sched->remaining = remaining;
    uint64_t chunk = take_formula(sched, sched->technique->from_rest(sched, worker));
    if (sched->weighting == SCHED_WEIGHTING_ACP)
        chunk = floor_real(available(sched, worker, (double)chunk));
    if (chunk < sched->min_chunk)
        chunk = sched->min_chunk;
    return chunk < remaining ? chunk : remaining;
}

static double reference_speed(enum sched_powers reference, const double *speeds, unsigned workers)
{
    double slowest = speeds[0], fastest = speeds[0], sum = 0;
    for (unsigned j = 0; j < workers; j++) {
        slowest = fmin(slowest, speeds[j]);
        fastest = fmax(fastest, speeds[j]);
        sum += speeds[j];
    }
    switch (reference) {
    case SCHED_POWERS_BY_SLOWEST: return slowest;
    case SCHED_POWERS_BY_FASTEST: return fastest;
    case SCHED_POWERS_BY_MEAN: return sum / workers;
    }
    return 1;
}

/* Techniques with SCHED_NEEDS_POWER get powers by the rule of their paper. If other techniques are weighted, V_j =
 * speed_j / fastest speed, [SW]. */
void sched_powers_from_speeds(const struct technique *technique, enum sched_weighting weighting, const double *speeds,
                              unsigned workers, double *powers)
{
    bool mechanism = weighting != SCHED_WEIGHTING_NONE && (technique->needs & SCHED_NEEDS_POWER) == 0;
    double reference = reference_speed(mechanism ? SCHED_POWERS_BY_FASTEST : technique->powers, speeds, workers);
    for (unsigned j = 0; j < workers; j++)
        powers[j] = fmin(fmax(speeds[j] / reference, SCHED_POWER_MIN), SCHED_POWER_MAX);
}
