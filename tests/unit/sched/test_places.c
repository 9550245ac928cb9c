/* SPDX-License-Identifier: MIT */
/* Techniques that say which iterations are in a chunk: static-steal. What it cuts when requests come in an order is
 * compared with its source in tests/sched/papers.py; here is what a run does besides. */
#include "common/sched/sched.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "tests/lib/asserts.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 3000, WORKERS = 70 };

/* ck_assert() leaves a mark in a file each time, which is too slow for every iteration. */
#define place_assert(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("%s", #condition);                                                                            \
    } while (0)

/* A loop of which some is taken and comes back: who keeps count of it knows which iterations a place is. */
struct account {
    struct sched sched;
    bool is_free[MOST];
    unsigned place[MOST]; /* the iterations that were free when the parts were laid out */
    unsigned iterations;
};

static void survey(struct account *account)
{
    unsigned places = 0;
    if (!account->sched.is_laid_out)
        return;
    account->sched.is_laid_out = false;
    for (unsigned i = 0; i < account->iterations; i++)
        if (account->is_free[i])
            account->place[places++] = i;
}

/* Cuts a chunk that may be made longer or shorter, and checks that all of it was free. */
static void cut_placed(struct account *account, struct random *random)
{
    struct sched *sched = &account->sched;
    const unsigned worker = (unsigned)random_between(random, 0, sched->workers - 1);
    const uint64_t before = sched->remaining;
    uint64_t count = sched_next(sched, worker);
    survey(account);
    place_assert(count > 0);
    if (random_between(random, 0, 3) == 0)
        count += sched_widen(sched, worker, random_between(random, 0, 9));
    if (random_between(random, 0, 3) == 0) {
        const uint64_t less = random_between(random, 0, count - 1);
        sched_shorten(sched, worker, less);
        count -= less;
    }
    place_assert(sched->remaining == before - count);
    for (uint64_t i = sched->place; i < sched->place + count; i++) {
        place_assert(account->is_free[account->place[i]]);
        account->is_free[account->place[i]] = false;
    }
}

/* Some iterations come back that were cut, or are done that were free, with nothing told but how many. */
static void disturb(struct account *account, struct random *random)
{
    const bool comes_back = random_between(random, 0, 1);
    unsigned changed = 0;
    for (unsigned i = 0; i < account->iterations; i++)
        if (account->is_free[i] != comes_back && random_between(random, 0, 99) == 0) {
            account->is_free[i] = comes_back;
            changed++;
        }
    (comes_back ? sched_give_back : sched_claim)(&account->sched, changed);
}

START_TEST(what_is_placed_is_free)
{
    static struct account account;
    static const char *const specs[] = {"static-steal", "static-steal:chunk=4", "static-steal:chunk=1,rule=lb4omp",
                                        "static-steal:rule=lb4omp", "static-steal:chunk=50"};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct random random;
        random_init(&random, seed);
        double powers[WORKERS];
        for (unsigned j = 0; j < WORKERS; j++)
            powers[j] = 0.01 + random_uniform(&random);
        account.iterations = (unsigned)random_between(&random, 1, MOST);
        const struct sched_config config = {
            .iterations = account.iterations,
            .workers = (unsigned)random_between(&random, 1, WORKERS),
            .powers = powers,
            .weighting = random_between(&random, 0, 1) ? SCHED_WEIGHTING_POWER : SCHED_WEIGHTING_NONE,
        };
        account.sched = loop_with(specs[seed % (sizeof specs / sizeof *specs)], &config);
        memset(account.is_free, true, sizeof account.is_free);
        for (unsigned step = 0; account.sched.remaining > 0; step++) {
            cut_placed(&account, &random);
            if (step < 200 && random_between(&random, 0, 9) == 0)
                disturb(&account, &random);
        }
        for (unsigned i = 0; i < account.iterations; i++)
            place_assert(!account.is_free[i]);
        sched_fini(&account.sched);
    }
}
END_TEST

static void expect_chunk(struct sched *sched, unsigned worker, uint64_t first, uint64_t count)
{
    struct range chunk;
    ck_assert(sched_cut(sched, worker, &chunk));
    ck_assert_uint_eq(chunk.first, first);
    ck_assert_uint_eq(chunk.count, count);
}

START_TEST(parts_follow_the_powers)
{
    const double powers[] = {1, 2, 0.5};
    const struct sched_config config = {
        .iterations = 100, .workers = 3, .powers = powers, .weighting = SCHED_WEIGHTING_POWER};
    struct sched sched = loop_with("static-steal:chunk=3", &config); /* 34 chunks: 9 and one more, 19 and one more, 4 */
    expect_chunk(&sched, 0, 0, 3);
    expect_chunk(&sched, 1, 30, 3);
    expect_chunk(&sched, 2, 90, 3);
    expect_chunk(&sched, 2, 93, 3);
    expect_chunk(&sched, 2, 96, 3);
    expect_chunk(&sched, 2, 99, 1);
    expect_chunk(&sched, 2, 24, 3); /* a quarter of the 9 of worker 0 */
    expect_chunk(&sched, 2, 27, 3);
    sched_fini(&sched);
}
END_TEST

START_TEST(the_least_size_is_kept_where_chunks_are_few)
{
    const struct sched_config config = {.iterations = 10, .workers = 4, .min_chunk = 4};
    struct sched sched = loop_with("static-steal:rule=lb4omp", &config);
    expect_chunk(&sched, 0, 0, 4);
    expect_chunk(&sched, 1, 4, 4);
    expect_chunk(&sched, 2, 8, 2);
    sched_fini(&sched);
}
END_TEST

START_TEST(a_step_begins_anew)
{
    struct error error;
    struct sched sched = loop_of("static-steal:chunk=2", 16, 2);
    expect_chunk(&sched, 1, 8, 2);
    expect_chunk(&sched, 1, 10, 2);
    ck_assert_int_eq(sched_again(&sched, 16, &error), 0);
    expect_chunk(&sched, 0, 0, 2);
    expect_chunk(&sched, 1, 8, 2);
    sched_fini(&sched);
}
END_TEST

START_TEST(no_closed_form)
{
    struct error error;
    struct sched sched = loop_of("static_steal", 16, 2);
    ck_assert_int_eq(sched_check_closed(&sched, &error), -1);
    ck_assert_ptr_null(sched.technique->from_rest);
    sched_fini(&sched);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-places");
    TCase *tcase = tcase_create("places");
    tcase_add_test(tcase, what_is_placed_is_free);
    tcase_add_test(tcase, parts_follow_the_powers);
    tcase_add_test(tcase, the_least_size_is_kept_where_chunks_are_few);
    tcase_add_test(tcase, a_step_begins_anew);
    tcase_add_test(tcase, no_closed_form);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
