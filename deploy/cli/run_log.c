/* SPDX-License-Identifier: MIT */
/* Writes the first and the last line of a run's log: see run_log.h. */
#include "deploy/cli/run_log.h"

#include "common/job/terminal.h"
#include "common/metrics/human.h"
#include "common/util/text.h"
#include "deploy/cli/allocation.h"
#include "hdss/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_count(struct text *text, const char *separator, unsigned count, const char *one)
{
    char number[HUMAN_MAX];
    if (count > 0)
        text_add(text, "%s%s %s%s", separator, human_count(number, count), one, count == 1 ? "" : "s");
}

/* `is_passing`: hdss exec launches this, and other parameters than the command name files of its own. */
static void write_first_line(const struct launch_plan *launch_plan, bool is_passing)
{
    const struct job *job = &launch_plan->request.setup.job;
    const struct hosts *hosts = &launch_plan->line_up.hosts;
    struct text text;
    text_init(&text);
    text_add(&text, "hdss run: begins %s", job->kernel);
    for (unsigned i = 0; i < job->kernel_params; i++)
        if (!is_passing || strncmp(job->kernel_param[i], "command=", strlen("command=")) == 0)
            text_add(&text, " %.200s", job->kernel_param[i]);
    add_count(&text, " with ", launch_plan->line_up.workers, "worker");
    add_count(&text, " and ", launch_plan->line_up.masters, "master");
    if (hosts->count > 0)
        text_add(&text, " on %s", hosts->items[0].name);
    if (hosts->count > 1)
        add_count(&text, " and ", hosts->count - 1, "other host");
    char *line = text_take(&text);
    if (line != NULL)
        terminal_log(line);
    free(line);
}

void run_log_begin(struct run_log *log, const struct launch_plan *launch_plan, const struct launch *how)
{
    const struct job *job = &launch_plan->request.setup.job;
    const bool is_wanted = job->progress != JOB_PROGRESS_NEVER && !launch_plan->quiet;
    *log = (struct run_log){.is_kept = is_wanted && how->log == NULL && !isatty(STDERR_FILENO),
                            .begun_ms = launch_clock_ms(),
                            .due_ms = (int64_t)(job->log_every_ns / 1000000)};
    log->is_begun =
        log->is_kept && (allocation_is_there() || job->log_every_given || job->progress == JOB_PROGRESS_ALWAYS);
    if (log->is_begun)
        write_first_line(launch_plan, how->is_passing);
}

void run_log_end(const struct run_log *log, int status)
{
    static const char *const states[] = {[EXIT_STATUS_DONE] = "done",
                                         [EXIT_STATUS_FAILED] = "failed",
                                         [EXIT_STATUS_USAGE] = "refused",
                                         [EXIT_STATUS_TASKS] = "finished, with failures",
                                         [EXIT_STATUS_DRAINED] = "stopped by a signal after a clean drain"};
    const int64_t taken_ms = launch_clock_ms() - log->begun_ms;
    char line[200], duration[HUMAN_MAX];
    if (!log->is_kept || !(log->is_begun || taken_ms >= log->due_ms))
        return;
    snprintf(line, sizeof line, "hdss run: ends after %s: %s", human_duration(duration, (double)taken_ms / 1e3),
             status >= 0 && status < (int)(sizeof states / sizeof *states) ? states[status] : "failed");
    terminal_log(line);
}
