/* SPDX-License-Identifier: MIT */
/* Task logs as hdss log finds them, and the output of their tasks: in files, in parts, or not known. */
#include "common/metrics/task_log.h"
#include "common/results/results.h"
#include "deploy/cli/log_file.h"
#include "hdss/kernel.h"
#include "proto/block.h"
#include "proto/wire.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-log-XXXXXX";
static struct error error;
static struct log_file log_file;

static void set_up(void)
{
    error.text[0] = '\0';
    scratch_enter(folder);
}

static void tear_down(void)
{
    scratch_leave(folder);
}

#define OK(call) ck_assert_msg((call) == 0, "%s", error.text)
#define FAILS(call, line)                                                                                              \
    do {                                                                                                               \
        ck_assert_int_eq((call), -1);                                                                                  \
        ck_assert_str_eq(error.text, line);                                                                            \
    } while (0)

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

#define ROW(N, EXIT, OUT, ERR) N "\tn\t10\t0.5\t0\t0\t" EXIT "\t0\trun " N "\t2\t1\t0.1\t9\t1\texit\t" OUT "\t" ERR "\n"
#define OWN                    TASK_LOG_HEADING "\n"

/* Takes a task's output, then its errors behind a bar. */
static int add_piece(void *context, unsigned stream, const void *bytes, size_t count, struct error *reason)
{
    char *text = context;
    (void)reason;
    if (stream == 1 && strchr(text, '|') == NULL)
        strcat(text, "|");
    strncat(text, bytes, count);
    return 0;
}

static const char *streams_of(uint64_t number)
{
    static char text[1000];
    const struct log_record *record = log_file_find(&log_file, number);
    text[0] = '\0';
    ck_assert_ptr_nonnull(record);
    OK(log_file_streams(&log_file, record, add_piece, text, &error));
    return text;
}

START_TEST(a_log_is_found_by_the_name_of_its_list_or_its_output)
{
    static const char *const names[] = {"tasks.txt.log", "tasks.txt", "tasks.txt.out"};
    write_file("tasks.txt", "run 1\nrun 2\nrun 3\n");
    write_file("tasks.txt.log", OWN ROW("1", "0", "4", "0") ROW("2", "3", "0", "5") ROW("4", "0", "3", "2"));
    write_file("tasks.txt.out", "one\n4th");
    write_file("tasks.txt.err", "bad!\ne4");
    for (size_t i = 0; i < 3; i++) {
        struct task_row row;
        char errors[LOG_ERRORS_KEPT];
        OK(log_file_open(&log_file, names[i], NULL, &error));
        ck_assert_str_eq(log_file.path, "tasks.txt.log");
        ck_assert_uint_eq(log_file.count, 3);
        ck_assert_int_eq(log_file.streams, LOG_STREAMS_FILES);
        ck_assert_str_eq(streams_of(1), "one\n");
        ck_assert_str_eq(streams_of(2), "|bad!\n");
        ck_assert_str_eq(streams_of(4), "4th|e4");
        ck_assert_ptr_null(log_file_find(&log_file, 3));
        ck_assert(log_file_find(&log_file, 2)->has_failed);
        OK(log_file_row(&log_file, log_file_find(&log_file, 2), &row, &error));
        ck_assert(task_text_is(row.command, "run 2"));
        ck_assert_uint_eq(log_file_errors(&log_file, log_file_find(&log_file, 2), errors), 5);
        log_file_close(&log_file);
    }
}
END_TEST

START_TEST(a_joblog_has_its_lines_in_any_order)
{
    write_file("job", OWN ROW("2", "1", "2", "0") ROW("1", "0", "1", "0") "something\n" ROW("2", "0", "3", "0"));
    write_file("o.out", "1two");
    write_file("o.err", "");
    OK(log_file_open(&log_file, "job", NULL, &error));
    ck_assert_int_eq(log_file.streams, LOG_STREAMS_UNKNOWN);
    ck_assert_uint_eq(log_file.count, 2);
    ck_assert_uint_eq(log_file.strange, 1);
    ck_assert(!log_file_find(&log_file, 2)->has_failed); /* its last line counts */
    log_file_close(&log_file);
    OK(log_file_open(&log_file, "job", "o.out", &error));
    ck_assert_str_eq(streams_of(2), "two");
    log_file_close(&log_file);
    write_file("o.out", "1two and more");
    OK(log_file_open(&log_file, "job", "o.out", &error));
    ck_assert_int_eq(log_file.streams, LOG_STREAMS_UNKNOWN);
    log_file_close(&log_file);
}
END_TEST

START_TEST(a_log_of_gnu_parallel_is_read)
{
    write_file("job", TASK_LOG_COMMON "\n1\t:\t10\t     0.5\t0\t0\t0\t15\tsleep 9\n");
    OK(log_file_open(&log_file, "job", NULL, &error));
    ck_assert_uint_eq(log_file.count, 1);
    ck_assert(log_file_find(&log_file, 1)->has_failed);
    ck_assert_int_eq(log_file.streams, LOG_STREAMS_UNKNOWN);
    ck_assert_str_eq(streams_of(1), "");
    log_file_close(&log_file);
}
END_TEST

static const struct hdss_loop loop = {.iterations = 10, .streams = 3, .are_tasks = true};

static void put(struct results_sink *sink, uint64_t task, const char *out, const char *err, const char *line)
{
    unsigned char bytes[1000];
    size_t at = block_head_put(bytes, 1, 3);
    wire_put32(bytes + at, 0);
    wire_put32(bytes + at + 4, (uint32_t)strlen(out));
    wire_put32(bytes + at + 8, (uint32_t)strlen(err));
    wire_put32(bytes + at + 12, (uint32_t)strlen(line));
    at += block_entry_bytes(3);
    at += (size_t)sprintf((char *)bytes + at, "%s%s%s", out, err, line);
    OK(results_write(sink, task, 1, bytes, at, &error));
}

START_TEST(parts_are_read_while_a_run_goes_on)
{
    static const char *const names[] = {"t", "t.out", "t.log", "t.out.parts"};
    struct results_sink sink;
    char errors[LOG_ERRORS_KEPT];
    write_file("t", "a list\n");
    OK(results_create("t.out", &loop, NULL, &error));
    OK(results_open(&sink, "t.out", &loop, 0, &error));
    put(&sink, 4, "five", "bad", ROW("5", "2", "4", "3"));
    put(&sink, 0, "one", "", ROW("1", "0", "3", "0"));
    for (size_t i = 0; i < 4; i++) {
        OK(log_file_open(&log_file, names[i], NULL, &error));
        ck_assert_str_eq(log_file.path, "t.out.parts");
        ck_assert_int_eq(log_file.streams, LOG_STREAMS_PARTS);
        ck_assert_uint_eq(log_file.count, 2);
        ck_assert_str_eq(streams_of(5), "five|bad");
        ck_assert_str_eq(streams_of(1), "one");
        ck_assert_uint_eq(log_file_errors(&log_file, log_file_find(&log_file, 5), errors), 3);
        ck_assert(memcmp(errors, "bad", 3) == 0);
        log_file_close(&log_file);
    }
    OK(results_close(&sink, &error));
}
END_TEST

START_TEST(what_is_no_log_is_refused)
{
    FAILS(log_file_open(&log_file, "nothing", NULL, &error), "nothing: there is no such file, and no nothing.log");
    write_file("text", "some text\n");
    FAILS(log_file_open(&log_file, "text", NULL, &error), "text: is no task log, and there is no text.log");
    write_file("text.log", "more text\n");
    FAILS(log_file_open(&log_file, "text", NULL, &error), "text: is no task log, and there is no text.log");
    FAILS(log_file_open(&log_file, ".", NULL, &error), ".: is no task log, and there is no ..log");
    FAILS(log_file_open(&log_file, "/dev/null", NULL, &error), "/dev/null: is not a regular file");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *all = tcase_create("log");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, a_log_is_found_by_the_name_of_its_list_or_its_output);
    tcase_add_test(all, a_joblog_has_its_lines_in_any_order);
    tcase_add_test(all, a_log_of_gnu_parallel_is_read);
    tcase_add_test(all, parts_are_read_while_a_run_goes_on);
    tcase_add_test(all, what_is_no_log_is_refused);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
