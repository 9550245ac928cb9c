/* SPDX-License-Identifier: MIT */
/* The checksums of small loops, which are the same on every machine (of little-endian ones, as the bytes of numbers go
 * into them). They were taken on x86-64 and hold on aarch64.
 *
 * Meson builds this test twice: with the kernels as they are, and with VECTORS_PORTABLE, which is all that a machine
 * other than x86-64 has of the vector code. So that code is tested on x86-64, too. */
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"
#include "worker/kernels/adjoint.h"
#include "worker/kernels/escape.h"

#include <inttypes.h>

static const struct {
    const char *kernel, *words[4];
    uint64_t checksum;
} loops[] = {
    {"adjoint", {"n=45", "x=-3.25", "seed=5"}, 0x979569c8b2f945f1},
    {"mandelbrot", {"width=200", "height=150"}, 0xa2d94b35bd58b401},
    {"mandelbrot", {"width=200", "height=150", "exponent=4"}, 0x10a22cddc78f2d1c},
};

enum { LOOPS = sizeof loops / sizeof *loops, CHUNK = 7 };

START_TEST(a_loop_has_its_checksum)
{
    uint64_t checksum = kernel_run_checksum(loops[_i].kernel, loops[_i].words, CHUNK, 0);
    ck_assert_msg(checksum == loops[_i].checksum, "%s: %016" PRIx64, loops[_i].kernel, checksum);
}
END_TEST

#ifdef VECTORS_PORTABLE
START_TEST(nothing_but_the_portable_code_is_there)
{
    size_t escapes, adjoints;
    ck_assert_str_eq(escape_variants(&escapes)->name, "base");
    ck_assert_str_eq(adjoint_variants(&adjoints)->name, "base");
    ck_assert(escapes == 1 && adjoints == 1);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("checksums");
    TCase *tcase = tcase_create("checksums");
    tcase_add_loop_test(tcase, a_loop_has_its_checksum, 0, LOOPS);
#ifdef VECTORS_PORTABLE
    tcase_add_test(tcase, nothing_but_the_portable_code_is_there);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
