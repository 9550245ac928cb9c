/* SPDX-License-Identifier: MIT */
/* Which carrier a process loads, by the variables of its launcher and the modules that are there. The modules are empty
 * files: the line that refuses one names it. */
#include "common/carrier/load.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                        "SLURM_STEP_ID"};

enum { VARIABLES = sizeof variables / sizeof *variables };

static const struct {
    const char *variables[3], *carriers[3], *said;
} launches[] = {
    {{"OMPI_COMM_WORLD_SIZE"}, {"openmpi", "mpich"}, "/carrier-openmpi.so"},
    {{"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_ID"}, {"mpich"}, "install hdss-openmpi"},
    {{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}, {"mpich", "mpi"}, "/carrier-mpi.so"},
    {{"PMI_RANK", "MPI_LOCALNRANKS"}, {"openmpi", "mpich"}, "/carrier-mpich.so"},
    {{"PMI_RANK", "MPI_LOCALNRANKS", "SLURM_STEP_ID"}, {"openmpi"}, "install hdss-mpich"},
    {{"PMIX_RANK", "SLURM_STEP_ID"}, {"openmpi", "mpich"}, "/carrier-openmpi.so"},
    {{"PMIX_RANK", "SLURM_STEP_ID"}, {"mpich"}, "/carrier-mpich.so"},
    {{"PMI_RANK", "PMI_SIZE", "SLURM_STEP_ID"}, {"openmpi", "mpich"}, "/carrier-mpich.so"},
    {{"PMI_RANK", "PMI_SIZE", "SLURM_STEP_ID"}, {"openmpi"}, "/carrier-openmpi.so"},
    {{"SLURM_STEP_ID"}, {"mpich"}, "/carrier-mpich.so"},
    {{NULL}, {"mpich"}, "/carrier-mpich.so"},
    {{NULL}, {"mpi"}, "/carrier-mpi.so"},
    {{NULL}, {NULL}, "this HDSS has no carrier: install hdss-openmpi or hdss-mpich"},
    {{"PMI_RANK"}, {NULL}, "(there is none): install hdss-mpich"},
};

START_TEST(the_carrier_of_the_launcher_is_loaded)
{
    char folder[] = "/tmp/hdss-carrier-XXXXXX", path[PATH_MAX], command[100];
    struct error error = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("HDSS_MODULES", folder, 1);
    for (int i = 0; i < VARIABLES; i++)
        unsetenv(variables[i]);
    for (int i = 0; i < 3 && launches[_i].variables[i] != NULL; i++)
        setenv(launches[_i].variables[i], "0", 1);
    for (int i = 0; i < 3 && launches[_i].carriers[i] != NULL; i++) {
        snprintf(path, sizeof path, "%s/carrier-%s.so", folder, launches[_i].carriers[i]);
        ck_assert_int_eq(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    }
    ck_assert_int_eq(carrier_load("worker", &error), -1);
    ck_assert_msg(strstr(error.text, launches[_i].said) != NULL, "%s", error.text);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("carrier");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, the_carrier_of_the_launcher_is_loaded, 0, sizeof launches / sizeof *launches);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
