/* SPDX-License-Identifier: MIT */
/* wf: weighted factoring. The batches are those of fac2, and each chunk is multiplied by the weight of its
 * worker's power. */
#include "common/sched/batch.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_VARIANT };
enum { ROUNDS_UP }; /* in sched->constant.integer: 1 with variant=paper, else 0 */

static const struct technique_param wf_params[] = {
    [PARAM_VARIANT] = VARIANT_PARAM("K = ceil(w_j ceil(R/(2P))); hdss: rounded down; the next chunk gets the fraction"),
    {.name = NULL},
};

static int wf_init(struct sched *sched, struct error *error)
{
    (void)error;
    sched->constant.integer[ROUNDS_UP] = sched_spec_is_paper(&sched->spec);
    return 0;
}

/* K = w_j ceil(R/(2P)), with R at the start of a batch of P chunks, [RMA] Table 2, which rounds K up. */
static uint64_t wf_next(struct sched *sched, unsigned worker)
{
    uint64_t chunk = batch_half(sched);
    struct twofold weight = batch_power_weight(sched, worker);
    if (sched->constant.integer[ROUNDS_UP])
        return batch_weighted_up(chunk, weight, sched->power_doubt);
    return batch_weighted(sched, chunk, weight, sched->power_doubt);
}

const struct technique technique_wf = {
    .name = "wf",
    .title = "weighted factoring",
    .rule = "K = w_j ceil(R/(2P)), with R taken at the start of each batch of P chunks; w_j = P V_j / V; "
            "the fraction that rounding down cuts off goes to the next chunk; "
            "variant=paper: K = ceil(w_j ceil(R/(2P)))",
    .source = "Eleliemy and Ciorba, Dynamic Loop Scheduling Using MPI Passive-Target Remote Memory Access, Table 2; "
              "Hummel, Schmidt, Uma and Wein, Load-sharing in heterogeneous systems via weighted factoring",
    .when = "the workers differ in speed, their speeds are known and do not change during the loop",
    .params = wf_params,
    .needs = SCHED_NEEDS_POWER,
    .powers = SCHED_POWERS_BY_MEAN,
    .init = wf_init,
    .next = wf_next,
};
