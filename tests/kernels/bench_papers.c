/* SPDX-License-Identifier: MIT */
/* How fast the inner loops of the papers' kernels are on one core, as bench_kernels.c says it of the built-in ones. */
#include "deploy/examples/kernels/papers/evrard/gas.h"
#include "deploy/examples/kernels/papers/evrard/octree.h"
#include "deploy/examples/kernels/papers/spinimage/spin.h"
#include "deploy/examples/kernels/papers/spinimage/spin_surface.h"
#include "tests/kernels/bench.h"

#include <stdlib.h>

enum { SPIN_WIDTH = 32 };

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
    bench_spin();
    bench_evrard();
    return EXIT_SUCCESS;
}
