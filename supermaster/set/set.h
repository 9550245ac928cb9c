/* SPDX-License-Identifier: MIT */
/* A set, for the files that serve it: serve.c (the program and its turns), jobs.c (jobs begin and end), requests.c
 * (what is asked over the socket), items.c (what is added to open jobs), words.c (the command lines of jobs) and
 * folder.c (where it keeps things), pods.c (launches that join). */
#pragma once

#include "common/config/serve_options.h"
#include "common/control/control.h"
#include "common/control/metrics_file.h"
#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"
#include "supermaster/given_up.h"
#include "supermaster/lead/pods_door.h"
#include "supermaster/queue.h"
#include "supermaster/set/folder.h"
#include "supermaster/set/pods.h"
#include "supermaster/set/queue_journal.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct set_job;

/* A job to which something was added that is not committed, with what it had before. */
struct set_addition {
    uint32_t job;
    struct queue_items before;
};

/* Jobs that are over, and of which it is kept what was given up of them. */
#define SET_FAILURES_MAX 16

/* What was given up of a job that is over. */
struct set_failures {
    uint32_t job; /* 0: none yet */
    struct given_up given_up;
};

struct set {
    const char *version;
    struct serve_options options;
    struct runtime *runtime;         /* owned */
    const struct topology *topology; /* the runtime's: of all ranks that there ever were */
    struct topology launch;          /* of those that were launched; owned */
    struct pods_door pods;
    struct link *link; /* while it serves; owned */
    struct set_folder folder;
    struct queue queue;
    struct queue_journal *journal; /* of `queue`; owned */
    struct control_source source;
    struct control *control;                       /* of `source`; owned */
    struct metrics_file *metrics_file;             /* likewise; NULL: there is none; owned */
    struct error error;                            /* why it cannot be opened */
    struct set_job *jobs;                          /* those that run, in the order in which they began; owned */
    struct set_job *loading;                       /* those whose kernel is loaded, which run for the queue; owned */
    uint32_t newest;                               /* number under which the ranks have the latest job */
    struct set_addition additions[QUEUE_OPEN_MAX]; /* [addition_count] */
    unsigned addition_count;
    struct set_failures failures[SET_FAILURES_MAX]; /* of the latest jobs of which something was given up */
    unsigned failures_next;                         /* the place of the next one */
    char waits_for[24];                             /* of the job that is told of */
    uint64_t idle_since_ns;
    uint64_t completed_next_ns; /* open jobs are not completed before that, as they could not be */
    uint64_t journal_next_ns;   /* the journal is not written before that, as it could not be */
    bool journal_fails;         /* that has been said */
    bool is_deserted;           /* all workers are lost */
};

/* Seconds since 1970. */
static inline int64_t set_now_s(void)
{
    return (int64_t)time(NULL);
}
