/* SPDX-License-Identifier: MIT */
/* What a build without libotf2 says of a trace that it cannot make. */
#include "common/trace/writer.h"
#include "tests/lib/suite.h"

#include <string.h>

START_TEST(an_archive_is_refused_in_one_line)
{
    struct error error;
    ck_assert_str_eq(trace_otf2.ending, ".otf2");
    ck_assert_int_lt(trace_otf2.check("a/run.otf2", &error), 0);
    ck_assert_str_eq(error.text, "a/run.otf2: this build has no libotf2; accepted: .csv or .pftrace, or a build with "
                                 "libotf2 (Debian: libopen-trace-format2-dev)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("a build without libotf2");
    TCase *all = tcase_create("all");
    tcase_add_test(all, an_archive_is_refused_in_one_line);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
