/* SPDX-License-Identifier: MIT */
/* Watches a launcher that goes on after one of its ranks has died.
 *
 * The exit status of such a launcher is always 0, so the ranks report through a pipe how the run ended
 * (common/job/status.h). The launcher may also hang: after a loss while ranks connect, if a rank is stopped, or if a
 * rank dies at the very end. So it is ended if it has nothing more to do. The pipe is named by its entry in /proc, so
 * no file can be left behind. */
#pragma once

#include "deploy/cli/launch_world.h"

#include "common/util/ranges.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct launcher_watch {
    struct launch_world *world;
    int ends[2]; /* pipe for reports; -1: none, also in `summary` and `progress` */
    int summary[2];
    int progress[2];
    FILE *taken;
    char *text;
    size_t text_length;
    char line[64];
    unsigned length;
    bool begun;
    pid_t lead;
    bool draining;
    /* the ranks were told to drain; needed because ranks in a barrier of MPI cannot report that they drain */
    bool asked;
    bool over;
    bool again; /* the run has lost a rank that it needs, and can be restarted */
    bool ended; /* the leading rank has reported how the run ended */
    bool degraded;
    bool cleared; /* ranks that hung after the end were killed */
    int status;
    int others;
    unsigned ranks;
    unsigned depth;
    struct ranges ran; /* tasks that were running when the supermaster was lost, or shortly before; owned */
    bool flat;
    bool remote; /* some ranks are on other machines, but not the supermaster */
    unsigned cores;
    unsigned running;
    bool started;
    /* How many consecutive looks saw a stopped rank or launcher for which others waited. */
    unsigned stopped_looks;
    int64_t stopped_look_ms;
    int64_t counted_ms;
    int64_t changed_ms; /* when `running` last changed, or the ranks last reported something */
};

/* Opens the pipes. Sets environment variables that name the pipes, and say whether the ranks survive losses. Returns -1
 * if descriptors or memory run out. */
int launcher_watch_init(struct launcher_watch *watch, struct launch_world *world, unsigned ranks, unsigned depth,
                        bool remote, bool survives);
void launcher_watch_fini(struct launcher_watch *watch);

void launcher_watch_take(struct launcher_watch *watch, int64_t now_ms);

/* Returns 0 if there is no new text of the progress line. */
size_t launcher_watch_take_progress(struct launcher_watch *watch, char *bytes, size_t size);

/* Prints the summary, if there is one, with its first word in `colour` (NULL: none). Returns -1 and sets errno if it
 * cannot be written. */
int launcher_watch_print_summary(struct launcher_watch *watch, FILE *to, const char *colour);

bool launcher_watch_is_over(struct launcher_watch *watch, pid_t launcher, int64_t now_ms);

/* True if a process of this machine has been stopped (SIGSTOP) for STOPPED_LOOKS seconds while others waited for it.
 * Before the run has begun, the process may be the launcher or any rank. Later it is the supermaster or, while a run
 * with --dca drains, any worker. Returns false if all ranks of the run are stopped. */
#define STOPPED_LOOKS 10
bool launcher_watch_is_stopped(struct launcher_watch *watch, pid_t launcher, int64_t now_ms);

bool launcher_watch_holds(const struct launcher_watch *watch, pid_t launcher);

int launcher_watch_status(const struct launcher_watch *watch);
