/* SPDX-License-Identifier: MIT */
/* The tasks that an earlier run has done, as its task log has them, for a run that goes on behind it: they are not run
 * again, and must be the same commands. */
#pragma once

#include "common/metrics/task_log.h"
#include "common/util/error.h"
#include "deploy/cli/task_list.h"
#include "worker/kernels/exec/tasks.h"

#include <stdbool.h>
#include <stdint.h>

/* The last line that the log has of a task. */
struct earlier_task {
    uint64_t number; /* of the task, from 1 on */
    uint64_t line;
    uint64_t digest; /* of its command; 0: it is to be run */
    bool has_failed;
};

struct earlier {
    const char *log; /* borrowed; NULL: there is none */
    enum task_log kind;
    bool again_failed;               /* those that failed are run again */
    struct earlier_task *tasks_done; /* by number; owned */
    size_t count, capacity;
    /* the rows of tasks that are done, to be compared */
    char path[1024]; /* their list */
    struct tasks_source source;
    struct task_list list;
    struct tasks tasks;
    bool is_open, is_compared; /* the list is; commands depend on nothing but rows */
    uint64_t compared;         /* rows of the list */
};

/* Reads the log, if it is there. -1 with one line. */
int earlier_read(struct earlier *earlier, const char *log, bool again_failed, struct error *error);
void earlier_fini(struct earlier *earlier);

/* Prepares for comparing: the rows go to the file `path`, and their commands are made as `source` says. -1 with one
 * line. */
int earlier_begin(struct earlier *earlier, const char *path, const struct tasks_source *source, struct error *error);

/* How many of its tasks failed. */
size_t earlier_failed(const struct earlier *earlier);

/* True if the task, which counts from 1, is not to be run. */
bool earlier_has(const struct earlier *earlier, uint64_t number);

/* Compares the rows that were added to the list since. -1 with one line that names that of the log. */
int earlier_compare(struct earlier *earlier, struct error *error);
