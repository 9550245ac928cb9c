/* SPDX-License-Identifier: MIT */
/* The signals that drain a run: see signals.h. */
#include "common/os/signals.h"

const int drain_signals[DRAIN_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

void drain_signals_set(sigset_t *signals)
{
    sigemptyset(signals);
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        sigaddset(signals, drain_signals[i]);
}
