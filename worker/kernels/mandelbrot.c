/* SPDX-License-Identifier: MIT */
/* The Mandelbrot set, the irregular loop of the papers on self-scheduling: z = z^2 + c (Han and Chronopoulos) or z =
 * z^4 + c (Eleliemy and Ciorba, Listing 3). For each pixel the kernel counts the steps until |z| > 2. Han and
 * Chronopoulos use the bound |z|^2 = 2; escape=2 selects it.
 *
 * Row 0 is at ymax; c is the centre of its pixel. The kernel does not skip points that are known to be inside the set:
 * their cost makes the loop irregular. An iteration computes a pixel, row, column or tile; the counts do not depend on
 * that choice. If a tile reaches beyond the picture, its pixels outside of the picture have the count 1. */
#include "worker/kernels/kernels.h"

#include "worker/kernels/escape.h"

#include <stdio.h>
#include <stdlib.h>

enum param { WIDTH, HEIGHT, XMIN, XMAX, YMIN, YMAX, MAX_ITER, ESCAPE, EXPONENT, UNIT, TILE };
/* FAR_OUT is the c of pixels outside of the picture. With such a c a point escapes in the first step, for any bound up
 * to ESCAPE_MAX. */
#define ESCAPE_MAX 1e100
#define FAR_OUT    1e100

enum unit { UNIT_COLUMN, UNIT_ROW, UNIT_PIXEL, UNIT_TILE };

static const struct hdss_param params[] = {
    [WIDTH] = {"width", HDSS_PARAM_INTEGER, "2048", 1, 1 << 20, NULL, "pixels", "width of the picture"},
    [HEIGHT] = {"height", HDSS_PARAM_INTEGER, "2048", 1, 1 << 20, NULL, "pixels", "height of the picture"},
    [XMIN] = {"xmin", HDSS_PARAM_REAL, "-2.1", -100, 100, NULL, "", "real part of c at the left edge"},
    [XMAX] = {"xmax", HDSS_PARAM_REAL, "0.8", -100, 100, NULL, "", "real part of c at the right edge"},
    [YMIN] = {"ymin", HDSS_PARAM_REAL, "-1.45", -100, 100, NULL, "", "imaginary part of c at the bottom edge"},
    [YMAX] = {"ymax", HDSS_PARAM_REAL, "1.45", -100, 100, NULL, "", "imaginary part of c at the top edge"},
    [MAX_ITER] = {"max_iter", HDSS_PARAM_INTEGER, "2000", 1, 1e9, NULL, "steps",
                  "largest count; points that stay inside have it"},
    [ESCAPE] = {"escape", HDSS_PARAM_REAL, "4", 0, ESCAPE_MAX, NULL, "", "a point has escaped if |z|^2 is above this"},
    [EXPONENT] = {"exponent", HDSS_PARAM_CHOICE, "2", 0, 0, "2|4", "", "z = z^2 + c or z = z^4 + c"},
    [UNIT] = {"unit", HDSS_PARAM_CHOICE, "row", 0, 0, "column|row|pixel|tile", "", "what one iteration computes"},
    [TILE] = {"tile", HDSS_PARAM_INTEGER, "64", 1, 4096, NULL, "pixels", "edge of a tile, for unit=tile"},
    {NULL},
};

struct mandelbrot {
    uint64_t width, height, tile, across;
    uint64_t record;
    enum unit unit;
    double xmin, ymax, dx, dy;
    struct escape_rule rule;
    const struct escape_variant *variant;
    struct escape_batch *batch;
};

static uint64_t tiles_along(uint64_t length, uint64_t tile)
{
    return (length + tile - 1) / tile;
}

static int mandelbrot_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    uint64_t width = (uint64_t)values[WIDTH].integer, height = (uint64_t)values[HEIGHT].integer;
    uint64_t tile = (uint64_t)values[TILE].integer;
    if (values[XMIN].real >= values[XMAX].real || values[YMIN].real >= values[YMAX].real) {
        snprintf(error, HDSS_ERROR_MAX,
                 "the region x %g .. %g, y %g .. %g is empty; accepted: xmin < xmax, ymin < ymax", values[XMIN].real,
                 values[XMAX].real, values[YMIN].real, values[YMAX].real);
        return -1;
    }
    *loop = (struct hdss_loop){.type = HDSS_UINT32, .dims = 2, .shape = {height, width}};
    loop->full_value = (uint64_t)values[MAX_ITER].integer;
    switch ((enum unit)values[UNIT].integer) {
    case UNIT_COLUMN:
        loop->layout = HDSS_LAYOUT_COLUMNS;
        loop->iterations = width;
        loop->record_length = height;
        break;
    case UNIT_ROW:
        loop->iterations = height;
        loop->record_length = width;
        break;
    case UNIT_PIXEL:
        loop->iterations = width * height;
        loop->record_length = 1;
        break;
    case UNIT_TILE:
        loop->layout = HDSS_LAYOUT_TILES;
        loop->tile_height = loop->tile_width = tile;
        loop->iterations = tiles_along(width, tile) * tiles_along(height, tile);
        loop->record_length = tile * tile;
        break;
    }
    return 0;
}

static int mandelbrot_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                                    const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)worker;
    struct mandelbrot *m = calloc(1, sizeof *m);
    struct escape_batch *batch = aligned_alloc(_Alignof(struct escape_batch), sizeof *batch);
    if (m == NULL || batch == NULL) {
        free(m);
        free(batch);
        snprintf(error, HDSS_ERROR_MAX, "out of memory");
        return -1;
    }
    *m = (struct mandelbrot){
        .width = loop->shape[1],
        .height = loop->shape[0],
        .tile = (uint64_t)values[TILE].integer,
        .across = tiles_along(loop->shape[1], (uint64_t)values[TILE].integer),
        .record = loop->record_length,
        .unit = (enum unit)values[UNIT].integer,
        .xmin = values[XMIN].real,
        .ymax = values[YMAX].real,
        .dx = (values[XMAX].real - values[XMIN].real) / (double)loop->shape[1],
        .dy = (values[YMAX].real - values[YMIN].real) / (double)loop->shape[0],
        .rule = {.exponent = values[EXPONENT].integer == 0 ? 2 : 4,
                 .bound = values[ESCAPE].real,
                 .max_iter = (uint32_t)values[MAX_ITER].integer},
        .variant = escape_best(),
        .batch = batch,
    };
    *instance = m;
    return 0;
}

static void mandelbrot_close_instance(void *instance)
{
    struct mandelbrot *m = instance;
    free(m->batch);
    free(m);
}

/* `length` pixels from (x, y) on. They are adjacent both in the results and in the picture: from left to right, or
 * downwards if an iteration is a column. */
struct segment {
    uint64_t x, y, length;
};

static struct segment segment_at(const struct mandelbrot *m, uint64_t p)
{
    if (m->unit == UNIT_COLUMN)
        return (struct segment){p / m->height, p % m->height, m->height - p % m->height};
    if (m->unit != UNIT_TILE)
        return (struct segment){p % m->width, p / m->width, m->width - p % m->width};
    uint64_t tile = p / m->record, within = p % m->record, column = within % m->tile;
    return (struct segment){tile % m->across * m->tile + column, tile / m->across * m->tile + within / m->tile,
                            m->tile - column};
}

static double mandelbrot_real_at(const struct mandelbrot *m, uint64_t x)
{
    return m->xmin + ((double)x + 0.5) * m->dx;
}

static double imaginary_at(const struct mandelbrot *m, uint64_t y)
{
    return m->ymax - ((double)y + 0.5) * m->dy;
}

static void mandelbrot_fill(struct mandelbrot *m, struct segment s, size_t at, size_t count)
{
    double *cx = m->batch->fresh.cx + at, *cy = m->batch->fresh.cy + at;
    bool down = m->unit == UNIT_COLUMN;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = s.x + (down ? 0 : i), y = s.y + (down ? i : 0);
        bool beyond = x >= m->width || y >= m->height;
        cx[i] = beyond ? FAR_OUT : mandelbrot_real_at(m, x);
        cy[i] = beyond ? 0 : imaginary_at(m, y);
    }
}

static int mandelbrot_run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)error;
    struct mandelbrot *m = instance;
    uint32_t *counts = records;
    uint64_t p = first * m->record, end = (first + count) * m->record;
    while (p < end) {
        size_t filled = 0;
        while (p < end && filled < ESCAPE_BATCH) {
            struct segment s = segment_at(m, p);
            uint64_t most = end - p < ESCAPE_BATCH - filled ? end - p : ESCAPE_BATCH - filled;
            size_t length = s.length < most ? s.length : most;
            mandelbrot_fill(m, s, filled, length);
            filled += length;
            p += length;
        }
        m->batch->fresh.length = filled;
        m->variant->run(m->batch, &m->rule, counts);
        counts += filled;
    }
    return 0;
}

const struct hdss_kernel mandelbrot_kernel = {
    .abi = HDSS_KERNEL_ABI,
    .name = "mandelbrot",
    .version = "1",
    .summary = "escape times of z = z^2 + c or z^4 + c over a picture: irregular, clustered work",
    .params = params,
    .describe = mandelbrot_describe,
    .open = mandelbrot_open_instance,
    .run = mandelbrot_run,
    .close = mandelbrot_close_instance,
};
