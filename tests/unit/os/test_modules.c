/* SPDX-License-Identifier: MIT */
/* Where modules are looked for: beside the program, in the prefix that the program stands in, in that of the
 * configuration, or where HDSS_MODULES says. Each test has a scratch folder of its own. */
#include "common/os/modules.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODULE "hdss-no-such-module.so"
#define NAME   "/" MODULE

static char scratch[64], found[PATH_MAX];
static struct error error;

static void set_up(void)
{
    strcpy(scratch, "/tmp/hdss-test-modules-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    unsetenv("HDSS_MODULES");
}

static void tear_down(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", scratch);
    ck_assert_int_eq(system(command), 0);
}

/* Makes a folder of the scratch folder, with those above it; its name is good until the next call. */
static const char *make_folder(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    for (char *slash = strchr(path + strlen(scratch) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
    return path;
}

static void put_module(const char *folder)
{
    char path[PATH_MAX + 100];
    snprintf(path, sizeof path, "%s" NAME, make_folder(folder));
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

static void assert_found(const char *own, const char *folder)
{
    char expected[PATH_MAX];
    snprintf(expected, sizeof expected, "%s/%s", scratch, folder);
    ck_assert_msg(modules_find_from(make_folder(own), MODULE, found, &error) == 0, "%s", error.text);
    ck_assert_str_eq(found, expected);
}

START_TEST(beside_the_program_comes_first)
{
    put_module("build/deploy");
    assert_found("build/deploy", "build/deploy");
    put_module("usr/" HDSS_LIBDIR "/hdss");
    put_module("usr/" HDSS_BINDIR);
    assert_found("usr/" HDSS_BINDIR, "usr/" HDSS_BINDIR);
}
END_TEST

START_TEST(a_prefix_may_stand_anywhere)
{
    put_module("a/b/" HDSS_LIBDIR "/hdss");
    assert_found("a/b/" HDSS_BINDIR, "a/b/" HDSS_LIBDIR "/hdss");
    assert_found("a/b/" HDSS_LIBEXECDIR "/hdss", "a/b/" HDSS_LIBDIR "/hdss");
}
END_TEST

START_TEST(no_other_prefix_is_looked_into)
{
    put_module(HDSS_LIBDIR "/hdss"); /* a level higher than the programs stand */
    ck_assert_int_eq(modules_find_from(make_folder("a/" HDSS_BINDIR), MODULE, found, &error), -1);
    ck_assert_int_eq(modules_find_from(make_folder("x" HDSS_BINDIR), MODULE, found, &error), -1);
    ck_assert_int_eq(modules_find_from("", MODULE, found, &error), -1);
    ck_assert_str_eq(error.text, "there is no " MODULE " in " HDSS_MODULE_DIR);
}
END_TEST

START_TEST(the_error_names_each_place_once)
{
    char expected[ERROR_TEXT_MAX];
    snprintf(expected, sizeof expected, "there is no " MODULE " in %s/" HDSS_BINDIR ", %s/" HDSS_LIBDIR "/hdss or %s",
             scratch, scratch, HDSS_MODULE_DIR);
    ck_assert_int_eq(modules_find_from(make_folder(HDSS_BINDIR), MODULE, found, &error), -1);
    ck_assert_str_eq(error.text, expected);
    ck_assert_int_eq(modules_find_from(HDSS_MODULE_DIR, MODULE, found, &error), -1);
    ck_assert_str_eq(error.text, "there is no " MODULE " in " HDSS_MODULE_DIR);
}
END_TEST

START_TEST(the_environment_names_the_only_place)
{
    put_module("build");
    put_module("mine");
    setenv("HDSS_MODULES", make_folder("mine"), 1);
    assert_found("build", "mine");
    setenv("HDSS_MODULES", "/nowhere", 1);
    ck_assert_int_eq(modules_find_from(make_folder("build"), MODULE, found, &error), -1);
    ck_assert_str_eq(error.text, "there is no " MODULE " in /nowhere");
    setenv("HDSS_MODULES", "", 1);
    assert_found("build", "build");
}
END_TEST

START_TEST(the_program_knows_its_folder)
{
    char path[PATH_MAX], own[PATH_MAX];
    ck_assert_int_eq(program_folder(own, &error), 0);
    ck_assert_ptr_nonnull(realpath("/proc/self/exe", path));
    ck_assert_int_eq(strncmp(path, own, strlen(own)), 0);
    ck_assert_ptr_eq(strrchr(path, '/'), path + strlen(own));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("modules");
    TCase *tcase = tcase_create("modules");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, beside_the_program_comes_first);
    tcase_add_test(tcase, a_prefix_may_stand_anywhere);
    tcase_add_test(tcase, no_other_prefix_is_looked_into);
    tcase_add_test(tcase, the_error_names_each_place_once);
    tcase_add_test(tcase, the_environment_names_the_only_place);
    tcase_add_test(tcase, the_program_knows_its_folder);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
