/* SPDX-License-Identifier: MIT */
/* Runs mpirun, and handles the user's signals.
 *
 * Open MPI's mpirun kills its ranks within two seconds after SIGINT or SIGTERM, but passes SIGUSR1 on to them (measured
 * with 4.1.4; a larger odls_base_sigkill_timeout only delays each step). So mpirun gets a process group of its own,
 * which Ctrl-C does not reach, and signals are translated:
 *
 *     the first SIGINT, SIGTERM or SIGHUP becomes SIGUSR1 to mpirun, and the ranks drain;
 *     the second one becomes SIGTERM to mpirun, and the ranks are ended;
 *     the third one becomes SIGKILL to mpirun.
 *
 * Batch systems send SIGUSR1 or SIGUSR2 before they end a job. These signals act like the first signal, however often
 * they come. A stop (Ctrl-Z) and its end are passed on. If nothing of an interrupted run can be kept, the first signal
 * acts like the second.
 *
 * SIGUSR1 kills an mpirun or a rank that has no handler for it yet, so it is sent only after all have one. If a run was
 * told to stop and does not begin within a time limit, it is ended.
 *
 * Batch systems may send SIGTERM to all processes of a job, also to mpirun and the ranks. The ranks then drain and
 * report how they ended (common/job/status.h). This report counts; the exit status of mpirun does not. */
#pragma once

#include "common/util/ranges.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum launch_output {
    LAUNCH_OUTPUT_SHOWN,
    LAUNCH_OUTPUT_APART,  /* to standard error */
    LAUNCH_OUTPUT_SILENT, /* nowhere, and the launch line is not shown */
};

enum launch_wish {
    LAUNCH_GOES_ON,
    LAUNCH_DRAINS,
    LAUNCH_ENDS,  /* the launcher must end its ranks; if that takes too long, launcher and ranks are killed */
    LAUNCH_KILLS, /* launcher and ranks are killed at once: their results are not needed */
};

enum launch_stage {
    LAUNCH_STARTS,
    LAUNCH_RUNS, /* all ranks exist, or it is unknown whether they exist */
    LAUNCH_IS_OVER,
};

struct launch_side {
    /* Called after each event, and after wait_ms() milliseconds. Must not block. The returned wish is carried out at
     * once, without a message. After LAUNCH_ENDS or LAUNCH_KILLS it must return the same wish until the launcher has
     * ended. */
    enum launch_wish (*look)(void *context, enum launch_stage stage);
    /* Returns after how many milliseconds look() must be called at the latest; -1: only after events. */
    int (*wait_ms)(void *context);
    /* Fills `polled` with at most LAUNCH_SIDE_DESCRIPTORS descriptors, and returns their number. look() is called after
     * an event of any of them. */
    unsigned (*wait_for)(void *context, struct pollfd *polled);
    void *context;
    /* Called before each start of the launcher. Starts other processes of the run, which write errors to `errors`.
     * NULL: there are no such processes. */
    void (*begin)(void *context, int errors);
    /* True if the last look() has overwritten the progress line with complete lines of output. NULL: look() prints
     * nothing. */
    bool (*has_printed)(void *context);
};
#define LAUNCH_SIDE_DESCRIPTORS 3

struct launch_world;

struct launch {
    struct launch_world *world;
    /* Some ranks are on other machines. This process cannot see whether they catch a signal, so they get a fixed time
     * to start. */
    bool remote;
    bool survives;
    bool reports; /* the leading rank is on this machine, and can report how the run went */
    bool has_pods;
    bool is_pod;
    bool flat; /* --dca: the loss of any worker ends the run */
    unsigned ranks;
    unsigned rank_depth; /* level of the ranks of this machine below the launcher: dialect.h */
    FILE *log;           /* gets the output of the ranks; NULL: see `output` */
    FILE *summary_to;    /* gets the summary; borrowed; NULL: it goes where other output goes */
    const struct launch_side *side;
    enum launch_output output;
    const char *kept;    /* for a message: what is kept after the second signal; borrowed; NULL: unknown */
    const char *journal; /* for a message: if this journal does not exist, nothing is kept; borrowed; NULL: unknown */
    bool at_once;
    bool is_passing; /* stored results are lost at the caller's end, so no later run can continue from them */
    /* The ranks of this machine are killed as soon as they have reported how the run went. They do not have to leave
     * MPI. */
    bool ends_soon;
    unsigned timeout_s;
    /* How long a run that was asked to stop may take to begin before it is ended. Applies only if the ranks report. */
    int64_t begin_ms;
    bool is_resumable;
    void (*enter)(void);
    void (*clear)(pid_t);
    int64_t drain_ms;       /* when the ranks must drain, by launch_clock_ms(); 0: never */
    bool (*is_asked)(void); /* true if a signal came before the launch; NULL: none did */
    bool asked;
    bool late;
    bool begun;
    bool started;
    bool summarized; /* result: the summary was printed, or the run has reported how it went */
    /* Gets the tasks that were running when the supermaster was lost; borrowed; NULL: not needed. */
    struct ranges *ran;
    char lost[100]; /* result: why no rank has reported, for launch_say_lost(); otherwise empty */
};

const char *launch_kept(const struct launch *how);

/* Runs `argv` (ended by NULL) without standard input. Returns the exit status of the ranks. If the launcher ends
 * without such a status, returns EXIT_STATUS_FAILED; then a message was printed, or how->lost says why. */
int launch(char *const *argv, struct launch *how);

/* If the run was lost, prints how->lost and `consequence` in one line, where the ranks' messages go. */
void launch_say_lost(const struct launch *how, const char *consequence);

int64_t launch_clock_ms(void);
