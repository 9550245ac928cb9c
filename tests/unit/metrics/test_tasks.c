/* SPDX-License-Identifier: MIT */
/* Task logs as they are read, and why tasks have failed as it is told. */
#include "common/metrics/reasons.h"
#include "common/metrics/task_log.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>

static struct task_row row;

static bool read_line(enum task_log kind, const char *line)
{
    return task_row_read(&row, kind, line, strlen(line));
}

START_TEST(the_first_line_says_the_columns)
{
    static const char own[] = TASK_LOG_HEADING, other[] = TASK_LOG_COMMON;
    ck_assert_int_eq(task_log_kind(own, strlen(own)), TASK_LOG_HDSS);
    ck_assert_int_eq(task_log_kind(other, strlen(other)), TASK_LOG_PARALLEL);
    ck_assert_int_eq(task_log_kind(other, strlen(other) - 1), TASK_LOG_NONE);
    ck_assert_int_eq(task_log_kind("", 0), TASK_LOG_NONE);
}
END_TEST

START_TEST(a_line_of_ours_is_read)
{
    ck_assert(read_line(TASK_LOG_HDSS,
                        "17\tn1\t1700000000.500\t0.250\t0\t12\t3\t0\techo a\tb\t2\t1\t0.125\t2048\t2\texit\t7\t5"));
    ck_assert_uint_eq(row.number, 17);
    ck_assert(task_text_is(row.host, "n1") && task_text_is(row.command, "echo a\tb") && task_text_is(row.end, "exit"));
    ck_assert(row.started_s == 1700000000.5 && row.runtime_s == 0.25 && row.cpu_s == 0.125);
    ck_assert(row.received == 12 && row.exit == 3 && row.signal == 0 && row.worker == 2 && row.node == 1);
    ck_assert(row.peak_kib == 2048 && row.tries == 2 && row.out == 7 && row.err == 5);
    ck_assert(task_row_failed(&row));
}
END_TEST

START_TEST(a_line_of_gnu_parallel_is_read)
{
    ck_assert(read_line(TASK_LOG_PARALLEL, "2\t:\t1795455183.954\t     0.001\t0\t5\t-1\t15\tsleep\t9"));
    ck_assert(row.number == 2 && row.runtime_s == 0.001 && row.exit == -1 && row.signal == 15);
    ck_assert(task_text_is(row.command, "sleep\t9") && row.end.length == 0);
    ck_assert(task_row_failed(&row));
    ck_assert(read_line(TASK_LOG_PARALLEL, "2\t:\t1\t1\t0\t5\t0\t0\t"));
    ck_assert(row.command.length == 0 && !task_row_failed(&row));
}
END_TEST

START_TEST(anything_else_is_no_line)
{
    static const char *const lines[] = {"",
                                        "1",
                                        "\t\t\t\t\t\t\t\t",
                                        "0\t:\t1\t1\t0\t5\t0\t0\tx",
                                        "x\t:\t1\t1\t0\t5\t0\t0\tx",
                                        "1\t:\tnan\t1\t0\t5\t0\t0\tx",
                                        "1\t:\t1\t1\t0\t5\t0\t0"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(!read_line(TASK_LOG_PARALLEL, lines[i]), "%s", lines[i]);
    ck_assert(!read_line(TASK_LOG_HDSS, "1\t:\t1\t1\t0\t5\t0\t0\tx"));
    ck_assert(!read_line(TASK_LOG_NONE, "1\t:\t1\t1\t0\t5\t0\t0\tx"));
}
END_TEST

static void add(struct reasons *reasons, unsigned number, int exit, int signal, const char *end, const char *errors)
{
    char line[200];
    snprintf(line, sizeof line, "%u\tn\t1\t1\t0\t0\t%d\t%d\t./fit %u.dat\t1\t0\t0\t0\t1\t%s\t0\t0", number, exit,
             signal, number, end);
    ck_assert(read_line(TASK_LOG_HDSS, line));
    reasons_add(reasons, &row, errors, strlen(errors));
}

START_TEST(the_commonest_reasons_come_first)
{
    struct reasons reasons = {0};
    struct text text;
    add(&reasons, 4, 0, 11, "signal", "");
    for (unsigned i = 17; i < 17 + 1200; i++)
        add(&reasons, i, 1, 0, "exit", "first\ncannot open\tx\x01\n\n");
    add(&reasons, 5, 2, 0, "timeout", "still at it\nhdss: task 5: ended at its time limit of 1 s\n");
    add(&reasons, 6, 2, 0, "timeout", "");
    add(&reasons, 7, 127, 0, "not-started", "hdss: task 7: fit: No such file or directory or so\n");
    add(&reasons, 8, 0, 0, "not-kept", "hdss: task 8: 8.out: File exists\n");
    for (unsigned i = 50; i < 53; i++)
        add(&reasons, i, (int)i, 0, "exit", "");
    text_init(&text);
    reasons_sort(&reasons);
    reasons_add_text(&reasons, &text, "because ", "        ", 80);
    ck_assert_str_eq(text.data, "because 1,200 tasks failed with exit 1, e.g. 17 ./fit 17.dat: cannot open x?\n"
                                "        2 tasks were ended at the time limit, e.g. 5 ./fit 5.dat: still at it\n"
                                "        1 task was ended by SIGSEGV: 4 ./fit 4.dat\n"
                                "        1 task could not be started: 7 ./fit 7.dat\n"
                                "            fit: No such file or directory or so\n"
                                "        4 tasks failed for other reasons\n");
    text_fini(&text);
}
END_TEST

START_TEST(the_latest_failed_tasks_are_kept)
{
    static struct failed_task latest[REASONS_LATEST];
    struct reasons reasons = {.latest = latest};
    add(&reasons, 1, 0, 11, "signal", "");
    for (unsigned i = 2; i < REASONS_LATEST + 2; i++)
        add(&reasons, i, 127, 0, "not-started", "first\nhdss: task 9: fit: none\n");
    ck_assert_uint_eq(reasons.added, REASONS_LATEST + 1);
    ck_assert_uint_eq(latest[0].number, REASONS_LATEST + 1);
    ck_assert_str_eq(latest[0].end, "not started");
    ck_assert_str_eq(latest[1].command, "./fit 2.dat");
    ck_assert_str_eq(latest[1].error, "fit: none");
}
END_TEST

START_TEST(more_reasons_than_are_told_apart_are_counted)
{
    struct reasons reasons = {0};
    struct text text;
    char errors[2 * REASON_TEXT_MAX];
    memset(errors, 'e', sizeof errors);
    memcpy(errors + REASON_TEXT_MAX - 2, "\xc3\xa4", 2);
    errors[sizeof errors - 1] = '\0';
    for (unsigned i = 0; i < 100; i++)
        add(&reasons, i + 1, (int)i + 1, 0, "exit", errors);
    ck_assert_uint_eq(reasons.count, REASONS_MAX);
    ck_assert_uint_eq(reasons.others, 100 - REASONS_MAX);
    ck_assert_uint_eq(strlen(reasons.items[0].error), REASON_TEXT_MAX - 2); /* no half of a character */
    text_init(&text);
    reasons_add_text(&reasons, &text, "", "", 1000);
    ck_assert_ptr_nonnull(strstr(text.data, "\n96 tasks failed for other reasons\n"));
    text_fini(&text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tasks");
    TCase *all = tcase_create("tasks");
    tcase_add_test(all, the_first_line_says_the_columns);
    tcase_add_test(all, a_line_of_ours_is_read);
    tcase_add_test(all, a_line_of_gnu_parallel_is_read);
    tcase_add_test(all, anything_else_is_no_line);
    tcase_add_test(all, the_commonest_reasons_come_first);
    tcase_add_test(all, the_latest_failed_tasks_are_kept);
    tcase_add_test(all, more_reasons_than_are_told_apart_are_counted);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
