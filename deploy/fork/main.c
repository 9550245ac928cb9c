/* SPDX-License-Identifier: MIT */
/* hdss-fork: the launcher of a launch without MPI, whose ranks are processes of this machine.
 *
 *     hdss-fork -n COUNT PROGRAM WORD... : -n COUNT PROGRAM WORD... : ...
 *
 * It makes the memory that the ranks share (common/mpi/lanes.h), forks them, and is to signals and exit statuses what
 * an mpirun is that lets ranks die: SIGUSR1 and SIGUSR2 go on to the ranks, which drain by it; SIGINT, SIGTERM and
 * SIGHUP end them; a stop and its end go on, too. Its status is that of the first rank. Once the ranks have met, the
 * others may die: the first rank finds that out. When the first has ended, the others have LEAVE_MS to do so. */
#include "common/mpi/lanes.h"
#include "common/os/clock.h"
#include "common/util/error.h"
#include "common/util/number.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Time that ranks have to leave behind the first one, and those that are asked to end. */
#define LEAVE_MS 2000

/* Ranks of one program. */
struct context {
    unsigned count;
    char **words; /* ended by NULL, in the own command line */
};

struct launch_of_ranks {
    struct lanes *lanes; /* owned */
    int memory;
    unsigned ranks, running;
    pid_t *pids;     /* [ranks] owned; 0: it has ended, or was not started */
    int status;      /* that of the launch; -1: the first rank runs */
    int64_t kill_ms; /* when those that are left are killed; 0: never */
    sigset_t before; /* the mask of signals, as it was */
    sigset_t awake;  /* and without SIGCHLD, which whoever started this process may have blocked */
};

static volatile sig_atomic_t drains, ends, stops, goes_on;

static void note_signal_for_ranks(int number)
{
    switch (number) {
    case SIGUSR1:
    case SIGUSR2: drains = 1; break;
    case SIGTSTP: stops = 1; break;
    case SIGCONT: goes_on = 1; break;
    case SIGCHLD: break;
    default: ends = 1;
    }
}

static int64_t clock_ms(void)
{
    return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

/* --- signals --- */

static const int taken_signals[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGCHLD};
enum { TAKEN_SIGNALS = sizeof taken_signals / sizeof *taken_signals };

/* Takes signals, which come between two looks alone: those that whoever started this process wants ignored stay so. */
static void take_signals_for_ranks(sigset_t *before)
{
    const struct sigaction action = {.sa_handler = note_signal_for_ranks};
    struct sigaction now;
    sigset_t blocked;
    sigemptyset(&blocked);
    for (unsigned i = 0; i < TAKEN_SIGNALS; i++)
        sigaddset(&blocked, taken_signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, before);
    for (unsigned i = 0; i < TAKEN_SIGNALS; i++)
        if (taken_signals[i] == SIGCHLD || (sigaction(taken_signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN))
            sigaction(taken_signals[i], &action, NULL);
}

static void give_signals_back(const sigset_t *before)
{
    struct sigaction now;
    for (unsigned i = 0; i < TAKEN_SIGNALS; i++)
        if (sigaction(taken_signals[i], NULL, &now) == 0 && now.sa_handler == note_signal_for_ranks)
            signal(taken_signals[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, before, NULL);
}

static void send_to_ranks(const struct launch_of_ranks *launch, int number)
{
    for (unsigned rank = 0; rank < launch->ranks; rank++)
        if (launch->pids[rank] > 0)
            kill(launch->pids[rank], number);
}

static bool take(volatile sig_atomic_t *flag)
{
    const bool was = *flag != 0;
    *flag = 0;
    return was;
}

static void kill_in(struct launch_of_ranks *launch, int64_t ms)
{
    const int64_t at_ms = clock_ms() + ms;
    if (launch->kill_ms == 0 || at_ms < launch->kill_ms)
        launch->kill_ms = at_ms;
}

static void pass_signals(struct launch_of_ranks *launch)
{
    if (take(&drains))
        send_to_ranks(launch, SIGUSR1);
    if (take(&ends)) {
        send_to_ranks(launch, SIGCONT);
        send_to_ranks(launch, SIGTERM);
        kill_in(launch, LEAVE_MS);
    }
    if (take(&stops)) {
        send_to_ranks(launch, SIGSTOP);
        raise(SIGSTOP);
    }
    if (take(&goes_on))
        send_to_ranks(launch, SIGCONT);
}

/* --- the ranks --- */

static _Noreturn void become_rank(const struct launch_of_ranks *launch, unsigned rank, char **words, pid_t parent)
{
    give_signals_back(&launch->before);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* which died before this process asked to be told */
        _exit(EXIT_STATUS_FAILED);
    lanes_name(launch->memory, rank, launch->ranks);
    execvp(words[0], words);
    fprintf(stderr, "hdss-fork: cannot run %s: %s\n", words[0], strerror(errno));
    _exit(EXIT_STATUS_USAGE);
}

/* Starts the ranks of one program. False, after a line, where one cannot be. */
static bool fork_ranks(struct launch_of_ranks *launch, const struct context *context, unsigned *rank)
{
    const pid_t self = getpid();
    for (unsigned i = 0; i < context->count; i++, ++*rank) {
        const pid_t pid = fork();
        if (pid == 0)
            become_rank(launch, *rank, context->words, self);
        if (pid < 0) {
            fprintf(stderr, "hdss-fork: cannot start rank %u: %s\n", *rank, strerror(errno));
            return false;
        }
        launch->pids[*rank] = pid;
        launch->running++;
    }
    return true;
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A rank has ended. All others are of no use where it has ended the launch, or before the ranks have met. */
static void note_end_of_rank(struct launch_of_ranks *launch, pid_t pid, int status)
{
    unsigned rank = 0;
    while (rank < launch->ranks && launch->pids[rank] != pid)
        rank++;
    if (rank == launch->ranks)
        return;
    launch->pids[rank] = 0;
    launch->running--;
    const int aborted = lanes_aborted(launch->lanes);
    const bool is_in_vain = aborted >= 0 || !lanes_have_met(launch->lanes);
    if (launch->status < 0 && (rank == 0 || is_in_vain))
        launch->status = aborted >= 0 ? aborted : status_of(status);
    if (rank == 0 || is_in_vain)
        kill_in(launch, is_in_vain ? 0 : LEAVE_MS);
}

static void reap_ranks(struct launch_of_ranks *launch)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        note_end_of_rank(launch, pid, status);
}

/* Waits for something to happen, at most until the ranks are to be killed. */
static void wait_for_signal(const struct launch_of_ranks *launch)
{
    const int64_t left_ms = launch->kill_ms - clock_ms();
    const struct timespec left = {(time_t)(left_ms / 1000), (long)(left_ms % 1000) * 1000000};
    if (launch->kill_ms == 0 || left_ms > 0)
        ppoll(NULL, 0, launch->kill_ms == 0 ? NULL : &left, &launch->awake);
}

static int attend_ranks(struct launch_of_ranks *launch)
{
    while (launch->running > 0) {
        wait_for_signal(launch);
        pass_signals(launch);
        reap_ranks(launch);
        if (launch->kill_ms != 0 && clock_ms() >= launch->kill_ms) {
            send_to_ranks(launch, SIGKILL);
            launch->kill_ms = clock_ms() + LEAVE_MS;
        }
    }
    return launch->status < 0 ? EXIT_STATUS_FAILED : launch->status;
}

/* --- the command line --- */

/* Takes the words of one program, and returns those behind it; NULL where they make none. */
static char **take_context(char **word, struct context *context)
{
    uint64_t count;
    if (word[0] == NULL || strcmp(word[0], "-n") != 0 || word[1] == NULL || number_parse_u64(word[1], &count) < 0 ||
        count < 1 || count > LANES_RANKS_MAX || word[2] == NULL || strcmp(word[2], ":") == 0)
        return NULL;
    *context = (struct context){(unsigned)count, word + 2};
    for (word += 2; *word != NULL && strcmp(*word, ":") != 0; word++)
        ;
    if (*word == NULL)
        return word;
    *word = NULL;
    return word[1] != NULL ? word + 1 : NULL;
}

/* Returns how many programs the command line has; 0 where it makes no sense. */
static unsigned read_contexts(char **word, struct context *contexts)
{
    unsigned count = 0;
    do
        word = take_context(word, &contexts[count++]);
    while (word != NULL && *word != NULL);
    return word != NULL ? count : 0;
}

static unsigned sum_ranks(const struct context *contexts, unsigned count)
{
    unsigned ranks = 0;
    for (unsigned i = 0; i < count; i++)
        ranks += contexts[i].count;
    return ranks;
}

static int launch_all(const struct context *contexts, unsigned count, unsigned ranks)
{
    struct launch_of_ranks launch = {.ranks = ranks, .status = -1, .pids = calloc(ranks, sizeof *launch.pids)};
    struct error error = {"out of memory"};
    unsigned rank = 0;
    void (*const before)(int) = signal(SIGXFSZ, SIG_IGN); /* memory that is shared counts as a file */
    launch.memory = launch.pids != NULL ? lanes_make(&launch.lanes, ranks, &error) : -1;
    if (launch.memory < 0) {
        fprintf(stderr, "hdss-fork: %s\n", error.text);
        free(launch.pids);
        return EXIT_STATUS_FAILED;
    }
    signal(SIGXFSZ, before);
    take_signals_for_ranks(&launch.before);
    launch.awake = launch.before;
    sigdelset(&launch.awake, SIGCHLD);
    bool is_started = true;
    for (unsigned i = 0; is_started && i < count; i++)
        is_started = fork_ranks(&launch, &contexts[i], &rank);
    close(launch.memory);
    if (!is_started) {
        launch.status = EXIT_STATUS_FAILED;
        kill_in(&launch, 0);
    }
    const int status = attend_ranks(&launch);
    lanes_free(launch.lanes);
    free(launch.pids);
    return status;
}

int main(int argc, char **argv)
{
    struct context *contexts = calloc((size_t)argc, sizeof *contexts);
    if (contexts == NULL) {
        fputs("hdss-fork: out of memory\n", stderr);
        return EXIT_STATUS_FAILED;
    }
    const unsigned count = argc > 1 ? read_contexts(argv + 1, contexts) : 0;
    const unsigned ranks = sum_ranks(contexts, count);
    int status = EXIT_STATUS_USAGE;
    if (count == 0 || ranks < 2 || ranks > LANES_RANKS_MAX)
        fprintf(stderr,
                "hdss-fork: accepted: -n COUNT PROGRAM [WORD]... [: -n COUNT PROGRAM [WORD]...]..., 2 to %d ranks in "
                "all\n",
                LANES_RANKS_MAX);
    else
        status = launch_all(contexts, count, ranks);
    free(contexts);
    return status;
}
