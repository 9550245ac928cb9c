/* SPDX-License-Identifier: MIT */
/* Measuring the load of a core: the text of the system, what is made of it, and when it is read. */
#include "common/os/clock.h"
#include "common/os/load.h"
#include "common/util/error.h"
#include "proto/message.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-load-XXXXXX";

/* A folder of two threads, of which the one has waited so long. */
static void write_thread(const char *thread, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, thread);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/schedstat", folder, thread);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void write_waited(uint64_t wait_ns)
{
    char text[100];
    snprintf(text, sizeof text, "5000000 %llu 17\n", (unsigned long long)wait_ns);
    write_thread("11", "1 1000000 2\n");
    write_thread("12", text);
}

static void setup(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_waited(0);
}

static void teardown(void)
{
    char path[200];
    for (unsigned thread = 11; thread <= 12; thread++) {
        snprintf(path, sizeof path, "%s/%u/schedstat", folder, thread);
        unlink(path);
        snprintf(path, sizeof path, "%s/%u", folder, thread);
        rmdir(path);
    }
    rmdir(folder);
}

static void run_for(uint64_t ns)
{
    uint64_t until_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;
    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)
        ;
}

START_TEST(the_text_is_three_numbers)
{
    static const char *const bad[] = {"", "\n", "1 2", "1 2 x", "1 2 3 4", "1 2 3x", "run 2 3", "1,2,3"};
    struct load_times times;
    ck_assert_int_eq(load_parse("921204 12480225 3\n", &times), 0);
    ck_assert_uint_eq(times.run_ns, 921204);
    ck_assert_uint_eq(times.wait_ns, 12480225);
    ck_assert_int_eq(load_parse("18446744073709551615 0 0", &times), 0);
    ck_assert_uint_eq(times.run_ns, UINT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(load_parse(bad[i], &times) == -1, "'%s'", bad[i]);
}
END_TEST

START_TEST(a_load_is_one_and_wait_over_run)
{
    ck_assert(load_of(&(struct load_times){100, 100}) == 2);
    ck_assert(load_of(&(struct load_times){200, 100}) == 1.5);
    ck_assert(load_of(&(struct load_times){100, 300}) == 4);
    ck_assert(load_of(&(struct load_times){100, 0}) == 1);
    ck_assert(load_of(&(struct load_times){100, 4}) == 1); /* noise */
    ck_assert(load_of(&(struct load_times){0, 100}) == 1); /* it did not run: nothing is known */
    ck_assert_uint_eq(load_to_wire(1), LOAD_ONE);
    ck_assert_uint_eq(load_to_wire(2.5), 640);
    ck_assert_uint_eq(load_to_wire(1e9), UINT16_MAX);
}
END_TEST

START_TEST(the_waiting_of_all_threads_counts)
{
    struct load_times times;
    write_waited(7000000);
    ck_assert_int_eq(load_read(folder, &times), 0);
    ck_assert_uint_eq(times.wait_ns, 8000000);
    ck_assert_uint_gt(times.run_ns, 0);
    write_thread("12", "nonsense"); /* it ends at this moment */
    ck_assert_int_eq(load_read(folder, &times), 0);
    ck_assert_uint_eq(times.wait_ns, 1000000);
}
END_TEST

START_TEST(a_system_that_tells_nothing_is_refused)
{
    struct load_meter meter;
    struct error error;
    ck_assert_int_eq(load_meter_init(&meter, "/nowhere", &error), -1);
    ck_assert_str_eq(error.text, "--weighting acp: this system does not tell how long a process waits for its core "
                                 "(/nowhere/*/schedstat); accepted are none, power");
    write_thread("11", "0 0 0\n");
    write_thread("12", "0 0 0\n");
    ck_assert_int_eq(load_meter_init(&meter, folder, &error), -1);
}
END_TEST

/* Computes from now on for so long, in which the process has waited for so long. */
static bool look_after(struct load_meter *meter, uint64_t run_ns, uint64_t waited_ns)
{
    run_for(run_ns);
    write_waited(waited_ns);
    return load_meter_look(meter, meter->began_ns + LOAD_PERIOD_NS);
}

START_TEST(a_long_stretch_is_read_now_and_then)
{
    struct load_meter meter;
    struct error error;
    ck_assert_int_eq(load_meter_init(&meter, folder, &error), 0);
    ck_assert(meter.load == 1);
    ck_assert(!load_meter_look(&meter, 1));
    ck_assert_uint_gt(meter.began_ns, 0);
    write_waited(1000000000);
    ck_assert(!load_meter_look(&meter, meter.began_ns + LOAD_PERIOD_NS - 1)); /* too soon to be read */
    ck_assert(look_after(&meter, 1000000, 1000000000));
    ck_assert_double_gt(meter.load, 2);
    uint64_t run_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    ck_assert(look_after(&meter, 50000000, 1100000000));
    run_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - run_ns;
    ck_assert_double_eq_tol(meter.load, 1 + 1e8 / (double)run_ns, 0.3);
    ck_assert(look_after(&meter, 50000000, 1100000000)); /* nobody competes any more */
    ck_assert(meter.load == 1);
    ck_assert(!look_after(&meter, 50000000, 1100000000)); /* the same */
}
END_TEST

START_TEST(idling_is_no_load)
{
    struct load_meter meter;
    struct error error;
    ck_assert_int_eq(load_meter_init(&meter, folder, &error), 0);
    load_meter_pause(&meter); /* before it has begun */
    load_meter_look(&meter, 1);
    run_for(1000000);
    load_meter_pause(&meter);
    write_waited(5000000000);                              /* while it polls and yields */
    ck_assert(!load_meter_look(&meter, meter.due_ns - 1)); /* the next stretch is not to be measured yet */
    ck_assert_uint_eq(meter.began_ns, 0);
    ck_assert(!load_meter_look(&meter, meter.due_ns));
    ck_assert(!look_after(&meter, 60000000, 5000000000));
    ck_assert(meter.load == 1);
}
END_TEST

START_TEST(short_stretches_add_up)
{
    struct load_meter meter;
    struct error error;
    uint64_t waited_ns = 0;
    bool changed = false;
    ck_assert_int_eq(load_meter_init(&meter, folder, &error), 0);
    for (unsigned i = 0; i < 100 && !changed; i++) {
        load_meter_look(&meter, meter.due_ns);
        run_for(1000000);
        write_waited(waited_ns += 1000000);
        load_meter_pause(&meter);
        write_waited(waited_ns += 9000000); /* which it idles */
        changed = load_meter_look(&meter, meter.due_ns);
    }
    ck_assert(changed);
    ck_assert_double_gt(meter.load, 1.3);
    ck_assert_double_lt(meter.load, 2.1);
}
END_TEST

START_TEST(a_thread_that_has_ended_is_forgotten)
{
    struct load_meter meter;
    struct error error;
    write_waited(900000000);
    ck_assert_int_eq(load_meter_init(&meter, folder, &error), 0);
    load_meter_look(&meter, 1);
    ck_assert(!look_after(&meter, 60000000, 0));
    ck_assert(meter.load == 1);
}
END_TEST

START_TEST(this_system_tells)
{
    struct load_meter meter;
    struct error error;
    ck_assert_int_eq(load_meter_init(&meter, LOAD_FOLDER, &error), 0);
    load_meter_settle(&meter);
    ck_assert_double_ge(meter.load, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("load");
    TCase *all = tcase_create("load");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, the_text_is_three_numbers);
    tcase_add_test(all, a_load_is_one_and_wait_over_run);
    tcase_add_test(all, the_waiting_of_all_threads_counts);
    tcase_add_test(all, a_system_that_tells_nothing_is_refused);
    tcase_add_test(all, a_long_stretch_is_read_now_and_then);
    tcase_add_test(all, idling_is_no_load);
    tcase_add_test(all, short_stretches_add_up);
    tcase_add_test(all, a_thread_that_has_ended_is_forgotten);
    struct load_times times;
    if (load_read(LOAD_FOLDER, &times) == 0)
        tcase_add_test(all, this_system_tells);
    else
        printf("# left out: this system does not tell how long a process waits\n");
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
