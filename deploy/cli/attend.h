/* SPDX-License-Identifier: MIT */
/* Watches a job of a set until it ends: shows progress and output as for a run; signals cancel the job. */
#pragma once

#include "common/config/job.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>

struct attended {
    const char *program; /* for messages */
    const char *set;     /* of the set */
    uint64_t job;
    const struct job *as; /* job options, for the progress line */
    bool leaves;          /* a signal leaves the job running */
    bool silent;          /* prints no output of the job */
    int signals;          /* from attend_signals() */
    /* Work of the caller that prints the job's output instead; NULL: none. Its first request to end, and the first
     * signal, drain the job; the second one ends what runs. */
    const struct launch_side *side;
};

/* Blocks the signals that cancel a job, except for those that were ignored at the start, and returns a descriptor for
 * them, which is not closed; -1 if that fails. Call this before the job is submitted. */
int attend_signals(void);

/* True if this process shows the progress itself. */
bool attend_shows_progress(const struct job *as);

/* Waits over `client` until the job is over. Returns its exit status. If `last` is not NULL it gets the job's last
 * known state, owned by the caller, or NULL. `*asked`: a signal has cancelled the job. */
int attend_job(struct control_client *client, const struct attended *attended, json_t **last, bool *asked);
