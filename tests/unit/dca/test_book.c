/* SPDX-License-Identifier: MIT */
/* The book of rank 0 over the chunks of the others: what each access fixes, what is given again, and to whom. That
 * nothing is lost or doubled whatever happens when is tried by tests/seeds/dca.c. */
#include "common/dca/book.h"
#include "common/dca/core.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

static struct dca_core core;
static struct dca_book book;
static struct range given;

static void begin(const char *technique, bool two_counters)
{
    const struct sched_spec spec = spec_of(technique);
    const struct dca_config config = {
        .technique = &spec, .sched = {.iterations = 1000, .workers = 4}, .two_counters = two_counters};
    struct error error;
    ck_assert_msg(dca_init(&core, &config, &error) == 0, "%s", error.text);
    ck_assert_msg(dca_book_init(&book, &core, 4, &error) == 0, "%s", error.text);
}

static void end(void)
{
    ck_assert_ptr_eq(dca_book_check(&book), NULL);
    dca_book_fini(&book);
    dca_fini(&core);
}

/* The counter was `before`; nothing is given. */
static void add(unsigned rank, enum dca_counter counter, uint64_t amount, uint64_t before)
{
    ck_assert(!dca_book_ask(&book, rank, counter, amount, &given));
    dca_book_answer(&book, rank, counter, amount, before);
    ck_assert_ptr_eq(dca_book_check(&book), NULL);
}

static void expect_given(uint64_t first, uint64_t count)
{
    ck_assert_uint_eq(given.first, first);
    ck_assert_uint_eq(given.count, count);
    ck_assert_ptr_eq(dca_book_check(&book), NULL);
}

static void expect_lost(unsigned rank, unsigned deaths, uint64_t first, uint64_t count)
{
    struct range range;
    ck_assert_uint_eq(dca_book_lose(&book, rank, &range), deaths);
    ck_assert_uint_eq(range.count, count);
    ck_assert(count == 0 || range.first == first);
    ck_assert_ptr_eq(dca_book_check(&book), NULL);
}

static void leave(unsigned rank)
{
    ck_assert(!dca_book_leave(&book, rank, &given));
    ck_assert_ptr_eq(dca_book_check(&book), NULL);
}

START_TEST(each_way_fixes_a_chunk)
{
    begin("css:chunk=100", false);
    add(2, DCA_STEP, 1, 10); /* behind the last one */
    expect_lost(2, 0, 0, 0);
    add(1, DCA_STEP, 1, 3);
    expect_lost(1, 1, 300, 100);
    end();
    begin("css:chunk=300", true);
    add(1, DCA_STEP, 1, 3);
    add(1, DCA_START, 300, 900);
    expect_lost(1, 1, 900, 100);
    end();
    begin("dgss", false);
    add(1, DCA_START, 0, 600);
    add(1, DCA_START, 100, 700);
    expect_lost(1, 1, 700, 100);
    end();
}
END_TEST

/* Rank 2 gets half of what each of the two others would; rank 3 takes from the rest. */
START_TEST(who_asks_next_gets_some_of_what_was_lost)
{
    begin("css:chunk=100", false);
    add(1, DCA_STEP, 1, 0);
    add(2, DCA_STEP, 1, 1);
    expect_lost(1, 1, 0, 100);
    ck_assert_uint_eq(book.reissued, 1);
    ck_assert(dca_book_ask(&book, 2, DCA_STEP, 1, &given));
    expect_given(0, 25);
    ck_assert(dca_book_ask(&book, 3, DCA_STEP, 1, &given));
    expect_given(25, 18);
    expect_lost(3, 2, 25, 18); /* the second that was lost with them */
    ck_assert(dca_book_ask(&book, 2, DCA_STEP, 1, &given));
    expect_given(25, 9);
    ck_assert(!dca_book_take(&book, &given)); /* rank 0 has others for that */
    expect_lost(2, 3, 25, 9);
    uint64_t sum = 0;
    while (dca_book_take(&book, &given))
        sum += given.count;
    ck_assert_uint_eq(sum, 100 - 25); /* rank 2 had computed its first piece when it asked again */
    ck_assert(dca_book_is_over(&book, 1000));
    end();
}
END_TEST

START_TEST(who_has_left_is_given_what_is_lost_later)
{
    unsigned rank;
    begin("css:chunk=4", false);
    add(1, DCA_STEP, 1, 249);
    leave(2);
    leave(3);
    ck_assert(!dca_book_is_over(&book, 0) && !dca_book_give(&book, &rank, &given));
    expect_lost(1, 1, 996, 4);
    ck_assert(!dca_book_is_over(&book, 0));
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(dca_book_give(&book, &rank, &given));
        ck_assert_uint_eq(rank, 2 + i);
        expect_given(996 + i, 1);
    }
    ck_assert(!dca_book_give(&book, &rank, &given) && !dca_book_is_over(&book, 0));
    ck_assert(dca_book_leave(&book, 3, &given));
    expect_given(998, 1);
    ck_assert(dca_book_leave(&book, 2, &given));
    expect_given(999, 1);
    leave(3);
    ck_assert(!dca_book_is_over(&book, 0));
    leave(2);
    ck_assert(dca_book_is_over(&book, 0));
    expect_lost(2, 0, 0, 0); /* it had nothing any more */
    ck_assert(dca_book_is_over(&book, 0));
    end();
}
END_TEST

/* By step the chunk sizes add up to the loop; one that is not taken is missing at the end. */
START_TEST(a_step_without_its_start_leaves_a_gap)
{
    begin("css:chunk=300", true);
    add(1, DCA_STEP, 1, 0);
    expect_lost(1, 0, 0, 0);
    leave(2);
    ck_assert(!dca_book_is_over(&book, 700));
    leave(3);
    ck_assert(!dca_book_is_over(&book, 700));
    unsigned rank;
    ck_assert(dca_book_give(&book, &rank, &given));
    expect_given(700, 75);
    end();
}
END_TEST

START_TEST(a_stop_gives_nothing_any_more)
{
    unsigned rank;
    begin("css:chunk=100", false);
    add(1, DCA_STEP, 1, 0);
    add(2, DCA_STEP, 1, 1);
    add(2, DCA_STEP, core.stop, 2); /* in the middle of its chunk */
    leave(3);
    expect_lost(1, 1, 0, 100);
    ck_assert(!dca_book_give(&book, &rank, &given) && !dca_book_is_over(&book, 0));
    expect_lost(2, 1, 100, 100);
    ck_assert(dca_book_is_over(&book, 0) && !dca_book_take(&book, &given));
    ck_assert_uint_eq(book.reissued, 0);
    end();
}
END_TEST

START_TEST(the_check_finds_what_cannot_be)
{
    begin("css:chunk=100", false);
    book.holders[1] = (struct dca_holder){.waits = true, .chunk = {0, 1}};
    ck_assert_str_eq(dca_book_check(&book), "a rank that is lost or waits has a chunk");
    book.holders[1] = (struct dca_holder){.waits = true, .lost = true};
    ck_assert_str_eq(dca_book_check(&book), "a lost rank waits");
    book.holders[1] = (struct dca_holder){.chunk = {999, 2}};
    ck_assert_str_eq(dca_book_check(&book), "a chunk in the book is not in the loop");
    book.holders[1] = (struct dca_holder){.waits = true};
    ck_assert_str_eq(dca_book_check(&book), "the ranks in the book are counted wrongly");
    book.holders[1] = (struct dca_holder){0};
    book.pieces[book.count++] = (struct range){1000, 1};
    ck_assert_str_eq(dca_book_check(&book), "what was lost is not in the loop");
    book.count = 0;
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dca-book");
    TCase *tcase = tcase_create("chunks");
    tcase_add_test(tcase, each_way_fixes_a_chunk);
    tcase_add_test(tcase, who_asks_next_gets_some_of_what_was_lost);
    tcase_add_test(tcase, who_has_left_is_given_what_is_lost_later);
    tcase_add_test(tcase, a_step_without_its_start_leaves_a_gap);
    tcase_add_test(tcase, a_stop_gives_nothing_any_more);
    tcase_add_test(tcase, the_check_finds_what_cannot_be);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
