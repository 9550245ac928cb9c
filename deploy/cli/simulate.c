/* SPDX-License-Identifier: MIT */
/* hdss simulate: runs a job, or the jobs of a set, on a simulated machine. */
#include "deploy/cli/simulate.h"
#include "common/os/say.h"
#include "deploy/simulate/simulation.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/mistakes.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/simulate_jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void simulate_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){simulation_options(), OPERANDS_KERNEL};
}

static _Noreturn void simulate_command_become(const char *path, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(path, argv);
    say(stderr, "hdss simulate: %s: %s", path, strerror(errno));
    _exit(EXIT_STATUS_FAILED);
}

/* Runs the program with SimGrid, if HDSS was built with it. That program gets the same command line, and prints
 * everything. */
static int run_simgrid(char **argv, struct error *error)
{
    char path[PATH_MAX];
    int status = 0;
    if (find_own_program("hdss-simgrid", path, error) < 0)
        return error_set(error, "--backend simgrid: this build of HDSS has no SimGrid; accepted: virtual");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        simulate_command_become(path, argv);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFEXITED(status))
        return WEXITSTATUS(status);
    say(stderr, "hdss simulate: SimGrid has ended without a result (%s)",
        child < 0 ? strerror(errno) : strsignal(WTERMSIG(status)));
    return EXIT_STATUS_FAILED;
}

static int simulate_command_run(struct simulation *simulation, int argc, char **argv, struct error *error)
{
    if (simulation->jobs_path != NULL)
        return simulate_jobs(simulation, argc, argv, error);
    if (simulation->jobs_at_once > 0 || simulation->has_format)
        return error_set(error, "--%s: accepted with --jobs", simulation->has_format ? "format" : "jobs-at-once");
    if (simulation->backend == SIMULATION_SIMGRID)
        return run_simgrid(argv, error);
    if (simulation_prepare(simulation, NULL, NULL, error) < 0)
        return -1;
    return simulation_run_orders(simulation, HDSS_VERSION, error);
}

int simulate_check(int argc, char **argv, struct error *error)
{
    struct simulation simulation;
    int result = simulation_read(&simulation, argc, argv, error);
    double *powers = NULL;
    if (result == 0 && simulation.jobs_path != NULL)
        result = simulate_jobs_check(&simulation, argc, argv, error);
    else if (result == 0 && simulation.backend == SIMULATION_VIRTUAL)
        result = simulation_prepare(&simulation, NULL, NULL, error) < 0
                     ? -1
                     : simulation_read_powers(&simulation, &powers, error);
    free(powers);
    simulation_fini(&simulation);
    return result;
}

int command_simulate(int argc, char **argv)
{
    struct simulation simulation;
    struct error error;
    int status, asked = simulation_read(&simulation, argc, argv, &error);
    if (asked > 0) {
        status = show_page("hdss simulate", &simulation_own_options, asked);
    } else {
        status = asked < 0 ? -1 : simulate_command_run(&simulation, argc, argv, &error);
        if (status < 0) {
            struct grammar grammar;
            simulate_grammar(&grammar);
            mistakes_explain(&grammar.options, argc, argv, &error);
            say_error("hdss simulate", error.text);
            status = EXIT_STATUS_USAGE;
        }
    }
    simulation_fini(&simulation);
    return status;
}
