/* SPDX-License-Identifier: MIT */
/* Scenarios: see scenario.h. */
#include "tests/seeds/scenario.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/random.h"
#include "proto/message.h"

static const char *const techniques[] = {"static", "ss",    "css:chunk=7", "gss",  "tss",  "fac",  "fac2", "awf-b",
                                         "awf-c",  "awf-e", "af",          "dtss", "dfss", "dgss", "tap",  "pls"};

static double irregular(void *context, uint64_t iteration)
{
    const struct scenario *scenario = context;
    const uint64_t some = random_at(scenario->seed, iteration);
    const struct deadly *deadly = deaths_find(&scenario->deaths, iteration);
    if (deadly != NULL && !scenario->deaths.is_mended)
        return (double)deadly->cost_ns;
    if (scenario->longer == 0)
        return 200 + (double)(some % 5000);
    if (scenario->free_of_ten > 0)
        return some % 10 < scenario->free_of_ten ? 0 : 2500 * scenario->longer;
    return (200 + (double)(some % 5000)) * scenario->longer;
}

static void make_job(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    config->technique = techniques[random_between(random, 0, sizeof techniques / sizeof *techniques - 1)];
    config->spec.min_chunk = random_between(random, 0, 10);
    config->first = random_between(random, 0, 1) * 1000;
    config->count = random_between(random, 0, 300);
    config->spec.power = random_between(random, 0, 1) ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
    config->collect = random_between(random, 0, 3) > 0;
    config->journal = random_between(random, 0, 3) > 0;
    config->sync = config->journal && random_between(random, 0, 1);
    config->slice_iterations = random_between(random, 0, 1) * random_between(random, 1, 300);
    config->spec.ask_ahead = (enum ask_ahead)random_between(random, 0, 2);
    config->spec.ask_ahead_chunks = (unsigned)random_between(random, 1, ASKS_MAX);
    config->cost_ns = irregular;
    config->context = scenario;
}

static void make_machine(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    config->masters = random_between(random, 0, 2) > 0 ? (unsigned)random_between(random, 1, MASTERS_MAX) : 0;
    config->workers = (unsigned)random_between(random, 1, WORKERS_MAX);
    config->nodes = (unsigned)random_between(random, 1, 3);
    config->spec.group_by = random_between(random, 0, 1) ? RUN_GROUP_BY_EVEN : RUN_GROUP_BY_NODE;
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
           (config->spec.power == RUN_POWER_MEASURE ? 4000000 : 0) + 1000;
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
    if (is_spared(scenario, rank))
        return;
    if (kind < 14) {
        add_fault(scenario, VIRTUAL_KILL, rank, at);
    } else {
        bool for_good = scenario->stops_for_good && rank > config->masters && kind < 18;
        uint64_t pause = random_between(random, 0, 1) ? random_between(random, 0, 20000000000u) : duration;
        add_fault(scenario, VIRTUAL_STOP, rank, at);
        if (!for_good)
            add_fault(scenario, VIRTUAL_CONTINUE, rank, at + pause);
    }
}

static enum virtual_outcome outcome(void *context, unsigned rank, uint64_t iteration)
{
    const struct scenario *scenario = context;
    for (unsigned i = 0; i < scenario->bad_count; i++)
        if (scenario->bad[i] == iteration && (scenario->kind[i] != HALF || rank % 2 == 0))
            return scenario->kind[i] == POISON ? VIRTUAL_CRASHES : VIRTUAL_FAILS;
    return VIRTUAL_WORKS;
}

/* The iteration at `place` of the loop does not work. */
static void add_bad(struct scenario *scenario, uint64_t place, enum bad_kind kind)
{
    scenario->config.outcome = outcome;
    scenario->bad[scenario->bad_count] = scenario->config.first + place;
    scenario->kind[scenario->bad_count++] = kind;
}

/* What generator 1 has: all of its random numbers, and no others. */
static void make_run(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    make_machine(scenario, random);
    make_job(scenario, random);
    uint64_t duration = duration_ns(scenario);
    /* dealt evenly, the first 2 masters + 1 workers have one of each master among them */
    scenario->stops_for_good = random_between(random, 0, 4) == 0 && config->workers > 2 * config->masters + 1 &&
                               config->count > 0; /* who never asks for a chunk may still probe */
    if (scenario->stops_for_good)
        config->spec.group_by = RUN_GROUP_BY_EVEN;
    for (uint64_t n = random_between(random, 1, 4); n > 0; n--)
        make_fault(scenario, random, duration);
    config->faults = scenario->faults;
    if (random_between(random, 0, 19) == 0 && config->count > 0 && !scenario->stops_for_good)
        add_bad(scenario, random_between(random, 0, config->count - 1), POISON);
    if (random_between(random, 0, 9) == 0 && !scenario->stops_for_good) { /* a drain waits for running chunks */
        config->drain_at_ns = random_between(random, 1, duration);
        config->drain_rank = (unsigned)random_between(random, 0, config->masters + config->workers);
    }
}

/* --- what generator 2 adds --- */

#define LIMIT_NS     UINT64_C(100000000000000) /* a day and some hours: ranks may be very slow */
#define LIMIT_EVENTS UINT64_C(20000000)        /* no run that ended had a twentieth of them */

/* From 1 on; small ones as often as large ones. */
static uint64_t some_number(struct random *random, unsigned most_bits)
{
    return random_between(random, 1, UINT64_C(1) << random_between(random, 0, most_bits));
}

static void make_fault_at_event(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    unsigned ranks = 1 + config->masters + config->workers;
    struct virtual_fault fault = {
        .rank = (unsigned)random_between(random, 0, ranks - 1),
        .at_event = some_number(random, 9),
        .after_actions = (unsigned)random_between(random, 0, 4),
        .for_ns = random_between(random, 0, 1) ? random_between(random, 1, 20000000000u) : some_number(random, 24),
        .factor = (double)some_number(random, 10),
    };
    uint64_t kind = random_between(random, 0, 19);
    fault.type = kind < 6    ? VIRTUAL_KILL
                 : kind < 8  ? VIRTUAL_KILL_ALL
                 : kind < 12 ? VIRTUAL_STOP
                 : kind < 16 ? VIRTUAL_SLOW
                             : VIRTUAL_STALL;
    if (config->fault_count < FAULTS_MAX)
        scenario->faults[config->fault_count++] = fault;
}

static void make_failures(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    uint64_t nth = some_number(random, 8);
    config->short_writes = random_between(random, 0, 1);
    bool for_good = random_between(random, 0, 1), running = random_between(random, 0, 3) > 0;
    switch (random_between(random, 0, 19)) {
    case 0: config->failing_store = nth; break;
    case 1: config->failing_journal = (nth + 15) / 16; break;
    case 2: config->failing_sync = (nth + 3) / 4; break;
    case 3: config->failing_send = nth; break;
    case 4:
    case 5: scenario->refusal = (struct refusal){running ? (nth + 15) / 16 : nth, for_good, running}; break;
    }
}

static void make_more(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    config->limit_ns = LIMIT_NS;
    config->limit_events = LIMIT_EVENTS;
    config->jitter_ns = random_between(random, 0, 1) * random_between(random, 0, 100000);
    config->last_ns = random_between(random, 0, 1) * some_number(random, 34);
    if (scenario->stops_for_good)
        return;
    for (uint64_t n = random_between(random, 0, 2); n > 0; n--)
        make_fault_at_event(scenario, random);
    make_failures(scenario, random);
}

/* --- what generator 3 adds --- */

static bool is_worker(const struct virtual_config *config, unsigned rank)
{
    return rank > config->masters;
}

static bool is_end(const struct virtual_fault *fault)
{
    return fault->type == VIRTUAL_KILL || fault->type == VIRTUAL_KILL_ALL;
}

static void make_hangs(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    unsigned kept = 0, first = config->masters + 1, last = config->masters + config->workers;
    if (scenario->stops_for_good || config->workers < 2 || random_between(random, 0, 3) > 0)
        return;
    unsigned spared = (unsigned)random_between(random, first, last);
    for (unsigned i = 0; i < config->fault_count; i++)
        if (scenario->faults[i].rank != spared &&
            (is_worker(config, scenario->faults[i].rank) || is_end(&scenario->faults[i])))
            scenario->faults[kept++] = scenario->faults[i];
    config->fault_count = kept;
    config->outcome = NULL;
    scenario->bad_count = 0;
    scenario->hangs = true;
    if (random_between(random, 0, 9) == 0)
        config->count = 0;
    uint64_t duration = duration_ns(scenario);
    for (uint64_t n = random_between(random, 1, 4); n > 0; n--) {
        unsigned rank = (unsigned)random_between(random, first, last);
        if (rank != spared)
            add_fault(scenario, VIRTUAL_STOP, rank, random_between(random, 0, duration));
    }
}

/* --- what generator 4 adds: in one scenario of five some iterations do not work --- */

static void make_bad(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, ~scenario->seed - (scenario->runs + 1) * SPLITMIX64_STEP);
    config->spec.retries = (unsigned)random_between(&random, 0, 3);
    if (random_between(&random, 0, 4) > 0 || config->count == 0)
        return;
    bool dies = !scenario->stops_for_good && !scenario->hangs && random_between(&random, 0, 1);
    for (uint64_t n = random_between(&random, 1, BAD_MAX - 1); n > 0; n--) {
        uint64_t place = random_between(&random, 0, config->count - 1);
        add_bad(scenario, place, (enum bad_kind)random_between(&random, dies ? POISON : ALWAYS, HALF));
    }
    if (random_between(&random, 0, 1)) /* else that is all that goes wrong */
        config->fault_count = 0;
}

/* --- what generator 5 adds --- */

static void make_nonsense(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, ~scenario->seed + SPLITMIX64_STEP / 2);
    if (random_between(&random, 0, 3) > 0 || scenario->stops_for_good || scenario->hangs)
        return;
    for (uint64_t n = random_between(&random, 1, NONSENSE_MAX); n > 0; n--) {
        uint64_t least = random_between(&random, 0, 9) > 0; /* who hears nonsense of the supermaster ends */
        unsigned rank = (unsigned)random_between(&random, least, config->masters + config->workers);
        scenario->faults[config->fault_count++] =
            (struct virtual_fault){.type = VIRTUAL_BABBLE, .rank = rank, .at_event = some_number(&random, 7)};
    }
}

/* --- what generator 6 adds: in every other scenario the loop has time steps --- */

static void make_steps(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, ~scenario->seed + SPLITMIX64_STEP / 3);
    if (random_between(&random, 0, 1) || config->count == 0)
        return;
    config->step_iterations = random_between(&random, config->count / 8 + 1, config->count);
    config->steps_dependent = random_between(&random, 0, 1);
}

/* --- what generator 8 adds: in every other scenario a refill has several chunks for each worker --- */

static void make_refills(struct scenario *scenario)
{
    struct random random;
    random_init(&random, ~scenario->seed + SPLITMIX64_STEP / 7);
    if (random_between(&random, 0, 1))
        scenario->config.spec.refill_chunks = (unsigned)random_between(&random, 2, 9);
}

/* --- what generator 10 adds: runs without recall, and runs in which nothing goes wrong --- */

static void spare_all(struct scenario *scenario)
{
    struct virtual_config *config = &scenario->config;
    config->fault_count = 0;
    config->drain_at_ns = 0;
    config->outcome = NULL;
    scenario->bad_count = 0;
    config->failing_store = config->failing_journal = config->failing_sync = config->failing_send = 0;
    scenario->refusal.nth = 0;
}

static void make_recalls(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, ~scenario->seed + SPLITMIX64_STEP / 11);
    if (random_between(&random, 0, 3) == 0)
        config->spec.recall = RUN_RECALL_OFF;
    if (random_between(&random, 0, 2) > 0)
        return;
    spare_all(scenario);
    scenario->longer = (double)some_number(&random, 14);
    if (random_between(&random, 0, 1))
        scenario->free_of_ten = (unsigned)random_between(&random, 1, 9);
}

/* --- what generator 11 adds --- */

/* Iteration UINT64_MAX stands for any. */
static bool lies(void *context, unsigned rank, uint64_t iteration)
{
    const struct scenario *scenario = context;
    return rank == scenario->liar &&
           (iteration == UINT64_MAX || random_at(scenario->seed, iteration) % scenario->lie_of == 0);
}

static void make_verification(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 13);
    if (random_between(&random, 0, 1))
        return;
    config->spec.verify = random_between(&random, 0, 1) ? 1 : 1 - random_uniform(&random);
    config->spec.verify_seed = random_next(&random);
    config->spec.verify_action = (enum run_verify_action)random_between(&random, 0, 1);
    if (scenario->hangs || scenario->stops_for_good) /* who is dropped may be the one that was left alone */
        config->spec.verify_action = RUN_VERIFY_FAIL;
    if (random_between(&random, 0, 2) > 0)
        return;
    scenario->liar = config->masters + (unsigned)random_between(&random, 1, config->workers);
    scenario->lie_of = some_number(&random, 7);
    config->lies = lies;
    config->journal = config->sync = false;
}

/* --- what generator 12 adds --- */

static enum virtual_outcome deadly_outcome(void *context, unsigned rank, uint64_t iteration)
{
    return deaths_outcome(&((const struct scenario *)context)->deaths, rank, iteration);
}

static void note_end(void *context, unsigned rank, uint64_t iteration, bool is_worker)
{
    (void)rank;
    deaths_note(&((struct scenario *)context)->deaths, iteration, is_worker);
}

/* Draws the iterations that kill, once for all runs. */
static void make_deadly(struct scenario *scenario, struct random *random)
{
    const struct virtual_config *config = &scenario->config;
    struct deaths *deaths = &scenario->deaths;
    const bool hangs = scenario->stops_for_good || scenario->hangs, kills_workers = random_between(random, 0, 2) == 0;
    deaths->are_exact = random_between(random, 0, 1);
    for (uint64_t n = random_between(random, 1, DEADLY_MAX); n > 0; n--) {
        const uint64_t iteration = config->first + random_between(random, 0, config->count - 1);
        uint64_t kind = random_between(random, 0, !hangs && kills_workers ? DEADLY_WORKER : DEADLY_HALF);
        if (kind == DEADLY_AT_FIRST && (!deaths->are_exact || config->spec.retries == 0))
            kind = DEADLY_HELPER; /* who computes a copy may kill one more than it is to */
        if (deaths_find(deaths, iteration) != NULL)
            continue;
        deaths->list[deaths->count++] = (struct deadly){
            .iteration = iteration,
            .kind = (enum deadly_kind)kind,
            .times = (unsigned)random_between(random, 1, config->spec.retries),
            .cost_ns = kind == DEADLY_HANG ? some_number(random, 31) : some_number(random, 23),
        };
    }
}

/* A run in which iterations kill: like the others of the job. */
static void add_deaths(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    struct deaths *deaths = &scenario->deaths;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 17 + scenario->runs);
    const bool drains = random_between(&random, 0, 1);
    const uint64_t drain_at_ns = random_between(&random, 1, duration_ns(scenario));
    if (deaths->count == 0)
        return;
    scenario->bad_count = 0;
    config->no_isolation = random_between(&random, 0, 3) == 0;
    config->journal = true;
    if (deaths->are_exact) {
        spare_all(scenario);
        config->no_speculation = true;
        config->spec.verify = 0;
        config->drain_at_ns = drains && scenario->runs < RUNS_MAX ? drain_at_ns : 0;
        config->drain_rank = (unsigned)random_between(&random, 0, config->masters + config->workers);
    }
    config->outcome = deaths->is_mended ? NULL : deadly_outcome;
    config->ended = note_end;
}

static void make_deaths(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 19);
    if (config->count > 0 && config->lies == NULL && random_between(&random, 0, 3) > 0)
        make_deadly(scenario, &random);
    add_deaths(scenario);
}

void scenario_mend(struct scenario *scenario, bool are_mended)
{
    scenario->deaths.is_mended = are_mended;
}

/* --- what generator 14 adds --- */

/* Has what happens at some time happen within `all_ns`, as it does within the run without growth. Who stops goes on as
 * long afterwards as ever. */
static void spread_faults(struct scenario *scenario, uint64_t all_ns)
{
    const uint64_t duration = duration_ns(scenario);
    uint64_t later_ns = 0;
    for (unsigned i = 0; i < scenario->config.fault_count; i++) {
        struct virtual_fault *fault = &scenario->faults[i];
        if (fault->at_event > 0)
            continue;
        if (fault->type != VIRTUAL_CONTINUE)
            later_ns = (uint64_t)((double)fault->at_ns * ((double)all_ns / (double)duration)) - fault->at_ns;
        fault->at_ns += later_ns;
    }
}

static void make_growth(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    if (scenario->generator < GENERATOR_GROWTH)
        return;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 23 + scenario->runs);
    config->technique = "ss";
    config->spec.power = RUN_POWER_EQUAL;
    config->step_iterations = 0;
    config->steps_dependent = false;
    const unsigned leaps = (unsigned)random_between(&random, 1, GROWTHS_MAX);
    const uint64_t duration = duration_ns(scenario);
    uint64_t at_ns = random_between(&random, 0, 1) * some_number(&random, 30);
    for (unsigned i = 0; i < leaps; i++) {
        if (i == 0 && scenario->grown > 0)
            at_ns = 0; /* it has what it had */
        scenario->grown = i + 1 == leaps ? config->count : random_between(&random, scenario->grown, config->count);
        scenario->growth[i] = (struct virtual_growth){at_ns, scenario->grown};
        at_ns += random_between(&random, 0, 1) ? random_between(&random, 0, duration) : some_number(&random, 31);
    }
    config->growth = scenario->growth;
    config->growth_count = leaps;
    config->is_told_of_growth = scenario->seed % 2 != 0;
    if (random_between(&random, 0, 1))
        spread_faults(scenario, at_ns + duration);
    if (random_between(&random, 0, 3) > 0 || leaps == 1 || scenario->runs >= RUNS_MAX || scenario->deaths.count > 0)
        return;
    scenario->growth[leaps - 1].at_ns = NEVER;
    scenario->grown = scenario->growth[leaps - 2].count;
    config->drain_at_ns = random_between(&random, 1, at_ns + duration);
    config->drain_rank = 0;
}

/* --- what generator 16 adds --- */

/* Iterations that wait for others of a random order of the loop, each only for earlier ones of that. */
static void make_precedence(struct scenario *scenario)
{
    enum { IN_CHAINS, IN_LAYERS, BEHIND_ALL, BEFORE_ALL, AT_RANDOM, KINDS, ORDER_MAX = 4096 };
    static uint64_t order[ORDER_MAX];
    struct precedence *precedence = &scenario->precedence;
    struct random random;
    const uint64_t count = scenario->config.count;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 29);
    const uint64_t kind = random_between(&random, 0, KINDS - 1), width = random_between(&random, 1, 12);
    const bool is_mixed = random_between(&random, 0, 1);
    if (count > ORDER_MAX || count == 0)
        return;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t k = is_mixed ? random_between(&random, 0, i) : i;
        order[i] = order[k];
        order[k] = i;
    }
    for (uint64_t i = 1; i < count; i++) {
        if (kind == IN_CHAINS && i >= width)
            precedence_add(precedence, order[i], order[i - width]);
        for (uint64_t k = i / width * width - width; kind == IN_LAYERS && i >= width && k < i / width * width; k++)
            precedence_add(precedence, order[i], order[k]);
        if (kind == BEHIND_ALL && i + width >= count)
            for (uint64_t k = 0; k + width < count; k++)
                precedence_add(precedence, order[i], order[k]);
        if (kind == BEFORE_ALL)
            precedence_add(precedence, order[i], order[0]);
        for (uint64_t n = random_between(&random, 0, 2); kind == AT_RANDOM && n > 0; n--)
            precedence_add(precedence, order[i], order[random_between(&random, 0, i - 1)]);
    }
    precedence_close(precedence, count);
    for (uint64_t n = random_between(&random, 0, CALLED_FAILED_MAX); n > 0; n--)
        scenario->called_failed[scenario->called_failed_count++] =
            scenario->config.first + random_between(&random, 0, count - 1);
}

static enum virtual_outcome waits_outcome(void *context, unsigned rank, uint64_t iteration)
{
    const struct scenario *scenario = context;
    for (unsigned i = 0; i < scenario->called_failed_count; i++)
        if (scenario->called_failed[i] == iteration)
            return VIRTUAL_IS_CALLED_FAILED;
    return scenario->other_outcome != NULL ? scenario->other_outcome(context, rank, iteration) : VIRTUAL_WORKS;
}

static void add_precedence(struct scenario *scenario)
{
    struct virtual_config *config = &scenario->config;
    config->technique = "ss";
    config->spec.power = RUN_POWER_EQUAL;
    config->step_iterations = 0;
    config->steps_dependent = false;
    config->lies = NULL;
    config->variable = config->collect;
    config->precedence = scenario->precedence.count > 0 ? &scenario->precedence : NULL;
    scenario->other_outcome = config->outcome;
    if (config->precedence != NULL && config->variable && scenario->called_failed_count > 0 &&
        scenario->runs < RUNS_MAX)
        config->outcome = waits_outcome;
}

void scenario_fini(struct scenario *scenario)
{
    precedence_fini(&scenario->precedence);
}

/* --- generator 7 --- */

static void make_dependences(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    bool is_wide = random_between(random, 0, 15) == 0; /* the boundary data are too long for a control message */
    config->first = 0;
    config->count = random_between(random, 0, 3) > 0 ? random_between(random, 0, 100) : random_between(random, 0, 15);
    config->columns = is_wide ? random_between(random, 300, 600) : random_between(random, 1, 24);
    config->spec.sync_points = random_between(random, 0, 1) * random_between(random, 1, config->columns);
    config->distance = random_between(random, 0, 2) > 0 ? 1 : random_between(random, 2, 12);
    config->reach = random_between(random, 0, 2);
    config->journal = scenario->seed % 2; /* then what is left is resumed */
    config->sync = false;
}

static const struct virtual_load loads[] = {{0, 0, 2}, {1, 50000, 3}, {0, 90000, 1}, {2, 100000, 1.5}, {1, 200000, 1}};

static void make_weighting(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    config->spec.weighting = (enum sched_weighting)random_between(random, SCHED_WEIGHTING_NONE, SCHED_WEIGHTING_ACP);
    if (random_between(random, 0, 1) == 0)
        return;
    config->loads = loads;
    while (config->load_count < sizeof loads / sizeof *loads && loads[config->load_count].worker < config->workers)
        config->load_count++;
}

/* What happens to any rank but the supermaster. */
static void make_accident(struct scenario *scenario, struct random *random)
{
    struct virtual_config *config = &scenario->config;
    scenario->faults[config->fault_count++] = (struct virtual_fault){
        .type = random_between(random, 0, 2) > 0    ? VIRTUAL_KILL
                : random_between(random, 0, 1) == 0 ? VIRTUAL_STALL
                                                    : VIRTUAL_BABBLE,
        .rank = (unsigned)random_between(random, 1, config->masters + config->workers),
        .at_event = some_number(random, 7),
        .after_actions = (unsigned)random_between(random, 0, 4),
        .for_ns = some_number(random, 24),
    };
}

/* The few things that a run with dependencies is to end with in order. */
static void make_ends(struct scenario *scenario, struct random *random, uint64_t duration)
{
    struct virtual_config *config = &scenario->config;
    unsigned last = config->masters + config->workers;
    if (random_between(random, 0, 3) == 0) {
        config->drain_at_ns = random_between(random, 1, duration + duration / 4);
        config->drain_rank = (unsigned)random_between(random, 0, last);
    }
    if (random_between(random, 0, 7) > 0)
        return;
    for (uint64_t n = random_between(random, 1, 2); n > 0; n--)
        make_accident(scenario, random);
}

/* --- generator 9 --- */

static void lose_worker(struct scenario *scenario, struct random *random, uint64_t duration)
{
    struct virtual_config *config = &scenario->config;
    struct virtual_fault fault = {
        .type = VIRTUAL_KILL,
        .rank = (unsigned)random_between(random, config->masters + 1, config->masters + config->workers),
        .after_actions = (unsigned)random_between(random, 0, 6),
    };
    if (random_between(random, 0, 1))
        fault.at_ns = random_between(random, 0, duration + duration / 4);
    else
        fault.at_event = some_number(random, 8);
    scenario->faults[config->fault_count++] = fault;
}

static void make_losses(struct scenario *scenario, struct random *random, uint64_t duration)
{
    struct virtual_config *config = &scenario->config;
    if (random_between(random, 0, 1))
        config->count = random_between(random, 50, 300);
    if (random_between(random, 0, 15) == 0) { /* the results of a chunk go by themselves */
        config->count = random_between(random, 500, 3000);
        config->technique = random_between(random, 0, 1) ? "css:chunk=300" : "gss";
        config->collect = true;
        config->collect_ns = random_between(random, 0, 2000000);
    }
    if (random_between(random, 0, 1))
        config->spec.refill_chunks = (unsigned)random_between(random, 2, 9);
    for (uint64_t n = random_between(random, 1, 3); n > 0; n--)
        lose_worker(scenario, random, duration);
    if (random_between(random, 0, 7) == 0)
        make_accident(scenario, random);
    if (random_between(random, 0, 15) > 0)
        return;
    config->drain_at_ns = random_between(random, 1, duration + duration / 4);
    config->drain_rank = (unsigned)random_between(random, 0, config->masters + config->workers);
}

/* --- generator 13 --- */

/* Kills masters, some of them in one moment, beside what make_losses() does to workers. */
static void lose_masters(struct scenario *scenario, struct random *random, uint64_t duration)
{
    struct virtual_config *config = &scenario->config;
    const unsigned lost = (unsigned)random_between(random, 1, config->masters);
    const uint64_t at_ns = random_between(random, 0, duration + duration / 4);
    for (unsigned rank = config->masters - lost + 1; rank <= config->masters; rank++) {
        struct virtual_fault fault = {
            .type = VIRTUAL_KILL,
            .rank = rank,
            .after_actions = (unsigned)random_between(random, 0, 6),
        };
        switch (random_between(random, 0, 2)) {
        case 0: fault.at_ns = at_ns; break;
        case 1: fault.at_ns = random_between(random, 0, duration + duration / 4); break;
        default: fault.at_event = some_number(random, 8);
        }
        scenario->faults[config->fault_count++] = fault;
    }
}

/* --- generator 15 --- */

static void make_deadly_rows(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 23);
    config->spec.retries = (unsigned)random_between(&random, 0, 3);
    config->journal = true;
    scenario->bad_count = 0;
    const uint64_t count = random_between(&random, 1, BAD_MAX - 1), place = random_between(&random, 0, UINT32_MAX);
    const bool last_too =
        random_between(&random, 0, 1) && config->count > config->distance; /* else it is all there is */
    if (config->count == 0 || scenario->deaths.is_mended)
        return;
    for (uint64_t n = 0; n < count; n++)
        add_bad(scenario, place * (n + 1) % config->count, ALWAYS);
    if (last_too)
        scenario->bad[0] = config->first + config->count - 1;
    if (last_too)
        scenario->kind[0] = POISON;
}

static bool is_of_losses(const struct scenario *scenario)
{
    return scenario->generator == GENERATOR_LOSSES || scenario->generator == GENERATOR_MASTERS ||
           scenario->generator == GENERATOR_ROWS;
}

static void make_dependent(struct scenario *scenario)
{
    struct virtual_config *config = &scenario->config;
    struct random random;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 5 + scenario->runs * SPLITMIX64_STEP);
    make_machine(scenario, &random);
    make_job(scenario, &random);
    make_dependences(scenario, &random);
    make_weighting(scenario, &random);
    config->faults = scenario->faults;
    config->limit_ns = LIMIT_NS;
    config->limit_events = LIMIT_EVENTS;
    config->jitter_ns = random_between(&random, 0, 3) > 0 ? some_number(&random, 20) : 0;
    config->last_ns = random_between(&random, 0, 1) * some_number(&random, 34);
    bool loses = is_of_losses(scenario);
    if (scenario->generator == GENERATOR_MASTERS && config->masters == 0)
        config->masters = 1;
    (loses ? make_losses : make_ends)(scenario, &random, duration_ns(scenario));
    if (scenario->generator == GENERATOR_MASTERS)
        lose_masters(scenario, &random, duration_ns(scenario));
    if (random_between(&random, 0, loses ? 63 : 15) == 0)
        scenario->refusal = (struct refusal){some_number(&random, 4), random_between(&random, 0, 1), true};
}

/* The random numbers of a run, and those of what generator 2 adds to it. */
static void init_random(const struct scenario *scenario, unsigned stream, struct random *random)
{
    random_init(random, scenario->seed + (2 * scenario->runs + stream) * SPLITMIX64_STEP);
}

/* --- what generator 17 adds --- */

static unsigned cancelled_generator(uint64_t seed)
{
    static const unsigned others[] = {GENERATOR_GROWTH, GENERATOR_GROWTH, GENERATOR_WAITS, GENERATOR_MASTERS};
    return seed % 8 < 4 ? GENERATOR_DEATHS : others[seed % 8 - 4];
}

static void add_cancel(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 31 + scenario->runs);
    const bool cancels = random_between(&random, 0, 3) > 0, drains = random_between(&random, 0, 1);
    const uint64_t duration = duration_ns(scenario), within = random_between(&random, 0, 1) ? duration : duration / 8;
    const uint64_t at_ns = random_between(&random, 1, within + 1), later_ns = random_between(&random, 0, 3);
    const unsigned rank = (unsigned)random_between(&random, 0, config->masters + config->workers);
    if (!scenario->cancels || !cancels || scenario->runs >= RUNS_MAX)
        return;
    config->cancel_at_ns = at_ns;
    if (!drains)
        return;
    config->cancel_at_ns += later_ns * (config->latency_ns + 1);
    config->drain_at_ns = at_ns;
    config->drain_rank = rank;
}

/* --- what generator 18 adds --- */

/* Kills ranks of a pod at some time while it is there: all, its master, or some of its workers. */
static void lose_pod(struct scenario *scenario, struct random *random, const struct virtual_pod *pod, unsigned first,
                     uint64_t duration)
{
    struct virtual_config *config = &scenario->config;
    const uint64_t kind = random_between(random, 0, 5), at_ns = pod->at_ns + random_between(random, 0, duration);
    const uint64_t apart_ns = random_between(random, 0, 1) * some_number(random, 18);
    for (unsigned i = 0; kind < 3 && i <= pod->workers; i++) {
        if ((kind == 1 && i > 0) || (kind == 2 && (i == 0 || random_between(random, 0, 1))))
            continue;
        scenario->faults[config->fault_count++] = (struct virtual_fault){
            .type = VIRTUAL_KILL,
            .rank = first + i,
            .at_ns = at_ns + i * apart_ns,
            .after_actions = (unsigned)random_between(random, 0, 4),
        };
    }
}

/* A rank of a pod may have a problem, for which the pod is left out: where nothing happens to the launch it has workers
 * that go on. */
static void make_unfit(struct scenario *scenario, const struct virtual_pod *pod, unsigned first, uint64_t duration)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 39 + first);
    if (random_between(&random, 0, 3) > 0 || config->fault_count == FAULTS_MAX)
        return;
    scenario->faults[config->fault_count++] = (struct virtual_fault){
        .type = VIRTUAL_PROBLEM,
        .rank = first + (unsigned)random_between(&random, 0, pod->workers),
        .at_ns = pod->at_ns + random_between(&random, 0, duration),
    };
}

/* Nothing happens to a rank from `first` on, and nobody else but the supermaster is told to drain. */
static void spare_from(struct scenario *scenario, unsigned first)
{
    struct virtual_config *config = &scenario->config;
    unsigned kept = 0;
    for (unsigned i = 0; i < config->fault_count; i++)
        if (scenario->faults[i].rank < first)
            scenario->faults[kept++] = scenario->faults[i];
    config->fault_count = kept;
    if (config->drain_rank > config->masters + config->workers)
        config->drain_rank = 0;
}

static void add_pods(struct scenario *scenario)
{
    struct random random;
    struct virtual_config *config = &scenario->config;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 37 + scenario->runs);
    const uint64_t duration = duration_ns(scenario);
    if (!scenario->has_pods)
        return;
    const bool is_empty = config->masters == 0 && !scenario->stops_for_good && random_between(&random, 0, 1);
    config->fault_count = config->masters > 0 ? config->fault_count : 0; /* they are of ranks that are others now */
    config->masters = is_empty ? 0 : config->masters > 0 ? config->masters : 1;
    config->workers = is_empty ? 0 : config->workers;
    config->load_count = 0;
    const unsigned count = (unsigned)random_between(&random, 1, PODS_MAX - 1);
    const bool launch_lasts = config->workers > 0 && config->fault_count == 0 && scenario->deaths.count == 0 &&
                              scenario->bad_count == 0 && !scenario->stops_for_good;
    unsigned first = 1 + config->masters + config->workers;
    uint64_t at_ns = is_empty ? 0 : random_between(&random, 0, duration);
    config->pods = scenario->pods;
    for (unsigned i = 0; i < count; i++) {
        struct virtual_pod *pod = &scenario->pods[config->pod_count++];
        *pod = (struct virtual_pod){at_ns, (unsigned)random_between(&random, 1, POD_WORKERS_MAX),
                                    0.2 + 3 * random_uniform(&random), 0};
        if (random_between(&random, 0, 2) == 0 && scenario->runs < RUNS_MAX)
            pod->leaves_ns = at_ns + random_between(&random, 1, duration);
        if (scenario->runs < RUNS_MAX)
            lose_pod(scenario, &random, pod, first, duration);
        if (launch_lasts)
            make_unfit(scenario, pod, first, duration);
        first += 1 + pod->workers;
        at_ns += random_between(&random, 0, 1) * random_between(&random, 0, duration / 2);
    }
    config->is_elastic = scenario->deaths.count == 0 && scenario->bad_count == 0 && random_between(&random, 0, 1);
    spare_from(scenario, first);
    if (!is_empty && !config->is_elastic)
        return;
    scenario->pods[config->pod_count++] = (struct virtual_pod){at_ns + 2 * duration, POD_WORKERS_MAX, 1, 0};
    scenario->refusal.nth = 0; /* without memory for it nobody might come */
}

/* --- all of them --- */

static void make_scenario(struct scenario *scenario, unsigned generator, uint64_t seed)
{
    struct random random, more;
    if (generator == GENERATOR_WAITS) {
        scenario->has_precedence = true;
        scenario->generator = generator = GENERATOR_DEATHS - 1;
    }
    if (generator == GENERATOR_DEPENDENT || is_of_losses(scenario)) {
        make_dependent(scenario);
        if (generator == GENERATOR_ROWS)
            make_deadly_rows(scenario);
        return;
    }
    init_random(scenario, 0, &random);
    init_random(scenario, 1, &more);
    make_run(scenario, &random);
    if (generator > 1)
        make_more(scenario, &more);
    random_init(&random, ~seed);
    if (generator > 2)
        make_hangs(scenario, &random);
    if (generator > 3)
        make_bad(scenario);
    if (generator > 4)
        make_nonsense(scenario);
    if (generator > 5)
        make_steps(scenario);
    if (generator > 7)
        make_refills(scenario);
    if (generator > 9)
        make_recalls(scenario);
    if (generator > 10)
        make_verification(scenario);
    if (generator > 11)
        make_deaths(scenario);
    make_growth(scenario);
    scenario->config.cuts_at_once = generator <= 9 || seed % 4 != 0;
    if (scenario->has_precedence) {
        make_precedence(scenario);
        add_precedence(scenario);
    }
}

/* --- what generator 19 adds --- */

static unsigned generator_ahead(uint64_t seed)
{
    static const unsigned others[] = {GENERATOR_GROWTH, GENERATOR_GROWTH, GENERATOR_WAITS, GENERATOR_CANCELS,
                                      GENERATOR_PODS};
    return seed % 8 < 3 ? GENERATOR_DEATHS : others[seed % 8 - 3];
}

static void add_ahead(struct scenario *scenario)
{
    scenario->config.begins_ahead = scenario->begins_ahead && scenario->config.columns == 0;
}

/* --- what generator 20 adds --- */

static void add_results(struct scenario *scenario)
{
    struct random random;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 41 + scenario->runs);
    scenario->config.sends_results = scenario->sends_results && random_between(&random, 0, 3) > 0;
}

/* --- what generator 21 adds --- */

static unsigned generator_computing(uint64_t seed)
{
    static const unsigned others[] = {GENERATOR_GROWTH, GENERATOR_WAITS, GENERATOR_CANCELS, GENERATOR_AHEAD};
    return seed % 8 < 4 ? GENERATOR_DEATHS : others[seed % 8 - 4];
}

/* The ranks are those that there were. */
static void add_computing(struct scenario *scenario)
{
    struct virtual_config *config = &scenario->config;
    const unsigned both = config->masters > 0 ? config->masters : 1;
    struct random random;
    if (!scenario->masters_compute || config->columns > 0 || scenario->has_pods)
        return;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 41 + scenario->runs);
    for (unsigned i = 0; i < both; i++)
        scenario->speeds[config->workers++] = 0.2 + 3 * random_uniform(&random);
    config->spec.masters_compute = true;
    config->spec.break_after = random_between(&random, 0, 1) * random_between(&random, 1, 20);
}

/* --- what generator 22 adds: masters ask for refills when their pools are empty --- */

static unsigned generator_of_empty(uint64_t seed)
{
    static const unsigned others[] = {GENERATOR_DEATHS, GENERATOR_MASTERS, GENERATOR_PODS, GENERATOR_AHEAD};
    return others[seed % 4];
}

static void add_refill(struct scenario *scenario)
{
    scenario->config.spec.refill = scenario->when_empty ? RUN_REFILL_WHEN_EMPTY : RUN_REFILL_AHEAD;
}

/* --- what generator 23 adds --- */

static unsigned generator_of_places(uint64_t seed)
{
    static const unsigned others[] = {GENERATOR_DEATHS, GENERATOR_COMPUTING, GENERATOR_CANCELS, GENERATOR_MASTERS,
                                      GENERATOR_DEATHS, GENERATOR_PODS,      GENERATOR_EMPTY,   GENERATOR_LOSSES};
    return others[seed % 8];
}

static void add_places(struct scenario *scenario)
{
    static const char *const placing[] = {"static-steal", "static-steal:chunk=1", "static-steal:chunk=7",
                                          "static-steal:rule=lb4omp", "static-steal:chunk=3,rule=lb4omp"};
    struct virtual_config *config = &scenario->config;
    struct random random;
    random_init(&random, scenario->seed + SPLITMIX64_STEP / 43 + scenario->runs);
    if (!scenario->has_places || config->growth_count > 0 || scenario->has_precedence)
        return;
    config->technique = placing[random_between(&random, 0, sizeof placing / sizeof *placing - 1)];
    config->spec.weighting = random_between(&random, 0, 1) ? SCHED_WEIGHTING_POWER : SCHED_WEIGHTING_NONE;
}

/* --- what generator 24 adds: a server takes what has not begun from workers of its node --- */

static unsigned generator_of_steals(uint64_t seed)
{
    static const unsigned others[] = {GENERATOR_DEATHS,  GENERATOR_DEATHS,  GENERATOR_MASTERS,   GENERATOR_GROWTH,
                                      GENERATOR_CANCELS, GENERATOR_PODS,    GENERATOR_COMPUTING, GENERATOR_EMPTY,
                                      GENERATOR_PLACES,  GENERATOR_RESULTS, GENERATOR_LOSSES,    GENERATOR_WAITS};
    return others[seed % (sizeof others / sizeof *others)];
}

static void add_steals(struct scenario *scenario)
{
    if (!scenario->steals)
        return;
    scenario->config.steals = true;
    scenario->config.cuts_at_once = false;
}

void scenario_make(struct scenario *scenario, unsigned generator, uint64_t seed)
{
    const bool steals = generator == GENERATOR_STEALS;
    if (steals)
        generator = generator_of_steals(seed);
    const bool has_places = generator == GENERATOR_PLACES;
    if (has_places)
        generator = generator_of_places(seed);
    const bool masters_compute = generator == GENERATOR_COMPUTING;
    if (masters_compute)
        generator = generator_computing(seed);
    const bool when_empty = generator == GENERATOR_EMPTY;
    if (when_empty)
        generator = generator_of_empty(seed);
    const bool begins_ahead = generator == GENERATOR_AHEAD;
    if (begins_ahead)
        generator = generator_ahead(seed);
    const bool cancels = generator == GENERATOR_CANCELS;
    if (cancels)
        generator = cancelled_generator(seed);
    const bool sends_results = generator == GENERATOR_RESULTS;
    const bool has_pods = sends_results || generator == GENERATOR_PODS;
    if (has_pods)
        generator = GENERATOR_DEATHS;
    *scenario = (struct scenario){.generator = generator,
                                  .seed = seed,
                                  .cancels = cancels,
                                  .has_pods = has_pods,
                                  .begins_ahead = begins_ahead,
                                  .masters_compute = masters_compute,
                                  .when_empty = when_empty,
                                  .has_places = has_places,
                                  .steals = steals,
                                  .sends_results = sends_results};
    make_scenario(scenario, generator, seed);
    add_cancel(scenario);
    add_pods(scenario);
    add_ahead(scenario);
    add_computing(scenario);
    add_refill(scenario);
    add_results(scenario);
    add_places(scenario);
    add_steals(scenario);
}

static void resume_scenario(struct scenario *scenario)
{
    const struct virtual_config before = scenario->config;
    struct virtual_config *config = &scenario->config;
    struct random random, more;
    scenario->runs++;
    scenario->hangs = false;
    *config = (struct virtual_config){.trace = before.trace};
    scenario->refusal.nth = scenario->bad_count = 0;
    if (before.columns > 0) {
        make_dependent(scenario);
        config->count = before.count;
        config->columns = before.columns;
        config->distance = before.distance;
        config->reach = before.reach;
        config->collect = before.collect;
        config->journal = true;
        if (config->spec.sync_points > config->columns)
            config->spec.sync_points = config->columns;
        if (scenario->generator == GENERATOR_ROWS)
            make_deadly_rows(scenario);
        if (scenario->runs == RUNS_MAX)
            spare_all(scenario);
        return;
    }
    init_random(scenario, 0, &random);
    init_random(scenario, 1, &more);
    make_run(scenario, &random);
    make_more(scenario, &more);
    /* it is the same loop, of which little may be left: who hangs may not have asked for any of it */
    config->first = before.first;
    config->count = before.count;
    config->step_iterations = before.step_iterations;
    config->steps_dependent = before.steps_dependent;
    config->collect = before.collect;
    config->journal = true;
    for (unsigned i = 0; i < scenario->bad_count && before.count > 0; i++)
        scenario->bad[i] = before.first + (scenario->bad[i] + 1) % before.count;
    if (scenario->generator > 3)
        make_bad(scenario);
    if (scenario->generator > 7)
        make_refills(scenario);
    config->spec.recall = before.spec.recall;
    config->spec.verify = before.spec.verify;
    config->spec.verify_seed = before.spec.verify_seed;
    config->cuts_at_once = before.cuts_at_once;
    if (scenario->stops_for_good || scenario->runs >= RUNS_MAX)
        spare_all(scenario);
    if (scenario->has_precedence)
        add_precedence(scenario);
    if (scenario->generator < GENERATOR_DEATHS)
        return;
    config->spec.retries = before.spec.retries;
    add_deaths(scenario);
    make_growth(scenario);
}

void scenario_resume(struct scenario *scenario)
{
    resume_scenario(scenario);
    add_cancel(scenario);
    add_pods(scenario);
    add_ahead(scenario);
    add_computing(scenario);
    add_refill(scenario);
    add_results(scenario);
    add_places(scenario);
    add_steals(scenario);
}
