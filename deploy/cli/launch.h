/* SPDX-License-Identifier: MIT */
/* Runs mpirun, and handles the user's signals.
 *
 * Open MPI's mpirun answers SIGINT and SIGTERM by killing its ranks within two seconds, but passes SIGUSR1 on to them
 * (measured with 4.1.4; a larger odls_base_sigkill_timeout only delays each step). So mpirun gets a process group of
 * its own, which Ctrl-C does not reach, and signals are translated:
 *
 *     the first SIGINT, SIGTERM or SIGHUP   SIGUSR1 to mpirun: the ranks drain;
 *     the second                            SIGTERM to mpirun: the ranks are ended;
 *     the third                             SIGKILL to mpirun.
 *
 * SIGUSR1 and SIGUSR2, which batch systems send before they end a job, act like the first signal, however often they
 * come. A stop (Ctrl-Z) and its end are passed on. If nothing of an interrupted run can be kept, the first signal acts
 * like the second. SIGUSR1 kills an mpirun or a rank that has no handler for it yet, so it is sent only when all have
 * one. A run that was told to stop and does not begin for some time is ended.
 *
 * Batch systems send SIGTERM to all processes of a job, also to mpirun and the ranks. The ranks then drain and report
 * how they ended (common/job/status.h); that report counts, and not the status of mpirun. */
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
    LAUNCH_ENDS,  /* the launcher must end its ranks; if it does not end them in time, all are killed */
    LAUNCH_KILLS, /* launcher and ranks are killed at once: their results are not needed */
};

enum launch_stage {
    LAUNCH_STARTS,
    LAUNCH_RUNS, /* all ranks exist, or it is unknown whether they exist */
    LAUNCH_IS_OVER,
};

struct launch_side {
    /* Called after each event, and after wait_ms() milliseconds. Must not wait. The returned wish is carried out at
     * once, without a message. LAUNCH_ENDS and LAUNCH_KILLS must be returned until the launcher has ended. */
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
    /* True if the last look() has overwritten the progress line with output that ends its line. NULL: never. */
    bool (*has_printed)(void *context);
};
#define LAUNCH_SIDE_DESCRIPTORS 3

struct launch_world;

struct launch {
    struct launch_world *world;
    /* Some ranks are on other machines. Whether they catch a signal cannot be seen, so they get a fixed time to
     * start. */
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
    bool is_passing; /* stored results are lost when the caller ends, so no later run can continue from them */
    /* After the ranks of this machine have reported how the run went, they are killed, without waiting until they have
     * left MPI. */
    bool ends_soon;
    unsigned timeout_s;
    int64_t begin_ms; /* if the ranks report: how long a run that was asked to stop may take to begin */
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

/* Runs `argv` (ended by NULL) without standard input. Returns the exit status of the ranks. If mpirun ends in any other
 * way, returns EXIT_STATUS_FAILED, and a message was printed or how->lost says why. */
int launch(char *const *argv, struct launch *how);

/* If the run was lost, prints how->lost and `consequence` in one line, where the ranks' messages go. */
void launch_say_lost(const struct launch *how, const char *consequence);

int64_t launch_clock_ms(void);
