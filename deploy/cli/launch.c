/* SPDX-License-Identifier: MIT */
/* Runs a launcher as a child process: see launch.h. */
#include "deploy/cli/launch.h"
#include "common/control/socket.h"
#include "common/mpi/folder.h"
#include "common/os/process.h"
#include "common/os/say.h"
#include "common/os/signals.h"
#include "common/util/error.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/launch_verdict.h"
#include "deploy/cli/launch_world.h"
#include "deploy/cli/launcher_watch.h"
#include "deploy/cli/ready.h"
#include "deploy/cli/stderr_filter.h"
#include "deploy/cli/whole_lines.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A request to drain waits until all ranks can handle its signal. It waits at most START_MS from the launch, or
 * REMOTE_START_MS if some ranks are on other machines. */
enum { READY_LOOK_MS = 10, START_MS = 120000, REMOTE_START_MS = 5000 };

/* LINE_MS: an incomplete line is shown after this time. WATCH_LOOK_MS: how often to look at a launcher that may hang.
 * END_LOOK_MS: how often to look at a launcher that is about to end. KILL_MS: how long a launcher may take to end its
 * ranks. KILL_EMPTY_MS: how long it may take if it has no ranks any more. */
enum { LINE_MS = 250, WATCH_LOOK_MS = 500, END_LOOK_MS = 50, KILL_MS = 5000, KILL_EMPTY_MS = 2000 };

#define CHILDREN_MAX 256
/* How long a supermaster may take to end after its launcher was killed. */
enum { ORPHANED_MS = 10000 };

struct child {
    struct launch_course course;
    const struct launch *how;
    struct launch_world *world;
    struct started_launcher launcher;
    int errors;
    bool ended;
    int64_t now_ms;
    bool drain_waits;
    int64_t ready_by_ms;
    int64_t begin_by_ms; /* when to end a run that has not begun after a request to stop; 0: no request */
    bool drain_is_said;
    struct stderr_filter stderr_filter;
    struct whole_lines lines;
    int64_t errors_ms;
    struct launcher_watch watch;
    bool is_mute;                /* the ranks were killed on purpose, so their messages are dropped */
    pid_t earlier[CHILDREN_MAX]; /* children that this process had before it started the launcher */
    unsigned earlier_count;
    int64_t late_ms;
};

static void write_error(void *context, const char *bytes, size_t count)
{
    struct child *child = context;
    if (child->is_mute)
        return;
    child->course.has_said |= count > 0;
    fwrite(bytes, 1, count, child->how->log != NULL ? child->how->log : stderr);
}

static void join_lines(void *context, const char *bytes, size_t count)
{
    whole_lines_take(&((struct child *)context)->lines, bytes, count);
}

static void launch_say(const char *text)
{
    say_note("hdss", text);
}

static int launch_start(struct child *child, char *const *argv)
{
    const struct launch *how = child->how;
    struct launch_world *world = child->world;
    if (how->reports &&
        launcher_watch_init(&child->watch, world, how->ranks, how->rank_depth, how->remote, how->survives) < 0)
        return -1;
    child->watch.flat = how->flat;
    if (whole_lines_init(&child->lines, how->log == NULL && colour_is_on(STDERR_FILENO), write_error, child) < 0 ||
        world->prepare(world, how, &child->launcher) < 0)
        return -1;
    child->errors = child->launcher.errors;
    if (how->side != NULL && how->side->begin != NULL)
        how->side->begin(how->side->context, child->launcher.errors_end);
    child->earlier_count = children_of(world, child->launcher.parent, child->earlier, CHILDREN_MAX);
    stderr_filter_init(&child->stderr_filter, join_lines, child);
    return world->start(world, argv, how, &child->launcher);
}

static void send_signal(const struct child *child, pid_t pid, int signal_number)
{
    child->world->kill(child->world, pid, signal_number);
}

static void send_ranks(const struct child *child, int signal_number)
{
    ranks_signal(child->world, child->launcher.pid, child->how->rank_depth, signal_number);
}

/* Sends SIGUSR1 to the launcher as soon as all ranks can handle the signal, or at `ready_by_ms`. A launcher passes the
 * signal on only to ranks that exist, so before the run has begun all ranks must exist. Later, ranks may be missing
 * because they were lost. */
static void look_ready(struct child *child)
{
    const struct launch *how = child->how;
    const unsigned ranks = how->reports && !how->remote && !child->watch.begun ? how->ranks : 1;
    if (!ready_for(child->world, child->launcher.pid, how->rank_depth, ranks, SIGUSR1) &&
        child->now_ms < child->ready_by_ms)
        return;
    send_signal(child, child->launcher.pid, SIGUSR1);
    child->drain_waits = false;
}

static void begin_drain(struct child *child)
{
    child->drain_is_said = child->drain_waits = child->watch.asked = true;
    if (child->how->reports)
        child->begin_by_ms = child->now_ms + child->how->begin_ms;
    look_ready(child);
}

static void ask_to_stop(struct child *child)
{
    char text[160];
    child->course.asked += child->how->at_once && child->course.asked == 0 ? 2 : 1;
    switch (child->course.asked) {
    case 1:
        launch_say("draining: nothing begins any more, and what runs is finished and kept; press Ctrl-C again to "
                   "end it now");
        begin_drain(child);
        break;
    case 2:
        snprintf(text, sizeof text, "giving up: the ranks are ended%s", launch_kept(child->how));
        launch_say(text);
        child->drain_waits = false;
        send_signal(child, child->launcher.pid, SIGTERM);
        break;
    default: send_signal(child, child->launcher.pid, SIGKILL);
    }
}

/* For Ctrl-Z. If pods take part, the ranks are not stopped: the pods would treat stopped ranks as lost. */
static void stop(struct child *child)
{
    if (child->how->has_pods)
        launch_say("stopped: the run goes on, as pods on other hosts do");
    else {
        send_signal(child, child->launcher.pid, SIGTSTP);
        /* Tasks get no signal from the terminal, so they are stopped here. */
        below_signal(child->world, child->launcher.pid, SIGSTOP);
    }
    const int64_t stopped_ms = child->now_ms;
    child->world->stop_self(child->world);
    /* This also reaches ranks whose launcher was killed meanwhile, because they are children of this process now. */
    if (!child->how->has_pods)
        below_signal(child->world, child->launcher.parent, SIGCONT);
    child->now_ms = child->world->now_ms(child->world);
    /* The time during which everything was stopped must not count as a time without changes. */
    child->watch.changed_ms += child->now_ms - stopped_ms;
}

static void take_signal(struct child *child, int number)
{
    switch (number) {
    case SIGCHLD: child->ended = child->world->reap(child->world, child->launcher.pid, &child->course.status); break;
    case SIGTSTP: stop(child); break;
    case SIGCONT: send_signal(child, child->launcher.pid, SIGCONT); break;
    case SIGUSR1:
    case SIGUSR2:
        if (child->course.asked == 0)
            ask_to_stop(child);
        break;
    default: ask_to_stop(child);
    }
}

static void take_signals(struct child *child)
{
    int number;
    while (!child->ended && (number = child->world->next_signal(child->world)) != 0)
        take_signal(child, number);
}

static void pass_errors(struct child *child)
{
    char bytes[4096];
    ssize_t count;
    child->errors_ms = child->now_ms;
    while ((count = child->world->read(child->world, child->errors, bytes, sizeof bytes)) > 0)
        stderr_filter_take(&child->stderr_filter, bytes, (size_t)count);
    fflush(child->how->log != NULL ? child->how->log : stderr);
    /* the other end is closed: read() returns 0, or fails with EIO on a terminal */
    if (count == 0 || errno != EAGAIN) {
        child->world->close(child->world, child->errors);
        child->errors = -1;
    }
}

static void pass_progress(struct child *child)
{
    char bytes[4096];
    size_t count;
    while ((count = launcher_watch_take_progress(&child->watch, bytes, sizeof bytes)) > 0)
        whole_lines_take(&child->lines, bytes, count);
    fflush(child->how->log != NULL ? child->how->log : stderr);
}

static void end_launcher(struct child *child)
{
    if (child->course.end_ms == 0) {
        send_signal(child, child->launcher.pid, SIGTERM);
        child->course.end_ms = child->now_ms + (child->watch.cleared ? KILL_EMPTY_MS : KILL_MS);
    } else if (child->now_ms >= child->course.end_ms) {
        send_ranks(child, SIGKILL);
        send_signal(child, child->launcher.pid, SIGKILL);
    }
}

/* Kills ranks of this machine that hang after the end of the run, so that the launcher ends. A launcher would take two
 * seconds to end them itself. If other machines take part, nothing is killed, because some children of the launcher
 * stand for ranks there. */
static bool end_ranks(struct child *child)
{
    if (!child->watch.ended || child->how->remote || child->watch.running == 0 || child->watch.cleared)
        return false;
    send_ranks(child, SIGKILL);
    child->watch.cleared = true;
    child->watch.changed_ms = child->now_ms;
    return true;
}

/* True if the run has succeeded. If it has, no rank has an error message that would be lost by killing the launcher. */
static bool went_through(const struct child *child)
{
    const int status = launcher_watch_status(&child->watch);
    return (status == EXIT_STATUS_DONE || status == EXIT_STATUS_TASKS) && !child->watch.degraded;
}

/* If the run has succeeded, its ranks only have to leave MPI. That may take longer than a short run, so the ranks and
 * their launcher are killed. The launcher is stopped first, so that it does not see its ranks die. If the ranks cannot
 * be seen, for example without /proc, nothing is killed: ranks that are not killed might leave files behind. */
static void end_soon(struct child *child)
{
    pid_t rank;
    const struct launch *how = child->how;
    const bool is_simple = how->reports && how->survives && !how->remote && how->rank_depth == 1;
    if (!how->ends_soon || !is_simple || !went_through(child) || child->course.end_ms != 0 ||
        children_of(child->world, child->launcher.pid, &rank, 1) == 0)
        return;
    send_signal(child, child->launcher.pid, SIGSTOP);
    send_ranks(child, SIGKILL);
    send_signal(child, child->launcher.pid, SIGKILL);
    child->course.end_ms = child->now_ms + KILL_MS;
}

static void end_stopped(struct child *child)
{
    char text[120];
    if (!launcher_watch_is_stopped(&child->watch, child->launcher.pid, child->now_ms))
        return;
    const bool holds = launcher_watch_holds(&child->watch, child->launcher.pid);
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
        send_signal(child, holds ? child->launcher.pid : child->watch.lead, SIGKILL);
    else
        ranks_end_stopped(child->world, child->launcher.pid, child->how->rank_depth);
}

static void launch_tell(const struct child *child, const char *text)
{
    if (child->how->log == NULL)
        launch_say(text);
    else
        say(child->how->log, "hdss: %s", text);
}

static void say_drain(struct child *child)
{
    child->course.is_told_drain |= child->watch.draining && child->course.end_ms == 0;
    if (!child->course.is_told_drain || child->drain_is_said)
        return;
    launch_tell(child, "draining, as the ranks were sent a signal: nothing begins any more, and what runs is finished "
                       "and kept");
    child->drain_is_said = true;
}

/* Some launchers neither start a rank nor end, for example if they may open too few files. */
static void say_no_rank(const struct child *child)
{
    if (child->course.end_ms == 0 && !child->watch.started && !child->watch.ended)
        launch_tell(child, "the launcher has not begun a rank for too long: it is ended");
}

/* Continues a stopped launcher, which would pass on neither a request to stop nor the last output of the ranks. */
static void wake_launcher(const struct child *child)
{
    if (!child->ended && (child->watch.ended || child->course.asked > 0) &&
        child->world->state(child->world, child->launcher.pid) == PROCESS_STOPPED)
        send_signal(child, child->launcher.pid, SIGCONT);
}

static void look_after(struct child *child)
{
    launcher_watch_take(&child->watch, child->now_ms);
    if (!child->ended) {
        end_soon(child);
        end_stopped(child);
    }
    say_drain(child);
    wake_launcher(child);
    /* Once a run has begun whose ranks do not survive losses, its launcher ends by itself and is not watched. Before
     * that it is watched, because ranks may wait in MPI for a lost rank. */
    if (child->ended || !(child->how->survives || child->watch.ended || !child->watch.begun))
        return;
    if (child->watch.ended && !child->how->remote)
        ranks_rouse(child->world, child->launcher.pid, child->how->rank_depth);
    if (child->course.end_ms != 0 ||
        (launcher_watch_is_over(&child->watch, child->launcher.pid, child->now_ms) && !end_ranks(child))) {
        say_no_rank(child);
        end_launcher(child);
    }
}

static void launch_look_at_time(struct child *child)
{
    if (child->ended || child->late_ms == 0 || child->now_ms < child->late_ms)
        return;
    child->course.late = true;
    end_launcher(child);
}

/* If a run has not begun, ending its launcher loses nothing. */
static bool is_to_begin(const struct child *child)
{
    return child->begin_by_ms != 0 && !child->watch.begun && !child->watch.ended;
}

static void look_at_begin(struct child *child)
{
    child->course.not_begun |= is_to_begin(child) && child->now_ms >= child->begin_by_ms;
    if (child->course.not_begun && !child->ended)
        end_launcher(child);
}

static void drain_in_time(struct child *child)
{
    if (child->ended || child->course.asked > 0 || child->how->drain_ms == 0 || child->now_ms < child->how->drain_ms)
        return;
    launch_say("the time is nearly over");
    ask_to_stop(child);
}

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
    if (wish == LAUNCH_DRAINS && child->course.asked == 0) {
        child->course.asked = 1;
        begin_drain(child);
    } else if (wish == LAUNCH_ENDS || wish == LAUNCH_KILLS) {
        child->drain_waits = false;
        if (wish == LAUNCH_KILLS) {
            child->course.asked = 2;
            child->course.end_ms = child->now_ms;
            child->is_mute = true;
        }
        end_launcher(child);
    }
}

static int own_longest_wait(const struct child *child)
{
    bool looks = child->how->reports || child->late_ms > 0 || child->how->drain_ms > 0 || child->watch.ended ||
                 is_to_begin(child) || child->course.not_begun;
    if (child->drain_waits)
        return READY_LOOK_MS;
    /* The short interval END_LOOK_MS is used only after a loss: with hundreds of ranks on few cores, frequent looks
     * slow the ranks down. */
    bool hurries = child->how->survives && child->watch.ended && child->watch.degraded;
    return hurries ? END_LOOK_MS : whole_lines_hold(&child->lines) ? LINE_MS : looks ? WATCH_LOOK_MS : -1;
}

static int longest_wait(const struct child *child)
{
    const struct launch_side *side = child->how->side;
    const int own = own_longest_wait(child), other = side != NULL ? side->wait_ms(side->context) : -1;
    return own < 0 || (other >= 0 && other < own) ? other : own;
}

static void pass_words(struct child *child)
{
    child->now_ms = child->world->now_ms(child->world);
    if (child->how->reports) {
        launcher_watch_take(&child->watch, child->now_ms);
        pass_progress(child);
    }
    if (child->errors >= 0)
        pass_errors(child); /* does not wait for the end of the pipe, because another process may keep the pipe open */
}

static void pass_last(struct child *child)
{
    pass_words(child);
    stderr_filter_flush(&child->stderr_filter);
    whole_lines_flush(&child->lines, true); /* a rank that has ended may have left its progress line on the terminal */
    fflush(stderr);
}

static void attend(struct child *child)
{
    const struct launch_side *side = child->how->side;
    const int said = child->how->reports ? child->watch.ends[0] : -1;
    const int shown = child->how->reports ? child->watch.progress[0] : -1;
    while (!child->ended) {
        struct pollfd polled[4 + LAUNCH_SIDE_DESCRIPTORS] = {{.fd = child->launcher.signals, .events = POLLIN},
                                                             {.fd = child->errors, .events = POLLIN},
                                                             {.fd = said, .events = POLLIN},
                                                             {.fd = shown, .events = POLLIN}};
        const unsigned more = side != NULL ? side->wait_for(side->context, polled + 4) : 0;
        child->world->poll(child->world, polled, 4 + more, longest_wait(child));
        child->now_ms = child->world->now_ms(child->world);
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
        if (whole_lines_hold(&child->lines) && child->now_ms - child->errors_ms >= LINE_MS)
            whole_lines_flush(&child->lines, false);
        look_aside(child);
        if (child->drain_waits && !child->ended)
            look_ready(child);
    }
    pass_last(child);
}

/* If the launcher was killed, waits until the supermaster has ended or has reported how the run went. The run must not
 * be restarted earlier. */
static void outlive(struct child *child)
{
    struct launch_world *world = child->world;
    struct launcher_watch *watch = &child->watch;
    const int64_t end_ms = world->now_ms(world) + ORPHANED_MS;
    int number;
    if (!child->how->reports || !watch->begun || watch->ended || has_ended(world, watch->lead))
        return;
    while (!watch->ended && !has_ended(world, watch->lead)) {
        struct pollfd polled[] = {{.fd = child->launcher.signals, .events = POLLIN},
                                  {.fd = child->errors, .events = POLLIN},
                                  {.fd = watch->ends[0], .events = POLLIN}};
        world->poll(world, polled, 3, END_LOOK_MS);
        child->now_ms = world->now_ms(world);
        while ((number = world->next_signal(world)) != 0)
            if (number != SIGCHLD && number != SIGCONT && number != SIGTSTP)
                send_signal(child, watch->lead, child->course.asked++ == 0 ? SIGTERM : SIGKILL);
        if (child->now_ms >= end_ms)
            send_signal(child, watch->lead, SIGKILL);
        pass_words(child);
    }
    pass_last(child);
    child->course.outlived = watch->ended;
    if (child->course.outlived) {
        const bool is_kept = launcher_watch_status(watch) != EXIT_STATUS_DONE;
        char text[200];
        snprintf(text, sizeof text, "the launcher was killed: the run ended without it%s",
                 is_kept ? launch_kept(child->how) : "");
        launch_tell(child, text);
    }
}

static void launch_release(struct child *child)
{
    if (child->errors >= 0)
        child->world->close(child->world, child->errors);
    whole_lines_fini(&child->lines);
    child->world->release_signals(child->world);
    if (child->how->reports)
        launcher_watch_fini(&child->watch);
}

void launch_say_lost(const struct launch *how, const char *consequence)
{
    if (how->lost[0] != '\0' && how->log != NULL)
        say(how->log, "hdss: %s%s", how->lost, consequence);
    else if (how->lost[0] != '\0') {
        char text[600];
        snprintf(text, sizeof text, "%s%s", how->lost, consequence);
        say_error("hdss", text);
    }
}

static bool is_earlier(const struct child *child, pid_t pid)
{
    for (unsigned i = 0; i < child->earlier_count; i++)
        if (child->earlier[i] == pid)
            return true;
    return child->earlier_count == CHILDREN_MAX; /* if there are too many, all children count as earlier ones */
}

/* Ends the remaining ranks on this machine. If the launcher was killed, the ranks get KILL_MS to leave by themselves.
 * If the launcher has ended by itself, they are killed at once. */
static void end_orphans(struct child *child)
{
    struct launch_world *world = child->world;
    const int64_t kill_ms = world->now_ms(world) + (WIFSIGNALED(child->course.status) ? KILL_MS : 0);
    for (unsigned running = 1; running > 0 && world->now_ms(world) < kill_ms + KILL_EMPTY_MS;) {
        pid_t children[CHILDREN_MAX];
        const unsigned count = children_of(world, child->launcher.parent, children, CHILDREN_MAX);
        running = 0;
        for (unsigned i = 0; i < count; i++) {
            if (is_earlier(child, children[i]) || world->reap(world, children[i], NULL))
                continue;
            running++;
            if (world->now_ms(world) >= kill_ms)
                send_signal(child, children[i], SIGKILL);
        }
        if (running > 0)
            world->poll(world, NULL, 0, READY_LOOK_MS);
        pass_words(child);
    }
    pass_last(child);
}

/* If the run has not reported its end, or the launcher has not ended normally: ends the remaining ranks, and removes
 * the files that killed ranks or launchers have left. */
static void launch_clear(struct child *child)
{
    const bool told = !child->how->reports || (child->watch.ended && !child->watch.degraded);
    const bool in_order = child->course.status == 0 && told && child->course.end_ms == 0 && !child->watch.cleared;
    if (!in_order) {
        end_orphans(child);
        control_clear();
        if (child->how->clear != NULL)
            child->how->clear(child->launcher.pid);
    }
    folder_clear_all();
}

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
    struct launch_world *world = how->world != NULL ? how->world : launch_world_real();
    struct child child = {.how = how, .world = world, .errors = -1, .now_ms = world->now_ms(world)};
    child.course = (struct launch_course){.how = how, .watch = &child.watch};
    child.ready_by_ms = child.now_ms + (how->remote ? REMOTE_START_MS : START_MS);
    if (how->timeout_s > 0)
        child.late_ms = child.now_ms + 1000 * (int64_t)how->timeout_s;
    how->lost[0] = '\0';
    if (how->log != NULL)
        fflush(how->log); /* otherwise the child would also write the buffer */
    if (launch_start(&child, argv) < 0) {
        char text[200];
        snprintf(text, sizeof text, "cannot start %.100s: %s", argv[0], strerror(errno));
        say_error("hdss", text);
        return EXIT_STATUS_FAILED;
    }
    /* A signal may have come before the launch. From here on this process handles signals itself. */
    if (how->is_asked != NULL && how->is_asked())
        ask_to_stop(&child);
    attend(&child);
    outlive(&child);
    launch_clear(&child);
    const bool is_silent = how->log == NULL && how->output == LAUNCH_OUTPUT_SILENT;
    const bool is_printed = !how->reports || is_silent || child.watch.again || launch_print_summary(&child);
    for (size_t i = 0; how->ran != NULL && i < ranges_length(&child.watch.ran); i++)
        (void)ranges_add(how->ran, ranges_at(&child.watch.ran, i)->first, ranges_at(&child.watch.ran, i)->count, NULL);
    launch_release(&child);
    const struct launch_verdict verdict = launch_judge(&child.course);
    how->asked = launch_was_asked(&child.course);
    how->late = child.course.late;
    how->begun = child.watch.begun;
    how->started = child.watch.started;
    how->summarized = !child.watch.again && (child.watch.text_length > 0 || child.watch.ended);
    snprintf(how->lost, sizeof how->lost, "%s", verdict.lost);
    if (verdict.told[0] != '\0')
        launch_tell(&child, verdict.told);
    return verdict.status == EXIT_STATUS_DONE && !is_printed ? EXIT_STATUS_FAILED : verdict.status;
}
