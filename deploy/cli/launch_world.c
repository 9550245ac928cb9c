/* SPDX-License-Identifier: MIT */
/* The machine as a launch sees it: see launch_world.h. */
#include "deploy/cli/launch_world.h"
#include "common/job/status.h"
#include "common/os/cores.h"
#include "common/os/files.h"
#include "common/os/process.h"
#include "common/util/error.h"
#include "deploy/cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* If this process is killed, the launcher and all processes below it get REAPER_WAIT_MS to end. The reaper looks every
 * REAPER_LOOK_MS. */
enum { REAPER_WAIT_MS = 5000, REAPER_LOOK_MS = 50 };

struct real_world {
    struct launch_world world;
    int signals;
    sigset_t before;
    pid_t launcher, reaper;
};

struct family {
    pid_t pids[4096];
    unsigned count;
};

int64_t launch_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t real_now_ms(struct launch_world *world)
{
    (void)world;
    return launch_clock_ms();
}

static int real_poll(struct launch_world *world, struct pollfd *polled, unsigned count, int wait_ms)
{
    (void)world;
    return poll(polled, count, wait_ms);
}

static ssize_t real_read(struct launch_world *world, int descriptor, void *bytes, size_t size)
{
    (void)world;
    return read(descriptor, bytes, size);
}

static void real_close(struct launch_world *world, int descriptor)
{
    (void)world;
    close(descriptor);
}

static int real_open_pipe(struct launch_world *world, int ends[2], const char *variable)
{
    (void)world;
    char path[64];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), ends[1]);
    if (access(path, F_OK) < 0) {
        fcntl(ends[1], F_SETFD, 0);
        snprintf(path, sizeof path, STATUS_DESCRIPTOR, ends[1]);
    }
    return setenv(variable, path, 1);
}

static void real_close_pipe(struct launch_world *world, int ends[2], const char *variable)
{
    (void)world;
    unsetenv(variable);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

static void block_signals(sigset_t *before, sigset_t *taken)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};
    sigemptyset(taken);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(taken, numbers[i]);
    }
    signal(SIGCHLD, SIG_DFL);
    sigaddset(taken, SIGCHLD);
    sigprocmask(SIG_BLOCK, taken, before);
}

/* Opens a terminal for the ranks, which is like the terminal of standard error. From it the ranks learn whether to show
 * a progress line, and how wide the line may be. */
static int launch_open_terminal(int ends[2])
{
    char name[64];
    struct termios settings;
    struct winsize size;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0)
        return -1;
    ends[1] = -1;
    if (grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 && ptsname_r(ends[0], name, sizeof name) == 0)
        ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[1] < 0 || tcgetattr(ends[1], &settings) < 0) {
        close(ends[0]);
        return -1;
    }
    cfmakeraw(&settings);
    tcsetattr(ends[1], TCSANOW, &settings);
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
        ioctl(ends[1], TIOCSWINSZ, &size);
    return 0;
}

/* If standard output and standard error are one terminal, mpirun must write both to one terminal. With two, the order
 * of output and progress line would change. */
static bool one_terminal(void)
{
    struct stat output, errors;
    return isatty(STDOUT_FILENO) && fstat(STDOUT_FILENO, &output) == 0 && fstat(STDERR_FILENO, &errors) == 0 &&
           output.st_rdev == errors.st_rdev;
}

static int open_errors(const struct launch *how, int ends[2])
{
    bool shown = how->log == NULL && isatty(STDERR_FILENO);
    return (shown && launch_open_terminal(ends) == 0) || pipe2(ends, O_CLOEXEC) == 0 ? 0 : -1;
}

static _Noreturn void launch_become(const struct real_world *real, char *const *argv, const struct launch *how,
                                    int errors, pid_t parent)
{
    int null = file_open_nothing(), nowhere = null;
    int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* the parent died before prctl() */
        _exit(EXIT_STATUS_FAILED);
    dup2(null, STDIN_FILENO); /* a launcher in the background could not read from the terminal */
    if (how->log != NULL)
        dup2(fileno(how->log), STDOUT_FILENO);
    else if (how->output == LAUNCH_OUTPUT_SILENT)
        dup2(nowhere, STDOUT_FILENO);
    else if (how->output == LAUNCH_OUTPUT_APART || one_terminal())
        dup2(errors, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    signal(SIGTTOU, SIG_IGN);
    sigprocmask(SIG_SETMASK, &real->before, NULL);
    if (how->enter != NULL)
        how->enter();
    execvp(argv[0], argv);
    dprintf(own, "hdss: cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(EXIT_STATUS_USAGE);
}

static bool real_visit_children(struct launch_world *world, pid_t parent, process_visitor *visit, void *context)
{
    (void)world;
    return process_visit_children(parent, visit, context);
}

static bool add_family(pid_t pid, void *context)
{
    struct family *family = context;
    if (family->count == sizeof family->pids / sizeof *family->pids)
        return false;
    family->pids[family->count++] = pid;
    real_visit_children(NULL, pid, add_family, family);
    return true;
}

static bool family_runs(const struct family *family)
{
    unsigned i = 0;
    while (i < family->count && !process_runs(process_state(family->pids[i])))
        i++;
    return i < family->count;
}

/* If this process is killed, the kernel sends SIGTERM to the launcher. That is not always enough: a script does not
 * pass the signal on, and mpirun may hang while its ranks are in MPI_Init. So there is a process of its own, the
 * reaper. It waits for the end of this process, and then gives the launcher REAPER_WAIT_MS to end. After that it kills
 * all processes below the launcher, and the launcher's process group: a script that has ended may have left programs in
 * it. */
static _Noreturn void become_reaper(pid_t launcher, pid_t parent)
{
    static struct family family;
    sigset_t all;
    int number;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "hdss-reaper");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    file_close_from(0);
    while (getppid() == parent)
        sigwait(&all, &number);
    const int64_t end_ms = launch_clock_ms() + REAPER_WAIT_MS;
    bool is_group_told = false;
    do {
        if (process_runs(process_state(launcher))) {
            family.count = 0;
            add_family(launcher, &family);
            /* A second SIGTERM would make mpirun end without ending its ranks. */
        } else if (!is_group_told)
            is_group_told = kill(-launcher, SIGTERM) == 0;
        poll(NULL, 0, REAPER_LOOK_MS);
    } while ((family_runs(&family) || kill(-launcher, 0) == 0) && launch_clock_ms() < end_ms);
    kill(-launcher, SIGKILL);
    for (unsigned i = 0; i < family.count; i++)
        kill(family.pids[i], SIGKILL);
    _exit(EXIT_STATUS_DONE);
}

static int real_prepare(struct launch_world *world, const struct launch *how, struct started_launcher *started)
{
    struct real_world *real = (struct real_world *)world;
    sigset_t taken;
    int ends[2];
    block_signals(&real->before, &taken);
    real->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (real->signals < 0 || open_errors(how, ends) < 0)
        return -1;
    *started = (struct started_launcher){
        .parent = getpid(), .signals = real->signals, .errors = ends[0], .errors_end = ends[1]};
    return 0;
}

static int real_start(struct launch_world *world, char *const *argv, const struct launch *how,
                      struct started_launcher *started)
{
    struct real_world *real = (struct real_world *)world;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* ranks whose launcher has ended become children of this process */
    real->reaper = -1;
    real->launcher = started->pid = fork();
    if (started->pid == 0)
        launch_become(real, argv, how, started->errors_end, started->parent);
    if (started->pid > 0)
        real->reaper = fork();
    if (real->reaper == 0)
        become_reaper(started->pid, started->parent);
    close(started->errors_end);
    fcntl(started->errors, F_SETFL, O_NONBLOCK);
    return started->pid < 0 ? -1 : 0;
}

static int real_next_signal(struct launch_world *world)
{
    struct signalfd_siginfo info;
    return read(((struct real_world *)world)->signals, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

static void real_stop_self(struct launch_world *world)
{
    (void)world;
    raise(SIGSTOP);
}

static void real_release_signals(struct launch_world *world)
{
    const struct real_world *real = (struct real_world *)world;
    close(real->signals);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    sigprocmask(SIG_SETMASK, &real->before, NULL);
}

static unsigned real_cores(struct launch_world *world)
{
    (void)world;
    return cores_usable();
}

static int real_kill(struct launch_world *world, pid_t pid, int signal_number)
{
    (void)world;
    return kill(pid, signal_number);
}

static bool real_reap(struct launch_world *world, pid_t pid, int *status)
{
    struct real_world *real = (struct real_world *)world;
    if (waitpid(pid, status, WNOHANG) != pid)
        return false;
    if (pid == real->launcher && real->reaper > 0) {
        kill(real->reaper, SIGKILL);
        waitpid(real->reaper, NULL, 0);
        real->reaper = -1;
    }
    return true;
}

static char real_state(struct launch_world *world, pid_t pid)
{
    (void)world;
    return process_state(pid);
}

static pid_t real_parent(struct launch_world *world, pid_t pid)
{
    (void)world;
    return process_parent(pid);
}

static bool real_read_caught(struct launch_world *world, pid_t pid, uint64_t *caught)
{
    (void)world;
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    *caught = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigCgt:", 7) == 0)
            *caught = strtoull(line + 7, NULL, 16);
    fclose(file);
    return true;
}

static size_t real_read_command_line(struct launch_world *world, pid_t pid, char *line, size_t size)
{
    (void)world;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(line, 1, size, file) : 0;
    if (file != NULL)
        fclose(file);
    return length;
}

struct launch_world *launch_world_real(void)
{
    static struct real_world real = {
        .world =
            {
                .now_ms = real_now_ms,
                .poll = real_poll,
                .read = real_read,
                .close = real_close,
                .open_pipe = real_open_pipe,
                .close_pipe = real_close_pipe,
                .prepare = real_prepare,
                .start = real_start,
                .next_signal = real_next_signal,
                .stop_self = real_stop_self,
                .release_signals = real_release_signals,
                .cores = real_cores,
                .kill = real_kill,
                .reap = real_reap,
                .state = real_state,
                .parent = real_parent,
                .visit_children = real_visit_children,
                .read_caught = real_read_caught,
                .read_command_line = real_read_command_line,
            },
        .signals = -1,
    };
    return &real.world;
}
