/* SPDX-License-Identifier: MIT */
/* The state of mpirun and its ranks. */
#pragma once

#include "deploy/cli/launch_world.h"

#include <stdbool.h>
#include <sys/types.h>

/* True if the launcher and all its ranks catch the signal, and it has at least `ranks` ranks. The signal may then be
 * sent to the launcher. The ranks are its children (depth 1) or grandchildren (depth 2): see dialect.h. */
bool ready_for(struct launch_world *world, pid_t launcher, unsigned depth, unsigned ranks, int signal_number);

/* True for a process that has ended, even if nobody has reaped it. */
bool has_ended(struct launch_world *world, pid_t pid);

/* Lists at most `max` children, including those that have ended, and returns how many. */
unsigned children_of(struct launch_world *world, pid_t parent, pid_t *children, unsigned max);

unsigned ranks_below(struct launch_world *world, pid_t launcher, unsigned depth);

/* Returns how many ranks are stopped (SIGSTOP). `*awake`: how many others run. */
unsigned ranks_stopped(struct launch_world *world, pid_t launcher, unsigned depth, unsigned *awake);

void ranks_end_stopped(struct launch_world *world, pid_t launcher, unsigned depth);

void ranks_rouse(struct launch_world *world, pid_t launcher, unsigned depth);

void below_signal(struct launch_world *world, pid_t launcher, int signal_number);

void ranks_signal(struct launch_world *world, pid_t launcher, unsigned depth, int signal_number);
