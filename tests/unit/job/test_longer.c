/* SPDX-License-Identifier: MIT */
/* Loops that have become longer when their run is resumed, and those that do so while it is recorded: what is taken,
 * and what is named where the list is another. The list is a text here, of a letter for each iteration. */
#include "common/config/job.h"
#include "common/config/params.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/job/resume.h"
#include "common/job/root.h"
#include "common/machine/machine.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    char text[5000];
    bool is_open;
} list;

static struct root root;
static char folder[] = "/tmp/hdss-test-longer-XXXXXX";

static int grow_list(const union hdss_value *values, uint64_t *iterations, char line[HDSS_ERROR_MAX])
{
    (void)values, (void)line;
    *iterations = strlen(list.text);
    return list.is_open;
}

static int describe(const union hdss_value *values, struct hdss_loop *loop, char line[HDSS_ERROR_MAX])
{
    loop->grows = grow_list(values, &loop->iterations, line);
    loop->inputs = loop->grows ? 1 : 77 + loop->iterations;
    loop->are_tasks = true;
    loop->streams = 1;
    loop->stream[0].ending = "";
    return 0;
}

static int inputs(const union hdss_value *values, uint64_t iterations, uint64_t *digest, char line[HDSS_ERROR_MAX])
{
    (void)values, (void)line;
    *digest = 5;
    for (uint64_t i = 0; i < iterations; i++)
        *digest = *digest * 31 + (unsigned char)list.text[i];
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char line[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)instance, (void)line;
    return 0;
}

static int run_nothing(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                       char line[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)output, (void)line;
    return 0;
}

static const struct hdss_param params[] = {
    {"list", HDSS_PARAM_TEXT, "letters", 0, 0, NULL, "file", "not looked at"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};
static const struct hdss_kernel kernel = {
    .abi = HDSS_KERNEL_ABI,
    .name = "letters",
    .version = "1",
    .summary = "",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run_variable = run_nothing,
    .grow = grow_list,
    .inputs = inputs,
};

static int load(const char *name, const struct hdss_kernel **loaded, struct error *error)
{
    (void)name, (void)error;
    *loaded = &kernel;
    return 0;
}

static const struct kernel_loader loader = {.load = load};

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    unlink("j");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

/* So many letters, of which one may be another. */
static void write_list(size_t count, size_t other, bool is_open)
{
    for (size_t i = 0; i < count; i++)
        list.text[i] = (char)('a' + i % 26);
    list.text[count] = '\0';
    if (other < count)
        list.text[other] = '!';
    list.is_open = is_open;
}

static int set_up_job_with(int count, const char **words)
{
    memset(&root, 0, sizeof root);
    root_init(&root, "leader", "1.2.3");
    ck_assert_msg(job_setup_make(&root.setup, &loader, count, (char **)words, &root.error) == 0, "%s", root.error.text);
    return root_check(&root, true);
}

static int set_up_job(const char *more)
{
    const char *words[] = {"leader", "letters", "--journal", "j", more};
    return set_up_job_with(more != NULL ? 5 : 4, words);
}

static void begin(const char *more)
{
    ck_assert_msg(set_up_job(more) == 0, "%s", root.error.text);
    ck_assert_msg(root_create_files(&root) == 0, "%s", root.error.text);
}

static void begin_resumed(const char *more)
{
    const char *words[] = {"leader", "letters", "--journal", "j", "--resume", more};
    ck_assert_msg(set_up_job_with(6, words) == 0, "%s", root.error.text);
    ck_assert_msg(root_create_files(&root) == 0, "%s", root.error.text);
}

static void record(uint64_t first, uint64_t count)
{
    const struct range range = {first, count};
    ck_assert_msg(root_record(&root, &range, 1, 1, &root.error) == 0, "%s", root.error.text);
}

static void refuse(const char *line)
{
    ck_assert_int_eq(set_up_job("--resume"), -1);
    ck_assert_msg(strncmp(root.error.text, line, strlen(line)) == 0, "%s", root.error.text);
    resume_end(&root.resume);
}

START_TEST(a_list_is_gone_on_with_behind_its_end)
{
    write_list(10, 99, false);
    begin(NULL);
    record(0, 9);
    root_finish_output(&root, EXIT_STATUS_DRAINED);
    ck_assert(root.resumable);
    write_list(10, 4, false);
    refuse("letters: task 5 has changed since the run that j is of; accepted: those as they were, with new and mended "
           "ones behind them, or --overwrite to begin anew");
    write_list(9, 99, false);
    refuse("letters: there are 9 tasks, and j is of a run that knew of 10; accepted: ");
    write_list(15, 99, false);
    begin("--resume");
    ck_assert_uint_eq(ranges_total(&root.resume.earlier.content.done), 9);
    record(9, 6);
    root_finish_output(&root, EXIT_STATUS_DONE);
    ck_assert(!root.resumable);
}
END_TEST

/* For a part of a list only the part and what stands before it count. */
START_TEST(a_part_of_a_list_is_what_it_was)
{
    write_list(10, 99, false);
    begin("--iterations=2:5");
    record(2, 1);
    root_finish_output(&root, EXIT_STATUS_DRAINED);
    write_list(15, 8, false);
    refuse("j: is the journal of another job: --iterations is 2:5 there and all here");
    begin_resumed("--iterations=2:5");
    ck_assert_uint_eq(ranges_total(&root.resume.earlier.content.done), 1);
    root_finish_output(&root, EXIT_STATUS_DRAINED);
}
END_TEST

START_TEST(about_where_a_long_list_has_changed_is_named)
{
    write_list(4000, 9999, false);
    begin(NULL);
    record(0, 1);
    root_finish_output(&root, EXIT_STATUS_DRAINED);
    write_list(4500, 1000, false);
    refuse("letters: one at least of tasks 946 to 1008 has changed since");
    write_list(4500, 3999, false);
    refuse("letters: one at least of tasks 3970 to 4000 has changed since");
    write_list(4500, 4000, false);
    begin("--resume");
    root_finish_output(&root, EXIT_STATUS_DRAINED);
}
END_TEST

START_TEST(what_a_loop_grows_by_is_recorded)
{
    struct growth growth;
    write_list(3, 99, true);
    begin(NULL);
    ck_assert_uint_eq(root.resume.journal.loop.count, 3);
    record(0, 3);
    write_list(8, 99, true);
    ck_assert_int_eq(root_grow(&root, &growth, &root.error), 0);
    ck_assert(growth.count == 8 && !growth.is_complete);
    record(5, 2);
    ck_assert_uint_eq(root.resume.journal.loop.count, 8);
    record(3, 2);
    record(7, 1);
    write_list(9, 99, true);
    ck_assert_int_eq(root_grow(&root, &growth, &root.error), 0);
    root_finish_output(&root, EXIT_STATUS_DRAINED);
    ck_assert(root.resumable);
    write_list(9, 8, true); /* though it was not begun */
    refuse("letters: task 9 has changed since");
    write_list(9, 99, false);
    begin("--resume");
    ck_assert_uint_eq(ranges_total(&root.resume.earlier.content.done), 8);
    record(8, 1);
    root_finish_output(&root, EXIT_STATUS_DONE);
    ck_assert(!root.resumable);
}
END_TEST

/* All is done of a list whose end nobody knows: it can be gone on with. */
START_TEST(a_list_that_is_open_is_never_all)
{
    write_list(3, 99, true);
    begin(NULL);
    record(0, 3);
    root_finish_output(&root, EXIT_STATUS_DRAINED);
    ck_assert(root.resumable && !root.is_given_up);
}
END_TEST

/* A rank that looks at the list a moment later finds another loop, and is told that it grows. */
START_TEST(ranks_agree_though_the_list_grows)
{
    uint64_t there, here;
    write_list(3, 99, true);
    ck_assert_int_eq(set_up_job(NULL), 0);
    ck_assert_int_eq(job_setup_inputs(&root.setup, &there, &root.error), 0);
    ck_assert(root.setup.loop.grows && root.setup.job.spec.power == RUN_POWER_EQUAL);
    resume_end(&root.resume);
    write_list(70, 99, false);
    const char *told[] = {"found: grows=1", "letters", "--journal", "j"};
    ck_assert_int_eq(set_up_job_with(4, told), 0);
    ck_assert(root.setup.loop.grows && root.setup.job.spec.power == RUN_POWER_EQUAL);
    ck_assert_int_eq(job_setup_inputs(&root.setup, &here, &root.error), 0);
    ck_assert_uint_eq(here, there);
    resume_end(&root.resume);
    ck_assert_int_eq(set_up_job(NULL), 0);
    ck_assert(!root.setup.loop.grows);
    ck_assert_int_eq(job_setup_inputs(&root.setup, &here, &root.error), 0);
    ck_assert_uint_eq(here, 147);
    resume_end(&root.resume);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("longer");
    TCase *all = tcase_create("lists");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, a_list_is_gone_on_with_behind_its_end);
    tcase_add_test(all, a_part_of_a_list_is_what_it_was);
    tcase_add_test(all, about_where_a_long_list_has_changed_is_named);
    tcase_add_test(all, what_a_loop_grows_by_is_recorded);
    tcase_add_test(all, a_list_that_is_open_is_never_all);
    tcase_add_test(all, ranks_agree_though_the_list_grows);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
