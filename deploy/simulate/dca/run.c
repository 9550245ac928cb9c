/* SPDX-License-Identifier: MIT */
/* Runs the machines of a simulated run without a supermaster, applies their actions, and makes the report: see
 * run.h. */
#include "deploy/simulate/dca/run.h"

#include "common/config/job.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/machine/spread.h"
#include "common/sched/sched.h"
#include "deploy/simulate/print_report.h"
#include "worker/dca/check.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dca_schedule(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type)
{
    struct drawing_worker *worker = &run->workers[w];
    if (type == DRAWING_LOOKS) {
        run->look_ns = at_ns;
    } else {
        worker->due_ns = at_ns;
        worker->due = type;
        worker->is_due = true;
    }
    run->backend->schedule(run, at_ns, w, type);
}

uint64_t dca_access(struct dca_run *run, unsigned w)
{
    struct drawing_worker *worker = &run->workers[w];
    if (worker->access.type == DCA_ACTION_EXCHANGE) {
        run->core.fresh[worker->machine.worker] = worker->machine.own;
        return 0;
    }
    uint64_t *counter = &run->counters[worker->access.counter], before = *counter;
    *counter += worker->access.amount;
    return before;
}

void dca_answer(struct dca_run *run, unsigned w, uint64_t counter, double at_ns)
{
    const bool exchanged = run->workers[w].access.type == DCA_ACTION_EXCHANGE;
    dca_give(run, w, &(struct dca_event){.type = exchanged ? DCA_EVENT_EXCHANGED : DCA_EVENT_FETCHED, .value = counter},
             at_ns);
}

void dca_deliver(struct dca_run *run, unsigned w, uint64_t counter, double there_ns)
{
    const bool takes_time = run->model->received_ns != NULL;
    dca_answer(run, w, counter, takes_time ? run->model->received_ns(run, w, there_ns) : there_ns);
}

static void drawing_compute(struct dca_run *run, unsigned w, double at_ns)
{
    struct drawing_worker *worker = &run->workers[w];
    const struct range *chunk = &worker->machine.chunk;
    worker->call_ns = virtual_call_ns(&run->given.config, worker->began_ns, at_ns);
    worker->waited_ns = worker->began_ns >= 0 ? at_ns - worker->ended_ns : 0;
    worker->began_ns = at_ns;
    worker->compute_ns = dca_compute_ns(run, w, at_ns, worker->call_ns, chunk->first, chunk->count);
    run->first_ns = run->first_ns < 0 || at_ns < run->first_ns ? at_ns : run->first_ns;
    dca_schedule(run, at_ns + worker->compute_ns, w, DRAWING_FINISHES);
}

void dca_give(struct dca_run *run, unsigned w, const struct dca_event *event, double at_ns)
{
    struct drawing_worker *worker = &run->workers[w];
    const struct dca_action action = dca_machine_step(&worker->machine, event);
    assert(dca_machine_check(&worker->machine) == NULL);
    if (action.calculated)
        at_ns += dca_on_core_ns(run, w, at_ns, run->calculation_ns);
    switch (action.type) {
    case DCA_ACTION_FETCH_ADD:
    case DCA_ACTION_EXCHANGE:
        worker->access = action;
        run->model->leave(run, w, at_ns);
        return;
    case DCA_ACTION_DRAW: queues_draw(run, w, at_ns); return;
    case DCA_ACTION_PUBLISH: queues_publish(run, w, &action.range, at_ns); return;
    case DCA_ACTION_AWAIT: queues_await(run, w); return;
    case DCA_ACTION_STARVE: queues_starve(run, w, at_ns); return;
    case DCA_ACTION_COMPUTE: drawing_compute(run, w, at_ns); break;
    default: run->ended++;
    }
    if (run->model->drawn != NULL)
        run->model->drawn(run, w, at_ns);
}

static void drawing_measure(struct dca_run *run, unsigned w, double began_ns)
{
    struct drawing_worker *worker = &run->workers[w];
    const struct range *chunk = &worker->machine.chunk;
    struct spread spread = {0};
    double iteration_ns = worker->compute_ns / (double)chunk->count, at_ns = began_ns, call_ns = worker->call_ns;
    for (uint64_t done = 0, piece; done < chunk->count; done += piece) {
        piece = spread_piece(chunk->count, chunk->count - done, iteration_ns);
        double piece_ns = dca_compute_ns(run, w, at_ns, call_ns, chunk->first + done, piece);
        spread_add(&spread, piece, piece_ns);
        call_ns = 0;
        at_ns += piece_ns;
    }
    dca_machine_measure(&worker->machine, chunk->count, (uint64_t)worker->compute_ns, (uint64_t)worker->waited_ns,
                        spread_deviation_ns(&spread), (unsigned)spread.pieces);
}

static void drawing_finish(struct dca_run *run, unsigned w, double at_ns)
{
    struct drawing_worker *worker = &run->workers[w];
    struct report_worker *row = &run->rows[w];
    double next_ns = run->model->finish != NULL ? run->model->finish(run, w, at_ns) : at_ns;
    if (next_ns <= 0)
        return;
    worker->ended_ns = at_ns;
    run->chunks++;
    row->chunks++;
    row->iterations += worker->machine.chunk.count;
    row->compute_s += worker->compute_ns / 1e9;
    row->finish_s = at_ns / 1e9;
    run->end_ns = at_ns > run->end_ns ? at_ns : run->end_ns;
    if (dca_learns(&run->core))
        drawing_measure(run, w, at_ns - worker->compute_ns);
    dca_give(run, w, &(struct dca_event){.type = DCA_EVENT_FINISHED}, next_ns);
}

static void drawing_begin(struct dca_run *run, unsigned w, double at_ns)
{
    const enum dca_state state = run->workers[w].machine.state;
    dca_give(run, w,
             &(struct dca_event){.type = state == DCA_IDLE         ? DCA_EVENT_START
                                         : state == DCA_PUBLISHING ? DCA_EVENT_PUBLISHED
                                                                   : DCA_EVENT_REFILLED},
             at_ns);
}

void dca_run_happen(struct dca_run *run, unsigned w, enum drawing_event type)
{
    const double at_ns = run->workers[w].due_ns;
    switch (type) {
    case DRAWING_BEGINS: drawing_begin(run, w, at_ns); break;
    case DRAWING_ARRIVES: run->model->arrive(run, w, at_ns); break;
    case DRAWING_FINISHES: drawing_finish(run, w, at_ns); break;
    case DRAWING_LOOKS: run->model->look(run, run->look_ns); break;
    case DRAWING_GIVES: run->model->give(run, w, at_ns); break;
    case DRAWING_LEAVES:
    case DRAWING_RETURNS: break;
    }
}

static void drawing_sum_by_node(const struct simulation *simulation, const double *speeds, double *sums)
{
    for (unsigned w = 0; w < simulation->workers; w++)
        sums[simulation->placement.node_of[w]] += speeds[w];
}

static int drawing_make_powers(const struct dca_run *run, unsigned count, double **powers, struct error *error)
{
    const struct simulation *simulation = run->simulation;
    const struct job *job = &simulation->setup.job;
    *powers = NULL;
    if ((job->spec.technique.technique->needs & SCHED_NEEDS_POWER) == 0 && job->spec.weighting == SCHED_WEIGHTING_NONE)
        return 0;
    double *speeds = calloc(simulation->workers, sizeof *speeds);
    if (speeds == NULL)
        return error_set(error, "out of memory for the powers of %u workers", simulation->workers);
    const double *workers = run->given.powers != NULL ? run->given.powers : simulation->worker_speeds;
    if (run->model == &dca_queues)
        drawing_sum_by_node(simulation, workers, speeds);
    else
        memcpy(speeds, workers, simulation->workers * sizeof *speeds);
    sched_powers_from_speeds(job->spec.technique.technique, job->spec.weighting, speeds, count, speeds);
    *powers = speeds;
    return 0;
}

static int drawing_init_machines(struct dca_run *run, struct error *error)
{
    const struct simulation *simulation = run->simulation;
    const struct job *job = &simulation->setup.job;
    const bool by_node = run->model == &dca_queues;
    const unsigned count = by_node ? simulation->placement.nodes : simulation->workers;
    double *powers;
    if (drawing_make_powers(run, count, &powers, error) < 0)
        return -1;
    const struct dca_config config = {
        .technique = &job->spec.technique,
        .sched = {.iterations = simulation->setup.count,
                  .workers = count,
                  .powers = powers,
                  .min_chunk = job->spec.min_chunk,
                  .max_chunk = job->spec.max_chunk,
                  .weighting = job->spec.weighting,
                  .loads = true},
        .two_counters = simulation->dca_options.two_counters,
    };
    run->core_ready = dca_init(&run->core, &config, error) == 0;
    for (unsigned w = 0; run->core_ready && w < simulation->workers; w++) {
        const unsigned node = simulation->placement.node_of[w], drawer = by_node ? node : w;
        const double power = powers != NULL ? powers[drawer] : 1;
        dca_machine_init(&run->workers[w].machine, &run->core, drawer, power, by_node);
        run->workers[w].began_ns = -1;
        run->rows[w] = (struct report_worker){.rank = w, .node = node, .power = power};
        if (job->spec.weighting == SCHED_WEIGHTING_ACP) {
            dca_machine_set_load(&run->workers[w].machine, simulation->worker_loads[w]);
            run->rows[w].load = simulation->worker_loads[w];
        }
    }
    free(powers);
    return run->core_ready ? 0 : -1;
}

/* Removes all faults except slowdowns from the list, because a run without a supermaster ends if a node fails. Notes
 * when the first node fails. */
static int drawing_init_faults(struct dca_run *run, struct error *error)
{
    struct virtual_config *config = &run->given.config;
    unsigned kept = 0;
    run->fails_ns = INFINITY;
    for (unsigned i = 0; i < config->fault_count; i++) {
        const struct virtual_fault *fault = &run->given.faults[i];
        if (fault->type == VIRTUAL_SLOW) {
            run->given.faults[kept++] = *fault;
        } else if ((double)fault->at_ns < run->fails_ns) {
            run->fails_ns = (double)fault->at_ns;
            run->failed_node = run->simulation->placement.node_of[fault->rank];
        }
    }
    config->fault_count = kept;
    return perturbations_init(&run->perturbations, config, NULL, error);
}

static const struct dca_model *drawing_model(enum worker_dca dca)
{
    switch (dca) {
    case WORKER_DCA_TWO_SIDED: return &dca_coordinator;
    case WORKER_DCA_NODE: return &dca_queues;
    default: return &dca_window;
    }
}

static int drawing_check(const struct simulation *simulation, struct error *error)
{
    if (dca_check_loop(&simulation->setup, error) < 0)
        return -1;
    return dca_check_techniques(&simulation->dca_options, &simulation->setup, simulation->workers,
                                simulation->placement.nodes, error);
}

int dca_run_init(struct dca_run *run, const struct simulation *simulation, const struct dca_backend *backend,
                 void *context, struct error *error)
{
    const struct job *job = &simulation->setup.job;
    *run = (struct dca_run){
        .simulation = simulation,
        .backend = backend,
        .context = context,
        .model = drawing_model(simulation->dca_options.dca),
        .calculation_ns = (double)job->spec.calculation_ns + simulation->platform.service.calculation_ns,
        .assignment_ns = (double)job->spec.assignment_ns,
        .first_ns = -1,
    };
    run->workers = calloc(simulation->workers, sizeof *run->workers);
    run->rows = calloc(simulation->workers, sizeof *run->rows);
    if (run->workers == NULL || run->rows == NULL)
        return error_set(error, "out of memory for %u workers", simulation->workers);
    if (drawing_check(simulation, error) < 0 || simulation_configure(simulation, &run->given, error) < 0 ||
        drawing_init_faults(run, error) < 0 || drawing_init_machines(run, error) < 0)
        return -1;
    return run->model->open(run, error);
}

void dca_run_fini(struct dca_run *run)
{
    if (run->model->close != NULL)
        run->model->close(run);
    if (run->core_ready)
        dca_fini(&run->core);
    perturbations_fini(&run->perturbations);
    simulation_run_fini(&run->given);
    free(run->workers);
    free(run->rows);
}

int dca_run_say(struct dca_run *run, bool failed, const char *version)
{
    const struct simulation *simulation = run->simulation;
    char failure[100];
    struct report report = {
        .version = version,
        .topology = run->model->topology,
        .technique = simulation->setup.job.spec.technique,
        .weighting = simulation->setup.job.spec.weighting,
        .min_chunk = simulation->setup.job.spec.min_chunk,
        .first = simulation->setup.first,
        .iterations = simulation->setup.count,
        .workers = simulation->workers,
        .nodes = simulation->placement.nodes,
        .elapsed_s = run->first_ns >= 0 ? (run->end_ns - run->first_ns) / 1e9 : 0,
        .chunks = run->chunks,
        .refills = run->refills,
        .messages = run->messages,
        .bytes_on_wire = run->bytes,
        .recalls = {.count = run->recalls, .iterations = run->recalled},
        .worker_stats = run->rows,
    };
    for (unsigned w = 0; w < simulation->workers; w++) {
        struct report_worker *row = &run->rows[w];
        report.done += row->iterations;
        row->finish_s = row->chunks > 0 ? row->finish_s - run->first_ns / 1e9 : 0;
        row->wait_s = fmax(0, report.elapsed_s - row->compute_s);
        row->load = row->chunks > 0 ? row->load : 0;
    }
    if (failed) {
        snprintf(failure, sizeof failure, "node %u failed, and a run without a supermaster ends with it",
                 run->failed_node);
        report.outcome = REPORT_FAILED;
        report.failure = failure;
    }
    return simulation_print_report(simulation, &report, failed ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE);
}
