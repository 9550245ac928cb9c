/* SPDX-License-Identifier: MIT */
/* The state of a set. The files of this folder share it: serve.c (program and main loop), jobs.c (running jobs),
 * requests.c (control socket), items.c (additions to open jobs), words.c (command lines of jobs), folder.c (folder of
 * the set) and pods.c (joining launches). */
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

struct set_addition {
    uint32_t job;
    struct queue_items before;
};

/* Number of ended jobs whose lists of given-up iterations are kept. */
#define SET_FAILURES_MAX 16

struct set_failures {
    uint32_t job;
    struct given_up given_up;
};

struct set {
    const char *version;
    struct serve_options options;
    struct runtime *runtime;         /* owned, like all pointers below except `topology` */
    const struct topology *topology; /* topology of the runtime, with all ranks that have ever taken part; borrowed */
    struct topology launch;
    struct pods_door pods;
    struct link *link;
    struct set_folder folder;
    struct queue queue;
    struct queue_journal *journal;
    struct control_source source;
    struct control *control;
    struct metrics_file *metrics_file;
    struct error error;
    struct set_job *jobs; /* list of the running jobs, in the order in which they began; owned */
    /* list of the jobs whose kernel is being loaded; the queue counts them as running; owned */
    struct set_job *loading;
    uint32_t newest;
    struct set_addition additions[QUEUE_OPEN_MAX];
    unsigned addition_count;
    struct set_failures failures[SET_FAILURES_MAX];
    unsigned failures_next;
    char waits_for[32];
    uint64_t idle_since_ns;
    uint64_t completed_next_ns;
    uint64_t journal_next_ns;
    bool journal_fails;
    bool is_deserted;
};

static inline int64_t set_now_s(void)
{
    return (int64_t)time(NULL);
}
