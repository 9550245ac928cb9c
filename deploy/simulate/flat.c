/* SPDX-License-Identifier: MIT */
/* A simulated run of workers alone (DCA): see flat_run.h. Here is the run, what a worker does with the answers of the
 * counters, and the report. */
#include "deploy/simulate/flat_run.h"
#include "deploy/simulate/say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what a worker does --- */

/* The core as this worker has it. */
static void take_core(struct flat_run *run, unsigned w)
{
    const struct flat_hand *hand = &run->hands[w];
    run->core.worker = run->transport == &flat_by_nodes ? run->simulation->placement.node_of[w] : w;
    run->core.power = hand->power;
    run->core.carry = hand->carry;
    run->core.rest = hand->rest;
}

static void leave_core(struct flat_run *run, unsigned w)
{
    run->hands[w].carry = run->core.carry;
    run->hands[w].rest = run->core.rest;
}

static enum flat_counter counter_of(const struct flat_run *run, const struct flat_hand *hand)
{
    return hand->takes || run->core.way == FLAT_BY_REST ? FLAT_START : FLAT_STEP;
}

static uint64_t amount_of(const struct flat_run *run, const struct flat_hand *hand)
{
    return hand->takes ? hand->size : run->core.way == FLAT_BY_REST ? 0 : 1;
}

uint64_t flat_access(struct flat_run *run, unsigned w)
{
    const struct flat_hand *hand = &run->hands[w];
    uint64_t *counter = &run->counters[counter_of(run, hand)], before = *counter;
    *counter += amount_of(run, hand);
    return before;
}

bool flat_is_late(const struct flat_run *run, unsigned w)
{
    const struct flat_hand *hand = &run->hands[w];
    return run->assignment_ns > 0 && amount_of(run, hand) > 0 &&
           counter_of(run, hand) == flat_first_counter(&run->core);
}

void flat_begin_access(struct flat_run *run, unsigned w, double at_ns)
{
    run->hands[w].takes = false;
    run->transport->ask(run, w, at_ns);
}

/* By place the first counter says all; else the size is known now, and is taken from the start. */
void flat_answered(struct flat_run *run, unsigned w, uint64_t counter, double at_ns)
{
    struct flat_hand *hand = &run->hands[w];
    const double calculated_ns = at_ns + flat_on_core(run, w, run->calculation_ns);
    struct range chunk;
    take_core(run, w);
    if (hand->takes) {
        bool is_one = flat_take(&run->core, counter, hand->size, &chunk);
        leave_core(run, w);
        run->transport->drawn(run, w, is_one ? &chunk : NULL, at_ns);
    } else if (flat_is_over(&run->core, counter)) {
        run->transport->drawn(run, w, NULL, at_ns);
    } else if (run->core.way == FLAT_BY_PLACE) {
        flat_draw_step(&run->core, counter, &chunk);
        run->transport->drawn(run, w, &chunk, calculated_ns);
    } else {
        hand->size = flat_size(&run->core, counter);
        hand->takes = true;
        leave_core(run, w);
        run->transport->ask(run, w, calculated_ns);
    }
}

void flat_compute(struct flat_run *run, unsigned w, const struct range *chunk, double at_ns)
{
    struct report_worker *row = &run->rows[w];
    if (chunk == NULL)
        return;
    double compute_ns = flat_cost_ns(run, w, chunk->first, chunk->count);
    run->hands[w].chunk = *chunk;
    run->first_ns = run->first_ns < 0 || at_ns < run->first_ns ? at_ns : run->first_ns;
    run->chunks++;
    row->chunks++;
    row->iterations += chunk->count;
    row->compute_s += compute_ns / 1e9;
    flat_push(run, at_ns + compute_ns, w, FLAT_FINISHES);
}

static void finish(struct flat_run *run, unsigned w, double at_ns)
{
    double next_ns = run->transport->finish != NULL ? run->transport->finish(run, w, at_ns) : at_ns;
    if (next_ns <= 0)
        return;
    run->rows[w].finish_s = at_ns / 1e9;
    run->end_ns = at_ns > run->end_ns ? at_ns : run->end_ns;
    run->transport->begin(run, w, next_ns);
}

static void handle(struct flat_run *run, const struct flat_event *event)
{
    switch (event->type) {
    case FLAT_BEGINS: run->transport->begin(run, event->worker, event->at_ns); break;
    case FLAT_ARRIVES: run->transport->arrive(run, event->worker, event->at_ns); break;
    case FLAT_FINISHES: finish(run, event->worker, event->at_ns); break;
    case FLAT_LOOKS: run->transport->look(run, event->at_ns); break;
    }
}

/* --- before and after --- */

/* What is not simulated. */
static int check_technique(const struct simulation *simulation, const struct flat_core *core, struct error *error)
{
    const char *name = simulation->plan.job.spec.technique.technique->name;
    if (flat_learns(core))
        return error_set(error, "--dca: what workers measure for %s is not simulated; accepted: other techniques",
                         name);
    return 0;
}

/* What is for launches with a supermaster. */
static int check_job(const struct simulation *simulation, struct error *error)
{
    if (simulation->event_count > 0)
        return error_set(error, "--slow-nodes and --fail-nodes are for launches with a supermaster, not for --dca");
    if (simulation->plan.job.spec.technique_auto)
        return error_set(error, "--technique auto is for launches with a supermaster, not for --dca");
    if (simulation->plan.loop.steps > 1)
        return error_set(error, "--dca: %s has time steps; accepted are loops of one step, or a supermaster",
                         simulation->plan.kernel->name);
    return 0;
}

/* A node's speed is that of its workers together. */
static void sum_by_node(const struct simulation *simulation, const double *speeds, double *sums)
{
    for (unsigned w = 0; w < simulation->workers; w++)
        sums[simulation->placement.node_of[w]] += speeds[w];
}

/* The powers of those for whom chunks are cut, workers or nodes, to be freed; NULL where nothing is weighted. */
static int make_powers(const struct flat_run *run, unsigned count, double **powers, struct error *error)
{
    const struct simulation *simulation = run->simulation;
    const struct job *job = &simulation->plan.job;
    double *given = NULL;
    *powers = NULL;
    if ((job->spec.technique.technique->needs & SCHED_NEEDS_POWER) == 0 && job->spec.weighting == SCHED_WEIGHTING_NONE)
        return 0;
    double *speeds = calloc(simulation->workers, sizeof *speeds);
    int result = speeds != NULL ? simulation_read_powers(simulation, &given, error)
                                : error_set(error, "out of memory for the powers of %u workers", simulation->workers);
    const double *workers = given != NULL ? given : simulation->worker_speeds;
    if (result == 0 && run->transport == &flat_by_nodes)
        sum_by_node(simulation, workers, speeds);
    else if (result == 0)
        memcpy(speeds, workers, simulation->workers * sizeof *speeds);
    if (result == 0)
        sched_powers_from_speeds(job->spec.technique.technique, job->spec.weighting, speeds, count, speeds);
    else
        free(speeds);
    *powers = result == 0 ? speeds : NULL;
    free(given);
    return result;
}

/* The core is made as for the first worker; what its chunks are multiplied with is in proportion to its power. */
static int init_core(struct flat_run *run, struct error *error)
{
    const struct simulation *simulation = run->simulation;
    const struct job *job = &simulation->plan.job;
    const bool by_node = run->transport == &flat_by_nodes;
    const unsigned count = by_node ? simulation->placement.nodes : simulation->workers;
    double *powers;
    if (make_powers(run, count, &powers, error) < 0)
        return -1;
    const struct flat_config config = {
        .technique = &job->spec.technique,
        .sched = {.iterations = simulation->plan.count,
                  .workers = count,
                  .powers = powers,
                  .min_chunk = job->spec.min_chunk,
                  .weighting = job->spec.weighting},
        .two_counters = simulation->drawing.two_counters,
    };
    int result = flat_init(&run->core, &config, error);
    for (unsigned w = 0; result == 0 && w < simulation->workers; w++) {
        unsigned j = by_node ? simulation->placement.node_of[w] : w;
        run->hands[w].power = run->core.power > 0 ? run->core.power * powers[j] / powers[0] : 0;
        run->hands[w].rest = run->core.rest;
        run->rows[w] = (struct report_worker){
            .rank = w, .node = simulation->placement.node_of[w], .power = powers != NULL ? powers[j] : 1};
    }
    free(powers);
    return result;
}

static const struct flat_transport *transport_of(enum worker_dca dca)
{
    switch (dca) {
    case WORKER_DCA_TWO_SIDED: return &flat_by_messages;
    case WORKER_DCA_NODE: return &flat_by_nodes;
    default: return &flat_by_window;
    }
}

static int init(struct flat_run *run, const struct simulation *simulation, struct error *error)
{
    const struct job *job = &simulation->plan.job;
    *run = (struct flat_run){
        .simulation = simulation,
        .transport = transport_of(simulation->drawing.dca),
        .calculation_ns = (double)job->spec.calculation_ns + simulation->platform.service.calculation_ns,
        .assignment_ns = (double)job->spec.assignment_ns,
        .first_ns = -1,
        .capacity = (size_t)simulation->workers + 1,
    };
    run->heap = calloc(run->capacity, sizeof *run->heap);
    run->hands = calloc(simulation->workers, sizeof *run->hands);
    run->rows = calloc(simulation->workers, sizeof *run->rows);
    if (run->heap == NULL || run->hands == NULL || run->rows == NULL)
        return error_set(error, "out of memory for %u workers", simulation->workers);
    if (check_job(simulation, error) < 0 || init_core(run, error) < 0 ||
        check_technique(simulation, &run->core, error) < 0)
        return -1;
    return run->transport->open(run, error);
}

static void fini(struct flat_run *run)
{
    if (run->transport->close != NULL)
        run->transport->close(run);
    flat_fini(&run->core);
    free(run->heap);
    free(run->hands);
    free(run->rows);
}

static int say(struct flat_run *run, const char *version)
{
    const struct simulation *simulation = run->simulation;
    struct report report = {
        .version = version,
        .topology = run->transport->topology,
        .technique = simulation->plan.job.spec.technique,
        .weighting = simulation->plan.job.spec.weighting,
        .min_chunk = simulation->plan.job.spec.min_chunk,
        .first = simulation->plan.first,
        .iterations = simulation->plan.count,
        .done = simulation->plan.count,
        .workers = simulation->workers,
        .nodes = simulation->placement.nodes,
        .elapsed_s = run->first_ns >= 0 ? (run->end_ns - run->first_ns) / 1e9 : 0,
        .chunks = run->chunks,
        .refills = run->refills,
        .messages = run->messages,
        .bytes_on_wire = run->bytes,
        .worker_stats = run->rows,
    };
    for (unsigned w = 0; w < simulation->workers; w++) {
        struct report_worker *row = &run->rows[w];
        row->finish_s = row->chunks > 0 ? row->finish_s - run->first_ns / 1e9 : 0;
        row->wait_s = fmax(0, report.elapsed_s - row->compute_s);
    }
    return simulation_say(simulation, &report, EXIT_STATUS_DONE);
}

int simulation_run_flat(struct simulation *simulation, const char *version, struct error *error)
{
    struct flat_run run;
    int status = init(&run, simulation, error);
    if (status == 0) {
        for (unsigned w = 0; w < simulation->workers; w++)
            flat_push(&run, 0, w, FLAT_BEGINS);
        while (run.count > 0) {
            const struct flat_event event = flat_pop(&run);
            handle(&run, &event);
        }
        status = say(&run, version);
    }
    fini(&run);
    return status;
}
