/* SPDX-License-Identifier: MIT */
/* worker --dca: every rank reads the job, they agree that it is one and the same, share the loop by one of the
 * transports, and rank 0 says how it went.
 *
 * Whatever can go wrong before the loop ends all ranks together: each says how far it came (agree), the lowest of those
 * that failed says why. During the loop a rank that fails stops the counters, so that the others come to their end. */
#include "worker/dca/program.h"

#include "worker/dca/check.h"
#include "worker/dca/flat.h"
#include "worker/dca/work.h"
#include "common/machine/probe.h"
#include "common/job/front.h"
#include "common/os/busy.h"
#include "common/util/digest.h"
#include "common/job/status.h"
#include "worker/kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- agreeing --- */

/* The worst status of all ranks, which wait for one another asleep. The lowest rank that has it says why: lead->error.
 */
static int agree(struct flat *flat, int status)
{
    struct {
        int status, rank;
    } own = {status, (int)flat->rank}, worst;
    runtime_wait_for_all(flat->runtime);
    MPI_Allreduce(&own, &worst, 1, MPI_2INT, MPI_MAXLOC, flat->runtime->world);
    if (worst.status == EXIT_STATUS_DONE || worst.rank != (int)flat->rank)
        return worst.status;
    terminal_clear(&flat->lead.terminal);
    if (flat->rank == 0 || worst.status == EXIT_STATUS_USAGE)
        fprintf(stderr, "worker: %s\n", flat->lead.error.text);
    else
        fprintf(stderr, "worker: rank %u: %s\n", flat->rank, flat->lead.error.text);
    return worst.status;
}

/* What must be the same on every rank, as one number: the job's words and the mode, not the slowdown and the load. */
static uint64_t digest_of(const struct flat_options *options)
{
    const struct worker_options *worker = &options->worker;
    char node_technique[SCHED_SPEC_TEXT_MAX];
    sched_spec_format(&worker->node_technique, node_technique, sizeof node_technique);
    const uint64_t mode[] = {worker->dca, worker->two_counters, worker->break_after};
    uint64_t digest = digest_record(0, mode, sizeof mode) + digest_record(1, node_technique, strlen(node_technique));
    for (int i = 1; i < options->words; i++)
        digest += digest_record((uint64_t)i + 1, options->word[i], strlen(options->word[i]));
    return digest;
}

static int check_same_job(struct flat *flat)
{
    uint64_t own = digest_of(&flat->options) + flat->lead.plan.loop.inputs, first = own;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, flat->runtime->world);
    if (own == first)
        return EXIT_STATUS_DONE;
    error_set(&flat->lead.error,
              "rank %u was given another job or mode than rank 0, or other files: accepted with --dca is the same for "
              "all (--slowdown and --load may differ)",
              flat->rank);
    return EXIT_STATUS_USAGE;
}

/* --- before the loop --- */

/* Whether the technique takes powers. */
static bool takes_powers(const struct job *job)
{
    return (job->spec.technique.technique->needs & SCHED_NEEDS_POWER) != 0 ||
           job->spec.weighting != SCHED_WEIGHTING_NONE;
}

static struct flat_config core_config(const struct flat *flat)
{
    const struct plan *plan = &flat->lead.plan;
    bool by_node = flat->share.transport == &transport_node;
    return (struct flat_config){
        .technique = &plan->job.spec.technique,
        .sched = {.iterations = plan->count,
                  .workers = by_node ? flat->topology->nodes : flat->ranks,
                  .powers = flat->powers,
                  .min_chunk = plan->job.spec.min_chunk,
                  .weighting = plan->job.spec.weighting,
                  .loads = true},
        .two_counters = flat->options.worker.two_counters,
    };
}

/* As whom this rank draws from the counters. */
static unsigned drawer_of(const struct flat *flat)
{
    bool by_node = flat->share.transport == &transport_node;
    return by_node ? flat->topology->worker_node[flat->rank] : flat->rank;
}

static bool uses_acp(const struct flat *flat)
{
    return flat->lead.plan.job.spec.weighting == SCHED_WEIGHTING_ACP;
}

static int check_techniques(struct flat *flat)
{
    int result = flat_check_techniques(&flat->options.worker, &flat->lead.plan, flat->ranks, flat->topology->nodes,
                                       &flat->lead.error);
    return result < 0 ? EXIT_STATUS_USAGE : EXIT_STATUS_DONE;
}

/* What rank 0 sees to before anything starts. */
static int check_as_leader(struct flat *flat)
{
    struct lead *lead = &flat->lead;
    if (flat->rank != 0)
        return EXIT_STATUS_DONE;
    if (lead_check(lead, false) < 0 ||
        lead_read_speeds(lead, flat->topology->worker_rank, flat->ranks, &flat->given_speeds) < 0)
        return EXIT_STATUS_USAGE;
    int created = lead_create_files(lead);
    lead_say_notes(lead, created);
    return created == 0 ? EXIT_STATUS_DONE : created < 0 ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED;
}

static int open_kernel(struct flat *flat)
{
    struct lead *lead = &flat->lead;
    const struct plan *plan = &lead->plan;
    const struct exec_config config = {
        .kernel = plan->kernel,
        .values = plan->values,
        .loop = &plan->loop,
        .worker = {flat->rank, flat->topology->worker_node[flat->rank]},
        .collect = plan->collect,
        .slowdown = flat->options.worker.slowdown,
        .probe_first = plan->first,
        .probe_count = plan->count,
        .probe_least = run_spec_wants_swr(&plan->job.spec) ? PROBE_SWR : 0,
        .spread = run_spec_learns(&plan->job.spec),
        .short_runs = true,
    };
    if (exec_init(&flat->exec, &config) < 0)
        return error_set(&lead->error, "%s", flat->exec.error), EXIT_STATUS_FAILED;
    flat->exec_open = true;
    return lead_open_sink(lead) < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

/* Fills speeds[ranks] from everybody's probe. */
static int probe(struct flat *flat, double *speeds, double *swr)
{
    struct speed own = {0};
    struct speed_levels levels = {0}, *all = calloc(flat->ranks, sizeof *all);
    if (all == NULL)
        return error_set(&flat->lead.error, "out of memory for %u speeds", flat->ranks);
    executor_probe(&flat->exec.executor, &own);
    levels.count = own.levels;
    memcpy(levels.elapsed_ns, own.elapsed_ns, sizeof levels.elapsed_ns);
    MPI_Allgather(&levels, sizeof levels, MPI_BYTE, all, sizeof levels, MPI_BYTE, flat->runtime->world);
    *swr = own.swr;
    MPI_Bcast(swr, 1, MPI_DOUBLE, 0, flat->runtime->world); /* the same for all */
    probe_compare(all, flat->ranks, speeds);
    for (unsigned w = 0; w < flat->ranks; w++)
        speeds[w] = 1 / speeds[w];
    free(all);
    return 0;
}

/* A node's speed is that of its workers together. */
static unsigned sum_by_node(const struct flat *flat, double *speeds)
{
    const struct topology *topology = flat->topology;
    double *sums = calloc(topology->nodes, sizeof *sums);
    if (sums == NULL)
        return 0;
    for (unsigned w = 0; w < flat->ranks; w++)
        sums[topology->worker_node[w]] += speeds[w];
    memcpy(speeds, sums, topology->nodes * sizeof *sums);
    free(sums);
    return topology->nodes;
}

/* Exchanges the powers. The figures keep this rank's own. */
static int exchange_powers(struct flat *flat, double *swr)
{
    const struct job *job = &flat->lead.plan.job;
    bool measure = job->spec.power == RUN_POWER_MEASURE;
    flat->figures.power = 1;
    *swr = 0;
    if (flat->lead.plan.count == 0 || (!takes_powers(job) && !run_spec_wants_swr(&job->spec)))
        return 0;
    double *speeds = calloc(flat->ranks, sizeof *speeds);
    if (speeds == NULL || ((measure || run_spec_wants_swr(&job->spec)) && probe(flat, speeds, swr) < 0)) {
        free(speeds);
        return error_set(&flat->lead.error, "out of memory for the powers of %u workers", flat->ranks);
    }
    if (!measure) {
        if (flat->given_speeds != NULL)
            memcpy(speeds, flat->given_speeds, flat->ranks * sizeof *speeds);
        MPI_Bcast(speeds, (int)flat->ranks, MPI_DOUBLE, 0, flat->runtime->world);
    }
    if (!takes_powers(job)) {
        free(speeds);
        return 0;
    }
    unsigned count = flat->share.transport == &transport_node ? sum_by_node(flat, speeds) : flat->ranks;
    sched_powers_from_speeds(job->spec.technique.technique, job->spec.weighting, speeds, count, speeds);
    flat->powers = speeds;
    flat->figures.power = speeds[drawer_of(flat)];
    return 0;
}

static int prepare_core(struct flat *flat)
{
    double swr;
    if (exchange_powers(flat, &swr) < 0)
        return EXIT_STATUS_FAILED;
    struct flat_config config = core_config(flat);
    config.sched.swr = swr;
    flat->core_ready = flat_init(&flat->share.core, &config, &flat->lead.error) == 0;
    if (!flat->core_ready)
        return EXIT_STATUS_FAILED;
    dca_machine_init(&flat->share.machine, &flat->share.core, drawer_of(flat),
                     flat->powers != NULL ? flat->powers[drawer_of(flat)] : 1,
                     flat->share.transport == &transport_node);
    return EXIT_STATUS_DONE;
}

static int open_meter(struct flat *flat)
{
    if (!uses_acp(flat) || flat->lead.plan.kernel->descriptor != NULL) /* whose processes are not this one */
        return EXIT_STATUS_DONE;
    if (load_meter_init(&flat->meter, LOAD_FOLDER, &flat->lead.error) < 0)
        return EXIT_STATUS_FAILED;
    load_meter_settle(&flat->meter);
    dca_machine_set_load(&flat->share.machine, flat->meter.load);
    return EXIT_STATUS_DONE;
}

static int prepare_waiting(struct flat *flat)
{
    if (runtime_prepare(flat->runtime, &flat->lead.error) < 0)
        return EXIT_STATUS_FAILED;
    if (flat_prepare_waiting(flat) < 0)
        return error_set(&flat->lead.error, "no memory for signals"), EXIT_STATUS_FAILED;
    flat->share.cores_are_free = flat->runtime->cores_are_free;
    return share_prepare(&flat->share) == 0 ? EXIT_STATUS_DONE : EXIT_STATUS_FAILED;
}

static int open_transport(struct flat *flat)
{
    return flat_open_transport(flat) < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

/* Everything up to the first draw, the files when the rest is known to be right. Returns a status that all ranks share.
 */
static int prepare(struct flat *flat)
{
    static int (*const steps[])(struct flat * flat) = {
        check_same_job, check_techniques, check_as_leader, open_kernel,
        prepare_core,   open_meter,       prepare_waiting, open_transport,
    };
    int status = EXIT_STATUS_DONE;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == EXIT_STATUS_DONE; i++)
        status = agree(flat, steps[i](flat));
    return status;
}

/* --- after the loop --- */

static void fill_row(const struct flat *flat, unsigned w, const struct flat_figures *figures, uint64_t first_ns,
                     double elapsed_s, struct report_worker *row)
{
    double compute_s = (double)figures->compute_ns / 1e9;
    *row = (struct report_worker){
        .rank = w,
        .node = flat->topology->worker_node[w],
        .power = figures->power,
        .load = figures->chunks > 0 ? figures->load_sum / (double)figures->chunks : 0,
        .iterations = figures->iterations,
        .chunks = figures->chunks,
        .compute_s = compute_s,
        .wait_s = elapsed_s > compute_s ? elapsed_s - compute_s : 0,
        .finish_s = figures->finish_ns != NEVER ? (double)(figures->finish_ns - first_ns) / 1e9 : 0,
    };
    if (figures->sharing.cores > 0) {
        row->cores = (double)figures->sharing.cores / figures->sharing.workers;
        row->processor_s = (double)figures->sharing.processor_ns / 1e9;
    }
}

/* First draw and last completion of all, since the common start. */
static void find_span(const struct flat_figures *all, unsigned ranks, uint64_t *first_ns, uint64_t *last_ns)
{
    *first_ns = NEVER;
    *last_ns = 0;
    for (unsigned w = 0; w < ranks; w++) {
        if (all[w].finish_ns == NEVER)
            continue;
        *first_ns = all[w].first_ns < *first_ns ? all[w].first_ns : *first_ns;
        *last_ns = all[w].finish_ns > *last_ns ? all[w].finish_ns : *last_ns;
    }
}

static void fill_report(const struct flat *flat, const struct flat_figures *all, struct report *report,
                        struct report_worker *rows, uint64_t *first_ns)
{
    const struct job *job = &flat->lead.plan.job;
    uint64_t last_ns;
    find_span(all, flat->ranks, first_ns, &last_ns);
    *report = (struct report){
        .topology = flat->share.transport->topology,
        .technique = job->spec.technique,
        .weighting = job->spec.weighting,
        .min_chunk = job->spec.min_chunk,
        .first = flat->lead.plan.first,
        .iterations = flat->lead.plan.count,
        .workers = flat->ranks,
        .nodes = flat->topology->nodes,
        .cores = runtime_cores(flat->runtime),
        .elapsed_s = *first_ns != NEVER ? (double)(last_ns - *first_ns) / 1e9 : 0,
        .worker_stats = rows,
    };
    for (unsigned w = 0; w < flat->ranks; w++) {
        fill_row(flat, w, &all[w], *first_ns, report->elapsed_s, &rows[w]);
        report->chunks += all[w].chunks;
        report->refills += all[w].refills;
        report->messages += all[w].messages;
        report->bytes_on_wire += all[w].bytes;
        report->checksum += all[w].digest;
        report->done += all[w].iterations;
    }
    report->outcome = report->done < report->iterations ? REPORT_DRAINED : REPORT_DONE;
}

/* Rank 0: the output, the summary and the report. Returns the exit status. */
static int say_how_it_went(struct flat *flat, const struct flat_figures *all, int status)
{
    struct report report;
    struct report_worker *rows = calloc(flat->ranks, sizeof *rows);
    uint64_t first_ns;
    if (rows == NULL) {
        lead_say_failure(&flat->lead, "out of memory for the report", flat->rank);
        return EXIT_STATUS_FAILED;
    }
    fill_report(flat, all, &report, rows, &first_ns);
    if (status == EXIT_STATUS_DONE && report.done < report.iterations)
        status = EXIT_STATUS_DRAINED;
    status = lead_finish_output(&flat->lead, status);
    if (first_ns != NEVER)
        first_ns += flat->start_ns;
    status = lead_say_how_it_went(&flat->lead, &report, first_ns, status);
    free(rows);
    return status;
}

static int close_sink(struct flat *flat)
{
    if (flat->rank == 0 || !flat->lead.sink_open)
        return 0;
    flat->lead.sink_open = false;
    return results_close(&flat->lead.sink, &flat->lead.error);
}

/* Gathers what each rank has done. Returns the status of all. */
static int conclude(struct flat *flat)
{
    struct flat_figures *all = flat->rank == 0 ? calloc(flat->ranks, sizeof *all) : NULL;
    bool failed = flat->failed;
    if (!failed && flat->rank == 0 && all == NULL)
        failed = error_set(&flat->lead.error, "out of memory for the report") < 0;
    if (!failed && close_sink(flat) < 0)
        failed = true;
    int status = agree(flat, failed ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE);
    int have = all != NULL || flat->rank != 0;
    MPI_Bcast(&have, 1, MPI_INT, 0, flat->runtime->world);
    if (have)
        MPI_Gather(&flat->figures, sizeof flat->figures, MPI_BYTE, all, sizeof flat->figures, MPI_BYTE, 0,
                   flat->runtime->world);
    if (all != NULL)
        status = say_how_it_went(flat, all, status);
    runtime_wait_for_all(flat->runtime); /* asleep while rank 0 makes the output */
    MPI_Bcast(&status, 1, MPI_INT, 0, flat->runtime->world);
    free(all);
    return status;
}

/* --- the program --- */

static const struct transport *transport_of(enum worker_dca dca)
{
    switch (dca) {
    case WORKER_DCA_TWO_SIDED: return &transport_two_sided;
    case WORKER_DCA_NODE: return &transport_node;
    default: return &transport_rma;
    }
}

static int run(struct flat *flat)
{
    int status = prepare(flat);
    if (status == EXIT_STATUS_DONE) {
        flat_work(flat);
        status = conclude(flat);
    }
    share_close(&flat->share);
    if (flat->lead.sink_open)
        results_close(&flat->lead.sink, NULL);
    flat_finish_waiting(flat);
    if (flat->core_ready)
        flat_fini(&flat->share.core);
    if (flat->exec_open)
        executor_fini(&flat->exec.executor);
    free(flat->powers);
    free(flat->given_speeds);
    return status;
}

/* 0, OPTIONS_HELP, OPTIONS_VERSION, or -1 with one line. */
static int read_command_line(struct flat *flat, int argc, char **argv)
{
    struct lead *lead = &flat->lead;
    int result = flat_options_parse(&flat->options, argc, argv, &lead->error);
    if (result == 0)
        result = plan_make(&lead->plan, &kernel_loader, flat->options.words, flat->options.word, &lead->error);
    if (result == 0)
        result = flat_check_loop(&lead->plan, &lead->error);
    if (result != 0 || !flat->options.worker.loaded)
        return result;
    return busy_start(flat->options.worker.load, &lead->error); /* before MPI begins: copies of this process */
}

/* Kernels that are loaded may; the built-in ones do not. */
static bool may_have_threads(const struct flat *flat)
{
    const struct hdss_kernel *kernel = flat->lead.plan.kernel;
    return !flat->options.worker.no_threads && kernel != NULL && kernel_find(kernel->name) != kernel;
}

static int join_and_run(struct flat *flat, struct front *front, int argc, char **argv)
{
    const struct introduction introduction = {
        .role = ROLE_WORKER,
        .version = front->version,
        .status = front->status,
        .text = front->text,
        .dca = true,
        .has_threads = may_have_threads(flat),
    };
    int status;
    flat->runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (flat->runtime == NULL)
        return status;
    flat->rank = flat->lead.rank = runtime_rank(flat->runtime);
    flat->ranks = runtime_ranks(flat->runtime);
    flat->topology = runtime_group(flat->runtime, true);
    if (flat->topology == NULL)
        MPI_Abort(flat->runtime->world, EXIT_STATUS_FAILED);
    flat_begin_sharing(flat, transport_of(flat->options.worker.dca));
    flat->share.calculation_ns = flat->lead.plan.job.spec.calculation_ns;
    flat->share.assignment_ns = flat->lead.plan.job.spec.assignment_ns;
    terminal_init(&flat->lead.terminal, flat->rank == 0 ? flat->lead.plan.job.progress : JOB_PROGRESS_NEVER);
    status = run(flat);
    runtime_leave(flat->runtime, status);
    if (flat->rank == 0)
        status_tell_end(STATUS_LEAD, status, false);
    return status;
}

int flat_program(int argc, char **argv, const char *version)
{
    static struct flat flat;
    struct front front = {.program = "worker", .version = version};
    int status;
    lead_init(&flat.lead, "worker", version);
    front_take(&front, read_command_line(&flat, argc, argv), &flat.lead.error, worker_help_text);
    if (!front_ends_here(&front, &status))
        status = join_and_run(&flat, &front, argc, argv);
    flat_options_fini(&flat.options);
    front_fini(&front);
    return status;
}
