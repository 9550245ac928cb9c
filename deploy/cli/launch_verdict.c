/* SPDX-License-Identifier: MIT */
/* Decides how a launch has ended: see launch_verdict.h. */
#include "deploy/cli/launch_verdict.h"
#include "common/os/signals.h"
#include "common/util/error.h"

#include <signal.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

/* Draining counts as a request to stop only if ranks survive losses. Otherwise the launcher sends SIGTERM to the ranks
 * after a loss, and they drain because of it. */
bool launch_was_asked(const struct launch_course *course)
{
    return course->asked > 0 || (course->is_told_drain && course->how->survives);
}

/* True if the report of the leading rank counts, and not the status of the launcher. That status says little: MPICH
 * returns 0 after a drain, and Open MPI returns 1 after a signal even if everything is done. */
static bool report_counts(const struct launch_course *course, int reported)
{
    const bool drained = (course->asked > 0 || course->is_told_drain) && !course->watch->degraded;
    const bool interrupted = WIFEXITED(course->status) && WEXITSTATUS(course->status) == EXIT_STATUS_FAILED;
    return course->how->survives || course->status == 0 || drained || course->watch->cleared || course->end_ms != 0 ||
           course->outlived || (reported == EXIT_STATUS_DONE && interrupted);
}

static int ending_signal(const struct launch_course *course)
{
    return WIFSIGNALED(course->status)         ? WTERMSIG(course->status)
           : WEXITSTATUS(course->status) > 128 ? WEXITSTATUS(course->status) - 128
                                               : 0;
}

static bool is_draining_signal(int number)
{
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        if (number == drain_signals[i])
            return true;
    return false;
}

/* True if the ranks were draining, and a signal ended the launcher or made it end the ranks. The second case is
 * recognized by a failed launcher, and only if ranks survive losses: otherwise the launcher may have failed because of
 * a loss. */
static bool is_cut(const struct launch_course *course)
{
    const bool has_killed = course->is_told_drain && course->how->survives && WIFEXITED(course->status) &&
                            WEXITSTATUS(course->status) == EXIT_STATUS_FAILED;
    const bool drains = course->is_told_drain || course->asked > 0;
    return course->end_ms == 0 && (has_killed || (drains && is_draining_signal(ending_signal(course))));
}

/* True if the launcher got a signal before a rank could handle it. The launcher was ended by the signal, or has ended
 * without a message, with all processes that it had started. After a failure, the launcher or a rank would have printed
 * a message. */
static bool is_cut_short(const struct launch_course *course)
{
    bool is_cut = WIFEXITED(course->status) && WEXITSTATUS(course->status) == EXIT_STATUS_FAILED && !course->has_said;
    is_cut |= WIFSIGNALED(course->status) && is_draining_signal(WTERMSIG(course->status));
    return is_cut && !course->watch->begun && course->end_ms == 0 && course->asked == 0;
}

/* True if a signal came before the run had begun: some ranks drained, but the signal killed a rank that could not
 * handle it yet. In that case the launcher had to be ended. */
static bool has_drained_away(const struct launch_course *course)
{
    return launch_was_asked(course) && course->end_ms != 0 && !course->watch->begun;
}

const char *launch_kept(const struct launch *how)
{
    if (how->journal != NULL && access(how->journal, F_OK) < 0 && errno == ENOENT)
        return "; nothing was stored yet, and the same line begins anew";
    return how->kept != NULL ? how->kept : "";
}

static struct launch_verdict told(int status, const char *text)
{
    struct launch_verdict verdict = {.status = status};
    snprintf(verdict.told, sizeof verdict.told, "%s", text);
    return verdict;
}

static struct launch_verdict judge_cut(const struct launch *how)
{
    struct launch_verdict verdict = {.status = how->is_resumable ? EXIT_STATUS_DRAINED : EXIT_STATUS_FAILED};
    snprintf(verdict.told, sizeof verdict.told, "the launcher was ended, and the ranks before they had drained%s",
             launch_kept(how));
    return verdict;
}

/* Judges a launch if no rank has reported how the run ended and the launcher's status says nothing. */
static struct launch_verdict judge_silence(const struct launch_course *course)
{
    struct launch_verdict verdict = {.status = EXIT_STATUS_FAILED};
    const char *leader = course->how->is_pod  ? "the pod ended without leaving its set"
                         : !course->how->flat ? "the run ended without its supermaster"
                                              : "the run ended without one of its workers";
    /* If there was a second request, the run was given up, and a message has said so. */
    if (course->asked < 2)
        snprintf(verdict.lost, sizeof verdict.lost, "%s",
                 course->watch->begun ? leader : "a rank was lost before the run had begun");
    return verdict;
}

static struct launch_verdict judge_launcher(const struct launch_course *course)
{
    const int status = WIFEXITED(course->status) ? WEXITSTATUS(course->status) : 128 + WTERMSIG(course->status);
    struct launch_verdict verdict = {.status = status <= EXIT_STATUS_DRAINED ? status : EXIT_STATUS_FAILED};
    if (status <= EXIT_STATUS_DRAINED)
        return verdict;
    const int number = status - 128;
    if (number > 0 && number < NSIG && sigabbrev_np(number) != NULL)
        snprintf(verdict.lost, sizeof verdict.lost, "a process of the run was ended by SIG%s", sigabbrev_np(number));
    else
        snprintf(verdict.lost, sizeof verdict.lost, "the launcher ended with status %d", status);
    return verdict;
}

struct launch_verdict launch_judge(const struct launch_course *course)
{
    const struct launch *how = course->how;
    const struct launcher_watch *watch = course->watch;
    const int reported = how->reports ? launcher_watch_status(watch) : -1;
    if (reported == EXIT_STATUS_FAILED && watch->again)
        return (struct launch_verdict){.status = reported, .lost = "the run has lost a rank that it needs"};
    if (reported >= 0 && report_counts(course, reported))
        return (struct launch_verdict){.status = reported};
    if (reported < 0 && how->reports && (!watch->begun || course->not_begun) &&
        (course->asked == 1 ||
         (course->asked == 0 && (is_cut(course) || is_cut_short(course) || has_drained_away(course)))))
        return told(EXIT_STATUS_DRAINED, "stopped before the run had begun");
    if (reported < 0 && watch->begun && course->asked <= 1 && is_cut(course))
        return judge_cut(how);
    if (how->survives && watch->started && (course->status == 0 || course->end_ms != 0 || watch->begun))
        return judge_silence(course);
    if (how->reports && course->status == 0)
        return told(EXIT_STATUS_FAILED,
                    "the launcher has ended, and no rank has said how the run went: was it sent a signal before its "
                    "ranks were ready, or, with --carrier mpi, is it not the mpirun of an MPI library?");
    const bool fails = WIFEXITED(course->status) && WEXITSTATUS(course->status) == EXIT_STATUS_FAILED;
    if (fails && reported < 0 && watch->begun)
        return judge_silence(course);
    if (fails && reported < 0 && course->asked == 0 && !course->late && !course->has_said)
        return told(EXIT_STATUS_FAILED, watch->started ? "a rank was lost before the run had begun"
                                                       : "the launcher has failed, and has not said why");
    return judge_launcher(course);
}
