/* SPDX-License-Identifier: MIT */
/* Time steps that build upon one another: the kernel is told of each, in order, with what the one before has yielded,
 * as it lies in the output. A worker that had no chunk of a step, or comes later, is told of it when it has one. */
#include "worker/exec/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int refuse(struct exec *exec, const char *text)
{
    char line[HDSS_ERROR_MAX];
    snprintf(line, sizeof line, "time step %" PRIu64 ": %.*s", exec->step, HDSS_ERROR_MAX - 60, text);
    snprintf(exec->error, sizeof exec->error, "%s", line);
    return -1;
}

static int read_earlier(struct exec *exec)
{
    struct error error;
    uint64_t each = exec->config.each;
    if (exec->earlier == NULL)
        exec->earlier = malloc(each * exec->record_bytes);
    if (exec->earlier == NULL)
        return refuse(exec, "no memory for the results of the step before");
    if (exec->config.read(exec->config.context, exec->step_first - each, each, exec->earlier, &error) < 0)
        return refuse(exec, error.text);
    return 0;
}

static int tell(struct exec *exec)
{
    if (exec->config.kernel->step(exec->instance, exec->step, exec->earlier, exec->error) == 0 &&
        (exec->tell_others == NULL || exec->tell_others(exec->others, exec->step, exec->earlier, exec->error) == 0))
        return 0;
    return refuse(exec, exec->error);
}

static int enter_next(struct exec *exec)
{
    exec->step++;
    exec->step_first += exec->config.each;
    if (read_earlier(exec) == 0 && tell(exec) == 0)
        return 0;
    exec->step--;
    exec->step_first -= exec->config.each;
    exec->is_stuck = true;
    return -1;
}

/* What fails is not tried again: a kernel that refuses a step may have gone half of the way, and the worker goes no
 * further in any case. */
int exec_enter_step(struct exec *exec, uint64_t iteration)
{
    if (exec->is_stuck)
        return -1;
    if (iteration < exec->step_first) {
        snprintf(exec->error, sizeof exec->error,
                 "an iteration of a time step that is over: the worker is in step %" PRIu64, exec->step);
        return -1;
    }
    while (!exec_is_in_step(exec, iteration))
        if (enter_next(exec) < 0)
            return -1;
    return 0;
}
