/* SPDX-License-Identifier: MIT */
/* Findings: each field there and back, words that have none, and words that are refused. */
#include "common/config/findings.h"
#include "common/config/job.h"
#include "common/sched/plugin.h"
#include "tests/lib/suite.h"

#include <stdlib.h>
#include <string.h>

static struct findings there_and_back(const struct findings *findings, char **word)
{
    struct findings read;
    struct error error;
    *word = findings_text(findings);
    ck_assert_msg(findings_read(&read, *word, &error) == 0, "%s", error.text);
    return read;
}

START_TEST(each_field_comes_back)
{
    char *word;
    const struct findings all = {.has_inputs = true,
                                 .inputs = UINT64_MAX,
                                 .grows = true,
                                 .is_counted = true,
                                 .added = 12,
                                 .unprobed = true,
                                 .plugin_traits = PLUGIN_TRAITS_ALL,
                                 .loop = "1/k b=1/unprobed=0"};
    const struct findings read = there_and_back(&all, &word);
    ck_assert(read.has_inputs && read.grows && read.is_counted && read.unprobed);
    ck_assert_uint_eq(read.inputs, UINT64_MAX);
    ck_assert_uint_eq(read.added, 12);
    ck_assert_uint_eq(read.plugin_traits, PLUGIN_TRAITS_ALL);
    ck_assert_str_eq(read.loop, all.loop);
    free(word);
}
END_TEST

START_TEST(what_was_not_found_is_not_there)
{
    char *word;
    const struct findings none = {0}, read = there_and_back(&none, &word);
    ck_assert(!read.has_inputs && !read.grows && !read.is_counted && !read.unprobed);
    ck_assert_uint_eq(read.plugin_traits, 0);
    ck_assert_ptr_null(read.loop);
    free(word);
}
END_TEST

static const char *const programs[] = {"supermaster", "/usr/bin/inputs=1", "", " grows=1", NULL};

START_TEST(the_name_of_a_program_has_none)
{
    struct findings read;
    ck_assert_int_eq(findings_read(&read, programs[_i], NULL), 0);
    ck_assert(!read.has_inputs && !read.grows && read.loop == NULL);
}
END_TEST

static const char *const refused[] = {"found:inputs=1",  "found: inputs=",  "found: inputs=-1",    "found: inputs=1x",
                                      "found: grows=2",  "found: traits=4", "found: later=1",      "found:  grows=1",
                                      "found: grows=1 ", "found: unprobed", "found: grows=1loop=x"};

START_TEST(a_field_that_is_not_known_is_refused)
{
    struct findings read;
    struct error error;
    ck_assert_int_eq(findings_read(&read, refused[_i], &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, refused[_i]));
}
END_TEST

START_TEST(a_job_has_them_beside_its_words)
{
    static char word[] = "found: added=5 traits=1", kernel[] = "mandelbrot", technique[] = "--technique=./mine.so";
    char *argv[] = {word, technique, kernel, NULL};
    struct job job;
    struct error error;
    ck_assert_msg(job_parse(&job, 3, argv, &error) == 0, "%s", error.text);
    ck_assert(job.found.is_counted && run_spec_learns(&job.spec));
    ck_assert_uint_eq(job.found.added, 5);
    argv[0] = kernel;
    ck_assert_int_eq(job_parse(&job, 3, argv, &error), 0);
    ck_assert(!job.found.is_counted && !run_spec_learns(&job.spec));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("findings");
    TCase *all = tcase_create("findings");
    tcase_add_test(all, each_field_comes_back);
    tcase_add_test(all, what_was_not_found_is_not_there);
    tcase_add_loop_test(all, the_name_of_a_program_has_none, 0, sizeof programs / sizeof *programs);
    tcase_add_loop_test(all, a_field_that_is_not_known_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(all, a_job_has_them_beside_its_words);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
