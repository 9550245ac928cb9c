/* SPDX-License-Identifier: MIT */
/* Random runs of workers alone (DCA), each made from one number: the machines of common/dca share counters and the
 * queues of nodes in memory, and at each moment any of them may come next.
 *
 *   seeds-dca FIRST COUNT    runs so many of them, TAP on standard output
 *   seeds-dca kept FILE      runs those that the file lists, one a line: each of them failed once
 *   seeds-dca SEED           runs one and prints each event with its action
 *
 * An access happens at one random moment and its answer comes at another one, other workers' accesses in between; who
 * waits for a refill may be told too early; what is read of the others' measurements may be torn; any worker may stop
 * the run at any moment. With recall in three of four by node, where a worker may look after each iteration.
 * The oracle: no iteration is computed twice; all are computed where nobody has stopped the run, and where somebody has
 * nobody draws after that; each node has one refiller at most; every worker comes to its end. With recall a worker that
 * looks while others are hungry, and has not begun all of its chunk, gives up some of it or another one is doing so,
 * and nobody ends while an iteration of the node has not begun. */
#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/dca/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 12, NODES_MAX = 4, STEPS_MAX = 400000 };

/* What is under way for a worker. */
enum pending {
    NOTHING,
    ACCESS,
    ANSWER,
    QUEUE,
    PUBLISHING,
    WAITING,
    HUNGRY,
    COMPUTING,
    CLAIMING,
    CUTTING,
    GIVING,
    OVER
};

struct drawer {
    struct dca_machine machine;
    enum pending pending;
    struct dca_action action;
    uint64_t value; /* of the answer that is on its way */
    bool stops;     /* it is to stop the run, once */
    bool is_late;   /* its draw began at the counters when the run was stopped */
    uint64_t done;  /* iterations of its chunk */
};

struct world {
    struct random random;
    struct random cuts; /* of recall alone, so that what else a number says does not change */
    bool trace;
    char what[200];
    struct dca_core cores[WORKERS_MAX];
    unsigned core_count;
    uint64_t counters[DCA_COUNTERS];
    struct dca_measured measured[WORKERS_MAX];
    struct dca_queue queues[NODES_MAX];
    struct dca_view views[WORKERS_MAX];
    unsigned view_count;
    unsigned node_of[WORKERS_MAX];
    struct drawer drawers[WORKERS_MAX];
    unsigned workers, nodes;
    bool by_node, stopped, recall;
    struct random learners; /* of the technique that learns, likewise */
    bool is_long;           /* big chunks come into a queue in pieces */
    uint64_t iterations;
    struct ranges done;
    const char *wrong;
};

static struct {
    uint64_t chunks, refills, waits, stopped, exchanges, recalls, recalled, vain, by_way[3];
} tally;

static uint64_t between(struct world *world, uint64_t least, uint64_t most)
{
    return random_between(&world->random, least, most);
}

static void complain(struct world *world, const char *wrong)
{
    if (world->wrong == NULL)
        world->wrong = wrong;
}

/* --- what the number says --- */

static const char *const techniques[] = {"static", "ss",  "css:chunk=13", "gss",  "tss",  "fac2", "tfss", "fiss",
                                         "viss",   "rnd", "wf",           "dtss", "dfss", "dgss", "af",   "mfsc"};
static const char *const learners[] = {"af", "awf-b", "awf-c", "awf-d", "awf-e"}; /* in the place of af */
static const char *const inner_techniques[] = {"static", "ss", "css:chunk=3", "gss", "tss", "fac2", "rnd"};

#define PICK(world, list) (list)[between(world, 0, sizeof(list) / sizeof *(list)-1)]

static struct sched_spec spec_of(const char *text)
{
    struct sched_spec spec;
    struct error error;
    if (sched_spec_parse(&spec, text, &error) < 0) {
        fprintf(stderr, "seeds-dca: %s\n", error.text);
        exit(EXIT_FAILURE);
    }
    return spec;
}

static void place_workers(struct world *world)
{
    world->workers = (unsigned)between(world, 1, WORKERS_MAX);
    world->nodes = (unsigned)between(world, 1, world->workers < NODES_MAX ? world->workers : NODES_MAX);
    world->by_node = between(world, 0, 2) == 0;
    world->is_long = world->by_node && between(world, 0, 15) == 0;
    for (unsigned w = 0; w < world->workers; w++)
        world->node_of[w] = w < world->nodes ? w : (unsigned)between(world, 0, world->nodes - 1);
    for (unsigned w = 0; w < world->workers; w++)
        world->drawers[w].stops = between(world, 0, 31) == 0;
}

/* A view for each worker, as it has it in its own process. */
static int make_views(struct world *world, struct error *error)
{
    unsigned count[NODES_MAX] = {0};
    const char *name = world->is_long ? "static" : PICK(world, inner_techniques);
    const struct sched_spec spec = spec_of(name);
    for (unsigned w = 0; w < world->workers; w++)
        count[world->node_of[w]]++;
    for (; world->view_count < world->workers; world->view_count++)
        if (dca_view_init(&world->views[world->view_count], &spec, count[world->node_of[world->view_count]], error) < 0)
            return -1;
    return 0;
}

/* A core for each worker, as in processes of their own, or one for all, as where they are simulated. */
static int make_machines(struct world *world, struct error *error)
{
    const char *name = world->is_long ? "css:chunk=2^42" : PICK(world, techniques);
    const char *learner = learners[random_between(&world->learners, 0, sizeof learners / sizeof *learners - 1)];
    const struct sched_spec spec = spec_of(strcmp(name, "af") != 0 ? name : world->by_node ? "fac2" : learner);
    const unsigned drawers = world->by_node ? world->nodes : world->workers;
    enum sched_weighting weighting = (enum sched_weighting)between(world, 0, world->by_node ? 1 : 2);
    const bool shared = between(world, 0, 1), given = between(world, 0, 3) > 0 || weighting == SCHED_WEIGHTING_POWER;
    double powers[WORKERS_MAX];
    for (unsigned w = 0; w < WORKERS_MAX; w++)
        powers[w] = 0.05 + 4 * random_uniform(&world->random);
    world->iterations = world->is_long              ? between(world, 0, UINT64_C(1) << 45)
                        : between(world, 0, 9) == 0 ? between(world, 0, 3)
                                                    : between(world, 0, 3000);
    const struct dca_config config = {.technique = &spec,
                                      .sched = {.iterations = world->iterations,
                                                .workers = drawers,
                                                .powers = given ? powers : NULL,
                                                .min_chunk = between(world, 0, 3) * between(world, 0, 10),
                                                .weighting = weighting,
                                                .loads = true},
                                      .two_counters = between(world, 0, 2) == 0};
    snprintf(world->what, sizeof world->what, "%s, %u workers on %u nodes, %s, %" PRIu64 " iterations",
             spec.technique->name, world->workers, world->nodes, world->by_node ? "queues" : "counters",
             world->iterations);
    for (unsigned w = 0; w < world->workers; w++) {
        const unsigned drawer = world->by_node ? world->node_of[w] : w;
        if (w == 0 || !shared) {
            if (dca_init(&world->cores[w], &config, error) < 0)
                return -1;
            world->core_count++;
        }
        dca_machine_init(&world->drawers[w].machine, &world->cores[shared ? 0 : w], drawer, given ? powers[drawer] : 1,
                         world->by_node);
        dca_machine_set_load(&world->drawers[w].machine, (double)between(world, 1, 3));
    }
    tally.by_way[world->cores[0].way]++;
    return 0;
}

static void world_init(struct world *world, uint64_t seed, bool trace)
{
    struct error error;
    memset(world, 0, sizeof *world);
    random_init(&world->random, seed);
    random_init(&world->cuts, ~seed);
    random_init(&world->learners, ~seed * UINT64_C(0x9e3779b97f4a7c15));
    ranges_init(&world->done);
    world->trace = trace;
    place_workers(world);
    world->recall = world->by_node && random_between(&world->cuts, 0, 3) > 0;
    if (make_machines(world, &error) < 0 || (world->by_node && make_views(world, &error) < 0)) {
        printf("# %s\n", error.text);
        complain(world, "it could not be set up");
    }
}

static void world_fini(struct world *world)
{
    for (unsigned i = 0; i < world->core_count; i++)
        dca_fini(&world->cores[i]);
    for (unsigned i = 0; i < world->view_count; i++)
        dca_view_fini(&world->views[i]);
    ranges_fini(&world->done);
}

/* --- events and actions --- */

/* At most one worker of a node is between REFILL and PUBLISHED. */
static void check_refillers(struct world *world)
{
    unsigned refillers[NODES_MAX] = {0};
    for (unsigned w = 0; w < world->workers; w++) {
        const enum dca_state state = world->drawers[w].machine.state;
        if (state == DCA_FETCHING || state == DCA_TAKING || state == DCA_PUBLISHING || state == DCA_CUTTING ||
            world->drawers[w].pending == GIVING)
            if (++refillers[world->node_of[w]] > 1)
                complain(world, "two workers refill one queue");
    }
}

/* A worker of the node ends. */
static void check_nothing_waits(struct world *world, unsigned ends)
{
    for (unsigned w = 0; w < world->workers; w++) {
        const struct drawer *drawer = &world->drawers[w];
        const bool computes = drawer->pending >= COMPUTING && drawer->pending <= GIVING;
        if (w != ends && world->node_of[w] == world->node_of[ends] && computes &&
            drawer->machine.chunk.count - drawer->done > 1)
            complain(world, "a worker ends while an iteration of its node has not begun");
    }
}

static void add_to_counter(struct world *world, unsigned counter, uint64_t amount)
{
    if (amount > UINT64_MAX - world->counters[counter])
        complain(world, "a counter overflows");
    world->counters[counter] += amount;
}

/* The machine's step, and what is under way behind it. */
static void give(struct world *world, unsigned w, const struct dca_event *event)
{
    static const enum pending behind[] = {
        [DCA_ACTION_NONE] = NOTHING,      [DCA_ACTION_FETCH_ADD] = ACCESS,   [DCA_ACTION_EXCHANGE] = ACCESS,
        [DCA_ACTION_DRAW] = QUEUE,        [DCA_ACTION_PUBLISH] = PUBLISHING, [DCA_ACTION_AWAIT] = WAITING,
        [DCA_ACTION_COMPUTE] = COMPUTING, [DCA_ACTION_STOP] = NOTHING,       [DCA_ACTION_END] = OVER,
        [DCA_ACTION_STARVE] = HUNGRY,     [DCA_ACTION_CLAIM] = CLAIMING,     [DCA_ACTION_CUT] = CUTTING,
        [DCA_ACTION_GIVE] = GIVING};
    struct drawer *drawer = &world->drawers[w];
    const enum dca_state before = drawer->machine.state;
    const struct dca_action action = dca_machine_step(&drawer->machine, event);
    const char *wrong = dca_machine_check(&drawer->machine);
    if (world->trace)
        printf("worker %2u: %-10s event %u, action %u, counter %u, [%" PRIu64 ", +%" PRIu64 ") -> %s\n", w,
               dca_state_name(before), event->type, action.type, action.counter, action.range.first,
               action.type >= DCA_ACTION_PUBLISH && action.type <= DCA_ACTION_COMPUTE ? action.range.count : 0,
               dca_state_name(drawer->machine.state));
    if (wrong != NULL)
        complain(world, wrong);
    if (world->by_node)
        check_refillers(world);
    if (action.type == DCA_ACTION_STOP) {
        world->stopped = true;
        tally.stopped++;
        for (unsigned n = 0; n < world->nodes && world->by_node;
             n++) /* of the other nodes as they look at the counter */
            if (n == world->node_of[w] || between(world, 0, 1))
                dca_queue_stop(&world->queues[n]);
        for (unsigned counter = 0; counter < DCA_COUNTERS; counter++)
            if ((action.counters & 1u << counter) != 0)
                add_to_counter(world, counter, action.amount);
        return;
    }
    if (action.type == DCA_ACTION_COMPUTE && drawer->is_late && !world->by_node)
        complain(world, "a chunk is drawn behind a stop");
    if (action.type == DCA_ACTION_END && world->recall && !world->queues[world->node_of[w]].stopped)
        check_nothing_waits(world, w);
    if (action.type == DCA_ACTION_COMPUTE)
        drawer->done = 0;
    drawer->action = action;
    drawer->pending = before == DCA_CLAIMING && action.type == DCA_ACTION_NONE ? COMPUTING : behind[action.type];
}

/* All records as they are now, one of them perhaps half old, half new. */
static void read_measured(struct world *world, struct drawer *drawer)
{
    struct dca_measured *fresh = drawer->machine.core->fresh;
    unsigned torn = (unsigned)between(world, 0, 4 * WORKERS_MAX);
    memcpy(fresh, world->measured, world->workers * sizeof *fresh);
    if (torn < world->workers && torn != drawer->machine.worker)
        fresh[torn].iterations += 1000;
}

static void access(struct world *world, unsigned w)
{
    struct drawer *drawer = &world->drawers[w];
    drawer->pending = ANSWER;
    if (drawer->action.type == DCA_ACTION_EXCHANGE) {
        world->measured[w] = drawer->machine.own;
        return;
    }
    if (drawer->machine.state == DCA_FETCHING)
        drawer->is_late = world->stopped;
    drawer->value = world->counters[drawer->action.counter];
    add_to_counter(world, drawer->action.counter, drawer->action.amount);
}

static void answer(struct world *world, unsigned w)
{
    struct drawer *drawer = &world->drawers[w];
    struct dca_event event = {.type = DCA_EVENT_FETCHED, .value = drawer->value};
    if (drawer->action.type == DCA_ACTION_EXCHANGE) {
        event.type = DCA_EVENT_EXCHANGED;
        read_measured(world, drawer);
        tally.exchanges++;
    }
    give(world, w, &event);
}

static void draw(struct world *world, unsigned w)
{
    struct dca_queue *queue = &world->queues[world->node_of[w]];
    struct dca_event event = {.type = DCA_EVENT_DREW};
    struct error error;
    event.drawn.result = dca_queue_draw(queue, &world->views[w], &event.drawn.range, &error);
    if (event.drawn.result == DCA_REFILL)
        dca_queue_take_rest(queue, &event.drawn.range);
    if (event.drawn.result == DCA_BROKEN)
        complain(world, "a view is broken");
    tally.waits += event.drawn.result == DCA_WAIT;
    give(world, w, &event);
}

static void publish(struct world *world, unsigned w)
{
    struct dca_queue *queue = &world->queues[world->node_of[w]];
    const struct range big = world->drawers[w].action.range;
    if (big.count > 0) {
        tally.refills++;
        dca_queue_refill(queue, &big);
    } else {
        dca_queue_end(queue, world->recall);
    }
    give(world, w, &(struct dca_event){.type = DCA_EVENT_PUBLISHED});
}

/* Computes some iterations of the chunk. */
static void compute_some(struct world *world, struct drawer *drawer, uint64_t count)
{
    uint64_t added = 0;
    if (ranges_add(&world->done, drawer->machine.chunk.first + drawer->done, count, &added) < 0 || added != count)
        complain(world, "an iteration is computed twice");
    drawer->done += count;
}

/* The worker computes on. Between two iterations it looks whether somebody is hungry. */
static void compute(struct world *world, unsigned w)
{
    struct drawer *drawer = &world->drawers[w];
    const struct dca_queue *queue = &world->queues[world->node_of[w]];
    const uint64_t left = drawer->machine.chunk.count - drawer->done;
    uint64_t some = left;
    if (world->recall)
        some = random_between(&world->cuts, 0, left > 2 && random_between(&world->cuts, 0, 1) == 0 ? 2 : left);
    if (some > 0)
        compute_some(world, drawer, some);
    if (some < left) {
        if (dca_queue_is_wanted(queue))
            give(world, w, &(struct dca_event){.type = DCA_EVENT_WANTED});
        return;
    }
    const uint64_t count = drawer->machine.chunk.count;
    tally.chunks++;
    dca_machine_measure(&drawer->machine, count, count * (100 + 50 * w), 20, 10, 8);
    give(world, w, &(struct dca_event){.type = DCA_EVENT_FINISHED});
}

static void claim(struct world *world, unsigned w)
{
    struct dca_queue *queue = &world->queues[world->node_of[w]];
    const bool waits = dca_queue_is_drained(queue) && dca_queue_is_wanted(queue);
    const bool claimed = dca_queue_claim(queue);
    if (claimed != waits)
        complain(world, "others are hungry, and a worker that could give does not");
    give(world, w, &(struct dca_event){.type = DCA_EVENT_CLAIMED, .claimed = claimed});
}

/* At least one iteration has begun, and of the others any number goes, none of them only if there are none. */
static void cut(struct world *world, unsigned w)
{
    const struct drawer *drawer = &world->drawers[w];
    const struct range *chunk = &drawer->machine.chunk;
    const uint64_t unbegun = chunk->count - (drawer->done > 0 ? drawer->done : 1);
    const uint64_t given = unbegun > 0 ? random_between(&world->cuts, 1, unbegun) : 0;
    give(world, w, &(struct dca_event){.type = DCA_EVENT_CUT, .cut = {chunk->first + chunk->count - given, given}});
}

static void give_up(struct world *world, unsigned w)
{
    struct drawer *drawer = &world->drawers[w];
    tally.recalls += drawer->action.range.count > 0;
    tally.recalled += drawer->action.range.count;
    tally.vain += drawer->action.range.count == 0;
    dca_queue_give(&world->queues[world->node_of[w]], &drawer->action.range);
    drawer->pending = COMPUTING;
}

/* The worker looks again, perhaps for nothing. */
static void look_again(struct world *world, unsigned w)
{
    if (world->drawers[w].pending == HUNGRY)
        dca_queue_wake(&world->queues[world->node_of[w]]);
    give(world, w, &(struct dca_event){.type = DCA_EVENT_REFILLED});
}

/* What is under way for the worker happens. */
static void happen(struct world *world, unsigned w)
{
    struct drawer *drawer = &world->drawers[w];
    if (drawer->stops && between(world, 0, 15) == 0) {
        drawer->stops = false;
        give(world, w, &(struct dca_event){.type = DCA_EVENT_STOP});
        return;
    }
    switch (drawer->pending) {
    case NOTHING: give(world, w, &(struct dca_event){.type = DCA_EVENT_START}); break;
    case ACCESS: access(world, w); break;
    case ANSWER: answer(world, w); break;
    case QUEUE: draw(world, w); break;
    case PUBLISHING: publish(world, w); break;
    case WAITING:
    case HUNGRY: look_again(world, w); break;
    case COMPUTING: compute(world, w); break;
    case CLAIMING: claim(world, w); break;
    case CUTTING: cut(world, w); break;
    case GIVING: give_up(world, w); break;
    case OVER: break;
    }
}

/* --- a run --- */

static bool is_over(const struct world *world)
{
    for (unsigned w = 0; w < world->workers; w++)
        if (world->drawers[w].pending != OVER)
            return false;
    return true;
}

/* Some workers are quick and some slow, and change that now and then. */
static unsigned next_worker(struct world *world, unsigned favourite)
{
    return between(world, 0, 2) > 0 ? favourite : (unsigned)between(world, 0, world->workers - 1);
}

static const char *run(uint64_t seed, bool trace)
{
    static struct world world;
    world_init(&world, seed, trace);
    unsigned steps = 0, favourite = 0;
    while (world.wrong == NULL && !is_over(&world)) {
        if (between(&world, 0, 7) == 0)
            favourite = (unsigned)between(&world, 0, world.workers - 1);
        happen(&world, next_worker(&world, favourite));
        if (++steps == STEPS_MAX)
            complain(&world, "it does not come to its end");
    }
    const uint64_t done = ranges_total(&world.done);
    if (world.wrong == NULL && !world.stopped && done < world.iterations)
        complain(&world, "iterations are lost");
    if (world.wrong == NULL && done > world.iterations)
        complain(&world, "there are more iterations than in the loop");
    if (trace || world.wrong != NULL)
        printf("# %s: %" PRIu64 " done%s\n", world.what, done, world.stopped ? ", stopped" : "");
    const char *wrong = world.wrong;
    world_fini(&world);
    return wrong;
}

/* Runs one of many: says so where it fails. */
static bool run_quietly(uint64_t seed)
{
    const char *wrong = run(seed, false);
    if (wrong != NULL)
        printf("# seed %" PRIu64 ": %s\n", seed, wrong);
    return wrong == NULL;
}

static int finish(uint64_t failed, uint64_t count)
{
    printf("%sok 1 - %" PRIu64 " of %" PRIu64 " seeds failed\n1..1\n", failed > 0 ? "not " : "", failed, count);
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_many(uint64_t first, uint64_t count)
{
    uint64_t failed = 0;
    for (uint64_t seed = first; seed < first + count; seed++)
        failed += !run_quietly(seed);
    printf("# %" PRIu64 " chunks, %" PRIu64 " refills, %" PRIu64 " waits for one, %" PRIu64 " stops, %" PRIu64
           " exchanges, %" PRIu64 " recalls of %" PRIu64 " iterations and %" PRIu64 " of none; by place %" PRIu64
           ", by step %" PRIu64 ", by rest %" PRIu64 "\n",
           tally.chunks, tally.refills, tally.waits, tally.stopped, tally.exchanges, tally.recalls, tally.recalled,
           tally.vain, tally.by_way[DCA_BY_POSITION], tally.by_way[DCA_BY_STEP], tally.by_way[DCA_BY_REMAINING]);
    return finish(failed, count);
}

static int run_kept(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t seed, failed = 0, count = 0;
    char line[200];
    if (file == NULL) {
        fprintf(stderr, "seeds-dca: cannot read %s\n", path);
        return EXIT_FAILURE;
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%" SCNu64, &seed) == 1) {
            count++;
            failed += !run_quietly(seed);
        }
    fclose(file);
    return finish(failed, count);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "kept") == 0)
        return run_kept(argv[2]);
    if (argc == 3)
        return run_many(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    if (argc == 2) {
        const char *wrong = run(strtoull(argv[1], NULL, 10), true);
        printf("seed %s: %s\n", argv[1], wrong != NULL ? wrong : "all as it should be");
        return wrong != NULL ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    fprintf(stderr, "usage: seeds-dca FIRST COUNT | kept FILE | SEED\n");
    return EXIT_FAILURE;
}
