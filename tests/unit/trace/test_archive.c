/* SPDX-License-Identifier: MIT */
/* The folder of a trace: what may be there, and what is removed. */
#include "common/os/files.h"
#include "common/trace/archive_folder.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-test-archive-XXXXXX";
static struct error error;

static void enter(void)
{
    scratch_enter(folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

static void make_file(const char *base, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", base, name);
    ck_assert_int_eq(file_write(path, base, strlen(base), &error), 0);
}

static void make_folder(const char *base, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", base, name);
    ck_assert_int_eq(mkdir(path, 0777), 0);
}

static void make_archive(const char *base)
{
    make_folder(".", base);
    make_folder(base, "traces");
    make_file(base, "traces.otf2");
    make_file(base, "traces.def");
    make_file(base, "traces.marker");
    make_file(base, "traces/0.evt");
    make_file(base, "traces/12.def");
}

static bool has(const char *base, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", base, name);
    return access(path, F_OK) == 0;
}

static void refuse(const char *path, const char *what)
{
    ck_assert_int_lt(archive_folder_check(path, &error), 0);
    ck_assert_msg(strstr(error.text, what) != NULL, "%s", error.text);
}

START_TEST(what_may_be_there)
{
    ck_assert_int_eq(archive_folder_check("a.otf2", &error), 0);
    make_folder(".", "a.otf2");
    ck_assert_int_eq(archive_folder_check("a.otf2", &error), 0);
    make_archive("b.otf2");
    ck_assert_int_eq(archive_folder_check("b.otf2", &error), 0);
    refuse("no/a.otf2", "there is no folder no");
}
END_TEST

/* A file, a link, a folder of something else, and an archive in which somebody has put something. */
START_TEST(what_may_not)
{
    make_file(".", "file.otf2");
    refuse("file.otf2", "is no OTF2 archive of an earlier run");
    make_archive("a.otf2");
    ck_assert_int_eq(symlink("a.otf2", "link.otf2"), 0);
    refuse("link.otf2", "is no OTF2 archive");
    make_folder(".", "b.otf2");
    make_file("b.otf2", "thesis.tex");
    refuse("b.otf2", "accepted: another name");
    make_file("a.otf2", "profile.cubex");
    refuse("a.otf2", "is no OTF2 archive");
    make_archive("c.otf2");
    make_file("c.otf2", "traces/notes");
    refuse("c.otf2", "is no OTF2 archive");
    make_archive("d.otf2");
    make_folder("d.otf2", "traces/1.evt");
    refuse("d.otf2", "is no OTF2 archive");
}
END_TEST

START_TEST(an_archive_is_removed_and_nothing_else)
{
    make_archive("a.otf2");
    ck_assert_int_eq(archive_folder_remove("a.otf2", &error), 0);
    ck_assert_int_lt(access("a.otf2", F_OK), 0);
    ck_assert_int_eq(archive_folder_remove("a.otf2", &error), 0);
    make_archive("b.otf2");
    make_file("b.otf2", "notes");
    ck_assert_int_lt(archive_folder_remove("b.otf2", &error), 0);
    ck_assert_ptr_nonnull(strstr(error.text, "b.otf2: it is there, and is not what a trace leaves"));
    ck_assert(has("b.otf2", "notes") && has("b.otf2", "traces.otf2") && has("b.otf2", "traces/0.evt"));
    make_folder(".", "away");
    make_file("away", "0.evt");
    make_folder(".", "c.otf2");
    ck_assert_int_eq(symlink("../away", "c.otf2/traces"), 0);
    ck_assert_int_lt(archive_folder_remove("c.otf2", &error), 0);
    ck_assert(has("away", "0.evt"));
}
END_TEST

START_TEST(an_archive_takes_the_place_of_another)
{
    make_archive("a.otf2.part");
    ck_assert_int_eq(archive_folder_place("a.otf2.part", "a.otf2", &error), 0);
    ck_assert(has("a.otf2", "traces/0.evt"));
    make_archive("a.otf2.part");
    make_file("a.otf2.part", "traces/7.evt");
    make_archive("a.otf2.old.part"); /* of a process that was killed */
    ck_assert_int_eq(archive_folder_place("a.otf2.part", "a.otf2", &error), 0);
    ck_assert(has("a.otf2", "traces/7.evt") && !has(".", "a.otf2.part") && !has(".", "a.otf2.old.part"));
    make_archive("a.otf2.part");
    make_file("a.otf2", "notes"); /* somebody has put it there while the run went on */
    ck_assert_int_lt(archive_folder_place("a.otf2.part", "a.otf2", &error), 0);
    ck_assert(has("a.otf2", "notes") && has("a.otf2", "traces/7.evt") && has("a.otf2.part", "traces.otf2"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("the folder of a trace");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, enter, leave);
    tcase_add_test(all, what_may_be_there);
    tcase_add_test(all, what_may_not);
    tcase_add_test(all, an_archive_is_removed_and_nothing_else);
    tcase_add_test(all, an_archive_takes_the_place_of_another);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
