/* SPDX-License-Identifier: MIT */
/* The control socket of a run, which answers what there is to know of it and lets it be cancelled: see control.c. */
#pragma once

#include "common/control/job_json.h"

/* The source of the answers, and the receiver of requests to drain. */
struct control_source {
    void *context;
    /* Tells what is known of the job at this moment; `status` and the state at its end are filled in by the caller. */
    void (*tell)(void *context, struct control_job *job);
    /* Asks the job to drain. */
    void (*drain)(void *context);
};

struct control;
struct event_base;

/* Makes the socket run-PID and has what comes there answered whenever the base is looked at. `version` and `source` are
 * borrowed. NULL where there can be none, be it as no folder can have it: a run goes on without. */
struct control *control_new(struct event_base *base, const char *version, const struct control_source *source);

/* The job is over: whoever waits for that is told. Then the socket is gone. NULL is fine. Before the base is freed. */
void control_free(struct control *control, int status);
