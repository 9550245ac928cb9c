/* SPDX-License-Identifier: MIT */
/* The state of mpirun and its ranks, as their world shows it. */
#pragma once

#include "deploy/cli/launch_world.h"

#include <stdbool.h>
#include <sys/types.h>

/* The ranks of a launcher are its children (depth 1), or the children of those (depth 2): see dialect.h.
 *
 * True when `launcher` and all of its ranks, of which there must be at least `ranks`, catch the signal: a signal to the
 * launcher would reach ranks that know what to do with it. */
bool ready_for(struct launch_world *world, pid_t launcher, unsigned depth, unsigned ranks, int signal_number);

/* True if the process does not run any more, be it that nobody has asked after it yet. */
bool has_ended(struct launch_world *world, pid_t pid);

/* Lists the children of a process, those that have ended, too: at most `max`. Returns how many. */
unsigned children_of(struct launch_world *world, pid_t parent, pid_t *children, unsigned max);

/* Ranks of `launcher` that run. */
unsigned ranks_below(struct launch_world *world, pid_t launcher, unsigned depth);

/* Ranks of `launcher` that are stopped (SIGSTOP); `*awake`: those that run. */
unsigned ranks_stopped(struct launch_world *world, pid_t launcher, unsigned depth, unsigned *awake);

/* Ends those that are stopped. */
void ranks_end_stopped(struct launch_world *world, pid_t launcher, unsigned depth);

/* Lets those go on that are stopped. */
void ranks_rouse(struct launch_world *world, pid_t launcher, unsigned depth);

/* Sends a signal to each process below `launcher`: the ranks, and what they have started. */
void below_signal(struct launch_world *world, pid_t launcher, int signal_number);

/* Sends a signal to each of them. */
void ranks_signal(struct launch_world *world, pid_t launcher, unsigned depth, int signal_number);
