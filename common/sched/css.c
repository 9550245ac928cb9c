/* SPDX-License-Identifier: MIT */
/* css: chunks of one fixed size. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_CHUNK };
enum { CHUNK };

static const struct technique_param css_params[] = {
    [PARAM_CHUNK] = {.name = "chunk",
                     .kind = SCHED_PARAM_INTEGER,
                     .fallback = "ceil(N/(2P))",
                     .minimum = 1,
                     .maximum = (double)SCHED_ITERATIONS_MAX,
                     .summary = "size of every chunk, iterations"},
    {.name = NULL},
};

/* The default is ceil(N/(2P)), [SW] section 2. */
static int css_init(struct sched *sched, struct error *error)
{
    (void)error;
    uint64_t fallback = ceil_div(sched->iterations, 2 * (uint64_t)sched->workers);
    sched->constant.integer[CHUNK] = param_integer(sched, PARAM_CHUNK, fallback);
    return 0;
}

static uint64_t css_at(const struct sched *sched, uint64_t step)
{
    (void)step;
    return sched->constant.integer[CHUNK];
}

static uint64_t css_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    return sched->constant.integer[CHUNK];
}

static uint64_t css_start(const struct sched *sched, uint64_t step)
{
    return start_of_equal(sched, sched->constant.integer[CHUNK], step);
}

const struct technique technique_css = {
    .name = "css",
    .title = "chunk self-scheduling",
    .rule = "K = chunk",
    .source = "Ciorba et al., Enhancing self-scheduling algorithms via synchronization and weighting",
    .when = "the right chunk size is known, say from earlier runs",
    .params = css_params,
    .init = css_init,
    .next = css_next,
    .at = css_at,
    .start = css_start,
};
