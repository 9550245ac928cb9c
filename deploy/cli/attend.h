/* SPDX-License-Identifier: MIT */
/* Watches a job of a set until it ends. Shows progress and output in the same way as for a run. Signals cancel the
 * job. */
#pragma once

#include "common/config/job.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>

struct attended {
    const char *program;
    const char *set;
    uint64_t job;
    const struct job *as;
    bool leaves;
    bool silent;
    int signals;
    /* Callbacks of a caller that prints the job's output itself; NULL: there is no such caller. A callback or a signal
     * may ask to end the job. The first request drains it, the second one cancels it. */
    const struct launch_side *side;
};

/* Must be called before the job is submitted. Blocks the signals that cancel a job, except those that were ignored at
 * the start. Returns a descriptor for them, which stays open, or -1. */
int attend_signals(void);

bool attend_shows_progress(const struct job *as);

/* Waits until the job is over, and returns its exit status. `last` (may be NULL) gets the last known state of the job,
 * owned by the caller, or NULL. `*asked` is set if a signal has come. */
int attend_job(struct control_client *client, const struct attended *attended, json_t **last, bool *asked);
