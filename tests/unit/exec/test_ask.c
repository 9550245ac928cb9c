/* SPDX-License-Identifier: MIT */
/* Kernels that another process loads and describes: the table and the loop come as they are, and whatever becomes of
 * that process is one line. The program and the kernel, tests/system/hostile.c, are named by the environment. */
#include "common/config/description.h"
#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "tests/lib/suite.h"
#include "worker/helper/ask.h"
#include "worker/helper/questions.h"
#include "worker/kernels/kernels.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_NS UINT64_C(300000000)

static const struct hdss_kernel *asked(void)
{
    const struct hdss_kernel *kernel = NULL;
    struct error error = {""};
    ask_set(getenv("HELPER"), UINT64_C(60000000000));
    ck_assert_msg(ask_load(getenv("KERNEL"), true, &kernel, &error) == 0, "%s", error.text);
    return kernel;
}

/* Describes with one word for the kernel. -1 with the line in `error`. */
static int describe_with(const struct hdss_kernel *kernel, const char *word, struct hdss_loop *loop,
                         union hdss_value *values, struct error *error)
{
    const char *const words[] = {word, "iterations=300", "once=a file / of %20"};
    error->text[0] = '\0';
    ck_assert_msg(kernel_params_parse(kernel, 3, words, values, error) == 0, "%s", error->text);
    return kernel_describe(kernel, values, loop, error);
}

static void check_nobody_is_left(void)
{
    ask_end();
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0);
}

START_TEST(a_kernel_is_as_it_is_here)
{
    const struct hdss_kernel *there = asked(), *here;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop, own;
    struct error error = {""};
    ck_assert_msg(kernel_load(getenv("KERNEL"), &here, &error) == 0, "%s", error.text);
    char *table = kernel_table_text(there), *own_table = kernel_table_text(here);
    ck_assert_str_eq(table, own_table);
    ck_assert_int_eq(describe_with(there, "length=7", &loop, values, &error), 0);
    ck_assert_int_eq(kernel_describe(here, values, &own, &error), 0);
    ck_assert_mem_eq(&loop, &own, sizeof loop);
    ck_assert_int_eq(there->check(values, &loop, error.text), 0);
    ask_end(); /* another process takes its place */
    ck_assert_int_eq(kernel_describe(there, values, &loop, &error), 0);
    ck_assert_int_eq(loop.record_length, 7);
    ask_end();
    ck_assert_int_eq(there->check(values, &loop, error.text), 0);
    free(table);
    free(own_table);
    check_nobody_is_left();
}
END_TEST

/* As without a sanitizer, which has a handler that exits. */
static void let_describe_crash(void)
{
    const char *now = getenv("ASAN_OPTIONS");
    char options[1000];
    snprintf(options, sizeof options, "%s:handle_segv=0", now != NULL ? now : "");
    setenv("ASAN_OPTIONS", options, 1);
}

START_TEST(a_process_that_dies_is_a_line)
{
    static const struct {
        const char *word, *line;
    } cases[] = {
        {"mode=describesegv", "hostile: describe() killed the child process: signal 11 (Segmentation fault)"},
        {"mode=describeexit", "hostile: describe() ended the child process with status 9"},
        {"mode=describehang", "hostile: describe() took longer than 0.3 s; accepted: less, or --isolate off"},
    };
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    struct error error;
    let_describe_crash();
    kernel = asked();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strstr(cases[i].word, "hang") != NULL)
            ask_set(getenv("HELPER"), LIMIT_NS);
        ck_assert_int_eq(describe_with(kernel, cases[i].word, &loop, values, &error), -1);
        ck_assert_str_eq(error.text, cases[i].line);
    }
    ask_set(getenv("HELPER"), UINT64_C(60000000000));
    ck_assert_int_eq(describe_with(kernel, "mode=nothing", &loop, values, &error), 0); /* the next one goes on */
    ck_assert_int_eq(loop.iterations, 300);
    ck_assert_int_eq(describe_with(kernel, "mode=checksegv", &loop, values, &error), 0);
    ck_assert_int_eq(kernel->check(values, &loop, error.text), -1);
    ck_assert_str_eq(error.text, "check() killed the child process: signal 11 (Segmentation fault)");
    check_nobody_is_left();
}
END_TEST

/* Writes a helper's program that dies so often before it is one. */
static void write_mortal(const char *path, unsigned deaths)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "#!/bin/sh\nfor i in $(seq %u); do mkdir \"$0.$i\" 2>/dev/null && kill -9 $$; done\nexec '%s' \"$@\"\n",
            deaths, getenv("HELPER"));
    fclose(file);
    ck_assert_int_eq(chmod(path, 0700), 0);
}

/* Loads the test's kernel, also where that is not waited for at once. */
static int load_whole(const struct hdss_kernel **kernel, struct error *error)
{
    int result;
    while ((result = ask_load(getenv("KERNEL"), true, kernel, error)) < 0 && ask_is_loading())
        for (struct pollfd news = {.fd = ask_socket(), .events = POLLIN}; !ask_has_loaded();)
            poll(&news, 1, 20);
    return result;
}

static void remove_mortal(const char *path, unsigned deaths)
{
    char mark[100];
    for (unsigned i = 1; i <= deaths; i++) {
        snprintf(mark, sizeof mark, "%s.%u", path, i);
        rmdir(mark);
    }
    unlink(path);
}

/* A process that dies is asked for again, three times in all, also for a set, which has other things to do meanwhile.
 */
START_TEST(a_process_that_dies_twice_costs_nothing)
{
    const bool is_fatal = _i % 2 == 1, is_of_set = _i > 1;
    const unsigned deaths = is_fatal ? 3 : 2;
    const struct hdss_kernel *kernel = NULL;
    struct error error = {""};
    char folder[] = "/tmp/hdss-ask-XXXXXX", path[60];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mortal", folder);
    write_mortal(path, deaths);
    ask_set(path, UINT64_C(60000000000));
    struct asker *asker = is_of_set ? ask_new(UINT64_C(60000000000), 0) : NULL;
    ask_use(asker);
    ck_assert_msg(load_whole(&kernel, &error) == -is_fatal, "%s", error.text);
    if (is_fatal)
        ck_assert_ptr_nonnull(strstr(error.text, "loading it killed the child process: signal 9 (Killed)"));
    ask_free(asker);
    check_nobody_is_left();
    remove_mortal(path, deaths);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(what_cannot_be_loaded_is_a_line)
{
    const struct hdss_kernel *kernel;
    struct error error, own;
    ask_set(getenv("HELPER"), UINT64_C(60000000000));
    ck_assert_int_eq(ask_load("./nosuch.so", true, &kernel, &error), -1);
    ck_assert_int_eq(kernel_load("./nosuch.so", &kernel, &own), -1);
    ck_assert_str_eq(error.text, own.text);
    check_nobody_is_left();
    ask_set("/bin/true", UINT64_C(60000000000));
    ck_assert_int_eq(ask_load("./nosuch.so", true, &kernel, &error), -1);
    ck_assert_str_eq(error.text, "kernel ./nosuch.so: loading it ended the child process with status 0");
    check_nobody_is_left();
    ask_set(NULL, UINT64_C(60000000000)); /* beside this test there is none */
    ck_assert_int_eq(ask_load("./nosuch.so", true, &kernel, &error), -1);
    ck_assert_ptr_ne(strstr(error.text, "--isolate: the program hdss-helper is neither"), NULL);
    ck_assert_int_eq(ask_load("./nosuch.so", false, &kernel, &error), -1);
    ck_assert_str_eq(error.text, own.text);
}
END_TEST

/* As a set asks, which has other things to do. */
START_TEST(a_kernel_is_loaded_meanwhile)
{
    const struct hdss_kernel *kernel = NULL;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    struct error error = {""};
    ask_set(getenv("HELPER"), UINT64_C(60000000000));
    struct asker *asker = ask_new(UINT64_C(60000000000), 0);
    ask_use(asker);
    ck_assert_int_eq(ask_load(getenv("KERNEL"), true, &kernel, &error), -1);
    ck_assert_msg(ask_is_loading(), "%s", error.text);
    for (struct pollfd news = {.fd = ask_socket(), .events = POLLIN}; !ask_has_loaded();)
        poll(&news, 1, -1);
    ck_assert_msg(ask_load(getenv("KERNEL"), true, &kernel, &error) == 0, "%s", error.text);
    ck_assert(!ask_is_loading());
    ck_assert_int_eq(describe_with(kernel, "length=7", &loop, values, &error), 0);
    ask_end(); /* who is asked something waits for the kernel, which is loaded anew */
    ck_assert_int_eq(describe_with(kernel, "length=8", &loop, values, &error), 0);
    ck_assert_int_eq(loop.record_length, 8);
    ck_assert_int_eq(ask_load("./nosuch.so", true, &kernel, &error), -1);
    ck_assert(ask_is_loading());
    for (struct pollfd news = {.fd = ask_socket(), .events = POLLIN}; !ask_has_loaded();)
        poll(&news, 1, -1);
    ck_assert_int_eq(ask_load("./nosuch.so", true, &kernel, &error), -1);
    ck_assert(!ask_is_loading());
    ck_assert_ptr_ne(strstr(error.text, "nosuch.so"), NULL);
    ck_assert_int_eq(ask_load(getenv("KERNEL"), true, &kernel, &error), 0); /* that of before */
    ck_assert_int_eq(ask_load("./other.so", true, &kernel, &error), -1);
    ask_free(asker); /* while it loads */
    check_nobody_is_left();
}
END_TEST

START_TEST(values_come_as_they_are)
{
    static const struct hdss_param params[] = {{"i", HDSS_PARAM_INTEGER, "", 0, 0, NULL, "", ""},
                                               {"t", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", ""},
                                               {"r", HDSS_PARAM_REAL, "", 0, 0, NULL, "", ""},
                                               {"u", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", ""},
                                               {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL}};
    const union hdss_value values[] = {{.integer = INT64_MIN}, {.text = "a\nb"}, {.real = 0.1}, {.text = ""}};
    union hdss_value read[4];
    unsigned char bytes[64];
    const size_t size = question_put_values(params, values, NULL);
    ck_assert_uint_eq(size, 8 + 4 + 8 + 1);
    ck_assert_uint_eq(question_put_values(params, values, bytes), size);
    ck_assert_int_eq(question_get_values(params, read, bytes, size), 0);
    ck_assert_int_eq(read[0].integer, INT64_MIN);
    ck_assert_str_eq(read[1].text, "a\nb");
    ck_assert_double_eq(read[2].real, 0.1);
    ck_assert_str_eq(read[3].text, "");
    for (size_t less = 0; less < size; less++)
        ck_assert_int_eq(question_get_values(params, read, bytes, less), -1);
    bytes[size] = '\0';
    ck_assert_int_eq(question_get_values(params, read, bytes, size + 1), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ask");
    TCase *tcase = tcase_create("ask");
    tcase_add_test(tcase, a_kernel_is_as_it_is_here);
    tcase_add_test(tcase, a_process_that_dies_is_a_line);
    tcase_add_loop_test(tcase, a_process_that_dies_twice_costs_nothing, 0, 4);
    tcase_add_test(tcase, what_cannot_be_loaded_is_a_line);
    tcase_add_test(tcase, a_kernel_is_loaded_meanwhile);
    tcase_add_test(tcase, values_come_as_they_are);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
