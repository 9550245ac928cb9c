/* SPDX-License-Identifier: MIT */
/* Descriptions of kernels: each field there and back, texts with any characters, and words that are none. */
#include "common/config/description.h"
#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(void *instance, uint64_t first, uint64_t count, void *records, char line[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)records, (void)line;
    return 0;
}

static int run_variable(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                        char line[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)output, (void)line;
    return 0;
}

static int run_block(void *instance, const struct hdss_block *block, char line[HDSS_ERROR_MAX])
{
    (void)instance, (void)block, (void)line;
    return 0;
}

static int step(void *instance, uint64_t number, const void *results, char line[HDSS_ERROR_MAX])
{
    (void)instance, (void)number, (void)results, (void)line;
    return 0;
}

static int descriptor(void *instance)
{
    (void)instance;
    return 7;
}

static struct description read_again(const struct hdss_kernel *kernel, const struct hdss_loop *loop)
{
    struct description description;
    struct error error = {""};
    char *word = description_text(kernel, loop);
    ck_assert_ptr_ne(word, NULL);
    ck_assert_msg(description_read(&description, word, &error) == 0, "%s: %s", word, error.text);
    char *again = description_text(&description.kernel, &description.loop);
    ck_assert_str_eq(again, word);
    free(again);
    free(word);
    return description;
}

START_TEST(a_loop_of_records_is_the_same)
{
    const struct hdss_kernel kernel = {
        .name = "a/b %c\n\x7f\xc3\xa4", .version = "", .run = run, .step = step, .threads = HDSS_THREADS_SHARE};
    const struct hdss_loop loop = {.iterations = 12,
                                   .type = HDSS_FLOAT32,
                                   .record_length = 6,
                                   .dims = 3,
                                   .shape = {4, 3, 6},
                                   .steps = 4,
                                   .full_value = UINT64_MAX,
                                   .inputs = 0x0123456789abcdef,
                                   .waits = true,
                                   .is_bilevel = true,
                                   .has_effects = true,
                                   .are_tasks = true};
    struct description description = read_again(&kernel, &loop);
    ck_assert_str_eq(description.kernel.name, kernel.name);
    ck_assert_str_eq(description.kernel.version, "");
    ck_assert(description.kernel.run != NULL && description.kernel.step != NULL);
    ck_assert(description.kernel.run_variable == NULL && description.kernel.descriptor == NULL);
    ck_assert_int_eq(description.kernel.threads, HDSS_THREADS_SHARE);
    ck_assert_mem_eq(&description.loop, &loop, sizeof loop);
    description_fini(&description);
}
END_TEST

START_TEST(other_layouts_and_dependencies_are_the_same)
{
    const struct hdss_kernel kernel = {.name = "k", .version = "2", .run = run, .run_block = run_block};
    const struct hdss_loop tiles = {.iterations = 4,
                                    .type = HDSS_UINT8,
                                    .record_length = 4,
                                    .dims = 2,
                                    .shape = {3, 4},
                                    .layout = HDSS_LAYOUT_TILES,
                                    .tile_height = 2,
                                    .tile_width = 2};
    const struct hdss_loop rows = {.iterations = 9,
                                   .type = HDSS_INT64,
                                   .record_length = 1,
                                   .dims = 1,
                                   .shape = {9},
                                   .sync = 100,
                                   .distance = 2,
                                   .reach = 3,
                                   .boundary_bytes = 8};
    struct description description = read_again(&kernel, &tiles);
    ck_assert_mem_eq(&description.loop, &tiles, sizeof tiles);
    description_fini(&description);
    description = read_again(&kernel, &rows);
    ck_assert_mem_eq(&description.loop, &rows, sizeof rows);
    ck_assert_ptr_ne(description.kernel.run_block, NULL);
    description_fini(&description);
}
END_TEST

START_TEST(a_loop_of_variable_output_is_the_same)
{
    const struct hdss_kernel kernel = {
        .name = "words", .version = "1", .run_variable = run_variable, .descriptor = descriptor};
    const struct hdss_loop loop = {.iterations = 5,
                                   .has_effects = true,
                                   .streams = 3,
                                   .output = "a b/c.out",
                                   .type = 99,
                                   .record_length = 8,
                                   .dims = 77,
                                   .stream = {{"", NULL, false}, {".err", "", true}, {".log", "one\ttwo\n", false}}};
    struct description description = read_again(&kernel, &loop);
    const struct hdss_loop *got = &description.loop;
    ck_assert_uint_eq(got->streams, 3);
    ck_assert_str_eq(got->output, "a b/c.out");
    for (unsigned s = 0; s < 3; s++) {
        ck_assert_str_eq(got->stream[s].ending, loop.stream[s].ending);
        ck_assert(got->stream[s].differs == loop.stream[s].differs);
        ck_assert((got->stream[s].heading == NULL) == (loop.stream[s].heading == NULL));
        if (loop.stream[s].heading != NULL)
            ck_assert_str_eq(got->stream[s].heading, loop.stream[s].heading);
    }
    ck_assert_uint_eq(got->dims, 0); /* nothing is said about records, whatever stands there */
    ck_assert(description.kernel.descriptor != NULL && description.kernel.run == NULL);
    description_fini(&description);
}
END_TEST

static int grow_by_three(const union hdss_value *values, uint64_t *iterations, char line[HDSS_ERROR_MAX])
{
    (void)values, (void)line;
    *iterations += 3;
    return *iterations < 10;
}

static int inputs(const union hdss_value *values, uint64_t iterations, uint64_t *digest, char line[HDSS_ERROR_MAX])
{
    (void)values, (void)line;
    *digest = iterations;
    return 0;
}

START_TEST(a_loop_that_grows_is_the_same_though_it_has_grown)
{
    const struct hdss_kernel kernel = {
        .name = "k", .version = "1", .run_variable = run_variable, .grow = grow_by_three, .inputs = inputs};
    struct hdss_loop loop = {.iterations = 5, .grows = true, .streams = 1, .stream = {{"", NULL, false}}};
    struct description description = read_again(&kernel, &loop);
    char *word = description_text(&kernel, &loop), line[HDSS_ERROR_MAX];
    uint64_t number = 0;
    ck_assert(description.loop.grows);
    ck_assert_int_eq(description.kernel.grow(NULL, &number, line), -1);
    ck_assert_int_eq(description.kernel.inputs(NULL, 0, &number, line), -1);
    loop.iterations = 7;
    ck_assert(description_matches(word, &kernel, &loop));
    loop.inputs = 1;
    ck_assert(description_matches(word, &kernel, &loop));
    loop.are_tasks = true;
    ck_assert(!description_matches(word, &kernel, &loop));
    loop.are_tasks = false;
    loop.inputs = 0;
    loop.grows = false;
    ck_assert(!description_matches(word, &kernel, &loop));
    loop.iterations = 5;
    ck_assert(!description_matches(word, &kernel, &loop));
    free(word);
    description_fini(&description);
}
END_TEST

START_TEST(only_some_loops_can_grow)
{
    struct error error;
    const struct hdss_kernel kernel = {.name = "k", .run_variable = run_variable, .grow = grow_by_three};
    const struct hdss_kernel rigid = {.name = "k", .run_variable = run_variable};
    struct hdss_loop loop = {.grows = true, .streams = 1, .stream = {{"", NULL, false}}};
    ck_assert_int_eq(kernel_check_loop(&kernel, &loop, &error), 0);
    ck_assert_int_eq(kernel_check_loop(&rigid, &loop, &error), -1);
    ck_assert_str_eq(error.text, "k: the kernel describes a loop that grows, as it cannot");
    loop.steps = 2;
    ck_assert_int_eq(kernel_check_loop(&kernel, &loop, &error), -1);
}
END_TEST

static int shrink(const union hdss_value *values, uint64_t *iterations, char line[HDSS_ERROR_MAX])
{
    (void)values;
    snprintf(line, HDSS_ERROR_MAX, "the list is gone");
    --*iterations;
    return *iterations == 4 ? 1 : *iterations == 6 ? -1 : 2;
}

START_TEST(what_a_loop_grows_to_is_checked)
{
    struct error error;
    const struct hdss_kernel good = {.name = "k", .grow = grow_by_three}, bad = {.name = "k", .grow = shrink};
    uint64_t iterations = 5;
    ck_assert_int_eq(kernel_grow(&good, NULL, &iterations, &error), 1);
    ck_assert_int_eq(kernel_grow(&good, NULL, &iterations, &error), 0);
    ck_assert_uint_eq(iterations, 11);
    iterations = 5;
    ck_assert_int_eq(kernel_grow(&bad, NULL, &iterations, &error), -1);
    ck_assert_str_eq(error.text, "k: grow() says 4 iterations after 5; accepted: no less, up to 2^63 - 1");
    ck_assert_uint_eq(iterations, 5);
    iterations = 7;
    ck_assert_int_eq(kernel_grow(&bad, NULL, &iterations, &error), -1);
    ck_assert_str_eq(error.text, "k: the list is gone");
    iterations = 9;
    ck_assert_int_eq(kernel_grow(&bad, NULL, &iterations, &error), -1);
    ck_assert_str_eq(error.text, "k: grow() returned 2; accepted: 0, or -1 for a failure");
    iterations = INT64_MAX;
    ck_assert_int_eq(kernel_grow(&good, NULL, &iterations, &error), -1);
}
END_TEST

START_TEST(a_kernel_that_is_described_is_not_run)
{
    const struct hdss_kernel kernel = {.name = "k", .version = "1", .run = run, .step = step};
    const struct hdss_loop loop = {.iterations = 1, .record_length = 1, .dims = 1, .shape = {1}};
    char line[HDSS_ERROR_MAX] = "";
    struct description description = read_again(&kernel, &loop);
    ck_assert_int_eq(description.kernel.run(NULL, 0, 1, NULL, line), -1);
    ck_assert_str_eq(line, "is described here, and not loaded");
    ck_assert_int_eq(description.kernel.describe(NULL, NULL, line), -1);
    ck_assert_int_eq(description.kernel.open(NULL, NULL, NULL, NULL, line), -1);
    ck_assert_int_eq(description.kernel.step(NULL, 0, NULL, line), -1);
    ck_assert_str_eq(description.kernel.summary, "");
    ck_assert_ptr_eq(description.kernel.params[0].name, NULL);
    description_fini(&description);
}
END_TEST

static int check(const union hdss_value *values, const struct hdss_loop *loop, char line[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)line;
    return 0;
}

static int describe(const union hdss_value *values, struct hdss_loop *loop, char line[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)line;
    return 0;
}

static const struct hdss_param params[] = {
    {"n", HDSS_PARAM_INTEGER, "3", -1, 0x1p60, NULL, "pixels / each", "a number"},
    {"x", HDSS_PARAM_REAL, "0.1", -0.1, 1e300, NULL, "", "100 % of it"},
    {"how", HDSS_PARAM_CHOICE, "b", 0, 0, "a|b", "", "a choice"},
    {"file", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file", "a\ttext"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

static const struct hdss_kernel tabled = {.name = "k",
                                          .version = "7",
                                          .summary = "in one line",
                                          .params = params,
                                          .describe = describe,
                                          .check = check,
                                          .run = run,
                                          .manner = "how|x",
                                          .threads = HDSS_THREADS_NONE};

START_TEST(a_table_is_the_same)
{
    struct kernel_table table;
    struct error error = {""};
    char *word = kernel_table_text(&tabled);
    ck_assert_msg(kernel_table_read(&table, "k", word, &error) == 0, "%s: %s", word, error.text);
    const struct hdss_kernel *kernel = &table.kernel;
    char *again = kernel_table_text(kernel);
    ck_assert_str_eq(again, word);
    ck_assert_str_eq(kernel->summary, "in one line");
    ck_assert_str_eq(kernel->manner, "how|x");
    ck_assert(kernel->check != NULL && kernel->run != NULL && kernel->run_block == NULL);
    ck_assert_uint_eq(kernel_params_count(kernel), 4);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_str_eq(kernel->params[i].name, params[i].name);
        ck_assert_int_eq(kernel->params[i].kind, params[i].kind);
        ck_assert_str_eq(kernel->params[i].fallback, params[i].fallback);
        ck_assert_double_eq(kernel->params[i].minimum, params[i].minimum);
        ck_assert_double_eq(kernel->params[i].maximum, params[i].maximum);
        ck_assert_str_eq(kernel->params[i].unit, params[i].unit);
        ck_assert_str_eq(kernel->params[i].summary, params[i].summary);
    }
    ck_assert_str_eq(kernel->params[2].choices, "a|b");
    kernel_table_fini(&table);
    free(again);
    free(word);
}
END_TEST

START_TEST(what_is_no_table_is_refused)
{
    static const char *const wrong[] = {
        "1/k/7/1/2/s/0//1/n/0/x/0/0///", /* its own default is not accepted */
        "1/k/7/1/2/s/0//1//0/0/0/0///",  /* no name */
        "1/k/7/1/2/s/2/no/0",            /* manner of what is no parameter */
        "1/k/7/1/2/s/4//0",
        "1/k/7/1/2/s/0//65",
        "1/k/7/1/3/s/0//0",
        "2/k/7/1/2/s/0//0",
    };
    struct kernel_table table;
    struct error error = {""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(kernel_table_read(&table, "k", wrong[i], &error), -1);
    ck_assert_int_eq(kernel_table_read(&table, "k", "1/k/7/1/2/s/0//0", &error), 0);
    kernel_table_fini(&table);
    char *word = kernel_table_text(&tabled);
    while (word[0] != '\0') {
        word[strlen(word) - 1] = '\0';
        if (kernel_table_read(&table, "k", word, &error) < 0)
            continue;
        char *again = kernel_table_text(&table.kernel); /* the end of the last text is cut off */
        ck_assert_str_eq(again, word);
        free(again);
        kernel_table_fini(&table);
    }
    free(word);
}
END_TEST

/* Each word that begins as a right one and is cut or has more fields is none, and so is one with a wrong field. */
START_TEST(what_is_no_description_is_refused)
{
    const struct hdss_kernel kernel = {.name = "k", .version = "1", .run = run};
    const struct hdss_loop loop = {.iterations = 3, .record_length = 2, .dims = 2, .shape = {3, 2}};
    static const char *const wrong[] = {
        "",
        "0",
        "2/k/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k%/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k%0/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k%00/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/256/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/1/3/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/1/0/-3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/1/0/99999999999999999999/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/1/0/3/0/8/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/1/0/3/0/0/2/5/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/1/0/3/0/0/2/2/3/2/0/0/3/0/0/0/0/0/0/0/0/0//0",
        "1/k/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//4",
    };
    struct description description;
    struct error error;
    char *word = description_text(&kernel, &loop);
    ck_assert_str_eq(word, "1/k/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(description_read(&description, wrong[i], &error), -1);
        ck_assert_ptr_ne(strstr(error.text, "--loop: '"), NULL);
    }
    char *more;
    ck_assert_int_ge(asprintf(&more, "%s/", word), 0);
    ck_assert_int_eq(description_read(&description, more, &error), -1);
    free(more);
    while (word[0] != '\0') {
        word[strlen(word) - 1] = '\0';
        ck_assert_int_eq(description_read(&description, word, &error), -1);
    }
    free(word);
    ck_assert_int_eq(description_read(&description, "1/k/1/1/0/3/0/0/2/2/3/3/0/0/0/0/0/0/0/0/0/0/0/0//0", &error), -1);
    ck_assert_str_eq(error.text, "k: the kernel's records do not make up the array it describes");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("description");
    tcase_add_test(tcase, a_loop_of_records_is_the_same);
    tcase_add_test(tcase, other_layouts_and_dependencies_are_the_same);
    tcase_add_test(tcase, a_loop_of_variable_output_is_the_same);
    tcase_add_test(tcase, a_loop_that_grows_is_the_same_though_it_has_grown);
    tcase_add_test(tcase, only_some_loops_can_grow);
    tcase_add_test(tcase, what_a_loop_grows_to_is_checked);
    tcase_add_test(tcase, a_kernel_that_is_described_is_not_run);
    tcase_add_test(tcase, what_is_no_description_is_refused);
    tcase_add_test(tcase, a_table_is_the_same);
    tcase_add_test(tcase, what_is_no_table_is_refused);
    Suite *suite = suite_create("description");
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
