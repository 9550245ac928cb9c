/* SPDX-License-Identifier: MIT */
/* Leading a run: see root.h. */
#include "common/job/root.h"

#include "common/config/job.h"
#include "common/config/params.h"
#include "common/config/run_spec.h"
#include "common/job/check.h"
#include "common/job/status.h"
#include "common/machine/machine.h"
#include "common/metrics/progress.h"
#include "common/metrics/summary.h"
#include "common/mpi/runtime.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "common/sched/sched.h"
#include "hdss/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEFT_MAX_S 3e9

void root_init(struct root *root, const char *name, const char *version)
{
    root->name = name;
    root->version = version;
    root->out = stdout;
    root->err = stderr;
    root->has_launcher = true;
    root->process_start_ns = runtime_process_start();
    root->started_at = time(NULL);
    root->output_lock = -1;
    resume_init(&root->resume);
    ranges_init(&root->failed);
    ranges_init(&root->done_failed);
    precedence_init(&root->precedence);
}

void root_use_streams(struct root *root, FILE *out, FILE *err)
{
    root->out = out;
    root->err = err;
    root->has_launcher = false;
    root->process_start_ns = runtime_now();
    terminal_init_none(&root->terminal);
}

void root_fini(struct root *root)
{
    resume_give_up(&root->resume);
    if (root->output_lock >= 0)
        close(root->output_lock);
    root->output_lock = -1;
    precedence_fini(&root->precedence);
    ranges_fini(&root->done_failed);
    ranges_fini(&root->failed);
    free(root->reasons.latest);
    root->reasons.latest = NULL;
}

int root_read_speeds(struct root *root, const unsigned *ranks, unsigned workers, double **speeds)
{
    return job_setup_read_speeds(&root->setup, ranks, workers, speeds, &root->error);
}

int root_check(struct root *root, bool keeps_journal)
{
    /* If users add iterations to the loop, `grows` is set later, by root_note_added(). */
    root->grows = root->setup.loop.grows && !root->setup.job.found.is_counted;
    if (job_setup_check(&root->setup, CHECKED_BY_LEADER, keeps_journal, &root->resume, &root->error) < 0)
        return -1;
    return resume_take(&root->resume, &root->setup, root->err, root->name, &root->error);
}

static int check_precedence(const struct job_setup *setup, struct error *error)
{
    const struct technique *technique = setup->job.spec.technique.technique;
    const char *tasks = setup->loop.are_tasks ? "tasks" : "iterations";
    if (setup->job.first != 0 || setup->job.count != UINT64_MAX)
        return error_set(error, "--iterations: some %s of this %s wait for others; accepted: all of them", tasks,
                         setup->kernel->name);
    if (setup->job.spec.technique_auto || !technique->may_grow)
        return error_set(error,
                         "--technique: some %s of this %s wait for others, and %s cuts by how many are left; accepted: "
                         "%s" RUN_TECHNIQUE_SINGLE,
                         tasks, setup->kernel->name, setup->job.spec.technique_auto ? "auto" : technique->name,
                         setup->job.technique_given ? "" : "--technique ");
    return 0;
}

int root_read_precedence(struct root *root)
{
    const struct job_setup *setup = &root->setup;
    if (kernel_precedence(setup->kernel, setup->values, &setup->loop, &root->precedence, &root->error) < 0)
        return -1;
    if (root->precedence.count == 0)
        return 0;
    if (check_precedence(setup, &root->error) < 0)
        return -1;
    return resume_find_failed(&root->resume, setup, &root->done_failed, &root->error);
}

int root_create_files(struct root *root)
{
    const struct job_setup *setup = &root->setup;
    int result = resume_begin(&root->resume, setup, &root->error);
    if (result == 0 && setup->collect)
        result = resume_create_output(&root->resume, setup, &root->output_lock, &root->error);
    if (result != 0)
        resume_give_up(&root->resume);
    return result;
}

int root_open_sink(struct root *root)
{
    const struct job_setup *setup = &root->setup;
    if (!setup->collect)
        return 0;
    int result = results_open(&root->sink, setup->job.output, &setup->loop, root->rank, &root->error);
    root->sink_open = result == 0;
    return result;
}

int root_grow(struct root *root, struct growth *growth, struct error *error)
{
    struct job_setup *setup = &root->setup;
    int result = root->grows;
    if (!setup->job.found.is_counted)
        result = kernel_grow(setup->kernel, setup->values, &setup->loop.iterations, error);
    if (result < 0)
        return -1;
    setup->count = setup->step_iterations = setup->loop.iterations;
    *growth = (struct growth){setup->count, result == 0};
    root->grows = result > 0;
    return 0;
}

void root_note_added(struct root *root, uint64_t added, bool is_complete)
{
    struct job_setup *setup = &root->setup;
    if (!setup->job.found.is_counted)
        return;
    setup->loop.iterations += added - setup->job.found.added;
    setup->job.found.added = added;
    root->grows = !is_complete;
}

static int record_growth(struct root *root, struct error *error)
{
    return resume_record_growth(&root->resume, &root->setup, root->grows, error);
}

void root_show_progress(struct root *root, const struct progress *progress)
{
    char line[PROGRESS_LINE_MAX], end[TERMINAL_TIME_MAX];
    const double left_s = progress_left_s(progress);
    const time_t now = time(NULL);
    if (root->terminal.mode == TERMINAL_IN_PLACE) {
        progress_line(progress, root->terminal.width - 1, root->terminal.utf8, line);
        terminal_show(&root->terminal, line);
    } else if (terminal_is_due(&root->terminal, (double)(runtime_now() - root->process_start_ns) / 1e9)) {
        const bool is_known = left_s >= 0 && left_s < LEFT_MAX_S;
        if (is_known)
            terminal_time(now + (time_t)left_s, now, end);
        terminal_log(progress_log(progress, is_known ? end : NULL, line));
    }
}

void root_print_failure(struct root *root, const char *text, unsigned rank)
{
    terminal_clear(&root->terminal);
    if (rank == root->rank)
        say(root->err, "%s: %s", root->name, text);
    else
        say(root->err, "%s: rank %u: %s", root->name, rank, text);
}

void root_print_notes(const struct root *root, int status)
{
    if (status == 0)
        job_setup_print_notes(&root->setup, root->err, root->name);
}

int root_record(struct root *root, const struct range *ranges, size_t count, uint64_t digest, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    bool sync = root->setup.job.durability == JOB_DURABILITY_NODE && root->sink_open;
    int result = sync ? results_sync(&root->sink, error) : 0;
    if (result == 0)
        result = record_growth(root, error);
    if (result == 0)
        result = resume_record(&root->resume, ranges, count, digest, error);
    if (result < 0 && root->resume.failure.text[0] == '\0')
        root->resume.failure = *error;
    return result;
}

int root_record_deaths(struct root *root, const struct poison *deaths, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    int result = record_growth(root, error);
    if (result == 0)
        result = resume_record_deaths(&root->resume, deaths, error);
    if (result < 0 && root->resume.failure.text[0] == '\0')
        root->resume.failure = *error;
    return result;
}

int root_record_point(struct root *root, const struct journal_point *part, uint64_t offset, uint64_t all,
                      struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    int result = resume_record_point(&root->resume, part, offset, all, error);
    if (result < 0 && root->resume.failure.text[0] == '\0')
        root->resume.failure = *error;
    return result;
}

/* Makes the final files. If the run is complete, fails if results are missing. With --join no the output stays in
 * parts, and other programs may already have removed some of them. In this case only the failures are read from the
 * parts. */
static int root_convert(struct root *root, int status)
{
    const struct job_setup *setup = &root->setup;
    const struct range whole = {setup->first, status == EXIT_STATUS_DONE ? setup->count : 0};
    const struct ranges *among = root->resume.resumed ? NULL : root->done_failed_now;
    if (setup->loop.are_tasks && setup->job.report[0] != '\0' && root->reasons.latest == NULL)
        root->reasons.latest = calloc(REASONS_LATEST, sizeof *root->reasons.latest);
    if (!setup->job.joins)
        return results_review(setup->job.output, &setup->loop, among, &root->failed, &root->reasons, &root->error);
    if (results_convert(setup->job.output, &setup->loop, &whole, &root->failed, &root->reasons, &root->error) < 0)
        return -1;
    bool sync = setup->job.durability == JOB_DURABILITY_NODE && root->resume.path[0] != '\0';
    return sync ? results_sync_files(setup->job.output, &setup->loop, &root->error) : 0;
}

/* Checks that the output was not removed or replaced during the run, unless the run failed. If the run was stopped
 * early, also checks that all recorded results exist. For a complete run root_convert() checks that. */
static int root_look_again(struct root *root, int status)
{
    const struct job_setup *setup = &root->setup;
    const struct journal *journal = &root->resume.journal;
    const char *output = setup->job.output;
    if (status == EXIT_STATUS_FAILED || root->output_lock < 0)
        return 0;
    if (results_look_again(output, &setup->loop, root->output_lock, &root->error) < 0)
        return -1;
    if (status == EXIT_STATUS_DONE || journal->fd < 0)
        return 0;
    int held = results_hold(output, &setup->loop, &journal->done, &root->error);
    if (held == RESULTS_COMPLETE)
        return 0;
    return held < 0 ? -1
                    : error_set(&root->error, "%.200s.parts: some of what is done was removed while the run wrote it",
                                output);
}

static int finish_output(struct root *root, int status)
{
    const struct job_setup *setup = &root->setup;
    int closed = root->sink_open ? results_close(&root->sink, &root->error) : 0;
    root->sink_open = false;
    if (!setup->collect)
        return status;
    if (closed < 0 || root_look_again(root, status) < 0 || root_convert(root, status) < 0) {
        if (status != EXIT_STATUS_FAILED)
            root_print_failure(root, root->error.text, root->rank);
        return EXIT_STATUS_FAILED;
    }
    return status == EXIT_STATUS_DONE && ranges_total(&root->failed) > 0 ? EXIT_STATUS_TASKS : status;
}

static int root_check_journal(struct root *root, int status)
{
    const char *failure = root->resume.failure.text;
    /* Growth is usually recorded before results. But a resumed loop may have grown without any new result, so growth is
     * also recorded here. */
    if (failure[0] == '\0' && record_growth(root, &root->error) < 0)
        root->resume.failure = root->error;
    if (failure[0] == '\0' || status == EXIT_STATUS_FAILED)
        return status;
    root_print_failure(root, failure, root->rank);
    return EXIT_STATUS_FAILED;
}

/* With --join no the parts are the output, so they are not removed. */
static void remove_parts(const struct root *root)
{
    const struct job_setup *setup = &root->setup;
    if (setup->collect && setup->job.joins)
        results_remove(setup->job.output, &setup->loop);
}

int root_finish_output(struct root *root, int status)
{
    status = root_check_journal(root, finish_output(root, status));
    root->resumable = resume_is_possible(&root->resume, ranges_total(&root->failed) > 0);
    const bool are_held_back = status == EXIT_STATUS_TASKS && root->precedence.count > 0 && root->setup.collect;
    root->is_given_up = are_held_back || resume_is_given_up(&root->resume, &root->setup);
    root->complete = status == EXIT_STATUS_DONE;
    if (!root->complete)
        resume_end(&root->resume);
    if (root->resume.path[0] == '\0' && status != EXIT_STATUS_FAILED)
        remove_parts(root);
    return status;
}

/* The parts are removed last, because a resumed run needs them as long as the journal has no end record. */
void root_clear_away(struct root *root, int status)
{
    if (root->resume.path[0] != '\0' && root->complete) {
        resume_conclude(&root->resume, &root->setup, status == EXIT_STATUS_DONE);
        remove_parts(root);
    }
    if (root->output_lock >= 0)
        close(root->output_lock);
    root->output_lock = -1;
}

static void complete_report(struct root *root, struct report *report, uint64_t first_assign_ns)
{
    report->version = root->version;
    report->kernel = root->setup.kernel;
    report->values = root->setup.values;
    report->started_at = root->started_at;
    report->output = root->setup.job.output;
    report->output_in_parts = !root->setup.job.joins;
    report->output_varies = root->setup.loop.streams > 0;
    report->are_tasks = root->setup.loop.are_tasks;
    report->journal = root->resumable ? root->resume.path : NULL;
    report->rest_is_given_up = root->is_given_up;
    if (first_assign_ns != NEVER)
        report->startup_s = (double)(first_assign_ns - root->process_start_ns) / 1e9;
    report->failed_task_count = ranges_length(&root->failed);
    report->failed_tasks = report->failed_task_count > 0 ? ranges_at(&root->failed, 0) : NULL;
    reasons_sort(&root->reasons);
    report->reasons = &root->reasons;
    report->failure = NULL; /* The failure was already printed on standard error. */
    report_compute(report);
}

static int root_write_report(struct root *root, const struct report *report)
{
    const char *path = root->setup.job.report;
    if (path[0] == '\0')
        return 0;
    char *text = report_json(report);
    int result = 0;
    if (text == NULL)
        result = error_set(&root->error, "%s: out of memory", path);
    else if (job_reports_to_output(&root->setup.job) && !root->has_launcher)
        result = fputs(text, root->out) < 0 || fflush(root->out) != 0 ? error_set(&root->error, "%s: %m", path) : 0;
    else
        result = file_write(path, text, strlen(text), &root->error);
    free(text);
    return result;
}

/* Prefers to send the summary to `hdss run`, which prints it, because an MPI launcher may drop the last output of a
 * rank. */
static void root_print_summary(struct root *root, const struct report *report)
{
    const struct job *job = &root->setup.job;
    FILE *to = job_reports_to_output(job) ? root->err : root->out;
    char *text = job->summary == JOB_SUMMARY_TEXT   ? summary_text(report, root->terminal.width, root->terminal.utf8)
                 : job->summary == JOB_SUMMARY_JSON ? report_json(report)
                                                    : NULL;
    const bool is_told = text != NULL && root->has_launcher && status_tell_summary(text);
    if (!is_told)
        fputs(terminal_text_start(&root->terminal), to);
    terminal_clear(&root->terminal);
    if (!is_told && text != NULL)
        fputs(text, to);
    fflush(to);
    free(text);
}

int root_print_report(struct root *root, struct report *report, uint64_t first_assign_ns, int status)
{
    complete_report(root, report, first_assign_ns);
    if (status == EXIT_STATUS_FAILED)
        report->outcome = REPORT_FAILED;
    else if (status == EXIT_STATUS_TASKS)
        report->outcome = REPORT_TASKS_FAILED;
    root_print_summary(root, report);
    if (root_write_report(root, report) == 0)
        return status;
    root_print_failure(root, root->error.text, root->rank);
    return EXIT_STATUS_FAILED;
}
