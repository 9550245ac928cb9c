/* SPDX-License-Identifier: MIT */
/* Asking the control sockets of this user's runs and sets. */
#pragma once

#include "deploy/cli/control_client.h"
#include "deploy/cli/job_view.h"
#include "deploy/cli/sets.h"

/* Asks by one question over a connection of its own. The answer is the caller's; with one line in `error` unless it is
 * answered. */
enum ask_end control_ask(const char *path, const char *method, const char *target, int timeout_ms,
                         struct control_answer *answer, struct error *error);

/* Which jobs are listed. */
enum listed {
    LISTED_RUNS,  /* those of runs */
    LISTED_ALIVE, /* those of sets that are not over, too */
    LISTED_ALL,   /* and those that are */
};

/* Lists the jobs of this user's runs and sets on this machine, in the order of their names; a run that does not answer
 * is there without JSON. With `sets` other than NULL each set is added to that array, as an object with what it says of
 * itself and the numbers of its jobs. -1 when memory is out. */
int control_list_jobs(struct job_list *list, enum listed listed, json_t *sets);

/* Adds the jobs of one set. -1 with one line. */
int control_list_set(struct job_list *list, enum listed listed, const struct set_place *set, struct error *error);
