/* SPDX-License-Identifier: MIT */
/* Finds a launcher and asks it for its version: see launcher.h. */
#include "deploy/cli/launcher.h"
#include "common/os/files.h"
#include "common/os/modules.h"
#include "deploy/cli/capture.h"
#include "deploy/cli/version_cache.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For each MPI family: how the output of --version begins, and which text precedes the version number. */
static const struct family {
    const char *begins, *number;
} families[] = {
    [MPI_FAMILY_OPENMPI] = {"mpirun (Open MPI) ", ") "},
    [MPI_FAMILY_MPICH] = {"HYDRA build details:", "Version:"},
    [MPI_FAMILY_SLURM] = {"slurm", " "},
};

enum { FAMILIES = MPI_FAMILY_NONE };

/* Tried in this order if --mpirun is not given. On Debian the launcher of each library also has a name of its own. */
static const char *const usual[] = {"mpirun",          "mpiexec",       "mpirun.openmpi",
                                    "mpiexec.openmpi", "mpiexec.hydra", "mpiexec.mpich"};

void launcher_parse_version(const char *text, struct launcher *launcher)
{
    for (int i = 1; i < FAMILIES; i++) {
        if (strncmp(text, families[i].begins, strlen(families[i].begins)) != 0)
            continue;
        const char *number = strstr(text, families[i].number);
        launcher->family = (enum mpi_family)i;
        launcher->major = launcher->minor = launcher->patch = 0;
        if (number != NULL)
            sscanf(number + strlen(families[i].number), " %u.%u.%u", &launcher->major, &launcher->minor,
                   &launcher->patch);
        return;
    }
    launcher->family = MPI_FAMILY_UNKNOWN;
    launcher->major = launcher->minor = launcher->patch = 0;
}

void launcher_name(const struct launcher *launcher, char name[LAUNCHER_NAME_MAX])
{
    const char *family = launcher->family == MPI_FAMILY_UNKNOWN ? "an unknown launcher" : family_name(launcher->family);
    if (launcher->major == 0)
        snprintf(name, LAUNCHER_NAME_MAX, "%s", family);
    else
        snprintf(name, LAUNCHER_NAME_MAX, "%s %u.%u.%u", family, launcher->major, launcher->minor, launcher->patch);
}

static bool find_on_path(const char *program, char path[PATH_MAX])
{
    if (strchr(program, '/') != NULL)
        return file_is_program(program) && realpath(program, path) != NULL;
    const char *folders = getenv("PATH");
    for (const char *folder = folders != NULL ? folders : "/bin:/usr/bin"; folder != NULL;) {
        const char *end = strchrnul(folder, ':');
        char candidate[PATH_MAX];
        int length = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)(end - folder), folder, program);
        if (end == folder)
            length = snprintf(candidate, sizeof candidate, "./%s", program);
        if (length < PATH_MAX && file_is_program(candidate) && realpath(candidate, path) != NULL)
            return true;
        folder = *end == ':' ? end + 1 : NULL;
    }
    return false;
}

static bool launcher_ask(const char *program, struct launcher *launcher)
{
    char path[PATH_MAX], option[] = "--version", text[VERSION_TEXT_MAX];
    char *argv[] = {(char *)program, option, NULL};
    *launcher = (struct launcher){.program = program};
    if (!find_on_path(program, path))
        return false;
    bool kept = version_cache_find(path, text);
    if (!kept)
        capture(argv, text, sizeof text, CAPTURE_MS);
    launcher_parse_version(text, launcher);
    if (!kept && launcher->family != MPI_FAMILY_UNKNOWN)
        version_cache_keep(path, text);
    return true;
}

/* Finds the first usual launcher of this family for which there is a carrier. A launcher of unknown family is accepted
 * for every family. */
static bool find_usual(struct launcher *launcher, enum mpi_family family)
{
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (launcher_ask(usual[i], launcher) && family_is_carried(launcher->family) &&
            (family == MPI_FAMILY_UNKNOWN || launcher->family == MPI_FAMILY_UNKNOWN || launcher->family == family))
            return true;
    return false;
}

static bool find_best(struct launcher *launcher)
{
    enum mpi_family family;
    if (!family_take_default(&family))
        return false;
    return find_usual(launcher, family) || find_usual(launcher, MPI_FAMILY_UNKNOWN);
}

static int launcher_refuse(const struct launcher *other, struct error *error)
{
    char name[LAUNCHER_NAME_MAX], carriers[CARRIERS_TEXT_MAX], advice[100] = "or name another mpirun: --mpirun PROGRAM";
    struct launcher fitting;
    launcher_name(other, name);
    family_list_carriers(carriers);
    if (find_best(&fitting))
        snprintf(advice, sizeof advice, "or type --mpirun %s", fitting.program);
    return error_set(
        error, "%.100s is the launcher of %s, for whose ranks this HDSS has no carrier (there is %s): install %s, %s",
        other->program, name, carriers, family_package(other->family), advice);
}

int launcher_choose(const char *given, struct launcher *launcher, struct error *error)
{
    if (is_one_file())
        return error_set(error,
                         "this HDSS is one file, which has no MPI: it runs on one machine, and others join it (hdss "
                         "join); needed: an HDSS that is installed");
    struct launcher first = {.program = usual[0]};
    char carriers[CARRIERS_TEXT_MAX];
    family_list_carriers(carriers);
    if (given != NULL) {
        if (!launcher_ask(given, launcher))
            return error_set(error,
                             "--mpirun %.200s: there is no such program; accepted: the mpirun of a library that "
                             "has a carrier, of which there is %s",
                             given, carriers);
        return family_is_carried(launcher->family) ? 0 : launcher_refuse(launcher, error);
    }
    if (find_best(launcher))
        return 0;
    if (launcher_ask(usual[0], &first))
        return launcher_refuse(&first, error);
    return error_set(
        error,
        "mpirun is not on PATH: install that of a library that has a carrier, of which there is %s, or name "
        "it: --mpirun PROGRAM",
        carriers);
}

enum mpi_family launcher_words(const struct launcher *launcher)
{
    enum mpi_family family = launcher->family;
    if (family == MPI_FAMILY_UNKNOWN)
        family_take_default(&family);
    return family;
}

int launcher_take_fork(struct launcher *launcher, char path[PATH_MAX], struct error *error)
{
    char folder[PATH_MAX];
    if (program_folder(folder, error) < 0 || program_find(folder, LAUNCHER_FORK, path, error) < 0)
        return -1;
    *launcher = (struct launcher){.program = path, .family = MPI_FAMILY_NONE};
    return 0;
}

/* Steps of srun are numbered from 0. Batch scripts and interactive shells are steps, too; their numbers are at or above
 * this limit. */
#define SLURM_STEPS_MAX 0xfffffff0u

static bool is_in_srun(void)
{
    const char *step = getenv("SLURM_STEP_ID"), *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return step != NULL && tasks != NULL && strtoul(step, NULL, 10) < SLURM_STEPS_MAX && strtoul(tasks, NULL, 10) > 1;
}

static bool is_only_rank(void)
{
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    if (ranks == NULL)
        ranks = getenv("PMI_SIZE");
    return ranks != NULL && strcmp(ranks, "1") == 0;
}

int launcher_check_place(const struct launcher *launcher, struct error *error)
{
    static const char *const of_ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    if (is_in_srun())
        return error_set(error, "this is one of several tasks of srun, and each would launch a run of its own: type "
                                "hdss run without srun in front, or see deploy/slurm/srun.sbatch for srun's own lines");
    if (launcher->family == MPI_FAMILY_NONE && is_only_rank())
        return 0;
    for (size_t i = 0; i < sizeof of_ranks / sizeof *of_ranks && getenv("SLURM_STEP_ID") == NULL; i++)
        if (getenv(of_ranks[i]) != NULL)
            return error_set(error,
                             "this is a rank of an MPI launch already (%s is set), and hdss run launches the "
                             "ranks itself: type hdss run without mpirun in front",
                             of_ranks[i]);
    return 0;
}
