/* SPDX-License-Identifier: MIT */
/* What a build without munge says at either end. */
#include "common/stream/credential.h"
#include "tests/lib/suite.h"

#include <string.h>

START_TEST(without_munge_there_is_one_line_at_each_end)
{
    unsigned char key[STREAM_KEY_BYTES];
    char text[CREDENTIAL_MAX + 1];
    struct error error = {""};
    ck_assert_int_eq(credential_make(key, text, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "this build has no munge"));
    ck_assert_ptr_nonnull(strstr(error.text, "libmunge-dev"));
    ck_assert_ptr_nonnull(strstr(error.text, "-Dmunge=disabled"));
    ck_assert_int_eq(credential_open("MUNGE:x:", key, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "this build has no munge"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("no-munge");
    TCase *all = tcase_create("no-munge");
    tcase_add_test(all, without_munge_there_is_one_line_at_each_end);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
