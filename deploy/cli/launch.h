/* SPDX-License-Identifier: MIT */
/* Runs mpirun and stands between it and the user's signals.
 *
 * Open MPI's mpirun answers SIGINT and SIGTERM by killing its ranks within two seconds; SIGUSR1 it passes on to them
 * (measured with 4.1.4; raising odls_base_sigkill_timeout only makes it sleep that long before each step). So
 * mpirun gets a process group of its own, where no Ctrl-C reaches it, and signals go one by one:
 *   the first SIGINT, SIGTERM or SIGHUP   SIGUSR1 to mpirun, for the ranks to drain;
 *   the second                            SIGTERM to mpirun: the ranks are ended;
 *   the third                             SIGKILL to mpirun.
 * SIGUSR1 and SIGUSR2, which batch systems send some time before they end a job, do what the first one does, and
 * nothing after it. A stop (Ctrl-Z) and its end are passed on as well. Where nothing of a cut-off run is worth keeping
 * the first signal does what the second does. SIGUSR1 waits until mpirun and the ranks catch it: before that it would
 * kill them or be lost. A run that has not begun some time after the first signal, for whatever reason, is ended.
 *
 * Batch systems send SIGTERM to every process of a job, mpirun and the ranks among them. The ranks drain by it and say
 * how they ended (common/job/status.h), which then counts for more than mpirun's own status. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The way of all that the ranks print on standard output, the summary above all. */
enum launch_output {
    LAUNCH_OUTPUT_SHOWN,  /* it is printed there */
    LAUNCH_OUTPUT_APART,  /* it goes to standard error */
    LAUNCH_OUTPUT_SILENT, /* nowhere, and the line is not shown either */
};

enum launch_wish {
    LAUNCH_GOES_ON,
    LAUNCH_DRAINS, /* the ranks are asked to drain */
    LAUNCH_ENDS,   /* the launcher is asked to end its ranks, and is killed with them where it does not */
    LAUNCH_KILLS,  /* the launcher and its ranks are killed at once: nobody wants their results */
};

enum launch_stage {
    LAUNCH_STARTS,  /* some ranks are not there yet */
    LAUNCH_RUNS,    /* all are, or it is not known */
    LAUNCH_IS_OVER, /* the loop is over: nobody computes, and the results are brought where they belong */
};

/* Work of the caller's that goes on in the loop that waits for the launcher. */
struct launch_side {
    /* Called after each event, and when its time is over; never waits. Its wish is met as soon as it is returned, and
     * nothing is said about it; LAUNCH_ENDS and LAUNCH_KILLS have to be returned again and again, until the launcher
     * has ended. */
    enum launch_wish (*look)(void *context, enum launch_stage stage);
    int (*wait_ms)(void *context); /* time until look() is due at the latest; -1: only after events */
    /* Fills in descriptors whose events look() waits for, at most LAUNCH_SIDE_DESCRIPTORS. Returns how many. */
    unsigned (*wait_for)(void *context, struct pollfd *polled);
    void *context;
    /* Called at each start, before the launcher begins: for processes that belong to the run, too, and write to
     * `errors` what is wrong, as its ranks do. NULL: there are none. */
    void (*begin)(void *context, int errors);
    /* True if the last look() has printed where a progress line may have stood, and has ended its line; NULL: never. */
    bool (*has_printed)(void *context);
};
#define LAUNCH_SIDE_DESCRIPTORS 3

struct launch_world;

struct launch {
    struct launch_world *world; /* borrowed; NULL: the machine that this process runs on */
    bool remote;                /* ranks elsewhere get a fixed time to come up: nobody here sees what they catch */
    bool survives;  /* the launcher lets ranks die: launcher_watch.h looks after it, and the ranks say how it went */
    bool reports;   /* the ranks can say how the run went: the one that leads is on this machine */
    bool has_pods;  /* launches that are not stopped with this one may take part */
    bool is_pod;    /* a master leads, in the place of a supermaster */
    bool flat;      /* workers alone: each of them is needed */
    unsigned ranks; /* ranks to launch */
    unsigned rank_depth;            /* levels below the launcher at which the ranks of this machine stand: dialect.h */
    FILE *log;                      /* borrowed; takes what the ranks print; NULL: they print as we do */
    FILE *summary_to;               /* borrowed; takes the summary; NULL: it goes with what the ranks print */
    const struct launch_side *side; /* borrowed; NULL: there is nothing else to do */
    enum launch_output output;      /* where `log` is NULL */
    const char *kept;               /* borrowed; says what the second signal leaves; NULL: not known */
    const char *journal;            /* borrowed; the file without which nothing is stored; NULL: not known */
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
    char lost[100];         /* set: why no rank has said how the run went, for launch_say_lost(); else empty */
};

/* What to say of that which a run has stored that is ended before its time, to be put behind the reason. */
const char *launch_kept(const struct launch *how);

/* Runs `argv` (ends with a NULL) with standard input closed off and returns an enum exit_status: what the ranks
 * returned, or EXIT_STATUS_FAILED for anything else that mpirun says, after one line on standard error, or with the
 * reason in how->lost. */
int launch(char *const *argv, struct launch *how);

/* Prints how->lost and what follows from it as one line, where the ranks print. Nothing where the run was not lost. */
void launch_say_lost(const struct launch *how, const char *consequence);

/* Milliseconds of a clock that nobody sets. */
int64_t launch_clock_ms(void);
