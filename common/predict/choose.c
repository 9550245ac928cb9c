/* SPDX-License-Identifier: MIT */
/* Choosing a technique by prediction: see choose.h. */
#include "common/predict/choose.h"

#include "common/config/run_spec.h"
#include "common/predict/profile.h"
#include "common/util/error.h"
#include "common/util/random.h"

#include <math.h>
#include <string.h>

/* Limit of the simulations: all together may take the fraction TIME_SHARE of the loop's time. Simulating one chunk
 * takes about SIMULATED_CHUNK_S seconds. */
#define TIME_SHARE        0.01
#define SIMULATED_CHUNK_S 0.5e-6

/* Even in a short loop, a simulation may have CHUNKS_MIN chunks, and CHUNKS_PER_WORKER more for each worker. This is
 * enough for all techniques that halve their chunks. */
#define CHUNKS_PER_WORKER 64
#define CHUNKS_MIN        20000
/* No simulation has more chunks than this, however long the loop is. Simulating all candidates then takes a
 * second or two. */
#define CHUNKS_MAX 200000

/* A machine with more workers is simulated with only WORKERS_MAX workers and a proportionally shorter loop. This
 * hardly changes the result. The result depends on the number of iterations per worker, the differences between
 * workers, and the load of the masters. */
#define WORKERS_MAX 512

static uint64_t chunks_allowed(const struct predict_loop *loop, unsigned candidates)
{
    double affordable = TIME_SHARE * predict_least_seconds(loop) / SIMULATED_CHUNK_S / candidates;
    uint64_t least = CHUNKS_MIN + (uint64_t)CHUNKS_PER_WORKER * loop->workers;
    if (!(affordable > (double)least))
        return least;
    return affordable < CHUNKS_MAX ? (uint64_t)affordable : CHUNKS_MAX;
}

static double known_value(const struct predict_loop *loop, const char *param)
{
    double mean = predict_least_seconds(loop) * loop->workers / (double)loop->iterations;
    if (strcmp(param, "mu") == 0 && loop->spread_known)
        return mean;
    if (strcmp(param, "sigma") == 0 && loop->spread_known)
        return loop->profile.cov * mean;
    return NAN;
}

static void give_known_values(struct sched_spec *spec, const struct predict_loop *loop)
{
    const struct technique_param *params = spec->technique->params;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++) {
        double value = params[i].measured == SCHED_MEASURED_BY_FEEDBACK ? known_value(loop, params[i].name) : NAN;
        if (!(value >= params[i].minimum && value <= params[i].maximum))
            continue;
        spec->given[i] = true;
        spec->values[i].real = value;
    }
}

static void list_candidates(struct choice *choice, const struct predict_loop *loop)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    choice->count = 0;
    for (size_t i = 0; i < count && choice->count < CHOICE_CANDIDATES_MAX; i++) {
        if (techniques[i]->for_comparison)
            continue;
        struct candidate *candidate = &choice->candidates[choice->count++];
        *candidate = (struct candidate){.spec = {.technique = techniques[i]}, .name = techniques[i]->name};
        give_known_values(&candidate->spec, loop);
    }
    for (unsigned i = 0; i < loop->spec->candidates && choice->count < CHOICE_CANDIDATES_MAX; i++)
        choice->candidates[choice->count++] =
            (struct candidate){.spec = loop->spec->candidate[i], .name = loop->spec->candidate_text[i]};
}

/* With recall no technique leaves workers idle for long. Therefore `fallback` is replaced only by a technique that
 * is faster by SURE_MARGIN. In a loop with few iterations per worker the longest iterations determine the time, and
 * no prediction knows which workers get them. */
#define SURE_ITERATIONS 64 /* Iterations per worker. If a loop has fewer, its predictions are not used. */
#define SURE_MARGIN     0.05

/* `ss` is chosen even if its predicted time is longer by up to this fraction. With `ss` no iteration waits for a long
 * iteration of the same chunk. So slow or stopped workers, which a prediction does not include, cost little time. */
#define SINGLY_MARGIN 0.02

/* `ss` is not preferred if the speeds of workers differ by the factor UNEVEN or more and there are fewer than
 * UNEVEN_ITERATIONS iterations per worker. In such a loop a slow worker should not get one of the last iterations,
 * and only techniques that use the powers prevent that. */
#define UNEVEN            1.2
#define UNEVEN_ITERATIONS 8

static bool may_be_single(const struct predict_loop *loop)
{
    double least = INFINITY, most = 0;
    for (unsigned w = 0; w < loop->workers; w++) {
        least = fmin(least, loop->mean_s[w]);
        most = fmax(most, loop->mean_s[w]);
    }
    return most < UNEVEN * least || loop->iterations >= UNEVEN_ITERATIONS * (uint64_t)loop->workers;
}

static unsigned safest(const struct choice *choice, const struct predict_loop *loop, unsigned fallback, unsigned best)
{
    double usual = choice->candidates[fallback].predicted_s, least = choice->candidates[best].predicted_s;
    bool is_sure = loop->iterations >= SURE_ITERATIONS * (uint64_t)loop->workers;
    for (unsigned i = 0; i < choice->count && may_be_single(loop); i++) {
        const struct candidate *candidate = &choice->candidates[i];
        bool is_single = strcmp(candidate->name, "ss") == 0 && candidate->predicted_s > 0;
        if (is_single && candidate->predicted_s <= (is_sure ? least : usual) * (1 + SINGLY_MARGIN))
            return i;
    }
    return usual == 0 || (is_sure && usual > least * (1 + SURE_MARGIN)) ? best : fallback;
}

static void take_least(struct choice *choice, const struct predict_loop *loop, unsigned fallback)
{
    unsigned best = fallback;
    for (unsigned i = 0; i < choice->count; i++) {
        double predicted = choice->candidates[i].predicted_s, before = choice->candidates[best].predicted_s;
        if (predicted > 0 && isfinite(predicted) && (before == 0 || predicted < before))
            best = i;
    }
    double least = choice->candidates[best].predicted_s, usual = choice->candidates[fallback].predicted_s;
    if (loop->spec->recall == RUN_RECALL_ON)
        choice->chosen = safest(choice, loop, fallback, best);
    else
        choice->chosen = usual > 0 && usual <= least * (1 + CHOICE_MARGIN) ? fallback : best;
}

static void predict_all(struct choice *choice, const struct predict_loop *loop)
{
    uint64_t allowed = chunks_allowed(loop, choice->count);
    for (unsigned i = 0; i < choice->count; i++) {
        struct candidate *candidate = &choice->candidates[i];
        struct error refused;
        if (predict_seconds(loop, &candidate->spec, allowed, &candidate->predicted_s, &refused) > 0)
            candidate->too_many = allowed;
    }
}

struct sample {
    double mean_s[WORKERS_MAX], speeds[WORKERS_MAX];
    unsigned master_of[WORKERS_MAX];
};

static double speed_of(const struct predict_loop *loop, unsigned w)
{
    return loop->speeds != NULL ? loop->speeds[w] : 1 / loop->mean_s[w];
}

static void pick_workers(const struct predict_loop *loop, const struct predict_loop *small, struct sample *sample)
{
    double part = (double)loop->workers / WORKERS_MAX;
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        unsigned w = (unsigned)((i + random_to_uniform(random_at(WORKERS_MAX, i))) * part);
        sample->mean_s[i] = loop->mean_s[w];
        sample->speeds[i] = speed_of(loop, w);
        if (loop->masters > 0)
            sample->master_of[i] = (unsigned)((uint64_t)loop->master_of[w] * small->masters / loop->masters);
    }
}

/* Makes a smaller machine with one random worker of each group of P/WORKERS_MAX neighbours. Taking every n-th worker
 * could go wrong, because n could match a pattern in the order of the workers. */
static void choose_take_sample(const struct predict_loop *loop, struct predict_loop *small, struct sample *sample)
{
    double part = (double)loop->workers / WORKERS_MAX;
    *small = *loop;
    small->workers = WORKERS_MAX;
    small->masters = loop->masters > 0 ? 1 + (unsigned)((loop->masters - 1) / part) : 0;
    small->mean_s = sample->mean_s;
    small->speeds = sample->speeds;
    small->master_of = sample->master_of;
    small->clients = loop->masters > 0 ? part * small->masters / loop->masters : part;
    pick_workers(loop, small, sample);
    double shorter = predict_least_seconds(loop) / predict_least_seconds(small);
    small->iterations = (uint64_t)fmax(1, (double)loop->iterations * shorter);
}

void choice_decide(struct choice *choice, const struct predict_loop *loop, const struct sched_spec *fallback)
{
    struct sample sample;
    struct predict_loop small;
    unsigned usual = 0;
    choice->times++;
    choice->iterations = loop->iterations;
    if (loop->workers > WORKERS_MAX && loop->iterations > 0) {
        choose_take_sample(loop, &small, &sample);
        loop = &small;
    }
    list_candidates(choice, loop);
    for (unsigned i = 0; i < choice->count; i++)
        if (choice->candidates[i].spec.technique == fallback->technique)
            usual = i;
    choice->chosen = usual;
    if (loop->iterations == 0)
        return;
    predict_all(choice, loop);
    take_least(choice, loop, usual);
}
