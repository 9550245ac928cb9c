/* SPDX-License-Identifier: MIT */
/* mpirun as a child: see launch.h. */
#include "deploy/cli/launch.h"
#include "common/control/socket.h"
#include "common/mpi/folder.h"
#include "common/os/process.h"
#include "common/os/signals.h"
#include "common/util/error.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/launcher_watch.h"
#include "deploy/cli/ready.h"
#include "deploy/cli/stderr_filter.h"
#include "deploy/cli/whole_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
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

/* Within START_MS of the launch every rank is up. */
enum { READY_LOOK_MS = 10, START_MS = 120000, REMOTE_START_MS = 5000 };

/* A line whose end does not come is shown after LINE_MS. How often a launcher is looked at that may not end by itself,
 * and when nothing but its end is awaited; and how long it has to end its ranks when it must, or itself when it has
 * none. */
enum { LINE_MS = 250, WATCH_LOOK_MS = 500, END_LOOK_MS = 50, KILL_MS = 5000, KILL_EMPTY_MS = 2000 };

/* Children of this process that are kept apart. */
#define CHILDREN_MAX 256
/* Time that a supermaster has whose launcher was killed, before it is killed, too. */
enum { ORPHANED_MS = 10000 };

struct child {
    pid_t pid;
    int signals;         /* signalfd */
    int errors;          /* own end of the child's standard error */
    unsigned asked;      /* number of times that the user asked to stop */
    bool drain_waits;    /* SIGUSR1 is due as soon as it can be taken */
    int64_t ready_by_ms; /* when SIGUSR1 is sent whatever the ranks catch */
    int64_t begin_by_ms; /* when the run is ended that has not begun, though it was asked to stop; 0: it was not */
    bool not_begun;      /* it was ended for that */
    bool is_told_drain;  /* somebody else has sent the ranks a signal: not the launcher that was ended here */
    bool drain_is_said;  /* a line on standard error says that the run drains */
    bool ended;
    bool has_said;   /* it, or a rank, has printed something on standard error */
    int status;      /* status as waitpid() gives it */
    sigset_t before; /* the mask of signals, as it was */
    struct stderr_filter stderr_filter;
    struct whole_lines lines; /* behind the filter */
    int64_t errors_ms;        /* when something last came */
    const struct launch *how;
    struct launcher_watch watch; /* where how->reports */
    int64_t end_ms;              /* when it is killed, as it was asked to end; 0: it was not */
    pid_t earlier[CHILDREN_MAX]; /* children that this process had before: of the program that has become it */
    unsigned earlier_count;
    int64_t late_ms; /* when its time is over; 0: never */
    bool late;
    bool outlived; /* the supermaster has said how the run went after its launcher was gone */
};

int64_t launch_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void write_error(void *context, const char *bytes, size_t count)
{
    struct child *child = context;
    child->has_said |= count > 0;
    fwrite(bytes, 1, count, child->how->log != NULL ? child->how->log : stderr);
}

static void join_lines(void *context, const char *bytes, size_t count)
{
    whole_lines_take(&((struct child *)context)->lines, bytes, count);
}

/* A line of our own, which a progress line may stand in front of. */
static void launch_say(const char *text)
{
    say_note("hdss", text);
}

/* The signals we take, without those that whoever started us wants ignored (nohup, a shell's background jobs). */
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

/* Opens a terminal like that of our standard error for the ranks' own: they look at mpirun's to see whether a progress
 * line makes sense, and how wide it may be. */
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

/* Is standard output the same terminal as standard error? Then mpirun's have to go the same way, or what belongs behind
 * a progress line comes before it. */
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

static _Noreturn void launch_become(const struct child *child, char *const *argv, int errors, pid_t parent)
{
    int null = open("/dev/null", O_RDONLY), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* the parent died before this process asked to be told */
        _exit(EXIT_STATUS_FAILED);
    dup2(null, STDIN_FILENO); /* the child is not in the terminal's foreground */
    if (child->how->log != NULL)
        dup2(fileno(child->how->log), STDOUT_FILENO);
    else if (child->how->output == LAUNCH_OUTPUT_SILENT)
        dup2(nowhere, STDOUT_FILENO);
    else if (child->how->output == LAUNCH_OUTPUT_APART || one_terminal())
        dup2(errors, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    signal(SIGTTOU, SIG_IGN);
    sigprocmask(SIG_SETMASK, &child->before, NULL);
    if (child->how->enter != NULL)
        child->how->enter();
    execvp(argv[0], argv);
    dprintf(own, "hdss: cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(EXIT_STATUS_USAGE);
}

static int launch_start(struct child *child, char *const *argv)
{
    sigset_t taken;
    const struct launch *how = child->how;
    if (how->reports && launcher_watch_init(&child->watch, how->ranks, how->rank_depth, how->remote, how->survives,
                                            launch_clock_ms()) < 0)
        return -1;
    child->watch.flat = how->flat;
    int ends[2];
    pid_t self = getpid();
    if (whole_lines_init(&child->lines, how->log == NULL && colour_is_on(STDERR_FILENO), write_error, child) < 0)
        return -1;
    block_signals(&child->before, &taken);
    child->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child->signals < 0 || open_errors(how, ends) < 0)
        return -1;
    if (how->side != NULL && how->side->begin != NULL)
        how->side->begin(how->side->context, ends[1]);
    child->earlier_count = children_of(self, child->earlier, CHILDREN_MAX);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* ranks whose launcher is killed become children of this process */
    child->pid = fork();
    if (child->pid == 0)
        launch_become(child, argv, ends[1], self);
    close(ends[1]);
    child->errors = ends[0];
    fcntl(child->errors, F_SETFL, O_NONBLOCK);
    stderr_filter_init(&child->stderr_filter, join_lines, child);
    return child->pid < 0 ? -1 : 0;
}

/* Sends SIGUSR1 as soon as it is of use, or when waiting for that makes no sense any more. A launcher passes it on to
 * those that it has started: before the run has begun all ranks must be there, afterwards some may have been lost. */
static void look_ready(struct child *child)
{
    const struct launch *how = child->how;
    const unsigned ranks = how->reports && !how->remote && !child->watch.begun ? how->ranks : 1;
    if (!ready_for(child->pid, how->rank_depth, ranks, SIGUSR1) && launch_clock_ms() < child->ready_by_ms)
        return;
    kill(child->pid, SIGUSR1);
    child->drain_waits = false;
}

static void begin_drain(struct child *child)
{
    child->drain_is_said = child->drain_waits = child->watch.asked = true;
    if (child->how->reports)
        child->begin_by_ms = launch_clock_ms() + child->how->begin_ms;
    look_ready(child);
}

static void ask_to_stop(struct child *child)
{
    char text[160];
    child->asked += child->how->at_once && child->asked == 0 ? 2 : 1;
    switch (child->asked) {
    case 1:
        launch_say("draining: nothing begins any more, and what runs is finished and kept; once more to give it up");
        begin_drain(child);
        break;
    case 2:
        snprintf(text, sizeof text, "giving up: the ranks are ended%s",
                 child->how->kept != NULL ? child->how->kept : "");
        launch_say(text);
        child->drain_waits = false;
        kill(child->pid, SIGTERM);
        break;
    default: kill(child->pid, SIGKILL);
    }
}

/* Ctrl-Z. Pods would take ranks that are stopped for lost. */
static void stop(struct child *child)
{
    if (child->how->has_pods)
        launch_say("stopped: the run goes on, as pods on other hosts do");
    else
        kill(child->pid, SIGTSTP);
    raise(SIGSTOP);
}

static void take_signal(struct child *child, int number)
{
    switch (number) {
    case SIGCHLD: child->ended = waitpid(child->pid, &child->status, WNOHANG) == child->pid; break;
    case SIGTSTP: stop(child); break;
    case SIGCONT: kill(child->pid, SIGCONT); break;
    case SIGUSR1:
    case SIGUSR2:
        if (child->asked == 0)
            ask_to_stop(child);
        break;
    default: ask_to_stop(child);
    }
}

static void take_signals(struct child *child)
{
    struct signalfd_siginfo info;
    while (!child->ended && read(child->signals, &info, sizeof info) == sizeof info)
        take_signal(child, (int)info.ssi_signo);
}

static void pass_errors(struct child *child)
{
    char bytes[4096];
    ssize_t count;
    child->errors_ms = launch_clock_ms();
    while ((count = read(child->errors, bytes, sizeof bytes)) > 0)
        stderr_filter_take(&child->stderr_filter, bytes, (size_t)count);
    fflush(child->how->log != NULL ? child->how->log : stderr);
    if (count == 0 || errno != EAGAIN) { /* the other end is closed; EIO for a terminal */
        close(child->errors);
        child->errors = -1;
    }
}

/* Shows what has come of the progress line, among what the ranks print. */
static void pass_progress(struct child *child)
{
    char bytes[4096];
    size_t count;
    while ((count = launcher_watch_take_progress(&child->watch, bytes, sizeof bytes)) > 0)
        whole_lines_take(&child->lines, bytes, count);
    fflush(child->how->log != NULL ? child->how->log : stderr);
}

/* Ends a launcher that does not end by itself: it ends its ranks, or they are killed with it. */
static void end_launcher(struct child *child)
{
    if (child->end_ms == 0) {
        kill(child->pid, SIGTERM);
        child->end_ms = launch_clock_ms() + (child->watch.cleared ? KILL_EMPTY_MS : KILL_MS);
    } else if (launch_clock_ms() >= child->end_ms) {
        ranks_signal(child->pid, child->how->rank_depth, SIGKILL);
        kill(child->pid, SIGKILL);
    }
}

/* When the run is over the ranks of this machine that are left hang, and are of no more use. A launcher whose ranks
 * have all ended does so, too; to end them itself takes it two seconds. On several machines some of its children are
 * those that lead there. */
static bool end_ranks(struct child *child)
{
    if (!child->watch.ended || child->how->remote || child->watch.running == 0 || child->watch.cleared)
        return false;
    ranks_signal(child->pid, child->how->rank_depth, SIGKILL);
    child->watch.cleared = true;
    child->watch.changed_ms = launch_clock_ms();
    return true;
}

/* True for a run that went through to its end, so that its ranks had nothing to say at the last moment. What they say
 * of a failure may still be with the launcher, and would be lost with it. */
static bool went_through(const struct child *child)
{
    const int status = launcher_watch_status(&child->watch);
    return (status == EXIT_STATUS_DONE || status == EXIT_STATUS_TASKS) && !child->watch.degraded;
}

/* Ends ranks that have nothing left to do but to leave MPI, and their launcher, which together take longer for it than
 * a short run. The launcher is stopped first, so that it takes no notice. */
static void end_soon(struct child *child)
{
    const struct launch *how = child->how;
    const bool is_simple = how->reports && how->survives && !how->remote && how->rank_depth == 1;
    if (!how->ends_soon || !is_simple || !went_through(child) || child->end_ms != 0)
        return;
    kill(child->pid, SIGSTOP);
    ranks_signal(child->pid, how->rank_depth, SIGKILL);
    kill(child->pid, SIGKILL);
    child->end_ms = launch_clock_ms() + KILL_MS;
}

/* Whoever is stopped for so long while the others wait for it is as good as dead. */
static void end_stopped(struct child *child)
{
    char text[120];
    if (!launcher_watch_is_stopped(&child->watch, child->pid, launch_clock_ms()))
        return;
    const bool holds = launcher_watch_holds(&child->watch, child->pid);
    const bool leads = child->watch.begun && !child->watch.flat;
    snprintf(text, sizeof text, "%s has been stopped for %u seconds%s: it is ended",
             holds   ? "the launcher"
             : leads ? child->how->is_pod ? "the pod's master" : "the supermaster"
                     : "a rank",
             child->watch.stopped_looks,
             !child->watch.begun                                                  ? " before the run had begun"
             : child->watch.flat && (child->watch.draining || child->watch.asked) ? " and the others drain"
                                                                                  : "");
    launch_say(text);
    child->watch.stopped_looks = 0;
    if (holds || leads)
        kill(holds ? child->pid : child->watch.lead, SIGKILL);
    else
        ranks_end_stopped(child->pid, child->how->rank_depth);
}

/* Says what becomes of the launch, in the place where the ranks print. */
static void launch_tell(const struct child *child, const char *text)
{
    if (child->how->log == NULL)
        launch_say(text);
    else
        fprintf(child->how->log, "hdss: %s\n", text);
}

/* Says, once, that the ranks drain where somebody else has asked them to. */
static void say_drain(struct child *child)
{
    child->is_told_drain |= child->watch.draining && child->end_ms == 0;
    if (!child->is_told_drain || child->drain_is_said)
        return;
    launch_tell(child, "draining, as the ranks were sent a signal: nothing begins any more, and what runs is finished "
                       "and kept");
    child->drain_is_said = true;
}

static void look_after(struct child *child)
{
    launcher_watch_take(&child->watch, launch_clock_ms());
    if (!child->ended) {
        end_soon(child);
        end_stopped(child);
    }
    say_drain(child);
    /* any launcher may have been told to go on, and before the run has begun ranks wait in MPI for a lost one */
    if (child->ended || !(child->how->survives || child->watch.ended || !child->watch.begun))
        return;
    /* one that is stopped has what the ranks have printed */
    if (child->watch.ended && process_state(child->pid) == PROCESS_STOPPED)
        kill(child->pid, SIGCONT);
    if (child->watch.ended && !child->how->remote) /* all that is left for them to do is to leave */
        ranks_rouse(child->pid, child->how->rank_depth);
    if (child->end_ms != 0 ||
        (launcher_watch_is_over(&child->watch, child->pid, launch_clock_ms()) && !end_ranks(child)))
        end_launcher(child);
}

/* However it is asked to end, it does. */
static void launch_look_at_time(struct child *child)
{
    if (child->ended || child->late_ms == 0 || launch_clock_ms() < child->late_ms)
        return;
    child->late = true;
    end_launcher(child);
}

/* Nothing is lost of a run that has not begun: a launcher that hangs is not waited for. */
static bool is_to_begin(const struct child *child)
{
    return child->begin_by_ms != 0 && !child->watch.begun && !child->watch.ended;
}

static void look_at_begin(struct child *child)
{
    child->not_begun |= is_to_begin(child) && launch_clock_ms() >= child->begin_by_ms;
    if (child->not_begun && !child->ended)
        end_launcher(child);
}

/* Before the time is over that somebody else has set. */
static void drain_in_time(struct child *child)
{
    if (child->ended || child->asked > 0 || child->how->drain_ms == 0 || launch_clock_ms() < child->how->drain_ms)
        return;
    launch_say("the time is nearly over");
    ask_to_stop(child);
}

/* Has the caller go on with what it does beside. */
static void look_aside(struct child *child)
{
    const struct launch_side *side = child->how->side;
    if (side == NULL)
        return;
    const bool is_over = child->how->reports && (child->watch.over || child->watch.ended);
    const bool runs = !child->how->reports || child->watch.begun;
    const enum launch_stage stage = is_over ? LAUNCH_IS_OVER : runs ? LAUNCH_RUNS : LAUNCH_STARTS;
    const enum launch_wish wish = side->look(side->context, stage);
    if (side->has_printed != NULL && side->has_printed(side->context)) {
        whole_lines_redraw(&child->lines);
        fflush(stderr);
    }
    if (child->ended)
        return;
    if (wish == LAUNCH_DRAINS && child->asked == 0) {
        child->asked = 1;
        begin_drain(child);
    } else if (wish == LAUNCH_ENDS || wish == LAUNCH_KILLS) {
        child->drain_waits = false;
        if (wish == LAUNCH_KILLS)
            child->end_ms = launch_clock_ms();
        end_launcher(child);
    }
}

static int own_longest_wait(const struct child *child)
{
    bool looks = child->how->reports || child->late_ms > 0 || child->how->drain_ms > 0 || child->watch.ended ||
                 is_to_begin(child) || child->not_begun;
    if (child->drain_waits)
        return READY_LOOK_MS;
    /* ranks that leave in order are not looked at so often: where hundreds share few cores they need them */
    bool hurries = child->how->survives && child->watch.ended && child->watch.degraded;
    return hurries ? END_LOOK_MS : whole_lines_hold(&child->lines) ? LINE_MS : looks ? WATCH_LOOK_MS : -1;
}

static int longest_wait(const struct child *child)
{
    const struct launch_side *side = child->how->side;
    const int own = own_longest_wait(child), other = side != NULL ? side->wait_ms(side->context) : -1;
    return own < 0 || (other >= 0 && other < own) ? other : own;
}

static void attend(struct child *child)
{
    const struct launch_side *side = child->how->side;
    const int said = child->how->reports ? child->watch.ends[0] : -1;
    const int shown = child->how->reports ? child->watch.progress[0] : -1;
    while (!child->ended) {
        struct pollfd polled[4 + LAUNCH_SIDE_DESCRIPTORS] = {{.fd = child->signals, .events = POLLIN},
                                                             {.fd = child->errors, .events = POLLIN},
                                                             {.fd = said, .events = POLLIN},
                                                             {.fd = shown, .events = POLLIN}};
        const unsigned more = side != NULL ? side->wait_for(side->context, polled + 4) : 0;
        poll(polled, 4 + more, longest_wait(child));
        take_signals(child);
        if (child->how->reports)
            look_after(child);
        launch_look_at_time(child);
        look_at_begin(child);
        drain_in_time(child);
        if (polled[3].revents != 0)
            pass_progress(child);
        if (child->errors >= 0 && polled[1].revents != 0)
            pass_errors(child);
        if (whole_lines_hold(&child->lines) && launch_clock_ms() - child->errors_ms >= LINE_MS)
            whole_lines_flush(&child->lines, false);
        look_aside(child);
        if (child->drain_waits && !child->ended)
            look_ready(child);
    }
    if (shown >= 0)
        pass_progress(child);
    if (child->errors >= 0)
        pass_errors(child); /* the last lines; somebody may still hold the other end open */
    stderr_filter_flush(&child->stderr_filter);
    whole_lines_flush(&child->lines, true); /* a rank that was ended has left its progress line */
    fflush(stderr);
}

/* Waits for a supermaster whose launcher was killed: it ends a moment later, or has still to say how the run went.
 * Nobody else may go on with the run before. */
static void outlive(struct child *child)
{
    struct signalfd_siginfo info;
    const int64_t end_ms = launch_clock_ms() + ORPHANED_MS;
    const pid_t lead = child->watch.lead;
    if (!child->how->reports || !child->watch.begun || child->watch.ended || has_ended(lead))
        return;
    while (!child->watch.ended && !has_ended(lead)) {
        struct pollfd polled[] = {{.fd = child->signals, .events = POLLIN},
                                  {.fd = child->watch.ends[0], .events = POLLIN}};
        poll(polled, 2, END_LOOK_MS);
        while (read(child->signals, &info, sizeof info) == sizeof info)
            if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGCONT && info.ssi_signo != SIGTSTP)
                kill(lead, child->asked++ == 0 ? SIGTERM : SIGKILL);
        if (launch_clock_ms() >= end_ms)
            kill(lead, SIGKILL);
        launcher_watch_take(&child->watch, launch_clock_ms());
    }
    launcher_watch_take(&child->watch, launch_clock_ms());
    child->outlived = child->watch.ended;
    if (child->outlived) {
        const bool is_kept = launcher_watch_status(&child->watch) != EXIT_STATUS_DONE && child->how->kept != NULL;
        char text[200];
        snprintf(text, sizeof text, "the launcher was killed: the run ended without it%s",
                 is_kept ? child->how->kept : "");
        launch_tell(child, text);
    }
}

/* Restores the signals for the next launch. */
static void launch_release(struct child *child)
{
    if (child->errors >= 0)
        close(child->errors);
    close(child->signals);
    whole_lines_fini(&child->lines);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    sigprocmask(SIG_SETMASK, &child->before, NULL);
    if (child->how->reports)
        launcher_watch_fini(&child->watch);
}

/* For a launcher that lets ranks die the status says nothing where it is 0, and where it is that of a rank which
 * left. */
static int explain_silence(const struct child *child, struct launch *how)
{
    const char *leader = how->is_pod     ? "the pod ended without leaving its set"
                         : !how->flat    ? "the run ended without its supermaster"
                         : how->survives ? "the run ended without rank 0"
                                         : "the run ended without one of its workers";
    if (child->asked < 2) /* else it was given up, which was said */
        snprintf(how->lost, sizeof how->lost, "%s",
                 child->watch.begun ? leader : "a rank was lost before the run had begun");
    return EXIT_STATUS_FAILED;
}

void launch_say_lost(const struct launch *how, const char *consequence)
{
    if (how->lost[0] != '\0' && how->log != NULL)
        fprintf(how->log, "hdss: %s%s\n", how->lost, consequence);
    else if (how->lost[0] != '\0') {
        char text[600];
        snprintf(text, sizeof text, "%s%s", how->lost, consequence);
        say_error("hdss", text);
    }
}

/* A launcher that lets no rank die sends the others SIGTERM when one has died. */
static bool was_asked(const struct child *child)
{
    return child->asked > 0 || (child->is_told_drain && child->how->survives);
}

/* True if the status of the rank that leads says all: it was told when all ranks were through, and the launcher's own
 * is that of one that lets ranks die, or was ended itself. MPICH's is 0 after a drain; Open MPI's is 1 where mpirun was
 * sent a signal, also when all was done. */
static bool report_counts(const struct child *child, int reported)
{
    const bool drained = (child->asked > 0 || child->is_told_drain) && !child->watch.degraded;
    const bool interrupted = WIFEXITED(child->status) && WEXITSTATUS(child->status) == EXIT_STATUS_FAILED;
    return child->how->survives || child->status == 0 || drained || child->watch.cleared || child->end_ms != 0 ||
           child->outlived || (reported == EXIT_STATUS_DONE && interrupted);
}

/* Returns the signal that has ended the launcher, or by its status a process that it needs; 0: none has. */
static int ending_signal(const struct child *child)
{
    return WIFSIGNALED(child->status)         ? WTERMSIG(child->status)
           : WEXITSTATUS(child->status) > 128 ? WEXITSTATUS(child->status) - 128
                                              : 0;
}

static bool is_draining_signal(int number)
{
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        if (number == drain_signals[i])
            return true;
    return false;
}

/* True for a launcher that was sent a signal, and has passed it on and killed the ranks, or has ended by it, as MPICH's
 * does by some, while the ranks drain. One that ends its ranks because one was lost lets none die. */
static bool is_cut(const struct child *child)
{
    const bool has_killed = child->is_told_drain && child->how->survives && WIFEXITED(child->status) &&
                            WEXITSTATUS(child->status) == EXIT_STATUS_FAILED;
    const bool drains = child->is_told_drain || child->asked > 0;
    return child->end_ms == 0 && (has_killed || (drains && is_draining_signal(ending_signal(child))));
}

/* True for a launcher that was sent a signal before a rank could take it: the signal has ended it, or it has ended by
 * itself, with all that it had started, and without a word. One that fails says why, and so does a rank. */
static bool is_cut_short(const struct child *child)
{
    bool is_cut = WIFEXITED(child->status) && WEXITSTATUS(child->status) == EXIT_STATUS_FAILED && !child->has_said;
    is_cut |= WIFSIGNALED(child->status) && is_draining_signal(WTERMSIG(child->status));
    return is_cut && !child->watch.begun && child->end_ms == 0 && child->asked == 0;
}

/* True where ranks have drained before the run had begun, and one that was not ready for the signal yet died of it, so
 * that the launcher had to be ended. */
static bool has_drained_away(const struct child *child)
{
    return was_asked(child) && child->end_ms != 0 && !child->watch.begun;
}

/* For one that was ended before the ranks had drained. */
static int explain_cut(const struct child *child)
{
    char text[200];
    snprintf(text, sizeof text, "the launcher was ended, and the ranks before they had drained%s",
             child->how->kept != NULL ? child->how->kept : "");
    launch_tell(child, text);
    return child->how->is_resumable ? EXIT_STATUS_DRAINED : EXIT_STATUS_FAILED;
}

static int launch_explain(const struct child *child, struct launch *how)
{
    int reported = how->reports ? launcher_watch_status(&child->watch) : -1;
    if (reported >= 0 && report_counts(child, reported))
        return reported;
    if (reported < 0 && how->reports && (!child->watch.begun || child->not_begun) &&
        (child->asked == 1 ||
         (child->asked == 0 && (is_cut(child) || is_cut_short(child) || has_drained_away(child))))) {
        launch_tell(child, "stopped before the run had begun");
        return EXIT_STATUS_DRAINED;
    }
    if (reported < 0 && child->watch.begun && child->asked <= 1 && is_cut(child))
        return explain_cut(child);
    if (how->survives && child->watch.started && (child->status == 0 || child->end_ms != 0 || child->watch.begun))
        return explain_silence(child, how);
    if (how->reports && child->status == 0) {
        launch_tell(child,
                    "the launcher has ended, and no rank has said how the run went: was it sent a signal before its "
                    "ranks were ready, or is it not the mpirun of the MPI library that HDSS is built with?");
        return EXIT_STATUS_FAILED;
    }
    int status = WIFEXITED(child->status) ? WEXITSTATUS(child->status) : 128 + WTERMSIG(child->status);
    if (status == EXIT_STATUS_FAILED && reported < 0 && child->watch.begun)
        return explain_silence(child, how);
    if (status == EXIT_STATUS_FAILED && reported < 0 && child->asked == 0 && !child->late && !child->has_said)
        launch_tell(child, child->watch.started ? "a rank was lost before the run had begun"
                                                : "the launcher has failed, and has not said why");
    if (status <= EXIT_STATUS_DRAINED)
        return status;
    int number = status - 128;
    if (number > 0 && number < NSIG && sigabbrev_np(number) != NULL)
        snprintf(how->lost, sizeof how->lost, "a process of the run was ended by SIG%s", sigabbrev_np(number));
    else
        snprintf(how->lost, sizeof how->lost, "mpirun ended with status %d", status);
    return EXIT_STATUS_FAILED;
}

static bool is_earlier(const struct child *child, pid_t pid)
{
    for (unsigned i = 0; i < child->earlier_count; i++)
        if (child->earlier[i] == pid)
            return true;
    return child->earlier_count == CHILDREN_MAX; /* who else was there is not known */
}

/* Ranks of this machine miss a launcher that is killed, and leave; who does not, because it is stopped or hangs, is
 * ended. Behind a launcher that has ended by itself nobody has anything left to do. */
static void end_orphans(const struct child *child)
{
    const int64_t kill_ms = launch_clock_ms() + (WIFSIGNALED(child->status) ? KILL_MS : 0);
    for (unsigned running = 1; running > 0 && launch_clock_ms() < kill_ms + KILL_EMPTY_MS;) {
        pid_t children[CHILDREN_MAX];
        const unsigned count = children_of(getpid(), children, CHILDREN_MAX);
        running = 0;
        for (unsigned i = 0; i < count; i++) {
            if (is_earlier(child, children[i]) || waitpid(children[i], NULL, WNOHANG) == children[i])
                continue;
            running++;
            if (launch_clock_ms() >= kill_ms)
                kill(children[i], SIGKILL);
        }
        if (running > 0)
            poll(NULL, 0, READY_LOOK_MS);
    }
}

/* Clears away what those leave who are killed: ranks all at once, or the launcher. Of one that is killed when all is
 * done the others may not hear, as long as it ends. */
static void launch_clear(const struct child *child)
{
    const bool told = !child->how->reports || (child->watch.ended && !child->watch.degraded);
    const bool in_order = child->status == 0 && told && child->end_ms == 0 && !child->watch.cleared;
    if (!in_order) {
        end_orphans(child);
        control_clear();
        if (child->how->clear != NULL)
            child->how->clear(child->pid);
    }
    folder_clear_all();
}

/* False, after a line, where the summary is lost. */
static bool launch_print_summary(struct child *child)
{
    const struct launch *how = child->how;
    FILE *to = how->log != NULL ? how->log : how->summary_to != NULL ? how->summary_to : stdout;
    char text[120];
    const int status = launcher_watch_status(&child->watch);
    const char *colour = !colour_is_on(fileno(to))      ? NULL
                         : status == EXIT_STATUS_DONE   ? COLOUR_GOOD
                         : status == EXIT_STATUS_FAILED ? COLOUR_BAD
                                                        : COLOUR_WARN;
    if (launcher_watch_print_summary(&child->watch, to, colour) == 0)
        return true;
    snprintf(text, sizeof text, "cannot write the summary: %s", strerror(errno));
    launch_tell(child, text);
    return false;
}

int launch(char *const *argv, struct launch *how)
{
    struct child child = {
        .errors = -1, .how = how, .ready_by_ms = launch_clock_ms() + (how->remote ? REMOTE_START_MS : START_MS)};
    if (how->timeout_s > 0)
        child.late_ms = launch_clock_ms() + 1000 * (int64_t)how->timeout_s;
    how->lost[0] = '\0';
    if (how->log != NULL)
        fflush(how->log); /* else the child would write it once more */
    if (launch_start(&child, argv) < 0) {
        char text[200];
        snprintf(text, sizeof text, "cannot start %.100s: %s", argv[0], strerror(errno));
        say_error("hdss", text);
        return EXIT_STATUS_FAILED;
    }
    if (how->is_asked != NULL && how->is_asked()) /* from here on signals come to us */
        ask_to_stop(&child);
    attend(&child);
    outlive(&child);
    launch_clear(&child);
    const bool is_silent = how->log == NULL && how->output == LAUNCH_OUTPUT_SILENT;
    const bool is_printed = !how->reports || is_silent || launch_print_summary(&child);
    launch_release(&child);
    how->asked = was_asked(&child);
    how->late = child.late;
    how->begun = child.watch.begun;
    how->started = child.watch.started;
    how->summarized = child.watch.text_length > 0 || child.watch.ended;
    const int status = launch_explain(&child, how);
    return status == EXIT_STATUS_DONE && !is_printed ? EXIT_STATUS_FAILED : status;
}
