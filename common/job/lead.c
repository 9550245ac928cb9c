/* SPDX-License-Identifier: MIT */
/* Leading a run: see lead.h. */
#include "common/job/lead.h"

#include "common/metrics/progress.h"
#include "common/metrics/summary.h"
#include "common/os/files.h"
#include "common/job/check.h"
#include "common/mpi/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void lead_init(struct lead *lead, const char *name, const char *version)
{
    lead->name = name;
    lead->version = version;
    lead->process_start_ns = runtime_process_start();
    lead->started_at = time(NULL);
    resume_init(&lead->resume);
    ranges_init(&lead->failed);
}

/* --- before it runs --- */

int lead_read_speeds(struct lead *lead, const unsigned *ranks, unsigned workers, double **speeds)
{
    return plan_read_speeds(&lead->plan, ranks, workers, speeds, &lead->error);
}

int lead_check(struct lead *lead, bool keeps_journal)
{
    if (plan_check(&lead->plan, CHECKED_BY_LEADER, keeps_journal, &lead->resume, &lead->error) < 0)
        return -1;
    return resume_take(&lead->resume, &lead->plan, lead->name, &lead->error);
}

int lead_create_files(struct lead *lead)
{
    const struct plan *plan = &lead->plan;
    int result = resume_begin(&lead->resume, plan, &lead->error);
    if (result == 0 && plan->collect)
        result = resume_create_output(&lead->resume, plan, &lead->error);
    if (result != 0)
        resume_give_up(&lead->resume);
    return result;
}

int lead_open_sink(struct lead *lead)
{
    const struct plan *plan = &lead->plan;
    if (!plan->collect)
        return 0;
    int result = results_open(&lead->sink, plan->job.output, &plan->loop, lead->rank, &lead->error);
    lead->sink_open = result == 0;
    return result;
}

/* --- while it runs --- */

void lead_show_progress(struct lead *lead, const struct progress *progress)
{
    char line[PROGRESS_LINE_MAX];
    progress_line(progress, lead->terminal.width - 1, lead->terminal.utf8, line);
    terminal_show(&lead->terminal, line, progress->elapsed_s);
}

/* --- at the end --- */

void lead_say_failure(struct lead *lead, const char *text, unsigned rank)
{
    terminal_clear(&lead->terminal);
    if (rank == lead->rank)
        fprintf(stderr, "%s: %s\n", lead->name, text);
    else
        fprintf(stderr, "%s: rank %u: %s\n", lead->name, rank, text);
}

void lead_say_notes(const struct lead *lead, int status)
{
    if (status == 0)
        plan_say_notes(&lead->plan, lead->name);
}

int lead_record(struct lead *lead, const struct range *ranges, size_t count, uint64_t digest, struct error *error)
{
    bool sync = lead->plan.job.durability == JOB_DURABILITY_NODE && lead->sink_open;
    int result = sync ? results_sync(&lead->sink, error) : 0;
    if (result == 0)
        result = resume_record(&lead->resume, ranges, count, digest, error);
    if (result < 0 && lead->resume.failure.text[0] == '\0')
        lead->resume.failure = *error;
    return result;
}

/* The final files, and on the disk where that is wanted. Where all is done, all must be there. */
static int convert(struct lead *lead, int status)
{
    const struct plan *plan = &lead->plan;
    const struct range whole = {plan->first, status == EXIT_STATUS_DONE ? plan->count : 0};
    if (results_convert(plan->job.output, &plan->loop, &whole, &lead->failed, &lead->error) < 0)
        return -1;
    bool sync = plan->job.durability == JOB_DURABILITY_NODE && lead->resume.path[0] != '\0';
    return sync ? results_sync_files(plan->job.output, &plan->loop, &lead->error) : 0;
}

static int finish_output(struct lead *lead, int status)
{
    const struct plan *plan = &lead->plan;
    int closed = lead->sink_open ? results_close(&lead->sink, &lead->error) : 0;
    lead->sink_open = false;
    if (!plan->collect)
        return status;
    if (closed < 0 || convert(lead, status) < 0) {
        if (status != EXIT_STATUS_FAILED)
            lead_say_failure(lead, lead->error.text, lead->rank);
        return EXIT_STATUS_FAILED;
    }
    return status == EXIT_STATUS_DONE && ranges_total(&lead->failed) > 0 ? EXIT_STATUS_TASKS : status;
}

/* At the very end nobody was told of a journal that could not be written. */
static int check_journal(struct lead *lead, int status)
{
    const char *failure = lead->resume.failure.text;
    if (failure[0] == '\0' || status == EXIT_STATUS_FAILED)
        return status;
    lead_say_failure(lead, failure, lead->rank);
    return EXIT_STATUS_FAILED;
}

int lead_finish_output(struct lead *lead, int status)
{
    status = check_journal(lead, finish_output(lead, status));
    lead->resumable = resume_is_possible(&lead->resume, ranges_total(&lead->failed) > 0);
    lead->complete = status == EXIT_STATUS_DONE;
    resume_end(&lead->resume);
    if (lead->resume.path[0] == '\0' && status != EXIT_STATUS_FAILED && lead->plan.collect)
        results_remove(lead->plan.job.output, &lead->plan.loop);
    return status;
}

/* The journal goes first: records without one are nothing but left over. */
void lead_clear_away(struct lead *lead)
{
    if (lead->resume.path[0] == '\0' || !lead->complete)
        return;
    unlink(lead->resume.path);
    if (lead->plan.collect)
        results_remove(lead->plan.job.output, &lead->plan.loop);
}

static void complete_report(const struct lead *lead, struct report *report, uint64_t first_assign_ns)
{
    report->version = lead->version;
    report->kernel = lead->plan.kernel;
    report->values = lead->plan.values;
    report->started_at = lead->started_at;
    report->output = lead->plan.job.output;
    report->output_varies = lead->plan.loop.streams > 0;
    report->are_tasks = lead->plan.loop.are_tasks;
    report->journal = lead->resumable ? lead->resume.path : NULL;
    if (first_assign_ns != NEVER)
        report->startup_s = (double)(first_assign_ns - lead->process_start_ns) / 1e9;
    report->failed_task_count = ranges_length(&lead->failed);
    report->failed_tasks = report->failed_task_count > 0 ? ranges_at(&lead->failed, 0) : NULL;
    report->failure = NULL; /* it is said on standard error */
    report_compute(report);
}

static int write_report(struct lead *lead, const struct report *report)
{
    const char *path = lead->plan.job.report;
    if (path[0] == '\0')
        return 0;
    char *text = report_json(report);
    int result = text == NULL ? error_set(&lead->error, "%s: out of memory", path)
                              : file_write(path, text, strlen(text), &lead->error);
    free(text);
    return result;
}

int lead_say_how_it_went(struct lead *lead, struct report *report, uint64_t first_assign_ns, int status)
{
    complete_report(lead, report, first_assign_ns);
    if (status == EXIT_STATUS_FAILED)
        report->outcome = REPORT_FAILED;
    else if (status == EXIT_STATUS_TASKS)
        report->outcome = REPORT_TASKS_FAILED;
    char *text = summary_text(report, lead->terminal.width, lead->terminal.utf8);
    fputs(terminal_text_start(&lead->terminal), stdout);
    terminal_clear(&lead->terminal);
    if (text != NULL)
        fputs(text, stdout);
    fflush(stdout);
    free(text);
    if (write_report(lead, report) == 0)
        return status;
    lead_say_failure(lead, lead->error.text, lead->rank);
    return EXIT_STATUS_FAILED;
}
