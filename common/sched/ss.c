/* SPDX-License-Identifier: MIT */
/* ss: one iteration at a time. It balances the load best, but needs the most scheduling steps. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"

static uint64_t ss_at(const struct sched *sched, uint64_t step)
{
    (void)sched;
    (void)step;
    return 1;
}

static uint64_t ss_next(struct sched *sched, unsigned worker)
{
    (void)sched;
    (void)worker;
    return 1;
}

static uint64_t ss_start(const struct sched *sched, uint64_t step)
{
    return start_of_equal(sched, 1, step);
}

const struct technique technique_ss = {
    .name = "ss",
    .title = "pure self-scheduling",
    .rule = "K = 1",
    .source = "Tang and Yew, Processor Self-Scheduling for Multiple-Nested Parallel Loops (ICPP 1986)",
    .when = "handing out a chunk costs little against one iteration, or as a reference of balance",
    .may_grow = true,
    .next = ss_next,
    .at = ss_at,
    .start = ss_start,
};
