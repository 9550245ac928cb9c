/* SPDX-License-Identifier: MIT */
/* Random lives of a worker whose helpers die, hang, are late and cannot be had: what a worker does is the product's,
 * its helpers and its clock are made up (helpers.h). See program.h. */
#include "common/machine/executor.h"
#include "common/util/random.h"
#include "tests/seeds/helpers.h"
#include "tests/seeds/helpers_rank.h"
#include "tests/seeds/program.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_NS UINT64_C(100000000)
/* Time between two looks at an iteration. */
#define LOOK_NS 25000000u
/* The helpers behind these meet with nothing. */
#define HARD_HELPERS 40

static struct {
    uint64_t helpers, refused, deaths, failures, blamed, done, back, probes;
} tally;

static bool one_in(struct random *random, uint64_t of)
{
    return random_between(random, 1, of) == 1;
}

/* A time of any order of magnitude, 1 us to about half a second. */
static uint64_t any_ns(struct random *random)
{
    return UINT64_C(1000) << random_between(random, 0, 19);
}

static int any_status(struct random *random)
{
    static const int statuses[] = {SIGSEGV, SIGKILL, SIGABRT, 1 << 8, 77 << 8};
    return statuses[random_between(random, 0, sizeof statuses / sizeof *statuses - 1)];
}

/* What makes a life hard: each of them is there in some lives only. */
struct hardships {
    bool fates, strikes, pauses, refusals, no_process, hangs;
};

/* True where a helper that is silent for good has a command, which has a limit of time. */
static bool is_of_command(enum helpers_point point)
{
    return point == POINT_CLAIMED || point == POINT_RAN || point == POINT_DONE || point == POINT_OVER;
}

static void make_script(struct random *random, const struct hardships *hard, struct helpers_script *script)
{
    script->call = (unsigned)random_between(random, 1, 8);
    script->start_ns = any_ns(random) / 100;
    script->open_ns = any_ns(random) / 10;
    script->close_ns = one_in(random, 20) ? HELPERS_NEVER : any_ns(random);
    script->is_slow_to_die = one_in(random, 2);
    script->no_descriptor = one_in(random, 8);
    script->refuses = hard->refusals && one_in(random, 6);
    script->no_process = hard->no_process && one_in(random, 5);
    for (unsigned i = 0; i < HELPERS_STRIKES; i++) {
        struct helpers_strike *strike = &script->strike[i];
        const bool kills = hard->strikes && one_in(random, 3);
        if (!kills && !(hard->pauses && one_in(random, 3)))
            continue;
        strike->point = (enum helpers_point)random_between(random, 0, HELPERS_POINTS - 1);
        strike->nth = (unsigned)random_between(random, 1, one_in(random, 2) ? 3 : 20);
        strike->status = kills ? any_status(random) : 0;
        strike->pause_ns =
            hard->hangs && is_of_command(strike->point) && one_in(random, 4) ? HELPERS_NEVER : any_ns(random);
    }
}

static void make_world(struct random *random, const struct hardships *hard)
{
    helpers.random = random;
    helpers.no_threads = one_in(random, 8);
    for (unsigned i = 0; i < HELPERS_LOOP; i++) {
        struct helpers_iteration *iteration = &helpers.iteration[i];
        iteration->ns = one_in(random, 20) ? any_ns(random) / 10 : random_between(random, 1000, 20000);
        if (helpers.limit_ns > 0 && one_in(random, 15)) /* it may be over just as its helper is killed */
            iteration->ns = helpers.limit_ns + random_between(random, 0, LOOK_NS);
        if (hard->fates && one_in(random, 12))
            iteration->fate =
                (enum helpers_fate)random_between(random, FATE_DIES, hard->hangs ? FATE_HANGS : FATE_FAILS_FOR_GOOD);
    }
    for (unsigned i = 0; i < HARD_HELPERS; i++)
        make_script(random, hard, &helpers.script[i]);
}

/* What may happen between two turns. */
static void do_something(struct random *random, struct helpers_rank *rank, uint64_t *next)
{
    struct executor *executor = &rank->exec.executor;
    const unsigned free = rank->chunk[0].count > 0;
    if (*next < HELPERS_LOOP && rank->chunk[free].count == 0 && one_in(random, free ? 4 : 2)) {
        const uint64_t left = HELPERS_LOOP - *next, count = random_between(random, 1, left < 40 ? left : 40);
        rank_begin(rank, *next, count, random_between(random, 0, count));
        *next += count;
    }
    if (one_in(random, 20))
        rank_cut(rank, one_in(random, 12) ? RECALL_ALL : (unsigned)random_between(random, 1, 4));
    if (rank->chunk[1].count > 0 && one_in(random, 30))
        rank_forget(rank);
    if (one_in(random, 30))
        executor_put_off(executor);
    if (executor->is_put_off && one_in(random, 4))
        executor_go_on(executor);
    if (one_in(random, 40))
        executor_stop_at(executor, one_in(random, 2) ? helpers.now_ns : UINT64_MAX);
}

/* What others may do to the helper. */
static void strike(struct random *random, const struct hardships *hard)
{
    if (hard->strikes && one_in(random, 60))
        helpers_strike(SIGKILL);
    if (hard->pauses && one_in(random, 60))
        helpers_pause(any_ns(random));
}

static void live(struct random *random, const struct hardships *hard, struct helpers_rank *rank)
{
    struct speed speed;
    uint64_t next = 0;
    const bool is_ended = one_in(random, 10);
    const uint64_t end_at = random_between(random, 0, HELPERS_LOOP);
    bool probes = one_in(random, 4) && !executor_probe(&rank->exec.executor, &speed);
    while (probes && rank->probed == 0 && helpers.wrong[0] == '\0') {
        strike(random, hard);
        if (rank_turn(rank))
            rank_sleep(rank);
    }
    while ((next < HELPERS_LOOP || rank->chunk[0].count > 0) && helpers.wrong[0] == '\0') {
        if (is_ended && next >= end_at && rank->chunk[0].count > 0) {
            rank_end(rank);
            break;
        }
        do_something(random, rank, &next);
        strike(random, hard);
        if (rank_turn(rank) && !one_in(random, 8))
            rank_sleep(rank);
    }
    executor_go_on(&rank->exec.executor);
    rank_finish(rank);
    for (uint64_t i = 0; i < next && helpers.wrong[0] == '\0'; i++)
        if (rank->end[i] == END_NONE)
            helpers_blame("iteration %" PRIu64 " comes to no end", i);
}

static void note(const struct helpers_rank *rank, uint64_t probes)
{
    tally.helpers += helpers.begun;
    tally.refused += helpers.refused;
    tally.deaths += helpers.ended;
    tally.failures += rank->failures;
    tally.probes += probes;
    for (unsigned i = 0; i < HELPERS_LOOP; i++) {
        tally.blamed += rank->end[i] == END_DIED;
        tally.done += rank->end[i] == END_DONE;
        tally.back += rank->end[i] == END_BACK;
    }
}

static const char *run(uint64_t seed, bool trace)
{
    static struct helpers_rank rank;
    struct random random;
    random_init(&random, seed);
    const struct hdss_loop none = {0};
    helpers_init(&none);
    helpers.traces = trace;
    const bool has_limit = one_in(&random, 2);
    const struct hardships hard = {.fates = one_in(&random, 2),
                                   .strikes = one_in(&random, 2),
                                   .pauses = one_in(&random, 2),
                                   .refusals = one_in(&random, 4),
                                   .no_process = one_in(&random, 4),
                                   .hangs = has_limit};
    const struct helpers_rank_config config = {.collect = one_in(&random, 2),
                                               .variable = one_in(&random, 3),
                                               .has_effects = one_in(&random, 3),
                                               .lets_go = one_in(&random, 2),
                                               .begins_late = one_in(&random, 3),
                                               .limit_ns = has_limit ? LIMIT_NS : 0};
    helpers.limit_ns = config.limit_ns;
    make_world(&random, &hard);
    if (rank_open(&rank, &config) == 0) {
        rank.send_ns = one_in(&random, 2) ? 0 : any_ns(&random) / 100;
        live(&random, &hard, &rank);
        rank_close(&rank);
    }
    note(&rank, rank.probed);
    helpers_fini();
    return helpers.wrong[0] != '\0' ? helpers.wrong : NULL;
}

static void print_tally(void)
{
    printf("# %" PRIu64 " helpers, %" PRIu64 " that could not begin; %" PRIu64 " iterations done, %" PRIu64
           " given back, %" PRIu64 " failed, %" PRIu64 " of them with their helper; %" PRIu64 " probes\n",
           tally.helpers, tally.refused, tally.done, tally.back, tally.failures, tally.blamed, tally.probes);
}

static void on_limit(int signal)
{
    (void)signal;
    abort();
}

int main(int argc, char **argv)
{
    const struct seeds_program program = {"seeds-helper", run, print_tally};
    signal(SIGPROF, on_limit);
    return seeds_program_main(&program, argc, argv);
}
