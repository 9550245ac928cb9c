/* SPDX-License-Identifier: MIT */
/* The tasks that an earlier run has finished, from its task log. A run that continues does not run these tasks again.
 * Their commands must be the same in both runs. */
#pragma once

#include "common/metrics/task_log.h"
#include "common/util/error.h"
#include "deploy/cli/sources.h"
#include "worker/kernels/exec/tasks.h"

#include <stdbool.h>
#include <stdint.h>

struct earlier_task {
    uint64_t number;
    uint64_t line;
    uint64_t digest; /* digest of the task's command; 0: the task must be run */
    bool has_failed;
};

struct earlier {
    const char *log;
    enum task_log kind;
    bool again_failed;
    struct earlier_task *tasks_done;
    size_t count, capacity;
    struct tasks_source source;
    struct tasks tasks;
    bool is_open;
};

int earlier_read(struct earlier *earlier, const char *log, bool again_failed, const struct tasks_source *source,
                 struct error *error);
void earlier_fini(struct earlier *earlier);

size_t earlier_failed(const struct earlier *earlier);

bool earlier_has(const struct earlier *earlier, uint64_t number);

/* Compares the command of task `number`, made from its row, with the command in the log. If they differ, fails with a
 * message that names the line of the log. */
int earlier_compare(struct earlier *earlier, uint64_t number, const struct arguments *names,
                    const struct arguments *row, struct error *error);
