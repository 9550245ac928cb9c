/* SPDX-License-Identifier: MIT */
/* Random runs of the virtual cluster with faults, each made from one number (scenario.h) and resumed until it is
 * complete, with the oracle after each.
 *
 *   seeds FIRST COUNT    runs so many of them, TAP on standard output; of another generator where that stands before
 *   seeds kept FILE      runs those that the file lists: each of them failed once
 *   seeds SEED           runs one and prints its trace; GENERATOR:SEED where it is not of the latest generator */
#include "common/machine/topology.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/seeds/chain.h"
#include "tests/seeds/scenario.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the runs came to, to see that what is to be survived does happen. */
struct tally {
    uint64_t by_status[8]; /* from -2 on */
    uint64_t lost_workers, lost_masters, reissued, duplicates, adopted;
    uint64_t killed_helpers, killed_workers, given_up;
    uint64_t hits, failed_writes, failed_sends, refused, not_set_up, sent_garbage, drops;
};

static struct tally tally;

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
    tally.hits += result->hits;
    tally.sent_garbage += result->sent_garbage;
    tally.drops += result->drops;
    tally.failed_writes += result->failed_writes;
    tally.failed_sends += result->failed_sends;
    tally.adopted += result->supermaster->config.topology->masters > 0 ? result->supermaster->service.count.present : 0;
}

static void see(const struct virtual_config *config, const struct virtual_result *result)
{
    note_result(result);
    if (config->trace == NULL)
        return;
    printf("status %d, %" PRIu64 " of %" PRIu64 " iterations, %u ranks killed, hung rank %u, failure '%s'\n",
           result->status, result->supermaster->ledger.done, config->count, result->killed, result->hung_rank,
           result->supermaster->failure.text);
    print_rest(&result->supermaster->ledger);
}

static const char *run_scenario(struct chain *chain, struct scenario *scenario)
{
    const char *wrong = chain_run(chain, &scenario->config, &scenario->refusal);
    tally.refused += memory_refused() > 0;
    tally.not_set_up += chain->status == CHAIN_NOT_SET_UP;
    return wrong;
}

static const char *resume_scenario(struct chain *chain, struct scenario *scenario, bool forgives)
{
    if (scenario->config.trace != NULL)
        puts(forgives ? "--- resumed, and what was given up is tried again ---" : "--- resumed ---");
    if (forgives)
        chain_forgive(chain);
    deaths_begin_run(&scenario->deaths, forgives);
    scenario_resume(scenario);
    return run_scenario(chain, scenario);
}

/* --- runs with iterations that kill --- */

/* So many runs find all of them out, though each ends with the death of its only worker. */
#define RUNS_WITH_DEATHS_MAX 40

/* The latest run was ended by a time step, or a row, that needs what was given up. */
static bool ended_by_need;

static void note_need(const struct virtual_result *result)
{
    const char *text = result->supermaster->failure.text;
    ended_by_need = strncmp(text, "time step", 9) == 0 || strstr(text, "cannot be computed") != NULL;
}

static const char *judge(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct scenario *scenario = config->context;
    for (unsigned i = 0; i < scenario->deaths.count; i++) {
        const struct deadly *deadly = &scenario->deaths.list[i];
        tally.killed_helpers += deadly->helpers;
        tally.killed_workers += deadly->workers;
        if (config->trace != NULL)
            printf("iteration %" PRIu64 " of kind %d has killed %u helpers and %u workers, and %u helpers before\n",
                   deadly->iteration, (int)deadly->kind, deadly->helpers, deadly->workers, deadly->before);
    }
    for (size_t i = 0; config->trace != NULL && i < result->deaths->count; i++) {
        const struct poison *item = &result->deaths->items[i];
        printf("recorded: [%" PRIu64 ", %" PRIu64 ") %u deaths, %u failures\n", item->first, item->first + item->count,
               item->deaths, item->failures);
    }
    if (config->trace != NULL)
        printf("%u retries%s\n", config->spec.retries, scenario->deaths.are_exact ? ", exact" : "");
    note_need(result);
    tally.given_up += ranges_total(&result->supermaster->ledger.failed);
    return deaths_check(&scenario->deaths, config, result);
}

/* Nothing is left to try: all is done or given up, as far as time steps can be entered. */
static bool is_settled(const struct chain *chain)
{
    return chain->status == EXIT_STATUS_DONE || chain->status == EXIT_STATUS_TASKS ||
           (chain->status == EXIT_STATUS_FAILED && ended_by_need);
}

static const char *resume_until_settled(struct chain *chain, struct scenario *scenario, bool forgives)
{
    const unsigned most = scenario->runs + RUNS_WITH_DEATHS_MAX;
    const char *wrong = NULL;
    while (wrong == NULL && (forgives || !is_settled(chain))) {
        if (scenario->runs == most)
            return "not complete after many runs";
        wrong = resume_scenario(chain, scenario, forgives);
        forgives = false;
    }
    return wrong;
}

/* What is given up stays so in another run, and with --resume failed is tried again until it is given up again, or done
 * where it was mended. Workers that are killed meanwhile may take a mended one with them. */
static const char *end_deaths(struct chain *chain, struct scenario *scenario)
{
    const char *wrong = resume_until_settled(chain, scenario, false);
    if (wrong != NULL || chain->status == EXIT_STATUS_DONE)
        return wrong;
    const uint64_t done = ranges_total(&chain->done);
    wrong = resume_scenario(chain, scenario, false);
    if (wrong == NULL && scenario->deaths.are_exact && ranges_total(&chain->done) != done)
        wrong = "what was given up was computed in the next run";
    scenario_mend(scenario, scenario->seed % 2);
    if (wrong == NULL)
        wrong = resume_until_settled(chain, scenario, true);
    scenario_mend(scenario, true);
    for (bool again = true; wrong == NULL && chain->status != EXIT_STATUS_DONE && again;) {
        again = scenario->runs < RUNS_MAX;
        wrong = resume_until_settled(chain, scenario, true);
    }
    return wrong == NULL && chain->status != EXIT_STATUS_DONE ? "not complete though all was mended" : wrong;
}

/* --- loops with dependencies in which rows kill --- */

static const char *judge_rows(const struct virtual_config *config, const struct virtual_result *result)
{
    (void)config;
    note_need(result);
    return NULL;
}

/* The deaths of all runs end the job sooner or later, or it is done but for its last row; mended it is done. */
static const char *end_rows(struct chain *chain, struct scenario *scenario)
{
    const char *wrong = resume_until_settled(chain, scenario, false);
    scenario_mend(scenario, true);
    if (wrong == NULL && chain->status != EXIT_STATUS_DONE)
        wrong = resume_until_settled(chain, scenario, true);
    while (wrong == NULL && chain->status != EXIT_STATUS_DONE && scenario->runs < RUNS_MAX)
        wrong = resume_until_settled(chain, scenario, true);
    return wrong == NULL && chain->status != EXIT_STATUS_DONE ? "not complete though all was mended" : wrong;
}

/* A run, and those that resume it where the generator says so. NULL, or what was wrong. */
static const char *run(unsigned generator, uint64_t seed, bool trace)
{
    static struct scenario scenario;
    struct chain chain;
    chain_init(&chain);
    chain.seen = see;
    scenario_make(&scenario, generator, seed);
    scenario.config.trace = trace ? print_line : NULL;
    const bool kills_rows = generator == GENERATOR_ROWS;
    chain.keeps_deaths = kills_rows || scenario.deaths.count > 0;
    chain.judge = kills_rows ? judge_rows : chain.keeps_deaths ? judge : NULL;
    const char *wrong = run_scenario(&chain, &scenario);
    bool resumes = generator > 1 && scenario.config.journal;
    if (wrong == NULL && chain.keeps_deaths) {
        wrong = (kills_rows ? end_rows : end_deaths)(&chain, &scenario);
        resumes = false;
    }
    while (wrong == NULL && resumes && chain.status != EXIT_STATUS_DONE && scenario.runs < RUNS_MAX)
        wrong = resume_scenario(&chain, &scenario, false);
    if (wrong == NULL && resumes && scenario.runs == RUNS_MAX && chain.status != EXIT_STATUS_DONE)
        wrong = "not complete after a run in which nothing happened";
    chain_fini(&chain);
    scenario_fini(&scenario);
    return wrong;
}

static struct {
    unsigned generator;
    uint64_t seed;
} at_hand;

/* An invariant does not hold: says in which run. */
static void tell_seed(int signal)
{
    (void)signal;
    printf("# seed %u:%" PRIu64 ": aborted\n", at_hand.generator, at_hand.seed);
    fflush(stdout);
}

/* Runs one of many: says so where it fails. */
static bool run_quietly(unsigned generator, uint64_t seed)
{
    at_hand.generator = generator;
    at_hand.seed = seed;
    const char *wrong = run(generator, seed, false);
    if (wrong != NULL)
        printf("# seed %u:%" PRIu64 ": %s\n", generator, seed, wrong);
    fflush(stdout);
    return wrong == NULL;
}

static int finish(uint64_t failed, uint64_t count)
{
    printf("%sok 1 - %" PRIu64 " of %" PRIu64 " seeds failed\n1..1\n", failed > 0 ? "not " : "", failed, count);
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_tally(void)
{
    printf("# %" PRIu64 " done, %" PRIu64 " with failed ranges, %" PRIu64 " drained, %" PRIu64 " failed, %" PRIu64
           " killed, %" PRIu64 " not set up; %" PRIu64 " lost workers, %" PRIu64 " lost masters, %" PRIu64
           " adopted workers, %" PRIu64 " reissued chunks, %" PRIu64 " duplicates\n",
           tally.by_status[2], tally.by_status[2 + EXIT_STATUS_TASKS], tally.by_status[2 + EXIT_STATUS_DRAINED],
           tally.by_status[2 + EXIT_STATUS_FAILED], tally.by_status[0], tally.not_set_up, tally.lost_workers,
           tally.lost_masters, tally.adopted, tally.reissued, tally.duplicates);
    printf("# %" PRIu64 " faults, %" PRIu64 " failed writes, %" PRIu64 " failed sends, %" PRIu64
           " runs without memory, %" PRIu64 " messages of nonsense, %" PRIu64 " ranks dropped\n",
           tally.hits, tally.failed_writes, tally.failed_sends, tally.refused, tally.sent_garbage, tally.drops);
    if (tally.killed_helpers + tally.killed_workers > 0)
        printf("# iterations killed %" PRIu64 " helpers and %" PRIu64 " workers, and were given up %" PRIu64 " times\n",
               tally.killed_helpers, tally.killed_workers, tally.given_up);
}

static int run_many(unsigned generator, uint64_t first, uint64_t count)
{
    uint64_t failed = 0;
    for (uint64_t seed = first; seed < first + count; seed++)
        failed += !run_quietly(generator, seed);
    print_tally();
    return finish(failed, count);
}

/* GENERATOR:SEED, or SEED of the latest. */
static bool read_name(const char *text, unsigned *generator, uint64_t *seed)
{
    if (sscanf(text, "%u:%" SCNu64, generator, seed) == 2)
        return true;
    *generator = GENERATOR;
    return sscanf(text, "%" SCNu64, seed) == 1;
}

static int run_kept(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t seed, failed = 0, count = 0;
    unsigned generator;
    char line[200];
    if (file == NULL) {
        fprintf(stderr, "seeds: cannot read %s\n", path);
        return EXIT_FAILURE;
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (read_name(line, &generator, &seed)) {
            count++;
            failed += !run_quietly(generator, seed);
        }
    fclose(file);
    return finish(failed, count);
}

static int run_one(unsigned generator, uint64_t seed)
{
    const char *wrong = run(generator, seed, true);
    printf("seed %u:%" PRIu64 ": %s\n", generator, seed, wrong != NULL ? wrong : "all as it should be");
    return wrong != NULL ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    unsigned generator;
    uint64_t seed;
    signal(SIGABRT, tell_seed);
    if (argc == 3 && strcmp(argv[1], "kept") == 0)
        return run_kept(argv[2]);
    if (argc == 3)
        return run_many(GENERATOR, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    if (argc == 4)
        return run_many((unsigned)strtoul(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    if (argc == 2 && read_name(argv[1], &generator, &seed))
        return run_one(generator, seed);
    fprintf(stderr, "usage: seeds [GENERATOR] FIRST COUNT | kept FILE | [GENERATOR:]SEED\n");
    return EXIT_FAILURE;
}
