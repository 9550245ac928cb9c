/* What /proc shows of mpirun and its ranks. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* True when `launcher` and all of its children, of which there must be one, catch the signal: a signal to mpirun would
 * reach ranks that know what to do with it. */
bool ready_for(pid_t launcher, int signal_number);

/* Whether the process does not run any more, be it that nobody has asked after it yet. */
bool has_ended(pid_t pid);

/* Children of `launcher` that run. */
unsigned children_of(pid_t launcher);

/* Sends a signal to each of them. */
void children_signal(pid_t launcher, int signal_number);
