/* SPDX-License-Identifier: MIT */
/* files: texts read and written whole, and that nothing but the named file is touched. Each test has a scratch folder
 * of its own. */
#include "common/os/files.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-test-files-XXXXXX";
static struct error error;

static void set_up(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    static const char *const names[] = {"a", "a.tmp", "file", "link", "victim"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
}

static void put(const char *path, const char *text)
{
    ck_assert_msg(file_write(path, text, strlen(text), &error) == 0, "%s", error.text);
}

static void check(const char *path, const char *expected)
{
    char *text = file_read(path, &error);
    ck_assert_msg(text != NULL, "%s", error.text);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(what_is_written_is_read)
{
    put("a", "one\n");
    check("a", "one\n");
    put("a", "");
    check("a", "");
    ck_assert_int_ne(access("a.tmp", F_OK), 0);
}
END_TEST

START_TEST(what_is_published_can_be_read_by_all)
{
    struct stat status;
    const mode_t mask = umask(0077);
    put("a", "mine");
    ck_assert_int_eq(stat("a", &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    ck_assert_int_eq(file_publish("a", "ours", 4, &error), 0);
    umask(mask);
    ck_assert_int_eq(stat("a", &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0644);
    check("a", "ours");
    ck_assert_int_ne(access("a.tmp", F_OK), 0);
}
END_TEST

START_TEST(a_link_that_is_named_stays_one)
{
    put("victim", "old and longer");
    ck_assert_int_eq(symlink("victim", "link"), 0);
    ck_assert_int_eq(file_check_writable("link", &error), 0);
    check("victim", "old and longer");
    put("link", "new");
    check("victim", "new");
}
END_TEST

START_TEST(a_planted_link_is_not_followed)
{
    put("victim", "as it was");
    ck_assert_int_eq(symlink("victim", "a.tmp"), 0);
    ck_assert_int_eq(file_check_writable("a", &error), 0);
    ck_assert_int_eq(access("a", F_OK), -1);
    put("a", "mine");
    check("a", "mine");
    check("victim", "as it was");
}
END_TEST

START_TEST(a_dangling_planted_link_makes_nothing)
{
    ck_assert_int_eq(symlink("victim", "a.tmp"), 0);
    ck_assert_int_eq(file_check_writable("a", &error), 0);
    ck_assert_int_eq(access("victim", F_OK), -1);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    ck_assert_ptr_null(file_read(".", &error));
    ck_assert_str_eq(error.text, ".: not a regular file");
    ck_assert_ptr_null(file_read("/dev/zero", &error));
    ck_assert_str_eq(error.text, "/dev/zero: not a regular file");
}
END_TEST

START_TEST(a_pipe_is_written_to_who_reads_it_and_waits_for_nobody)
{
    char read_there[10] = "";
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    ck_assert_int_eq(file_write("pipe", "words", 5, &error), -1);
    ck_assert_str_eq(error.text, "pipe: a pipe that nobody reads, or no device");
    const int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    ck_assert_int_eq(file_write("pipe", "words", 5, &error), 0);
    ck_assert_int_eq(read(reader, read_there, sizeof read_there), 5);
    const int writer = file_open_to_write("pipe", 0);
    ck_assert_int_eq(fcntl(writer, F_GETFL) & O_NONBLOCK, 0);
    close(writer);
    close(reader);
    unlink("pipe");
}
END_TEST

static void refuse(const char *path, const char *expected)
{
    ck_assert_int_eq(file_check_writable(path, &error), -1);
    ck_assert_str_eq(error.text, expected);
}

START_TEST(what_cannot_be_written_is_named_and_nothing_is_made)
{
    char long_name[300];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    put("file", "");
    refuse(".", ".: it is a folder; accepted: the name of a file, such as ./NAME");
    refuse("./", "./: it is a folder; accepted: the name of a file, such as ./NAME");
    refuse("none/a", "none/a: there is no folder none; `mkdir -p none` makes it");
    refuse("none/such/a", "none/such/a: there is no folder none/such; `mkdir -p none/such` makes it");
    refuse("/none/a", "/none/a: there is no folder /none; `mkdir -p /none` makes it");
    refuse("file/a", "file/a: file is not a folder");
    ck_assert_int_eq(file_check_writable(long_name, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, ": File name too long"));
    ck_assert_int_eq(file_check_writable("a", &error), 0);
    ck_assert_int_eq(file_check_writable("./a", &error), 0);
    ck_assert_int_eq(file_check_writable("file", &error), 0);
    ck_assert_int_eq(file_check_writable("/dev/null", &error), 0);
    ck_assert_int_eq(access("a", F_OK), -1);
    ck_assert_int_eq(access("a.tmp", F_OK), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_is_written_is_read);
    tcase_add_test(tcase, what_is_published_can_be_read_by_all);
    tcase_add_test(tcase, a_link_that_is_named_stays_one);
    tcase_add_test(tcase, a_planted_link_is_not_followed);
    tcase_add_test(tcase, a_dangling_planted_link_makes_nothing);
    tcase_add_test(tcase, what_is_no_file_is_refused);
    tcase_add_test(tcase, a_pipe_is_written_to_who_reads_it_and_waits_for_nobody);
    tcase_add_test(tcase, what_cannot_be_written_is_named_and_nothing_is_made);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
