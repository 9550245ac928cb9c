/* SPDX-License-Identifier: MIT */
/* Asking the control sockets of this user's runs. */
#pragma once

#include "deploy/cli/job_view.h"

/* The end of a question. */
enum ask_end {
    ASK_ANSWERED,
    ASK_REFUSED, /* the run has answered with an error, or with what is none of ours */
    ASK_SILENT,  /* somebody listens, and has not answered in time */
    ASK_GONE,    /* nobody listens, or the run has ended meanwhile */
};

/* Asks by one request. The answer's JSON is the caller's; with one line in `error` unless it is answered. */
enum ask_end control_ask(const char *path, const char *method, const char *target, int timeout_ms,
                         struct control_answer *answer, struct error *error);

/* Lists the jobs of all of this user's runs on this machine, in the order of their names; one that does not answer is
 * there without JSON. -1 when memory is out. */
int control_list_jobs(struct job_list *list);
