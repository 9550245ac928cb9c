/* SPDX-License-Identifier: MIT */
/* Which launcher is taken, with scripts in the place of launchers on a PATH of their own. */
#include "common/util/error.h"
#include "deploy/cli/capture.h"
#include "deploy/cli/dialect.h"
#include "deploy/cli/launcher.h"
#include "deploy/cli/held_folder.h"
#include "deploy/cli/version_cache.h"
#include "tests/lib/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *text;
    enum mpi_family family;
    unsigned major, minor, patch;
} versions[] = {
    {"mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n", MPI_FAMILY_OPENMPI, 4, 1,
     4},
    {"mpirun (Open MPI) 5.0.7rc1", MPI_FAMILY_OPENMPI, 5, 0, 7},
    {"HYDRA build details:\n    Version:                                 4.2.1\n", MPI_FAMILY_MPICH, 4, 2, 1},
    {"HYDRA build details:     Version:   4.0.2     Release Date: ", MPI_FAMILY_MPICH, 4, 0, 2},
    {"slurm-wlm 22.05.8\n", MPI_FAMILY_SLURM, 22, 5, 8},
    {"mpirun (Open MPI) ", MPI_FAMILY_OPENMPI, 0, 0, 0},
    {"true (GNU coreutils) 9.1\n", MPI_FAMILY_UNKNOWN, 0, 0, 0},
    {"", MPI_FAMILY_UNKNOWN, 0, 0, 0},
};

START_TEST(a_launcher_is_known_by_what_it_prints)
{
    struct launcher launcher = {.major = 77};
    launcher_parse_version(versions[_i].text, &launcher);
    ck_assert_int_eq(launcher.family, versions[_i].family);
    ck_assert_uint_eq(launcher.major, versions[_i].major);
    ck_assert_uint_eq(launcher.minor, versions[_i].minor);
    ck_assert_uint_eq(launcher.patch, versions[_i].patch);
}
END_TEST

#define OPENMPI "mpirun (Open MPI) 4.1.4"
#define MPICH   "HYDRA build details: Version: 4.0.2"

static char folder[] = "/tmp/hdss-launcher-XXXXXX";

/* Without a folder of their own the tests would write to the user's cache. */
static void make_folder(void)
{
    strcpy(folder, "/tmp/hdss-launcher-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("PATH", folder, 1);
    setenv("HDSS_MODULES", folder, 1);
}

static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "/bin/rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void add_program(const char *name, const char *version)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\necho '%s'\n", version);
    fclose(file);
    ck_assert_int_eq(chmod(path, 0755), 0);
}

/* Of which it matters only whether it is there. */
static void add_carrier(const char *name)
{
    add_program(name, "");
}

static void choose(const char *given, const char *taken)
{
    struct launcher launcher;
    struct error error = {0};
    ck_assert_msg(launcher_choose(given, &launcher, &error) == 0, "%s", error.text);
    ck_assert_str_eq(launcher.program, taken);
}

static void refuse(const char *given, const char *first, const char *second, const char *third)
{
    struct launcher launcher;
    struct error error = {0};
    ck_assert_int_eq(launcher_choose(given, &launcher, &error), -1);
    ck_assert_msg(strstr(error.text, first) != NULL && strstr(error.text, second) != NULL &&
                      strstr(error.text, third) != NULL,
                  "%s", error.text);
}

START_TEST(the_first_program_with_a_carrier_is_taken)
{
    make_folder();
    add_program("mpirun", MPICH);
    add_program("mpirun.openmpi", OPENMPI);
    add_program("mpiexec.hydra", MPICH);
    add_carrier("carrier-openmpi.so");
    choose(NULL, "mpirun.openmpi");
    choose("mpirun.openmpi", "mpirun.openmpi");
    refuse("mpiexec.hydra", "MPICH 4.0.2", "that of Open MPI", "install hdss-mpich, or type --mpirun mpirun.openmpi");
    add_carrier("carrier-mpich.so");
    choose("mpiexec.hydra", "mpiexec.hydra");
    remove_folder();
}
END_TEST

START_TEST(a_launcher_without_a_carrier_is_refused_by_name)
{
    make_folder();
    add_program("mpirun", OPENMPI);
    add_carrier("carrier-mpich.so");
    refuse(NULL, "Open MPI 4.1.4", "that of MPICH", "install hdss-openmpi, or name another mpirun: --mpirun PROGRAM");
    add_program("mpiexec", MPICH);
    choose(NULL, "mpiexec");
    refuse("mpirun", "Open MPI 4.1.4", "that of MPICH", "type --mpirun mpiexec");
    add_program("srun", "slurm-wlm 22.05.8");
    refuse("srun", "Slurm 22.5.8", "no carrier", "type --mpirun mpiexec");
    remove_folder();
}
END_TEST

START_TEST(without_any_carrier_there_is_no_launcher)
{
    make_folder();
    add_program("mpirun", OPENMPI);
    refuse(NULL, "Open MPI 4.1.4", "there is none", "install hdss-openmpi");
    add_carrier("carrier-openmpi.so");
    remove_folder();
}
END_TEST

START_TEST(a_carrier_of_another_library_is_for_every_launcher_of_one)
{
    make_folder();
    add_program("mpirun", OPENMPI);
    add_carrier("carrier-mpi.so");
    choose(NULL, "mpirun");
    add_program("srun", "slurm-wlm 22.05.8");
    refuse("srun", "Slurm 22.5.8", "that of another MPI library", "type --mpirun mpirun");
    remove_folder();
}
END_TEST

START_TEST(a_script_that_says_nothing_is_trusted)
{
    struct launcher launcher;
    struct error error = {0};
    make_folder();
    add_carrier("carrier-openmpi.so");
    add_program("mine", "hello");
    ck_assert_int_eq(launcher_choose("mine", &launcher, &error), 0);
    ck_assert_int_eq(launcher.family, MPI_FAMILY_UNKNOWN);
    ck_assert_int_eq(launcher_choose("theirs", &launcher, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "--mpirun theirs: there is no such program"));
    ck_assert_int_eq(launcher_choose(NULL, &launcher, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "mpirun is not on PATH"));
    remove_folder();
}
END_TEST

/* Before or after its text, with a process that keeps its output open, or with more to say than is wanted. */
START_TEST(a_program_that_does_not_end_is_not_waited_for)
{
    static const struct {
        const char *script, *text;
    } cases[] = {{"sleep 1000", ""},          {"echo one; sleep 1000", ""}, {"exec >&-; sleep 1000", ""},
                 {"sleep 1000 & exit 0", ""}, {"echo one", "one\n"},        {"echo eight of many; yes", "eight o"}};
    char shell[] = "sh", option[] = "-c", script[80], text[8];
    char *argv[] = {shell, option, script, NULL};
    snprintf(script, sizeof script, "%s", cases[_i].script);
    capture(argv, text, sizeof text, cases[_i].text[0] == '\0' ? 300 : CAPTURE_MS);
    ck_assert_str_eq(text, cases[_i].text);
    ck_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}
END_TEST

START_TEST(a_rank_launches_no_run)
{
    struct error error = {0};
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    const struct launcher mpi = {.family = MPI_FAMILY_OPENMPI}, local = {.family = MPI_FAMILY_NONE};
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMI_SIZE");
    for (size_t i = 0; i < 3; i++)
        unsetenv(names[i]);
    ck_assert_int_eq(launcher_check_place(&mpi, &error), 0);
    for (size_t i = 0; i < 3; i++) {
        setenv(names[i], "0", 1);
        ck_assert_int_eq(launcher_check_place(&mpi, &error), -1);
        ck_assert_ptr_nonnull(strstr(error.text, names[i]));
        ck_assert_int_eq(launcher_check_place(&local, &error), -1);
        setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
        ck_assert_int_eq(launcher_check_place(&mpi, &error), -1);
        ck_assert_int_eq(launcher_check_place(&local, &error), 0); /* mpirun -n 1 of a script that calls hdss */
        setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
        ck_assert_int_eq(launcher_check_place(&local, &error), -1);
        unsetenv("OMPI_COMM_WORLD_SIZE");
        unsetenv(names[i]);
    }
    setenv("SLURM_STEP_ID", "0", 1);
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    ck_assert_int_eq(launcher_check_place(&mpi, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "srun"));
    setenv("SLURM_STEP_NUM_TASKS", "1", 1); /* srun --pty bash */
    ck_assert_int_eq(launcher_check_place(&mpi, &error), 0);
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    setenv("SLURM_STEP_ID", "4294967290", 1); /* the shell of salloc */
    ck_assert_int_eq(launcher_check_place(&mpi, &error), 0);
}
END_TEST

START_TEST(versions_of_programs_are_kept_until_they_change)
{
    char path[PATH_MAX], text[VERSION_TEXT_MAX], command[PATH_MAX + 20];
    make_folder();
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(command, sizeof command, "/bin/cp /bin/true %s", path);
    ck_assert_int_eq(system(command), 0);
    ck_assert(!version_cache_find(path, text));
    version_cache_keep(path, OPENMPI "\n\nmore");
    ck_assert(version_cache_find(path, text));
    ck_assert_str_eq(text, OPENMPI "??more");
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert(!version_cache_find(path, text));
    version_cache_keep(path, MPICH);
    ck_assert(version_cache_find(path, text));
    ck_assert_str_eq(text, MPICH);
    remove_folder();
}
END_TEST

START_TEST(scripts_and_what_prints_nothing_are_not_kept)
{
    char path[PATH_MAX], text[VERSION_TEXT_MAX];
    make_folder();
    add_program("mpirun", OPENMPI);
    snprintf(path, sizeof path, "%s/mpirun", folder);
    version_cache_keep(path, OPENMPI);
    ck_assert(!version_cache_find(path, text));
    version_cache_keep("/bin/true", "");
    ck_assert(!version_cache_find("/bin/true", text));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    version_cache_keep("/bin/true", OPENMPI);
    ck_assert(!version_cache_find("/bin/true", text));
    remove_folder();
}
END_TEST

/* As Open MPI 5.0.7 has named them. */
START_TEST(the_memory_of_ranks_has_a_number_that_follows_from_their_launcher)
{
    ck_assert_uint_eq(openmpi_job_number_5("vm", 12), 0xc1f60001);
    ck_assert_uint_eq(openmpi_job_number_5("vm", 27), 0xe6500001);
}
END_TEST

static void add_file(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(file, 0);
    close(file);
}

static bool memory_is_there(const char *host, unsigned job, bool make)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/dev/shm/sm_segment.%s.%u.%x.0", host, geteuid(), job);
    if (make)
        add_file(path);
    return access(path, F_OK) == 0;
}

/* The numbers are none of processes. */
START_TEST(what_a_killed_launcher_leaves_is_removed)
{
    enum { ENDED = 100000001, OTHER };
    char host[HOST_NAME_MAX + 1] = "", session[PATH_MAX], file[PATH_MAX + 8];
    make_folder();
    setenv("TMPDIR", folder, 1);
    gethostname(host, sizeof host - 1);
    for (int i = 0; i < 2; i++) {
        snprintf(session, sizeof session, "%s/prterun.%s.%d.%u", folder, host, ENDED + i, geteuid());
        ck_assert_int_eq(mkdir(session, 0700), 0);
        snprintf(file, sizeof file, "%s/pmix", session);
        add_file(file);
        ck_assert(memory_is_there(host, openmpi_job_number_5(host, ENDED + i), true));
    }
    openmpi_dialect.clear(ENDED);
    snprintf(session, sizeof session, "%s/prterun.%s.%d.%u", folder, host, ENDED, geteuid());
    ck_assert_int_lt(access(session, F_OK), 0);
    ck_assert(!memory_is_there(host, openmpi_job_number_5(host, ENDED), false));
    ck_assert_int_eq(access(file, F_OK), 0);
    ck_assert(memory_is_there(host, openmpi_job_number_5(host, OTHER), false));
    openmpi_dialect.clear(OTHER);
    ck_assert_int_lt(access(file, F_OK), 0);
    remove_folder();
}
END_TEST

static void make_file_in(const char *path, char file[PATH_MAX])
{
    snprintf(file, PATH_MAX, "%s/segment", path);
    add_file(file);
}

START_TEST(each_launch_has_a_folder_for_the_memory_of_its_ranks)
{
    struct held_folder first, second;
    char file[PATH_MAX], other[PATH_MAX];
    struct stat status;
    ck_assert_int_eq(held_folder_make(&first, MEMORY_FOLDER, "hdss-ranks"), 0);
    ck_assert_int_eq(held_folder_make(&second, MEMORY_FOLDER, "hdss-ranks"), 0);
    ck_assert_str_ne(first.path, second.path);
    ck_assert_int_eq(stat(first.path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    make_file_in(first.path, file);
    make_file_in(second.path, other);
    held_folder_clear(&first);
    ck_assert_int_lt(access(file, F_OK), 0);
    ck_assert_int_eq(access(first.path, F_OK), 0);
    add_file(file);
    held_folder_remove(&first);
    ck_assert_int_lt(access(file, F_OK), 0);
    ck_assert_int_eq(access(other, F_OK), 0);
    held_folder_remove(&second);
    ck_assert_int_lt(access(other, F_OK), 0);
}
END_TEST

/* A program that inherits the folder holds it, as mpirun does beyond the end of hdss. */
START_TEST(the_memory_of_a_killed_run_is_removed_by_the_next)
{
    struct held_folder killed, next;
    char file[PATH_MAX];
    ck_assert_int_eq(held_folder_make(&killed, MEMORY_FOLDER, "hdss-ranks"), 0);
    make_file_in(killed.path, file);
    const int inherited = dup(killed.fd);
    close(killed.fd);
    ck_assert_int_eq(held_folder_make(&next, MEMORY_FOLDER, "hdss-ranks"), 0);
    held_folder_remove(&next);
    ck_assert_int_eq(access(file, F_OK), 0);
    close(inherited);
    ck_assert_int_eq(held_folder_make(&next, MEMORY_FOLDER, "hdss-ranks"), 0);
    held_folder_remove(&next);
    ck_assert_int_lt(access(killed.path, F_OK), 0);
}
END_TEST

/* Also with folders in it; one of another boot, or of another name, is left alone. */
START_TEST(the_folder_of_a_killed_command_is_removed_by_the_next)
{
    struct held_folder killed, next;
    char base[] = "/tmp/hdss-held-XXXXXX", file[PATH_MAX], inner[HELD_FOLDER_MAX + 8], other[PATH_MAX];
    ck_assert_ptr_nonnull(mkdtemp(base));
    ck_assert_int_eq(held_folder_make(&killed, base, "a"), 0);
    snprintf(inner, sizeof inner, "%s/inner", killed.path);
    ck_assert_int_eq(mkdir(inner, 0700), 0);
    snprintf(file, sizeof file, "%s/file", inner);
    ck_assert_int_eq(close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    snprintf(other, sizeof other, "%s/a.%u.00000000.111111", base, geteuid());
    ck_assert_int_eq(mkdir(other, 0700), 0);
    ck_assert_int_eq(close(killed.fd), 0);
    ck_assert_int_eq(held_folder_make(&next, base, "b"), 0);
    held_folder_remove(&next);
    ck_assert_int_eq(access(file, F_OK), 0);
    ck_assert_int_eq(held_folder_make(&next, base, "a"), 0);
    ck_assert_int_lt(access(killed.path, F_OK), 0);
    held_folder_remove(&next);
    ck_assert_int_eq(rmdir(other), 0);
    ck_assert_int_eq(rmdir(base), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli-launcher");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_launcher_is_known_by_what_it_prints, 0, sizeof versions / sizeof *versions);
    tcase_add_loop_test(all, a_program_that_does_not_end_is_not_waited_for, 0, 6);
    tcase_add_test(all, the_first_program_with_a_carrier_is_taken);
    tcase_add_test(all, a_launcher_without_a_carrier_is_refused_by_name);
    tcase_add_test(all, without_any_carrier_there_is_no_launcher);
    tcase_add_test(all, a_carrier_of_another_library_is_for_every_launcher_of_one);
    tcase_add_test(all, a_script_that_says_nothing_is_trusted);
    tcase_add_test(all, a_rank_launches_no_run);
    tcase_add_test(all, versions_of_programs_are_kept_until_they_change);
    tcase_add_test(all, scripts_and_what_prints_nothing_are_not_kept);
    tcase_add_test(all, the_memory_of_ranks_has_a_number_that_follows_from_their_launcher);
    tcase_add_test(all, what_a_killed_launcher_leaves_is_removed);
    tcase_add_test(all, each_launch_has_a_folder_for_the_memory_of_its_ranks);
    tcase_add_test(all, the_memory_of_a_killed_run_is_removed_by_the_next);
    tcase_add_test(all, the_folder_of_a_killed_command_is_removed_by_the_next);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
