/* A simulated run of workers alone that draw their chunks by one-sided operations (DCA, --dca rma), for techniques
 * whose steps alone say where the chunks lie: one fetch-and-add for each chunk.
 *
 * Model: the counter is at rank 0. An operation is a message's way there and back, and the counter does one after the
 * other, each in ATOMIC_NS; no core is busy with it. Who has drawn computes the chunk, and then draws again. */
#include "common/flat/core.h"
#include "common/runtime/simulate/say.h"
#include "common/runtime/simulate/simulation.h"

#include <stdlib.h>

/* MPI_Fetch_and_op on an allocated window, within a node of an AMD EPYC: what the counter takes for one. */
#define ATOMIC_NS 93

/* When a worker's next operation reaches the counter. */
struct draw {
    double at_ns;
    unsigned worker;
};

struct flat_run {
    const struct simulation *simulation;
    struct flat_core core;
    struct draw *heap; /* [count] the earliest first, then the lowest worker; owned */
    unsigned count;
    struct report_worker *rows; /* [workers] owned */
    double *way_ns;             /* [workers] to the counter; owned */
    double free_ns;             /* when the counter is free */
    double end_ns;
    uint64_t step, chunks;
};

static bool comes_before(const struct draw *a, const struct draw *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->worker < b->worker;
}

/* What stands first may be too late for that. */
static void sift_down(struct flat_run *run)
{
    const struct draw draw = run->heap[0];
    unsigned i = 0;
    for (unsigned child; (child = 2 * i + 1) < run->count; i = child) {
        child += child + 1 < run->count && comes_before(&run->heap[child + 1], &run->heap[child]);
        if (!comes_before(&run->heap[child], &draw))
            break;
        run->heap[i] = run->heap[child];
    }
    run->heap[i] = draw;
}

/* --dca two-sided and node are not there, and nothing but one counter is. */
static int check(const struct simulation *simulation, const struct flat_core *core, struct error *error)
{
    if (simulation->event_count > 0)
        return error_set(error, "--slow-nodes and --fail-nodes are for launches with a supermaster, not for --dca");
    if (core->way != FLAT_BY_PLACE || flat_learns(core))
        return error_set(error,
                         "--dca rma: chunks of %s need more than one counter (%s), which is not simulated; accepted: "
                         "a technique with a closed form, unweighted",
                         simulation->plan.job.technique.technique->name, flat_way_name(core->way));
    return 0;
}

static int init(struct flat_run *run, const struct simulation *simulation, struct error *error)
{
    const struct job *job = &simulation->plan.job;
    const struct flat_config config = {
        .technique = &job->technique,
        .sched = {.iterations = simulation->plan.count,
                  .workers = simulation->workers,
                  .min_chunk = job->min_chunk,
                  .weighting = job->weighting},
    };
    *run = (struct flat_run){.simulation = simulation};
    if (flat_init(&run->core, &config, error) < 0)
        return -1;
    run->heap = calloc(simulation->workers, sizeof *run->heap);
    run->rows = calloc(simulation->workers, sizeof *run->rows);
    run->way_ns = calloc(simulation->workers, sizeof *run->way_ns);
    if (run->heap == NULL || run->rows == NULL || run->way_ns == NULL)
        return error_set(error, "out of memory for %u workers", simulation->workers);
    return check(simulation, &run->core, error);
}

static void fini(struct flat_run *run)
{
    flat_fini(&run->core);
    free(run->heap);
    free(run->rows);
    free(run->way_ns);
}

/* All draw at the same moment. */
static void begin(struct flat_run *run)
{
    const struct placement *placement = &run->simulation->placement;
    for (unsigned w = 0; w < run->simulation->workers; w++) {
        const struct platform_link *link =
            platform_link_between(&run->simulation->platform, placement->platform_node[placement->node_of[0]],
                                  placement->platform_node[placement->node_of[w]]);
        run->way_ns[w] = w == 0 ? 0 : link->latency_ns;
        run->rows[w] = (struct report_worker){.rank = w, .node = placement->node_of[w], .power = 1};
    }
    /* in the order in which they arrive: a heap, as sorted as it must be */
    for (unsigned w = 0; w < run->simulation->workers; w++) {
        unsigned i = run->count++;
        const struct draw draw = {run->way_ns[w], w};
        for (; i > 0 && comes_before(&draw, &run->heap[(i - 1) / 2]); i = (i - 1) / 2)
            run->heap[i] = run->heap[(i - 1) / 2];
        run->heap[i] = draw;
    }
}

/* The earliest draws: computes and comes again, or leaves. */
static void draw_next(struct flat_run *run)
{
    const struct simulation *simulation = run->simulation;
    const unsigned w = run->heap[0].worker;
    struct report_worker *row = &run->rows[w];
    struct range chunk;
    run->free_ns = (run->heap[0].at_ns > run->free_ns ? run->heap[0].at_ns : run->free_ns) + ATOMIC_NS;
    if (!flat_draw_step(&run->core, run->step, &chunk)) {
        run->heap[0] = run->heap[--run->count];
        if (run->count > 0)
            sift_down(run);
        return;
    }
    run->step++;
    run->chunks++;
    double compute_ns = simulation_cost_ns(simulation, simulation->plan.first + chunk.first, chunk.count) /
                        simulation->worker_speeds[w];
    double done_ns = run->free_ns + run->way_ns[w] + (double)simulation->plan.job.calculation_ns + compute_ns;
    row->iterations += chunk.count;
    row->chunks++;
    row->compute_s += compute_ns / 1e9;
    row->finish_s = done_ns / 1e9;
    run->end_ns = done_ns > run->end_ns ? done_ns : run->end_ns;
    run->heap[0].at_ns = done_ns + run->way_ns[w];
    sift_down(run);
}

static int say(struct flat_run *run, const char *version)
{
    const struct simulation *simulation = run->simulation;
    struct report report = {
        .version = version,
        .topology = REPORT_DCA_RMA,
        .technique = simulation->plan.job.technique,
        .weighting = simulation->plan.job.weighting,
        .min_chunk = simulation->plan.job.min_chunk,
        .first = simulation->plan.first,
        .iterations = simulation->plan.count,
        .done = simulation->plan.count,
        .workers = simulation->workers,
        .nodes = simulation->placement.nodes,
        .elapsed_s = run->end_ns / 1e9,
        .chunks = run->chunks,
        .worker_stats = run->rows,
    };
    for (unsigned w = 0; w < simulation->workers; w++)
        run->rows[w].wait_s = report.elapsed_s - run->rows[w].compute_s;
    return simulation_say(simulation, &report, EXIT_STATUS_DONE);
}

int simulation_run_flat(struct simulation *simulation, const char *version, struct error *error)
{
    struct flat_run run;
    int status = init(&run, simulation, error);
    if (status == 0) {
        begin(&run);
        while (run.count > 0)
            draw_next(&run);
        status = say(&run, version);
    }
    fini(&run);
    return status;
}
