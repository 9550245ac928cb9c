/* SPDX-License-Identifier: MIT */
/* Busy processes: see busy.h. */
#include "common/os/busy.h"
#include "common/os/process.h"
#include "common/os/signals.h"
#include "common/util/number.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct place_of_child {
    uint64_t older;
    bool is_found;
};

static bool count_older(pid_t child, void *context)
{
    struct place_of_child *place = context;
    place->is_found = child == getpid();
    place->older += !place->is_found;
    return !place->is_found;
}

/* Returns this process's index among the children of its parent; 0 if the index is unknown. The parent is the launcher,
 * which starts the ranks of a node in order. */
static uint64_t place_among_children(void)
{
    struct place_of_child place = {0};
    process_visit_children(getppid(), count_older, &place);
    return place.is_found ? place.older : 0;
}

/* Returns the local rank from a variable that the launcher sets. If there is no such variable, returns
 * place_among_children(). Open MPI 5 sets no variable if its PMIx part is disabled. */
static uint64_t place_on_node(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    uint64_t place;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text != NULL && number_parse_u64(text, &place) == 0)
            return place;
    }
    return place_among_children();
}

static int bind_to_one(struct error *error)
{
    cpu_set_t cores, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof cores, &cores) < 0)
        return error_set(error, "--load: the cores of this process are not told: %s", strerror(errno));
    uint64_t place = place_on_node() % (unsigned)CPU_COUNT(&cores);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &cores) && place-- == 0) {
            CPU_SET(core, &one);
            break;
        }
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        return 0;
    return error_set(error, "--load: this process cannot be bound to one core: %s", strerror(errno));
}

static _Noreturn void busy_compute(pid_t parent)
{
    volatile uint64_t count = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent has died before the call of prctl() */
        _exit(EXIT_STATUS_DONE);
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        signal(drain_signals[i], SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    for (long file = sysconf(_SC_OPEN_MAX) < 1024 ? sysconf(_SC_OPEN_MAX) : 1024; file >= 0; file--)
        /* the reader of an inherited pipe would never reach the end of the file if the pipe stayed open here */
        close((int)file);
    for (;;)
        count = count + 1;
}

static void end_all(const pid_t *started, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        kill(started[i], SIGKILL);
        waitpid(started[i], NULL, 0);
    }
}

int busy_start(unsigned count, struct error *error)
{
    pid_t parent = getpid(), *started = calloc(count + 1, sizeof *started);
    int result = started == NULL ? error_set(error, "--load: out of memory") : bind_to_one(error);
    for (unsigned i = 0; i < count && result == 0; i++) {
        started[i] = fork();
        if (started[i] == 0)
            busy_compute(parent);
        if (started[i] > 0)
            continue;
        result = error_set(error, "--load: cannot start process %u of %u: %s", i + 1, count, strerror(errno));
        end_all(started, i);
    }
    free(started);
    return result;
}
