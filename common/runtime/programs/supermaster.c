/* supermaster: reads the job, shares it, drives the supermaster's machine, and says how it went. */
#include "common/runtime/programs/programs.h"

#include "common/config/power_file.h"
#include "common/metrics/progress.h"
#include "common/metrics/summary.h"
#include "common/results/results.h"
#include "common/runtime/files.h"
#include "common/runtime/front.h"
#include "common/runtime/mpi/runtime.h"
#include "common/runtime/plan.h"
#include "common/runtime/terminal.h"
#include "supermaster/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct program {
    const char *version;
    struct plan plan;
    struct error error;
    struct runtime *runtime;
    const struct topology *topology;
    struct supermaster supermaster;
    bool supermaster_ready;
    struct results_sink sink; /* central topology with an output */
    bool sink_open;
    struct terminal terminal;
    uint64_t process_start_ns;
    int64_t started_at;
};

/* --- the job --- */

/* The speeds that --power gives; NULL where they are measured. */
static int read_speeds(struct program *program, double **speeds)
{
    const struct job *job = &program->plan.job;
    unsigned workers = program->topology->workers;
    *speeds = NULL;
    if (job->power == JOB_POWER_MEASURE)
        return 0;
    *speeds = calloc(workers, sizeof **speeds);
    if (*speeds == NULL)
        return error_set(&program->error, "out of memory for %u workers", workers);
    for (unsigned w = 0; w < workers; w++)
        (*speeds)[w] = 1;
    if (job->power == JOB_POWER_EQUAL)
        return 0;
    struct error inner;
    char *text = file_read(job->power_file, &inner);
    if (text == NULL)
        return error_set(&program->error, "--power '%s': accepted: measure, equal or a readable file (%s)",
                         job->power_file, inner.text);
    int result = power_file_parse(text, program->topology->worker_rank, workers, *speeds, &inner);
    free(text);
    return result < 0 ? error_set(&program->error, "--power %s: %s", job->power_file, inner.text) : 0;
}

static int init_machine(struct program *program)
{
    const struct plan *plan = &program->plan;
    double *speeds;
    if (read_speeds(program, &speeds) < 0) {
        free(speeds);
        return -1;
    }
    const struct supermaster_config config = {
        .topology = program->topology,
        .technique = plan->job.technique,
        .weighting = plan->job.weighting,
        .min_chunk = plan->job.min_chunk,
        .first = plan->first,
        .count = plan->count,
        .record_bytes = plan->collect ? plan->record_bytes : 0,
        .speeds = speeds,
    };
    int result = supermaster_init(&program->supermaster, &config, &program->error);
    program->supermaster_ready = result == 0;
    free(speeds);
    return result;
}

static int check_kernel(struct program *program)
{
    const struct plan *plan = &program->plan;
    char text[HDSS_ERROR_MAX] = "";
    if (plan->kernel->check == NULL || plan->kernel->check(plan->values, &plan->loop, text) == 0)
        return 0;
    return error_set(&program->error, "%s: %s", plan->kernel->name, text);
}

/* 0; -1 for wrong use; RESULTS_NO_ROOM. */
static int open_files(struct program *program)
{
    const struct plan *plan = &program->plan;
    struct error inner;
    if (plan->job.report[0] != '\0' && file_check_writable(plan->job.report, &inner) < 0)
        return error_set(&program->error, "--report: cannot write %s", inner.text);
    if (!plan->collect)
        return 0;
    int created = results_create(plan->job.output, &plan->loop, &program->error);
    if (created != 0)
        return created;
    if (program->topology->masters > 0)
        return 0;
    int result = results_open(&program->sink, plan->job.output, &plan->loop, &program->error);
    program->sink_open = result == 0;
    return result;
}

/* All that can be wrong with the job and only shows once the line-up is known; the files last, when the rest is right.
 */
static int prepare(struct program *program)
{
    program->topology = runtime_group(program->runtime, program->plan.job.group_by == JOB_GROUP_BY_NODE);
    if (program->topology == NULL)
        return error_set(&program->error, "out of memory for %u ranks", runtime_ranks(program->runtime));
    return init_machine(program) < 0 || check_kernel(program) < 0 ? -1 : open_files(program);
}

/* --- while it runs --- */

static double elapsed_s(const struct program *program, uint64_t now_ns)
{
    uint64_t first = program->supermaster.first_assign_ns;
    return first == NEVER || now_ns < first ? 0 : (double)(now_ns - first) / 1e9;
}

static void show_progress(void *context, uint64_t now_ns)
{
    struct program *program = context;
    const struct supermaster *supermaster = &program->supermaster;
    char line[PROGRESS_LINE_MAX];
    const struct progress progress = {
        .name = program->plan.kernel->name,
        .done = supermaster->ledger.done,
        .total = program->plan.count,
        .elapsed_s = elapsed_s(program, now_ns),
        .busy = supermaster_busy(supermaster),
        .workers = program->topology->workers,
        .draining = supermaster->state == SUPERMASTER_ENDING && !ledger_is_complete(&supermaster->ledger),
    };
    progress_line(&progress, program->terminal.width - 1, program->terminal.utf8, line);
    terminal_show(&program->terminal, line, progress.elapsed_s);
}

static int store(void *context, const struct part *part, const void *data, struct error *error)
{
    struct program *program = context;
    return results_write(&program->sink, part->first, part->count, data, error);
}

/* --- at the end --- */

static void say_failure(struct program *program, const char *text, unsigned rank)
{
    terminal_clear(&program->terminal);
    if (rank == runtime_rank(program->runtime))
        fprintf(stderr, "supermaster: %s\n", text);
    else
        fprintf(stderr, "supermaster: rank %u: %s\n", rank, text);
}

/* Closes the output and makes the final file. Returns the exit status. */
static int finish_output(struct program *program, int status)
{
    const struct plan *plan = &program->plan;
    int closed = program->sink_open ? results_close(&program->sink, &program->error) : 0;
    program->sink_open = false;
    if (!plan->collect)
        return status;
    if (closed < 0 || results_finish(plan->job.output, &plan->loop, &program->error) < 0) {
        if (status != EXIT_STATUS_FAILED)
            say_failure(program, program->error.text, runtime_rank(program->runtime));
        return EXIT_STATUS_FAILED;
    }
    return status;
}

static void fill_report(const struct program *program, struct report *report, struct report_worker *rows)
{
    const struct supermaster *supermaster = &program->supermaster;
    *report = (struct report){
        .version = program->version,
        .kernel = program->plan.kernel,
        .values = program->plan.values,
        .started_at = program->started_at,
        .output = program->plan.job.output,
        .cores = runtime_cores(program->runtime),
    };
    supermaster_fill_report(supermaster, report, rows);
    if (supermaster->first_assign_ns != NEVER)
        report->startup_s = (double)(supermaster->first_assign_ns - program->process_start_ns) / 1e9;
    report_compute(report);
}

static int write_report(struct program *program, const struct report *report)
{
    const char *path = program->plan.job.report;
    if (path[0] == '\0')
        return 0;
    char *text = report_json(report);
    int result = text == NULL ? error_set(&program->error, "%s: out of memory", path)
                              : file_write(path, text, strlen(text), &program->error);
    free(text);
    return result;
}

/* Prints the summary and writes the report. Returns the exit status. */
static int say_how_it_went(struct program *program, int status)
{
    struct report report;
    struct report_worker *rows = calloc(program->topology->workers, sizeof *rows);
    if (rows == NULL) {
        say_failure(program, "out of memory for the report", runtime_rank(program->runtime));
        return EXIT_STATUS_FAILED;
    }
    fill_report(program, &report, rows);
    if (status == EXIT_STATUS_FAILED)
        report.outcome = REPORT_FAILED;
    report.failure = NULL; /* it is said on standard error */
    char *text = summary_text(&report, program->terminal.width, program->terminal.utf8);
    fputs(terminal_text_start(&program->terminal), stdout);
    terminal_clear(&program->terminal);
    if (text != NULL)
        fputs(text, stdout);
    fflush(stdout);
    if (write_report(program, &report) < 0) {
        say_failure(program, program->error.text, runtime_rank(program->runtime));
        status = EXIT_STATUS_FAILED;
    }
    free(text);
    free(rows);
    return status;
}

static int run(struct program *program)
{
    const struct machine machine = supermaster_machine(&program->supermaster);
    const struct effects effects = {
        .context = program,
        .store = store,
        .tick = show_progress,
        .tick_ns = program->terminal.mode == TERMINAL_NONE ? 0 : 200000000,
    };
    int status = runtime_drive(program->runtime, &machine, &effects, NULL);
    const struct supermaster *supermaster = &program->supermaster;
    if (supermaster->failure.text[0] != '\0')
        say_failure(program, supermaster->failure.text, supermaster->failed_rank);
    return say_how_it_went(program, finish_output(program, status));
}

/* Shares the job and runs it. Returns the exit status. */
static int share_and_run(struct program *program, int argc, char **argv)
{
    unsigned count;
    int status = EXIT_STATUS_DONE;
    int prepared = prepare(program);
    if (prepared != 0) {
        fprintf(stderr, "supermaster: %s\n", program->error.text);
        status = prepared == RESULTS_NO_ROOM ? EXIT_STATUS_FAILED : EXIT_STATUS_USAGE;
    }
    bool shared = runtime_share_job(program->runtime, argc, argv, &status, &count) != NULL;
    return shared ? run(program) : status;
}

int supermaster_program(int argc, char **argv, const char *version)
{
    static struct program program;
    program.version = version;
    program.process_start_ns = runtime_process_start();
    program.started_at = time(NULL);
    struct front front = {.program = "supermaster", .version = version};
    front_take(&front, plan_make(&program.plan, argc, argv, &program.error), &program.error, job_help_text);
    const struct introduction introduction = {
        .role = ROLE_SUPERMASTER, .version = version, .status = front.status, .text = front.text};
    int status;
    if (front_ends_here(&front, &status))
        return status;
    program.runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (program.runtime != NULL) {
        terminal_init(&program.terminal, program.plan.job.progress);
        status = share_and_run(&program, argc, argv);
        if (program.supermaster_ready)
            supermaster_fini(&program.supermaster);
        runtime_leave(program.runtime); /* last: the machine borrows the topology */
    }
    front_fini(&front);
    return status;
}
