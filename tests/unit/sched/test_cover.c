/* SPDX-License-Identifier: MIT */
/* Every technique, in every form, cuts every loop into chunks that cover [0, N) exactly once, none empty, and ends.
 *
 * A loop whose series is too long to be walked (ss with 10^12 iterations) is walked for a while; once every worker
 * has got the same chunk again and again whatever remains, the middle is left out and the end is walked. A series
 * that is too long and not constant is a failure. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <math.h>
#include <string.h>

enum { WORKERS_MAX = 1024 };

/* A walk that is longer than this without getting constant is taken for one that does not end. */
#define CHUNKS_MAX 20000000

/* A series is taken for constant after as many chunks for each worker, all of the worker's own size. */
#define CONSTANT_AFTER 20

static const uint64_t loops[] = {0, 1, 2, 3, 7, 10, 1000, (UINT64_C(1) << 31) + 7, UINT64_C(1000000000000)};
static const unsigned worker_counts[] = {1, 2, 3, 5, 64, WORKERS_MAX};

static const char *const specs[] = {
    "static",
    "ss",
    "static-steal",
    "static-steal:chunk=3",
    "static-steal:chunk=2^63",
    "static-steal:rule=lb4omp",
    "static-steal:chunk=2^45,rule=lb4omp",
    "css",
    "css:chunk=3",
    "css:chunk=2^63",
    "mfsc",
    "gss",
    "gss:round=floor",
    "tss",
    "tss:decrement=real",
    "tss:last=100",
    "tss:variant=paper",
    "tss:first=1e13,last=10,decrement=real",
    "fac2",
    "fsc",
    "fsc:h=0.01,sigma=0.2",
    "fsc:h=0,sigma=1",
    "fsc:h=1e9,sigma=1e-9",
    "fac",
    "fac:mu=1,sigma=0",
    "fac:mu=0.1,sigma=3",
    "mfac:mu=0.1,sigma=3",
    "maf",
    "bold",
    "bold:mu=0.001,sigma=0.002,h=0.01",
    "tap",
    "tap:mu=1,sigma=0",
    "tap:mu=2,sigma=1e-12",
    "tap:mu=0.1,sigma=0.7,alpha=1000",
    "wf",
    "wf:variant=paper",
    "awf",
    "awf-b",
    "awf-b:variant=paper",
    "awf-c",
    "awf-c:restart=0",
    "awf-d",
    "awf-e",
    "af",
    "af:first=100",
    "tfss",
    "tfss:decrement=real",
    "tfss:last=100",
    "tfss:variant=paper",
    "tfss:first=1e13,last=10,decrement=real",
    "fiss",
    "fiss:stages=2",
    "fiss:stages=2^63",
    "viss",
    "viss:x=1",
    "viss:x=2^63",
    "rnd",
    "rnd:lo=1e9,hi=2^63,seed=7",
    "pls:swr=0.7",
    "pls:swr=0",
    "pls:swr=1",
    "pls:swr=0.7,variant=paper",
    "dtss",
    "dtss:decrement=real",
    "dtss:variant=paper",
    "dtss:first=1e9,last=80,carry=chunk",
    "dtss:carry=chunk,decrement=real",
    "dtss:first=2^63,last=2^62",
    "dfss",
    "dfss:alpha=1.5",
    "dgss",
};
enum { SPECS = sizeof specs / sizeof *specs };

enum order { ROUND_ROBIN, AT_RANDOM, ONE_ONLY, ORDERS };

enum powers { ALL_ONE, ALL_SMALL, ALL_LARGE, SMALL_AND_LARGE, SPREAD, POWERS };

static void fill_powers(double *values, unsigned workers, enum powers powers, struct random *random)
{
    for (unsigned j = 0; j < workers; j++) {
        switch (powers) {
        case ALL_ONE: values[j] = 1; break;
        case ALL_SMALL: values[j] = 0.01; break;
        case ALL_LARGE: values[j] = 1000; break;
        case SMALL_AND_LARGE: values[j] = j % 2 == 0 ? 0.01 : 1000; break;
        default: values[j] = pow(10, 5 * random_uniform(random) - 2); break;
        }
    }
}

struct walk {
    struct sched *sched;
    const char *spec;
    struct random random;
    enum order order;
    bool closed, learns;
    uint64_t covered; /* [0, covered) is cut */
    uint64_t chunks;
    uint64_t last[WORKERS_MAX];          /* each worker's last chunk; 0: none */
    uint64_t constant_for, constant_sum; /* chunks in a row that were their worker's last one again, and their sum */
};

static unsigned asking(struct walk *walk)
{
    switch (walk->order) {
    case AT_RANDOM: return (unsigned)random_between(&walk->random, 0, walk->sched->workers - 1);
    case ONE_ONLY: return walk->sched->workers - 1;
    default: return (unsigned)(walk->chunks % walk->sched->workers);
    }
}

/* The worker has finished its last chunk: at its own speed and not quite regularly. */
static void feed_back(struct walk *walk, unsigned worker)
{
    double count = (double)walk->last[worker], mean = 0.001 * (1 + worker % 5) * (0.5 + random_uniform(&walk->random));
    struct sched_feedback feedback = {
        .worker = worker,
        .chunks = 1,
        .iterations = walk->last[worker],
        .compute_s = mean * count,
        .wait_s = 0.01 * random_uniform(&walk->random),
        .deviation_s = mean * random_uniform(&walk->random),
        .samples = (uint32_t)fmin(count, 8),
    };
    sched_feedback(walk->sched, &feedback);
}

static uint64_t cut(struct walk *walk, unsigned worker)
{
    struct sched *sched = walk->sched;
    if (!walk->closed)
        return sched_next(sched, worker);
    uint64_t chunk = sched_at(sched, sched->step++);
    chunk = chunk < sched->remaining ? chunk : sched->remaining;
    sched->remaining -= chunk;
    return chunk;
}

/* ck_assert() leaves a mark in a file each time, which is too slow for every chunk. */
#define walk_assert(walk, condition)                                                                                   \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("%s N=%" PRIu64 " P=%u%s order %d chunk %" PRIu64 ": " #condition, (walk)->spec,              \
                         (walk)->sched->iterations, (walk)->sched->workers, (walk)->closed ? " closed" : "",           \
                         (walk)->order, (walk)->chunks);                                                               \
    } while (0)

/* Leaves out the middle of a constant series: what remains is then cut as was just walked. */
static void watch_for_constant(struct walk *walk, unsigned worker, uint64_t chunk)
{
    struct sched *sched = walk->sched;
    bool again = walk->last[worker] == chunk;
    walk->last[worker] = chunk;
    walk->constant_for = again ? walk->constant_for + 1 : 0;
    walk->constant_sum = again ? walk->constant_sum + chunk : 0;
    if (walk->constant_for < (uint64_t)CONSTANT_AFTER * sched->workers || sched->remaining <= walk->constant_sum)
        return;
    walk->covered += sched->remaining - walk->constant_sum;
    sched_claim(sched, sched->remaining - walk->constant_sum);
}

static void walk_chunk(struct walk *walk)
{
    unsigned worker = asking(walk);
    if (walk->learns && walk->last[worker] > 0)
        feed_back(walk, worker);
    uint64_t before = walk->sched->remaining, chunk = cut(walk, worker);
    walk_assert(walk, chunk > 0);
    walk_assert(walk, chunk <= before);
    walk_assert(walk, walk->sched->remaining == before - chunk);
    walk_assert(walk, chunk >= walk->sched->min_chunk || walk->sched->remaining == 0 ||
                          walk->sched->technique->places != NULL); /* the end of the loop may come earlier */
    walk_assert(walk, walk->chunks < CHUNKS_MAX);
    walk->covered += chunk;
    walk->chunks++;
    watch_for_constant(walk, worker, chunk);
}

static uint64_t walk_loop(struct sched *sched, const char *spec, enum order order, bool closed)
{
    struct walk walk = {.sched = sched, .spec = spec, .order = order, .closed = closed};
    walk.learns = sched_spec_learns(&sched->spec);
    random_init(&walk.random, 1);
    while (sched->remaining > 0)
        walk_chunk(&walk);
    walk_assert(&walk, walk.covered == sched->iterations);
    walk_assert(&walk, sched_next(sched, 0) == 0);
    return walk.chunks;
}

static void cover(const char *spec, const struct sched_config *config, enum order order, bool closed)
{
    struct sched sched = loop_with(spec, config);
    struct error error;
    for (unsigned w = 0; config->loads && w < config->workers; w++)
        sched_set_load(&sched, w, 1 + 0.7 * (w % 4));
    if (!closed || sched_check_closed(&sched, &error) == 0)
        walk_loop(&sched, spec, order, closed);
    sched_fini(&sched);
}

/* Whether a walk at this size is left to fewer combinations, for the time it takes. */
static bool is_large(uint64_t iterations, unsigned workers)
{
    return workers == WORKERS_MAX && iterations > 1000;
}

static void cover_powers(const char *spec, struct sched_config *config)
{
    static double powers[WORKERS_MAX];
    struct random random;
    random_init(&random, config->iterations + config->workers);
    config->powers = powers;
    config->weighting = SCHED_WEIGHTING_POWER;
    for (int p = 0; p < POWERS; p++) {
        fill_powers(powers, config->workers, (enum powers)p, &random);
        for (int order = 0; order < ORDERS; order++)
            if (order == ROUND_ROBIN || !is_large(config->iterations, config->workers))
                cover(spec, config, (enum order)order, false);
    }
    config->weighting = SCHED_WEIGHTING_ACP;
    config->loads = true;
    cover(spec, config, ROUND_ROBIN, false);
    config->loads = false;
    config->weighting = SCHED_WEIGHTING_POWER;
}

START_TEST(chunks_cover_the_loop)
{
    const char *spec = specs[_i];
    for (size_t n = 0; n < sizeof loops / sizeof *loops; n++)
        for (size_t w = 0; w < sizeof worker_counts / sizeof *worker_counts; w++) {
            struct sched_config config = {.iterations = loops[n], .workers = worker_counts[w]};
            for (config.min_chunk = 0; config.min_chunk <= 5; config.min_chunk += 5) {
                cover(spec, &config, ROUND_ROBIN, false);
                cover(spec, &config, ROUND_ROBIN, true);
            }
            config.min_chunk = 0;
            cover_powers(spec, &config);
            config.min_chunk = UINT64_MAX;
            cover(spec, &config, ROUND_ROBIN, false);
        }
}
END_TEST

START_TEST(every_technique_is_walked)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t t = 0; t < count; t++) {
        bool found = false;
        for (size_t s = 0; s < SPECS; s++)
            found = found || spec_of(specs[s]).technique == techniques[t];
        ck_assert_msg(found, "%s is not walked", techniques[t]->name);
    }
}
END_TEST

START_TEST(the_longest_loops_are_covered)
{
    struct sched_config config = {.workers = 64};
    for (size_t s = 0; s < SPECS; s++)
        for (uint64_t less = 0; less < 2; less++) {
            config.iterations = SCHED_ITERATIONS_MAX - less;
            cover(specs[s], &config, ROUND_ROBIN, false);
            cover(specs[s], &config, ROUND_ROBIN, true);
        }
}
END_TEST

START_TEST(decreasing_techniques_decrease)
{
    const char *const decreasing[] = {"static",
                                      "gss",
                                      "gss:round=floor",
                                      "tss",
                                      "tss:decrement=real",
                                      "fac2",
                                      "dtss",
                                      "dgss",
                                      "dfss",
                                      "fac",
                                      "fac:mu=1,sigma=2",
                                      "tap:mu=1,sigma=2",
                                      "fsc:h=1,sigma=3"};
    for (size_t s = 0; s < sizeof decreasing / sizeof *decreasing; s++)
        for (size_t w = 0; w < sizeof worker_counts / sizeof *worker_counts; w++) {
            struct sched sched = loop_of(decreasing[s], 1000003, worker_counts[w]);
            for (uint64_t previous = UINT64_MAX, i = 0; sched.remaining > 0; i++) {
                uint64_t chunk = sched_next(&sched, (unsigned)(i % worker_counts[w]));
                bool at_falls =
                    sched_check_closed(&sched, NULL) < 0 || i == 0 || sched_at(&sched, i) <= sched_at(&sched, i - 1);
                if (chunk > previous || !at_falls)
                    ck_abort_msg("%s P=%u i=%" PRIu64, decreasing[s], worker_counts[w], i);
                previous = chunk;
            }
            sched_fini(&sched);
        }
}
END_TEST

/* Weighting must not leave a large rest to be dealt out in chunks of one: the trapezoids start again instead. */
START_TEST(weighted_series_stay_short)
{
    const char *const series[] = {"gss",
                                  "tss",
                                  "tss:decrement=real",
                                  "fac2",
                                  "dtss",
                                  "dtss:carry=chunk",
                                  "dfss",
                                  "dgss",
                                  "fac",
                                  "fac:mu=1,sigma=2",
                                  "tap:mu=1,sigma=2",
                                  "wf",
                                  "awf",
                                  "awf-b",
                                  "awf-c",
                                  "awf-d",
                                  "awf-e",
                                  "af"};
    const double powers[] = {0.1, 0.3, 0.5, 1};
    struct sched_config config = {
        .iterations = 1000000000, .workers = 4, .powers = powers, .weighting = SCHED_WEIGHTING_POWER};
    for (size_t s = 0; s < sizeof series / sizeof *series; s++) {
        struct sched sched = loop_with(series[s], &config);
        uint64_t chunks = walk_loop(&sched, series[s], ROUND_ROBIN, false);
        ck_assert_msg(chunks < 1000, "%s: %" PRIu64 " chunks", series[s], chunks);
        sched_fini(&sched);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-cover");
    TCase *all = tcase_create("cover");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, chunks_cover_the_loop, 0, SPECS);
    tcase_add_test(all, every_technique_is_walked);
    tcase_add_test(all, the_longest_loops_are_covered);
    tcase_add_test(all, decreasing_techniques_decrease);
    tcase_add_test(all, weighted_series_stay_short);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
