/* SPDX-License-Identifier: MIT */
/* Counters of energy in a folder that looks like that of a node: which of them count, what they add up to, how they
 * begin again, and where the energy is not known. */
#include "common/os/energy.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RANGE_UJ UINT64_C(262143328850)
#define SECOND   UINT64_C(1000000000)

static char folder[] = "/tmp/hdss-energy-XXXXXX";

static void write_energy_file(const char *counter, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, counter);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", folder, counter, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void set_energy(const char *counter, uint64_t uj)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, uj);
    write_energy_file(counter, "energy_uj", text);
}

static void add_counter(const char *counter, const char *name, uint64_t uj)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, RANGE_UJ);
    write_energy_file(counter, "name", name);
    write_energy_file(counter, "max_energy_range_uj", text);
    set_energy(counter, uj);
}

/* Two packages with memory, as a node with two processors has them. */
static void setup(void)
{
    scratch_enter(folder);
    write_energy_file("intel-rapl", "enabled", "1");
    add_counter("intel-rapl:0", "package-0", 1000000);
    add_counter("intel-rapl:1", "package-1", 5000000);
    add_counter("intel-rapl:2", "psys", 7000000);
    add_counter("intel-rapl:0:0", "core", 100);
    add_counter("intel-rapl:0:1", "dram", 0);
    add_counter("intel-rapl:1:0", "uncore", 100);
    add_counter("intel-rapl-mmio:0", "package-0", 1000000);
}

static void teardown(void)
{
    scratch_leave(folder);
}

START_TEST(packages_and_memory_count_once)
{
    struct energy_meter meter;
    energy_meter_init(&meter, folder, 0);
    ck_assert_uint_eq(meter.count, 3);
    static const char *const others[] = {"intel-rapl:2", "intel-rapl:0:0", "intel-rapl:1:0", "intel-rapl-mmio:0"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        set_energy(others[i], 9000000000);
    set_energy("intel-rapl:0", 3500000);
    set_energy("intel-rapl:1", 5250000);
    set_energy("intel-rapl:0:1", 125000);
    energy_meter_look(&meter, SECOND);
    ck_assert(energy_meter_is_known(&meter));
    ck_assert_double_eq_tol(meter.joules, 2.5 + 0.25 + 0.125, 1e-12);
    set_energy("intel-rapl:1", 6250000);
    energy_meter_look(&meter, 2 * SECOND);
    ck_assert_double_eq_tol(meter.joules, 3.875, 1e-12);
}
END_TEST

START_TEST(a_counter_begins_again)
{
    struct energy_meter meter;
    set_energy("intel-rapl:0", RANGE_UJ - 500000);
    energy_meter_init(&meter, folder, 0);
    set_energy("intel-rapl:0", 1000000);
    energy_meter_look(&meter, 100 * SECOND);
    ck_assert(energy_meter_is_known(&meter));
    ck_assert_double_eq_tol(meter.joules, 1.5, 1e-9);
}
END_TEST

START_TEST(who_looks_too_late_knows_nothing)
{
    struct energy_meter meter;
    energy_meter_init(&meter, folder, 0);
    energy_meter_look(&meter, 200 * SECOND); /* 400 kJ are possible, and the range is 262 */
    ck_assert(!energy_meter_is_known(&meter));
    energy_meter_look(&meter, 201 * SECOND);
    ck_assert(!energy_meter_is_known(&meter));
}
END_TEST

/* The last is as it is where only root may read. */
START_TEST(what_cannot_be_read_is_not_known)
{
    struct energy_meter meter;
    char path[200];
    energy_meter_init(&meter, "/nonexistent/powercap", 0);
    ck_assert(!energy_meter_is_known(&meter));
    write_energy_file("intel-rapl:1", "energy_uj", "many");
    energy_meter_init(&meter, folder, 0);
    ck_assert(!energy_meter_is_known(&meter));
    snprintf(path, sizeof path, "%s/intel-rapl:1/energy_uj", folder);
    ck_assert_int_eq(remove(path), 0);
    energy_meter_init(&meter, folder, 0);
    ck_assert(!energy_meter_is_known(&meter));
    set_energy("intel-rapl:1", 1);
    energy_meter_init(&meter, folder, 0);
    ck_assert(energy_meter_is_known(&meter));
    ck_assert_int_eq(remove(path), 0);
    energy_meter_look(&meter, SECOND);
    ck_assert(!energy_meter_is_known(&meter));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("energy");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, packages_and_memory_count_once);
    tcase_add_test(tests, a_counter_begins_again);
    tcase_add_test(tests, who_looks_too_late_knows_nothing);
    tcase_add_test(tests, what_cannot_be_read_is_not_known);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
