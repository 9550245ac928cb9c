/* SPDX-License-Identifier: MIT */
/* The registry, and what holds for every kernel in it. */
#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"
#include "worker/kernels/exec/exec.h"
#include "worker/kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(names_are_sorted_and_found)
{
    size_t count;
    const struct hdss_kernel *const *all = kernels(&count);
    ck_assert_uint_ge(count, 3);
    for (size_t i = 0; i < count; i++) {
        ck_assert_ptr_eq(kernel_find(all[i]->name), all[i]);
        ck_assert(i == 0 || strcmp(all[i - 1]->name, all[i]->name) < 0);
    }
    ck_assert_ptr_null(kernel_find("mandel"));
    ck_assert_ptr_null(kernel_find(""));
}
END_TEST

static void refuse(const char *name, const char *expected)
{
    const struct hdss_kernel *kernel;
    struct error error;
    ck_assert_int_eq(kernel_named(name, &kernel, &error), -1);
    ck_assert_str_eq(error.text, expected);
}

START_TEST(an_unknown_name_lists_the_known_ones)
{
    if (kernel_find("evrard") == NULL) /* a build without */
        return;
    refuse("foo",
           "unknown kernel 'foo'; accepted: adjoint, evrard, exec, floyd-steinberg, hydro, mandelbrot, spinimage, "
           "synthetic");
    refuse("mandlebrot", "unknown kernel 'mandlebrot'; did you mean mandelbrot? accepted: adjoint, evrard, exec, "
                         "floyd-steinberg, hydro, mandelbrot, spinimage, synthetic");
}
END_TEST

START_TEST(a_module_that_is_missing_is_named_with_its_build)
{
    setenv("HDSS_MODULES", "/absent", 1);
    refuse("foo", "unknown kernel 'foo'; accepted: adjoint, exec, mandelbrot, synthetic");
    refuse("hydro", "the kernel hydro is not installed: there is no hdss-hydro.so in /absent; needed: a build with "
                    "-Dresearch=enabled");
    ck_assert_ptr_null(kernel_find("hydro"));
    ck_assert_ptr_nonnull(kernel_find("synthetic"));
}
END_TEST

START_TEST(a_module_that_cannot_be_loaded_is_not_there)
{
    char folder[] = "/tmp/hdss-registry-XXXXXX", path[60], expected[300];
    struct error error;
    const struct hdss_kernel *kernel;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/hdss-hydro.so", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("no object", file);
    fclose(file);
    setenv("HDSS_MODULES", folder, 1);
    snprintf(expected, sizeof expected, "kernel %s: ", path);
    ck_assert_int_eq(kernel_load("hydro", &kernel, &error), -1);
    ck_assert_msg(strncmp(error.text, expected, strlen(expected)) == 0, "%s", error.text);
    refuse("foo", "unknown kernel 'foo'; accepted: adjoint, exec, mandelbrot, synthetic");
    unlink(path);
    rmdir(folder);
}
END_TEST

static void check_table(const struct hdss_kernel *kernel)
{
    char text[KERNEL_PARAM_TEXT_MAX];
    union hdss_value values[HDSS_PARAMS_MAX];
    struct error error = {""};
    ck_assert_msg(kernel_params_parse(kernel, 0, NULL, values, &error) == 0, "%s", error.text);
    for (unsigned i = 0; i < kernel_params_count(kernel); i++) {
        const struct hdss_param *param = &kernel->params[i];
        ck_assert_str_eq(kernel_param_text(param, values[i], text), param->fallback);
        ck_assert_uint_gt(strlen(param->summary), 0);
        ck_assert_ptr_nonnull(param->unit);
        ck_assert_int_eq(param->kind == HDSS_PARAM_CHOICE, param->choices != NULL);
    }
}

START_TEST(every_kernel_describes_a_loop_by_default)
{
    size_t count;
    const struct hdss_kernel *const *all = kernels(&count);
    for (size_t i = 0; i < count; i++) {
        struct kernel_run run;
        struct error error = {""};
        ck_assert_uint_eq(all[i]->abi, HDSS_KERNEL_ABI);
        check_table(all[i]);
        ck_assert_msg(kernel_check_table(all[i]->name, all[i], &error) == 0, "%s", error.text);
        ck_assert_msg(kernel_run_describe(&run, all[i]->name, (const char *const[]){NULL}, &error) == 0, "%s",
                      error.text);
        ck_assert(run.loop.iterations > 0 || all[i] == &exec_kernel); /* which must be told what to run */
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("registry");
    TCase *tcase = tcase_create("registry");
    tcase_add_test(tcase, names_are_sorted_and_found);
    tcase_add_test(tcase, an_unknown_name_lists_the_known_ones);
    tcase_add_test(tcase, a_module_that_is_missing_is_named_with_its_build);
    tcase_add_test(tcase, a_module_that_cannot_be_loaded_is_not_there);
    tcase_add_test(tcase, every_kernel_describes_a_loop_by_default);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
