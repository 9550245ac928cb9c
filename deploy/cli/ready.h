/* SPDX-License-Identifier: MIT */
/* State of mpirun and its ranks. */
#pragma once

#include "deploy/cli/launch_world.h"

#include <stdbool.h>
#include <sys/types.h>

/* The ranks of a launcher are its children (depth 1) or grandchildren (depth 2): see dialect.h.
 *
 * True if the launcher and all its ranks, at least `ranks`, catch the signal, so that it may be sent to the launcher.
 */
bool ready_for(struct launch_world *world, pid_t launcher, unsigned depth, unsigned ranks, int signal_number);

/* True if the process no longer runs, even if it was not reaped. */
bool has_ended(struct launch_world *world, pid_t pid);

/* Lists up to `max` children of a process, ended ones included, and returns their number. */
unsigned children_of(struct launch_world *world, pid_t parent, pid_t *children, unsigned max);

/* Number of running ranks. */
unsigned ranks_below(struct launch_world *world, pid_t launcher, unsigned depth);

/* Number of stopped ranks (SIGSTOP); `*awake`: of the others. */
unsigned ranks_stopped(struct launch_world *world, pid_t launcher, unsigned depth, unsigned *awake);

/* Kills stopped ranks. */
void ranks_end_stopped(struct launch_world *world, pid_t launcher, unsigned depth);

/* Continues stopped ranks. */
void ranks_rouse(struct launch_world *world, pid_t launcher, unsigned depth);

/* Sends a signal to all descendants of the launcher: ranks and their children. */
void below_signal(struct launch_world *world, pid_t launcher, int signal_number);

/* Sends a signal to each rank. */
void ranks_signal(struct launch_world *world, pid_t launcher, unsigned depth, int signal_number);
