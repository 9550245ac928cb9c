/* SPDX-License-Identifier: MIT */
/* hdss jobs and show: answers that are read or refused, jobs found by how their names begin, tables that fit. */
#include "deploy/cli/control_answer.h"
#include "deploy/cli/find_job.h"
#include "deploy/cli/job_view.h"
#include "deploy/cli/sets.h"
#include "tests/lib/suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct job_list list;
static struct error error;

static struct job_view *add_to(const char *session, uint64_t job, const char *json)
{
    struct job_view *view = job_list_add(&list, session, job);
    ck_assert_ptr_nonnull(view);
    if (json != NULL) {
        json_t *object = json_loads(json, 0, NULL);
        ck_assert_ptr_nonnull(object);
        ck_assert_msg(job_view_read(view, object, &error) == 0, "%s", error.text);
        json_decref(object);
    }
    return view;
}

static struct job_view *add(const char *name, const char *json)
{
    return add_to(name, 1, json);
}

#define HALF                                                                                                           \
    "{\"kernel\":\"mandelbrot\",\"state\":\"running\",\"done\":5000,\"total\":10000,\"rate_per_s\":1234.5,"            \
    "\"elapsed_s\":4,\"eta_s\":4.05,\"workers\":8,\"busy\":7,\"folder\":\"/data/work/pictures\"}"
#define OPEN                                                                                                           \
    "{\"kernel\":\"exec\",\"state\":\"running\",\"done\":12345,\"total\":null,\"eta_s\":null,\"workers\":2,"           \
    "\"folder\":\"/srv\"}"

static void set_up(void)
{
    list = (struct job_list){0};
}

static void tear_down(void)
{
    job_list_fini(&list);
}

static void check_table(unsigned width, const char *expected)
{
    struct text text;
    text_init(&text);
    job_list_print(&list, width, &text);
    char *made = text_take(&text);
    ck_assert_str_eq(made, expected);
    free(made);
}

START_TEST(the_table_fits)
{
    add("run-4711", HALF);
    add("run-12345", OPEN);
    add("run-99", NULL);
    check_table(4000, "ID         KERNEL      STATE      DONE      RATE     ETA  WORKERS  FOLDER\n"
                      "run-4711   mandelbrot  running    50 %  1.23 k/s  4.05 s      7/8  /data/work/pictures\n"
                      "run-12345  exec        running  12.3 k                        0/2  /srv\n"
                      "run-99                 silent\n");
    check_table(80, "ID         KERNEL      STATE      DONE      RATE     ETA  WORKERS  FOLDER\n"
                    "run-4711   mandelbrot  running    50 %  1.23 k/s  4.05 s      7/8  ..rk/pictures\n"
                    "run-12345  exec        running  12.3 k                        0/2  /srv\n"
                    "run-99                 silent\n");
    check_table(60, "ID         KERNEL      STATE      DONE      RATE     ETA\n"
                    "run-4711   mandelbrot  running    50 %  1.23 k/s  4.05 s\n"
                    "run-12345  exec        running  12.3 k\n"
                    "run-99                 silent\n");
    check_table(40, "ID         KERNEL      STATE      DONE\n"
                    "run-4711   mandelbrot  running    50 %\n"
                    "run-12345  exec        running  12.3 k\n"
                    "run-99                 silent\n");
}
END_TEST

START_TEST(all_is_done_only_when_it_is)
{
    add("run-1", "{\"kernel\":\"k\",\"state\":\"running\",\"done\":999999,\"total\":1000000}");
    add("run-2", "{\"kernel\":\"k\",\"state\":\"done\",\"done\":9,\"failed\":1,\"total\":10}");
    check_table(40, "ID     KERNEL  STATE     DONE  RATE  ETA\n"
                    "run-1  k       running   99 %\n"
                    "run-2  k       done     100 %\n");
}
END_TEST

START_TEST(jobs_of_sets_have_numbers_and_names)
{
    add_to("night", 7, "{\"id\":7,\"kernel\":\"k\",\"name\":\"first\",\"state\":\"running\",\"done\":5,\"total\":10}");
    add_to("night", 12, "{\"id\":12,\"kernel\":\"k\",\"name\":null,\"state\":\"waiting\",\"done\":0,\"total\":10}");
    check_table(50, "ID        NAME   KERNEL  STATE    DONE  RATE  ETA\n"
                    "night/7   first  k       running  50 %\n"
                    "night/12         k       waiting   0 %\n");
    check_table(35, "ID        NAME   STATE    DONE\n"
                    "night/7   first  running  50 %\n"
                    "night/12         waiting   0 %\n");
}
END_TEST

static void check_shown(const struct job_view *view, const char *expected)
{
    struct text text;
    text_init(&text);
    job_view_print(view, &text);
    char *made = text_take(&text);
    ck_assert_str_eq(made, expected);
    free(made);
}

START_TEST(a_job_is_shown)
{
    check_shown(add("run-1", "{\"kernel\":\"k\",\"command\":[\"k\",\"a=\\u001b[2J\\u009b\"],\"state\":\"failed\","
                             "\"folder\":\"/a\\nb\",\"done\":1000,\"total\":2000,\"failed\":3,\"rate_per_s\":10,"
                             "\"elapsed_s\":100,\"eta_s\":null,\"workers\":4,\"busy\":2,\"lost\":1,"
                             "\"technique\":\"gss\",\"topology\":\"central\",\"output\":null,\"status\":3}"),
                "run-1: k, failed\n"
                "  command    k a=?[2J?\n"
                "  folder     /a?b\n"
                "  done       1,000 of 2,000 (50.1 %), 3 given up\n"
                "  rate       10/s\n"
                "  elapsed    1 min 40 s\n"
                "  workers    2 of 4 busy, 1 lost\n"
                "  technique  gss\n"
                "  topology   central\n"
                "  status     3\n");
    check_shown(add("run-2", NULL), "run-2: silent\n");
    check_shown(add("run-3", "{\"kernel\":\"k\",\"command\":[],\"state\":\"running\",\"done\":1,\"total\":2,"
                             "\"elapsed_s\":1,\"eta_s\":60,\"eta_soonest_s\":50,\"eta_latest_s\":90}"),
                "run-3: k, running\n"
                "  command   \n"
                "  done       1 of 2 (50.0 %)\n"
                "  elapsed    1.00 s\n"
                "  left       1 min 00 s (50.0 s to 1 min 30 s)\n");
    check_shown(add("run-4", "{\"kernel\":\"k\",\"command\":[],\"state\":\"running\",\"done\":1,\"total\":2,"
                             "\"elapsed_s\":1,\"eta_s\":60,\"eta_soonest_s\":50,\"eta_latest_s\":null}"),
                "run-4: k, running\n"
                "  command   \n"
                "  done       1 of 2 (50.0 %)\n"
                "  elapsed    1.00 s\n"
                "  left       1 min 00 s (50.0 s at the soonest)\n");
    check_shown(add_to("night", 3,
                       "{\"id\":3,\"kernel\":\"k\",\"command\":[\"k\"],\"state\":\"cancelled\",\"name\":\"second\","
                       "\"priority\":-2,"
                       "\"weight\":3,\"after\":[1,2],\"submitted\":\"2026-02-28T17:05:09Z\",\"began\":null,\"total\":0,"
                       "\"cancelled_by\":2,\"status\":4}"),
                "night/3: k, cancelled\n"
                "  name       second\n"
                "  priority   -2\n"
                "  weight     3\n"
                "  after      night/1 night/2\n"
                "  submitted  2026-02-28T17:05:09Z\n"
                "  cancelled  as night/2 was not done\n"
                "  command    k\n"
                "  status     4\n");
}
END_TEST

static void check_found(const char *word, const char *name)
{
    const struct job_view *view = job_list_find(&list, word, &error);
    ck_assert_msg(view != NULL, "%s: %s", word, error.text);
    ck_assert_str_eq(view->session, name);
}

START_TEST(jobs_are_found_by_how_they_begin)
{
    add("run-12", NULL);
    add("run-123", NULL);
    add("run-45", NULL);
    add_to("12", 4, NULL); /* a set is no run */
    check_found("run-12", "run-12");
    check_found("12", "run-12");
    check_found("123", "run-123");
    check_found("4", "run-45");
    check_found("run-4", "run-45");
    ck_assert_ptr_null(job_list_find(&list, "1", &error));
    ck_assert_str_eq(error.text, "'1' is how 2 of them begin; `hdss jobs` lists them");
    ck_assert_ptr_null(job_list_find(&list, "9", &error));
    ck_assert_ptr_null(job_list_find(&list, "", &error));
}
END_TEST

static int read_answer(const char *bytes, struct control_answer *answer)
{
    return control_answer_read(answer, bytes, strlen(bytes), &error);
}

START_TEST(answers_end_where_their_heads_say)
{
    static const char whole[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length:  5\r\n\r\nhello";
    static const char *const endless[] = {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"};
    struct control_answer answer;
    for (size_t length = 0; length + 1 < sizeof whole; length++)
        ck_assert_uint_gt(control_answer_size(whole, length), length);
    ck_assert_uint_eq(control_answer_size(whole, sizeof whole - 1), sizeof whole - 1);
    ck_assert_int_eq(read_answer(whole, &answer), 0);
    ck_assert_ptr_null(answer.json);
    ck_assert_str_eq(answer.text, "hello");
    ck_assert_uint_eq(answer.length, 5);
    control_answer_fini(&answer);
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        ck_assert_uint_eq(control_answer_size(endless[i], strlen(endless[i])), SIZE_MAX);
}
END_TEST

START_TEST(sets_have_names_that_runs_have_not)
{
    ck_assert(sets_is_name("night") && sets_is_name("4711") && sets_is_name("4711.server_1-b") && sets_is_name("run"));
    ck_assert(!sets_is_name("") && !sets_is_name("run-17") && !sets_is_name(".new") && !sets_is_name("-a"));
    ck_assert(!sets_is_name("a/b") && !sets_is_name("a b"));
    ck_assert(!sets_is_name("a2345678901234567890123456789012345678901"));
}
END_TEST

START_TEST(a_batch_job_names_its_set)
{
    char name[SET_NAME_MAX];
    unsetenv("SLURM_JOB_ID");
    unsetenv("PBS_JOBID");
    unsetenv("LSB_JOBID");
    sets_default_name(name);
    ck_assert_str_eq(name, "main");
    setenv("PBS_JOBID", "4711[3].server", 1);
    sets_default_name(name);
    ck_assert_str_eq(name, "4711");
    setenv("SLURM_JOB_ID", "12", 1);
    sets_default_name(name);
    ck_assert_str_eq(name, "12");
}
END_TEST

START_TEST(numbers_of_jobs_are_read)
{
    ck_assert_uint_eq(find_job_number("3"), 3);
    ck_assert_uint_eq(find_job_number("night/12"), 12);
    ck_assert_uint_eq(find_job_number("night/"), 0);
    ck_assert_uint_eq(find_job_number("night/1x"), 0);
    ck_assert_uint_eq(find_job_number("99999999999999999999"), 0);
}
END_TEST

START_TEST(answers_are_read)
{
    struct control_answer answer;
    ck_assert_int_eq(read_answer("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{\"a\":1}\n", &answer), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(answer.json, "a")), 1);
    json_decref(answer.json);
    ck_assert_int_lt(read_answer("HTTP/1.1 409 Conflict\r\n\r\n{\"error\":\"no \\u001b room\"}", &answer), 0);
    ck_assert_str_eq(error.text, "no ? room");
    ck_assert_ptr_null(answer.json);
    static const char *const wrong[] = {"",
                                        "HTTP/1.1 200 OK",
                                        "HTTP/1.1 2x0 OK\r\n\r\n{}",
                                        "HTTP/2 200\r\n\r\n{}",
                                        "HTTP/1.1 200 OK\r\n\r\n<html>",
                                        "HTTP/1.1 200 OK\r\n\r\n[]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_lt(read_answer(wrong[i], &answer), 0);
        ck_assert_ptr_null(answer.json);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("jobs");
    TCase *tests = tcase_create("jobs");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_table_fits);
    tcase_add_test(tests, all_is_done_only_when_it_is);
    tcase_add_test(tests, a_job_is_shown);
    tcase_add_test(tests, jobs_are_found_by_how_they_begin);
    tcase_add_test(tests, answers_are_read);
    tcase_add_test(tests, jobs_of_sets_have_numbers_and_names);
    tcase_add_test(tests, answers_end_where_their_heads_say);
    tcase_add_test(tests, sets_have_names_that_runs_have_not);
    tcase_add_test(tests, a_batch_job_names_its_set);
    tcase_add_test(tests, numbers_of_jobs_are_read);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
