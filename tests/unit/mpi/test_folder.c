/* SPDX-License-Identifier: MIT */
/* The folder of the doorbells: who may enter it, where it is made, and that nothing of it stays. */
#include "common/mpi/folder.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

static char base[64], folder[FOLDER_MAX], other[FOLDER_MAX];
static struct error error;

static void set_up(void)
{
    strcpy(base, "/tmp/hdss-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
    setenv("TMPDIR", base, 1);
    unsetenv("XDG_RUNTIME_DIR");
    error.text[0] = '\0';
}

static void tear_down(void)
{
    ck_assert_int_eq(rmdir(base), 0); /* and so, that it is empty */
}

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *open = opendir(path);
    ck_assert_ptr_nonnull(open);
    while (readdir(open) != NULL)
        count++;
    closedir(open);
    return count - 2;
}

static unsigned mode(const char *path)
{
    struct stat status;
    ck_assert_int_eq(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

static bool is_rung(int bell)
{
    char byte;
    bool any = false;
    while (recv(bell, &byte, 1, MSG_DONTWAIT) > 0)
        any = true;
    return any;
}

START_TEST(only_its_user_enters_it)
{
    char path[FOLDER_MAX + 8];
    int bell = folder_make(folder, &error);
    ck_assert_int_ge(bell, 0);
    ck_assert(strncmp(folder, base, strlen(base)) == 0);
    ck_assert_uint_eq(mode(folder), 01700);
    snprintf(path, sizeof path, "%s/0", folder);
    ck_assert_uint_eq(mode(path), 0600);
    close(bell);
    folder_leave(folder, 0);
}
END_TEST

START_TEST(it_goes_with_the_last_one)
{
    int first = folder_make(folder, &error), second = folder_bind(folder, 1, &error);
    ck_assert(first >= 0 && second >= 0);
    ck_assert(folder_ring(folder, first, 1));
    ck_assert(is_rung(second));
    ck_assert(!is_rung(first));
    close(first);
    folder_leave(folder, 0);
    ck_assert_uint_eq(entries(base), 1);
    ck_assert(!folder_ring(folder, second, 0)); /* nobody is there */
    close(second);
    folder_leave(folder, 1);
    ck_assert_uint_eq(entries(base), 0);
}
END_TEST

START_TEST(what_a_killed_run_left_the_next_one_removes)
{
    close(folder_make(folder, &error));
    close(folder_bind(folder, 1, &error));
    ck_assert_uint_eq(entries(folder), 2);
    int bell = folder_make(other, &error);
    ck_assert_uint_eq(entries(base), 1);
    ck_assert_int_ne(access(folder, F_OK), 0);
    close(bell);
    folder_leave(other, 0);
}
END_TEST

START_TEST(what_is_in_use_stays)
{
    close(folder_make(folder, &error));
    int lives = folder_bind(folder, 1, &error), bell = folder_make(other, &error);
    ck_assert_uint_eq(entries(folder), 2);
    close(lives);
    folder_clear(folder);
    ck_assert_uint_eq(entries(base), 1);
    close(bell);
    folder_leave(other, 0);
}
END_TEST

START_TEST(what_has_something_else_in_it_stays)
{
    char path[FOLDER_MAX + 16];
    close(folder_make(folder, &error));
    snprintf(path, sizeof path, "%s/letter", folder);
    fclose(fopen(path, "w"));
    folder_clear(folder);
    ck_assert_uint_eq(entries(folder), 2);
    unlink(path);
    folder_clear(folder);
}
END_TEST

/* Where the memory of the folder has its name, in /dev/shm. */
static const char *memory_name(void)
{
    static char path[FOLDER_MAX + 16];
    snprintf(path, sizeof path, "/dev/shm%s", strrchr(folder, '/'));
    return path;
}

START_TEST(memory_is_shared_until_its_name_goes)
{
    enum { BYTES = 5000 };
    bool inside = true;
    int bell = folder_make(folder, &error);
    unsigned char *own = folder_map(folder, BYTES, true, &inside, &error);
    ck_assert_ptr_nonnull(own);
    ck_assert(!inside);
    ck_assert_uint_eq(mode(memory_name()), 0600);
    ck_assert_ptr_null(folder_map(folder, 2 * BYTES, false, &inside, &error)); /* it is shorter than that */
    unsigned char *others = folder_map(folder, BYTES, false, &inside, &error);
    ck_assert_ptr_nonnull(others);
    ck_assert_uint_eq(others[BYTES - 1], 0);
    own[BYTES - 1] = 7;
    ck_assert_uint_eq(others[BYTES - 1], 7);
    folder_unmap_name(folder, inside);
    ck_assert_ptr_null(folder_map(folder, BYTES, false, &inside, &error));
    ck_assert_ptr_nonnull(strstr(error.text, memory_name()));
    others[0] = 9;
    ck_assert_uint_eq(own[0], 9);
    munmap(own, BYTES);
    munmap(others, BYTES);
    close(bell);
    folder_leave(folder, 0);
}
END_TEST

START_TEST(memory_that_not_all_have_mapped_goes_with_the_last_one)
{
    bool inside;
    int bell = folder_make(folder, &error);
    munmap(folder_map(folder, 64, true, &inside, &error), 64);
    close(bell);
    folder_leave(folder, 0);
    ck_assert_ptr_null(folder_map(folder, 64, false, &inside, &error));
}
END_TEST

START_TEST(what_nobody_is_behind_is_removed_on_demand)
{
    int bell = folder_make(folder, &error);
    folder_clear_all();
    ck_assert_uint_eq(entries(base), 1);
    close(bell);
    folder_clear_all();
    ck_assert_uint_eq(entries(base), 0);
}
END_TEST

START_TEST(memory_of_a_killed_run_goes_with_its_folder)
{
    bool inside;
    int bell = folder_make(folder, &error);
    munmap(folder_map(folder, 64, true, &inside, &error), 64);
    folder_clear(folder); /* somebody is there */
    ck_assert_int_eq(access(memory_name(), F_OK), 0);
    close(bell);
    folder_clear(folder);
    ck_assert_int_ne(access(memory_name(), F_OK), 0);
}
END_TEST

START_TEST(memory_has_another_place_where_the_first_is_taken)
{
    bool inside = false;
    int bell = folder_make(folder, &error);
    fclose(fopen(memory_name(), "w"));
    unsigned char *own = folder_map(folder, 64, true, &inside, &error);
    ck_assert_ptr_nonnull(own);
    ck_assert(inside);
    ck_assert_uint_eq(entries(folder), 2);
    unsigned char *others = folder_map(folder, 64, false, &inside, &error);
    own[3] = 3;
    ck_assert_uint_eq(others[3], 3);
    munmap(own, 64);
    munmap(others, 64);
    close(bell);
    folder_clear(folder); /* both */
    ck_assert_int_ne(access(memory_name(), F_OK), 0);
}
END_TEST

/* Its last rank was killed when it had removed its socket, and not yet the folder. */
START_TEST(one_that_was_left_empty_is_removed)
{
    int bell = folder_make(folder, &error);
    close(bell);
    snprintf(other, sizeof other, "%s", folder);
    unlink(strcat(other, "/0"));
    ck_assert_uint_eq(entries(base), 1);
    folder_clear(folder);
    ck_assert_uint_eq(entries(base), 0);
}
END_TEST

START_TEST(one_that_is_being_made_is_empty_and_stays)
{
    int bell = folder_make(folder, &error);
    close(bell);
    snprintf(other, sizeof other, "%s", folder);
    unlink(strcat(other, "/0"));
    ck_assert_int_eq(chmod(folder, 0700), 0); /* it has had no socket */
    folder_clear(folder);
    ck_assert_uint_eq(entries(base), 1);
    utime(folder, &(struct utimbuf){0});
    folder_clear(folder);
    ck_assert_uint_eq(entries(base), 0);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
    char link[FOLDER_MAX];
    close(folder_make(folder, &error));
    snprintf(link, sizeof link, "%s/link", base);
    ck_assert_int_eq(symlink(folder, link), 0);
    folder_clear(link);
    ck_assert_uint_eq(entries(folder), 1);
    unlink(link);
    folder_clear(folder);
}
END_TEST

START_TEST(a_base_that_does_not_do_is_passed_over)
{
    char deep[200];
    snprintf(deep, sizeof deep, "%s/%0100d", base, 0);
    mkdir(deep, 0700);
    setenv("TMPDIR", deep, 1);
    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    int bell = folder_make(folder, &error);
    ck_assert_int_ge(bell, 0);
    ck_assert(strncmp(folder, "/tmp/hdss-", 10) == 0);
    close(bell);
    folder_leave(folder, 0);
    rmdir(deep);
}
END_TEST

START_TEST(a_folder_that_is_gone_is_named)
{
    ck_assert_int_lt(folder_bind("/nowhere", 3, &error), 0);
    ck_assert_str_eq(error.text, "cannot make the socket /nowhere/3: No such file or directory");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("folder");
    TCase *tcase = tcase_create("folder");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, only_its_user_enters_it);
    tcase_add_test(tcase, it_goes_with_the_last_one);
    tcase_add_test(tcase, what_a_killed_run_left_the_next_one_removes);
    tcase_add_test(tcase, what_is_in_use_stays);
    tcase_add_test(tcase, what_has_something_else_in_it_stays);
    tcase_add_test(tcase, memory_is_shared_until_its_name_goes);
    tcase_add_test(tcase, memory_that_not_all_have_mapped_goes_with_the_last_one);
    tcase_add_test(tcase, what_nobody_is_behind_is_removed_on_demand);
    tcase_add_test(tcase, memory_of_a_killed_run_goes_with_its_folder);
    tcase_add_test(tcase, memory_has_another_place_where_the_first_is_taken);
    tcase_add_test(tcase, one_that_was_left_empty_is_removed);
    tcase_add_test(tcase, one_that_is_being_made_is_empty_and_stays);
    tcase_add_test(tcase, a_link_is_not_followed);
    tcase_add_test(tcase, a_base_that_does_not_do_is_passed_over);
    tcase_add_test(tcase, a_folder_that_is_gone_is_named);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
