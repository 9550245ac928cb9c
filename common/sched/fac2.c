/* fac2, also called fss: factoring by two. A batch of P equal chunks takes half of what remains. */
#include "common/sched/technique.h"

enum { LEFT, CHUNK };

/* K_i = ceil(R_i/(2P)) at the start of a batch of P, K_(i-1) within it, [DCA] eq 7. */
static uint64_t fac2_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    if (sched->state.integer[LEFT] == 0) {
        sched->state.integer[LEFT] = sched->workers;
        sched->state.integer[CHUNK] = ceil_div(sched->remaining, 2 * (uint64_t)sched->workers);
    }
    sched->state.integer[LEFT]--;
    return sched->state.integer[CHUNK];
}

/* K_i = ceil((1/2)^(b+1) N/P) with b = floor(i/P), [DCA] eq 15. Rounding up after each of the two divisions gives
 * the same as rounding up once, so integers do. */
static uint64_t fac2_at(const struct sched *sched, uint64_t step)
{
    uint64_t batch = step / sched->workers;
    if (batch >= 63)
        return 1;
    uint64_t half = sched->iterations >> (batch + 1);
    half += half << (batch + 1) != sched->iterations;
    return ceil_div(half, sched->workers);
}

const struct technique technique_fac2 = {
    .name = "fac2",
    .alias = "fss",
    .title = "factoring by two",
    .rule = "recursive K = ceil(R/(2P)) at the start of each batch of P chunks; "
            "closed K_i = ceil((1/2)^(b+1) N/P) with b = floor(i/P)",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 7 and 15",
    .next = fac2_next,
    .at = fac2_at,
};
