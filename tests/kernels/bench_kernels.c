/* SPDX-License-Identifier: MIT */
/* How fast the kernels' inner loops are on one core: the plain code and each vector variant side by side, the best of a
 * few rounds by the thread's CPU clock. The Mandelbrot variants are held against the bound of the vector units as well
 * (bound.h; target: 0.6 of it). A header with the machine, then one JSON object per line. */
#include "common/util/random.h"
#include "tests/kernels/bound.h"
#include "worker/kernels/adjoint.h"
#include "worker/kernels/escape.h"
#include "worker/kernels/evrard/gas.h"
#include "worker/kernels/evrard/octree.h"
#include "worker/kernels/spin.h"
#include "worker/kernels/spin_surface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 512, MAX_ITER = 2000, ROUNDS = 5, TERMS = 16384, SPIN_WIDTH = 32 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_machine(void)
{
    char line[256], model[200] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "model name : %199[^\n]", model) == 1)
            break;
    if (file != NULL)
        fclose(file);
    printf("# %s, compiler %s\n", model, __VERSION__);
}

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

static void report(const char *kernel, const char *variant, const char *unit, double amount, double seconds,
                   double plain_seconds)
{
    printf("{\"kernel\":\"%s\",\"variant\":\"%s\",\"%s_per_s\":%.4g,\"times_plain\":%.2f}\n", kernel, variant, unit,
           amount / seconds, plain_seconds / seconds);
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

/* How long `images` images take, spread over the cloud; of the variant, or of the plain code where it is NULL. */
static double spin_seconds(const struct spin_variant *variant, const struct spin_cloud *cloud, size_t images)
{
    static uint32_t counts[SPIN_WIDTH * SPIN_WIDTH];
    double start = now_s();
    for (size_t i = 0; i < images; i++)
        (variant != NULL ? variant->run : spin_scalar)(cloud, i * cloud->points / images, SPIN_WIDTH, counts);
    return now_s() - start;
}

/* The kernel's own points, as by default: an image of 32 cells is as wide as the surface, 2.9 or so. */
static void bench_spin(void)
{
    enum { POINTS = 100000, IMAGES = 50 };
    size_t variants;
    const struct spin_variant *variant = spin_variants(&variants);
    struct spin_cloud cloud;
    if (spin_cloud_init(&cloud, POINTS) < 0)
        return;
    for (size_t i = 0; i < POINTS; i++) {
        double position[3], normal[3];
        spin_surface_point(i, POINTS, position, normal);
        for (int k = 0; k < 3; k++)
            position[k] *= SPIN_WIDTH / 2.9;
        spin_cloud_add(&cloud, position, normal);
    }
    if (spin_cloud_arrange(&cloud, 60) < 0) {
        spin_cloud_fini(&cloud);
        return;
    }
    double plain = spin_seconds(NULL, &cloud, IMAGES), looks = (double)POINTS * IMAGES;
    report("spinimage", "plain", "points", looks, plain, plain);
    for (size_t v = 0; v < variants; v++) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS && variant[v].usable(); round++) {
            double seconds = spin_seconds(&variant[v], &cloud, IMAGES);
            best = seconds < best ? seconds : best;
        }
        if (variant[v].usable())
            report("spinimage", variant[v].name, "points", looks, best, plain);
    }
    spin_cloud_fini(&cloud);
}

static void bench_density(struct gas *gas)
{
    struct gas_density density;
    double start = now_s();
    for (size_t i = 0; i < gas->config.particles; i++) {
        gas_density(gas, i, &density);
        gas_set_density(gas, i, &density);
    }
    double seconds = now_s() - start;
    report("evrard", "density", "particles", (double)gas->config.particles, seconds, seconds);
    gas_ready(gas);
}

static void bench_push(const struct gas *gas)
{
    struct gas_push push;
    double start = now_s();
    for (size_t i = 0; i < gas->config.particles; i++)
        gas_push(gas, i, &push);
    double seconds = now_s() - start;
    report("evrard", "momentum and energy", "particles", (double)gas->config.particles, seconds, seconds);
}

/* The seconds for every tenth particle, times ten. */
static double pull_seconds(struct gas *gas, double theta)
{
    struct octree_pull pull;
    gas->tree.theta = theta;
    gas_arrange(gas);
    double start = now_s();
    for (uint32_t slot = 0; slot < gas->config.particles; slot += 10)
        octree_pull(&gas->tree, slot, 1e-4, &pull);
    return 10 * (now_s() - start);
}

/* The sphere as it begins: every loop, and gravity beside the sum over all pairs. */
static void bench_evrard(void)
{
    static const struct {
        double theta;
        const char *name;
    } thetas[] = {{0.3, "gravity, theta 0.3"}, {0.5, "gravity, theta 0.5"}, {0.8, "gravity, theta 0.8"}};
    const struct gas_config config = {
        .particles = 10000, .theta = 0.5, .time_step = 0.001, .neighbours = 58, .softening = 0.01};
    struct gas gas;
    if (gas_init(&gas, &config) < 0)
        return;
    bench_density(&gas);
    bench_push(&gas);
    double start = now_s();
    gas_arrange(&gas);
    double seconds = now_s() - start, pairs = pull_seconds(&gas, 0), particles = (double)config.particles;
    report("evrard", "tree", "particles", particles, seconds, seconds);
    report("evrard", "gravity, all pairs", "particles", particles, pairs, pairs);
    for (size_t k = 0; k < sizeof thetas / sizeof *thetas; k++)
        report("evrard", thetas[k].name, "particles", particles, pull_seconds(&gas, thetas[k].theta), pairs);
    gas_fini(&gas);
}

int main(void)
{
    print_machine();
    bench_escape(2, ESCAPE_BOUND);
    bench_escape(2, 2);
    bench_escape(4, ESCAPE_BOUND);
    bench_adjoint();
    bench_spin();
    bench_evrard();
    return EXIT_SUCCESS;
}
