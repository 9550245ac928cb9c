/* SPDX-License-Identifier: MIT */
/* Rows of a trace, sorted in a file. */
#include "common/trace/row_sorter.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-test-sorter-XXXXXX";

static void enter(void)
{
    scratch_enter(folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

static struct sorted_row before;
static uint64_t given;

/* Rows that are alike come in the order in which they were added: `chunk` counts them. */
static void take_next(void *context, const struct sorted_row *row)
{
    (void)context;
    if (given++ > 0) {
        ck_assert_uint_le(before.place, row->place);
        ck_assert(before.place < row->place || before.at_ns <= row->at_ns);
        ck_assert(before.place < row->place || before.at_ns < row->at_ns || before.row.chunk < row->row.chunk);
    }
    ck_assert_uint_eq(row->at_ns * 3 + row->place, row->row.first);
    before = *row;
}

static void sort_rows(uint64_t count)
{
    struct error error;
    uint64_t state = 1;
    struct row_sorter *sorter = row_sorter_new("rows", &error);
    ck_assert_ptr_nonnull(sorter);
    ck_assert_int_lt(access("rows", F_OK), 0);
    for (uint64_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        struct sorted_row row = {
            .at_ns = (state >> 33) % 5000, .place = (uint32_t)(state >> 60), .row.chunk = (uint32_t)i};
        row.row.first = row.at_ns * 3 + row.place;
        row_sorter_add(sorter, &row);
    }
    given = 0;
    ck_assert_int_eq(row_sorter_give(sorter, take_next, NULL, &error), 0);
    ck_assert_uint_eq(given, count);
    row_sorter_free(sorter);
}

/* Of runs that are full, of one that is not, and of none. */
START_TEST(rows_come_by_place_and_time)
{
    sort_rows(0);
    sort_rows(1);
    sort_rows(65535);
    sort_rows(65536);
    sort_rows(65537);
    sort_rows(300000);
}
END_TEST

START_TEST(a_file_that_cannot_be_made_is_told_of)
{
    struct error error;
    ck_assert_ptr_null(row_sorter_new("no/rows", &error));
    ck_assert_ptr_nonnull(strstr(error.text, "no/rows: No such file"));
}
END_TEST

/* A full disk shows at the end, in one line. */
START_TEST(a_file_that_cannot_grow_is_told_of_at_the_end)
{
    struct error error;
    const struct sorted_row row = {.place = 1};
    struct rlimit limit, least;
    struct row_sorter *sorter = row_sorter_new("rows", &error);
    ck_assert_ptr_nonnull(sorter);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    least = limit;
    least.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &least), 0);
    for (unsigned i = 0; i < 200000; i++)
        row_sorter_add(sorter, &row);
    given = 0;
    ck_assert_int_lt(row_sorter_give(sorter, take_next, NULL, &error), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_uint_eq(given, 0);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot be written to be sorted"));
    row_sorter_free(sorter);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sorting the rows of a trace");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, enter, leave);
    tcase_add_test(all, rows_come_by_place_and_time);
    tcase_add_test(all, a_file_that_cannot_be_made_is_told_of);
    tcase_add_test(all, a_file_that_cannot_grow_is_told_of_at_the_end);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
