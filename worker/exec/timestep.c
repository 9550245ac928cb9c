/* SPDX-License-Identifier: MIT */
/* Time steps that depend on each other. The kernel enters the steps in order. For each step the kernel gets the results
 * of the previous step, which are read from the output of the run. A worker that had no chunk of a step, or joined
 * later, catches up when it gets a chunk. */
#include "worker/exec/steps.h"

#include "common/util/error.h"
#include "common/util/returned.h"
#include "hdss/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int enter_next_step(struct exec *exec)
{
    const struct exec_config *config = &exec->config;
    struct exec_step *step = &exec->step;
    struct error error;
    const char *why = exec->error;
    if (step->earlier == NULL)
        step->earlier = malloc(step->count * exec->records.bytes);
    if (step->earlier == NULL) {
        why = "no memory for the results of the step before";
    } else if (config->read(config->context, step->first, step->count, step->earlier, &error) < 0) {
        why = error.text;
    } else if (returned(config->kernel->step(exec->instance, step->number + 1, step->earlier, exec->error), "step",
                        exec->error) == 0 &&
               (step->tell_others == NULL ||
                step->tell_others(step->others, step->number + 1, step->earlier, exec->error) == 0)) {
        step->number++;
        step->first += step->count;
        return 0;
    }
    char line[HDSS_ERROR_MAX];
    snprintf(line, sizeof line, "time step %" PRIu64 ": %.*s", step->number + 1, HDSS_ERROR_MAX - 60, why);
    snprintf(exec->error, sizeof exec->error, "%s", line);
    step->is_stuck = true;
    return -1;
}

/* If entering a step fails, the kernel does not try again. It may have done half of the work, and the worker ends in
 * any case. */
int exec_enter_step(struct exec *exec, uint64_t iteration)
{
    if (exec->step.is_stuck)
        return -1;
    if (iteration < exec->step.first) {
        snprintf(exec->error, sizeof exec->error,
                 "an iteration of a time step that is over: the worker is in step %" PRIu64, exec->step.number);
        return -1;
    }
    while (!exec_is_in_step(exec, iteration))
        if (enter_next_step(exec) < 0)
            return -1;
    return 0;
}
