/* SPDX-License-Identifier: MIT */
/* The closed forms against exact arithmetic: whole numbers of any length for gss and pls, of 128 bits for the others.
 */
#include "common/sched/sched.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <stdio.h>

__extension__ typedef unsigned __int128 uint128;

/* A whole number of any length, lowest limb first. */
enum { LIMBS = 256 };

struct whole {
    uint64_t limb[LIMBS];
    unsigned length;
};

static void whole_multiply(struct whole *number, uint64_t factor)
{
    uint64_t carry = 0;
    for (unsigned i = 0; i < number->length; i++) {
        uint128 product = (uint128)number->limb[i] * factor + carry;
        number->limb[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry > 0) {
        ck_assert_uint_lt(number->length, LIMBS);
        number->limb[number->length++] = carry;
    }
    while (number->length > 0 && number->limb[number->length - 1] == 0)
        number->length--;
}

static int whole_compare(const struct whole *a, const struct whole *b)
{
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    for (unsigned i = a->length; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* K is ceil(top/bottom): (K-1) bottom < top <= K bottom. */
static bool is_ceiling(uint64_t chunk, const struct whole *top, const struct whole *bottom)
{
    struct whole upper = *bottom, lower = *bottom;
    whole_multiply(&upper, chunk);
    whole_multiply(&lower, chunk - 1);
    return whole_compare(&lower, top) < 0 && whole_compare(top, &upper) <= 0;
}

/* K_i = ceil(N (P-1)^i / P^(i+1)) for the first steps. */
static void check_gss(uint64_t iterations, unsigned workers, unsigned steps)
{
    struct sched sched = loop_of("gss", iterations, workers);
    struct whole top = {.limb = {iterations}, .length = 1}, bottom = {.limb = {workers}, .length = 1};
    for (unsigned i = 0; i < steps; i++) {
        uint64_t chunk = sched_at(&sched, i);
        if (!is_ceiling(chunk, &top, &bottom))
            ck_abort_msg("N=%" PRIu64 " P=%u i=%u: not %" PRIu64, iterations, workers, i, chunk);
        whole_multiply(&top, workers - 1);
        whole_multiply(&bottom, workers);
    }
    sched_fini(&sched);
}

static void check_gss_step(uint64_t iterations, unsigned workers, unsigned step)
{
    struct sched sched = loop_of("gss", iterations, workers);
    struct whole top = {.limb = {iterations}, .length = 1}, bottom = {.limb = {workers}, .length = 1};
    for (unsigned i = 0; i < step; i++) {
        whole_multiply(&top, workers - 1);
        whole_multiply(&bottom, workers);
    }
    uint64_t chunk = sched_at(&sched, step);
    if (!is_ceiling(chunk, &top, &bottom))
        ck_abort_msg("N=%" PRIu64 " P=%u i=%u: not %" PRIu64, iterations, workers, step, chunk);
    sched_fini(&sched);
}

START_TEST(gss_is_exact_where_doubles_are_not)
{
    struct sched sched = loop_of("gss", 125, 5);
    ck_assert_uint_eq(sched_at(&sched, 0), 25);
    ck_assert_uint_eq(sched_at(&sched, 1), 20);
    ck_assert_uint_eq(sched_at(&sched, 2), 16);
    ck_assert_uint_eq(sched_at(&sched, 3), 13); /* 12.8 */
    sched_fini(&sched);
}
END_TEST

START_TEST(gss_is_exact_for_any_loop)
{
    const unsigned workers[] = {2, 3, 4, 5, 7, 10, 16, 63, 64, 100, 1000, 4096, 65537, 1u << 24};
    struct random random;
    random_init(&random, (uint64_t)_i);
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        check_gss(random_next(&random) >> random_between(&random, 1, 63) | 1, workers[w], 300);
        check_gss(random_next(&random) >> 1 | 1, workers[w], 300);
    }
    check_gss(SCHED_ITERATIONS_MAX, workers[_i], 400);
    check_gss(SCHED_ITERATIONS_MAX - 1, workers[_i], 400);
}
END_TEST

START_TEST(gss_is_exact_where_powers_of_the_workers_divide_the_loop)
{
    const unsigned workers[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 60, 64, 1000, 4096, 1u << 20};
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++)
        for (uint64_t power = workers[w]; power <= SCHED_ITERATIONS_MAX / workers[w]; power *= workers[w]) {
            check_gss(power, workers[w], 70);
            check_gss(power - 1, workers[w], 70);
            check_gss(power + 1, workers[w], 70);
            check_gss(power * (SCHED_ITERATIONS_MAX / power), workers[w], 70);
        }
}
END_TEST

static uint64_t multiply_modulo(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (uint64_t)((uint128)a * b % modulus);
}

/* The inverse of P-1 modulo P^(i+1) is -(1 + P + P^2 + .. + P^i), as (P-1)(1 + .. + P^i) = P^(i+1) - 1. */
static uint64_t inverse_power(uint64_t workers, unsigned step, uint64_t modulus)
{
    uint64_t sum = 0, result = 1;
    for (unsigned i = 0; i <= step; i++)
        sum = (uint64_t)(((uint128)sum * workers + 1) % modulus);
    for (unsigned i = 0; i < step; i++)
        result = multiply_modulo(result, modulus - sum, modulus);
    return result;
}

START_TEST(gss_is_exact_next_to_whole_values)
{
    /* N (P-1)^i = d modulo P^(i+1): the value is d/P^(i+1) from a whole number, down to 2^-63. */
    const unsigned workers[] = {3, 5, 6, 7, 9, 10, 11, 64, 100, 1000, 4096, 100003, 2097143};
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        uint64_t modulus = workers[w];
        for (unsigned step = 0; modulus <= SCHED_ITERATIONS_MAX / workers[w]; step++, modulus *= workers[w]) {
            uint64_t near = inverse_power(workers[w], step, modulus);
            ck_assert_uint_gt(near, 0);
            for (uint64_t d = 1; d < 4; d++) {
                uint64_t iterations = multiply_modulo(near, d, modulus);
                if (iterations == 0) /* d is a multiple of P */
                    continue;
                check_gss(iterations, workers[w], step + 3);
                check_gss(modulus - iterations, workers[w], step + 3);
            }
        }
    }
}
END_TEST

/* The denominators q of the convergents of top/bottom: q top/bottom is less than 1/q from a whole number, which is
 * as near as it gets for its size, from below and from above in turn. */
static void check_convergents(uint128 top, uint128 bottom, unsigned workers, unsigned step)
{
    uint128 denominator = 1, previous = 0;
    while (top > 0) {
        uint128 quotient = bottom / top, rest = bottom % top;
        if (quotient > SCHED_ITERATIONS_MAX / denominator)
            break;
        uint128 next = quotient * denominator + previous;
        bottom = top;
        top = rest;
        previous = denominator;
        denominator = next;
        if (next <= SCHED_ITERATIONS_MAX)
            check_gss_step((uint64_t)next, workers, step);
    }
}

START_TEST(gss_is_exact_as_near_to_whole_values_as_it_gets)
{
    for (unsigned workers = 3; workers < 400; workers++) {
        uint128 top = 1, bottom = workers;
        for (unsigned step = 0; bottom < ((uint128)1 << 127) / workers; step++) {
            check_convergents(top, bottom, workers, step);
            top *= workers - 1;
            bottom *= workers;
        }
    }
}
END_TEST

START_TEST(gss_ends_in_ones)
{
    struct sched sched = loop_of("gss", SCHED_ITERATIONS_MAX, 64);
    for (uint64_t step = 64 * 44 - 100; step < 64 * 44 + 100; step++)
        ck_assert_uint_eq(sched_at(&sched, step), 1);
    ck_assert_uint_eq(sched_at(&sched, UINT64_MAX), 1);
    sched_fini(&sched);
    sched = loop_of("gss", 1000, 1);
    ck_assert_uint_eq(sched_at(&sched, 0), 1000);
    ck_assert_uint_eq(sched_at(&sched, 1), 1);
    ck_assert_uint_eq(sched_at(&sched, UINT64_MAX), 1);
    sched_fini(&sched);
}
END_TEST

START_TEST(gss_goes_far_along_a_long_series)
{
    /* 4096 workers: steps of three base-64 digits, against the recurrence of the value in 128 + 64 bits. */
    const uint64_t iterations = SCHED_ITERATIONS_MAX - 12345;
    const unsigned workers = 4096;
    struct sched sched = loop_of("gss", iterations, workers);
    uint128 value = ((uint128)iterations << 64) / workers; /* rounded down, and so is each step: less than i/2^64 off */
    for (uint64_t i = 0; i < 180000; i++) {
        uint64_t fraction = (uint64_t)value, chunk = sched_at(&sched, i);
        if (fraction > 0 && fraction < UINT64_MAX - 2 * i)
            ck_assert_msg(chunk == (uint64_t)(value >> 64) + 1, "i=%" PRIu64, i);
        value -= value / workers + (value % workers != 0);
    }
    sched_fini(&sched);
}
END_TEST

START_TEST(fac2_is_exact)
{
    const unsigned workers[] = {1, 2, 3, 5, 64, 4096, SCHED_WORKERS_MAX};
    struct random random;
    random_init(&random, (uint64_t)_i);
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        uint64_t iterations = (random_next(&random) >> random_between(&random, 1, 60)) + 1;
        iterations = _i == 0 ? SCHED_ITERATIONS_MAX : _i == 1 ? SCHED_ITERATIONS_MAX - 1 : iterations;
        struct sched sched = loop_of("fac2", iterations, workers[w]);
        for (unsigned batch = 0; batch < 70; batch++) {
            uint128 parts = (uint128)workers[w] << (batch + 1);
            uint64_t expected = (uint64_t)((iterations + parts - 1) / parts), step = (uint64_t)batch * workers[w];
            ck_assert_uint_eq(sched_at(&sched, step), expected);
            ck_assert_uint_eq(sched_at(&sched, step + workers[w] - 1), expected);
        }
        ck_assert_uint_eq(sched_at(&sched, UINT64_MAX), 1);
        sched_fini(&sched);
    }
}
END_TEST

/* F - i D with D = floor((F-L)/(S-1)), or ceil(F - i (F-L)/(S-1)), and not below L. */
static uint64_t trapezoid(uint128 iterations, uint128 first, uint128 last, bool real, uint128 step)
{
    uint128 steps = (2 * iterations + first + last - 1) / (first + last);
    if (steps < 2)
        return (uint64_t)(step == 0 ? first : last);
    uint128 run = steps - 1, fall = real ? step * (first - last) / run : step * ((first - last) / run);
    return (uint64_t)(first >= last + fall ? first - fall : last);
}

static void check_tss(const char *spec, uint64_t iterations, unsigned workers, uint64_t first, uint64_t last, bool real)
{
    struct sched sched = loop_of(spec, iterations, workers);
    for (uint64_t i = 0; i < 2000; i++) { /* beyond the end of the trapezoid, too */
        uint64_t chunk = sched_at(&sched, i);
        ck_assert_msg(chunk == trapezoid(iterations, first, last, real, i), "%s N=%" PRIu64 " P=%u i=%" PRIu64, spec,
                      iterations, workers, i);
    }
    sched_fini(&sched);
}

START_TEST(tss_is_exact)
{
    const uint64_t loops[] = {1, 2, 7, 1000, 262144, (1u << 31) + 7, 1000000000000, SCHED_ITERATIONS_MAX};
    const unsigned workers[] = {1, 2, 3, 5, 64, 256, 4096};
    for (size_t n = 0; n < sizeof loops / sizeof *loops; n++)
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
            uint64_t first = loops[n] / (2 * workers[w]) + (loops[n] % (2 * workers[w]) != 0);
            check_tss("tss", loops[n], workers[w], first, 1, false);
            check_tss("tss:decrement=real", loops[n], workers[w], first, 1, true);
            check_tss("tss:first=1250,last=80", loops[n], workers[w], 1250, 80, false);
            check_tss("tss:first=2^63,last=2^62,decrement=real", loops[n], workers[w], SCHED_ITERATIONS_MAX,
                      SCHED_ITERATIONS_MAX / 2, true);
        }
}
END_TEST

START_TEST(mfsc_is_exact)
{
    /* 0.55 + t/log2 t is in [K, K+1): t^(20K-11) <= 2^(20t) < t^(20K+9). */
    for (unsigned t = 2; t < 600; t++) {
        struct sched sched = loop_of("mfsc", 3 * t, 3);
        uint64_t chunk = sched_at(&sched, 0);
        struct whole power = {.limb = {1}, .length = 1}, lower = power;
        for (unsigned i = 0; i < 20 * t; i++)
            whole_multiply(&power, 2);
        for (unsigned i = 0; i < 20 * chunk - 11; i++)
            whole_multiply(&lower, t);
        struct whole upper = lower;
        for (int i = 0; i < 20; i++)
            whole_multiply(&upper, t);
        if (whole_compare(&lower, &power) > 0 || (chunk < t && whole_compare(&power, &upper) >= 0))
            ck_abort_msg("t=%u: not %" PRIu64, t, chunk);
        sched_fini(&sched);
    }
}
END_TEST

START_TEST(mfsc_is_exact_for_powers_of_two)
{
    for (unsigned exponent = 1; exponent < 64; exponent++) { /* 0.55 + 2^n/n = (55 n + 100 2^n)/(100 n) */
        uint64_t each = UINT64_C(1) << exponent, parts = 100 * exponent;
        uint64_t expected = (uint64_t)((55 * exponent + 100 * (uint128)each) / parts);
        struct sched sched = loop_of("mfsc", each, 1);
        ck_assert_uint_eq(sched_at(&sched, 9), (expected < each ? expected : each));
        sched_fini(&sched);
    }
}
END_TEST

START_TEST(mfsc_of_small_loops_is_single_iterations)
{
    for (uint64_t iterations = 0; iterations <= 5; iterations++) {
        struct sched sched = loop_of("mfsc", iterations, 5);
        ck_assert_uint_eq(sched_at(&sched, 0), 1);
        sched_fini(&sched);
    }
}
END_TEST

/* The mean of P terms of the trapezoid, summed one by one and rounded down, not below `last`. */
static uint64_t trapezoid_mean(uint64_t iterations, unsigned workers, uint64_t first, uint64_t last, bool real,
                               uint64_t batch)
{
    int64_t run = (int64_t)((2 * iterations + first + last - 1) / (first + last)) - 1;
    run = run < 1 ? 1 : run;
    int64_t fall = (int64_t)(first - last), parts = real ? run : 1, sum = 0;
    int64_t decrement = real ? fall : fall / run;
    for (uint64_t i = batch * workers; i < (batch + 1) * workers; i++)
        sum += (int64_t)first * parts - (int64_t)i * decrement;
    return sum < (int64_t)last * (int64_t)workers * parts ? last : (uint64_t)(sum / ((int64_t)workers * parts));
}

START_TEST(tfss_is_exact)
{
    const uint64_t sizes[] = {1, 2, 7, 1000, 12345, 262144};
    const unsigned workers[] = {1, 2, 3, 4, 5, 64, 256};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++)
            for (int real = 0; real < 2; real++) {
                uint64_t first = (sizes[n] + 2 * workers[w] - 1) / (2 * workers[w]);
                struct sched sched = loop_of(real ? "tfss:decrement=real" : "tfss", sizes[n], workers[w]);
                struct sched given = loop_of(real ? "tfss:first=900,last=20,decrement=real" : "tfss:first=900,last=20",
                                             sizes[n], workers[w]);
                for (uint64_t batch = 0; batch < 40; batch++) {
                    uint64_t step = batch * workers[w];
                    uint64_t expected = trapezoid_mean(sizes[n], workers[w], first, 1, real, batch);
                    ck_assert_uint_eq(sched_at(&sched, step), expected);
                    ck_assert_uint_eq(sched_at(&sched, step + workers[w] - 1), expected);
                    ck_assert_uint_eq(sched_at(&given, step),
                                      trapezoid_mean(sizes[n], workers[w], 900, 20, real, batch));
                }
                sched_fini(&sched);
                sched_fini(&given);
            }
}
END_TEST

START_TEST(fiss_is_exact)
{
    struct random random;
    random_init(&random, (uint64_t)_i);
    for (unsigned round = 0; round < 300; round++) {
        uint64_t iterations = random_next(&random) >> random_between(&random, 1, 60);
        uint64_t stages = random_between(&random, 2, 50), workers = random_between(&random, 1, 5000);
        char spec[64];
        snprintf(spec, sizeof spec, "fiss:stages=%" PRIu64, stages);
        struct sched sched = loop_of(spec, iterations, (unsigned)workers);
        uint64_t first = iterations / ((2 + stages) * workers);
        uint64_t rise = (uint64_t)(4 * (uint128)iterations / ((2 + stages) * workers * stages * (stages - 1)));
        for (uint64_t batch = 0; batch < 9; batch++) {
            uint64_t expected = first + batch * rise;
            ck_assert_uint_eq(sched_at(&sched, batch * workers + workers - 1), (expected > 0 ? expected : 1));
        }
        sched_fini(&sched);
    }
}
END_TEST

START_TEST(increasing_techniques_stop_at_the_longest_loop)
{
    struct sched sched = loop_of("fiss:stages=2", SCHED_ITERATIONS_MAX, 1);
    ck_assert_uint_eq(sched_at(&sched, 0), SCHED_ITERATIONS_MAX / 4);
    ck_assert_uint_eq(sched_at(&sched, 1), SCHED_ITERATIONS_MAX / 4 * 3);
    ck_assert_uint_eq(sched_at(&sched, 2), SCHED_ITERATIONS_MAX);
    ck_assert_uint_eq(sched_at(&sched, UINT64_MAX), SCHED_ITERATIONS_MAX);
    sched_fini(&sched);
    sched = loop_of("viss:x=1", SCHED_ITERATIONS_MAX, 1);
    ck_assert_uint_eq(sched_at(&sched, 0), SCHED_ITERATIONS_MAX);
    ck_assert_uint_eq(sched_at(&sched, 1), SCHED_ITERATIONS_MAX / 2 * 3);
    ck_assert_uint_eq(sched_at(&sched, UINT64_MAX), UINT64_MAX);
    sched_fini(&sched);
}
END_TEST

START_TEST(viss_is_exact)
{
    struct random random;
    random_init(&random, (uint64_t)_i);
    for (unsigned round = 0; round < 300; round++) {
        uint64_t iterations = random_next(&random) >> random_between(&random, 1, 60);
        unsigned workers = (unsigned)random_between(&random, 1, 5000);
        struct sched sched = loop_of("viss:x=3", iterations, workers);
        uint128 twice = 2 * (uint128)(iterations / (3 * (uint64_t)workers));
        for (unsigned batch = 0; batch < 70; batch++) { /* floor(2 K0 (2^n - 1)/2^n) */
            uint64_t expected =
                (uint64_t)(batch < 63 ? twice * ((UINT64_C(2) << batch) - 1) >> (batch + 1) : twice - (twice > 0));
            ck_assert_uint_eq(sched_at(&sched, (uint64_t)batch * workers), (expected > 0 ? expected : 1));
        }
        sched_fini(&sched);
    }
}
END_TEST

/* The ratio as it was written, in thousandths: 0.29 is 29/100, though no double is. */
START_TEST(pls_is_exact)
{
    struct random random;
    random_init(&random, (uint64_t)_i);
    for (unsigned thousandths = 0; thousandths <= 1000; thousandths++) {
        unsigned workers = (unsigned)random_between(&random, 1, 500);
        uint64_t iterations = random_next(&random) >> random_between(&random, 1, 50);
        iterations -= iterations % (1000 * (uint64_t)workers); /* N s/P is whole */
        uint64_t expected = iterations / 1000 / workers * thousandths, rest = iterations - expected * workers;
        char spec[64];
        snprintf(spec, sizeof spec, "pls:swr=%.3f", thousandths / 1000.0);
        struct sched sched = loop_of(spec, iterations, workers), guided = loop_of("gss", rest, workers);
        ck_assert_uint_eq(sched_at(&sched, 0), (expected > 0 ? expected : 1));
        ck_assert_uint_eq(sched_at(&sched, workers - 1), (expected > 0 ? expected : 1));
        for (unsigned i = 0; i < 50; i++)
            ck_assert_uint_eq(sched_at(&sched, workers + i), sched_at(&guided, i));
        sched_fini(&sched);
        sched_fini(&guided);
    }
}
END_TEST

#define RATIO_UNITS 1000000000000000

/* K_(P+i) = ceil(N(1-s) (P-1)^i / P^(i+1)), with N(1-s) as a fraction, s in units of 10^-15. */
static void check_pls(uint64_t iterations, unsigned workers, uint64_t units, unsigned steps)
{
    char spec[64];
    snprintf(spec, sizeof spec, "pls:swr=0.%015" PRIu64, units);
    struct sched sched = loop_of(spec, iterations, workers);
    struct whole top = {.limb = {iterations}, .length = 1}, bottom = {.limb = {workers}, .length = 1};
    whole_multiply(&top, RATIO_UNITS - units);
    whole_multiply(&bottom, RATIO_UNITS);
    for (unsigned i = 0; i < steps; i++) {
        uint64_t chunk = sched_at(&sched, workers + i);
        if (!is_ceiling(chunk, &top, &bottom))
            ck_abort_msg("%s N=%" PRIu64 " P=%u i=P+%u: not %" PRIu64, spec, iterations, workers, i, chunk);
        whole_multiply(&top, workers - 1);
        whole_multiply(&bottom, workers);
    }
    sched_fini(&sched);
}

START_TEST(pls_is_exact_for_any_rest)
{
    const unsigned workers[] = {2, 3, 4, 5, 7, 10, 64, 100, 1000, 65537, 1u << 24};
    struct random random;
    random_init(&random, (uint64_t)_i);
    check_pls(1007, 4, RATIO_UNITS / 2, 30); /* N(1-s) = 503.5, and 4 floor(N s/P) = 500 */
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++)
        for (unsigned round = 0; round < 10; round++) {
            uint64_t units = random_between(&random, 0, RATIO_UNITS - 1);
            check_pls(random_next(&random) >> random_between(&random, 1, 63) | 1, workers[w], units, 150);
            check_pls(SCHED_ITERATIONS_MAX - round, workers[w], units, 150);
        }
}
END_TEST

/* x with a x = 1 modulo m, where they share no divisor: Euclid's algorithm, with the factor of `a` alone. */
static uint64_t inverse(uint64_t a, uint64_t m)
{
    __extension__ __int128 x = 1, next = 0, rest = a % m, divisor = m;
    while (divisor > 0) {
        __extension__ __int128 quotient = rest / divisor, kept = divisor;
        divisor = rest - quotient * divisor;
        rest = kept;
        kept = next;
        next = x - quotient * next;
        x = kept;
    }
    return (uint64_t)(x < 0 ? x + m : x);
}

/* s = 0.7: the value is 3 N (P-1)^i / M with M = 10 P^(i+1). Of N with 3 N (P-1)^i = d modulo M it is d/M from a whole
 * number, down to 2^-63, and whole with d = 0. */
START_TEST(pls_is_exact_next_to_whole_values)
{
    const unsigned workers[] = {4, 8, 10, 14, 20, 28, 64, 100, 1000, 4100, 100004, 2097160}; /* P-1: no 2, no 5 */
    const uint64_t units = RATIO_UNITS / 10 * 7;
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        uint64_t modulus = 10 * (uint64_t)workers[w];
        for (unsigned step = 0; modulus <= SCHED_ITERATIONS_MAX / workers[w]; step++, modulus *= workers[w]) {
            check_pls(modulus, workers[w], units, step + 3);
            check_pls(modulus * (SCHED_ITERATIONS_MAX / modulus), workers[w], units, step + 3);
            if (modulus % 3 == 0)
                continue;
            uint64_t power = 3;
            for (unsigned i = 0; i < step; i++)
                power = multiply_modulo(power, workers[w] - 1, modulus);
            for (uint64_t d = 1, near = inverse(power, modulus); d < 4; d++) {
                uint64_t iterations = multiply_modulo(near, d, modulus);
                check_pls(iterations, workers[w], units, step + 3);
                check_pls(modulus - iterations, workers[w], units, step + 3);
            }
        }
    }
}
END_TEST

/* The static chunks are rounded down, the others cover N(1-s): up to P ones end the loop. */
START_TEST(pls_covers_what_its_static_chunks_leave)
{
    struct sched sched = loop_of("pls:swr=1", 1007, 100);
    ck_assert_uint_eq(sched_at(&sched, 99), 10);
    ck_assert_uint_eq(sched_at(&sched, 100), 1);
    ck_assert_uint_eq(sched_at(&sched, UINT64_MAX), 1);
    sched_fini(&sched);
    for (unsigned workers = 1; workers < 50; workers++)
        for (unsigned hundredths = 0; hundredths <= 100; hundredths += 5) {
            char spec[64];
            snprintf(spec, sizeof spec, "pls:swr=%.2f", hundredths / 100.0);
            struct sched_config config = {.iterations = 10007, .workers = workers};
            struct sched loop = loop_with(spec, &config);
            struct sched guided = loop_of("gss", 10007 - 10007 * hundredths / 100, workers);
            uint64_t chunks = 0, rest = 10007, of_rest = 0, cut = 0;
            for (uint64_t chunk; rest > 0; rest -= chunk < rest ? chunk : rest, chunks++)
                chunk = sched_at(&loop, chunks);
            for (; cut < guided.iterations; of_rest++)
                cut += sched_at(&guided, of_rest);
            ck_assert_msg(chunks <= 2 * workers + of_rest, "%s P=%u: %" PRIu64 " chunks", spec, workers, chunks);
            sched_fini(&loop);
            sched_fini(&guided);
        }
}
END_TEST

START_TEST(constant_chunks_have_their_default_size)
{
    struct sched sched = loop_of("static", 1001, 4);
    ck_assert_uint_eq(sched_at(&sched, 3), 251);
    sched_fini(&sched);
    sched = loop_of("css", 1001, 4);
    ck_assert_uint_eq(sched_at(&sched, 7), 126);
    sched_fini(&sched);
    sched = loop_of("static", SCHED_ITERATIONS_MAX, SCHED_WORKERS_MAX);
    ck_assert_uint_eq(sched_at(&sched, 0), SCHED_ITERATIONS_MAX / SCHED_WORKERS_MAX);
    sched_fini(&sched);
}
END_TEST

START_TEST(tss_with_a_real_decrement_falls_where_the_whole_one_does_not)
{
    struct sched whole = loop_of("tss", 262144, 256), real = loop_of("tss:decrement=real", 262144, 256);
    ck_assert_uint_eq(sched_at(&whole, 500), 512);
    ck_assert_uint_eq(sched_at(&real, 0), 512);
    ck_assert_uint_eq(sched_at(&real, 511), 257); /* 512 - floor(511 * 511 / 1022) */
    ck_assert_uint_eq(sched_at(&real, 1022), 1);
    sched_fini(&whole);
    sched_fini(&real);
}
END_TEST

START_TEST(recursive_and_closed_agree_where_the_rule_is_the_same)
{
    const char *const specs[] = {"static",
                                 "ss",
                                 "css",
                                 "css:chunk=7",
                                 "tss",
                                 "tss:first=90,last=3,decrement=real",
                                 "mfsc",
                                 "fiss",
                                 "fiss:stages=6",
                                 "viss",
                                 "viss:x=1",
                                 "rnd",
                                 "rnd:lo=7,hi=99,seed=3"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        struct sched sched = loop_of(specs[s], 12345, 7);
        for (uint64_t i = 0; sched.remaining > 0; i++) {
            uint64_t expected = sched_at(&sched, i), remaining = sched.remaining;
            ck_assert_uint_eq(sched_next(&sched, (unsigned)(i % 7)), (expected < remaining ? expected : remaining));
        }
        sched_fini(&sched);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-closed");
    TCase *all = tcase_create("closed");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, gss_is_exact_where_doubles_are_not);
    tcase_add_loop_test(all, gss_is_exact_for_any_loop, 0, 14);
    tcase_add_test(all, gss_is_exact_where_powers_of_the_workers_divide_the_loop);
    tcase_add_test(all, gss_is_exact_next_to_whole_values);
    tcase_add_test(all, gss_is_exact_as_near_to_whole_values_as_it_gets);
    tcase_add_test(all, gss_ends_in_ones);
    tcase_add_test(all, gss_goes_far_along_a_long_series);
    tcase_add_loop_test(all, fac2_is_exact, 0, 10);
    tcase_add_test(all, constant_chunks_have_their_default_size);
    tcase_add_test(all, tss_is_exact);
    tcase_add_test(all, mfsc_is_exact);
    tcase_add_test(all, mfsc_is_exact_for_powers_of_two);
    tcase_add_test(all, mfsc_of_small_loops_is_single_iterations);
    tcase_add_test(all, tfss_is_exact);
    tcase_add_loop_test(all, fiss_is_exact, 0, 4);
    tcase_add_loop_test(all, viss_is_exact, 0, 4);
    tcase_add_test(all, increasing_techniques_stop_at_the_longest_loop);
    tcase_add_loop_test(all, pls_is_exact, 0, 4);
    tcase_add_loop_test(all, pls_is_exact_for_any_rest, 0, 3);
    tcase_add_test(all, pls_is_exact_next_to_whole_values);
    tcase_add_test(all, pls_covers_what_its_static_chunks_leave);
    tcase_add_test(all, tss_with_a_real_decrement_falls_where_the_whole_one_does_not);
    tcase_add_test(all, recursive_and_closed_agree_where_the_rule_is_the_same);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
