/* SPDX-License-Identifier: MIT */
/* The signals by which batch systems and terminals ask a job to stop; each drains the run. */
#pragma once

#include <signal.h>

enum { DRAIN_SIGNALS = 5 };

extern const int drain_signals[DRAIN_SIGNALS];

void drain_signals_set(sigset_t *signals);
