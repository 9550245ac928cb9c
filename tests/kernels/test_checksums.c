/* SPDX-License-Identifier: MIT */
/* The checksums of small loops, which are the same on every machine (of little-endian ones, as the bytes of numbers go
 * into them). They were taken on x86-64 and hold on aarch64.
 *
 * Meson builds this test twice: with the kernels as they are, and with VECTORS_PORTABLE, which is all that a machine
 * other than x86-64 has of the vector code. So that code is tested on x86-64, too. */
#include "common/util/digest.h"
#include "hdss/kernel.h"
#include "tests/kernels/evrard.h"
#include "tests/lib/suite.h"
#include "worker/kernels/adjoint.h"
#include "worker/kernels/escape.h"
#include "worker/kernels/evrard/record.h"
#include "worker/kernels/spin.h"

#include <inttypes.h>

static const struct {
    const char *kernel, *words[4];
    uint64_t checksum;
} loops[] = {
    {"adjoint", {"n=45", "x=-3.25", "seed=5"}, 0x979569c8b2f945f1},
    {"floyd-steinberg", {"width=301", "height=170"}, 0x33e016a54175aad0},
    {"hydro", {"l=60", "k=200"}, 0xe3d53c66b7a43dd0},
    {"mandelbrot", {"width=200", "height=150"}, 0xa2d94b35bd58b401},
    {"mandelbrot", {"width=200", "height=150", "exponent=4"}, 0x10a22cddc78f2d1c},
    {"spinimage", {"points=20000", "images=60"}, 0xa4948f27057905d4},
};

enum { LOOPS = sizeof loops / sizeof *loops, CHUNK = 7, INTERVAL = 31 };

START_TEST(a_loop_has_its_checksum)
{
    struct kernel_run run;
    kernel_run_open(&run, loops[_i].kernel, loops[_i].words);
    void *records = run.loop.sync > 0 ? kernel_run_blocks(&run, CHUNK, INTERVAL) : kernel_run_all(&run, CHUNK);
    uint64_t checksum = digest_records(0, run.loop.iterations, records, hdss_record_size(&run.loop));
    ck_assert_msg(checksum == loops[_i].checksum, "%s: %016" PRIx64, loops[_i].kernel, checksum);
    free(records);
    kernel_run_close(&run);
}
END_TEST

START_TEST(time_steps_have_their_checksum)
{
    struct evrard_run run;
    char line[HDSS_ERROR_MAX] = "";
    uint64_t checksum = 0;
    evrard_begin(&run, 1, CHUNK, WORDS("particles=300", "steps=20", "end_time=0.75"));
    for (uint64_t loop = 0; loop < run.loops; loop++) {
        const double *records = evrard_loop(&run, loop, line);
        ck_assert_msg(records != NULL, "%s", line);
        checksum += digest_records(loop * run.particles, run.particles, records, EVRARD_FIELDS * sizeof *records);
    }
    ck_assert_msg(checksum == 0xb2506b0bbc24f1b5, "%016" PRIx64, checksum);
    evrard_end(&run);
}
END_TEST

#ifdef VECTORS_PORTABLE
START_TEST(nothing_but_the_portable_code_is_there)
{
    size_t escapes, adjoints, spins;
    ck_assert_str_eq(escape_variants(&escapes)->name, "base");
    ck_assert_str_eq(adjoint_variants(&adjoints)->name, "base");
    ck_assert_str_eq(spin_variants(&spins)->name, "base");
    ck_assert(escapes == 1 && adjoints == 1 && spins == 1);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("checksums");
    TCase *tcase = tcase_create("checksums");
    tcase_add_loop_test(tcase, a_loop_has_its_checksum, 0, LOOPS);
    tcase_add_test(tcase, time_steps_have_their_checksum);
#ifdef VECTORS_PORTABLE
    tcase_add_test(tcase, nothing_but_the_portable_code_is_there);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
