/* SPDX-License-Identifier: MIT */
/* A fragment of two-dimensional hydrodynamics: Livermore loop 23 (McMahon 1986). As in the papers on synchronized
 * self-scheduling (Ciorba et al.), it has a third dimension: each sweep l has its own plane.
 *
 *   for l, for j = 1..4, for k:
 *     qa = za[l-1][j+1][k] zr[j][k] + za[l][j-1][k] zb[j][k] + za[l-1][j][k+1] zu[j][k]
 *          + za[l][j][k-1] zv[j][k] + zz[j][k]
 *     za[l][j][k] = za[l-1][j][k] + 0.175 (qa - za[l-1][j][k])
 *
 * An iteration is a sweep l, which computes za[l][1..4][..]. The rim of the plane does not change: j = 0, j = 5, and
 * the columns before the first and behind the last k. The coefficients do not change either. Rim and coefficients are
 * computed by a formula. Terms are added in the order in which they are written, so the result is that of the serial
 * loop, bit for bit.
 *
 * A chunk hands over the plane of its last sweep. While the chunk is computed, the same array is used for all its
 * sweeps: each sweep overwrites the plane of the previous sweep. j is the inner loop, so that vector instructions can
 * compute the four values of a column together. */
#include "hdss/kernel.h"
#include "worker/kernels/model.h"

#include <stdio.h>
#include <stdlib.h>

enum param { SWEEPS, COLUMNS };
enum array { ZA, ZR, ZB, ZU, ZV, ZZ };

#define ROWS 4

static const struct hdss_param params[] = {
    [SWEEPS] = {"l", HDSS_PARAM_INTEGER, "2000", 1, 1e9, NULL, "",
                "sweeps, which are the iterations that chunks are cut from"},
    [COLUMNS] = {"k", HDSS_PARAM_INTEGER, "2000", 1, 1 << 24, NULL, "",
                 "columns of the plane, along which workers synchronize"},
    {NULL},
};

struct column {
    double zr[ROWS], zb[ROWS], zu[ROWS], zv[ROWS], zz[ROWS];
    double below, above;
};

struct hydro {
    uint64_t columns;
    struct column *column;
    double (*start)[ROWS];
    double left[ROWS], right[ROWS];
};

/* Returns element j, k of an array; k counts from 1. The element is made from 24 bits of a Weyl sequence, so it is
 * exact as a double. The elements of za are below 1 at first, and all coefficients are between 0.125 and 0.25, so the
 * elements of za stay bounded. */
static double hydro_element(enum array array, uint64_t j, uint64_t k)
{
    uint64_t bits = (((array * 6 + j) << 32) + k + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    double uniform = (double)bits * 0x1.0p-24;
    return array == ZA ? uniform : (uniform + 1) / 8;
}

static int hydro_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    uint64_t sweeps = (uint64_t)values[SWEEPS].integer, columns = (uint64_t)values[COLUMNS].integer;
    *loop = (struct hdss_loop){.iterations = sweeps,
                               .type = HDSS_FLOAT64,
                               .record_length = ROWS * columns,
                               .dims = 3,
                               .shape = {sweeps, ROWS, columns},
                               .sync = columns,
                               .distance = 1,
                               .reach = 1,
                               .boundary_bytes = ROWS * sizeof(double)};
    return 0;
}

static void fill_column(struct hydro *h, uint64_t x)
{
    struct column *column = &h->column[x];
    for (uint64_t r = 0; r < ROWS; r++) {
        column->zr[r] = hydro_element(ZR, r + 1, x + 1);
        column->zb[r] = hydro_element(ZB, r + 1, x + 1);
        column->zu[r] = hydro_element(ZU, r + 1, x + 1);
        column->zv[r] = hydro_element(ZV, r + 1, x + 1);
        column->zz[r] = hydro_element(ZZ, r + 1, x + 1);
        h->start[x][r] = hydro_element(ZA, r + 1, x + 1);
    }
    column->below = hydro_element(ZA, 0, x + 1);
    column->above = hydro_element(ZA, ROWS + 1, x + 1);
}

static void hydro_close_instance(void *instance)
{
    struct hydro *h = instance;
    free(h->column);
    free(h->start);
    free(h);
}

static int hydro_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                               const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)worker;
    struct hydro *h = calloc(1, sizeof *h);
    if (h != NULL) {
        h->columns = loop->sync;
        h->column = calloc(h->columns, sizeof *h->column);
        h->start = calloc(h->columns, sizeof *h->start);
    }
    if (h == NULL || h->column == NULL || h->start == NULL) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory for k=%llu", (unsigned long long)loop->sync);
        if (h != NULL)
            hydro_close_instance(h);
        return -1;
    }
    for (uint64_t x = 0; x < h->columns; x++)
        fill_column(h, x);
    for (uint64_t r = 0; r < ROWS; r++) {
        h->left[r] = hydro_element(ZA, r + 1, 0);
        h->right[r] = hydro_element(ZA, r + 1, h->columns + 1);
    }
    *instance = h;
    return 0;
}

/* Computes one column of a sweep. `old` and `next` are this column and the next column before the sweep. `left` is the
 * previous column after the sweep. `own` receives the result, and may be the same array as `old`. */
static inline void relax(const struct column *c, const double *old, const double *next, const double *left, double *own)
{
    double below = c->below;
    for (int r = 0; r < ROWS; r++) {
        double above = r + 1 < ROWS ? old[r + 1] : c->above;
        double qa = above * c->zr[r] + below * c->zb[r] + next[r] * c->zu[r] + left[r] * c->zv[r] + c->zz[r];
        below = own[r] = old[r] + 0.175 * (qa - old[r]);
    }
}

static void sweep(const struct hydro *h, const double (*plane)[ROWS], double (*own)[ROWS], uint64_t begin, uint64_t end,
                  double *record)
{
    for (uint64_t x = begin; x < end; x++) {
        relax(&h->column[x], plane[x], x + 1 < h->columns ? plane[x + 1] : h->right, x > 0 ? own[x - 1] : h->left,
              own[x]);
        for (uint64_t r = 0; r < ROWS; r++)
            record[r * h->columns + x] = own[x][r];
    }
}

static int hydro_run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    (void)error;
    const struct hydro *h = instance;
    double(*own)[ROWS] = block->after;
    const double(*plane)[ROWS] = block->before != NULL ? block->before : (const double(*)[ROWS])h->start;
    for (uint64_t i = 0; i < block->count; i++, plane = (const double(*)[ROWS])own)
        sweep(h, plane, own, hdss_block_begin(block, i), hdss_block_end(block, i),
              (double *)block->records + i * ROWS * h->columns);
    return 0;
}

#define SWEEP_NS 10.0 /* measured per column, with one worker on an AMD EPYC */

double hdss_kernel_iteration_ns(const struct hdss_loop *loop)
{
    return (double)loop->sync * SWEEP_NS;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "hydro",
    .version = "1",
    .summary = "two-dimensional hydrodynamics, Livermore loop 23: each sweep depends on the sweep before it",
    .params = params,
    .describe = hydro_describe,
    .open = hydro_open_instance,
    .run_block = hydro_run_block,
    .close = hydro_close_instance,
};
