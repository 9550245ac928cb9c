/* SPDX-License-Identifier: MIT */
/* Watches a launcher that lets its ranks die.
 *
 * Such a launcher returns 0 in any case, and may not return at all: after a loss while ranks connect, if one is
 * stopped, or if one dies at the very end. So the ranks report through a pipe (common/job/status.h), and a launcher
 * with nothing left to do is ended. The pipe is named by its entry in /proc, so no file can be left behind. */
#pragma once

#include "deploy/cli/launch_world.h"

#include "common/util/ranges.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct launcher_watch {
    struct launch_world *world; /* borrowed */
    int ends[2];                /* of the pipe; -1: none */
    int summary[2];             /* likewise, for the summary */
    int progress[2];            /* likewise, for the progress line */
    FILE *taken;                /* collects the summary */
    char *text;
    size_t text_length;
    char line[64];
    unsigned length;
    bool begun; /* all ranks existed */
    pid_t lead;
    bool draining; /* a signal has reached the ranks, and they reported it */
    bool asked;    /* they were asked to drain; in an MPI barrier they do not report */
    bool over;     /* the loop is over; results are being collected */
    bool again;    /* the run has lost a rank that it needs and can be restarted */
    bool ended;    /* the leading rank has reported the result */
    bool degraded;
    bool cleared; /* ranks that hung after the end were killed */
    int status;   /* of the leading rank */
    int others;   /* status of the first other rank that failed; 0: none */
    unsigned ranks;
    unsigned depth;          /* levels below the launcher at which the ranks stand: dialect.h */
    struct ranges ran;       /* tasks that ran when the supermaster was lost, or shortly before; owned */
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

/* Puts the names of the pipes into the environment, and whether the launcher survives losses. Returns -1 if descriptors
 * or memory run out. */
int launcher_watch_init(struct launcher_watch *watch, struct launch_world *world, unsigned ranks, unsigned depth,
                        bool remote, bool survives);
void launcher_watch_fini(struct launcher_watch *watch);

/* Reads the ranks' reports. */
void launcher_watch_take(struct launcher_watch *watch, int64_t now_ms);

/* Reads new text of the progress line; 0: none. */
size_t launcher_watch_take_progress(struct launcher_watch *watch, char *bytes, size_t size);

/* Prints the summary, if there is one, with its first word in `colour` (NULL: none). -1 with errno if it cannot be
 * written. */
int launcher_watch_print_summary(struct launcher_watch *watch, FILE *to, const char *colour);

/* True if the launcher is to be ended. */
bool launcher_watch_is_over(struct launcher_watch *watch, pid_t launcher, int64_t now_ms);

/* True after STOPPED_LOOKS seconds in which a process that blocks the others was stopped (SIGSTOP) while others of this
 * machine ran: the supermaster; before the begin the launcher or any rank; any worker that should drain with --dca. Not
 * if all are stopped. */
#define STOPPED_LOOKS 10
bool launcher_watch_is_stopped(struct launcher_watch *watch, pid_t launcher, int64_t now_ms);

/* True while the launcher is stopped before the run has begun. */
bool launcher_watch_holds(const struct launcher_watch *watch, pid_t launcher);

/* Exit status of the run; -1 if it was not reported. */
int launcher_watch_status(const struct launcher_watch *watch);
