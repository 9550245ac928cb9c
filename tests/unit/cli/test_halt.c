/* SPDX-License-Identifier: MIT */
/* --halt: what is accepted, and when it stops a run. */
#include "deploy/cli/halt.h"
#include "tests/lib/suite.h"

static struct halt halt;
static struct error error;

static void parse(const char *text)
{
    ck_assert_msg(halt_parse(&halt, text, &error) == 0, "%s", text);
}

START_TEST(it_is_when_and_why)
{
    char text[HALT_TEXT_MAX];
    parse("now,fail=3");
    ck_assert_int_eq(halt_look(&halt, 100, 2, 0), HALT_NO);
    ck_assert_int_eq(halt_look(&halt, 101, 3, 0), HALT_NOW);
    ck_assert_int_eq(halt_look(&halt, 101, 3, 200), HALT_NOW);
    ck_assert_int_eq(halt_status(&halt), EXIT_STATUS_TASKS);
    ck_assert_str_eq(halt_text(&halt, text), "--halt: 3 tasks have failed: what runs is ended");
    parse("soon,success");
    ck_assert_int_eq(halt_look(&halt, 2, 2, 0), HALT_NO);
    ck_assert_int_eq(halt_look(&halt, 3, 2, 0), HALT_SOON);
    ck_assert_int_eq(halt_status(&halt), EXIT_STATUS_DONE);
    ck_assert_str_eq(halt_text(&halt, text),
                     "--halt: 1 task has succeeded: nothing begins any more, and what runs is finished");
    parse("soon,done=2");
    ck_assert_int_eq(halt_look(&halt, 1, 1, 0), HALT_NO);
    ck_assert_int_eq(halt_look(&halt, 2, 1, 0), HALT_SOON);
    ck_assert_int_eq(halt_status(&halt), EXIT_STATUS_TASKS);
}
END_TEST

START_TEST(a_part_of_all_tasks_needs_their_number)
{
    parse("soon,fail=10%");
    ck_assert_int_eq(halt_look(&halt, 0, 0, 50), HALT_NO);
    ck_assert_int_eq(halt_look(&halt, 40, 30, 0), HALT_NO);
    ck_assert_int_eq(halt_look(&halt, 5, 4, 50), HALT_NO);
    ck_assert_int_eq(halt_look(&halt, 6, 5, 50), HALT_SOON);
    parse("now,done=0.5%");
    ck_assert_int_eq(halt_look(&halt, 4, 0, 1000), HALT_NO);
    ck_assert_int_eq(halt_look(&halt, 5, 0, 1000), HALT_NOW);
}
END_TEST

START_TEST(gnu_parallels_numbers_are_known)
{
    static const struct {
        const char *text;
        enum halt_state when;
        enum halt_why why;
        uint64_t count;
        double percent;
    } cases[] = {{"never", HALT_NO, HALT_FAIL, 0, 0},        {"0", HALT_NO, HALT_FAIL, 0, 0},
                 {"1", HALT_SOON, HALT_FAIL, 1, 0},          {"2", HALT_NOW, HALT_FAIL, 1, 0},
                 {"-1", HALT_SOON, HALT_SUCCESS, 1, 0},      {"-2", HALT_NOW, HALT_SUCCESS, 1, 0},
                 {"20%", HALT_SOON, HALT_FAIL, 0, 20},       {"now,fail", HALT_NOW, HALT_FAIL, 1, 0},
                 {"soon,done=7", HALT_SOON, HALT_DONE, 7, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parse(cases[i].text);
        ck_assert_int_eq(halt.when, cases[i].when);
        ck_assert_int_eq(halt.why, cases[i].why);
        ck_assert_uint_eq(halt.count, cases[i].count);
        ck_assert(halt.percent == cases[i].percent);
    }
    parse("never");
    ck_assert_int_eq(halt_look(&halt, 10, 10, 10), HALT_NO);
}
END_TEST

START_TEST(anything_else_is_refused)
{
    static const char *const cases[] = {"",
                                        "now",
                                        "soon,",
                                        "fail=1",
                                        "now,fail=",
                                        "now,fail=0",
                                        "now,fail=x",
                                        "now,fail=0%",
                                        "now,fail=101%",
                                        "now,fail=1,done=2",
                                        "later,fail=1",
                                        "now,often=1",
                                        "3",
                                        "%",
                                        "now,fail=-1"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(halt_parse(&halt, cases[i], &error) == -1, "%s", cases[i]);
        ck_assert_str_eq(error.text, "");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("halt");
    TCase *all = tcase_create("halt");
    tcase_add_test(all, it_is_when_and_why);
    tcase_add_test(all, a_part_of_all_tasks_needs_their_number);
    tcase_add_test(all, gnu_parallels_numbers_are_known);
    tcase_add_test(all, anything_else_is_refused);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
