/* SPDX-License-Identifier: MIT */
/* Runs mpirun and handles the user's signals.
 *
 * Open MPI's mpirun answers SIGINT and SIGTERM by killing its ranks within two seconds, but forwards SIGUSR1 (measured
 * with 4.1.4; a larger odls_base_sigkill_timeout only delays each step). So mpirun gets a process group of its own,
 * which Ctrl-C does not reach, and signals are translated:
 *
 *     the first SIGINT, SIGTERM or SIGHUP   SIGUSR1 to mpirun: the ranks drain;
 *     the second                            SIGTERM to mpirun: the ranks are ended;
 *     the third                             SIGKILL to mpirun.
 *
 * SIGUSR1 and SIGUSR2, which batch systems send before they end a job, act like the first signal, however often they
 * come. A stop (Ctrl-Z) and its end are forwarded. If nothing of an interrupted run can be kept the first signal acts
 * like the second. SIGUSR1 waits until mpirun and the ranks catch it, because it would kill them. A run that has not
 * begun some time after the first signal is ended.
 *
 * Batch systems send SIGTERM to every process of a job, mpirun and ranks included. The ranks drain and report how they
 * ended (common/job/status.h), which counts more than mpirun's own status. */
#pragma once

#include "common/util/ranges.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Destination of the ranks' standard output, mainly the summary. */
enum launch_output {
    LAUNCH_OUTPUT_SHOWN,
    LAUNCH_OUTPUT_APART,  /* standard error */
    LAUNCH_OUTPUT_SILENT, /* dropped, and the line is not shown */
};

enum launch_wish {
    LAUNCH_GOES_ON,
    LAUNCH_DRAINS, /* the ranks are to drain */
    LAUNCH_ENDS,   /* the launcher is to end its ranks; later it is killed with them */
    LAUNCH_KILLS,  /* launcher and ranks are to be killed at once: their results are not needed */
};

enum launch_stage {
    LAUNCH_STARTS,  /* some ranks do not exist yet */
    LAUNCH_RUNS,    /* all exist, or it is unknown */
    LAUNCH_IS_OVER, /* the loop is over; results are being collected */
};

/* Work of the caller in the loop that waits for the launcher. */
struct launch_side {
    /* Called after each event and after wait_ms(); must not wait. Its wish is carried out immediately and silently;
     * LAUNCH_ENDS and LAUNCH_KILLS must be returned until the launcher has ended. */
    enum launch_wish (*look)(void *context, enum launch_stage stage);
    int (*wait_ms)(void *context); /* limit until the next look(); -1: after events only */
    /* Fills in up to LAUNCH_SIDE_DESCRIPTORS descriptors whose events call look(), and returns their number. */
    unsigned (*wait_for)(void *context, struct pollfd *polled);
    void *context;
    /* Called at each start, before the launcher: starts other processes of the run, which write errors to `errors`.
     * NULL: none. */
    void (*begin)(void *context, int errors);
    /* True if the last look() printed over a progress line and ended its line; NULL: never. */
    bool (*has_printed)(void *context);
};
#define LAUNCH_SIDE_DESCRIPTORS 3

struct launch_world;

struct launch {
    struct launch_world *world; /* borrowed; NULL: this machine */
    bool remote; /* some ranks are on other machines, where it cannot be seen what they catch: they get a fixed time to
                    start */
    bool survives; /* the launcher lets other ranks survive a loss: launcher_watch.h watches it, and the ranks report */
    bool reports;  /* the leading rank is on this machine and can report */
    bool has_pods; /* pods may take part, which are not stopped with this launch */
    bool is_pod;   /* a master leads instead of a supermaster */
    bool flat;     /* --dca: each worker is needed */
    unsigned ranks;                 /* to launch */
    unsigned rank_depth;            /* level of the local ranks below the launcher: dialect.h */
    FILE *log;                      /* borrowed; gets the output of the ranks; NULL: see `output` */
    FILE *summary_to;               /* borrowed; gets the summary; NULL: like other output */
    const struct launch_side *side; /* borrowed; NULL: none */
    enum launch_output output;      /* if `log` is NULL */
    const char *kept;               /* borrowed; what the second signal leaves, for a message; NULL: unknown */
    const char *journal;            /* borrowed; the journal, without which nothing is kept; NULL: unknown */
    bool at_once;                   /* the first signal ends the ranks */
    bool is_passing;                /* what is stored goes with the caller: nobody can go on from it later */
    bool ends_soon; /* ranks of this machine that have said how the run went are ended, not waited for to leave MPI */
    unsigned timeout_s;     /* the ranks are ended then; 0: never */
    int64_t begin_ms;       /* time that the ranks have to begin once they are asked to stop; where they report */
    bool is_resumable;      /* what is stored can be gone on with */
    void (*enter)(void);    /* called in the process that becomes the launcher; NULL: nothing is */
    void (*clear)(pid_t);   /* removes the files that a launcher has left; NULL: it has none */
    int64_t drain_ms;       /* by launch_clock_ms(): the ranks are to drain then; 0: never */
    bool (*is_asked)(void); /* true if a signal came before there was anything to end; NULL: none did */
    bool asked;             /* set: somebody asked the run to stop, or drain_ms came */
    bool late;              /* set: the time was over */
    bool begun;             /* set: all ranks were there, where they report */
    bool started;           /* set: a rank ran on this machine, as far as that was looked at */
    bool summarized;        /* set: the summary is printed, or the run has said how it went */
    struct ranges *ran;     /* borrowed; gets the tasks that ran when the supermaster was lost; NULL: not wanted */
    char lost[100];         /* set: why no rank has said how the run went, for launch_say_lost(); else empty */
};

/* Text about what an ended run has stored, to append to the reason. */
const char *launch_kept(const struct launch *how);

/* Runs `argv` (ends with NULL) without standard input. Returns an enum exit_status: that of the ranks, or
 * EXIT_STATUS_FAILED for anything else that mpirun returns, after a message or with the reason in how->lost. */
int launch(char *const *argv, struct launch *how);

/* Prints how->lost and its consequence as one line, like the ranks' messages; nothing if the run was not lost. */
void launch_say_lost(const struct launch *how, const char *consequence);

/* Milliseconds of a monotonic clock. */
int64_t launch_clock_ms(void);
