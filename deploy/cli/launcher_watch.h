/* SPDX-License-Identifier: MIT */
/* Looks after a launcher that lets its ranks die.
 *
 * Such a launcher returns 0 whatever the ranks did, and may not return at all: when a rank is lost while the others
 * still find each other, when one is stopped, when one dies at the very end. So the ranks say through a pipe how it
 * goes (common/job/status.h), and a launcher that has nothing left to do is ended. The pipe is named by this
 * process's entry in /proc: nothing lies in a folder that could be left there. */
#pragma once

#include "deploy/cli/launch_world.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct launcher_watch {
    struct launch_world *world; /* borrowed */
    int ends[2];                /* ends of the pipe; -1 where there is none */
    int summary[2];             /* those of the pipe that the summary comes through */
    int progress[2];            /* those of the pipe of the progress line */
    FILE *taken;                /* takes what has come of it */
    char *text;                 /* of `taken`; owned */
    size_t text_length;
    char line[64];
    unsigned length;
    bool begun; /* all ranks were there */
    pid_t lead;
    bool draining; /* a signal has reached the ranks, and they have said so */
    bool asked;    /* they were asked to drain; in a barrier of MPI they say nothing */
    bool over;     /* the loop is over, and its results are still to be brought where they belong */
    bool again;    /* the run has lost a rank that it needs, and another start goes on with it */
    bool ended;    /* the rank that leads has said how it went */
    bool degraded;
    bool cleared; /* ranks that hung when the run was over were ended */
    int status;   /* status of the rank that leads */
    int others;   /* status of the first other rank that failed; 0: none did */
    unsigned ranks;
    unsigned depth;          /* levels below the launcher at which the ranks stand: dialect.h */
    bool flat;               /* workers alone: each waits for all others */
    bool remote;             /* some ranks are elsewhere, the supermaster is not */
    unsigned cores;          /* cores of this machine */
    unsigned running;        /* ranks that run on this machine */
    bool started;            /* at least one rank ran, here, or wherever all are */
    unsigned stopped_looks;  /* in a row that found a rank or the launcher stopped while the others wait for it */
    int64_t stopped_look_ms; /* time of the latest such look */
    int64_t counted_ms;      /* when the ranks were last counted */
    int64_t changed_ms;      /* when `running` last changed, or the ranks last said something */
};

/* Puts the names of the pipes in the environment, and whether the launcher keeps running when a rank dies. Returns -1
 * if file descriptors or memory have run out. */
int launcher_watch_init(struct launcher_watch *watch, struct launch_world *world, unsigned ranks, unsigned depth,
                        bool remote, bool survives);
void launcher_watch_fini(struct launcher_watch *watch);

/* Takes what the ranks have said. */
void launcher_watch_take(struct launcher_watch *watch, int64_t now_ms);

/* Takes what has come of the progress line; 0: nothing. */
size_t launcher_watch_take_progress(struct launcher_watch *watch, char *bytes, size_t size);

/* Prints the summary, if one has come; its first word in `colour`, NULL for none. -1 where it cannot be written; errno
 * says why. */
int launcher_watch_print_summary(struct launcher_watch *watch, FILE *to, const char *colour);

/* True if the launcher is to be ended. */
bool launcher_watch_is_over(struct launcher_watch *watch, pid_t launcher, int64_t now_ms);

/* True once somebody on whom all others wait has been stopped (SIGSTOP) for STOPPED_LOOKS seconds while others of this
 * machine run: the supermaster, before the run has begun the launcher or any rank, and when workers alone drain any of
 * them. Its own looks are counted, and nobody is blamed where all are stopped. */
#define STOPPED_LOOKS 10
bool launcher_watch_is_stopped(struct launcher_watch *watch, pid_t launcher, int64_t now_ms);

/* True while the launcher itself is stopped and the run has not begun, which it cannot without it. */
bool launcher_watch_holds(const struct launcher_watch *watch, pid_t launcher);

/* The exit status of the run, or -1 where nobody has said it. */
int launcher_watch_status(const struct launcher_watch *watch);
