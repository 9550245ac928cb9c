/* Random runs of the virtual cluster with faults: the line-up, the job, the machine and who dies, stops or wakes when
 * all come from one number. After each run the oracle says whether what the system promises held: nothing lost, nothing
 * counted twice, the same checksum, no hang, and a failure only where nobody was left.
 *
 *   seeds FIRST COUNT    runs so many of them, TAP on standard output
 *   seeds kept FILE      runs those that the file lists: each of them failed once
 *   seeds SEED           runs one and prints its trace */
#include "common/runtime/virtual/cluster.h"
#include "common/util/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 12, MASTERS_MAX = 4, RANKS_MAX = 1 + MASTERS_MAX + WORKERS_MAX, FAULTS_MAX = 8 };

static const char *const techniques[] = {"static", "ss",    "css:chunk=7", "gss",  "tss",  "fac",  "fac2", "awf-b",
                                         "awf-c",  "awf-e", "af",          "dtss", "dfss", "dgss", "tap",  "pls"};

struct scenario {
    uint64_t seed;
    struct virtual_config config;
    double speeds[WORKERS_MAX];
    struct virtual_fault faults[FAULTS_MAX];
    bool stops_for_good;
};

/* What the runs came to, to see that what is to be survived does happen. */
struct tally {
    uint64_t by_status[8]; /* from -2 on */
    uint64_t lost_workers, lost_masters, reissued, duplicates, adopted;
};

static struct tally tally;

static double irregular(void *context, uint64_t iteration)
{
    const struct scenario *scenario = context;
    return 200 + (double)(random_at(scenario->seed, iteration) % 5000);
}

static void make_job(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    config->technique = techniques[random_between(random, 0, sizeof techniques / sizeof *techniques - 1)];
    config->min_chunk = random_between(random, 0, 10);
    config->first = random_between(random, 0, 1) * 1000;
    config->count = random_between(random, 0, 300);
    config->measure_power = random_between(random, 0, 1);
    config->collect = random_between(random, 0, 3) > 0;
    config->journal = random_between(random, 0, 3) > 0;
    config->sync = config->journal && random_between(random, 0, 1);
    config->slice_iterations = random_between(random, 0, 1) * random_between(random, 1, 300);
    config->ask_ahead = (enum ask_ahead)random_between(random, 0, 2);
    config->ask_ahead_chunks = (unsigned)random_between(random, 1, ASKS_MAX);
    config->cost_ns = irregular;
    config->context = scenario;
}

static void make_machine(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    config->masters = random_between(random, 0, 2) > 0 ? (unsigned)random_between(random, 1, MASTERS_MAX) : 0;
    config->workers = (unsigned)random_between(random, 1, WORKERS_MAX);
    config->nodes = (unsigned)random_between(random, 1, 3);
    config->group_even = random_between(random, 0, 1);
    for (unsigned w = 0; w < config->workers; w++)
        scenario->speeds[w] = 0.2 + 3 * random_uniform(random);
    config->speeds = scenario->speeds;
    config->latency_ns = random_between(random, 0, 20000);
    config->remote_latency_ns = random_between(random, 0, 50000);
    config->service_ns = random_between(random, 0, 3000);
    config->collect_ns = random_between(random, 0, 1) * random_between(random, 0, 100000);
    config->detect_ns = random_between(random, 0, 200000);
    config->watch_all = random_between(random, 0, 1);
    config->fault_seed = random_next(random);
}

/* About how long the run takes, for the faults to come while it does. */
static uint64_t duration_ns(const struct scenario *scenario)
{
    const struct virtual_config *config = &scenario->config;
    double cost = 0, speed = 0;
    for (uint64_t i = 0; i < config->count; i++)
        cost += irregular((void *)scenario, i);
    for (unsigned w = 0; w < config->workers; w++)
        speed += scenario->speeds[w];
    return (uint64_t)(cost / speed) + 20 * (config->latency_ns + config->remote_latency_ns) +
           (config->measure_power ? 4000000 : 0) + 1000;
}

/* One worker of each master is left alone where some are stopped for good: what they had is given to it. Only the
 * first worker with each master is sure to be that. */
static bool is_spared(const struct scenario *scenario, unsigned rank)
{
    const struct virtual_config *config = &scenario->config;
    return scenario->stops_for_good && rank > config->masters && rank <= config->masters + 2 * config->masters + 1;
}

static void add_fault(struct scenario *scenario, enum virtual_fault_type type, unsigned rank, uint64_t at_ns)
{
    struct virtual_config *config = &scenario->config;
    if (config->fault_count < FAULTS_MAX)
        scenario->faults[config->fault_count++] = (struct virtual_fault){type, rank, at_ns};
}

static void make_fault(struct scenario *scenario, struct random *random, uint64_t duration)
{
    struct virtual_config *config = &scenario->config;
    unsigned ranks = 1 + config->masters + config->workers;
    uint64_t at = random_between(random, 0, duration + duration / 4), kind = random_between(random, 0, 19);
    unsigned rank = (unsigned)random_between(random, kind == 0 ? 0 : 1, ranks - 1);
    bool is_worker = rank > config->masters;
    if (is_spared(scenario, rank))
        return;
    if (kind < 14) {
        add_fault(scenario, VIRTUAL_KILL, rank, at);
    } else {
        bool for_good = scenario->stops_for_good && is_worker && kind < 18;
        uint64_t pause = random_between(random, 0, 1) ? random_between(random, 0, 20000000000u) : duration;
        add_fault(scenario, VIRTUAL_STOP, rank, at);
        if (!for_good)
            add_fault(scenario, VIRTUAL_CONTINUE, rank, at + pause);
    }
}

static void make(struct scenario *scenario, uint64_t seed)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    *scenario = (struct scenario){.seed = seed};
    random_init(&random, seed);
    make_machine(scenario, &random);
    make_job(scenario, &random);
    uint64_t duration = duration_ns(scenario);
    /* dealt evenly, the first 2 masters + 1 workers have one of each master among them */
    scenario->stops_for_good = random_between(&random, 0, 4) == 0 && config->workers > 2 * config->masters + 1 &&
                               config->count > 0; /* who never asks for a chunk may still probe */
    config->group_even |= scenario->stops_for_good;
    for (uint64_t n = random_between(&random, 1, 4); n > 0; n--)
        make_fault(scenario, &random, duration);
    config->faults = scenario->faults;
    if (random_between(&random, 0, 19) == 0 && config->count > 0 && !scenario->stops_for_good)
        config->poison_plus_1 = config->first + 1 + random_between(&random, 0, config->count - 1);
    if (random_between(&random, 0, 9) == 0 && !scenario->stops_for_good) { /* a drain waits for running chunks */
        config->drain_at_ns = random_between(&random, 1, duration);
        config->drain_rank = (unsigned)random_between(&random, 0, config->masters + config->workers);
    }
}

/* --- the oracle --- */

static uint64_t failed_checksum(const struct ranges *failed)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ranges_length(failed); i++)
        sum += virtual_checksum(ranges_at(failed, i)->first, ranges_at(failed, i)->count);
    return sum;
}

/* NULL, or what did not hold although all is said to be done. */
static const char *check_complete(const struct scenario *scenario, const struct virtual_result *result)
{
    const struct virtual_config *config = &scenario->config;
    const struct ledger *ledger = &result->supermaster->ledger;
    uint64_t expected = virtual_checksum(config->first, config->count) - failed_checksum(&ledger->failed);
    if (ledger->done + ranges_total(&ledger->failed) != config->count)
        return "some iterations are neither done nor given up";
    if (ledger->digest != expected)
        return "the checksum is another";
    if (ranges_total(&ledger->failed) > 0 && config->poison_plus_1 == 0 && result->killed < ATTEMPTS_MAX)
        return "iterations were given up that had not taken enough workers down";
    return NULL;
}

static const char *check_failure(const struct scenario *scenario, const struct virtual_result *result)
{
    if (strncmp(result->supermaster->failure.text, "all workers are lost", 20) != 0)
        return "the run failed for another reason than that all workers were lost";
    return result->supermaster->losses.workers_lost < scenario->config.workers ? "the run failed with workers left"
                                                                               : NULL;
}

static const char *check_status(const struct scenario *scenario, const struct virtual_result *result)
{
    const struct virtual_config *config = &scenario->config;
    const struct ledger *ledger = &result->supermaster->ledger;
    switch (result->status) {
    case -1: return "it hung";
    case -2: return config->faults != NULL ? NULL : "the supermaster died by itself";
    case EXIT_STATUS_DONE:
        return ranges_total(&ledger->failed) > 0 ? "what was given up is not told" : check_complete(scenario, result);
    case EXIT_STATUS_TASKS: return check_complete(scenario, result);
    case EXIT_STATUS_DRAINED: return config->drain_at_ns > 0 ? NULL : "it drained, and nobody had asked for it";
    case EXIT_STATUS_FAILED: return check_failure(scenario, result);
    default: return "an exit status that cannot be";
    }
}

static const char *check_journal(const struct scenario *scenario, const struct virtual_result *result)
{
    const struct ledger *ledger = &result->supermaster->ledger;
    if (result->wrong > 0)
        return "the output has wrong records";
    if (result->journalled_early > 0)
        return "recorded twice, or before it was stored";
    if (!scenario->config.journal || result->status < 0)
        return NULL;
    if (ranges_total(result->journalled) != ledger->done || result->journalled_digest != ledger->digest)
        return "the journal is not what the ledger has";
    return NULL;
}

static const char *check(const struct scenario *scenario, const struct virtual_result *result)
{
    const struct supermaster *supermaster = result->supermaster;
    const char *status = check_status(scenario, result), *journal = check_journal(scenario, result);
    if (status != NULL || journal != NULL)
        return status != NULL ? status : journal;
    if (supermaster->sched_ready && supermaster->sched.remaining != ranges_total(&supermaster->ledger.free))
        return "the technique's remaining work is not what is free";
    return NULL;
}

/* --- running --- */

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

static void print_ranges(const char *who, unsigned number, const struct ranges *set)
{
    for (size_t i = 0; i < ranges_length(set); i++)
        printf("%s %u: [%" PRIu64 ", %" PRIu64 ")\n", who, number, ranges_at(set, i)->first,
               ranges_at(set, i)->first + ranges_at(set, i)->count);
}

/* What is not done at the end, and who has it. */
static void print_rest(const struct ledger *ledger)
{
    print_ranges("free", 0, &ledger->free);
    print_ranges("failed", 0, &ledger->failed);
    for (unsigned i = 0; i < ledger->holders; i++)
        print_ranges("granted to holder", i, &ledger->granted[i]);
}

static void note_result(const struct virtual_result *result)
{
    const struct losses *losses = &result->supermaster->losses;
    tally.by_status[result->status + 2]++;
    tally.lost_workers += losses->workers_lost;
    tally.lost_masters += losses->masters_lost;
    tally.reissued += losses->reissued;
    tally.duplicates += losses->duplicates;
    tally.adopted += result->supermaster->config.topology->masters > 0 ? result->supermaster->service.present : 0;
}

/* NULL, or what was wrong. */
static const char *run(uint64_t seed, bool trace)
{
    static struct scenario scenario;
    struct error error;
    make(&scenario, seed);
    if (trace)
        scenario.config.trace = print_line;
    struct virtual_cluster *cluster = virtual_new(&scenario.config, &error);
    if (cluster == NULL)
        return "it could not be set up";
    const struct virtual_result result = virtual_run(cluster);
    const char *wrong = check(&scenario, &result);
    note_result(&result);
    if (trace)
        printf("status %d, %" PRIu64 " of %" PRIu64 " iterations, %u ranks killed, hung rank %u, failure '%s'\n",
               result.status, result.supermaster->ledger.done, scenario.config.count, result.killed, result.hung_rank,
               result.supermaster->failure.text);
    if (trace)
        print_rest(&result.supermaster->ledger);
    virtual_free(cluster);
    return wrong;
}

/* Runs one of many: says so where it fails. */
static bool run_quietly(uint64_t seed)
{
    const char *wrong = run(seed, false);
    if (wrong != NULL)
        printf("# seed %" PRIu64 ": %s\n", seed, wrong);
    fflush(stdout);
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
    printf("# %" PRIu64 " done, %" PRIu64 " with failed ranges, %" PRIu64 " drained, %" PRIu64 " failed, %" PRIu64
           " killed; %" PRIu64 " lost workers, %" PRIu64 " lost masters, %" PRIu64 " adopted workers, %" PRIu64
           " reissued chunks, %" PRIu64 " duplicates\n",
           tally.by_status[2], tally.by_status[2 + EXIT_STATUS_TASKS], tally.by_status[2 + EXIT_STATUS_DRAINED],
           tally.by_status[2 + EXIT_STATUS_FAILED], tally.by_status[0], tally.lost_workers, tally.lost_masters,
           tally.adopted, tally.reissued, tally.duplicates);
    return finish(failed, count);
}

static int run_kept(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t seed, failed = 0, count = 0;
    char line[200];
    if (file == NULL) {
        fprintf(stderr, "seeds: cannot read %s\n", path);
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

static int run_one(uint64_t seed)
{
    const char *wrong = run(seed, true);
    printf("seed %" PRIu64 ": %s\n", seed, wrong != NULL ? wrong : "all as it should be");
    return wrong != NULL ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "kept") == 0)
        return run_kept(argv[2]);
    if (argc == 3)
        return run_many(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    if (argc == 2)
        return run_one(strtoull(argv[1], NULL, 10));
    fprintf(stderr, "usage: seeds FIRST COUNT | kept FILE | SEED\n");
    return EXIT_FAILURE;
}
