/* SPDX-License-Identifier: MIT */
/* A kernel in C with dependencies: a string that swings between two fixed ends. An iteration is a time step, called a
 * moment here. The new height of a point depends on its heights at the previous two moments, and on the heights of its
 * neighbours at the previous moment. So each moment needs the two moments before it. But several workers can compute
 * different moments at the same time: each works some points behind the worker of the previous moments.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags hdss-kernel) wave.c -o wave.so
 *     hdss run ./wave.so points=10000 moments=1000 --output wave.npy */
#include <hdss/kernel.h>

#include <stdio.h>
#include <stdlib.h>

enum { POINTS, MOMENTS, SPEED };

static const struct hdss_param params[] = {
    {"points", HDSS_PARAM_INTEGER, "10000", 1, 1e7, NULL, "", "points of the string"},
    {"moments", HDSS_PARAM_INTEGER, "1000", 1, 1e9, NULL, "", "moments that are computed"},
    {"speed", HDSS_PARAM_REAL, "0.5", 0, 1, NULL, "points", "how far a wave travels from one moment to the next"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

struct wave {
    uint64_t points;
    double pull;
};

/* For each point, a chunk hands over the heights at its last two moments, the earlier moment first. */
struct pair {
    double earlier, later;
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->iterations = loop->shape[0] = (uint64_t)values[MOMENTS].integer;
    loop->record_length = loop->shape[1] = (uint64_t)values[POINTS].integer;
    loop->dims = 2;
    loop->type = HDSS_FLOAT64;
    loop->sync = loop->record_length;
    loop->distance = 2; /* a chunk has at least this many moments, so it needs data of the previous chunk only */
    loop->reach = 1;
    loop->boundary_bytes = sizeof(struct pair);
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)worker;
    struct wave *wave = malloc(sizeof *wave);
    if (wave == NULL) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory");
        return -1;
    }
    wave->points = loop->sync;
    wave->pull = values[SPEED].real * values[SPEED].real;
    *instance = wave;
    return 0;
}

static void close_kernel(void *instance)
{
    free(instance);
}

static double plucked(const struct wave *wave, uint64_t x)
{
    uint64_t from_end = x < wave->points - 1 - x ? x : wave->points - 1 - x;
    return 2.0 * (double)(from_end + 1) / (double)(wave->points + 1);
}

/* Returns the height of point x at a moment. Moment 0 is the chunk's first moment; negative moments are in the previous
 * chunk. */
static double height(const struct wave *wave, const struct hdss_block *block, int64_t moment, uint64_t x)
{
    const double *records = block->records;
    const struct pair *before = block->before;
    if (moment >= 0)
        return records[(uint64_t)moment * wave->points + x];
    if (before == NULL)
        return plucked(wave, x);
    return moment == -1 ? before[x].later : before[x].earlier;
}

static void swing(const struct wave *wave, const struct hdss_block *block, uint64_t row)
{
    struct pair *after = block->after;
    double *record = (double *)block->records + row * wave->points;
    for (uint64_t x = hdss_block_begin(block, row); x < hdss_block_end(block, row); x++) {
        int64_t last = (int64_t)row - 1;
        double here = height(wave, block, last, x), left = x > 0 ? height(wave, block, last, x - 1) : 0;
        double right = x + 1 < wave->points ? height(wave, block, last, x + 1) : 0;
        record[x] = 2 * here - height(wave, block, last - 1, x) + wave->pull * (left - 2 * here + right);
        if (row + 1 == block->count)
            after[x] = (struct pair){height(wave, block, last, x), record[x]};
    }
}

static int run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    (void)error;
    for (uint64_t row = 0; row < block->count; row++)
        swing(instance, block, row);
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "wave",
    .version = "1",
    .summary = "a swinging string: each moment depends on the two before it",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run_block = run_block,
    .close = close_kernel,
};
