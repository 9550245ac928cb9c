/* SPDX-License-Identifier: MIT */
/* supermaster: reads the job, shares it, drives the supermaster's machine, and says how it went. */
#include "supermaster/program.h"

#include "common/config/description.h"
#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/control/control.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/job/journal_format.h"
#include "common/job/resume.h"
#include "common/job/root.h"
#include "common/job/startup.h"
#include "common/job/status.h"
#include "common/job/terminal.h"
#include "common/job/timings.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/metrics/progress.h"
#include "common/metrics/report.h"
#include "common/mpi/runtime.h"
#include "common/results/results.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "common/util/text.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "supermaster/ledger.h"
#include "supermaster/statistics.h"
#include "supermaster/supermaster.h"
#include "worker/helper/ask.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program {
    struct root root;
    struct runtime *runtime;
    const struct topology *topology;
    struct supermaster supermaster;
    bool supermaster_ready;
    int argc; /* the job's words */
    char **argv;
    struct control *control;                  /* NULL: nobody can ask; owned */
    struct control_source control_source;     /* of `control` */
    char technique_text[SCHED_SPEC_TEXT_MAX]; /* as it was last told */
    uint64_t ended_ns;                        /* when the machine had ended; 0: it has not */
    unsigned losses_said, failures_said, mismatches_said, asides_said;
    bool failure_said;     /* the reason of the failure is printed */
    unsigned *costs_ranks; /* [costs_count] ranks of the workers, which write costs; owned */
    unsigned costs_count;
};

/* --- the job --- */

static int init_machine(struct program *program)
{
    const struct job_setup *setup = &program->root.setup;
    const struct topology *topology = program->topology;
    double *speeds;
    if (root_read_speeds(&program->root, topology->worker_rank, topology->workers, &speeds) < 0) {
        free(speeds);
        return -1;
    }
    const struct journal_content *earlier = &program->root.resume.earlier.content;
    const struct journal_point *point = earlier->point_count > 0 ? earlier->points : NULL;
    const struct supermaster_config config = {
        .topology = topology,
        .spec = &setup->job.spec,
        .first = setup->first,
        .count = setup->count,
        .grows = setup->loop.grows,
        .step_iterations = setup->step_iterations,
        .steps_dependent = job_setup_has_dependent_steps(setup),
        .record_bytes = setup->collect ? setup->record_bytes : 0,
        .distance = job_setup_is_dependent(setup) ? setup->loop.distance : 0,
        .no_speculation = setup->loop.has_effects || job_setup_is_dependent(setup),
        .no_isolation = setup->kernel->descriptor != NULL || job_setup_is_dependent(setup),
        .is_patient = !status_may_lose_ranks(),
        .are_tasks = setup->loop.are_tasks,
        .speeds = speeds,
        .probe = run_spec_probes(&setup->job.spec),
        .probe_kills = !job_setup_is_isolated(setup),
        .journal = program->root.resume.path[0] != '\0',
        .records_at_once = setup->loop.has_effects && setup->job.durability == JOB_DURABILITY_PROCESS,
        .precedence = program->root.precedence.count > 0 ? &program->root.precedence : NULL,
        .done = &earlier->done,
        .done_failed = &program->root.done_failed,
        .done_digest = earlier->digest,
        .deaths = &earlier->deaths,
        .boundary_bytes = job_setup_is_dependent(setup) ? setup->loop.sync * setup->loop.boundary_bytes : 0,
        .point_at = point != NULL ? point->at : 0,
        .point = point != NULL ? point->data : NULL,
    };
    int result = supermaster_init(&program->supermaster, &config, &program->root.error);
    program->supermaster_ready = result == 0;
    free(speeds);
    return result;
}

/* Opens the files. 0; -1 for wrong use; RESULTS_NO_ROOM. The central topology stores the results here. */
static int open_files(struct program *program)
{
    int created = root_create_files(&program->root);
    return created != 0 || program->topology->masters > 0 ? created : root_open_sink(&program->root);
}

/* Each master has what its workers compute compared by another of them. */
static int check_verify_lineup(struct program *program)
{
    const struct topology *topology = program->topology;
    struct error *error = &program->root.error;
    if (program->root.setup.job.spec.verify == 0)
        return 0;
    if (topology->workers < 2)
        return error_set(error,
                         "--verify: another worker computes what is verified; accepted: with two workers or more");
    for (unsigned m = 0; m < topology->masters; m++)
        if (topology_count(topology, m) == 1)
            return error_set(error,
                             "--verify: master rank %u has one worker, and no other to verify it; accepted: fewer "
                             "masters, or --group-by even",
                             topology->master_rank[m]);
    return 0;
}

/* All that can be wrong with the job and only shows once the line-up is known; the files last, when the rest is right.
 */
static int supermaster_prepare(struct program *program)
{
    program->topology = runtime_group(program->runtime, program->root.setup.job.spec.group_by == RUN_GROUP_BY_NODE);
    if (program->topology == NULL)
        return error_set(&program->root.error, "out of memory for %u ranks", runtime_ranks(program->runtime));
    return check_verify_lineup(program) < 0 || root_check(&program->root, true) < 0 ||
                   root_read_precedence(&program->root) < 0 || init_machine(program) < 0
               ? -1
               : open_files(program);
}

/* --- while it runs --- */

static double elapsed_s(const struct program *program, uint64_t now_ns)
{
    uint64_t first = program->supermaster.first_assign_ns;
    return first == NEVER || now_ns < first ? 0 : (double)(now_ns - first) / 1e9;
}

/* Prints the losses and failures that came since the last call. */
static void print_faults(struct program *program)
{
    struct error text;
    for (; program->failures_said < supermaster_failure_count(&program->supermaster); program->failures_said++) {
        supermaster_failure_text(&program->supermaster, program->failures_said, &text);
        root_print_failure(&program->root, text.text, program->root.rank);
    }
    for (; program->mismatches_said < supermaster_mismatch_count(&program->supermaster); program->mismatches_said++) {
        supermaster_mismatch_text(&program->supermaster, program->mismatches_said, &text);
        root_print_failure(&program->root, text.text, program->root.rank);
    }
    for (; program->asides_said < supermaster_aside_count(&program->supermaster); program->asides_said++) {
        supermaster_aside_text(&program->supermaster, program->asides_said, &text);
        root_print_failure(&program->root, text.text, program->root.rank);
    }
    for (; program->losses_said < supermaster_loss_count(&program->supermaster); program->losses_said++) {
        supermaster_loss_text(&program->supermaster, program->losses_said, &text);
        root_print_failure(&program->root, text.text, program->root.rank);
    }
}

static void print_failure(void *context)
{
    struct program *program = context;
    const struct supermaster *supermaster = &program->supermaster;
    print_faults(program);
    if (supermaster->failure.text[0] != '\0' && !program->failure_said)
        root_print_failure(&program->root, supermaster->failure.text, supermaster->failed_rank);
    program->failure_said = supermaster->failure.text[0] != '\0';
}

static struct progress measure_progress(const struct program *program, uint64_t now_ns)
{
    const struct supermaster *supermaster = &program->supermaster;
    return (struct progress){
        .name = program->root.setup.kernel->name,
        .done = supermaster->ledger.done,
        .total = supermaster->ledger.loop.count,
        .resumed = supermaster->resumed,
        .elapsed_s = elapsed_s(program, now_ns),
        .busy = supermaster_busy(supermaster),
        .lost = supermaster_loss_count(supermaster),
        .workers = program->topology->workers,
        .grows = supermaster->ledger.grows,
        .draining = supermaster->state == SUPERMASTER_ENDING && !ledger_is_complete(&supermaster->ledger),
    };
}

static void show_progress(void *context, uint64_t now_ns)
{
    struct program *program = context;
    print_faults(program);
    const struct progress progress = measure_progress(program, now_ns);
    root_show_progress(&program->root, &progress);
}

/* --- who asks how it goes --- */

static void tell_job(void *context, struct control_job *job)
{
    struct program *program = context;
    const struct supermaster *supermaster = &program->supermaster;
    const struct job_setup *setup = &program->root.setup;
    const bool is_choosing = setup->job.spec.technique_auto && !supermaster->sched_ready;
    const struct sched_spec *spec =
        supermaster->sched_ready ? &supermaster->sched.spec : &supermaster->config.spec->technique;
    snprintf(program->technique_text, sizeof program->technique_text, RUN_TECHNIQUE_AUTO);
    if (!is_choosing)
        sched_spec_format(spec, program->technique_text, sizeof program->technique_text);
    job->kernel = setup->kernel->name;
    job->command = program->argv + 1;
    job->words = program->argc - 1;
    job->progress = measure_progress(program, program->ended_ns > 0 ? program->ended_ns : runtime_now());
    job->state = job->progress.draining                  ? CONTROL_DRAINING
                 : supermaster->first_assign_ns == NEVER ? CONTROL_WAITING
                                                         : CONTROL_RUNNING;
    job->failed = ranges_total(&supermaster->ledger.failed);
    job->technique = program->technique_text;
    job->topology = report_topology_name(program->topology->masters > 0 ? REPORT_HIERARCHICAL : REPORT_CENTRAL);
    job->output = setup->job.output;
}

/* As a batch system asks, so that there is one way to drain. */
static void drain_job(void *context)
{
    (void)context;
    raise(SIGTERM);
}

/* Has the run found by whoever asks for it. Without a socket it goes on as well. */
static void open_control(struct program *program, int argc, char **argv)
{
    if (program->root.setup.job.control_off)
        return;
    program->argc = argc;
    program->argv = argv;
    program->control_source = (struct control_source){.context = program, .tell = tell_job, .drain = drain_job};
    program->control = control_new(runtime_base(program->runtime), program->root.version, &program->control_source);
}

static void begun(void *context)
{
    (void)context;
    status_tell_begun();
}

static void tell_asked(void *context)
{
    (void)context;
    status_tell_draining();
}

static int store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error)
{
    struct root *root = &((struct program *)context)->root;
    if (!root->sink_open && root_open_sink(root) < 0) { /* a master was lost, and its workers bring theirs here */
        *error = root->error;
        return -1;
    }
    return results_write(&root->sink, part->first, part->count, data, bytes, error);
}

static int record(void *context, const struct range *ranges, size_t count, uint64_t digest, struct error *error)
{
    struct program *program = context;
    print_faults(program); /* the journal, written some twenty times a second, leaves time for this */
    return root_record(&program->root, ranges, count, digest, error);
}

static int record_deaths_in_journal(void *context, const struct poison *deaths, struct error *error)
{
    struct program *program = context;
    print_faults(program);
    return root_record_deaths(&program->root, deaths, error);
}

static int record_point_in_journal(void *context, const struct action *action, struct error *error)
{
    struct program *program = context;
    const struct journal_point part = {action->point.at, action->point.bytes, action->point.data};
    return root_record_point(&program->root, &part, action->point.offset, action->point.all, error);
}

static int grow_loop(void *context, struct growth *growth, struct error *error)
{
    return root_grow(&((struct program *)context)->root, growth, error);
}

/* --- at the end --- */

/* Prints the summary and writes the report. Returns the exit status. */
static int supermaster_print_outcome(struct program *program, int status)
{
    const struct job *job = &program->root.setup.job;
    struct report report = {
        .cores = runtime_cores(program->runtime),
        .sync_points = job_setup_is_dependent(&program->root.setup)
                           ? job_setup_sync_points(&program->root.setup, program->topology->workers)
                           : 0,
        .thread_technique = job->spec.threads != 1 ? &job->spec.thread_technique : NULL,
    };
    struct report_worker *rows = calloc(program->topology->workers, sizeof *rows);
    if (rows == NULL) {
        root_print_failure(&program->root, "out of memory for the report", program->root.rank);
        return EXIT_STATUS_FAILED;
    }
    supermaster_fill_report(&program->supermaster, &report, rows);
    status = root_print_report(&program->root, &report, program->supermaster.first_assign_ns, status);
    free(rows);
    return status;
}

static int supermaster_run_loop(struct program *program)
{
    const struct machine machine = supermaster_machine(&program->supermaster);
    const struct effects effects = {
        .context = program,
        .store = store,
        .journal = record,
        .deaths = record_deaths_in_journal,
        .point = record_point_in_journal,
        .grow = grow_loop,
        .begun = begun,
        .asked = tell_asked,
        .parting = print_failure,
        .tick = show_progress,
        .tick_ns = terminal_look_ms(&program->root.terminal) * UINT64_C(1000000),
        .calculation_ns = program->root.setup.job.spec.calculation_ns,
        .assignment_ns = program->root.setup.job.spec.assignment_ns,
    };
    int status = runtime_drive(program->runtime, &machine, &effects, NULL);
    program->ended_ns = runtime_now();
    const struct supermaster *supermaster = &program->supermaster;
    print_failure(program);
    if (supermaster->losses.count > 0)
        runtime_note_loss(program->runtime);
    status = root_finish_output(&program->root, status);
    return supermaster_print_outcome(program, supermaster_is_in_doubt(supermaster) ? EXIT_STATUS_FAILED : status);
}

/* The command line for the others, with what was found here: who reads files must find the same in them, and who does
 * not run a user's kernel needs not load it. Without memory for it they are told nothing, and look for themselves. */
struct findings {
    char inputs[32], *loop; /* options; empty where there is nothing to say */
    char **words;
    int count;
};

static void make_findings(struct findings *findings, const struct job_setup *setup, bool is_unprobed, int argc,
                          char **argv)
{
    static char unprobed[] = "--unprobed", grows[] = "--grows";
    struct text option;
    uint64_t inputs;
    char *loop = job_setup_is_foreign(setup) ? description_text(setup->kernel, &setup->loop) : NULL;
    *findings = (struct findings){.words = calloc((size_t)argc + 5, sizeof *findings->words)};
    text_init(&option);
    if (loop != NULL)
        text_add(&option, "--loop=%s", loop);
    free(loop);
    findings->loop = text_take(&option);
    if (job_setup_inputs(setup, &inputs, NULL) == 0 && inputs != 0) /* else the others find out */
        snprintf(findings->inputs, sizeof findings->inputs, "--inputs=%016" PRIx64, inputs);
    if (findings->words == NULL)
        return;
    findings->words[findings->count++] = argv[0]; /* the options come first: behind `--` there are none */
    if (findings->inputs[0] != '\0')
        findings->words[findings->count++] = findings->inputs;
    if (findings->loop != NULL && findings->loop[0] != '\0')
        findings->words[findings->count++] = findings->loop;
    if (setup->loop.grows)
        findings->words[findings->count++] = grows;
    if (is_unprobed)
        findings->words[findings->count++] = unprobed;
    memcpy(findings->words + findings->count, argv + 1, (size_t)(argc - 1) * sizeof *argv);
    findings->count += argc - 1;
}

static void findings_fini(struct findings *findings)
{
    free(findings->words);
    free(findings->loop);
}

/* Notes the ranks of the workers, as the topology is released before the costs are there. */
static void note_costs_ranks(struct program *program)
{
    const struct topology *topology = program->topology;
    size_t bytes = topology->workers * sizeof *program->costs_ranks;
    if (program->root.setup.job.costs[0] != '\0' && (program->costs_ranks = malloc(bytes)) != NULL) {
        memcpy(program->costs_ranks, topology->worker_rank, bytes);
        program->costs_count = topology->workers;
    }
}

/* Shares the job and runs it. Returns the exit status. */
static int share_and_run(struct program *program, int argc, char **argv)
{
    unsigned count;
    int status = EXIT_STATUS_DONE;
    int prepared = supermaster_prepare(program);
    if (!program->root.setup.loop.grows) /* else it is asked how much there is */
        ask_end();
    if (prepared != 0) {
        fprintf(stderr, "supermaster: %s\n", program->root.error.text);
        status = prepared == RESULTS_NO_ROOM ? EXIT_STATUS_FAILED : EXIT_STATUS_USAGE;
    }
    root_print_notes(&program->root, prepared);
    struct findings findings;
    make_findings(&findings, &program->root.setup,
                  program->supermaster_ready && supermaster_is_unprobed(&program->supermaster), argc, argv);
    bool has_words = findings.words != NULL;
    bool shared = runtime_share_job(program->runtime, has_words ? findings.count : argc,
                                    has_words ? findings.words : argv, &status, &count) != NULL;
    findings_fini(&findings);
    if (!shared)
        return status;
    note_costs_ranks(program);
    open_control(program, argc, argv);
    return supermaster_run_loop(program);
}

/* Joins the costs that the workers have written; they have left. */
static int join_costs(struct program *program, int status)
{
    struct root *root = &program->root;
    if (root->setup.job.costs[0] == '\0' || program->costs_ranks == NULL ||
        timings_join(root->setup.job.costs, program->costs_ranks, program->costs_count, &root->error) == 0)
        return status;
    root_print_failure(root, root->error.text, root->rank);
    return EXIT_STATUS_FAILED;
}

/* Settles all that the run leaves and says so, before MPI is left: a launcher that was sent SIGTERM does not answer
 * MPI_Finalize any more, and kills who waits for it. Returns the exit status. */
static int finish(struct program *program, int status)
{
    runtime_wait(program->runtime);
    status = join_costs(program, status);
    free(program->costs_ranks);
    root_clear_away(&program->root);
    control_free(program->control, status);
    if (program->supermaster_ready)
        supermaster_fini(&program->supermaster);
    status_tell_end(STATUS_LEAD, status, runtime_is_degraded(program->runtime));
    return status;
}

int supermaster_program(int argc, char **argv, const char *version)
{
    static struct program program;
    struct root *root = &program.root;
    runtime_remember_signals(status_tell_draining);
    root_init(root, "supermaster", version);
    struct startup startup = {.program = "supermaster", .version = version};
    startup_take(&startup, job_setup_make(&root->setup, &asking_loader, argc, argv, &root->error), &root->error,
                 job_help_text);
    const struct introduction introduction = {
        .role = ROLE_SUPERMASTER, .version = version, .status = startup.status, .text = startup.text};
    int status;
    if (startup_ends_here(&startup, &status))
        return status;
    program.runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (program.runtime != NULL) {
        root->rank = runtime_rank(program.runtime);
        terminal_init(&root->terminal, &root->setup.job);
        status = finish(&program, share_and_run(&program, argc, argv));
        runtime_leave(program.runtime, status); /* last: the machine borrows the topology */
    } else
        status_tell_end(STATUS_LEAD, status, false);
    startup_fini(&startup);
    return status;
}
