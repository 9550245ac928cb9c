/* SPDX-License-Identifier: MIT */
/* Recovery points under virtual time: a loop with dependencies that ends at any moment, by a signal or with any of its
 * ranks, is resumed from its journal, with any other masters, workers and technique; the results at the end are
 * the serial ones, and little is computed again. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <stdlib.h>
#include <string.h>

static const char *const techniques[] = {"static", "ss", "css:chunk=4", "gss", "fac2", "awf-c"};
enum { TECHNIQUES = sizeof techniques / sizeof *techniques, ROWS = 120, WORKERS = 4 };

#define MS UINT64_C(1000000)

/* The content of the journal. */
struct state {
    struct ranges done;
    uint64_t digest;
    uint64_t point_at;    /* 0: none */
    unsigned char *point; /* owned */
    uint64_t executed;
    unsigned runs, points, from_point;
};

static double some_milliseconds(void *context, uint64_t iteration)
{
    (void)context;
    return 5e6 + 1e5 * (double)iteration;
}

static struct virtual_config config_of(unsigned masters, const char *technique)
{
    return (struct virtual_config){
        .masters = masters,
        .workers = WORKERS,
        .technique = technique,
        .count = ROWS,
        .columns = 17,
        .cost_ns = some_milliseconds,
        .collect = true,
        .spec.power = RUN_POWER_EQUAL,
        .latency_ns = 1000,
        .service_ns = 200,
        .detect_ns = 1000,
    };
}

static void state_fini(struct state *state)
{
    ranges_fini(&state->done);
    free(state->point);
}

/* The first iteration that is not done. */
static uint64_t end_of_done(const struct state *state, const struct virtual_config *config)
{
    const struct range *first = ranges_length(&state->done) > 0 ? ranges_at(&state->done, 0) : NULL;
    return first != NULL && first->first == config->first ? first->first + first->count : config->first;
}

/* Takes over what the run has recorded: of the points the last one that can be gone on from. */
static void take_over(struct state *state, const struct virtual_config *config, const struct virtual_result *result)
{
    const uint64_t bytes = config->columns * (config->distance > 0 ? config->distance : 1) * sizeof(uint64_t);
    for (size_t i = 0; i < ranges_length(result->journalled); i++) {
        const struct range *range = ranges_at(result->journalled, i);
        uint64_t added;
        ck_assert_int_eq(ranges_add(&state->done, range->first, range->count, &added), 0);
        ck_assert_uint_eq(added, range->count);
    }
    const uint64_t end = end_of_done(state, config);
    for (unsigned i = 0; i < result->point_count; i++) {
        const struct virtual_point *point = &result->points[i];
        ck_assert(point->at > config->first && point->at < config->first + config->count);
        if (point->at > end || (point->at < end && end - point->at < config->distance) || point->at <= state->point_at)
            continue;
        state->point_at = point->at;
        free(state->point);
        state->point = malloc(bytes);
        memcpy(state->point, point->data, bytes);
    }
    state->digest += result->journalled_digest;
    state->executed += result->executed;
    state->points += result->point_count;
    state->runs++;
}

/* Runs what is not done yet. Returns the status; -2: the supermaster was killed. */
static int run(struct virtual_config *config, struct state *state)
{
    struct virtual_result result;
    config->journal = true;
    config->done = &state->done;
    config->done_digest = state->digest;
    config->point_at = state->point_at;
    config->point = state->point;
    state->from_point += state->point_at > 0;
    uint64_t before = ranges_total(&state->done);
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    ck_assert_msg(result.status != -1, "%s with %u masters hangs at rank %u", config->technique, config->masters,
                  result.hung_rank);
    ck_assert_uint_eq(result.wrong + result.misled + result.journalled_early, 0);
    ck_assert_uint_eq(result.drops, 0);
    ck_assert_uint_eq(result.supermaster->resumed, before);
    if (result.status >= 0 && config->failing_journal == 0)
        ck_assert_uint_eq(result.supermaster->ledger.digest, state->digest + result.journalled_digest);
    take_over(state, config, &result);
    virtual_free(cluster);
    return result.status;
}

/* A run that loses its supermaster at that time. The configuration has no faults then. */
static void run_until_killed(struct virtual_config *config, struct state *state, uint64_t at_ns)
{
    const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = 0, .at_ns = at_ns};
    config->faults = &fault;
    config->fault_count = 1;
    ck_assert_int_eq(run(config, state), -2);
    config->faults = NULL;
    config->fault_count = 0;
}

static void assert_done(struct state *state, const struct virtual_config *config, int status)
{
    ck_assert_int_eq(status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(ranges_total(&state->done), config->count);
    ck_assert_msg(state->digest == virtual_serial_checksum(config), "%s with %u masters: another result",
                  config->technique, config->masters);
    state_fini(state);
}

START_TEST(runs_that_end_at_any_moment_are_resumed_until_done)
{
    struct random random;
    random_init(&random, (uint64_t)_i);
    unsigned points = 0, from_point = 0;
    for (int trial = 0; trial < 12; trial++) {
        struct state state = {0};
        struct virtual_config config = {0};
        const uint64_t count = random_between(&random, 1, 200), distance = random_between(&random, 0, 5);
        int status = EXIT_STATUS_DRAINED;
        for (int runs = 0; status != EXIT_STATUS_DONE; runs++) {
            const uint64_t at_ns = 1 + random_between(&random, 0, 800 * MS);
            struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = 0, .at_ns = at_ns};
            config = config_of((unsigned)random_between(&random, 0, 3), techniques[random_next(&random) % TECHNIQUES]);
            config.workers = (unsigned)random_between(&random, config.masters > 1 ? config.masters : 1, 6);
            config.count = count;
            config.distance = distance;
            config.collect = random_next(&random) % 2;
            config.slice_iterations = random_between(&random, 0, 3);
            config.spec.sync_points = random_between(&random, 0, 4);
            config.jitter_ns = random_next(&random) % 2 * 20000;
            config.faults = &fault;
            config.fault_seed = random_next(&random);
            if (runs < 30 && random_next(&random) % 2)
                config.fault_count = 1;
            else if (runs < 30)
                config.drain_at_ns = at_ns;
            if (config.fault_count == 1) /* the supermaster, a master or a worker */
                fault.rank = (unsigned)random_between(&random, 0, config.masters + config.workers);
            status = run(&config, &state);
            ck_assert_int_ne(status, EXIT_STATUS_TASKS);
            ck_assert(status != EXIT_STATUS_FAILED || fault.rank > 0);
        }
        points += state.points;
        from_point += state.from_point;
        assert_done(&state, &config, status);
    }
    ck_assert_uint_gt(points, 10);
    ck_assert_uint_gt(from_point, 0);
}
END_TEST

/* A run of a second is killed each 100 ms later, and resumed. */
START_TEST(little_is_computed_again)
{
    const unsigned masters = (unsigned)_i;
    for (uint64_t at_ns = 300 * MS; at_ns < 1000 * MS; at_ns += 100 * MS) {
        struct state state = {0};
        struct virtual_config config = config_of(masters, "css:chunk=3");
        config.count = 400;
        run_until_killed(&config, &state, at_ns);
        ck_assert_uint_gt(state.point_at, 0);
        ck_assert_uint_gt(ranges_total(&state.done), 0);
        int status = run(&config, &state);
        /* 200 ms from point to point, some 20 ms until a chunk is finished, 50 ms until it is recorded: of four workers
         * with 5 ms and more for a row; and what was running */
        ck_assert_uint_le(state.executed, config.count + WORKERS * 270 / 5 + 2 * WORKERS * 3);
        assert_done(&state, &config, status);
    }
}
END_TEST

/* A point is worth time, not results. */
START_TEST(without_a_point_the_results_are_the_same)
{
    struct state state = {0};
    struct virtual_config config = config_of((unsigned)_i, "fac2");
    config.count = 400;
    config.distance = 3;
    run_until_killed(&config, &state, 500 * MS);
    state.point_at = 0;
    int status = run(&config, &state);
    ck_assert_uint_ge(state.executed, config.count);
    assert_done(&state, &config, status);
}
END_TEST

/* A worker or a master is lost, and so often again until the loop is done. */
START_TEST(a_run_that_loses_a_rank_is_gone_on_with)
{
    const unsigned masters = (unsigned)_i;
    unsigned from_point = 0;
    for (unsigned rank = 1; rank <= masters + 2; rank++) {
        struct state state = {0};
        struct virtual_config config = config_of(masters, "css:chunk=3");
        const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = rank, .at_ns = 450 * MS};
        int status = EXIT_STATUS_FAILED;
        config.count = 400;
        config.faults = &fault;
        config.fault_count = 1;
        while (status == EXIT_STATUS_FAILED)
            status = run(&config, &state);
        ck_assert_uint_gt(state.runs, 2);
        ck_assert_uint_le(state.executed, config.count + state.runs * (WORKERS * 270 / 5 + 2 * WORKERS * 3));
        from_point += state.from_point;
        assert_done(&state, &config, status);
    }
    ck_assert_uint_gt(from_point, 2);
}
END_TEST

/* 1,000 columns are four messages. */
START_TEST(the_data_of_a_point_may_be_long)
{
    struct state state = {0};
    struct virtual_config config = config_of((unsigned)_i, "css:chunk=3");
    config.columns = 1001;
    config.count = 200;
    run_until_killed(&config, &state, 500 * MS);
    ck_assert_uint_gt(state.point_at, 0);
    int status = run(&config, &state);
    assert_done(&state, &config, status);
}
END_TEST

START_TEST(a_journal_that_cannot_be_written_ends_the_run)
{
    for (uint64_t fails = 1; fails < 12; fails++) {
        struct state state = {0};
        struct virtual_config config = config_of((unsigned)_i, "css:chunk=3");
        config.count = 200;
        config.failing_journal = fails;
        ck_assert_int_eq(run(&config, &state), EXIT_STATUS_FAILED);
        config.failing_journal = 0;
        int status = run(&config, &state);
        assert_done(&state, &config, status);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("points");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 100);
    tcase_add_loop_test(tests, runs_that_end_at_any_moment_are_resumed_until_done, 0, 20);
    tcase_add_loop_test(tests, little_is_computed_again, 0, 3);
    tcase_add_loop_test(tests, without_a_point_the_results_are_the_same, 0, 3);
    tcase_add_loop_test(tests, a_run_that_loses_a_rank_is_gone_on_with, 0, 3);
    tcase_add_loop_test(tests, the_data_of_a_point_may_be_long, 0, 3);
    tcase_add_loop_test(tests, a_journal_that_cannot_be_written_ends_the_run, 0, 3);
    suite_add_tcase(suite, tests);
    return suite_run_together(suite);
}
