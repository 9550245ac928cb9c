/* SPDX-License-Identifier: MIT */
/* pls: a static part of one equal chunk per worker, then guided self-scheduling of the rest. The more similar the times
 * of the iterations are, the larger the static part is.
 *
 * The static workload ratio s is an integer in units of 10^-15. A double has 15 exact decimal digits, so a ratio
 * with up to 15 digits is exact, and N s/P and N(1-s)/P are rounded correctly for any N. */
#include "common/sched/geometric.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_SWR, PARAM_VARIANT };

/* In sched->constant. CHUNK is the chunk size of the static part. REST is used with variant=paper: the number of
 * iterations that remain at the end of the static part. */
enum { CHUNK, REST };

#define RATIO_UNITS 1000000000000000

static const struct technique_param pls_params[] = {
    [PARAM_SWR] = {.name = "swr",
                   .kind = SCHED_PARAM_REAL,
                   .measured = SCHED_MEASURED_BY_PROBE,
                   .fallback = "measure",
                   .minimum = 0,
                   .maximum = 1,
                   .summary = "s, the part of the loop that is static; measured: shortest over longest of five "
                              "iterations"},
    [PARAM_VARIANT] = VARIANT_PARAM("static while R > N - N s, which may take another chunk; hdss: the first P chunks"),
    {.name = NULL},
};

static int measure_ratio(struct sched *sched, struct error *error)
{
    if (sched->spec.given[PARAM_SWR])
        return 0;
    if (!(sched->swr > 0))
        return error_set(error,
                         "technique pls: swr is measured in a run: accepted here is swr= with a number from 0 to 1");
    sched->measured[PARAM_SWR] = sched->swr;
    return 0;
}

/* Returns floor(N - N s) for variant=paper, otherwise UINT64_MAX. R is an integer, so R > N - N s is the same as
 * R > floor(N - N s). */
static uint64_t rest_behind_static(const struct sched *sched, uint64_t units)
{
    if (!sched_spec_is_paper(&sched->spec))
        return UINT64_MAX;
    return (uint64_t)((uint128)sched->iterations * (RATIO_UNITS - units) / RATIO_UNITS);
}

/* After the static part the closed form uses the paper's real number N(1-s). The P static chunks leave up to P
 * iterations more than N(1-s). The closed form covers these by chunks of one iteration after the geometric chunks. */
static int pls_init(struct sched *sched, struct error *error)
{
    if (measure_ratio(sched, error) < 0)
        return -1;
    uint64_t units = (uint64_t)(int64_t)(param_measured(sched, PARAM_SWR) * RATIO_UNITS + 0.5);
    uint64_t chunk = (uint64_t)((uint128)sched->iterations * units / ((uint128)RATIO_UNITS * sched->workers));
    sched->constant.integer[CHUNK] = chunk;
    sched->constant.integer[REST] = rest_behind_static(sched, units);
    sched->own = geometric_new_part(sched->iterations, RATIO_UNITS - units, RATIO_UNITS, sched->workers);
    return sched->own != NULL ? 0 : error_set(error, "technique pls: out of memory");
}

/* K_i = floor(N s/P) for i < P, then ceil(R_i/P), [DCA] eq 13, whose condition is R_i > N - N s instead of i < P. */
static uint64_t pls_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    uint64_t rest = sched->constant.integer[REST];
    bool is_static = rest == UINT64_MAX ? sched->step < sched->workers : sched->remaining > rest;
    return is_static ? sched->constant.integer[CHUNK] : ceil_div(sched->remaining, sched->workers);
}

/* K_i = floor(N s/P) for i < P, then ceil(((P-1)/P)^(i-P) N(1-s)/P), [DCA] eq 21. */
static uint64_t pls_at(const struct sched *sched, uint64_t step)
{
    return step < sched->workers ? sched->constant.integer[CHUNK] : geometric_ceil(sched->own, step - sched->workers);
}

const struct technique technique_pls = {
    .name = "pls",
    .title = "performance loop-based self-scheduling",
    .rule = "K_i = floor(N s/P) for i < P, with s = swr; then recursive ceil(R/P), "
            "closed ceil(((P-1)/P)^(i-P) N(1-s)/P); variant=paper: recursive K = floor(N s/P) while R > N - N s",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 13 and 21",
    .when = "iterations and workers are mostly alike, and the rest of the loop evens out what is not",
    .params = pls_params,
    .init = pls_init,
    .next = pls_next,
    .at = pls_at,
};
