/* SPDX-License-Identifier: MIT */
/* The checksums of small loops of the papers' kernels, as test_checksums.c has those of the built-in ones. Meson runs
 * this test also with modules that have the portable vector code alone. */
#include "common/util/digest.h"
#include "deploy/examples/kernels/papers/evrard/record.h"
#include "deploy/examples/kernels/papers/spinimage/spin.h"
#include "hdss/kernel.h"
#include "tests/kernels/evrard.h"
#include "tests/lib/suite.h"

#include <inttypes.h>

static const struct {
    const char *kernel, *words[4];
    uint64_t checksum;
} loops[] = {
    {"floyd-steinberg", {"width=301", "height=170"}, 0x33e016a54175aad0},
    {"hydro", {"l=60", "k=200"}, 0xe3d53c66b7a43dd0},
    {"spinimage", {"points=20000", "images=60"}, 0xa4948f27057905d4},
};

enum { LOOPS = sizeof loops / sizeof *loops, CHUNK = 7, INTERVAL = 31 };

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

START_TEST(a_loop_has_its_checksum)
{
    uint64_t checksum = kernel_run_checksum(loops[_i].kernel, loops[_i].words, CHUNK, INTERVAL);
    ck_assert_msg(checksum == loops[_i].checksum, "%s: %016" PRIx64, loops[_i].kernel, checksum);
}
END_TEST

#ifdef VECTORS_PORTABLE
START_TEST(nothing_but_the_portable_code_is_there)
{
    size_t spins;
    ck_assert_str_eq(spin_variants(&spins)->name, "base");
    ck_assert_uint_eq(spins, 1);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("paper-checksums");
    TCase *tcase = tcase_create("paper-checksums");
    tcase_add_loop_test(tcase, a_loop_has_its_checksum, 0, LOOPS);
    tcase_add_test(tcase, time_steps_have_their_checksum);
#ifdef VECTORS_PORTABLE
    tcase_add_test(tcase, nothing_but_the_portable_code_is_there);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
