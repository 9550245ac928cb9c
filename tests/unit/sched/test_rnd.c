/* SPDX-License-Identifier: MIT */
/* rnd: the published numbers, the interval, the seed. */
#include "common/sched/sched.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

/* A whole 64-bit number is the size of a chunk in no loop: what is compared are chunks of 2^63 sizes, z/2 + 1. */
START_TEST(chunks_come_from_the_published_numbers)
{
    const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                                 16408922859458223821u};
    struct sched sched = loop_of("rnd:lo=1,hi=2^63,seed=1234567", SCHED_ITERATIONS_MAX, 4);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_uint_eq(splitmix64_at(1234567, i), expected[i]);
        ck_assert_uint_eq(sched_at(&sched, i), 1 + expected[i] / 2);
    }
    sched_fini(&sched);
}
END_TEST

START_TEST(both_forms_agree)
{
    struct sched sched = loop_of("rnd:lo=5,hi=500,seed=42", 1000000, 7);
    for (uint64_t i = 0; sched.remaining > 500; i++) {
        uint64_t chunk = sched_at(&sched, i);
        ck_assert_uint_eq(sched_next(&sched, (unsigned)(i % 7)), chunk);
    }
    sched_fini(&sched);
}
END_TEST

START_TEST(every_size_of_the_interval_comes_about_as_often)
{
    enum { LO = 3, HI = 12, SIZES = HI - LO + 1, CHUNKS = 100000 };
    struct sched sched = loop_of("rnd:lo=3,hi=12", 1000, 4);
    unsigned seen[SIZES] = {0};
    for (uint64_t i = 0; i < CHUNKS; i++) {
        uint64_t chunk = sched_at(&sched, i);
        ck_assert(chunk >= LO && chunk <= HI);
        seen[chunk - LO]++;
    }
    for (unsigned size = 0; size < SIZES; size++) /* 10000 is the mean, 95 the deviation */
        ck_assert(seen[size] > 9500 && seen[size] < 10500);
    sched_fini(&sched);
}
END_TEST

START_TEST(seeds_give_other_series)
{
    struct sched first = loop_of("rnd", 1000000000, 4), same = loop_of("rnd:seed=1", 1000000000, 4);
    struct sched other = loop_of("rnd:seed=2", 1000000000, 4);
    unsigned differ = 0;
    for (uint64_t i = 0; i < 100; i++) {
        ck_assert_uint_eq(sched_at(&first, i), sched_at(&same, i));
        differ += sched_at(&first, i) != sched_at(&other, i);
    }
    ck_assert_uint_ge(differ, 99);
    sched_fini(&first);
    sched_fini(&same);
    sched_fini(&other);
}
END_TEST

START_TEST(the_default_is_up_to_the_share_of_a_worker)
{
    struct sched sched = loop_of("rnd", 40, 4);
    uint64_t smallest = UINT64_MAX, largest = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t chunk = sched_at(&sched, i);
        smallest = chunk < smallest ? chunk : smallest;
        largest = chunk > largest ? chunk : largest;
    }
    ck_assert_uint_eq(smallest, 1);
    ck_assert_uint_eq(largest, 10);
    sched_fini(&sched);
    sched = loop_of("rnd:lo=30", 40, 4); /* the default of hi gives way */
    ck_assert_uint_eq(sched_at(&sched, 0), 30);
    sched_fini(&sched);
    sched = loop_of("rnd", 3, 4);
    ck_assert_uint_eq(sched_at(&sched, 0), 1);
    sched_fini(&sched);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-rnd");
    TCase *all = tcase_create("rnd");
    tcase_add_test(all, chunks_come_from_the_published_numbers);
    tcase_add_test(all, both_forms_agree);
    tcase_add_test(all, every_size_of_the_interval_comes_about_as_often);
    tcase_add_test(all, seeds_give_other_series);
    tcase_add_test(all, the_default_is_up_to_the_share_of_a_worker);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
