/* SPDX-License-Identifier: MIT */
/* bold: Hagerup's strategy. The chunk size follows from the spread of the iterations' times, and is larger if handing
 * out a chunk is expensive. bold lets workers end at different times if that costs less than handing out more chunks.
 *
 * The equations are those of LB4OMP, because the paper's text was not available. R is the number of iterations that
 * are not yet handed out, and M the number of iterations that are not yet reported. `left` estimates the number of
 * iterations that are not yet computed. While a chunk of K iterations is computed, K/(K mu + h) iterations are
 * subtracted per second. The report of the chunk corrects this estimate. The time is taken from the reports: a
 * worker's clock is the sum of its computing and waiting times. */
#include "common/sched/batch.h"
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>
#include <stdlib.h>

enum { PARAM_MU, PARAM_SIGMA, PARAM_H };

#define LN_2   0.69314718055994530942
#define TWO_PI 6.28318530717958647692

static const struct technique_param bold_params[] = {
    [PARAM_MU] = LEARN_MU_PARAM,
    [PARAM_SIGMA] = LEARN_SIGMA_PARAM,
    [PARAM_H] = LEARN_H_PARAM,
    {.name = NULL},
};

struct bold_worker {
    double clock_s;
    /* expected speed at which the worker computes its chunk, in iterations per second; 0: the worker has no chunk */
    double speed;
};

struct bold {
    struct learn_pool pool;
    double reported_s;
    double left;
    double unreported; /* M, see the head of this file */
    struct learn_sum speeds;
    struct bold_worker workers[];
};

struct bold_constants {
    double a;              /* 2 (sigma/mu)^2 */
    double b, log_b;       /* b = 8a ln(8a), and ln b, which is 0 if b is not positive */
    double c1, c2, log_c2; /* c1 = h/(mu ln 2), c2 = sqrt(2 pi) c1, and ln c2 */
};

static void bold_begin(struct sched *sched)
{
    struct bold *bold = sched->own;
    bold->reported_s = 0;
    bold->left = bold->unreported = (double)sched->iterations;
    bold->speeds = (struct learn_sum){0, 0};
    for (unsigned j = 0; j < sched->workers; j++)
        bold->workers[j] = (struct bold_worker){0, 0};
    sched->state.integer[BATCH_LEFT] = sched->state.integer[BATCH_NUMBER] = 0;
}

static int bold_init(struct sched *sched, struct error *error)
{
    struct bold *bold = calloc(1, sizeof *bold + sched->workers * sizeof *bold->workers);
    if (bold == NULL)
        return error_set(error, "technique bold: out of memory for %u workers", sched->workers);
    bold->pool = (struct learn_pool){.mean_param = PARAM_MU, .deviation_param = PARAM_SIGMA};
    sched->own = bold;
    if (!sched->spec.given[PARAM_H] && sched->overhead_s > 0)
        sched->measured[PARAM_H] = sched->overhead_s;
    bold_begin(sched);
    return 0;
}

static bool bold_is_known(const struct sched *sched)
{
    return !isnan(param_measured(sched, PARAM_MU)) && !isnan(param_measured(sched, PARAM_SIGMA)) &&
           !isnan(param_measured(sched, PARAM_H));
}

static struct bold_constants bold_constants_of(const struct sched *sched)
{
    double mu = param_measured(sched, PARAM_MU), ratio = param_measured(sched, PARAM_SIGMA) / mu;
    double a = 2 * ratio * ratio, b = a > 0 ? 8 * a * log(8 * a) : 0;
    double c1 = param_measured(sched, PARAM_H) / (mu * LN_2), c2 = sqrt(TWO_PI) * c1;
    return (struct bold_constants){a, b, b > 0 ? log(b) : 0, c1, c2, log(c2)};
}

/* Returns the chunk size for R iterations and Q = R/P > 1. The size is 1 if handing out chunks costs nothing (h =
 * 0) and the times vary. */
static double bold_size(const struct bold *bold, const struct bold_constants *c, double remaining, double workers)
{
    double q = remaining / workers, log_q = log(q), v = q / (c->b + q);
    double r = fmax(remaining, fmax(bold->left, 0)), t = r / workers, d = remaining / (1 + 1 / log_q - v);
    if (d <= c->c2)
        return t;
    if (c->c2 == 0)
        return c->a > 0 ? 1 : t;
    double s = c->a * (log(d) - c->log_c2) * (1 + bold->unreported / (r * workers));
    double w = c->b > 0 ? log(v * log_q) + c->log_b : log(log_q);
    return fmin(t + fmax(0, c->c1 * w) + s / 2 - sqrt(s * (t + s / 4)), t);
}

static double bold_speed(const struct sched *sched, double chunk)
{
    return chunk / (chunk * param_measured(sched, PARAM_MU) + param_measured(sched, PARAM_H));
}

static void bold_set_speed(struct bold *bold, unsigned worker, double speed)
{
    learn_sum_add(&bold->speeds, speed - bold->workers[worker].speed);
    bold->workers[worker].speed = speed;
}

static uint64_t bold_next(struct sched *sched, unsigned worker)
{
    struct bold *bold = sched->own;
    if (!bold_is_known(sched))
        return batch_half(sched);
    uint64_t chunk = 1;
    if (sched->remaining > sched->workers) {
        struct bold_constants constants = bold_constants_of(sched);
        chunk = floor_real(bold_size(bold, &constants, (double)sched->remaining, sched->workers));
    }
    chunk = chunk > sched->min_chunk ? chunk : sched->min_chunk;
    bold_set_speed(bold, worker, bold_speed(sched, (double)(chunk < sched->remaining ? chunk : sched->remaining)));
    return chunk;
}

static void bold_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    struct bold *bold = sched->own;
    struct bold_worker *worker = &bold->workers[feedback->worker];
    double count = (double)feedback->iterations, time = feedback->compute_s + feedback->wait_s;
    worker->clock_s += time;
    double passed = fmax(worker->clock_s - bold->reported_s, 0);
    bold->reported_s += passed;
    bold->unreported = fmax(bold->unreported - count, 0);
    if (worker->speed > 0) {
        bold->left -= passed * learn_sum_value(&bold->speeds) + count - time * worker->speed;
        bold_set_speed(bold, feedback->worker, 0);
    } else {
        /* This chunk was handed out before mu, sigma and h were known. So no estimate was made for it that could be
         * corrected. */
        bold->left -= count;
    }
    learn_pool_add(&bold->pool, sched, feedback);
}

const struct technique technique_bold = {
    .name = "bold",
    .title = "the bold strategy",
    .rule = "K = floor(min(t, t + max(0, c1 w) + s/2 - sqrt(s (t + s/4)))); a = 2 (sigma/mu)^2, b = 8a ln(8a), "
            "c1 = h/(mu ln 2), c2 = sqrt(2 pi) c1, Q = R/P, r = max(R, what is thought to be left), t = r/P, "
            "v = Q/(b + Q), d = R/(1 + 1/ln Q - v), s = a ln(d/c2) (1 + M/(r P)), w = ln(v ln Q) + ln b; K = t for "
            "d <= c2, 1 for Q <= 1; K = ceil(R/(2P)) in batches of P while mu, sigma and h are not known",
    .source = "Hagerup, Allocating independent tasks to parallel processors: an experimental study, as in LB4OMP: "
              "Müller Korndörfer et al., LB4OMP: A Dynamic Load Balancing Library for Multithreaded Applications",
    .when = "the iterations vary by a known deviation, and handing out a chunk is expensive",
    .params = bold_params,
    .needs = SCHED_NEEDS_FEEDBACK,
    .for_comparison = true,
    .init = bold_init,
    .next = bold_next,
    .feedback = bold_feedback,
    .again = bold_begin,
};
