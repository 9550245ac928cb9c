/* SPDX-License-Identifier: MIT */
/* Leading a run, as far as files and texts go: speeds from --power, output and report made and refused, what is said at
 * the end. Each test has a scratch folder of its own. */
#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/job/journal_format.h"
#include "common/job/resume.h"
#include "common/job/root.h"
#include "common/job/terminal.h"
#include "common/machine/machine.h"
#include "common/metrics/report.h"
#include "common/results/results.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"
#include "worker/kernels/kernels.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct root root;
static char folder[] = "/tmp/hdss-test-lead-XXXXXX";

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    static const char *const names[] = {"powers", "out.npy", "out.npy.journal", "report.json", "said", "summary"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

static void setup(int argc, const char **argv)
{
    memset(&root, 0, sizeof root);
    root_init(&root, "leader", "1.2.3");
    root.terminal.width = 80;
    ck_assert_msg(job_setup_make(&root.setup, &kernel_loader, argc, (char **)argv, &root.error) == 0, "%s",
                  root.error.text);
}

/* The job's words, after those of an eight-iteration loop: options may stand anywhere. */
#define PLAN(...)                                                                                                      \
    do {                                                                                                               \
        const char *words[] = {"leader", "synthetic", "iterations=8", "mean=0", __VA_ARGS__};                          \
        int count = (int)(sizeof words / sizeof *words);                                                               \
        setup(words[count - 1] != NULL ? count : count - 1, words);                                                    \
    } while (0)

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static const char *read_file(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "no %s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

START_TEST(speeds_are_measured_equal_or_from_a_file)
{
    const unsigned ranks[] = {1, 2};
    double *speeds;
    PLAN("--power", "measure");
    ck_assert_int_eq(root_read_speeds(&root, ranks, 2, &speeds), 0);
    ck_assert_ptr_null(speeds);
    PLAN("--power", "equal");
    ck_assert_int_eq(root_read_speeds(&root, ranks, 2, &speeds), 0);
    ck_assert(speeds[0] == 1 && speeds[1] == 1);
    free(speeds);
    write_file("powers", "2 0.5\n1 3\n");
    PLAN("--power", "powers");
    ck_assert_int_eq(root_read_speeds(&root, ranks, 2, &speeds), 0);
    ck_assert(speeds[0] == 3 && speeds[1] == 0.5);
    free(speeds);
}
END_TEST

static void refuse_speeds(const char *part)
{
    const unsigned ranks[] = {1, 2};
    double *speeds;
    ck_assert_int_eq(root_read_speeds(&root, ranks, 2, &speeds), -1);
    ck_assert_msg(strstr(root.error.text, part) != NULL, "%s", root.error.text);
    ck_assert_ptr_null(strchr(root.error.text, '\n'));
    free(speeds);
}

START_TEST(a_power_file_that_is_missing_or_wrong_is_named)
{
    PLAN("--power", "powers");
    refuse_speeds("--power 'powers': accepted");
    write_file("powers", "1 3\n");
    refuse_speeds("--power powers: ");
    PLAN("--power", "1,2,3");
    refuse_speeds("--power 1,2,3: 3 numbers; accepted: one for each of the 2 workers");
}
END_TEST

START_TEST(a_report_that_cannot_be_written_is_refused_before_the_run)
{
    PLAN("--report", "nowhere/report.json", "--output", "out.npy");
    ck_assert_int_eq(root_check(&root, true), -1);
    ck_assert_str_eq(root.error.text, "--report: cannot write nowhere/report.json: there is no folder nowhere; "
                                      "`mkdir -p nowhere` makes it");
    resume_end(&root.resume);
    ck_assert_int_ne(access("out.npy", F_OK), 0);
}
END_TEST

static void record(uint64_t first, uint64_t count, uint64_t digest)
{
    const struct range range = {first, count};
    ck_assert_int_eq(root_record(&root, &range, 1, digest, &root.error), 0);
}

static void look_back_and_create(void)
{
    ck_assert_msg(root_check(&root, true) == 0, "%s", root.error.text);
    ck_assert_msg(root_create_files(&root) == 0, "%s", root.error.text);
}

static void end_with(int status)
{
    ck_assert_int_eq(root_finish_output(&root, status), status);
    root_clear_away(&root, status);
}

START_TEST(a_run_that_ended_early_is_refused_or_resumed)
{
    PLAN("--output", "out.npy");
    look_back_and_create();
    record(2, 3, 10);
    end_with(EXIT_STATUS_DRAINED);
    ck_assert(root.resumable);
    PLAN("--output", "out.npy");
    ck_assert_int_eq(root_check(&root, true), -1);
    ck_assert_str_eq(root.error.text,
                     "out.npy.journal: a run that ended early left it, 37 % done; accepted: --resume to "
                     "go on with it, --overwrite to begin anew");
    resume_end(&root.resume);
    PLAN("--output", "out.npy", "--resume", "--durability", "node");
    look_back_and_create();
    ck_assert_uint_eq(root.resume.earlier.content.digest, 10);
    ck_assert_uint_eq(ranges_total(&root.resume.earlier.content.done), 3);
    record(0, 2, 5);
    record(5, 3, 6);
    end_with(EXIT_STATUS_DONE);
    ck_assert(!root.resumable);
    ck_assert_int_eq(access("out.npy", F_OK), 0);
}
END_TEST

/* What a run that is complete leaves: to be resumed with nothing to do, and anew only with --overwrite, or without its
 * output. */
START_TEST(a_run_that_is_complete_is_resumed_with_nothing_to_do)
{
    PLAN("--output", "out.npy");
    look_back_and_create();
    record(0, 8, 21);
    end_with(EXIT_STATUS_DONE);
    for (int times = 0; times < 2; times++) {
        PLAN("--output", "out.npy", "--resume");
        ck_assert_msg(root_check(&root, true) == 0, "%s", root.error.text);
        ck_assert(root.resume.is_over && root.resume.earlier.content.digest == 21);
        root_fini(&root);
        ck_assert(access("out.npy", F_OK) == 0 && access("out.npy.journal", F_OK) == 0);
    }
    PLAN("--output", "out.npy");
    ck_assert_int_eq(root_check(&root, true), -1);
    ck_assert_str_eq(root.error.text, "out.npy is there already; accepted: --overwrite to replace it, or another name");
    resume_end(&root.resume);
    write_file("out.npy", "another");
    PLAN("--output", "out.npy", "--resume");
    ck_assert_int_eq(root_check(&root, true), -1);
    ck_assert_ptr_nonnull(strstr(root.error.text, "out.npy has 7 bytes in all its files, and had "));
    resume_end(&root.resume);
    unlink("out.npy");
    PLAN("--output", "out.npy", "--resume");
    look_back_and_create();
    ck_assert(!root.resume.is_over && ranges_total(&root.resume.earlier.content.done) == 0);
    record(0, 8, 21);
    end_with(EXIT_STATUS_DONE);
    unlink("out.npy");
    PLAN("--output", "out.npy");
    look_back_and_create();
    ck_assert_int_eq(access("out.npy", F_OK), 0);
    end_with(EXIT_STATUS_DRAINED);
}
END_TEST

START_TEST(nothing_done_is_nothing_to_refuse)
{
    PLAN("--output", "out.npy");
    look_back_and_create();
    end_with(EXIT_STATUS_FAILED);
    PLAN("--output", "out.npy");
    look_back_and_create();
    record(0, 8, 1);
    end_with(EXIT_STATUS_FAILED); /* complete, but its end failed: it stays */
    PLAN("--output", "out.npy");
    ck_assert_int_eq(root_check(&root, true), -1);
    ck_assert_ptr_nonnull(strstr(root.error.text, "--resume to complete its files"));
    resume_end(&root.resume);
    PLAN("--output", "out.npy", "--overwrite");
    look_back_and_create();
    record(0, 8, 1);
    end_with(EXIT_STATUS_DONE);
}
END_TEST

/* Whoever keeps no journal respects that of others, and clears it away where it is told to overwrite. */
START_TEST(without_a_journal_that_of_an_earlier_run_counts)
{
    PLAN("--output", "out.npy");
    look_back_and_create();
    record(1, 1, 1);
    end_with(EXIT_STATUS_DRAINED);
    PLAN("--output", "out.npy", "--journal", "off");
    ck_assert_int_eq(root_check(&root, false), -1);
    resume_end(&root.resume);
    PLAN("--output", "out.npy", "--overwrite");
    ck_assert_int_eq(root_check(&root, false), 0);
    ck_assert_int_eq(root_create_files(&root), 0);
    ck_assert_int_ne(access("out.npy.journal", F_OK), 0);
    end_with(EXIT_STATUS_DONE);
}
END_TEST

START_TEST(an_output_that_is_gone_is_a_failure)
{
    PLAN("--output", "out.npy", "--journal", "off");
    look_back_and_create();
    ck_assert_int_eq(root_open_sink(&root), 0);
    unlink("out.npy");
    ck_assert_int_eq(root_finish_output(&root, EXIT_STATUS_DONE), EXIT_STATUS_FAILED);
    ck_assert_str_eq(root.error.text, "out.npy: was removed while the run wrote it: its results are not whole");
    ck_assert(!root.complete);
    root_clear_away(&root, EXIT_STATUS_FAILED);
    ck_assert_int_eq(root.output_lock, -1);
}
END_TEST

START_TEST(without_an_output_there_is_no_sink)
{
    PLAN(NULL);
    ck_assert_int_eq(root_create_files(&root), 0);
    ck_assert_int_eq(root_open_sink(&root), 0);
    ck_assert(!root.sink_open);
    ck_assert_int_eq(root_finish_output(&root, EXIT_STATUS_DRAINED), EXIT_STATUS_DRAINED);
}
END_TEST

START_TEST(the_output_is_made_written_and_finished)
{
    const uint64_t records[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct stat status;
    PLAN("--output", "out.npy");
    ck_assert_int_eq(root_create_files(&root), 0);
    ck_assert_int_eq(root_open_sink(&root), 0);
    ck_assert(root.sink_open);
    ck_assert_int_eq(results_write(&root.sink, 0, 8, records, sizeof records, &root.error), 0);
    ck_assert_int_eq(root_finish_output(&root, EXIT_STATUS_DONE), EXIT_STATUS_DONE);
    ck_assert(!root.sink_open);
    ck_assert_int_eq(stat("out.npy", &status), 0);
    ck_assert_int_eq((int)(status.st_size % 64), 0); /* header and 64 bytes */
    ck_assert_int_gt((int)status.st_size, 64);
}
END_TEST

/* The end of a run; what is printed goes to the files `summary` and `said`. */
static int print_report(struct report *report, int status)
{
    static struct report_worker row;
    *report = (struct report){.topology = REPORT_DCA_RMA,
                              .technique = root.setup.job.spec.technique,
                              .iterations = 8,
                              .done = 8,
                              .workers = 1,
                              .nodes = 1,
                              .elapsed_s = 1,
                              .checksum = UINT64_C(0xabcdef0123456789),
                              .worker_stats = &row};
    ck_assert_ptr_nonnull(freopen("summary", "w", stdout));
    ck_assert_ptr_nonnull(freopen("said", "w", stderr));
    status = root_print_report(&root, report, NEVER, status);
    fflush(stderr);
    return status;
}

START_TEST(the_summary_and_the_report_are_written)
{
    struct report report;
    PLAN("--report", "report.json");
    ck_assert_int_eq(print_report(&report, EXIT_STATUS_DRAINED), EXIT_STATUS_DRAINED);
    ck_assert_ptr_nonnull(strstr(read_file("summary"), "abcdef0123456789"));
    ck_assert_ptr_nonnull(strstr(read_file("report.json"), "abcdef0123456789"));
    ck_assert_str_eq(read_file("said"), "");
    ck_assert_str_eq(report.version, "1.2.3");
    ck_assert(report.startup_s == 0); /* nothing was assigned */
}
END_TEST

START_TEST(a_run_that_failed_is_reported_as_such)
{
    struct report report;
    PLAN("--report", "report.json");
    ck_assert_int_eq(print_report(&report, EXIT_STATUS_FAILED), EXIT_STATUS_FAILED);
    ck_assert_ptr_nonnull(strstr(read_file("report.json"), "\"failed\""));
}
END_TEST

START_TEST(a_report_that_cannot_be_written_at_the_end_fails_the_run)
{
    struct report report;
    PLAN("--report", "nowhere/report.json");
    ck_assert_int_eq(print_report(&report, EXIT_STATUS_DONE), EXIT_STATUS_FAILED);
    ck_assert_ptr_nonnull(strstr(read_file("summary"), "abcdef0123456789")); /* not lost */
    ck_assert_ptr_nonnull(strstr(read_file("said"), "leader: nowhere/report.json: "));
}
END_TEST

START_TEST(a_failure_elsewhere_names_the_rank)
{
    PLAN(NULL);
    root.rank = 3;
    ck_assert_ptr_nonnull(freopen("said", "w", stderr));
    root_print_failure(&root, "one thing", 3);
    root_print_failure(&root, "another", 7);
    fflush(stderr);
    ck_assert_str_eq(read_file("said"), "leader: one thing\nleader: rank 7: another\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lead");
    TCase *all = tcase_create("lead");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, speeds_are_measured_equal_or_from_a_file);
    tcase_add_test(all, a_power_file_that_is_missing_or_wrong_is_named);
    tcase_add_test(all, a_report_that_cannot_be_written_is_refused_before_the_run);
    tcase_add_test(all, a_run_that_ended_early_is_refused_or_resumed);
    tcase_add_test(all, a_run_that_is_complete_is_resumed_with_nothing_to_do);
    tcase_add_test(all, nothing_done_is_nothing_to_refuse);
    tcase_add_test(all, without_a_journal_that_of_an_earlier_run_counts);
    tcase_add_test(all, without_an_output_there_is_no_sink);
    tcase_add_test(all, an_output_that_is_gone_is_a_failure);
    tcase_add_test(all, the_output_is_made_written_and_finished);
    tcase_add_test(all, the_summary_and_the_report_are_written);
    tcase_add_test(all, a_run_that_failed_is_reported_as_such);
    tcase_add_test(all, a_report_that_cannot_be_written_at_the_end_fails_the_run);
    tcase_add_test(all, a_failure_elsewhere_names_the_rank);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
