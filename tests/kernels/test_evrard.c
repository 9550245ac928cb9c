/* SPDX-License-Identifier: MIT */
/* evrard: the course of a whole collapse, what it conserves, and that neither who computes what nor which loops are
 * scheduled changes a bit of it; what is refused. */
#include "common/util/error.h"
#include "deploy/examples/kernels/papers/evrard/record.h"
#include "hdss/kernel.h"
#include "tests/kernels/evrard.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <pthread.h>

/* --- the collapse --- */

/* Of a run up to the time 3, as Evrard (1988), Hernquist and Katz (1989) and Steinmetz and Mueller (1993) show it: the
 * fall makes kinetic energy, which the bounce turns into heat; the potential is deepest when it is hottest. */
START_TEST(the_collapse_has_the_published_course)
{
    struct evrard_run run;
    char line[HDSS_ERROR_MAX] = "";
    const double time_step = 3.0 / 150;
    double fastest = 0, hottest = 0, deepest = 0, fastest_at = 0, hottest_at = 0, deepest_at = 0, total = 0;
    evrard_begin(&run, 1, 64, WORDS("particles=500", "steps=150", "end_time=3"));
    for (uint64_t loop = 0; loop < run.loops; loop++) {
        const double *records = evrard_loop(&run, loop, line);
        ck_assert_msg(records != NULL, "%s", line);
        if (loop % 2 == 0)
            continue;
        double time = ((double)(loop / 2) + 0.5) * time_step;
        struct evrard_energy energy = evrard_energy_of(records, run.particles);
        double sum = energy.kinetic + energy.internal + energy.potential;
        total = loop == 1 ? sum : total;
        ck_assert_double_eq_tol(sum, total, 0.01 * fabs(total));
        for (int k = 0; k < 3; k++)
            ck_assert_double_lt(fabs(energy.momentum[k]), 2e-3);
        fastest_at = energy.kinetic > fastest ? time : fastest_at;
        hottest_at = energy.internal > hottest ? time : hottest_at;
        deepest_at = energy.potential < deepest ? time : deepest_at;
        fastest = fmax(fastest, energy.kinetic);
        hottest = fmax(hottest, energy.internal);
        deepest = fmin(deepest, energy.potential);
    }
    evrard_end(&run);
    ck_assert_double_eq_tol(total, -2.0 / 3 + 0.05, 0.02);
    ck_assert(fastest_at > 0.75 && fastest_at < 1);
    ck_assert(hottest_at > 1 && hottest_at < 1.4);
    ck_assert(deepest_at > 1 && deepest_at < 1.4);
    ck_assert(fastest > 0.18 && fastest < 0.6);
    ck_assert(hottest > 1 && hottest < 1.6);
    ck_assert(deepest < -1.6 && deepest > -2.4);
}
END_TEST

/* What describe() accepts goes well. */
START_TEST(the_fewest_steps_that_are_accepted_keep_the_energy)
{
    static const char *const words[][4] = {{"particles=100", "steps=58", "scheduled=gravity"},
                                           {"particles=300", "steps=110", "neighbours=58"},
                                           {"particles=300", "steps=125", "neighbours=45"}};
    struct evrard_run run;
    char line[HDSS_ERROR_MAX] = "";
    double total = 0;
    evrard_begin(&run, 1, 64, words[_i]);
    for (uint64_t loop = 0; loop < run.loops; loop++) {
        const double *records = evrard_loop(&run, loop, line);
        ck_assert_msg(records != NULL, "%s", line);
        if (run.workers[0].loop.dims == 4 && loop % 2 == 0)
            continue;
        struct evrard_energy energy = evrard_energy_of(records, run.particles);
        double sum = energy.kinetic + energy.internal + energy.potential;
        total = loop < 2 ? sum : total;
        ck_assert_double_eq_tol(sum, total, 0.01 * fabs(total));
    }
    evrard_end(&run);
}
END_TEST

/* --- who computes --- */

enum { LOOPS = 12 };

/* The records of the first loops, one after another; the caller frees them. */
static double *first_loops(unsigned workers, uint64_t chunk, const char *scheduled, unsigned *particles)
{
    struct evrard_run run;
    char line[HDSS_ERROR_MAX] = "";
    evrard_begin(&run, workers, chunk, WORDS("particles=300", "steps=12", "end_time=0.45", scheduled));
    size_t size = run.particles * EVRARD_FIELDS;
    double *all = calloc(LOOPS * size, sizeof *all);
    ck_assert_ptr_nonnull(all);
    for (uint64_t loop = 0; loop < LOOPS; loop++) {
        const double *records = evrard_loop(&run, loop, line);
        ck_assert_msg(records != NULL, "%s", line);
        memcpy(all + loop * size, records, size * sizeof *all);
    }
    *particles = (unsigned)run.particles;
    evrard_end(&run);
    return all;
}

START_TEST(it_does_not_matter_who_computes_what)
{
    const struct {
        unsigned workers;
        uint64_t chunk;
    } cuts[] = {{1, 300}, {2, 1}, {3, 17}, {4, 60}};
    unsigned particles;
    double *whole = first_loops(1, 300, "scheduled=all", &particles);
    double *cut = first_loops(cuts[_i].workers, cuts[_i].chunk, "scheduled=all", &particles);
    ck_assert_mem_eq(cut, whole, sizeof *whole * LOOPS * particles * EVRARD_FIELDS);
    free(whole);
    free(cut);
}
END_TEST

START_TEST(gravity_alone_yields_the_same_states)
{
    unsigned particles;
    double *both = first_loops(2, 40, "scheduled=all", &particles);
    double *gravity = first_loops(3, 50, "scheduled=gravity", &particles);
    size_t size = (size_t)particles * EVRARD_FIELDS;
    for (size_t loop = 0; loop < LOOPS / 2; loop++)
        ck_assert_mem_eq(gravity + loop * size, both + (2 * loop + 1) * size, sizeof *both * size);
    free(both);
    free(gravity);
}
END_TEST

/* --- threads of one worker --- */

struct half {
    struct kernel_run *run;
    uint64_t first, count;
    double *records;
};

static void *run_half(void *argument)
{
    const struct half *half = argument;
    kernel_run_range(half->run, half->first, half->count, half->records);
    return NULL;
}

/* Two loops, each by two threads at the same time, and by one. */
START_TEST(threads_can_share_an_instance)
{
    struct evrard_run run;
    char line[HDSS_ERROR_MAX] = "";
    evrard_begin(&run, 1, 300, WORDS("particles=300", "steps=12", "end_time=0.45"));
    ck_assert_int_eq(run.workers[0].kernel->threads, HDSS_THREADS_SHARE);
    double *shared = kernel_run_room(&run.workers[0], 300);
    for (uint64_t loop = 0; loop < 2; loop++) {
        const double *alone = evrard_loop(&run, loop, line);
        ck_assert_ptr_nonnull(alone);
        struct half low = {&run.workers[0], loop * 300, 150, shared};
        struct half high = {&run.workers[0], loop * 300 + 150, 150, shared + 150 * EVRARD_FIELDS};
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, run_half, &low), 0);
        run_half(&high);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_mem_eq(shared, alone, 300 * EVRARD_FIELDS * sizeof *shared);
    }
    free(shared);
    evrard_end(&run);
}
END_TEST

/* The places are those of the velocities: x at n + 1 minus x at n is the velocity half between. */
START_TEST(the_records_fit_together)
{
    unsigned particles;
    double *states = first_loops(1, 300, "scheduled=gravity", &particles);
    const size_t size = (size_t)particles * EVRARD_FIELDS;
    for (size_t loop = 1; loop < LOOPS; loop++)
        for (size_t i = 0; i < particles; i++) {
            const double *before = states + (loop - 1) * size + i * EVRARD_FIELDS, *after = before + size;
            for (int k = 0; k < 3; k++)
                ck_assert_double_eq_tol((after[k] - before[k]) / (0.45 / 12), (before[3 + k] + after[3 + k]) / 2, 0.02);
        }
    free(states);
}
END_TEST

/* --- what it takes and says --- */

START_TEST(the_loop_is_as_long_as_its_parameters_say)
{
    struct kernel_run run;
    struct error error;
    ck_assert_int_eq(kernel_run_describe(&run, "evrard", WORDS("particles=400", "steps=200"), &error), 0);
    ck_assert_uint_eq(run.loop.iterations, 400 * 200 * 2);
    ck_assert_uint_eq(run.loop.steps, 400);
    ck_assert_uint_eq(run.loop.dims, 4);
    ck_assert_mem_eq(run.loop.shape, ((uint64_t[]){200, 2, 400, 10}), sizeof run.loop.shape);
    ck_assert_int_eq(
        kernel_run_describe(&run, "evrard", WORDS("particles=400", "steps=200", "scheduled=gravity"), &error), 0);
    ck_assert_uint_eq(run.loop.iterations, 400 * 200);
    ck_assert_uint_eq(run.loop.steps, 200);
    ck_assert_uint_eq(run.loop.dims, 3);
    ck_assert_mem_eq(run.loop.shape, ((uint64_t[]){200, 400, 10}), 3 * sizeof *run.loop.shape);
}
END_TEST

static void refuse(const char *const *words, const char *what, const char *accepted)
{
    struct kernel_run run;
    struct error error = {""};
    ck_assert_int_eq(kernel_run_describe(&run, "evrard", words, &error), -1);
    ck_assert_msg(strstr(error.text, what) != NULL && strstr(error.text, accepted) != NULL, "%s", error.text);
}

START_TEST(bad_parameters_are_refused)
{
    refuse(WORDS("steps=0"), "steps=0", "from 1 to");
    refuse(WORDS("particles=0"), "particles=0", "from 100 to 1e6");
    refuse(WORDS("particles=2000000"), "particles=2000000", "from 100 to 1e6");
    refuse(WORDS("theta=1.6"), "theta=1.6", "from 0 to 1.5");
    refuse(WORDS("theta=-0.1"), "theta=-0.1", "from 0 to 1.5");
    refuse(WORDS("theta=nan"), "theta=nan", "from 0 to 1.5");
    refuse(WORDS("end_time=0"), "end_time=0", "to 100");
    refuse(WORDS("scheduled=density"), "scheduled=density", "one of all, gravity");
}
END_TEST

/* Where it can be known before the run. */
START_TEST(too_few_steps_are_refused)
{
    struct kernel_run run;
    struct error error;
    refuse(WORDS("particles=10000", "steps=50"), "steps=50", "accepted: from 851 on, or end_time= up to 0.417");
    refuse(WORDS("particles=10000", "steps=850"), "steps=850", "accepted: from 851 on");
    ck_assert_int_eq(kernel_run_describe(&run, "evrard", WORDS("particles=10000", "steps=851"), &error), 0);
    ck_assert_int_eq(kernel_run_describe(&run, "evrard", WORDS("particles=10000", "steps=4", "end_time=0.05"), &error),
                     0);
}
END_TEST

/* Nor does it help to ask again. */
START_TEST(a_step_that_is_too_long_ends_the_run_with_a_line)
{
    struct evrard_run run;
    char line[HDSS_ERROR_MAX] = "";
    uint64_t loop = 0;
    evrard_begin(&run, 1, 300, WORDS("particles=300", "steps=120", "end_time=3"));
    ck_assert_str_eq(run.workers[0].kernel->params[1].name, "steps");
    kernel_run_close(&run.workers[0]);
    run.workers[0].values[1].integer = 20;
    ck_assert_int_eq(run.workers[0].kernel->open(run.workers[0].values, &run.workers[0].loop, &(struct hdss_worker){0},
                                                 &run.workers[0].instance, line),
                     0);
    while (evrard_loop(&run, loop, line) != NULL)
        loop++;
    ck_assert_uint_gt(loop, 2);
    ck_assert_uint_lt(loop, 20);
    ck_assert_msg(strstr(line, "steps of 0.15 are too long") != NULL && strstr(line, "steps=") != NULL, "%s", line);
    ck_assert_ptr_null(evrard_loop(&run, loop, line));
    evrard_end(&run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evrard");
    TCase *tcase = tcase_create("evrard");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_collapse_has_the_published_course);
    tcase_add_loop_test(tcase, the_fewest_steps_that_are_accepted_keep_the_energy, 0, 3);
    tcase_add_loop_test(tcase, it_does_not_matter_who_computes_what, 0, 4);
    tcase_add_test(tcase, gravity_alone_yields_the_same_states);
    tcase_add_test(tcase, threads_can_share_an_instance);
    tcase_add_test(tcase, the_records_fit_together);
    tcase_add_test(tcase, the_loop_is_as_long_as_its_parameters_say);
    tcase_add_test(tcase, bad_parameters_are_refused);
    tcase_add_test(tcase, too_few_steps_are_refused);
    tcase_add_test(tcase, a_step_that_is_too_long_ends_the_run_with_a_line);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
