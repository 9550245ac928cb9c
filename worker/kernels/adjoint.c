/* SPDX-License-Identifier: MIT */
/* The adjoint convolution of Han and Chronopoulos: A(i) = A(i) + X * sum over j = i .. N*N-1 of B(j) C(j-i). Iteration
 * i has N*N - i terms, so tasks shrink steadily to one term.
 *
 * The elements of A, B and C are uniform in [-0.5, 0.5). Each is a hash of seed and index, so every worker makes its
 * own arrays. */
#include "worker/kernels/kernels.h"

#include "worker/kernels/adjoint.h"
#include "common/util/random.h"
#include "hdss/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum param { N, X, SEED };

static const struct hdss_param params[] = {
    [N] = {"n", HDSS_PARAM_INTEGER, "512", 1, 16384, NULL, "", "N: the loop has N*N iterations"},
    [X] = {"x", HDSS_PARAM_REAL, "0.5", -1e6, 1e6, NULL, "", "X: the factor of the sum"},
    [SEED] = {"seed", HDSS_PARAM_INTEGER, "1", 0, 0x1p53, NULL, "", "seed of the arrays A, B and C"},
    {NULL},
};

enum array { ARRAY_A, ARRAY_B, ARRAY_C, ARRAYS };

struct adjoint {
    uint64_t m;
    double x;
    uint64_t seed;
    const struct adjoint_variant *variant;
    double *b, *c; /* owned; ADJOINT_PAD zeros follow the m elements */
};

static double adjoint_element(uint64_t seed, enum array array, uint64_t i)
{
    return random_to_uniform(random_at(seed, i * ARRAYS + array)) - 0.5;
}

static int adjoint_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    uint64_t m = (uint64_t)values[N].integer * (uint64_t)values[N].integer;
    *loop = (struct hdss_loop){.iterations = m, .type = HDSS_FLOAT64, .record_length = 1, .dims = 1, .shape = {m}};
    return 0;
}

static void adjoint_close_instance(void *instance)
{
    struct adjoint *a = instance;
    free(a->b);
    free(a->c);
    free(a);
}

static double *new_array(uint64_t seed, enum array array, uint64_t m)
{
    size_t bytes = (m + ADJOINT_PAD) * sizeof(double);
    double *elements = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (elements == NULL)
        return NULL;
    for (uint64_t i = 0; i < m; i++)
        elements[i] = adjoint_element(seed, array, i);
    memset(elements + m, 0, ADJOINT_PAD * sizeof(double));
    return elements;
}

static int adjoint_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                                 const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)worker;
    struct adjoint *a = calloc(1, sizeof *a);
    if (a != NULL) {
        *a = (struct adjoint){loop->iterations, values[X].real, (uint64_t)values[SEED].integer,
                              adjoint_best(),   NULL,           NULL};
        a->b = new_array(a->seed, ARRAY_B, a->m);
        a->c = new_array(a->seed, ARRAY_C, a->m);
    }
    if (a == NULL || a->b == NULL || a->c == NULL) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory: n=%lld needs %llu MiB per worker", (long long)values[N].integer,
                 (unsigned long long)(loop->iterations * 2 * sizeof(double) >> 20));
        if (a != NULL)
            adjoint_close_instance(a);
        return -1;
    }
    *instance = a;
    return 0;
}

static int adjoint_compute(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)error;
    const struct adjoint *a = instance;
    double *results = records;
    a->variant->run(a->b, a->c, a->m, first, count, results);
    for (uint64_t n = 0; n < count; n++)
        results[n] = adjoint_element(a->seed, ARRAY_A, first + n) + a->x * results[n];
    return 0;
}

const struct hdss_kernel adjoint_kernel = {
    .abi = HDSS_KERNEL_ABI,
    .name = "adjoint",
    .version = "1",
    .summary = "adjoint convolution: tasks that shrink steadily",
    .params = params,
    .describe = adjoint_describe,
    .open = adjoint_open_instance,
    .run = adjoint_compute,
    .close = adjoint_close_instance,
};
