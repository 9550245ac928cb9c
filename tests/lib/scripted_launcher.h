/* SPDX-License-Identifier: MIT */
/* A machine that a test makes up for a launch (deploy/cli/launch_world.h): its clock moves only while the launch waits,
 * and its processes do what the test says: a launcher and its ranks, which live as usual, and acts that come between.
 *
 * A rank is forked by the launcher, runs its own program, catches signals and joins the others. When all have joined
 * the run begins; when its work is done, or it has drained, rank 0 says how it went, and all leave. */
#pragma once

#include "deploy/cli/launch.h"
#include "deploy/cli/launch_world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { SCRIPT_RANKS_MAX = 16, SCRIPT_ACTS_MAX = 400, SCRIPT_SENT_MAX = 2000 };

/* Who acts, or is acted on. Its process has the number SCRIPT_PID(who), which no process of a system can have. */
enum { BY_LAUNCHER, BY_RANK_0, BY_RANK_1, BY_RANK_2, BY_PROXY = SCRIPT_RANKS_MAX + 1, BY_HDSS, SCRIPT_PROCESSES };
#define SCRIPT_PID(who) (10000000 + (who))

enum script_deed {
    /* of ranks, as they come up */
    SCRIPT_FORKED,
    SCRIPT_RUNS,     /* its own program */
    SCRIPT_CATCHES,  /* the signals that drain */
    SCRIPT_IS_THERE, /* all three at once */
    SCRIPT_JOINS,
    /* as they end */
    SCRIPT_DONE, /* rank 0: the loop is over */
    SCRIPT_ENDS, /* rank 0 says its status, and the ranks begin to leave */
    SCRIPT_LEAVES,
    /* words */
    SCRIPT_SAYS,     /* on the status pipe */
    SCRIPT_SUMS_UP,  /* on that of the summary */
    SCRIPT_PROGRESS, /* on that of the progress line */
    SCRIPT_PRINTS,   /* on standard error, a rank through the launcher */
    SCRIPT_PASSED,   /* what a rank has printed comes out of the launcher */
    /* of the launcher by itself */
    SCRIPT_FORWARDS, /* SIGUSR1 */
    SCRIPT_ENDS_ALL, /* as one is lost */
    SCRIPT_HAS_ENDED_ALL,
    SCRIPT_RETURNS, /* if none is left */
    /* of any process */
    SCRIPT_EXITS,    /* with status `number` */
    SCRIPT_CRASHES,  /* by signal `number`, whatever it catches */
    SCRIPT_SIGNALLED /* by signal `number`, from somewhere else */
};

struct script_act {
    int64_t at_ms;
    int who;
    enum script_deed deed;
    int number;
    const char *text; /* borrowed */
};

/* What the launcher does with SIGTERM, SIGINT and SIGHUP. */
enum script_end {
    SCRIPT_ENDS_RANKS, /* by the same signal, and `end_ranks` later by SIGKILL; then it ends with status 1 */
    SCRIPT_DIES,       /* of it */
    SCRIPT_IGNORES,
};

/* Times in milliseconds; below 0: never. */
struct script_habits {
    unsigned ranks;                 /* that come up by themselves */
    int64_t fork, run, catch, join; /* of each, after one another */
    int64_t work, store, leave;     /* of the run; storing is between SCRIPT_DONE and SCRIPT_ENDS */
    int64_t drain;                  /* from the signal to SCRIPT_ENDS */
    int status;                     /* of a run that is done */
    int64_t pass;                   /* what ranks print is so long with the launcher */
    int64_t end;                    /* of the launcher's after the last rank's */
    int64_t end_ranks;              /* between the two signals of SCRIPT_ENDS_RANKS, and after a loss */
    enum script_end on_end;
    int64_t forward;    /* the launcher takes so long to pass a signal on */
    bool lets_none_die; /* it ends all ranks where one is lost */
    int64_t miss;       /* time in which ranks miss a launcher that has ended */
    bool loses_words;   /* it drops what it has not passed on as it ends the ranks */
    bool waits_alone;   /* rank 0 says how it went though its launcher is gone */
    bool is_passed_by;  /* ranks print to the terminal, not through the launcher: their words outlive it */
    bool drops_drain;   /* the launcher keeps SIGUSR1 to itself */
};

struct script_process {
    char state; /* as process_state(); 0: it is not there */
    int parent;
    bool is_copy; /* of the launcher */
    uint64_t caught, pending;
    int status; /* as waitpid() gives it */
    bool has_come, has_joined, is_asked, has_left;
};

struct script_pipe {
    char bytes[4096];
    size_t length, taken;
};

struct script_sent {
    int64_t at_ms;
    int who, number;
};

struct script {
    struct launch_world world; /* first */
    struct script_habits habits;
    unsigned depth;
    FILE *trace;        /* borrowed; takes what happens; NULL: nothing does */
    int runs_when_read; /* a copy that runs its own program just before its command line is read; 0: none */
    int64_t limit_ms;   /* a launch that lasts longer hangs */
    int64_t now_ms;
    struct script_act acts[SCRIPT_ACTS_MAX]; /* to come, in no order; equal times in that of `order` */
    unsigned order[SCRIPT_ACTS_MAX], act_count, acts_made;
    struct script_act held[SCRIPT_ACTS_MAX]; /* of processes that are stopped */
    unsigned held_count;
    struct script_process processes[SCRIPT_PROCESSES];
    struct script_pipe status, summary, progress, errors;
    int signals[64]; /* to hdss */
    unsigned signal_count;
    /* what has happened */
    bool hangs;
    bool has_begun, has_ended, is_degraded;
    int64_t ended_ms;                         /* of has_ended */
    int said;                                 /* status that rank 0 has said; -1: none */
    struct script_sent sent[SCRIPT_SENT_MAX]; /* signals that the launch has sent */
    unsigned sent_count;
    unsigned dropped; /* lines that the launcher had with it as it ended */
    bool is_stopped_self;
    int64_t stop_ms;         /* time for which it stops itself */
    int waited_for;          /* the caller's own descriptor that was waited for last */
    unsigned asked;          /* signals to hdss that ask it to stop */
    int64_t blamed_ms;       /* when it first ended somebody of a run that worked, and was asked once; -1: never */
    bool is_end_begun;       /* the launch has sent a signal that ends */
    bool has_struck_unready; /* the launch has asked ranks to drain of which one did not catch it */
    FILE *came_out;          /* borrowed; takes what has come out of the launcher; NULL: nothing does */
};

/* A launcher with so many ranks to come up by themselves, as quick as on an idle machine. */
void script_init(struct script *script, unsigned ranks);
void script_add(struct script *script, struct script_act act);

/* How often the launch has sent the signal to the process, number 0: any. */
unsigned script_count_sent(const struct script *script, int who, int number);

/* Processes of the launcher and its ranks that still run. */
unsigned script_count_running(const struct script *script);
