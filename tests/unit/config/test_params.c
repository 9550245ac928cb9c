/* SPDX-License-Identifier: MIT */
/* Kernel parameters: defaults, values of each kind, each way to be wrong and its line, and back to text. */
#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "tests/lib/suite.h"

#include <string.h>

enum { COUNT, FACTOR, SHAPE, NAME };

static const struct hdss_param table[] = {
    {"count", HDSS_PARAM_INTEGER, "7", 1, 1e6, NULL, "pixels", "how many"},
    {"factor", HDSS_PARAM_REAL, "0.1", -2, 2, NULL, "", "how much"},
    {"shape", HDSS_PARAM_CHOICE, "disc", 0, 0, "ring|disc|di", "", "which"},
    {"name", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", "what"},
    {NULL},
};

static struct hdss_loop described;

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    ck_assert_uint_eq(loop->iterations, 0);
    if (values[COUNT].integer == 13) {
        strcpy(error, "13 brings bad luck");
        return -1;
    }
    *loop = described;
    return 0;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char line[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)records, (void)line;
    return 0;
}

static const struct hdss_kernel kernel = {.name = "toy", .params = table, .describe = describe, .run = run};
static const struct hdss_kernel bare = {.name = "bare", .params = table + 4};

static union hdss_value values[HDSS_PARAMS_MAX];
static struct error error;

static int parse(unsigned count, const char *const *words)
{
    memset(values, 0x5a, sizeof values);
    error.text[0] = '\0';
    return kernel_params_parse(&kernel, count, words, values, &error);
}

START_TEST(defaults_come_from_the_table)
{
    ck_assert_int_eq(parse(0, NULL), 0);
    ck_assert_uint_eq(kernel_params_count(&kernel), 4);
    ck_assert_int_eq(values[COUNT].integer, 7);
    ck_assert_double_eq(values[FACTOR].real, 0.1);
    ck_assert_int_eq(values[SHAPE].integer, 1);
    ck_assert_str_eq(values[NAME].text, "");
}
END_TEST

START_TEST(words_set_values_in_any_order)
{
    const char *const words[] = {"name=a=b c", "shape=di", "factor=-1.5e0", "count=1e6"};
    ck_assert_msg(parse(4, words) == 0, "%s", error.text);
    ck_assert_int_eq(values[COUNT].integer, 1000000);
    ck_assert_double_eq(values[FACTOR].real, -1.5);
    ck_assert_int_eq(values[SHAPE].integer, 2);
    ck_assert_str_eq(values[NAME].text, "a=b c");
}
END_TEST

static const struct {
    const char *words[2];
    const char *line;
} bad[] = {
    {{"count"}, "toy: 'count': accepted: name=value"},
    {{"=3"}, "toy: unknown parameter ''; accepted: count, factor, shape, name"},
    {{"cuont=3"}, "toy: unknown parameter 'cuont'; did you mean count? accepted: count, factor, shape, name"},
    {{"Count=3"}, "toy: unknown parameter 'Count'; did you mean count? accepted: count, factor, shape, name"},
    {{"count=3", "count=3"}, "toy: count=3: count is given twice"},
    {{"count=0"}, "toy: count=0: accepted: an integer from 1 to 1e6 (pixels)"},
    {{"count=1000001"}, "toy: count=1000001: accepted: an integer from 1 to 1e6 (pixels)"},
    {{"count=2.5"}, "toy: count=2.5: accepted: an integer from 1 to 1e6 (pixels)"},
    {{"count="}, "toy: count=: accepted: an integer from 1 to 1e6 (pixels)"},
    {{"count=99999999999999999999"}, "toy: count=99999999999999999999: accepted: an integer from 1 to 1e6 (pixels)"},
    {{"factor=2.01"}, "toy: factor=2.01: accepted: a number from -2 to 2"},
    {{"factor=nan"}, "toy: factor=nan: accepted: a number from -2 to 2"},
    {{"shape=dis"}, "toy: shape=dis: accepted: one of ring, disc, di"},
    {{"shape="}, "toy: shape=: accepted: one of ring, disc, di"},
    {{"shape=ring|disc"}, "toy: shape=ring|disc: accepted: one of ring, disc, di"},
};

START_TEST(wrong_words_are_refused_in_one_line)
{
    ck_assert_int_eq(parse(bad[_i].words[1] != NULL ? 2 : 1, bad[_i].words), -1);
    ck_assert_str_eq(error.text, bad[_i].line);
}
END_TEST

START_TEST(long_words_are_cut)
{
    char word[5000];
    memset(word, 'x', sizeof word);
    memcpy(word, "count=", 6);
    word[sizeof word - 1] = '\0';
    const char *const words[] = {word, word + 6};
    ck_assert_int_eq(parse(1, words), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "accepted: an integer"));
    ck_assert_int_eq(parse(1, words + 1), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "accepted: name=value"));
    word[1000] = '=';
    ck_assert_int_eq(parse(1, words + 1), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "accepted: count, factor"));
}
END_TEST

START_TEST(a_kernel_without_parameters_takes_none)
{
    const char *const words[] = {"x=1"};
    ck_assert_int_eq(kernel_params_parse(&bare, 0, NULL, values, &error), 0);
    ck_assert_int_eq(kernel_params_parse(&bare, 1, words, values, &error), -1);
    ck_assert_str_eq(error.text, "bare: unknown parameter 'x'; accepted: none");
}
END_TEST

START_TEST(values_go_back_to_text)
{
    char text[KERNEL_PARAM_TEXT_MAX];
    const char *const words[] = {"count=1_000", "factor=0.30000000000000004", "shape=ring", "name=x"};
    ck_assert_int_eq(parse(4, words), 0);
    ck_assert_str_eq(kernel_param_text(&table[COUNT], values[COUNT], text), "1000");
    ck_assert_str_eq(kernel_param_text(&table[FACTOR], values[FACTOR], text), "0.30000000000000004");
    ck_assert_str_eq(kernel_param_text(&table[SHAPE], values[SHAPE], text), "ring");
    ck_assert_str_eq(kernel_param_text(&table[NAME], values[NAME], text), "x");
    ck_assert_str_eq(kernel_param_text(&table[FACTOR], (union hdss_value){.real = 0.1}, text), "0.1");
    ck_assert_str_eq(kernel_param_text(&table[FACTOR], (union hdss_value){.real = -1.45}, text), "-1.45");
    ck_assert_str_eq(kernel_param_text(&table[SHAPE], (union hdss_value){.integer = 2}, text), "di");
}
END_TEST

START_TEST(bounds_are_shown_as_people_write_them)
{
    char text[100];
    struct hdss_param param = {"n", HDSS_PARAM_INTEGER, "0", 0, 0x1p53, NULL, "", ""};
    ck_assert_str_eq(kernel_param_accepts(&param, text, sizeof text), "an integer from 0 to 2^53");
    param.maximum = 1e15;
    ck_assert_str_eq(kernel_param_accepts(&param, text, sizeof text), "an integer from 0 to 1e15");
    param = (struct hdss_param){"x", HDSS_PARAM_REAL, "0", -1e6, 0.25, NULL, "", ""};
    ck_assert_str_eq(kernel_param_accepts(&param, text, sizeof text), "a number from -1e6 to 0.25");
    ck_assert_str_eq(kernel_param_accepts(&param, text, 10), "a number ");
}
END_TEST

static int describe_as(struct hdss_loop loop)
{
    struct hdss_loop got;
    described = loop;
    ck_assert_int_eq(parse(0, NULL), 0);
    return kernel_describe(&kernel, values, &got, &error);
}

static struct hdss_loop loop_of(uint64_t iterations, uint64_t length, unsigned dims, uint64_t shape)
{
    return (struct hdss_loop){iterations, HDSS_UINT32, length, dims, {shape}, HDSS_LAYOUT_ROWS, 0, 0, false, 0};
}

START_TEST(a_described_loop_must_fit_together)
{
    ck_assert_int_eq(describe_as(loop_of(5, 1, 1, 5)), 0);
    ck_assert_int_eq(describe_as(loop_of(0, 1, 1, 0)), 0);
    ck_assert_int_eq(describe_as(loop_of(5, 1, 1, 6)), -1);
    ck_assert_str_eq(error.text, "toy: the kernel's records do not make up the array it describes");
    ck_assert_int_eq(describe_as(loop_of(5, 1, 0, 5)), -1);
    ck_assert_int_eq(describe_as(loop_of(5, 1, 5, 5)), -1);
    ck_assert_int_eq(describe_as(loop_of(5, 0, 1, 5)), -1);
    ck_assert_int_eq(describe_as(loop_of(UINT64_MAX, 1, 1, UINT64_MAX)), -1);
    ck_assert_str_eq(error.text, "toy: the results do not fit a file: 18446744073709551615 iterations of 1 x 4 bytes");
}
END_TEST

START_TEST(described_tiles_must_cover_the_array)
{
    struct hdss_loop tiles = {6, HDSS_UINT8, 12, 2, {9, 5}, HDSS_LAYOUT_TILES, 4, 3, false, 0};
    ck_assert_int_eq(describe_as(tiles), 0);
    tiles.iterations = 4;
    ck_assert_int_eq(describe_as(tiles), -1);
    tiles.iterations = 6;
    tiles.record_length = 11;
    ck_assert_int_eq(describe_as(tiles), -1);
    tiles.record_length = 12;
    tiles.dims = 1;
    ck_assert_int_eq(describe_as(tiles), -1);
}
END_TEST

static int descriptor(void *instance)
{
    (void)instance;
    return -1;
}

static int run_variable(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                        char problem[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)output, (void)problem;
    return 0;
}

/* Nothing waits for an iteration that is run to be timed. */
START_TEST(a_kernel_that_waits_must_have_effects)
{
    struct hdss_kernel waiting = kernel;
    struct hdss_loop loop = {.iterations = 3, .streams = 1, .stream = {{.ending = ""}}}, got;
    waiting.run_variable = run_variable;
    waiting.descriptor = descriptor;
    described = loop;
    ck_assert_int_eq(parse(0, NULL), 0);
    ck_assert_int_eq(kernel_describe(&waiting, values, &got, &error), -1);
    ck_assert_str_eq(error.text, "toy: the kernel waits for something: it must describe that it has effects");
    described.has_effects = true;
    ck_assert_int_eq(kernel_describe(&waiting, values, &got, &error), 0);
}
END_TEST

START_TEST(the_kernels_own_refusal_bears_its_name)
{
    const char *const words[] = {"count=13"};
    struct hdss_loop loop;
    ck_assert_int_eq(parse(1, words), 0);
    ck_assert_int_eq(kernel_describe(&kernel, values, &loop, &error), -1);
    ck_assert_str_eq(error.text, "toy: 13 brings bad luck");
}
END_TEST

START_TEST(the_manner_names_whole_parameters)
{
    struct hdss_kernel other = kernel;
    for (unsigned i = 0; i < 4; i++)
        ck_assert(!kernel_param_is_manner(&other, &table[i]));
    other.manner = "name|count";
    ck_assert(kernel_param_is_manner(&other, &table[COUNT]) && kernel_param_is_manner(&other, &table[NAME]));
    ck_assert(!kernel_param_is_manner(&other, &table[FACTOR]) && !kernel_param_is_manner(&other, &table[SHAPE]));
    ck_assert_int_eq(kernel_check_table("toy", &other, &error), 0);
    other.manner = "name|coun";
    ck_assert(!kernel_param_is_manner(&other, &table[COUNT]));
    ck_assert_int_eq(kernel_check_table("toy", &other, &error), -1);
    ck_assert_str_eq(error.text, "kernel toy: its manner 'name|coun' names what is no parameter");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("params");
    TCase *tcase = tcase_create("params");
    tcase_add_test(tcase, defaults_come_from_the_table);
    tcase_add_test(tcase, words_set_values_in_any_order);
    tcase_add_loop_test(tcase, wrong_words_are_refused_in_one_line, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, long_words_are_cut);
    tcase_add_test(tcase, a_kernel_without_parameters_takes_none);
    tcase_add_test(tcase, values_go_back_to_text);
    tcase_add_test(tcase, bounds_are_shown_as_people_write_them);
    tcase_add_test(tcase, a_described_loop_must_fit_together);
    tcase_add_test(tcase, described_tiles_must_cover_the_array);
    tcase_add_test(tcase, a_kernel_that_waits_must_have_effects);
    tcase_add_test(tcase, the_kernels_own_refusal_bears_its_name);
    tcase_add_test(tcase, the_manner_names_whole_parameters);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
