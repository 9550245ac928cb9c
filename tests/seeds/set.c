/* SPDX-License-Identifier: MIT */
/* Random lives of a set in virtual time, each made from one number: jobs come with priorities, weights and others that
 * they are after, share ranks, and are cancelled; ranks are lost, the set is stopped, its supermaster is lost at any
 * moment, and a later set goes on from what the queue's journal and the jobs' own have by then.
 *
 * The oracle: that of runs of one job (oracle.h) for each run of each job. Each iteration is recorded once over all
 * runs; a job that is done has all of them, one that was cancelled was to be, or is after one that is not done, one
 * that failed had a reason; in the end all jobs are over and no rank is in one. And of those that share a worker, while
 * none of higher priority has a chunk there, each has its turn within a bound, and no two are further apart than a turn
 * over their weights (ranks.h).
 *
 * Numbers from STREAMS on are of jobs that come and are over within a turn, one behind the other, beside a long one. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/set.h"
#include "supermaster/queue.h"
#include "supermaster/set/queue_format.h"
#include "supermaster/supermaster.h"
#include "tests/seeds/chain.h"
#include "tests/seeds/oracle.h"
#include "tests/seeds/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 40, JOBS_USUAL = 20, AFTER_MAX = 3, MASTERS_MAX = 3, WORKERS_MAX = 8, LOSSES_MAX = 6, SETS_MAX = 4 };

#define LIMIT_NS     UINT64_C(100000000000000)
#define LIMIT_EVENTS UINT64_C(5000000)

#define STREAMS UINT64_C(1000000000)

/* A job, and what its runs have recorded. */
struct life {
    struct chain chain;
    uint64_t seed;
    uint32_t after[AFTER_MAX];
    uint64_t bad;                       /* iteration that does not work: UINT64_MAX: all do */
    bool kills;                         /* it ends the worker */
    bool has_run, all_done, has_failed; /* has_failed: as the oracle of runs allows it */
    const char *name;                   /* in the trace */
    char name_text[16];
};

struct world {
    struct random random;
    bool trace, is_stream;
    const char *wrong;
    struct virtual_set_config config;
    struct virtual_config machine; /* what the configurations of all jobs have in common */
    double speeds[WORKERS_MAX];
    struct virtual_job jobs[JOBS_MAX];
    struct life lives[JOBS_MAX];
    struct virtual_loss losses[LOSSES_MAX];
    /* the queue's journal */
    struct queue_notes notes;
    unsigned char *file; /* what is on disk; owned */
    size_t file_size;
    unsigned sets;
};

static struct {
    uint64_t jobs, runs, done, cancelled, failed, sets, lost, stopped, torn, lost_ranks, turns, put_off;
} tally;

static uint64_t between(struct world *world, uint64_t low, uint64_t high)
{
    return random_between(&world->random, low, high);
}

static bool one_in(struct world *world, unsigned count)
{
    return between(world, 1, count) == 1;
}

static void complain(struct world *world, const char *wrong)
{
    if (world->wrong == NULL)
        world->wrong = wrong;
}

/* --- what the number says --- */

static double cost_of(void *context, uint64_t iteration)
{
    const struct life *life = context;
    return 200 + (double)(random_at(life->seed, iteration) % 5000);
}

static enum virtual_outcome outcome_of(void *context, unsigned rank, uint64_t iteration)
{
    const struct life *life = context;
    (void)rank;
    return iteration != life->bad ? VIRTUAL_WORKS : life->kills ? VIRTUAL_CRASHES : VIRTUAL_FAILS;
}

static void make_machine(struct world *world)
{
    struct virtual_set_config *set = &world->config;
    struct virtual_config *machine = &world->machine;
    double slowest = 10;
    set->masters = one_in(world, 2) ? 0 : (unsigned)between(world, 1, MASTERS_MAX);
    set->workers = (unsigned)between(world, 1, WORKERS_MAX);
    set->at_once = one_in(world, 3) ? (unsigned)between(world, 1, 3) : QUEUE_AT_ONCE;
    set->turn_ns = between(world, 1, 1u << between(world, 6, 16));
    for (unsigned w = 0; w < set->workers; w++) {
        world->speeds[w] = 0.2 + 3 * random_uniform(&world->random);
        slowest = world->speeds[w] < slowest ? world->speeds[w] : slowest;
    }
    machine->nodes = (unsigned)between(world, 1, 3);
    machine->speeds = world->speeds;
    machine->latency_ns = between(world, 0, 20000);
    machine->remote_latency_ns = between(world, 0, 50000);
    machine->service_ns = one_in(world, 2) ? between(world, 0, 1000) : 0;
    machine->collect_ns = one_in(world, 2) ? between(world, 0, 100000) : 0;
    machine->detect_ns = between(world, 0, 200000);
    machine->watch_all = one_in(world, 2);
    machine->cuts_at_once = one_in(world, 2);
    machine->fault_seed = random_next(&world->random);
    machine->order_seed = one_in(world, 2) ? random_next(&world->random) : 0;
    machine->jitter_ns = one_in(world, 3) ? between(world, 0, 30000) : 0;
    machine->limit_events = LIMIT_EVENTS;
    /* a rank that is busy with events lets the end of a chunk wait */
    set->iteration_ns = (uint64_t)(5200 / slowest) + 1 + 100 * machine->service_ns;
    set->limit_ns = LIMIT_NS;
    set->checks = true;
}

static void make_run(struct world *world, struct virtual_config *config, struct life *life)
{
    static const char *const techniques[] = {"static", "ss",    "css:chunk=7", "gss",  "tss",  "fac",  "fac2", "awf-b",
                                             "awf-c",  "awf-e", "af",          "dtss", "dfss", "dgss", "tap",  "pls"};
    *config = world->machine;
    config->technique = techniques[between(world, 0, sizeof techniques / sizeof *techniques - 1)];
    config->spec.min_chunk = one_in(world, 2) ? between(world, 0, 10) : 0;
    config->spec.power = one_in(world, 2) ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
    config->spec.group_by = one_in(world, 2) ? RUN_GROUP_BY_EVEN : RUN_GROUP_BY_NODE;
    config->spec.ask_ahead = (enum ask_ahead)between(world, 0, 2);
    config->spec.ask_ahead_chunks = (unsigned)between(world, 1, ASKS_MAX);
    config->spec.recall = one_in(world, 4) ? RUN_RECALL_OFF : RUN_RECALL_ON;
    config->first = one_in(world, 4) ? 1000 : 0;
    config->count = between(world, 0, 1u << between(world, 2, 8));
    config->collect = one_in(world, 2);
    config->journal = !one_in(world, 4);
    config->sync = config->journal && one_in(world, 2);
    config->slice_iterations = one_in(world, 3) ? between(world, 1, 30) : 0;
    config->cost_ns = cost_of;
    config->context = life;
    life->seed = random_next(&world->random);
    life->bad = UINT64_MAX;
    if (config->count > 0 && one_in(world, 16)) {
        life->bad = config->first + between(world, 0, config->count - 1);
        life->kills = one_in(world, 2);
        config->outcome = outcome_of;
    }
}

static void make_jobs(struct world *world)
{
    struct virtual_set_config *set = &world->config;
    const uint64_t spread_ns = one_in(world, 3) ? 0 : between(world, 0, 1u << between(world, 8, 19));
    set->job_count = (unsigned)between(world, 1, one_in(world, 4) ? JOBS_USUAL : 6);
    uint64_t at_ns = 0;
    for (unsigned i = 0; i < set->job_count; i++) {
        struct virtual_job *job = &world->jobs[i];
        struct life *life = &world->lives[i];
        at_ns += between(world, 0, spread_ns);
        *job = (struct virtual_job){.at_ns = at_ns,
                                    .cancel_at_ns = NEVER,
                                    .priority = one_in(world, 3) ? (int)between(world, 0, 2) - 1 : 0,
                                    .weight = one_in(world, 2) ? 1 : (unsigned)between(world, 1, 7),
                                    .after = life->after,
                                    .began_ns = NEVER,
                                    .ended_ns = NEVER};
        while (i > 0 && job->after_count < AFTER_MAX && one_in(world, 6))
            life->after[job->after_count++] = (uint32_t)between(world, 1, i);
        if (one_in(world, 6))
            job->cancel_at_ns = at_ns + between(world, 0, 1u << between(world, 8, 22));
        make_run(world, &job->config, life);
    }
    set->jobs = world->jobs;
}

/* Many jobs of an iteration come beside a long one, to a worker that has always one of them to compute. */
static void make_stream(struct world *world)
{
    struct virtual_set_config *set = &world->config;
    set->workers = 1;
    set->masters = 0;
    set->at_once = (unsigned)between(world, 3, 5);
    set->turn_ns = 1;
    set->job_count = (unsigned)between(world, 20, JOBS_MAX);
    set->iteration_ns = (uint64_t)(5200 / world->speeds[0]) + 1;
    world->machine.latency_ns = between(world, 0, 100);
    world->machine.service_ns = world->machine.jitter_ns = world->machine.collect_ns = 0;
    for (unsigned i = 0; i < set->job_count; i++) {
        struct virtual_job *job = &world->jobs[i];
        struct life *life = &world->lives[i];
        *job = (struct virtual_job){
            .cancel_at_ns = NEVER, .weight = 1, .after = life->after, .began_ns = NEVER, .ended_ns = NEVER};
        make_run(world, &job->config, life);
        job->config.technique = "ss";
        job->config.spec.min_chunk = 0;
        job->config.spec.power = RUN_POWER_EQUAL;
        job->config.count = i == 0 ? 100 : 1;
        job->config.outcome = NULL;
        life->bad = UINT64_MAX;
    }
}

/* About how long all jobs take. */
static uint64_t duration_ns(const struct world *world)
{
    const struct virtual_set_config *set = &world->config;
    double cost = 0, speed = 0;
    for (unsigned i = 0; i < set->job_count; i++)
        cost += 2700 * (double)world->jobs[i].config.count;
    for (unsigned w = 0; w < set->workers; w++)
        speed += world->speeds[w];
    return set->jobs[set->job_count - 1].at_ns + (uint64_t)(cost / speed) + 40 * world->machine.latency_ns + 1000;
}

/* What goes wrong in a set: nothing in the last. */
static void make_losses(struct world *world, bool is_last)
{
    struct virtual_set_config *set = &world->config;
    const uint64_t duration = duration_ns(world);
    uint64_t at_ns = set->begins_ns;
    set->losses = world->losses;
    set->loss_count = 0;
    set->stop_at_ns = NEVER;
    if (is_last || world->is_stream)
        return;
    if (one_in(world, 8))
        set->stop_at_ns = at_ns + between(world, 0, duration);
    if (one_in(world, 2))
        return;
    const unsigned most = (unsigned)between(world, 1, 3);
    while (set->loss_count < most) {
        at_ns += between(world, 0, 2 * duration / most);
        const unsigned rank = (unsigned)between(world, one_in(world, 3) ? 0 : 1, set->masters + set->workers);
        world->losses[set->loss_count++] = (struct virtual_loss){at_ns, rank};
    }
}

/* --- the journal of the queue --- */

static void commit(struct world *world)
{
    world->file = realloc(world->file, world->file_size + world->notes.size + 1);
    if (world->file == NULL)
        abort();
    if (world->notes.size > 0)
        memcpy(world->file + world->file_size, world->notes.bytes, world->notes.size);
    world->file_size += world->notes.size;
    world->notes.size = 0;
}

static void note_change(void *context, enum set_change change, const struct queue_job *job)
{
    static const char *const names[] = {"is submitted", "begins", "is over", "is cancelled"};
    struct world *world = context;
    if (world->trace)
        printf("%12s job %" PRIu32 " %s%s, status %d\n", "", job->id, names[change],
               job->is_cancelled && change == SET_OVER ? ", and was cancelled" : "", job->status);
    switch (change) {
    case SET_SUBMITTED: queue_note_submitted(&world->notes, job); break;
    case SET_BEGUN: queue_note_begun(&world->notes, job); break;
    case SET_OVER: queue_note_over(&world->notes, job); break;
    case SET_CANCELLED: queue_note_cancelled(&world->notes, job); break;
    }
    if (!one_in(world, 4))
        commit(world);
}

/* The queue as the next set finds it: a part of what was not committed is torn off. */
static void reopen(struct world *world, struct queue *queue, bool is_torn)
{
    struct error error;
    struct queue_damage damage;
    if (is_torn && world->notes.size > 0) {
        world->notes.size = between(world, 0, world->notes.size);
        tally.torn++;
    }
    commit(world);
    queue_init(queue, world->config.at_once);
    if (queue_replay(queue, world->file, world->file_size, &damage, &error) < 0) {
        complain(world, "the queue's journal cannot be read");
        return;
    }
    queue_restart(queue, false, 0);
    queue->newest = queue->last != NULL ? queue->last->id : 0; /* the numbers of a torn record are given here */
    for (const struct queue_job *job = queue->first; job != NULL; job = job->next)
        world->jobs[job->id - 1].state = job->state;
    queue_note_all(&world->notes, queue);
    world->file_size = 0; /* written anew */
    commit(world);
}

/* --- the oracle --- */

static void judge_run(void *context, unsigned number, const struct virtual_config *config,
                      const struct virtual_result *result)
{
    struct world *world = context;
    const struct virtual_job *job = &world->jobs[number];
    struct life *life = &world->lives[number];
    struct virtual_config judged = *config;
    const bool may_drain = job->cancel_at_ns != NEVER || world->config.stop_at_ns != NEVER;
    judged.drain_at_ns = may_drain ? 1 : 0;
    const char *wrong = oracle_check(&judged, result);
    if (world->trace)
        printf("%12s job %u: status %d, %" PRIu64 " of %" PRIu64 " iterations%s%s%s%s\n", "", number + 1,
               result->status, result->supermaster->ledger.done, config->count, wrong != NULL ? ", WRONG: " : "",
               wrong != NULL ? wrong : "", result->supermaster->failure.text[0] != '\0' ? ": " : "",
               result->supermaster->failure.text);
    tally.runs++;
    if (wrong == NULL)
        wrong = chain_take_over(&life->chain, result);
    if (wrong != NULL)
        complain(world, wrong);
    life->has_run = true;
    life->all_done = result->supermaster->ledger.done == config->count;
    life->has_failed |= wrong == NULL && (result->status == EXIT_STATUS_FAILED || result->status == EXIT_STATUS_TASKS);
}

static bool one_before_is_not_done(const struct world *world, const struct virtual_job *job)
{
    for (unsigned i = 0; i < job->after_count; i++)
        if (world->jobs[job->after[i] - 1].state != QUEUE_DONE)
            return true;
    return false;
}

/* All sets are over. */
static void judge_job(struct world *world, unsigned number)
{
    const struct virtual_job *job = &world->jobs[number];
    const struct life *life = &world->lives[number];
    tally.jobs++;
    switch (job->state) {
    case QUEUE_WAITING:
    case QUEUE_RUNNING: complain(world, "a job is left open"); break;
    case QUEUE_DONE:
        tally.done++;
        if (!life->has_run || !life->all_done)
            complain(world, "a job is done that is not");
        if (one_before_is_not_done(world, job))
            complain(world, "a job is done that is after one that is not");
        break;
    case QUEUE_CANCELLED:
        tally.cancelled++;
        if (job->cancel_at_ns == NEVER && !one_before_is_not_done(world, job))
            complain(world, "a job was cancelled, and nobody had asked for it");
        break;
    case QUEUE_FAILED:
        tally.failed++;
        if (!life->has_failed)
            complain(world, "a job failed for no reason");
    }
}

static void judge_set(struct world *world, const struct virtual_set_result *result)
{
    if (result->outcome == SET_HANGS)
        complain(world, "the set hangs");
    else if (result->outcome == SET_CANNOT_RUN)
        complain(world, "the set could not be run");
    if (result->figures.starved > 0)
        complain(world, "a job has starved beside others");
    if (result->figures.overtaken > 0)
        complain(world, "a job has computed while one of higher priority had a chunk");
    if (result->figures.unfair > 0)
        complain(world, "jobs have not shared a worker by their weights");
    tally.sets++;
    tally.lost += result->outcome == SET_IS_LOST;
    tally.turns += result->figures.turns;
    tally.put_off += result->figures.put_off;
}

/* --- the life of a set --- */

static void print_line(void *context, const char *line)
{
    const struct life *life = context;
    printf("%s: %s\n", life->name_text, line);
}

/* The run of a job goes on from what was recorded. */
static void prepare_jobs(struct world *world)
{
    for (unsigned i = 0; i < world->config.job_count; i++) {
        struct virtual_job *job = &world->jobs[i];
        struct life *life = &world->lives[i];
        job->config.done = &life->chain.done;
        job->config.done_digest = life->chain.digest;
        job->config.trace = world->trace ? print_line : NULL;
        job->config.trace_context = life;
    }
}

/* Runs a set. Returns whether another one is to go on. */
static bool run_set(struct world *world, struct queue *queue)
{
    world->config.queue = queue;
    prepare_jobs(world);
    const struct virtual_set_result result = virtual_set_run(&world->config);
    judge_set(world, &result);
    if (world->trace)
        printf("the set has ended: outcome %d, %" PRIu64 " turns, %" PRIu64 " put off\n", (int)result.outcome,
               result.figures.turns, result.figures.put_off);
    world->config.begins_ns = result.end_ns;
    const bool goes_on = !queue_is_idle(queue) || queue->newest < world->config.job_count;
    tally.stopped += goes_on && result.outcome == SET_IS_OVER;
    queue_fini(queue);
    reopen(world, queue, result.outcome == SET_IS_LOST);
    return world->wrong == NULL && (!queue_is_idle(queue) || queue->newest < world->config.job_count);
}

static const char *run(uint64_t seed, bool trace)
{
    static struct world world;
    struct queue queue;
    world = (struct world){.trace = trace};
    random_init(&world.random, seed);
    world.is_stream = seed >= STREAMS;
    world.config.context = &world;
    world.config.on_change = note_change;
    world.config.on_run = judge_run;
    make_machine(&world);
    make_jobs(&world);
    if (world.is_stream)
        make_stream(&world);
    for (unsigned i = 0; i < world.config.job_count; i++) {
        chain_init(&world.lives[i].chain);
        snprintf(world.lives[i].name_text, sizeof world.lives[i].name_text, "job %u", i + 1);
    }
    queue_init(&queue, world.config.at_once);
    queue_note_all(&world.notes, &queue);
    commit(&world);
    do {
        make_losses(&world, world.sets == SETS_MAX - 1);
        tally.lost_ranks += world.config.loss_count;
    } while (run_set(&world, &queue) && ++world.sets < SETS_MAX);
    for (unsigned i = 0; i < world.config.job_count; i++) {
        if (world.wrong == NULL)
            judge_job(&world, i);
        chain_fini(&world.lives[i].chain);
    }
    queue_fini(&queue);
    queue_notes_fini(&world.notes);
    free(world.file);
    return world.wrong;
}

static void print_tally(void)
{
    printf("# %" PRIu64 " jobs: %" PRIu64 " done, %" PRIu64 " cancelled, %" PRIu64 " failed; %" PRIu64
           " runs of them in %" PRIu64 " sets\n",
           tally.jobs, tally.done, tally.cancelled, tally.failed, tally.runs, tally.sets);
    printf("# %" PRIu64 " ranks to be lost, %" PRIu64 " sets lost with the supermaster, %" PRIu64 " stopped, %" PRIu64
           " with a torn journal; %" PRIu64 " turns of computing, %" PRIu64 " ended for others\n",
           tally.lost_ranks, tally.lost, tally.stopped, tally.torn, tally.turns, tally.put_off);
}

int main(int argc, char **argv)
{
    const struct seeds_program program = {"seeds-set", run, print_tally};
    return seeds_program_main(&program, argc, argv);
}
