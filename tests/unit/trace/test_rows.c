/* SPDX-License-Identifier: MIT */
/* Rows of a trace, from the records of a machine. */
#include "common/trace/rows.h"
#include "tests/lib/suite.h"

#include <string.h>

#define ROWS_MAX 16

static struct chunk_row taken[ROWS_MAX];
static unsigned taken_count;

static void take_row(void *context, const struct chunk_row *row)
{
    (void)context;
    ck_assert_uint_lt(taken_count, ROWS_MAX);
    taken[taken_count++] = *row;
}

static struct trace_record assigned(uint32_t chunk, uint64_t at_ns, uint64_t first, uint64_t count)
{
    return (struct trace_record){.at_ns = at_ns,
                                 .first = first,
                                 .count = count,
                                 .figure = at_ns - 5,
                                 .worker = 3,
                                 .chunk = chunk,
                                 .kind = CHUNK_ASSIGNED,
                                 .reason = CHUNK_REASON_OWN};
}

static struct trace_record computed(uint32_t chunk, uint64_t at_ns, uint64_t compute_ns, uint64_t wait_ns,
                                    bool is_whole)
{
    return (struct trace_record){.at_ns = at_ns,
                                 .figure = compute_ns,
                                 .wait_ns = wait_ns,
                                 .worker = 3,
                                 .chunk = chunk,
                                 .kind = CHUNK_COMPUTED,
                                 .is_whole = is_whole};
}

/* The completion of a whole chunk says which one it was. */
static struct trace_record completed(const struct trace_record *chunk, uint64_t at_ns, uint64_t compute_ns,
                                     uint64_t wait_ns)
{
    struct trace_record record = computed(chunk->chunk, at_ns, compute_ns, wait_ns, true);
    record.first = chunk->first;
    record.count = chunk->count;
    return record;
}

static struct trace_record part(enum trace_record_kind kind, uint32_t chunk, uint64_t at_ns, uint64_t first,
                                uint64_t count)
{
    return (struct trace_record){
        .at_ns = at_ns, .first = first, .count = count, .worker = 3, .chunk = chunk, .kind = (uint8_t)kind};
}

/* The rows of the records are in `taken`. */
static void replay(const struct trace_record *records, size_t count)
{
    struct chunk_rows *rows = chunk_rows_new(take_row, NULL);
    taken_count = 0;
    ck_assert_ptr_nonnull(rows);
    ck_assert(chunk_rows_add(rows, records, count));
    chunk_rows_end(rows);
    chunk_rows_free(rows);
}

#define REPLAY(records) replay(records, sizeof(records) / sizeof(records)[0])

static void check_row(unsigned i, uint64_t first, uint64_t count, enum trace_record_kind fate)
{
    ck_assert_uint_lt(i, taken_count);
    ck_assert_uint_eq(taken[i].first, first);
    ck_assert_uint_eq(taken[i].count, count);
    ck_assert_int_eq((int)taken[i].fate, (int)fate);
}

static void check_times(unsigned i, uint64_t begun_ns, uint64_t ended_ns, uint64_t settled_ns)
{
    ck_assert_uint_eq(taken[i].begun_ns, begun_ns);
    ck_assert_uint_eq(taken[i].ended_ns, ended_ns);
    ck_assert_uint_eq(taken[i].settled_ns, settled_ns);
}

START_TEST(a_chunk_has_a_row)
{
    const struct trace_record chunk = assigned(1, 100, 7, 5);
    const struct trace_record records[] = {chunk, completed(&chunk, 200, 60, 0)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 1);
    check_row(0, 7, 5, CHUNK_STORED);
    check_times(0, 140, 200, 200);
    ck_assert_uint_eq(taken[0].asked_ns, 95);
    ck_assert_uint_eq(taken[0].at_ns, 100);
    ck_assert_uint_eq(taken[0].compute_ns, 60);
    ck_assert_str_eq(chunk_reason_name(taken[0].reason), "own");
}
END_TEST

/* Those that came together ended one after the other, with the idle time between them. */
START_TEST(completions_that_came_together_lie_behind_one_another)
{
    const struct trace_record first = assigned(1, 100, 0, 5), second = assigned(2, 100, 5, 5),
                              third = assigned(3, 150, 10, 5);
    const struct trace_record records[] = {first,
                                           second,
                                           third,
                                           completed(&first, 400, 50, 0),
                                           completed(&second, 400, 30, 10),
                                           completed(&third, 400, 40, 20)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 3);
    check_times(2, 360, 400, 400);
    check_times(1, 310, 340, 400);
    check_times(0, 250, 300, 400);
}
END_TEST

/* A chunk began neither before it was assigned nor before the one before it had ended. */
START_TEST(a_worker_is_at_one_chunk_at_a_time)
{
    const struct trace_record first = assigned(1, 100, 0, 5), second = assigned(2, 100, 5, 5);
    const struct trace_record records[] = {first, second, completed(&first, 130, 50, 0),
                                           completed(&second, 140, 30, 0)};
    REPLAY(records);
    check_times(0, 100, 150, 150);
    check_times(1, 150, 180, 180);
}
END_TEST

/* Completions that a busy master takes late, each in a message of its own. */
START_TEST(a_chunk_ends_before_the_next_one_began)
{
    struct trace_record records[3 * ROWS_MAX];
    const unsigned count = ROWS_MAX;
    uint64_t ended_ns = 1000 + count - 1;
    for (unsigned i = 0; i < count; i++) {
        records[i] = assigned(i + 1, 100, i, 1);
        records[count + i] = completed(&records[i], 1000 + i, 20, (i + 1) % 2);
    }
    replay(records, 2 * (size_t)count);
    for (unsigned i = count; i-- > 0; ended_ns -= 20 + (i + 1) % 2)
        check_times(i, ended_ns - 20, ended_ns, 1000 + i);
}
END_TEST

static void count_row(void *context, const struct chunk_row *row)
{
    unsigned *count = context;
    ck_assert_uint_eq(row->first, ++*count);
    ck_assert_uint_eq(row->ended_ns - row->begun_ns, row->compute_ns);
}

/* The chunks of a long trace wait for a bounded number of later ones. */
START_TEST(rows_come_while_records_are_added)
{
    unsigned count = 0;
    struct chunk_rows *rows = chunk_rows_new(count_row, &count);
    ck_assert_ptr_nonnull(rows);
    for (uint32_t chunk = 1; chunk <= 1000; chunk++) {
        const struct trace_record one = assigned(chunk, 100 * chunk, chunk, 1);
        const struct trace_record records[] = {one, completed(&one, 100 * chunk + 90, 80, 10)};
        ck_assert(chunk_rows_add(rows, records, 2));
        ck_assert_uint_lt(chunk - count, 200);
    }
    chunk_rows_end(rows);
    ck_assert_uint_eq(count, 1000);
    chunk_rows_free(rows);
}
END_TEST

START_TEST(what_is_stored_late_ends_a_chunk)
{
    const struct trace_record records[] = {assigned(1, 100, 0, 10), part(CHUNK_STORED, 1, 150, 0, 4),
                                           computed(1, 200, 80, 0, false), part(CHUNK_STORED, 1, 300, 4, 6)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 1);
    check_row(0, 0, 10, CHUNK_STORED);
    check_times(0, 120, 200, 300);
}
END_TEST

START_TEST(a_chunk_has_a_row_for_each_fate)
{
    const struct trace_record records[] = {assigned(1, 100, 0, 10),          part(CHUNK_RETURNED, 1, 140, 7, 3),
                                           part(CHUNK_FAILED, 1, 150, 2, 1), computed(1, 200, 80, 0, false),
                                           part(CHUNK_STORED, 1, 200, 0, 2), part(CHUNK_STORED, 1, 200, 3, 4)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 4);
    check_row(0, 7, 3, CHUNK_RETURNED);
    check_times(0, ROW_UNKNOWN, ROW_UNKNOWN, 140);
    check_row(1, 2, 1, CHUNK_FAILED);
    ck_assert_uint_eq(taken[1].compute_ns, 80);
    check_row(2, 0, 2, CHUNK_STORED);
    ck_assert_uint_eq(taken[2].compute_ns, 0);
    check_row(3, 3, 4, CHUNK_STORED);
}
END_TEST

START_TEST(a_chunk_that_is_returned_whole_has_no_end)
{
    const struct trace_record records[] = {assigned(1, 100, 0, 10), part(CHUNK_RETURNED, 1, 140, 0, 10)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 1);
    check_row(0, 0, 10, CHUNK_RETURNED);
}
END_TEST

/* What was on its way to the disk when its worker was lost is stored all the same. */
START_TEST(a_lost_worker_settles_its_chunks)
{
    const struct trace_record records[] = {assigned(1, 100, 0, 10),           part(CHUNK_LOST, 1, 140, 4, 6),
                                           part(CHUNK_STORED, 1, 150, 0, 4),  assigned(2, 110, 10, 5),
                                           part(CHUNK_STORED, 2, 160, 10, 5), part(CHUNK_LOST, 2, 170, 15, 0)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 3);
    check_row(0, 4, 6, CHUNK_LOST);
    check_row(1, 0, 4, CHUNK_STORED);
    check_row(2, 10, 5, CHUNK_STORED);
}
END_TEST

START_TEST(what_is_not_settled_is_open)
{
    const struct trace_record records[] = {assigned(1, 100, 0, 10), part(CHUNK_STORED, 1, 150, 0, 4)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 2);
    check_row(0, 0, 4, CHUNK_STORED);
    check_row(1, 4, 6, 0);
    ck_assert_str_eq(chunk_fate_name(taken[1].fate), "open");
}
END_TEST

START_TEST(cuts_and_losses_have_rows)
{
    const struct trace_record records[] = {
        {.at_ns = 50, .first = 3, .count = 4, .figure = 9, .worker = 3, .kind = CHUNK_CUT},
        {.at_ns = 60, .worker = 2, .kind = CHUNK_RANK_LOST},
        {.kind = 0}};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 2);
    ck_assert_int_eq((int)taken[0].kind, ROW_CUT);
    ck_assert_uint_eq(taken[0].formula, 9);
    ck_assert_int_eq((int)taken[1].kind, ROW_RANK_LOST);
    ck_assert_uint_eq(taken[1].worker, 2);
}
END_TEST

START_TEST(what_an_earlier_run_had_done_has_a_row)
{
    const struct trace_record chunk = assigned(1, 100, 20, 10);
    const struct trace_record records[] = {{.at_ns = 50, .first = 0, .count = 20, .kind = CHUNK_RESUMED},
                                           {.at_ns = 50, .first = 30, .count = 1, .kind = CHUNK_RESUMED},
                                           chunk,
                                           completed(&chunk, 200, 40, 0)};
    REPLAY(records);
    ck_assert_uint_eq(taken_count, 3);
    check_row(0, 0, 20, 0);
    check_row(1, 30, 1, 0);
    check_row(2, 20, 10, CHUNK_STORED);
    ck_assert_int_eq((int)taken[0].kind, ROW_RESUMED);
    ck_assert_int_eq((int)taken[1].kind, ROW_RESUMED);
    ck_assert_int_eq((int)taken[2].kind, ROW_CHUNK);
    ck_assert_uint_eq(taken[0].at_ns, 50);
}
END_TEST

START_TEST(records_that_make_no_sense_are_refused)
{
    struct chunk_rows *rows = chunk_rows_new(take_row, NULL);
    const struct trace_record unknown = {.kind = CHUNK_KINDS}, far = {.kind = CHUNK_ASSIGNED, .worker = UINT32_MAX};
    ck_assert_ptr_nonnull(rows);
    ck_assert(!chunk_rows_add(rows, &unknown, 1));
    ck_assert(!chunk_rows_add(rows, &far, 1));
    chunk_rows_free(rows);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows of a trace");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_chunk_has_a_row);
    tcase_add_test(all, completions_that_came_together_lie_behind_one_another);
    tcase_add_test(all, a_worker_is_at_one_chunk_at_a_time);
    tcase_add_test(all, a_chunk_ends_before_the_next_one_began);
    tcase_add_test(all, rows_come_while_records_are_added);
    tcase_add_test(all, what_is_stored_late_ends_a_chunk);
    tcase_add_test(all, a_chunk_has_a_row_for_each_fate);
    tcase_add_test(all, a_chunk_that_is_returned_whole_has_no_end);
    tcase_add_test(all, a_lost_worker_settles_its_chunks);
    tcase_add_test(all, what_is_not_settled_is_open);
    tcase_add_test(all, cuts_and_losses_have_rows);
    tcase_add_test(all, what_an_earlier_run_had_done_has_a_row);
    tcase_add_test(all, records_that_make_no_sense_are_refused);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
