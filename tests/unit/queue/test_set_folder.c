/* SPDX-License-Identifier: MIT */
/* The folder of a set: what jobs have printed is there as long as the queue knows them, and nobody else can look. */
#include "supermaster/queue.h"
#include "supermaster/set/folder.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[] = "/tmp/hdss-test-folder-XXXXXX";
static struct set_folder folder;

static void set_up(void)
{
    const struct serve_options options = {.name = "a", .state = "kept"};
    struct error error;
    scratch_enter(scratch);
    ck_assert_int_eq(set_folder_open(&folder, &options, &error), 0);
}

static void tear_down(void)
{
    set_folder_close(&folder);
    scratch_leave(scratch);
}

static void print(uint64_t job)
{
    for (enum control_stream stream = CONTROL_OUT; stream <= CONTROL_ERR; stream++)
        close(set_folder_write(&folder, job, stream, false));
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

START_TEST(nobody_else_can_look)
{
    struct stat status;
    print(1);
    ck_assert(stat("kept", &status) == 0 && (status.st_mode & 07777) == 0700);
    ck_assert(stat("kept/jobs", &status) == 0 && (status.st_mode & 07777) == 0700);
    ck_assert(stat("kept/jobs/1.err", &status) == 0 && (status.st_mode & 07777) == 0600);
}
END_TEST

START_TEST(what_is_forgotten_goes)
{
    print(1);
    print(2);
    set_folder_remove(&folder, 1);
    ck_assert(!is_there("kept/jobs/1.out") && !is_there("kept/jobs/1.err"));
    ck_assert(is_there("kept/jobs/2.out") && is_there("kept/jobs/2.err"));
}
END_TEST

START_TEST(what_the_queue_does_not_know_goes)
{
    struct queue queue;
    struct submission submission = {.weight = 1};
    queue_init(&queue, 1);
    ck_assert_ptr_nonnull(queue_restore(&queue, 2, &submission, 1));
    print(1);
    print(2);
    print(5000000000);
    const char *const others[] = {"kept/jobs/notes", "kept/jobs/01.out", "kept/jobs/1.out.old", "kept/jobs/-1.out"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_int_eq(close(open(others[i], O_WRONLY | O_CREAT, 0600)), 0);
    ck_assert_uint_eq(set_folder_clear(&folder, &queue, true), 2);
    ck_assert(!is_there("kept/jobs/1.out") && !is_there("kept/jobs/1.err") && !is_there("kept/jobs/5000000000.out"));
    ck_assert(is_there("kept/jobs/2.out") && is_there("kept/jobs/2.err"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(is_there(others[i]), "%s", others[i]);
    queue_fini(&queue);
}
END_TEST

START_TEST(what_a_damaged_queue_may_have_lost_stays)
{
    struct queue queue;
    queue_init(&queue, 1);
    queue.newest = 1;
    print(1);
    print(7);
    ck_assert_uint_eq(set_folder_clear(&folder, &queue, false), 7);
    ck_assert(!is_there("kept/jobs/1.out") && is_there("kept/jobs/7.out"));
    print(1);
    ck_assert_int_eq(close(open("kept/queue.damaged-1", O_WRONLY | O_CREAT, 0600)), 0);
    ck_assert_uint_eq(set_folder_clear(&folder, &queue, true), 7);
    ck_assert(is_there("kept/jobs/1.err") && is_there("kept/jobs/7.err"));
    ck_assert_int_eq(unlink("kept/queue.damaged-1"), 0);
    ck_assert_uint_eq(set_folder_clear(&folder, &queue, true), 0);
    ck_assert(!is_there("kept/jobs/7.out"));
    queue_fini(&queue);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("set-folder");
    TCase *tests = tcase_create("set-folder");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, nobody_else_can_look);
    tcase_add_test(tests, what_is_forgotten_goes);
    tcase_add_test(tests, what_the_queue_does_not_know_goes);
    tcase_add_test(tests, what_a_damaged_queue_may_have_lost_stays);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
