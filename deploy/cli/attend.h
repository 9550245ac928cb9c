/* SPDX-License-Identifier: MIT */
/* Being there while a job of a set goes on: its progress and what it prints are shown as those of a run, and signals
 * cancel it. */
#pragma once

#include "common/config/job.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>

struct attended {
    const char *program;  /* named in messages */
    const char *set;      /* its name */
    uint64_t job;         /* its number */
    const struct job *as; /* its options, for the progress line */
    bool leaves;          /* a signal leaves the job as it is */
    bool silent;          /* nothing of what it prints is shown */
    int signals;          /* from attend_signals() */
    /* Work of the caller's beside the waiting, which shows what the job prints; NULL: there is none. Its first wish for
     * an end, and a first signal, have the job drain, the next one ends what runs. */
    const struct launch_side *side;
};

/* Has the signals that cancel a job wait, but for those that whoever started us wants ignored. To be called before the
 * job is there, so that none comes between. The descriptor, which ends with the process; -1 where there can be none. */
int attend_signals(void);

/* True where the progress is shown by ourselves, and the job need not write it. */
bool attend_shows_progress(const struct job *as);

/* Asks over `client` until the job is over. Returns its exit status; with `last` other than NULL what is known of it at
 * the end is the caller's there, or NULL. `*asked`: a signal asked it to end. */
int attend_job(struct control_client *client, const struct attended *attended, json_t **last, bool *asked);
