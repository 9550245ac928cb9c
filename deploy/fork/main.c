/* SPDX-License-Identifier: MIT */
/* hdss-fork launches ranks without MPI, as processes of this machine.
 *     hdss-fork -n COUNT PROGRAM WORD... : -n COUNT PROGRAM WORD... : ...
 *
 * It makes the ranks' shared memory (common/mpi/lanes.h) and forks the ranks. It treats signals and exit statuses like
 * an mpirun that tolerates dead ranks:
 *    SIGUSR1 and SIGUSR2 make the ranks drain;
 *    SIGINT, SIGTERM and SIGHUP end the ranks if they come from the parent, `hdss`, or for the second time;
 *    the first of these signals from another process, such as a batch system, makes the ranks drain;
 *    before all ranks have joined, signals that would drain the ranks end them;
 *    SIGTSTP and SIGCONT stop and continue the ranks.
 *
 * The exit status is that of the first rank. After all ranks have joined, the launch goes on if others die; the first
 * rank notices their deaths. The supermaster of a set then frees the slot of a dead rank, and hdss-fork starts the rank
 * again, at most RETURNS_MAX times. After the first rank has ended, the others get LEAVE_MS to end. */
#include "common/mpi/lanes.h"
#include "common/os/clock.h"
#include "common/os/files.h"
#include "common/os/modules.h"
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

/* How long ranks may take to end after the first rank has ended, or after the ranks were told to end. */
#define LEAVE_MS    2000
#define RETURNS_MAX 3

#define USAGE "-n COUNT PROGRAM [WORD]... [: -n COUNT PROGRAM [WORD]...]..., 1 to %d ranks in all"

struct context {
    unsigned count;
    char **words;
};

struct launch_of_ranks {
    struct lanes *lanes;
    int memory;
    int gate[2]; /* pipe from which each rank reads the number of ranks before it begins; -1: the number is known */
    unsigned ranks;
    /* How many processes were started, and how many of them still run. If `ranks` was reduced later, the processes
     * beyond it end at once. */
    unsigned started, running;
    pid_t *pids;            /* owned; [started]; 0 after the end of the process */
    char ***words;          /* [started] command line of each; the list is owned, its elements are not */
    unsigned char *returns; /* owned; [started]; how many times each was started again */
    int status;
    int64_t kill_ms;
    sigset_t before;
    sigset_t awake; /* `before` without SIGCHLD, which the parent may have blocked */
};

static volatile sig_atomic_t drains, ends, stops, goes_on;

static void note_end_signal(const siginfo_t *sent)
{
    static volatile sig_atomic_t is_asked;
    const bool is_of_parent = sent->si_code == SI_USER && sent->si_pid == getppid();
    if (is_asked || is_of_parent)
        ends = 1;
    else
        drains = 1;
    is_asked = 1;
}

static void note_signal_for_ranks(int number, siginfo_t *sent, void *context)
{
    (void)context;
    switch (number) {
    case SIGUSR1:
    case SIGUSR2: drains = 1; break;
    case SIGTSTP: stops = 1; break;
    case SIGCONT: goes_on = 1; break;
    case SIGCHLD: break;
    default: note_end_signal(sent);
    }
}

static int64_t clock_ms(void)
{
    return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

static const int taken_signals[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGCHLD};
enum { TAKEN_SIGNALS = sizeof taken_signals / sizeof *taken_signals };

/* Signals take effect only in ppoll(). Signals that the parent has ignored stay ignored. */
static void take_signals_for_ranks(sigset_t *before)
{
    const struct sigaction action = {.sa_sigaction = note_signal_for_ranks, .sa_flags = SA_SIGINFO};
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
        if (sigaction(taken_signals[i], NULL, &now) == 0 && now.sa_sigaction == note_signal_for_ranks)
            signal(taken_signals[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, before, NULL);
}

static void send_to_ranks(const struct launch_of_ranks *launch, int number)
{
    for (unsigned rank = 0; rank < launch->started; rank++)
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
    const bool have_met = lanes_have_met(launch->lanes);
    if (take(&drains)) {
        if (have_met)
            send_to_ranks(launch, SIGUSR1);
        else /* a rank that has not joined yet may not be ready to drain */
            ends = 1;
    }
    if (take(&ends)) {
        if (launch->status < 0 && !have_met)
            launch->status = EXIT_STATUS_FAILED;
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

static _Noreturn void become_rank(const struct launch_of_ranks *launch, unsigned rank, char **words, pid_t parent)
{
    unsigned ranks = launch->ranks;
    give_signals_back(&launch->before);
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN); /* lets a background process write to the terminal */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before prctl() */
        _exit(EXIT_STATUS_FAILED);
    if (launch->gate[0] >= 0) {
        close(launch->gate[1]);
        if (read(launch->gate[0], &ranks, sizeof ranks) != sizeof ranks || rank >= ranks)
            _exit(EXIT_STATUS_FAILED);
        close(launch->gate[0]);
    }
    lanes_name(launch->memory, rank, ranks);
    execvp(words[0], words);
    fprintf(stderr, "hdss-fork: cannot run %s: %s\n", words[0], strerror(errno));
    _exit(EXIT_STATUS_USAGE);
}

static bool fork_rank(struct launch_of_ranks *launch, unsigned rank, char **words)
{
    const pid_t self = getpid(), pid = fork();
    if (pid == 0)
        become_rank(launch, rank, words, self);
    if (pid < 0)
        return false;
    setpgid(pid, pid); /* parent and child both call it, because either may be first */
    launch->pids[rank] = pid;
    launch->words[rank] = words;
    launch->running++;
    return true;
}

static unsigned fork_ranks(struct launch_of_ranks *launch, const struct context *context, unsigned *rank)
{
    unsigned started = 0;
    while (started < context->count && fork_rank(launch, *rank, context->words)) {
        launch->started++;
        started++;
        ++*rank;
    }
    return started;
}

/* In a build with one executable (deploy/one), the second word names the program. */
static bool is_same_program(const struct context *a, const struct context *b)
{
    const bool is_word = is_one_file() && a->words[1] != NULL && b->words[1] != NULL;
    return strcmp(a->words[0], b->words[0]) == 0 && (!is_word || strcmp(a->words[1], b->words[1]) == 0);
}

/* True if this program and all that follow are the same. Their ranks, usually workers, are then interchangeable. */
static bool is_last_program(const struct context *contexts, unsigned count, unsigned context)
{
    unsigned other = context + 1;
    while (other < count && is_same_program(&contexts[other], &contexts[context]))
        other++;
    return other == count;
}

/* Called if a rank cannot be started. If the rank belongs to the last program, keeps half of the ranks of that program,
 * because ranks need further processes; the others end. If it belongs to another program, or no rank would remain,
 * prints a message and returns false. */
static bool do_with_fewer(struct launch_of_ranks *launch, unsigned first, unsigned rank, bool is_last)
{
    const int why = errno;
    const unsigned kept = is_last && rank > first ? (rank - first + 1) / 2 : 0;
    if (kept == 0) {
        fprintf(stderr, "hdss-fork: cannot start rank %u: %s\n", rank, strerror(why));
        return false;
    }
    fprintf(stderr, "hdss-fork: cannot start rank %u: %s: the run goes on with %u worker%s\n", rank, strerror(why),
            kept, kept == 1 ? "" : "s");
    launch->ranks = first + kept;
    return lanes_shrink(launch->lanes, launch->memory, launch->ranks) == 0;
}

static bool fork_all(struct launch_of_ranks *launch, const struct context *contexts, unsigned count)
{
    unsigned rank = 0, first = 0;
    for (unsigned i = 0; i < count; i++) {
        if (i == 0 || !is_same_program(&contexts[i], &contexts[i - 1]))
            first = rank;
        if (fork_ranks(launch, &contexts[i], &rank) < contexts[i].count)
            return do_with_fewer(launch, first, rank, is_last_program(contexts, count, i));
    }
    return true;
}

static bool open_gate(const struct launch_of_ranks *launch)
{
    bool is_told = true;
    for (unsigned i = 0; i < launch->started; i++)
        is_told &= write(launch->gate[1], &launch->ranks, sizeof launch->ranks) == sizeof launch->ranks;
    return is_told;
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The other ranks must end, too, in three cases: the first rank has ended, a rank has aborted the launch, or a rank has
 * ended before all have joined. */
static void note_end_of_rank(struct launch_of_ranks *launch, pid_t pid, int status)
{
    unsigned rank = 0;
    while (rank < launch->started && launch->pids[rank] != pid)
        rank++;
    if (rank == launch->started)
        return;
    launch->pids[rank] = 0;
    launch->running--;
    if (rank >= launch->ranks)
        return;
    if (lanes_slot(launch->lanes, rank) == SLOT_FILLED)
        lanes_set_slot(launch->lanes, rank, SLOT_CLOSED);
    const int aborted = lanes_aborted(launch->lanes);
    const bool is_in_vain = aborted >= 0 || !lanes_have_met(launch->lanes);
    if (launch->status < 0 && (rank == 0 || is_in_vain))
        launch->status = aborted >= 0 ? aborted : status_of(status);
    if (rank == 0 || is_in_vain)
        kill_in(launch, is_in_vain ? 0 : LEAVE_MS);
}

/* Kills the remaining processes of an ended rank's process group. This must come before the rank is reaped: after that,
 * the ID of the group may be used again by another group. */
static void reap_ranks(struct launch_of_ranks *launch)
{
    int status;
    siginfo_t ended = {0};
    while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0) {
        kill(-ended.si_pid, SIGKILL);
        if (waitpid(ended.si_pid, &status, 0) == ended.si_pid)
            note_end_of_rank(launch, ended.si_pid, status);
        ended.si_pid = 0;
    }
}

static void fill_slot(struct launch_of_ranks *launch, unsigned rank)
{
    const bool is_ending = launch->kill_ms != 0 || launch->status >= 0;
    const bool may_return = !is_ending && launch->returns[rank] < RETURNS_MAX;
    lanes_set_slot(launch->lanes, rank, may_return ? SLOT_FILLED : SLOT_CLOSED);
    if (may_return && fork_rank(launch, rank, launch->words[rank]))
        fprintf(stderr, "hdss-fork: rank %u was lost: it is started again, %u of %u times\n", rank,
                ++launch->returns[rank], RETURNS_MAX);
    else if (!is_ending) {
        lanes_set_slot(launch->lanes, rank, SLOT_CLOSED);
        fprintf(stderr, "hdss-fork: rank %u was lost, and is not started again%s\n", rank,
                may_return ? ": there cannot be another process" : "");
    }
}

/* Starts ranks in slots that the first rank has freed. Kills a process in two cases: the first rank has closed its
 * slot, or the first rank has ended before the process has joined. */
static void look_at_slots(struct launch_of_ranks *launch)
{
    for (unsigned rank = 1; rank < launch->ranks; rank++) {
        const enum lanes_slot slot = lanes_slot(launch->lanes, rank);
        if (slot == SLOT_FREE && launch->pids[rank] == 0)
            fill_slot(launch, rank);
        else if (launch->pids[rank] > 0 && (slot == SLOT_CLOSED || (slot == SLOT_FILLED && launch->status >= 0)))
            kill(launch->pids[rank], SIGKILL);
    }
}

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
        look_at_slots(launch);
        if (launch->kill_ms != 0 && clock_ms() >= launch->kill_ms) {
            send_to_ranks(launch, SIGKILL);
            launch->kill_ms = clock_ms() + LEAVE_MS;
        }
    }
    return launch->status < 0 ? EXIT_STATUS_FAILED : launch->status;
}

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

static void free_launch(struct launch_of_ranks *launch)
{
    lanes_free(launch->lanes);
    free(launch->pids);
    free(launch->words);
    free(launch->returns);
}

static int launch_all(const struct context *contexts, unsigned count, unsigned ranks)
{
    struct launch_of_ranks launch = {.ranks = ranks,
                                     .status = -1,
                                     .gate = {-1, -1},
                                     .pids = calloc(ranks, sizeof *launch.pids),
                                     .words = calloc(ranks, sizeof *launch.words),
                                     .returns = calloc(ranks, sizeof *launch.returns)};
    const bool has_memory = launch.pids != NULL && launch.words != NULL && launch.returns != NULL;
    struct error error = {"out of memory"};
    /* The limit of file sizes applies to shared memory, too. Without SIGXFSZ, lanes_make() fails with an error. */
    void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);
    launch.memory = has_memory ? lanes_make(&launch.lanes, ranks, &error) : -1;
    if (launch.memory < 0) {
        fprintf(stderr, "hdss-fork: %s\n", error.text);
        free_launch(&launch);
        return EXIT_STATUS_FAILED;
    }
    signal(SIGXFSZ, before);
    take_signals_for_ranks(&launch.before);
    launch.awake = launch.before;
    sigdelset(&launch.awake, SIGCHLD);
    if (pipe(launch.gate) < 0 || !fork_all(&launch, contexts, count) || !open_gate(&launch)) {
        launch.status = EXIT_STATUS_FAILED;
        kill_in(&launch, 0);
    }
    close(launch.gate[0]);
    close(launch.gate[1]);
    launch.gate[0] = launch.gate[1] = -1;
    const int status = attend_ranks(&launch);
    close(launch.memory);
    free_launch(&launch);
    return status;
}

int main(int argc, char **argv)
{
    struct context *contexts = calloc((size_t)argc, sizeof *contexts);
    file_hold_standard();
    if (contexts == NULL) {
        fputs("hdss-fork: out of memory\n", stderr);
        return EXIT_STATUS_FAILED;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf("Usage: hdss-fork " USAGE
               "\n\nRuns the ranks as processes of this machine that share memory, as `hdss run` does if all ranks are "
               "here.\n",
               LANES_RANKS_MAX);
        free(contexts);
        return fflush(stdout) == 0 ? EXIT_STATUS_DONE : EXIT_STATUS_FAILED;
    }
    const unsigned count = argc > 1 ? read_contexts(argv + 1, contexts) : 0;
    const unsigned ranks = sum_ranks(contexts, count);
    int status = EXIT_STATUS_USAGE;
    if (count == 0 || ranks < 1 || ranks > LANES_RANKS_MAX)
        fprintf(stderr, "hdss-fork: accepted: " USAGE "\n", LANES_RANKS_MAX);
    else
        status = launch_all(contexts, count, ranks);
    free(contexts);
    return status;
}
