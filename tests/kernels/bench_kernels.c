/* SPDX-License-Identifier: MIT */
/* How fast the inner loops of the built-in kernels are on one core: the plain code and each vector variant side by
 * side, the best of a few rounds by the thread's CPU clock. The Mandelbrot variants are held against the bound of the
 * vector units as well (bound.h; target: 0.6 of it). A header with the machine, then one JSON object per line. */
#include "common/util/random.h"
#include "tests/kernels/bench.h"
#include "tests/kernels/bound.h"
#include "worker/kernels/adjoint.h"
#include "worker/kernels/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 512, MAX_ITER = 2000, TERMS = 16384 };

static double real_at(size_t p)
{
    return -2.1 + ((double)(p % SIDE) + 0.5) * (2.9 / SIDE);
}

static double imaginary_at(size_t p)
{
    return 1.45 - ((double)(p / SIDE) + 0.5) * (2.9 / SIDE);
}

/* Steps of the whole picture. */
static uint64_t escape_plain(const struct escape_rule *rule)
{
    uint64_t steps = 0;
    for (size_t p = 0; p < SIDE * SIDE; p++)
        steps += escape_scalar(real_at(p), imaginary_at(p), rule);
    return steps;
}

static uint64_t escape_vector(const struct escape_variant *variant, struct escape_batch *batch,
                              const struct escape_rule *rule)
{
    static uint32_t counts[ESCAPE_BATCH];
    uint64_t steps = 0;
    for (size_t first = 0; first < SIDE * SIDE; first += ESCAPE_BATCH) {
        batch->fresh.length = ESCAPE_BATCH;
        for (size_t i = 0; i < ESCAPE_BATCH; i++) {
            batch->fresh.cx[i] = real_at(first + i);
            batch->fresh.cy[i] = imaginary_at(first + i);
        }
        variant->run(batch, rule, counts);
        for (size_t i = 0; i < ESCAPE_BATCH; i++)
            steps += counts[i];
    }
    return steps;
}

/* Steps of exponent 2 per second that the vector units could do at most, a step being nothing but its arithmetic. */
static double bound_steps_per_s(const struct bound *bound)
{
    const uint64_t rounds = 20000000;
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_s();
        bound->run(rounds);
        double seconds = now_s() - start;
        best = seconds < best ? seconds : best;
    }
    return BOUND_STEPS * bound->lanes * (double)rounds / best;
}

static void report_bound(const char *variant, double steps_per_s)
{
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        if (strcmp(bounds[b].variant, variant) == 0) {
            double bound = bound_steps_per_s(&bounds[b]);
            printf("{\"kernel\":\"mandelbrot "
                   "exponent=2\",\"variant\":\"%s\",\"bound_steps_per_s\":%.4g,\"of_bound\":%.3f}\n",
                   variant, bound, steps_per_s / bound);
        }
}

static void bench_escape(unsigned exponent, double bound)
{
    const struct escape_rule rule = {exponent, bound, MAX_ITER};
    char name[40];
    size_t variants;
    const struct escape_variant *variant = escape_variants(&variants);
    struct escape_batch *batch = aligned_alloc(64, sizeof *batch);
    if (batch == NULL)
        return;
    snprintf(name, sizeof name, "mandelbrot exponent=%u%s", exponent, bound == ESCAPE_BOUND ? "" : " escape=2");
    double start = now_s(), plain = 0;
    uint64_t steps = escape_plain(&rule);
    plain = now_s() - start;
    report(name, "plain", "steps", (double)steps, plain, plain);
    for (size_t v = 0; v < variants; v++) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS && variant[v].usable(); round++) {
            start = now_s();
            if (escape_vector(&variant[v], batch, &rule) != steps)
                printf("# %s: wrong counts\n", variant[v].name);
            double seconds = now_s() - start;
            best = seconds < best ? seconds : best;
        }
        if (variant[v].usable())
            report(name, variant[v].name, "steps", (double)steps, best, plain);
        if (variant[v].usable() && exponent == 2 && bound == ESCAPE_BOUND)
            report_bound(variant[v].name, (double)steps / best);
    }
    free(batch);
}

static void bench_adjoint(void)
{
    static double b[TERMS + ADJOINT_PAD], c[TERMS + ADJOINT_PAD], sums[TERMS];
    size_t variants;
    const struct adjoint_variant *variant = adjoint_variants(&variants);
    double products = 0.5 * TERMS * (TERMS + 1.0), start, plain;
    for (uint64_t i = 0; i < TERMS; i++) {
        b[i] = random_to_uniform(random_at(1, i));
        c[i] = random_to_uniform(random_at(2, i));
    }
    start = now_s();
    for (uint64_t i = 0; i < TERMS; i++)
        sums[i] = adjoint_scalar(b, c, TERMS, i);
    plain = now_s() - start;
    report("adjoint", "plain", "products", products, plain, plain);
    for (size_t v = 0; v < variants; v++) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS && variant[v].usable(); round++) {
            start = now_s();
            variant[v].run(b, c, TERMS, 0, TERMS, sums);
            double seconds = now_s() - start;
            best = seconds < best ? seconds : best;
        }
        if (variant[v].usable())
            report("adjoint", variant[v].name, "products", products, best, plain);
    }
}

int main(void)
{
    print_machine();
    bench_escape(2, ESCAPE_BOUND);
    bench_escape(2, 2);
    bench_escape(4, ESCAPE_BOUND);
    bench_adjoint();
    return EXIT_SUCCESS;
}
