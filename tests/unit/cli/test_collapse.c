/* SPDX-License-Identifier: MIT */
/* hdss collapse: results of the kernel evrard read back, right and wrong files. */
#include "common/util/error.h"
#include "deploy/cli/collapse_file.h"
#include "hdss/kernel.h"
#include "tests/kernels/evrard.h"
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"
#include "worker/kernels/evrard/record.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static char path[] = "/tmp/hdss-collapse-XXXXXX";

static void set_up(void)
{
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void tear_down(void)
{
    unlink(path);
}

static void write_header(FILE *file, const char *shape)
{
    char header[119];
    memset(header, ' ', sizeof header);
    header[sizeof header - 1] = '\n';
    int length =
        snprintf(header, sizeof header - 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", shape);
    header[length] = ' ';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fwrite(header, 1, 118, file);
}

/* The results of a real run of four steps, of which the last `lost` records are not there or not computed. */
static void write_run(const char *shape, const char *scheduled, bool is_cut, size_t lost)
{
    struct evrard_run run;
    char line[HDSS_ERROR_MAX] = "";
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    write_header(file, shape);
    evrard_begin(&run, 1, 100, WORDS("particles=100", "steps=4", "end_time=0.1", scheduled));
    for (uint64_t loop = 0; loop < run.loops; loop++) {
        double *records = (double *)evrard_loop(&run, loop, line);
        ck_assert_ptr_nonnull(records);
        size_t whole = loop + 1 < run.loops ? 100 : 100 - lost;
        memset(records + whole * EVRARD_FIELDS, 0, (100 - whole) * EVRARD_FIELDS * sizeof *records);
        fwrite(records, sizeof *records, (is_cut ? whole : 100) * EVRARD_FIELDS, file);
    }
    evrard_end(&run);
    fclose(file);
}

START_TEST(the_states_of_either_shape_are_found)
{
    struct collapse_file file;
    struct error error;
    write_run(_i == 0 ? "4, 2, 100, 10" : "4, 100, 10", _i == 0 ? "scheduled=all" : "scheduled=gravity", false, 0);
    ck_assert_msg(collapse_file_init(&file, path, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(file.steps, 4);
    ck_assert_uint_eq(file.particles, 100);
    ck_assert_double_eq_tol(file.time_step, 0.025, 1e-9);
    ck_assert_double_eq_tol(collapse_file_time(&file, 3), 0.0875, 1e-9);
    for (uint64_t step = 0; step < 4; step++) {
        ck_assert_int_eq(collapse_file_read(&file, step, &error), 0);
        struct collapse_energy energy = collapse_file_energy(&file);
        double time = collapse_file_time(&file, step); /* falling freely from rest, g is near 1 */
        ck_assert_double_eq_tol(energy.internal, 0.05, 1e-3);
        ck_assert_double_eq_tol(energy.kinetic, 0.35 * time * time, 0.15 * time * time);
        ck_assert_double_eq_tol(energy.potential, -2.0 / 3, 0.1);
        ck_assert_double_eq_tol(energy.total, energy.kinetic + energy.internal + energy.potential, 1e-15);
    }
    collapse_file_fini(&file);
}
END_TEST

START_TEST(a_run_that_ended_early_is_read_up_to_there)
{
    struct collapse_file file;
    struct error error;
    write_run("4, 100, 10", "scheduled=gravity", false, 30);
    ck_assert_int_eq(collapse_file_init(&file, path, &error), 0);
    ck_assert_int_eq(collapse_file_read(&file, 2, &error), 0);
    ck_assert_int_eq(collapse_file_read(&file, 3, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "step 3 of 4 is not complete, from particle 70 on"));
    collapse_file_fini(&file);
}
END_TEST

static void refuse(const char *part)
{
    struct collapse_file file;
    struct error error = {""};
    ck_assert_int_eq(collapse_file_init(&file, path, &error), -1);
    ck_assert_msg(strstr(error.text, part) != NULL && strstr(error.text, path) != NULL, "%s", error.text);
}

static void write_text(const char *shape, size_t bytes)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    write_header(file, shape);
    for (size_t i = 0; i < bytes; i++)
        putc(0, file);
    fclose(file);
}

START_TEST(other_files_are_refused)
{
    refuse("no result of the kernel evrard");
    const char *const shapes[] = {"7",
                                  "3, 10",
                                  "4, 100, 9",
                                  "4, 3, 100, 10",
                                  "4, 2, 2, 100, 10",
                                  "0, 100, 10",
                                  "-4, 100, 10",
                                  "4, 100,",
                                  "18446744073709551615, 100, 10",
                                  "4, 99999999999999999999, 10",
                                  "x"};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        write_text(shapes[k], 4 * 100 * 10 * 8);
        refuse("no result of the kernel evrard");
    }
    write_text("1, 100, 10", 100 * 10 * 8);
    refuse("has one step");
    write_text("4, 100, 10", 4 * 100 * 10 * 8);
    refuse("step 0 of 4 is not complete, from particle 0 on");
    write_run("4, 100, 10", "scheduled=gravity", true, 1);
    refuse("is cut off");
    unlink(path);
    refuse("No such file");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli-collapse");
    TCase *tcase = tcase_create("cli-collapse");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, the_states_of_either_shape_are_found, 0, 2);
    tcase_add_test(tcase, a_run_that_ended_early_is_read_up_to_there);
    tcase_add_test(tcase, other_files_are_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
