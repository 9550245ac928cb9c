/* SPDX-License-Identifier: MIT */
/* Power files: what is accepted, and each way to be wrong with its line. */
#include "common/config/power_file.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>

static const unsigned ranks[] = {3, 4, 5, 9};
static double powers[300];
static struct error error;

static int parse(const char *text)
{
    error.text[0] = '\0';
    return power_file_parse(text, ranks, 4, powers, &error);
}

START_TEST(powers_come_in_any_order)
{
    ck_assert_int_eq(parse("# rank power\r\n\n9 0.5\n  4\t2e3   # fast\n3 1\n5 1e-9"), 0);
    ck_assert_double_eq(powers[0], 1);
    ck_assert_double_eq(powers[1], 2000);
    ck_assert_double_eq(powers[2], 1e-9);
    ck_assert_double_eq(powers[3], 0.5);
}
END_TEST

START_TEST(a_list_has_one_for_each)
{
    ck_assert_int_eq(power_list_parse("1,0.8,2e3,1", 4, powers, &error), 0);
    ck_assert_double_eq(powers[1], 0.8);
    ck_assert_double_eq(powers[2], 2000);
    ck_assert_int_eq(power_list_parse("1,0.8", 4, powers, &error), -1);
    ck_assert_str_eq(error.text, "2 numbers; accepted: one for each of the 4 workers");
    ck_assert_int_eq(power_list_parse("1,,0.8", 3, powers, &error), -1);
    ck_assert_str_eq(error.text, "'': accepted: a number from 1e-09 to 1e+09");
    ck_assert_int_eq(power_list_parse("1,0", 2, powers, &error), -1);
}
END_TEST

static const struct {
    const char *text, *line;
} refused[] = {
    {"", "no power is given for ranks 3-5, 9"},
    {"4 1\n3 1\n5 1\n", "no power is given for rank 9"},
    {"3 1\n9 1", "no power is given for ranks 4-5"},
    {"3 1\n4\n", "line 2: accepted: RANK POWER"},
    {"3 1 2", "line 1: accepted: RANK POWER"},
    {"\nx 1", "line 2: rank 'x': accepted: an integer"},
    {"-3 1", "line 1: rank '-3': accepted: an integer"},
    {"3 fast", "line 1: power 'fast' of rank 3: accepted: a number from 1e-09 to 1e+09"},
    {"3 0", "line 1: power '0' of rank 3: accepted: a number from 1e-09 to 1e+09"},
    {"3 -1", "line 1: power '-1' of rank 3: accepted: a number from 1e-09 to 1e+09"},
    {"3 nan", "line 1: power 'nan' of rank 3: accepted: a number from 1e-09 to 1e+09"},
    {"0 1", "line 1: rank 0 is no worker of this run"},
    {"4294967299 1", "line 1: rank 4294967299 is no worker of this run"},
    {"3 1\n# no\n3 1", "line 3: rank 3 is given twice"},
    {"3 1000000000000000000000000000000000000000000000000000000000000000000000001",
     "line 1: power '1000000000000000000000"
     "0000000000000000000000000000000000000"
     "000~' of rank 3: accepted: a number "
     "from 1e-09 to 1e+09"},
};

START_TEST(a_wrong_file_is_refused)
{
    ck_assert_int_eq(parse(refused[_i].text), -1);
    ck_assert_str_eq(error.text, refused[_i].line);
}
END_TEST

START_TEST(many_missing_ranks_are_cut)
{
    unsigned odd[300];
    for (unsigned i = 0; i < 300; i++)
        odd[i] = 2 * i + 1;
    ck_assert_int_eq(power_file_parse("", odd, 300, powers, &error), -1);
    ck_assert_int_eq(strncmp(error.text, "no power is given for ranks 1, 3, 5, 7", 38), 0);
    unsigned last = 0, more = 0;
    const char *tail = strstr(error.text, " and ");
    ck_assert_int_eq(sscanf(tail, " and %u more", &more), 1);
    while (tail[-1] != ' ')
        tail--;
    ck_assert_int_eq(sscanf(tail, "%u", &last), 1);
    ck_assert_uint_eq((last + 1) / 2 + more, 300); /* all are listed or counted */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("power file");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, powers_come_in_any_order);
    tcase_add_test(tests, a_list_has_one_for_each);
    tcase_add_loop_test(tests, a_wrong_file_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, many_missing_ranks_are_cut);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
