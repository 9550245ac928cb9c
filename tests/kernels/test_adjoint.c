/* SPDX-License-Identifier: MIT */
/* adjoint: each variant bit for bit as the defined order of summation, that against the formula, and any cut of the
 * loop. */
#include "common/util/random.h"
#include "hdss/kernel.h"
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"
#include "worker/kernels/adjoint.h"

#include <math.h>
#include <string.h>

static double element(uint64_t array, uint64_t i)
{
    return random_to_uniform(random_at(5, i * 3 + array)) - 0.5;
}

/* A(i) + X * sum, straight from the paper, in more digits. */
static double formula(uint64_t m, uint64_t i, double x)
{
    long double sum = 0;
    for (uint64_t j = i; j < m; j++)
        sum += (long double)element(1, j) * (long double)element(2, j - i);
    return (double)((long double)element(0, i) + (long double)x * sum);
}

START_TEST(results_are_those_of_the_formula)
{
    struct kernel_run run;
    kernel_run_open(&run, "adjoint", WORDS("n=9", "x=-3.25", "seed=5"));
    ck_assert_uint_eq(run.loop.iterations, 81);
    double *results = kernel_run_all(&run, 7);
    for (uint64_t i = 0; i < 81; i++)
        ck_assert_double_eq_tol(results[i], formula(81, i, -3.25), 1e-13);
    free(results);
    kernel_run_close(&run);
}
END_TEST

START_TEST(every_cut_gives_the_same_bits)
{
    struct kernel_run run;
    kernel_run_open(&run, "adjoint", WORDS("n=57"));
    double *whole = kernel_run_all(&run, 57 * 57), *cut = kernel_run_all(&run, (uint64_t)_i);
    ck_assert_int_eq(memcmp(whole, cut, 57 * 57 * sizeof *whole), 0);
    free(whole);
    free(cut);
    kernel_run_close(&run);
}
END_TEST

enum { LENGTH = 2500 };

START_TEST(every_variant_keeps_the_order_of_summation)
{
    static double b[LENGTH + ADJOINT_PAD], c[LENGTH + ADJOINT_PAD], sums[LENGTH];
    static const uint64_t lengths[] = {1, 15, 16, 17, 65, 1023, 1024, 1040, LENGTH};
    size_t variants;
    const struct adjoint_variant *variant = adjoint_variants(&variants);
    uint64_t m = lengths[_i];
    memset(b, 0, sizeof b);
    memset(c, 0, sizeof c);
    for (uint64_t i = 0; i < m; i++) {
        b[i] = element(1, i);
        c[i] = element(2, i);
    }
    for (size_t v = 0; v < variants; v++) {
        if (!variant[v].usable())
            continue;
        variant[v].run(b, c, m, 0, m, sums);
        for (uint64_t i = 0; i < m; i++)
            ck_assert_msg(sums[i] == adjoint_scalar(b, c, m, i), "%s differs: m = %d, i = %d", variant[v].name, (int)m,
                          (int)i);
    }
}
END_TEST

START_TEST(the_seed_makes_the_inputs)
{
    struct kernel_run run;
    double *results[3];
    static const char *const seeds[] = {"seed=1", "seed=2", "seed=1"};
    for (int i = 0; i < 3; i++) {
        kernel_run_open(&run, "adjoint", WORDS("n=5", seeds[i]));
        results[i] = kernel_run_all(&run, 25);
        kernel_run_close(&run);
    }
    ck_assert_int_eq(memcmp(results[0], results[2], 25 * sizeof(double)), 0);
    for (int i = 0; i < 25; i++)
        ck_assert_double_ne(results[0][i], results[1][i]);
    for (int i = 0; i < 3; i++)
        free(results[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("adjoint");
    TCase *tcase = tcase_create("adjoint");
    tcase_add_test(tcase, results_are_those_of_the_formula);
    tcase_add_loop_test(tcase, every_cut_gives_the_same_bits, 1, 6);
    tcase_add_loop_test(tcase, every_variant_keeps_the_order_of_summation, 0, 9);
    tcase_add_test(tcase, the_seed_makes_the_inputs);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
