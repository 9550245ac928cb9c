/* SPDX-License-Identifier: MIT */
/* Requests to the control sockets of this user's runs and sets. */
#pragma once

#include "deploy/cli/control_client.h"
#include "deploy/cli/job_view.h"
#include "deploy/cli/sets.h"

/* Sends one request over a new connection. The caller owns the answer. Sets `error` unless it returns ASK_ANSWERED. */
enum ask_end control_ask(const char *path, const char *method, const char *target, int timeout_ms,
                         struct control_answer *answer, struct error *error);

enum listed {
    LISTED_RUNS,
    LISTED_ALIVE, /* jobs of runs, and jobs of sets that are not over */
    LISTED_ALL,   /* jobs of runs, and all jobs of sets */
};

/* Lists the jobs of this user's runs and sets on this machine, ordered by name. A run that does not answer is listed
 * without JSON. If `sets` is not NULL, an object for each set is appended to it: the answer of the set, and how many
 * jobs the set has. Returns -1 if memory runs out. */
int control_list_jobs(struct job_list *list, enum listed listed, json_t *sets);

/* Lists the jobs of one set, in the order of the set. Fails if the set does not answer. */
int control_list_set(struct job_list *list, enum listed listed, const struct set_place *set, json_t *sets,
                     struct error *error);
