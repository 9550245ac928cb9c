/* Open MPI's way to let survivors go on: see openmpi.h.
 *
 * Measured with 4.1.4: without these two options mpirun kills all ranks about a second after one has died; with the
 * first alone it ends the run when a whole node is lost; with both it never returns after a loss on several nodes.
 * vigil.h ends it then, for which the supermaster must be on this machine: where it may not be, they are left out. */
#include "deploy/cli/openmpi.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SURVIVING_MAJOR 4

/* The first bytes of what `mpirun --version` says. */
static void ask_version(const char *mpirun, char text[80])
{
    char option[] = "--version";
    char *argv[] = {(char *)mpirun, option, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid;
    size_t length = 0;
    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int result = posix_spawnp(&pid, mpirun, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t count = 1; result == 0 && count > 0 && length<79; length += count> 0 ? (size_t)count : 0)
        count = read(ends[0], text + length, 79 - length);
    text[length] = '\0';
    close(ends[0]);
    if (result == 0)
        waitpid(pid, NULL, 0);
}

static unsigned major_version(const char *mpirun)
{
    char text[80];
    unsigned major = 0;
    ask_version(mpirun, text);
    return sscanf(text, "mpirun (Open MPI) %u.", &major) == 1 ? major : 0;
}

/* The first host, which has the supermaster, is this machine. */
static bool is_here(const char *host)
{
    char own[HOST_NAME_BYTES] = "";
    gethostname(own, sizeof own - 1);
    size_t length = strcspn(own, ".");
    return strcmp(host, "localhost") == 0 || strcmp(host, own) == 0 ||
           (strcspn(host, ".") == length && strncmp(host, own, length) == 0);
}

/* Without --hosts mpirun may have been told of other machines by its own options or by a batch system: then nobody
 * knows here where the supermaster is. */
static bool may_be_elsewhere(const struct lineup *lineup)
{
    static const char *const options[] = {"-H",
                                          "-host",
                                          "--host",
                                          "-hostfile",
                                          "--hostfile",
                                          "-machinefile",
                                          "--machinefile",
                                          "-default-hostfile",
                                          "--default-hostfile",
                                          "orte_default_hostfile"};
    static const char *const variables[] = {"PBS_NODEFILE", "PE_HOSTFILE", "LSB_DJOB_HOSTFILE",
                                            "OMPI_MCA_orte_default_hostfile"};
    const char *nodes = getenv("SLURM_NNODES");
    if (lineup->hosts.count > 0)
        return !is_here(lineup->hosts.items[0].name);
    if (nodes != NULL && strcmp(nodes, "1") != 0)
        return true;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (words_contain(&lineup->mpi_args, options[i]))
            return true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            return true;
    return false;
}

bool openmpi_survives(const struct lineup *lineup)
{
    return lineup->flat.count == 0 && !may_be_elsewhere(lineup) &&
           !words_contain(&lineup->mpi_args, "--disable-recovery") && major_version(lineup->mpirun) == SURVIVING_MAJOR;
}

void openmpi_add_survival(const struct lineup *lineup, struct words *line)
{
    if (!lineup->survives)
        return;
    words_add_split(line, "--mca orte_abort_on_non_zero_status 0 --enable-recovery");
}
