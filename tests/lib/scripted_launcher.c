/* SPDX-License-Identifier: MIT */
/* A made-up machine for a launch: see scripted_launcher.h. */
#include "tests/lib/scripted_launcher.h"
#include "common/job/status.h"
#include "common/os/process.h"
#include "common/os/signals.h"
#include "common/util/error.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { FIRST_DESCRIPTOR = 1000, SIGNALS = FIRST_DESCRIPTOR, ERRORS, STATUS, SUMMARY, PROGRESS };

#define BIT(number)  (UINT64_C(1) << ((number)-1))
#define IS_RANK(who) ((who) >= BY_RANK_0 && (who) < BY_PROXY)

static bool runs(const struct script *script, int who)
{
    return process_runs(script->processes[who].state);
}

static bool is_stopped(const struct script *script, int who)
{
    return script->processes[who].state == PROCESS_STOPPED;
}

/* --- acts --- */

void script_add(struct script *script, struct script_act act)
{
    if (script->act_count == SCRIPT_ACTS_MAX)
        return;
    script->order[script->act_count] = script->acts_made++;
    script->acts[script->act_count++] = act;
}

static void later(struct script *script, int64_t after_ms, int who, enum script_deed deed, int number)
{
    if (after_ms >= 0)
        script_add(script, (struct script_act){script->now_ms + after_ms, who, deed, number, NULL});
}

/* The next act; -1: there is none. */
static int next_act(const struct script *script)
{
    int next = -1;
    for (unsigned i = 0; i < script->act_count; i++)
        if (next < 0 || script->acts[i].at_ms < script->acts[next].at_ms ||
            (script->acts[i].at_ms == script->acts[next].at_ms && script->order[i] < script->order[next]))
            next = (int)i;
    return next;
}

static struct script_act take_act(struct script *script, int at)
{
    const struct script_act act = script->acts[at];
    script->act_count--;
    script->acts[at] = script->acts[script->act_count];
    script->order[at] = script->order[script->act_count];
    return act;
}

/* --- words --- */

static void put(struct script_pipe *pipe, const char *text)
{
    const size_t length = strlen(text);
    if (pipe->length + length > sizeof pipe->bytes && pipe->taken > 0) {
        memmove(pipe->bytes, pipe->bytes + pipe->taken, pipe->length - pipe->taken);
        pipe->length -= pipe->taken;
        pipe->taken = 0;
    }
    if (pipe->length + length > sizeof pipe->bytes)
        return;
    memcpy(pipe->bytes + pipe->length, text, length);
    pipe->length += length;
}

static void put_error(struct script *script, const char *text)
{
    put(&script->errors, text);
    if (script->came_out != NULL)
        fputs(text, script->came_out);
}

static struct script_pipe *pipe_of(struct script *script, int descriptor)
{
    return descriptor == ERRORS     ? &script->errors
           : descriptor == STATUS   ? &script->status
           : descriptor == SUMMARY  ? &script->summary
           : descriptor == PROGRESS ? &script->progress
                                    : NULL;
}

/* --- processes --- */

static void tell_hdss(struct script *script, int number)
{
    if (script->signal_count < sizeof script->signals / sizeof *script->signals)
        script->signals[script->signal_count++] = number;
}

static void deliver(struct script *script, int who, int number);

static bool any_rank_runs(const struct script *script)
{
    for (int who = BY_RANK_0; who < BY_PROXY; who++)
        if (runs(script, who))
            return true;
    return false;
}

/* Who was lost while the others found each other is waited for in MPI, for ever; afterwards the run goes on without. */
static void lose_rank(struct script *script)
{
    script->is_degraded |= script->has_begun;
    if (script->habits.lets_none_die && runs(script, BY_LAUNCHER))
        later(script, script->habits.end_ranks, BY_LAUNCHER, SCRIPT_ENDS_ALL, 0);
}

/* What the launcher has with it of the ranks' words comes out, or is lost. */
static void empty_launcher(struct script *script, bool comes_out)
{
    for (;;) {
        int first = -1;
        for (unsigned i = 0; i < script->act_count; i++)
            if (script->acts[i].deed == SCRIPT_PASSED && (first < 0 || script->order[i] < script->order[first]))
                first = (int)i;
        if (first < 0)
            return;
        const struct script_act act = take_act(script, first);
        script->dropped += !comes_out;
        if (comes_out)
            put_error(script, act.text);
    }
}

static void orphan(struct script *script, int parent)
{
    for (int who = 0; who < BY_HDSS; who++) {
        struct script_process *process = &script->processes[who];
        if (process->state == 0 || process->parent != parent)
            continue;
        process->parent = BY_HDSS;
        if (who == BY_PROXY)
            deliver(script, who, SIGKILL);
        else if (process->state == 'Z')
            tell_hdss(script, SIGCHLD);
        else if (who == BY_RANK_0 && script->habits.waits_alone && script->has_begun && !script->has_ended)
            later(script, script->habits.drain, who, SCRIPT_ENDS, EXIT_STATUS_DRAINED);
        else
            later(script, script->habits.miss, who, SCRIPT_EXITS, EXIT_STATUS_FAILED);
    }
}

static void end(struct script *script, int who, int status)
{
    struct script_process *process = &script->processes[who];
    if (!runs(script, who))
        return;
    process->state = 'Z';
    process->status = status;
    if (who == BY_LAUNCHER)
        empty_launcher(script, WIFEXITED(status) && !script->habits.loses_words);
    orphan(script, who);
    if (process->parent == BY_HDSS)
        tell_hdss(script, SIGCHLD);
    else if (!is_stopped(script, process->parent))
        process->state = 0; /* its parent has asked after it */
    if (IS_RANK(who) && !process->has_left)
        lose_rank(script);
    if (IS_RANK(who) && runs(script, BY_LAUNCHER) && !any_rank_runs(script))
        later(script, script->habits.end, BY_LAUNCHER, SCRIPT_RETURNS, 0);
}

static void kill_ranks(struct script *script, int number)
{
    for (int who = BY_RANK_0; who < BY_PROXY; who++)
        if (runs(script, who) && script->processes[who].parent != BY_HDSS)
            deliver(script, who, number);
}

/* The launcher begins to end its ranks; later it ends itself. */
static void end_ranks(struct script *script, int number)
{
    if (script->habits.loses_words)
        empty_launcher(script, false);
    kill_ranks(script, number);
    later(script, script->habits.end_ranks, BY_LAUNCHER, SCRIPT_HAS_ENDED_ALL, 0);
}

static void ask_rank(struct script *script, int who)
{
    struct script_process *process = &script->processes[who];
    if (process->is_asked || script->has_ended)
        return;
    process->is_asked = true;
    if (who != BY_RANK_0 || !script->has_begun)
        return;
    put(&script->status, "\n" STATUS_DRAINING "\n");
    later(script, script->habits.drain, who, SCRIPT_ENDS, EXIT_STATUS_DRAINED);
}

static void act_on(struct script *script, int who, int number)
{
    const bool is_caught = (script->processes[who].caught & BIT(number)) != 0;
    if (number == SIGKILL || number == SIGABRT || (IS_RANK(who) && !is_caught))
        end(script, who, number);
    else if (IS_RANK(who))
        ask_rank(script, who);
    else if (number == SIGUSR1 || number == SIGUSR2) {
        if (!is_caught)
            end(script, who, number);
        else if (!script->habits.drops_drain)
            later(script, script->habits.forward, who, SCRIPT_FORWARDS, 0);
    } else if (script->habits.on_end == SCRIPT_DIES)
        end(script, who, number);
    else if (script->habits.on_end == SCRIPT_ENDS_RANKS)
        end_ranks(script, number);
}

static void go_on(struct script *script, int who)
{
    struct script_process *process = &script->processes[who];
    if (!is_stopped(script, who))
        return;
    process->state = 'S';
    for (unsigned i = 0; i < script->held_count;)
        if (script->held[i].who == who) {
            script->held[i].at_ms = script->now_ms;
            script_add(script, script->held[i]);
            memmove(script->held + i, script->held + i + 1, (--script->held_count - i) * sizeof *script->held);
        } else
            i++;
    const uint64_t pending = process->pending;
    process->pending = 0;
    for (int number = 1; number < 64; number++)
        if ((pending & BIT(number)) != 0)
            deliver(script, who, number);
    for (int child = 0; child < BY_HDSS; child++) /* it asks after those that have ended */
        if (script->processes[child].state == 'Z' && script->processes[child].parent == who)
            script->processes[child].state = 0;
}

static void deliver(struct script *script, int who, int number)
{
    struct script_process *process = &script->processes[who];
    if (who == BY_HDSS) {
        script->asked += number != SIGCHLD && number != SIGTSTP && number != SIGCONT;
        tell_hdss(script, number);
        return;
    }
    if (!runs(script, who))
        return;
    if (number == SIGSTOP || number == SIGTSTP)
        process->state = PROCESS_STOPPED;
    else if (number == SIGCONT)
        go_on(script, who);
    else if (is_stopped(script, who) && number != SIGKILL)
        process->pending |= BIT(number);
    else
        act_on(script, who, number);
}

/* --- the life of the ranks --- */

static uint64_t caught_by_ranks(void)
{
    uint64_t caught = 0;
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        caught |= BIT(drain_signals[i]);
    return caught;
}

static void run_own(struct script *script, int who)
{
    if (script->processes[who].is_copy)
        script->processes[who].caught = 0;
    script->processes[who].is_copy = false;
}

static void begin_if_all_are_there(struct script *script)
{
    char text[64];
    for (unsigned i = 0; i < script->habits.ranks; i++)
        if (!script->processes[BY_RANK_0 + i].has_joined || !runs(script, BY_RANK_0 + (int)i))
            return;
    script->has_begun = true;
    snprintf(text, sizeof text, "\n" STATUS_BEGUN "\n", SCRIPT_PID(BY_RANK_0));
    put(&script->status, text);
    later(script, script->habits.work, BY_RANK_0, SCRIPT_DONE, 0);
    if (script->processes[BY_RANK_0].is_asked) {
        script->processes[BY_RANK_0].is_asked = false;
        ask_rank(script, BY_RANK_0);
    }
}

/* In order they leave together; after a loss each as it likes. */
static void leave(struct script *script, int who)
{
    for (int other = BY_RANK_0; other < BY_PROXY && !script->is_degraded; other++)
        if (is_stopped(script, other)) {
            script_add(script, (struct script_act){script->now_ms + 100, who, SCRIPT_LEAVES, 0, NULL});
            return;
        }
    script->processes[who].has_left = true;
    end(script, who, script->said << 8);
}

static void say_end(struct script *script, int status)
{
    char text[64];
    if (script->has_ended)
        return;
    script->has_ended = true;
    script->ended_ms = script->now_ms;
    script->said = status;
    put(&script->summary, "# sum\n");
    snprintf(text, sizeof text, "\n" STATUS_END "\n", STATUS_LEAD, status, script->is_degraded ? STATUS_DEGRADED : "");
    put(&script->status, text);
    for (int who = BY_RANK_0; who < BY_PROXY; who++)
        if (runs(script, who))
            later(script, script->habits.leave, who, SCRIPT_LEAVES, 0);
}

static void fork_rank(struct script *script, int who)
{
    if (script->depth > 1 && script->processes[BY_PROXY].state == 0)
        script->processes[BY_PROXY] = (struct script_process){.state = 'S', .parent = BY_LAUNCHER};
    script->processes[who] = (struct script_process){.state = 'S',
                                                     .parent = script->depth > 1 ? BY_PROXY : BY_LAUNCHER,
                                                     .is_copy = true,
                                                     .has_come = true,
                                                     .caught = caught_by_ranks()};
}

static void come_up(struct script *script)
{
    const struct script_habits *habits = &script->habits;
    int64_t at_ms = script->now_ms;
    for (unsigned i = 0; i < habits->ranks; i++) {
        const int who = BY_RANK_0 + (int)i;
        at_ms += habits->fork;
        script_add(script, (struct script_act){at_ms, who, SCRIPT_FORKED, 0, NULL});
        int64_t own_ms = at_ms + habits->run;
        script_add(script, (struct script_act){own_ms, who, SCRIPT_RUNS, 0, NULL});
        own_ms += habits->catch;
        script_add(script, (struct script_act){own_ms, who, SCRIPT_CATCHES, 0, NULL});
        own_ms += habits->join;
        script_add(script, (struct script_act){own_ms, who, SCRIPT_JOINS, 0, NULL});
    }
}

static void perform(struct script *script, const struct script_act *act)
{
    const int who = act->who;
    switch (act->deed) {
    case SCRIPT_FORKED: fork_rank(script, who); break;
    case SCRIPT_RUNS: run_own(script, who); break;
    case SCRIPT_CATCHES: script->processes[who].caught = caught_by_ranks(); break;
    case SCRIPT_IS_THERE:
        fork_rank(script, who);
        script->processes[who].is_copy = false;
        break;
    case SCRIPT_JOINS:
        script->processes[who].has_joined = true;
        begin_if_all_are_there(script);
        break;
    case SCRIPT_DONE:
        if (script->has_ended)
            break;
        put(&script->status, "\n" STATUS_OVER "\n");
        later(script, script->habits.store, who, SCRIPT_ENDS, script->habits.status);
        break;
    case SCRIPT_ENDS: say_end(script, act->number); break;
    case SCRIPT_LEAVES: leave(script, who); break;
    case SCRIPT_SAYS: put(&script->status, act->text); break;
    case SCRIPT_SUMS_UP: put(&script->summary, act->text); break;
    case SCRIPT_PROGRESS: put(&script->progress, act->text); break;
    case SCRIPT_PRINTS:
        if (who == BY_LAUNCHER || script->habits.is_passed_by)
            put_error(script, act->text);
        else if (script->processes[who].parent == BY_HDSS)
            script->dropped++;
        else
            script_add(script, (struct script_act){script->now_ms + script->habits.pass, BY_LAUNCHER, SCRIPT_PASSED, 0,
                                                   act->text});
        break;
    case SCRIPT_PASSED: put_error(script, act->text); break;
    case SCRIPT_FORWARDS: kill_ranks(script, SIGUSR1); break;
    case SCRIPT_ENDS_ALL: end_ranks(script, SIGTERM); break;
    case SCRIPT_HAS_ENDED_ALL:
        kill_ranks(script, SIGKILL);
        end(script, BY_LAUNCHER, EXIT_STATUS_FAILED << 8);
        break;
    case SCRIPT_RETURNS:
        if (!any_rank_runs(script))
            end(script, BY_LAUNCHER, (script->is_degraded || script->said < 0 ? 0 : script->said) << 8);
        break;
    case SCRIPT_EXITS: end(script, who, act->number << 8); break;
    case SCRIPT_CRASHES: end(script, who, act->number); break;
    case SCRIPT_SIGNALLED: deliver(script, who, act->number); break;
    }
}

static const char *name_of(int who)
{
    static char name[32];
    snprintf(name, sizeof name, "rank %d", who - BY_RANK_0);
    return who == BY_LAUNCHER ? "launcher" : who == BY_PROXY ? "proxy" : who == BY_HDSS ? "hdss" : name;
}

static void trace(const struct script *script, const struct script_act *act)
{
    static const char *const deeds[] = {[SCRIPT_FORKED] = "is forked",  [SCRIPT_RUNS] = "runs",
                                        [SCRIPT_CATCHES] = "catches",   [SCRIPT_IS_THERE] = "is there",
                                        [SCRIPT_JOINS] = "joins",       [SCRIPT_DONE] = "is done",
                                        [SCRIPT_ENDS] = "says status",  [SCRIPT_LEAVES] = "leaves",
                                        [SCRIPT_SAYS] = "says",         [SCRIPT_SUMS_UP] = "sums up",
                                        [SCRIPT_PROGRESS] = "shows",    [SCRIPT_PRINTS] = "prints",
                                        [SCRIPT_PASSED] = "passes on",  [SCRIPT_FORWARDS] = "forwards",
                                        [SCRIPT_ENDS_ALL] = "ends all", [SCRIPT_HAS_ENDED_ALL] = "has ended all",
                                        [SCRIPT_RETURNS] = "returns",   [SCRIPT_EXITS] = "exits",
                                        [SCRIPT_CRASHES] = "crashes",   [SCRIPT_SIGNALLED] = "gets"};
    if (script->trace != NULL)
        fprintf(script->trace, "%6lld %s %s %d %s\n", (long long)script->now_ms, name_of(act->who), deeds[act->deed],
                act->number, act->text != NULL ? act->text : "");
}

/* Whoever has ended does nothing any more, and who is stopped does it later. */
static void play(struct script *script, const struct script_act *act)
{
    const bool comes = act->deed == SCRIPT_FORKED || act->deed == SCRIPT_IS_THERE;
    if (act->deed == SCRIPT_SIGNALLED)
        perform(script, act);
    else if (comes ? !runs(script, BY_LAUNCHER) : !runs(script, act->who))
        script->dropped += act->deed == SCRIPT_PASSED;
    else if (is_stopped(script, comes ? BY_LAUNCHER : act->who)) {
        if (script->held_count < SCRIPT_ACTS_MAX) {
            script->held[script->held_count] = *act;
            script->held[script->held_count++].who = act->who;
        }
    } else
        perform(script, act);
}

/* --- the world --- */

static int64_t script_now_ms(struct launch_world *world)
{
    return ((struct script *)world)->now_ms;
}

static bool is_open(const struct script *script)
{
    return runs(script, BY_LAUNCHER) || any_rank_runs(script);
}

static unsigned look(struct script *script, struct pollfd *polled, unsigned count)
{
    unsigned ready = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct script_pipe *pipe = pipe_of(script, polled[i].fd);
        const bool is_there = pipe != NULL && pipe->taken < pipe->length;
        const bool is_signal = polled[i].fd == SIGNALS && script->signal_count > 0;
        script->waited_for =
            pipe == NULL && polled[i].fd != SIGNALS && polled[i].fd >= 0 ? polled[i].fd : script->waited_for;
        polled[i].revents = is_there || is_signal ? POLLIN : 0;
        if (polled[i].fd == ERRORS && !is_open(script))
            polled[i].revents |= POLLHUP;
        ready += polled[i].revents != 0;
    }
    return ready;
}

/* Nothing is to come that the launch could wait for. */
static void hang(struct script *script)
{
    script->hangs = true;
    for (int who = 0; who < BY_HDSS; who++)
        if (runs(script, who))
            end(script, who, SIGKILL);
    tell_hdss(script, SIGCHLD);
}

static int script_poll(struct launch_world *world, struct pollfd *polled, unsigned count, int wait_ms)
{
    struct script *script = (struct script *)world;
    const int64_t until_ms = script->now_ms + wait_ms;
    unsigned ready;
    while ((ready = look(script, polled, count)) == 0) {
        const int next = next_act(script);
        const bool is_in_time = next >= 0 && (wait_ms < 0 || script->acts[next].at_ms <= until_ms);
        if (script->now_ms > script->limit_ms || (!is_in_time && wait_ms < 0)) {
            hang(script);
            return 1;
        }
        if (!is_in_time) {
            script->now_ms = until_ms;
            return 0;
        }
        const struct script_act act = take_act(script, next);
        if (act.at_ms > script->now_ms)
            script->now_ms = act.at_ms;
        trace(script, &act);
        play(script, &act);
    }
    return (int)ready;
}

static ssize_t script_read(struct launch_world *world, int descriptor, void *bytes, size_t size)
{
    struct script *script = (struct script *)world;
    struct script_pipe *pipe = pipe_of(script, descriptor);
    if (pipe->taken == pipe->length) {
        errno = EAGAIN;
        return descriptor == ERRORS && !is_open(script) ? 0 : -1;
    }
    const size_t count = pipe->length - pipe->taken < size ? pipe->length - pipe->taken : size;
    memcpy(bytes, pipe->bytes + pipe->taken, count);
    pipe->taken += count;
    return (ssize_t)count;
}

static void script_close(struct launch_world *world, int descriptor)
{
    (void)world, (void)descriptor;
}

static int script_open_pipe(struct launch_world *world, int ends[2], const char *variable)
{
    (void)world;
    ends[0] = strcmp(variable, STATUS_VARIABLE) == 0    ? STATUS
              : strcmp(variable, SUMMARY_VARIABLE) == 0 ? SUMMARY
                                                        : PROGRESS;
    return 0;
}

static void script_close_pipe(struct launch_world *world, int ends[2], const char *variable)
{
    (void)world, (void)ends, (void)variable;
}

static int script_prepare(struct launch_world *world, const struct launch *how, struct started_launcher *started)
{
    (void)world, (void)how;
    *started = (struct started_launcher){.parent = SCRIPT_PID(BY_HDSS), .signals = SIGNALS, .errors = ERRORS};
    return 0;
}

static int script_start(struct launch_world *world, char *const *argv, const struct launch *how,
                        struct started_launcher *started)
{
    (void)argv;
    struct script *script = (struct script *)world;
    script->depth = how->rank_depth;
    started->pid = SCRIPT_PID(BY_LAUNCHER);
    script->processes[BY_LAUNCHER] =
        (struct script_process){.state = 'S', .parent = BY_HDSS, .caught = caught_by_ranks()};
    come_up(script);
    return 0;
}

static int script_next_signal(struct launch_world *world)
{
    struct script *script = (struct script *)world;
    if (script->signal_count == 0)
        return 0;
    const int number = script->signals[0];
    memmove(script->signals, script->signals + 1, --script->signal_count * sizeof *script->signals);
    return number;
}

static void script_stop_self(struct launch_world *world)
{
    struct script *script = (struct script *)world;
    script->is_stopped_self = true;
    script->now_ms += script->stop_ms;
}

static void script_release_signals(struct launch_world *world)
{
    (void)world;
}

static unsigned script_cores(struct launch_world *world)
{
    (void)world;
    return 2;
}

/* The process of that number; -1: there is none. */
static int who_is(const struct script *script, pid_t pid)
{
    const int who = pid - SCRIPT_PID(0);
    return who >= 0 && who < BY_HDSS && script->processes[who].state != 0 ? who : -1;
}

static bool is_anybody_stopped(const struct script *script)
{
    for (int who = 0; who < BY_HDSS; who++)
        if (is_stopped(script, who))
            return true;
    return false;
}

/* Notes the first signal that ends somebody, where the run has begun, and none of its own is lost or stopped who is
 * needed. */
static void look_at_end(struct script *script, int number)
{
    if ((number != SIGTERM && number != SIGKILL && number != SIGSTOP) || script->is_end_begun)
        return;
    script->is_end_begun = true;
    if (script->has_begun && !script->has_ended && runs(script, BY_LAUNCHER) && runs(script, BY_RANK_0) &&
        !is_anybody_stopped(script) && script->asked < 2)
        script->blamed_ms = script->now_ms;
}

/* Ranks that would not take a drain: before the run has begun all must be there. */
static unsigned count_unready(const struct script *script)
{
    unsigned count = 0;
    for (int who = BY_RANK_0; who < BY_RANK_0 + (int)script->habits.ranks; who++) {
        const struct script_process *process = &script->processes[who];
        count += process->has_come ? runs(script, who) && (process->caught & BIT(SIGUSR1)) == 0 : !script->has_begun;
    }
    return count;
}

static int script_kill(struct launch_world *world, pid_t pid, int signal_number)
{
    struct script *script = (struct script *)world;
    const int who = who_is(script, pid);
    if (who < 0)
        return -1;
    if (script->sent_count < SCRIPT_SENT_MAX)
        script->sent[script->sent_count++] = (struct script_sent){script->now_ms, who, signal_number};
    if (script->trace != NULL)
        fprintf(script->trace, "%6lld hdss sends %s %d\n", (long long)script->now_ms, name_of(who), signal_number);
    look_at_end(script, signal_number);
    script->has_struck_unready |= signal_number == SIGUSR1 && !script->habits.drops_drain && count_unready(script) > 0;
    deliver(script, who, signal_number);
    return 0;
}

static bool script_reap(struct launch_world *world, pid_t pid, int *status)
{
    struct script *script = (struct script *)world;
    const int who = who_is(script, pid);
    if (who < 0 || script->processes[who].state != 'Z' || script->processes[who].parent != BY_HDSS)
        return false;
    script->processes[who].state = 0;
    if (status != NULL)
        *status = script->processes[who].status;
    return true;
}

static char script_state(struct launch_world *world, pid_t pid)
{
    const struct script *script = (struct script *)world;
    const int who = who_is(script, pid);
    return who < 0 ? '\0' : script->processes[who].state;
}

static pid_t script_parent(struct launch_world *world, pid_t pid)
{
    const struct script *script = (struct script *)world;
    const int who = who_is(script, pid);
    return who < 0 ? 0 : SCRIPT_PID(script->processes[who].parent);
}

static bool script_visit_children(struct launch_world *world, pid_t parent, process_visitor *visit, void *context)
{
    const struct script *script = (struct script *)world;
    bool on = parent == SCRIPT_PID(BY_HDSS) || who_is(script, parent) >= 0;
    for (int who = 0; on && who < BY_HDSS; who++)
        if (script->processes[who].state != 0 && SCRIPT_PID(script->processes[who].parent) == parent)
            on = visit(SCRIPT_PID(who), context);
    return on;
}

static bool script_read_caught(struct launch_world *world, pid_t pid, uint64_t *caught)
{
    const struct script *script = (struct script *)world;
    const int who = who_is(script, pid);
    *caught = who < 0 ? 0 : script->processes[who].caught;
    return who >= 0;
}

static size_t script_read_command_line(struct launch_world *world, pid_t pid, char *line, size_t size)
{
    struct script *script = (struct script *)world;
    const int who = who_is(script, pid);
    if (who < 0)
        return 0;
    if (who == script->runs_when_read)
        run_own(script, who);
    const bool is_rank = IS_RANK(who) && !script->processes[who].is_copy;
    return (size_t)snprintf(line, size, "%s", is_rank ? "rank" : "mpirun");
}

void script_init(struct script *script, unsigned ranks)
{
    *script = (struct script){
        .world = {.now_ms = script_now_ms,
                  .poll = script_poll,
                  .read = script_read,
                  .close = script_close,
                  .open_pipe = script_open_pipe,
                  .close_pipe = script_close_pipe,
                  .prepare = script_prepare,
                  .start = script_start,
                  .next_signal = script_next_signal,
                  .stop_self = script_stop_self,
                  .release_signals = script_release_signals,
                  .cores = script_cores,
                  .kill = script_kill,
                  .reap = script_reap,
                  .state = script_state,
                  .parent = script_parent,
                  .visit_children = script_visit_children,
                  .read_caught = script_read_caught,
                  .read_command_line = script_read_command_line},
        .habits = {.ranks = ranks,
                   .fork = 5,
                   .run = 2,
                   .catch = 10,
                   .join = 20,
                   .work = 1000,
                   .store = 10,
                   .leave = 20,
                   .drain = 50,
                   .pass = 5,
                   .end = 10,
                   .end_ranks = 1500,
                   .miss = 100},
        .limit_ms = 1000000,
        .now_ms = 1000,
        .said = -1,
        .blamed_ms = -1,
    };
}

unsigned script_count_sent(const struct script *script, int who, int number)
{
    unsigned count = 0;
    for (unsigned i = 0; i < script->sent_count; i++)
        count += script->sent[i].who == who && (number == 0 || script->sent[i].number == number);
    return count;
}

unsigned script_count_running(const struct script *script)
{
    unsigned count = 0;
    for (int who = 0; who < BY_HDSS; who++)
        count += runs(script, who);
    return count;
}
