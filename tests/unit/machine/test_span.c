/* SPDX-License-Identifier: MIT */
/* Iterations that are taken from a running chunk by another thread: each is the worker's or taken, none both. */
#include "common/machine/span.h"

#include "tests/lib/suite.h"

#include <pthread.h>
#include <stdlib.h>

enum { SERVER = 7, CHUNK = 3 };

START_TEST(a_share_of_what_has_not_begun_is_taken)
{
    struct span span = {0};
    struct stolen stolen;
    ck_assert(!span_steal(&span, SERVER, 1, &stolen));
    ck_assert(span_open(&span, SERVER, CHUNK, 100, 50, 10));
    ck_assert(span_steal(&span, SERVER, 1, &stolen));
    ck_assert_uint_eq(stolen.range.first, 130);
    ck_assert_uint_eq(stolen.range.count, 20);
    ck_assert_uint_eq(stolen.chunk, CHUNK);
    ck_assert_uint_eq(span_claim(&span, 29), 30);
    ck_assert(span_steal(&span, SERVER, 3, &stolen));
    ck_assert_uint_eq(stolen.range.first, 129);
    ck_assert_uint_eq(stolen.range.count, 1);
    ck_assert(!span_steal(&span, SERVER, 1, &stolen));
    ck_assert_uint_eq(stolen.range.count, 0);
    ck_assert_uint_eq(stolen.chunk, CHUNK);
    ck_assert_uint_eq(span_claim(&span, 40), 29); /* fewer are left */
    ck_assert_uint_eq(span_close(&span), 29);
}
END_TEST

START_TEST(only_the_server_takes)
{
    struct span span = {0};
    struct stolen stolen;
    ck_assert(span_open(&span, SERVER, CHUNK, 0, 50, 1));
    ck_assert(!span_steal(&span, SERVER + 1, 1, &stolen));
    ck_assert_uint_eq(span_close(&span), 50);
    ck_assert(!span_steal(&span, SERVER, 1, &stolen));
    ck_assert(!span_open(&span, SERVER, 0, 0, 50, 1)); /* a chunk that the server does not know */
    ck_assert(!span_open(&span, SERVER, CHUNK, 0, 50, 50));
}
END_TEST

/* Chunks of more iterations than the word can count. */
START_TEST(a_chunk_may_be_of_any_length)
{
    for (unsigned bits = 19; bits < 64; bits++)
        for (int more = -1; more <= 1; more++) {
            const uint64_t count = (UINT64_C(1) << bits) + (uint64_t)more, first = UINT64_MAX - count;
            struct span span = {0};
            struct stolen stolen;
            uint64_t end = count;
            ck_assert(span_open(&span, SERVER, CHUNK, first, count, 1));
            while (span_steal(&span, SERVER, 1, &stolen)) {
                ck_assert_uint_gt(stolen.range.count, 0);
                ck_assert_uint_eq(stolen.range.first + stolen.range.count, first + end);
                end -= stolen.range.count;
            }
            ck_assert_uint_le(end, count / ((1u << 20) - 1) + 1); /* the first unit is left */
            ck_assert_uint_eq(span_close(&span), end);
        }
}
END_TEST

enum { ITERATIONS = 20000, ROUNDS = 50 };

static struct span shared;
static unsigned char taken[ITERATIONS];
static atomic_bool is_over;

static void *take_all_the_time(void *context)
{
    struct stolen stolen;
    (void)context;
    while (!atomic_load(&is_over))
        if (span_steal(&shared, SERVER, 1, &stolen) && stolen.range.count > 0)
            for (uint64_t i = 0; i < stolen.range.count; i++)
                taken[stolen.range.first + i]++;
    return NULL;
}

START_TEST(each_iteration_is_of_one_of_both)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_t thief;
        uint64_t end = ITERATIONS, done = 1;
        for (uint64_t i = 0; i < ITERATIONS; i++)
            taken[i] = 0;
        atomic_store(&is_over, false);
        ck_assert_int_eq(pthread_create(&thief, NULL, take_all_the_time, NULL), 0);
        ck_assert(span_open(&shared, SERVER, CHUNK + round, 0, ITERATIONS, done));
        while ((end = span_claim(&shared, done + 1 + done % 3)) > done)
            done = done + 1 + done % 3 < end ? done + 1 + done % 3 : end;
        ck_assert_uint_eq(span_close(&shared), done);
        atomic_store(&is_over, true);
        pthread_join(thief, NULL);
        for (uint64_t i = 0; i < ITERATIONS; i++)
            ck_assert_uint_eq(taken[i], i >= done);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("span");
    TCase *all = tcase_create("span");
    tcase_add_test(all, a_share_of_what_has_not_begun_is_taken);
    tcase_add_test(all, only_the_server_takes);
    tcase_add_test(all, a_chunk_may_be_of_any_length);
    tcase_add_test(all, each_iteration_is_of_one_of_both);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
