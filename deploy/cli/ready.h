/* Whether a signal to mpirun would reach ranks that know what to do with it, as /proc shows it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* True when `launcher` and all of its children, of which there must be one, catch the signal. */
bool ready_for(pid_t launcher, int signal_number);
