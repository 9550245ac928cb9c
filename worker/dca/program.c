/* SPDX-License-Identifier: MIT */
/* worker --dca: every rank reads the job. The ranks check that all have read the same job, and share the loop through
 * one of the transports. Rank 0 reports.
 *
 * An error before the loop ends all ranks: the ranks exchange their statuses by agree(), and the lowest rank that has
 * failed prints the reason. A rank that fails during the loop stops the counters, so that no rank finds another chunk.
 * */
#include "worker/dca/program.h"

#include "common/carrier/carrier.h"
#include "common/config/dca_options.h"
#include "common/config/job.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/dca/core.h"
#include "common/dca/machine.h"
#include "common/dca/share.h"
#include "common/job/job_setup.h"
#include "common/job/root.h"
#include "common/job/startup.h"
#include "common/job/status.h"
#include "common/job/technique_load.h"
#include "common/job/terminal.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/metrics/report.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/os/busy.h"
#include "common/os/launched.h"
#include "common/os/load.h"
#include "common/os/say.h"
#include "common/results/results.h"
#include "common/sched/sched.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "proto/record.h"
#include "worker/dca/check.h"
#include "worker/dca/dca.h"
#include "worker/dca/loss.h"
#include "worker/dca/work.h"
#include "worker/exec/inline.h"
#include "worker/kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sleeps until all ranks have called this function. Returns the worst status of all ranks. The lowest rank with that
 * status prints its root.error. */
static int agree(struct dca *dca, int status)
{
    runtime_wait_for_all(dca->runtime);
    const uint64_t worst = carrier->max(dca->runtime->world, (uint64_t)status << 32 | (UINT32_MAX - dca->rank));
    const int worst_status = (int)(worst >> 32);
    if (worst_status == EXIT_STATUS_DONE || UINT32_MAX - (uint32_t)worst != dca->rank)
        return worst_status;
    terminal_clear(&dca->root.terminal);
    if (dca->rank == 0 || worst_status == EXIT_STATUS_USAGE)
        say(stderr, "worker: %s", dca->root.error.text);
    else
        say(stderr, "worker: rank %u: %s", dca->rank, dca->root.error.text);
    return worst_status;
}

static uint64_t digest_of(const struct dca_options *options)
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

#define PLUGIN_STEPS 1024

/* Digest of the first chunks of a plug-in. The ranks compare their digests: if the plug-in of one node differed from
 * the others, the chunks of its workers would overlap other chunks or leave gaps. Returns 0 if the technique is not a
 * plug-in or cannot be used. */
static uint64_t digest_of_plugin(const struct dca *dca)
{
    const struct job_setup *setup = &dca->root.setup;
    const struct sched_config config = {
        .iterations = setup->count, .workers = dca->ranks, .min_chunk = setup->job.spec.min_chunk};
    struct sched sched;
    uint64_t digest = 0;
    if (setup->job.plugin == NULL || sched_init(&sched, &setup->job.spec.technique, &config, NULL) < 0)
        return 0;
    for (uint64_t step = 0; step < PLUGIN_STEPS && sched_check_closed(&sched, NULL) == 0; step++) {
        const uint64_t chunk = sched_at(&sched, step);
        digest += digest_record(step, &chunk, sizeof chunk);
    }
    sched_fini(&sched);
    return digest;
}

static int check_same_job(struct dca *dca)
{
    uint64_t own = digest_of(&dca->options) + dca->root.setup.loop.inputs + digest_of_plugin(dca), first = own;
    carrier->bcast(dca->runtime->world, 0, &first, sizeof first);
    if (own == first)
        return EXIT_STATUS_DONE;
    error_set(&dca->root.error,
              "rank %u was given another job or mode than rank 0, or other files: accepted with --dca is the same for "
              "all (--slowdown and --load may differ)",
              dca->rank);
    return EXIT_STATUS_USAGE;
}

static bool takes_powers(const struct job *job)
{
    return (job->spec.technique.technique->needs & SCHED_NEEDS_POWER) != 0 ||
           job->spec.weighting != SCHED_WEIGHTING_NONE;
}

static struct dca_config core_config(const struct dca *dca)
{
    const struct job_setup *setup = &dca->root.setup;
    bool by_node = dca->share.transport == &transport_node;
    return (struct dca_config){
        .technique = &setup->job.spec.technique,
        .sched = {.iterations = setup->count,
                  .workers = by_node ? dca->topology->nodes : dca->ranks,
                  .powers = dca->powers,
                  .min_chunk = setup->job.spec.min_chunk,
                  .weighting = setup->job.spec.weighting,
                  .loads = true},
        .two_counters = dca->options.worker.two_counters,
    };
}

static unsigned drawer_of(const struct dca *dca)
{
    bool by_node = dca->share.transport == &transport_node;
    return by_node ? dca->topology->worker_node[dca->rank] : dca->rank;
}

static bool dca_program_uses_acp(const struct dca *dca)
{
    return dca->root.setup.job.spec.weighting == SCHED_WEIGHTING_ACP;
}

static int check_techniques(struct dca *dca)
{
    int result = dca_check_techniques(&dca->options.worker, &dca->root.setup, dca->ranks, dca->topology->nodes,
                                      &dca->root.error);
    return result < 0 ? EXIT_STATUS_USAGE : EXIT_STATUS_DONE;
}

static int dca_check_precedence(struct root *root)
{
    if (root->precedence.count == 0)
        return 0;
    return error_set(&root->error, "--dca: some %s of this %s wait for others; accepted: with a supermaster",
                     root->setup.loop.are_tasks ? "tasks" : "iterations", root->setup.kernel->name);
}

static int check_as_leader(struct dca *dca)
{
    struct root *root = &dca->root;
    if (dca->rank != 0)
        return EXIT_STATUS_DONE;
    if (root_check(root, false) < 0 || root_read_precedence(root) < 0 || dca_check_precedence(root) < 0 ||
        root_read_speeds(root, dca->topology->worker_rank, dca->ranks, &dca->given_speeds) < 0)
        return EXIT_STATUS_USAGE;
    int created = root_create_files(root);
    root_print_notes(root, created);
    return created == 0 ? EXIT_STATUS_DONE : created < 0 ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED;
}

static int dca_program_open_kernel(struct dca *dca)
{
    struct root *root = &dca->root;
    const struct job_setup *setup = &root->setup;
    const struct exec_config config = {
        .kernel = setup->kernel,
        .values = setup->values,
        .loop = &setup->loop,
        .worker = {dca->rank, dca->topology->worker_node[dca->rank], dca->rank + 1,
                   topology_beside(dca->topology, dca->rank)},
        .collect = setup->collect,
        .slowdown = dca->options.worker.slowdown,
        .probe_first = setup->first,
        .probe_count = setup->count,
        .probe_least = run_spec_wants_swr(&setup->job.spec) ? PROBE_SWR : 0,
        .spread = run_spec_learns(&setup->job.spec),
        .short_runs = true,
    };
    if (exec_init(&dca->exec, &config) < 0)
        return error_set(&root->error, "%s", dca->exec.error), EXIT_STATUS_FAILED;
    dca->exec_open = true;
    return root_open_sink(root) < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

static int dca_program_probe(struct dca *dca, double *speeds, double *swr)
{
    struct speed own = {0};
    struct speed_levels levels = {0}, *all = calloc(dca->ranks, sizeof *all);
    if (all == NULL)
        return error_set(&dca->root.error, "out of memory for %u speeds", dca->ranks);
    exec_probe_now(&dca->exec, &own);
    levels.count = own.levels;
    memcpy(levels.elapsed_ns, own.elapsed_ns, sizeof levels.elapsed_ns);
    carrier->allgather(dca->runtime->world, &levels, sizeof levels, all);
    *swr = own.swr;
    carrier->bcast(dca->runtime->world, 0, swr, sizeof *swr);
    probe_compare(all, dca->ranks, speeds);
    for (unsigned w = 0; w < dca->ranks; w++)
        speeds[w] = 1 / speeds[w];
    free(all);
    return 0;
}

static unsigned dca_program_sum_by_node(const struct dca *dca, double *speeds)
{
    const struct topology *topology = dca->topology;
    double *sums = calloc(topology->nodes, sizeof *sums);
    if (sums == NULL)
        return 0;
    for (unsigned w = 0; w < dca->ranks; w++)
        sums[topology->worker_node[w]] += speeds[w];
    memcpy(speeds, sums, topology->nodes * sizeof *sums);
    free(sums);
    return topology->nodes;
}

static int exchange_powers(struct dca *dca, double *swr)
{
    const struct job *job = &dca->root.setup.job;
    bool measure = job->spec.power == RUN_POWER_MEASURE;
    dca->figures.power = 1;
    *swr = 0;
    if (dca->root.setup.count == 0 || (!takes_powers(job) && !run_spec_wants_swr(&job->spec)))
        return 0;
    double *speeds = calloc(dca->ranks, sizeof *speeds);
    if (speeds == NULL || ((measure || run_spec_wants_swr(&job->spec)) && dca_program_probe(dca, speeds, swr) < 0)) {
        free(speeds);
        return error_set(&dca->root.error, "out of memory for the powers of %u workers", dca->ranks);
    }
    if (!measure) {
        if (dca->given_speeds != NULL)
            memcpy(speeds, dca->given_speeds, dca->ranks * sizeof *speeds);
        carrier->bcast(dca->runtime->world, 0, speeds, dca->ranks * sizeof *speeds);
    }
    if (!takes_powers(job)) {
        free(speeds);
        return 0;
    }
    unsigned count = dca->share.transport == &transport_node ? dca_program_sum_by_node(dca, speeds) : dca->ranks;
    sched_powers_from_speeds(job->spec.technique.technique, job->spec.weighting, speeds, count, speeds);
    dca->powers = speeds;
    dca->figures.power = speeds[drawer_of(dca)];
    return 0;
}

static int prepare_core(struct dca *dca)
{
    double swr;
    if (exchange_powers(dca, &swr) < 0)
        return EXIT_STATUS_FAILED;
    struct dca_config config = core_config(dca);
    config.sched.swr = swr;
    dca->core_ready = dca_init(&dca->share.core, &config, &dca->root.error) == 0;
    if (!dca->core_ready)
        return EXIT_STATUS_FAILED;
    dca_machine_init(&dca->share.machine, &dca->share.core, drawer_of(dca),
                     dca->powers != NULL ? dca->powers[drawer_of(dca)] : 1, dca->share.transport == &transport_node);
    return EXIT_STATUS_DONE;
}

static int dca_program_open_meter(struct dca *dca)
{
    /* A kernel with a descriptor() computes in other processes. The meter would count these as foreign load. */
    if (!dca_program_uses_acp(dca) || dca->root.setup.kernel->descriptor != NULL)
        return EXIT_STATUS_DONE;
    if (load_meter_init(&dca->meter, LOAD_FOLDER, &dca->root.error) < 0)
        return EXIT_STATUS_FAILED;
    load_meter_settle(&dca->meter);
    dca_machine_set_load(&dca->share.machine, dca->meter.load);
    return EXIT_STATUS_DONE;
}

static int prepare_waiting(struct dca *dca)
{
    if (runtime_prepare(dca->runtime, &dca->root.error) < 0)
        return EXIT_STATUS_FAILED;
    if (dca_prepare_waiting(dca) < 0)
        return error_set(&dca->root.error, "no memory for signals"), EXIT_STATUS_FAILED;
    dca->share.cores_are_free = dca->runtime->cores_are_free;
    return share_prepare(&dca->share) == 0 ? EXIT_STATUS_DONE : EXIT_STATUS_FAILED;
}

static int open_transport(struct dca *dca)
{
    if (dca_loss_watch(dca) < 0)
        return EXIT_STATUS_FAILED;
    return dca_open_transport(dca) < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

static int dca_program_prepare(struct dca *dca)
{
    static int (*const steps[])(struct dca * dca) = {
        check_same_job, check_techniques,       check_as_leader, dca_program_open_kernel,
        prepare_core,   dca_program_open_meter, prepare_waiting, open_transport,
    };
    int status = EXIT_STATUS_DONE;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == EXIT_STATUS_DONE; i++)
        status = agree(dca, steps[i](dca));
    return status;
}

static void dca_program_fill_row(const struct dca *dca, unsigned w, const struct dca_figures *figures,
                                 uint64_t first_ns, double elapsed_s, struct report_worker *row)
{
    double compute_s = (double)figures->compute_ns / 1e9;
    *row = (struct report_worker){
        .rank = w,
        .node = dca->topology->worker_node[w],
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

static void dca_program_find_span(const struct dca_figures *all, unsigned ranks, uint64_t *first_ns, uint64_t *last_ns)
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

static void fill_report(const struct dca *dca, const struct dca_figures *all, struct report *report,
                        struct report_worker *rows, uint64_t *first_ns)
{
    const struct job *job = &dca->root.setup.job;
    uint64_t last_ns;
    dca_program_find_span(all, dca->ranks, first_ns, &last_ns);
    *report = (struct report){
        .topology = dca->share.transport->topology,
        .carrier = runtime_carrier(),
        .technique = job->spec.technique,
        .weighting = job->spec.weighting,
        .min_chunk = job->spec.min_chunk,
        .first = dca->root.setup.first,
        .iterations = dca->root.setup.count,
        .workers = dca->ranks,
        .nodes = dca->topology->nodes,
        .cores = runtime_cores(dca->runtime),
        .elapsed_s = *first_ns != NEVER ? (double)(last_ns - *first_ns) / 1e9 : 0,
        .worker_stats = rows,
    };
    for (unsigned w = 0; w < dca->ranks; w++) {
        dca_program_fill_row(dca, w, &all[w], *first_ns, report->elapsed_s, &rows[w]);
        report->chunks += all[w].chunks;
        report->refills += all[w].refills;
        report->messages += all[w].messages;
        report->bytes_on_wire += all[w].bytes;
        report->recalls.count += all[w].recalls;
        report->recalls.iterations += all[w].recalled;
        report->checksum += all[w].digest;
        report->done += all[w].iterations;
    }
    report->outcome = report->done < report->iterations ? REPORT_DRAINED : REPORT_DONE;
}

static int dca_program_print_outcome(struct dca *dca, const struct dca_figures *all, int status)
{
    struct report report;
    struct report_worker *rows = calloc(dca->ranks, sizeof *rows);
    uint64_t first_ns;
    if (rows == NULL) {
        root_print_failure(&dca->root, "out of memory for the report", dca->rank);
        return EXIT_STATUS_FAILED;
    }
    fill_report(dca, all, &report, rows, &first_ns);
    if (status == EXIT_STATUS_DONE && report.done < report.iterations)
        status = EXIT_STATUS_DRAINED;
    status = root_finish_output(&dca->root, status);
    if (first_ns != NEVER)
        first_ns += dca->start_ns;
    status = root_print_report(&dca->root, &report, first_ns, status);
    free(rows);
    return status;
}

static int close_sink(struct dca *dca)
{
    if (dca->rank == 0 || !dca->root.sink_open)
        return 0;
    dca->root.sink_open = false;
    return results_close(&dca->root.sink, &dca->root.error);
}

static int dca_program_conclude(struct dca *dca)
{
    struct dca_figures *all = dca->rank == 0 ? calloc(dca->ranks, sizeof *all) : NULL;
    bool failed = dca->failed;
    if (!failed && dca->rank == 0 && all == NULL)
        failed = error_set(&dca->root.error, "out of memory for the report") < 0;
    if (!failed && close_sink(dca) < 0)
        failed = true;
    int status = agree(dca, failed ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE);
    int have = all != NULL || dca->rank != 0;
    carrier->bcast(dca->runtime->world, 0, &have, sizeof have);
    if (have)
        carrier->gather(dca->runtime->world, 0, &dca->figures, sizeof dca->figures, all);
    if (dca->rank == 0)
        dca_loss_ignore(dca);
    if (all != NULL)
        status = dca_program_print_outcome(dca, all, status);
    runtime_wait_for_all(dca->runtime);
    carrier->bcast(dca->runtime->world, 0, &status, sizeof status);
    free(all);
    return status;
}

static const struct transport *dca_program_transport_of(enum worker_dca dca)
{
    switch (dca) {
    case WORKER_DCA_TWO_SIDED: return &transport_two_sided;
    case WORKER_DCA_NODE: return &transport_node;
    default: return &transport_rma;
    }
}

static int run_dca_loop(struct dca *dca)
{
    int status = dca_program_prepare(dca);
    if (status == EXIT_STATUS_DONE) {
        dca_work(dca);
        status = dca_program_conclude(dca);
    }
    dca_loss_ignore(dca);
    share_close(&dca->share);
    if (dca->root.sink_open)
        results_close(&dca->root.sink, NULL);
    dca_finish_waiting(dca);
    if (dca->core_ready)
        dca_fini(&dca->share.core);
    if (dca->exec_open)
        executor_fini(&dca->exec.executor);
    free(dca->powers);
    free(dca->given_speeds);
    return status;
}

static const struct kernel_loader cutting_loader = {
    .load = kernel_load, .look = kernel_look, .technique = technique_load};

static int dca_program_read_command_line(struct dca *dca, int argc, char **argv)
{
    struct root *root = &dca->root;
    int result = dca_options_parse(&dca->options, argc, argv, &root->error);
    if (result == 0)
        result = job_setup_make(&root->setup, &cutting_loader, dca->options.words, dca->options.word, &root->error);
    if (result == 0)
        result = dca_check_loop(&root->setup, &root->error);
    if (result == 0 && dca->options.worker.dca == WORKER_DCA_TWO_SIDED && launched_without_mpi())
        return error_set(&root->error, "--dca two-sided exchanges messages over MPI; accepted in a launch without it: "
                                       "node, rma");
    if (result != 0 || !dca->options.worker.loaded)
        return result;
    /* busy_start() forks the process, so it must precede MPI. */
    return busy_start(dca->options.worker.load, &root->error);
}

static int join_and_run(struct dca *dca, struct startup *startup, int argc, char **argv)
{
    const struct introduction introduction = {
        .role = ROLE_WORKER,
        .version = startup->version,
        .status = startup->status,
        .text = startup->text,
        .dca = true,
        .has_threads = true, /* loss.c starts a thread */
    };
    int status;
    dca->runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (dca->runtime == NULL) {
        status_tell_end(STATUS_LEAD, status, false);
        return status;
    }
    dca->rank = dca->root.rank = runtime_rank(dca->runtime);
    dca->ranks = runtime_ranks(dca->runtime);
    dca->topology = runtime_group(dca->runtime, TOPOLOGY_BY_NODE);
    if (dca->topology == NULL)
        carrier->abort(dca->runtime->world, EXIT_STATUS_FAILED);
    dca_begin_sharing(dca, dca_program_transport_of(dca->options.worker.dca));
    dca->share.calculation_ns = dca->root.setup.job.spec.calculation_ns;
    dca->share.assignment_ns = dca->root.setup.job.spec.assignment_ns;
    terminal_init(&dca->root.terminal, &dca->root.setup.job);
    if (dca->rank > 0)
        dca->root.terminal.mode = TERMINAL_NONE;
    status = run_dca_loop(dca);
    runtime_wait(dca->runtime);
    /* Rank 0 reports the end before MPI_Finalize(), which may get no answer from the launcher after SIGTERM. */
    if (dca->rank == 0)
        status_tell_end(STATUS_LEAD, status, false);
    runtime_leave(dca->runtime, status);
    return status;
}

int dca_program(int argc, char **argv, const char *version)
{
    static struct dca dca;
    struct startup startup = {.program = "worker", .version = version};
    int status;
    root_init(&dca.root, "worker", version);
    startup_take(&startup, dca_program_read_command_line(&dca, argc, argv), &dca.root.error, worker_help_text);
    if (!startup_ends_here(&startup, &status))
        status = join_and_run(&dca, &startup, argc, argv);
    dca_options_fini(&dca.options);
    startup_fini(&startup);
    return status;
}
