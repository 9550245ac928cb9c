/* SPDX-License-Identifier: MIT */
/* Costs that are drawn from a distribution: see costs_distributed(). Each cost is a function of the iteration's index,
 * so the order of calls does not matter. */
#include "worker/kernels/costs/costs.h"
#include "worker/kernels/costs/draw.h"

#include "common/util/number.h"
#include "common/util/random.h"
#include "common/util/suggest.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TWO_PI 6.283185307179586
/* The largest possible cost, which cuts off heavy tails. Files of costs have the same limit. */
#define TAIL_MAX_NS 1e15

struct distribution {
    double mean_ns, cov, spread, alpha;
    uint64_t seed, phases;
    uint64_t first, count;
    uint64_t period; /* iterations of a time step; 0: the loop has one time step */
    double trend;
};

static double uniform_at(const struct distribution *d, uint64_t i, uint64_t stream)
{
    return random_to_uniform(random_at(d->seed + 0x636f7374 + stream, i));
}

static double distribution_ramp(const struct distribution *d, uint64_t i)
{
    return d->count < 2 ? 0 : 2 * (double)(i - d->first) / (double)(d->count - 1) - 1;
}

static double distribution_uniform(void *context, uint64_t i)
{
    const struct distribution *d = context;
    return d->mean_ns * (1 + d->cov * sqrt(3) * (2 * uniform_at(d, i, 0) - 1));
}

/* Box and Muller (1958). 1 - u is in (0, 1], so its logarithm is finite. */
static double standard_normal(double u, double v)
{
    return sqrt(-2 * log(1 - u)) * cos(TWO_PI * v);
}

static double distribution_normal(void *context, uint64_t i)
{
    const struct distribution *d = context;
    return fmax(0, d->mean_ns * (1 + d->cov * standard_normal(uniform_at(d, i, 0), uniform_at(d, i, 1))));
}

static double exponential(void *context, uint64_t i)
{
    const struct distribution *d = context;
    return -d->mean_ns * log(1 - uniform_at(d, i, 0));
}

/* Marsaglia and Tsang (2000), A simple method for generating gamma variables; for shape >= 1. */
static double gamma_of(struct random *random, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double u = random_uniform(random), x = standard_normal(u, random_uniform(random)), v = 1 + c * x;
        v = v * v * v;
        if (v > 0 && log(1 - random_uniform(random)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

double draw_gamma(double mean_ns, double cov, uint64_t seed, uint64_t iteration)
{
    double shape = 1 / (cov * cov), boost = 1;
    struct random random;
    random_init(&random, random_at(seed, iteration));
    if (shape < 1)
        boost = pow(1 - random_uniform(&random), 1 / shape);
    return mean_ns / shape * boost * gamma_of(&random, shape < 1 ? shape + 1 : shape);
}

static double gamma_cost(void *context, uint64_t i)
{
    const struct distribution *d = context;
    return draw_gamma(d->mean_ns, d->cov, d->seed, i);
}

static double lognormal(void *context, uint64_t i)
{
    const struct distribution *d = context;
    double variance = log(1 + d->cov * d->cov);
    return d->mean_ns * exp(sqrt(variance) * standard_normal(uniform_at(d, i, 0), uniform_at(d, i, 1)) - variance / 2);
}

/* The minimum is mean (alpha - 1) / alpha. For alpha <= 2 the deviation is infinite. */
static double pareto(void *context, uint64_t i)
{
    const struct distribution *d = context;
    double least_ns = d->mean_ns * (d->alpha - 1) / d->alpha;
    return fmin(TAIL_MAX_NS, least_ns * pow(1 - uniform_at(d, i, 0), -1 / d->alpha));
}

static double bimodal(void *context, uint64_t i)
{
    const struct distribution *d = context;
    return d->mean_ns * (uniform_at(d, i, 0) < 0.5 ? 1 - d->spread : 1 + d->spread);
}

static double increasing(void *context, uint64_t i)
{
    const struct distribution *d = context;
    return d->mean_ns * (1 + d->spread * distribution_ramp(d, i));
}

static double decreasing(void *context, uint64_t i)
{
    const struct distribution *d = context;
    return d->mean_ns * (1 - d->spread * distribution_ramp(d, i));
}

static double in_phases(void *context, uint64_t i)
{
    const struct distribution *d = context;
    uint64_t phase = (uint64_t)((unsigned __int128)(i - d->first) * d->phases / d->count);
    return d->mean_ns * (phase % 2 == 0 ? 1 - d->spread : 1 + d->spread);
}

struct kind {
    const char *name;
    double (*cost_ns)(void *context, uint64_t iteration);
    double cov_max; /* 0: the distribution has no such parameter */
    bool spreads, has_alpha, has_phases;
};

static const struct kind kinds[] = {
    {"constant", NULL, 0, false},
    {"uniform", distribution_uniform, 0.5773, false},
    {"normal", distribution_normal, 10, false},
    {"exponential", exponential, 0, false},
    {"gamma", gamma_cost, 10, false},
    {"bimodal", bimodal, 0, true},
    {"increasing", increasing, 0, true},
    {"decreasing", decreasing, 0, true},
    {"lognormal", lognormal, 10, false},
    {"pareto", pareto, 0, false, .has_alpha = true},
    {"phases", in_phases, 0, true, .has_phases = true},
};
#define PHASES_MAX 1000000
#define KINDS      (sizeof kinds / sizeof *kinds)

static const struct kind *find_kind(const char *name, size_t length)
{
    for (size_t k = 0; k < KINDS; k++)
        if (strlen(kinds[k].name) == length && strncmp(kinds[k].name, name, length) == 0)
            return &kinds[k];
    return NULL;
}

static int take_real(const char *word, const char *value, double least, double most, double scale, double *out,
                     struct error *error)
{
    if (number_parse_real(value, out) < 0 || *out < least || *out > most)
        return error_set(error, "distribution: '%s': accepted: a number from %g to %g", word, least, most);
    *out *= scale;
    return 0;
}

static int take_param(struct distribution *d, const struct kind *kind, const char *word, struct error *error)
{
    if (strncmp(word, "mean=", 5) == 0)
        return take_real(word, word + 5, 0, 1e12, 1000, &d->mean_ns, error);
    if (strncmp(word, "cov=", 4) == 0 && kind->cov_max > 0)
        return take_real(word, word + 4, 0.001, kind->cov_max, 1, &d->cov, error);
    if (strncmp(word, "spread=", 7) == 0 && kind->spreads)
        return take_real(word, word + 7, 0, 1, 1, &d->spread, error);
    if (strncmp(word, "alpha=", 6) == 0 && kind->has_alpha)
        return take_real(word, word + 6, 1.05, 100, 1, &d->alpha, error);
    if (strncmp(word, "phases=", 7) == 0 && kind->has_phases)
        return number_parse_u64(word + 7, &d->phases) == 0 && d->phases >= 1 && d->phases <= PHASES_MAX
                   ? 0
                   : error_set(error, "distribution: '%s': accepted: an integer from 1 to %d", word, PHASES_MAX);
    if (strncmp(word, "trend=", 6) == 0)
        return take_real(word, word + 6, -1, 1000, 1, &d->trend, error);
    if (strncmp(word, "period=", 7) == 0)
        return number_parse_u64(word + 7, &d->period) == 0 && d->period >= 1
                   ? 0
                   : error_set(error, "distribution: '%s': accepted: an integer from 1", word);
    if (strncmp(word, "seed=", 5) == 0)
        return number_parse_u64(word + 5, &d->seed) == 0
                   ? 0
                   : error_set(error, "distribution: '%s': accepted: an integer from 0", word);
    return error_set(
        error, "distribution: '%s' is no parameter of %s; accepted: mean=US%s%s%s%s, seed=, period=, trend=", word,
        kind->name, kind->cov_max > 0 ? ", cov=" : "", kind->spreads ? ", spread=" : "",
        kind->has_alpha ? ", alpha=" : "", kind->has_phases ? ", phases=" : "");
}

static bool stands_before(const char *text, const char *word)
{
    const size_t length = strcspn(word, "=");
    for (; text < word; text += strcspn(text, ",") + 1)
        if (strncmp(text, word, length) == 0 && text[length] == '=')
            return true;
    return false;
}

static int distribution_take_params(struct distribution *d, const struct kind *kind, const char *text,
                                    struct error *error)
{
    const char *params = text;
    char word[64];
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        bool is_long = length >= sizeof word;
        snprintf(word, sizeof word, "%.*s%s", is_long ? 32 : (int)length, text, is_long ? "..." : "");
        if (take_param(d, kind, word, error) < 0)
            return -1;
        if (stands_before(params, text))
            return error_set(error, "distribution: '%s': %.*s stands twice", word, (int)strcspn(word, "="), word);
        text += length + (text[length] == ',');
    }
    return 0;
}

#define PARTS_MAX   8
#define PART_STREAM 7

struct part {
    const struct kind *kind;
    struct distribution d;
    double upto;
};

struct mixture {
    struct part parts[PARTS_MAX];
    unsigned count;
};

static double part_at(const struct part *part, uint64_t i)
{
    const struct distribution *d = &part->d;
    const uint64_t step = d->period > 0 ? i / d->period : 0, place = d->period > 0 ? i % d->period : i;
    const double cost_ns = part->kind->cost_ns != NULL ? part->kind->cost_ns((void *)d, place) : d->mean_ns;
    return fmin(TAIL_MAX_NS, fmax(0, 1 + d->trend * (double)step) * cost_ns);
}

static double mixture_at(void *context, uint64_t i)
{
    const struct mixture *mixture = context;
    const struct distribution *first = &mixture->parts[0].d;
    const double drawn =
        mixture->count > 1 ? uniform_at(first, first->period > 0 ? i % first->period : i, PART_STREAM) : 0;
    unsigned at = 0;
    while (at + 1 < mixture->count && drawn >= mixture->parts[at].upto)
        at++;
    return part_at(&mixture->parts[at], i);
}

/* A part, such as "0.1*pareto:mean=1e+3", ends at the next plus sign that does not belong to a number. */
static size_t part_length(const char *spec)
{
    size_t length = 0;
    while (spec[length] != '\0' && (spec[length] != '+' || (length > 0 && strchr("eE", spec[length - 1]) != NULL)))
        length++;
    return length;
}

static const char *take_share(const char *spec, double *share)
{
    char number[32];
    const size_t length = strspn(spec, "0123456789.eE+-");
    if (length == 0 || length >= sizeof number || spec[length] != '*')
        return NULL;
    snprintf(number, sizeof number, "%.*s", (int)length, spec);
    return number_parse_real(number, share) == 0 ? spec + length + 1 : NULL;
}

bool costs_is_distribution(const char *spec)
{
    double share;
    return find_kind(spec, strcspn(spec, ":")) != NULL || take_share(spec, &share) != NULL;
}

const char *costs_nearest_distribution(const char *spec)
{
    char name[40];
    struct suggestion nearest;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    suggest_init(&nearest, name);
    for (size_t k = 0; k < KINDS; k++)
        suggest_offer(&nearest, kinds[k].name);
    return nearest.name;
}

static int take_distribution(struct part *part, const char *spec, uint64_t first, uint64_t count, struct error *error)
{
    struct distribution *d = &part->d;
    const size_t length = strcspn(spec, ":");
    *d = (struct distribution){.mean_ns = 1e6,
                               .cov = 0.3,
                               .spread = 0.5,
                               .alpha = 1.5,
                               .phases = 4,
                               .seed = 1,
                               .first = first,
                               .count = count};
    part->kind = find_kind(spec, length);
    if (part->kind == NULL)
        return error_set(error, "distribution '%.64s' is unknown; accepted: " COSTS_DISTRIBUTIONS, spec);
    if (spec[length] == ':' && distribution_take_params(d, part->kind, spec + length + 1, error) < 0)
        return -1;
    if (d->period == 0 && (d->trend < 0 || d->trend > 0))
        return error_set(error, "distribution '%.64s': trend= needs period=, the iterations of a time step", spec);
    if (d->period > 0) {
        d->first = 0;
        d->count = d->period;
    }
    return 0;
}

static int take_part(struct mixture *mixture, const char *spec, size_t length, uint64_t first, uint64_t count,
                     struct error *error)
{
    struct part *part = &mixture->parts[mixture->count];
    char text[256];
    double share;
    if (mixture->count == PARTS_MAX)
        return error_set(error, "distribution: accepted: up to %d parts of a mixture", PARTS_MAX);
    if (length >= sizeof text)
        return error_set(error, "distribution '%.64s...' is too long; accepted: up to %zu characters", spec,
                         sizeof text - 1);
    snprintf(text, sizeof text, "%.*s", (int)length, spec);
    const char *name = take_share(text, &share);
    if (name == NULL || !(share > 0) || share > 1e9)
        return error_set(error, "distribution '%.64s': accepted: SHARE*DISTRIBUTION, a share above 0", text);
    part->upto = share + (mixture->count > 0 ? part[-1].upto : 0);
    mixture->count++;
    return take_distribution(part, name, first, count, error);
}

static int take_mixture(struct mixture *mixture, const char *spec, uint64_t first, uint64_t count, struct error *error)
{
    while (*spec != '\0' || mixture->count == 0) {
        const size_t length = part_length(spec);
        if (take_part(mixture, spec, length, first, count, error) < 0)
            return -1;
        spec += length;
        if (*spec == '+' && *++spec == '\0')
            return error_set(error, "distribution: the mixture ends with +; accepted: another SHARE*DISTRIBUTION");
    }
    const double all = mixture->parts[mixture->count - 1].upto;
    for (unsigned i = 0; i < mixture->count; i++)
        mixture->parts[i].upto /= all;
    return 0;
}

struct costs *costs_distributed(const char *spec, uint64_t first, uint64_t count, struct error *error)
{
    struct mixture mixture = {.count = 0};
    double share;
    if (take_share(spec, &share) != NULL) {
        if (take_mixture(&mixture, spec, first, count, error) < 0)
            return NULL;
        return costs_of_function(mixture_at, NULL, &mixture, sizeof mixture, first, count, error);
    }
    struct part *only = &mixture.parts[mixture.count++];
    if (take_distribution(only, spec, first, count, error) < 0)
        return NULL;
    if (only->d.period > 0)
        return costs_of_function(mixture_at, NULL, &mixture, sizeof mixture, first, count, error);
    if (only->kind->cost_ns != NULL)
        return costs_of_function(only->kind->cost_ns, NULL, &only->d, sizeof only->d, first, count, error);
    struct costs *costs = costs_constant(only->d.mean_ns);
    if (costs == NULL)
        error_set(error, "out of memory for the costs");
    return costs;
}
