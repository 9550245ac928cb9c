/* SPDX-License-Identifier: MIT */
/* Cost models of the kernels: see model.h.
 *
 * adjoint: iteration i has N*N - i products of equal cost. mandelbrot: the cost of an iteration depends on its steps
 * and its points. Steps are counted only at the points of a grid. For columns (or rows) the grid has at most GRID_X
 * columns (or rows) with GRID_Y points each; for pixels and tiles it has at most GRID_X by GRID_X points. The steps of
 * a column are interpolated linearly from the sampled columns beside it. A pixel has the steps of the nearest grid
 * point. All points of a tile have the steps of the grid point nearest to the tile's centre. So columns, rows and
 * pixels are exact if the picture is no larger than the grid. synthetic: the model has the costs that the user has
 * given. Modules: the module itself tells the cost of its iterations.
 *
 * bench_kernels has measured the constants on an AMD EPYC with the AVX2 variants: 5.71e9 steps per second (exponent 4:
 * 3.64e9), 1.27e10 products per second. Even a point that escapes at once takes some nanoseconds. */
#include "worker/kernels/model.h"

#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/costs/costs.h"
#include "worker/kernels/escape.h"
#include "worker/kernels/kernels.h"
#include "worker/kernels/synthetic.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCT_NS 0.0789
#define STEP_2_NS  0.175
#define STEP_4_NS  0.275
#define POINT_NS   2.0
#define CALL_NS    20.0

#define GRID_X 2048
#define GRID_Y 256

static const union hdss_value *model_value_of(const struct hdss_kernel *kernel, const union hdss_value *values,
                                              const char *name)
{
    unsigned i = 0;
    while (strcmp(kernel->params[i].name, name) != 0)
        i++;
    return &values[i];
}

static struct costs *model_out_of_memory(struct error *error)
{
    error_set(error, "out of memory for the costs");
    return NULL;
}

static struct costs *even_costs(double ns, struct error *error)
{
    struct costs *costs = costs_constant(ns);
    return costs != NULL ? costs : model_out_of_memory(error);
}

static double adjoint_ns(void *context, uint64_t i)
{
    return CALL_NS + PRODUCT_NS * (double)(*(const uint64_t *)context - i);
}

static double synthetic_ns(void *context, uint64_t i)
{
    const struct synthetic_costs *costs = context;
    return 1000 * synthetic_cost_us(costs, i % costs->iterations);
}

static void release_synthetic(void *context)
{
    free((double *)((struct synthetic_costs *)context)->file_us);
}

static struct costs *synthetic_costs(const union hdss_value *values, uint64_t first, uint64_t count,
                                     struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    const struct hdss_kernel *kernel = &synthetic_kernel;
    struct synthetic_costs model = {
        .distribution = (enum synthetic_distribution)model_value_of(kernel, values, "distribution")->integer,
        .iterations = (uint64_t)model_value_of(kernel, values, "iterations")->integer,
        .mean_us = model_value_of(kernel, values, "mean")->real,
        .spread = model_value_of(kernel, values, "spread")->real,
        .seed = (uint64_t)model_value_of(kernel, values, "seed")->integer,
    };
    if (model.distribution == SYNTHETIC_CONSTANT)
        return even_costs(1000 * model.mean_us, error);
    if (model.distribution == SYNTHETIC_FILE) {
        model.file_us = synthetic_read_costs(model_value_of(kernel, values, "file")->text, model.iterations,
                                             error->text, sizeof error->text);
        if (model.file_us == NULL)
            return NULL;
    }
    return costs_of_function(synthetic_ns, release_synthetic, &model, sizeof model, first, count, error);
}

struct picture {
    uint64_t width, height, tile, across;
    double xmin, xmax, ymin, ymax, step_ns;
    struct escape_rule rule;
    unsigned columns, rows;
    float *steps;
    float *lines;
};

static unsigned at_most(uint64_t number, unsigned most)
{
    return number < most ? (unsigned)number : most;
}

static int sample(struct picture *p)
{
    struct escape_batch *batch = aligned_alloc(_Alignof(struct escape_batch), sizeof *batch);
    uint32_t *counts = calloc(ESCAPE_BATCH, sizeof *counts);
    const struct escape_variant *variant = escape_best();
    size_t total = (size_t)p->columns * p->rows;
    p->steps = calloc(total, sizeof *p->steps);
    for (size_t done = 0; batch != NULL && counts != NULL && p->steps != NULL && done < total;) {
        size_t count = total - done < ESCAPE_BATCH ? total - done : ESCAPE_BATCH;
        for (size_t i = 0; i < count; i++) {
            size_t x = (done + i) % p->columns, y = (done + i) / p->columns;
            batch->fresh.cx[i] = p->xmin + ((double)x + 0.5) * (p->xmax - p->xmin) / p->columns;
            batch->fresh.cy[i] = p->ymax - ((double)y + 0.5) * (p->ymax - p->ymin) / p->rows;
        }
        batch->fresh.length = count;
        variant->run(batch, &p->rule, counts);
        for (size_t i = 0; i < count; i++)
            p->steps[done + i] = (float)counts[i];
        done += count;
    }
    bool complete = batch != NULL && counts != NULL && p->steps != NULL;
    free(batch);
    free(counts);
    return complete ? 0 : -1;
}

static int average(struct picture *p, bool by_columns)
{
    unsigned lines = by_columns ? p->columns : p->rows, points = by_columns ? p->rows : p->columns;
    p->lines = calloc(lines, sizeof *p->lines);
    for (unsigned line = 0; p->lines != NULL && line < lines; line++) {
        double sum = 0;
        for (unsigned k = 0; k < points; k++)
            sum += p->steps[by_columns ? (size_t)k * p->columns + line : (size_t)line * p->columns + k];
        p->lines[line] = (float)(sum / points);
    }
    return p->lines != NULL ? 0 : -1;
}

static double line_steps(const struct picture *p, uint64_t i, uint64_t of, unsigned lines)
{
    double at = ((double)i + 0.5) * lines / (double)of - 0.5;
    if (at <= 0)
        return p->lines[0];
    unsigned low = (unsigned)at;
    if (low + 1 >= lines)
        return p->lines[lines - 1];
    return p->lines[low] + (p->lines[low + 1] - p->lines[low]) * (at - low);
}

static double points_ns(const struct picture *p, double points, double steps)
{
    return CALL_NS + points * (POINT_NS + p->step_ns * steps);
}

static double nearest_steps(const struct picture *p, uint64_t x, uint64_t y)
{
    uint64_t column = x < p->width ? x * p->columns / p->width : p->columns - 1;
    uint64_t row = y < p->height ? y * p->rows / p->height : p->rows - 1;
    return p->steps[row * p->columns + column];
}

static double column_ns(void *context, uint64_t i)
{
    const struct picture *p = context;
    return points_ns(p, (double)p->height, line_steps(p, i, p->width, p->columns));
}

static double row_ns(void *context, uint64_t i)
{
    const struct picture *p = context;
    return points_ns(p, (double)p->width, line_steps(p, i, p->height, p->rows));
}

static double pixel_ns(void *context, uint64_t i)
{
    const struct picture *p = context;
    return points_ns(p, 1, nearest_steps(p, i % p->width, i / p->width));
}

static double tile_ns(void *context, uint64_t i)
{
    const struct picture *p = context;
    uint64_t x = i % p->across * p->tile + p->tile / 2, y = i / p->across * p->tile + p->tile / 2;
    return points_ns(p, (double)(p->tile * p->tile), nearest_steps(p, x, y));
}

static void release_picture(void *context)
{
    struct picture *p = context;
    free(p->steps);
    free(p->lines);
}

static struct costs *mandelbrot_costs(const union hdss_value *values, const struct hdss_loop *loop, uint64_t first,
                                      uint64_t count, struct error *error)
{
    const struct hdss_kernel *kernel = &mandelbrot_kernel;
    static double (*const by_unit[])(void *, uint64_t) = {column_ns, row_ns, pixel_ns, tile_ns};
    unsigned unit = (unsigned)model_value_of(kernel, values, "unit")->integer;
    struct picture p = {
        .width = loop->shape[1],
        .height = loop->shape[0],
        .tile = (uint64_t)model_value_of(kernel, values, "tile")->integer,
        .xmin = model_value_of(kernel, values, "xmin")->real,
        .xmax = model_value_of(kernel, values, "xmax")->real,
        .ymin = model_value_of(kernel, values, "ymin")->real,
        .ymax = model_value_of(kernel, values, "ymax")->real,
        .rule = {.exponent = model_value_of(kernel, values, "exponent")->integer == 0 ? 2 : 4,
                 .bound = model_value_of(kernel, values, "escape")->real,
                 .max_iter = (uint32_t)model_value_of(kernel, values, "max_iter")->integer},
    };
    p.across = (p.width + p.tile - 1) / p.tile;
    p.step_ns = p.rule.exponent == 2 ? STEP_2_NS : STEP_4_NS;
    p.columns = at_most(p.width, unit == 1 ? GRID_Y : GRID_X);
    p.rows = at_most(p.height, unit == 0 ? GRID_Y : GRID_X);
    if (sample(&p) == 0 && (unit > 1 || average(&p, unit == 0) == 0))
        return costs_of_function(by_unit[unit], release_picture, &p, sizeof p, first, count, error);
    release_picture(&p);
    return model_out_of_memory(error);
}

struct costs *kernel_model_costs(const struct hdss_kernel *kernel, const union hdss_value *values,
                                 const struct hdss_loop *loop, uint64_t first, uint64_t count, struct error *error)
{
    if (kernel == &adjoint_kernel)
        return costs_of_function(adjoint_ns, NULL, &loop->iterations, sizeof loop->iterations, first, count, error);
    if (kernel == &mandelbrot_kernel)
        return mandelbrot_costs(values, loop, first, count, error);
    if (kernel == &synthetic_kernel)
        return synthetic_costs(values, first, count, error);
    kernel_iteration_ns *iteration_ns = kernel_find_iteration_ns(kernel);
    if (iteration_ns != NULL)
        return even_costs(iteration_ns(loop), error);
    error_set(error, "the kernel %s has no model of its costs; accepted: with --costs", kernel->name);
    return NULL;
}
