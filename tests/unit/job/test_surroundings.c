/* SPDX-License-Identifier: MIT */
/* Surroundings of jobs: folder, umask and environment are the job's while they are entered, and the process's own
 * before and behind it. */
#include "common/job/surroundings.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const variables[] = {"OF_THE_JOB=yes", NULL};

static mode_t own_umask(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return mask;
}

START_TEST(they_are_there_while_they_are_entered)
{
    char folder[] = "/tmp/hdss-surroundings-XXXXXX", before[4096], there[4096], behind[4096];
    struct surroundings surroundings;
    struct surroundings_before own;
    struct error error;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    umask(022);
    ck_assert_int_eq(surroundings_open(&surroundings, folder, 077, (char *const *)variables, &error), 0);
    ck_assert_int_eq(surroundings_enter(&surroundings, &own, &error), 0);
    ck_assert_ptr_nonnull(getcwd(there, sizeof there));
    ck_assert_str_eq(there, folder);
    ck_assert_uint_eq(own_umask(), 077);
    ck_assert_str_eq(getenv("OF_THE_JOB"), "yes");
    ck_assert_ptr_null(getenv("PATH"));
    surroundings_leave(&own);
    ck_assert_ptr_nonnull(getcwd(behind, sizeof behind));
    ck_assert_str_eq(behind, before);
    ck_assert_uint_eq(own_umask(), 022);
    ck_assert_ptr_null(getenv("OF_THE_JOB"));
    ck_assert_ptr_nonnull(getenv("PATH"));
    surroundings_leave(&own); /* once is enough */
    surroundings_close(&surroundings);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* As user code does in between. */
START_TEST(what_is_changed_there_is_as_before)
{
    struct surroundings surroundings;
    struct surroundings_before own;
    struct error error;
    sigset_t blocked, now;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ck_assert_int_eq(surroundings_open(&surroundings, "/", 022, (char *const *)variables, &error), 0);
    ck_assert_int_eq(surroundings_enter(&surroundings, &own, &error), 0);
    fesetround(FE_UPWARD);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    surroundings_leave(&own);
    ck_assert_int_eq(fegetround(), FE_TONEAREST);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    ck_assert_int_eq(sigismember(&now, SIGUSR1), 0);
    surroundings_close(&surroundings);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_said)
{
    struct surroundings surroundings;
    struct surroundings_before own;
    struct error error = {""};
    ck_assert_int_eq(surroundings_open(&surroundings, "/no/such/folder", 0, (char *const *)variables, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "/no/such/folder"));
    ck_assert_int_eq(surroundings_enter(&surroundings, &own, &error), 0); /* there is nothing to enter */
    surroundings_leave(&own);
}
END_TEST

START_TEST(a_plain_run_has_none)
{
    const struct surroundings none = SURROUNDINGS_NONE;
    struct surroundings_before own;
    struct error error;
    char **const before = environ;
    ck_assert_int_eq(surroundings_enter(&none, &own, &error), 0);
    ck_assert_ptr_eq(environ, before);
    surroundings_leave(&own);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("surroundings");
    TCase *all = tcase_create("surroundings");
    tcase_add_test(all, they_are_there_while_they_are_entered);
    tcase_add_test(all, what_is_changed_there_is_as_before);
    tcase_add_test(all, a_folder_that_is_not_there_is_said);
    tcase_add_test(all, a_plain_run_has_none);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
