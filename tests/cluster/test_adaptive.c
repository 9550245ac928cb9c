/* SPDX-License-Identifier: MIT */
/* Techniques that learn, in whole clusters under virtual time: what the workers measure reaches the technique, through
 * masters or without; the weights come to the true speeds and follow a worker that becomes slower; every technique
 * there is computes everything once. */
#include "common/config/run_spec.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/cluster.h"
#include "proto/message.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, ITERATIONS = 200000 };

static const double true_speeds[WORKERS] = {1, 2, 4};
/* 20 us, up to half as much more or less. */
static const double mean_ns = 20000;
static double irregular(void *context, uint64_t iteration)
{
    (void)context;
    return mean_ns * (0.5 + (double)(random_at(17, iteration) >> 11) * 0x1p-53);
}

static struct virtual_config cluster_of(unsigned masters, unsigned workers, const char *technique, uint64_t count)
{
    struct virtual_config config = cluster_plain(masters, workers, technique, count);
    config.cost_ns = irregular;
    return config;
}

/* --- watching a run --- */

/* What is looked for in the lines of a run's trace. */
struct watch {
    const struct supermaster *supermaster;
    unsigned slow; /* worker that becomes slower at `slow_at_us`, all others have WORKERS */
    double slow_at_us;
    unsigned finished;        /* chunks that the slow one began and finished after it */
    bool began_after;         /* its running chunk is one of them */
    uint64_t wanted_step;     /* the weights are taken when so many chunks are cut; 0: not by that */
    unsigned wanted_finished; /* or when the slow one has finished so many; 0: not by that */
    bool taken;
    double weights[WORKERS];
};

static void take_weights(struct watch *watch)
{
    for (unsigned w = 0; !watch->taken && w < WORKERS; w++)
        watch->weights[w] = sched_weight(&watch->supermaster->technique.sched, w);
    watch->taken = true;
}

static void look(void *context, const char *line)
{
    struct watch *watch = context;
    char who[40];
    double time_us;
    int length = 0;
    if (!watch->supermaster->technique.is_ready)
        return;
    ck_assert_int_eq(sscanf(line, "%lf%n", &time_us, &length), 1);
    uint64_t step = watch->supermaster->technique.sched.step;
    if (watch->slow < WORKERS && time_us >= watch->slow_at_us) {
        snprintf(who, sizeof who, " worker %u ", watch->supermaster->config.topology->worker_rank[watch->slow]);
        bool mine = strncmp(line + length, who, strlen(who)) == 0;
        if (mine && strstr(line, "> run #") != NULL)
            watch->began_after = true;
        if (mine && strstr(line, "< finished") != NULL && watch->began_after)
            watch->finished++;
    }
    if ((watch->wanted_step > 0 && step >= watch->wanted_step) ||
        (watch->wanted_finished > 0 && watch->finished >= watch->wanted_finished))
        take_weights(watch);
}

static struct virtual_result run_watched(struct virtual_config *config, struct watch *watch)
{
    config->trace = look;
    config->trace_context = watch;
    struct virtual_cluster *cluster = cluster_new(config);
    watch->supermaster = virtual_supermaster(cluster);
    struct virtual_result result = virtual_run(cluster);
    ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result.executed, config->count);
    ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(0, config->count));
    virtual_free(cluster);
    return result;
}

static void check_weights(const char *what, const struct watch *watch, const double *speeds, double tolerance)
{
    double sum = 0;
    ck_assert_msg(watch->taken, "%s: the run was over before the weights were taken", what);
    for (unsigned w = 0; w < WORKERS; w++)
        sum += speeds[w];
    for (unsigned w = 0; w < WORKERS; w++) {
        double truth = speeds[w] * WORKERS / sum;
        ck_assert_msg(fabs(watch->weights[w] - truth) <= tolerance * truth, "%s: weight of worker %u is %g, truth %g",
                      what, w, watch->weights[w], truth);
    }
}

/* --- learning --- */

static const char *const learners[] = {"awf-b", "awf-d", "awf-c", "awf-e", "af"};
/* Of them those whose weights change with each batch, and with each chunk. A chunk of af is nearly all of a worker's
 * part where iterations differ little: the run is over before it could follow anybody (tests/unit/sched has that). */
enum { LEARNERS = 5, BY_BATCH = 2, FOLLOWERS = 4, MASTERS = 3 };

START_TEST(weights_are_the_true_speeds_after_four_batches)
{
    /* What is said of them is wrong; not by so much that the slowest spends the whole run with its first chunk. */
    static const double said[WORKERS] = {1.4, 2, 3};
    for (unsigned masters = 0; masters < MASTERS; masters++) {
        struct virtual_config config = cluster_of(masters, WORKERS, learners[_i], ITERATIONS);
        struct watch watch = {.slow = WORKERS, .wanted_step = 4 * WORKERS + 1};
        config.speeds = true_speeds;
        config.powers = said;
        run_watched(&config, &watch);
        check_weights(learners[_i], &watch, true_speeds, 0.05);
    }
}
END_TEST

/* The fastest becomes slower: a chunk is half of a worker's part of what is left, so that another one, at a third of
 * its speed, would still compute it when the others are through with everything. */
START_TEST(weights_follow_a_worker_that_becomes_slower)
{
    static const double speeds[WORKERS] = {1, 2, 4.0 / 3};
    for (unsigned masters = 0; masters < MASTERS; masters++) {
        struct virtual_config config = cluster_of(masters, WORKERS, learners[_i], ITERATIONS);
        config.speeds = true_speeds;
        config.spec.power = RUN_POWER_MEASURE;
        config.slow_worker = 2;
        config.slow_at_ns = (uint64_t)(0.55 * ITERATIONS * mean_ns / 7); /* a little more than half of the run */
        config.slow_factor = 3;
        /* Two chunks, or batches, and the way of what was measured: the next chunk is asked for, through a master,
         * before this one ends; a batch counts when the next one begins. */
        struct watch watch = {.slow = 2, .slow_at_us = (double)config.slow_at_ns / 1000};
        watch.wanted_finished = _i < BY_BATCH ? 4 : 3;
        run_watched(&config, &watch);
        check_weights(learners[_i], &watch, speeds, 0.05);
    }
}
END_TEST

/* --- what is measured --- */

START_TEST(probes_tell_of_workers_iterations_and_messages)
{
    for (unsigned masters = 0; masters < MASTERS; masters++) {
        struct virtual_config config = cluster_of(masters, WORKERS, "dfss", 5000);
        config.speeds = true_speeds;
        config.spec.power = RUN_POWER_MEASURE;
        struct virtual_cluster *cluster = cluster_new(&config);
        const struct measured *measured = &virtual_run(cluster).supermaster->speeds.measured;
        uint64_t timed = 0;
        for (unsigned w = 0; w < WORKERS; w++) /* of 64 iterations or more: a deviation of 4 % */
            ck_assert_double_eq_tol(measured->mean_s[w] * true_speeds[w], 20e-6, 0.15 * 20e-6);
        ck_assert_double_eq_tol(measured->mean_s[0] / measured->mean_s[2], 4, 0.01);
        ck_assert_double_eq_tol(measured->cov, 1 / sqrt(12), 0.05);
        for (unsigned i = 0; i < SPEED_CELLS; i++) {
            ck_assert_double_eq_tol(measured->cells[i].mean, 1, 0.35);
            timed += measured->cells[i].count;
        }
        ck_assert_uint_ge(timed, 128);
        ck_assert_uint_le(timed, measured->iterations);
        ck_assert_double_gt(measured->swr, 1.0 / 3);
        ck_assert_double_le(measured->swr, 1);
        /* 2 us there and back, and what the master is busy with the others */
        ck_assert_double_ge(measured->round_trip_s, 4e-6);
        ck_assert_double_le(measured->round_trip_s, 6e-6);
        virtual_free(cluster);
    }
}
END_TEST

static double rising(void *context, uint64_t iteration)
{
    return 1000 + (double)iteration / *(double *)context;
}

START_TEST(a_trend_shows_in_the_profile)
{
    double per_ns = 1; /* 1 us to 17 us */
    struct virtual_config config = cluster_of(1, WORKERS, "dfss", 16000);
    config.cost_ns = rising;
    config.context = &per_ns;
    config.spec.power = RUN_POWER_MEASURE;
    struct virtual_cluster *cluster = cluster_new(&config);
    const struct measured *measured = &virtual_run(cluster).supermaster->speeds.measured;
    for (unsigned i = 0; i < SPEED_CELLS; i++)
        ck_assert_double_eq_tol(measured->cells[i].mean, (1.5 + i) / 9, 0.05);
    virtual_free(cluster);
}
END_TEST

START_TEST(values_that_are_not_given_are_measured)
{
    static const struct {
        const char *technique, *name;
        double value, tolerance;
    } values[] = {
        {"fsc", "h", 5e-6, 1.01e-6},     {"fsc", "sigma", 5.77e-6, 3e-6}, {"fac", "mu", 20e-6, 1e-6},
        {"fac", "sigma", 5.77e-6, 3e-6}, {"tap", "mu", 20e-6, 1e-6},      {"pls", "swr", 0.55, 0.2},
    };
    struct sched_value_used used[SCHED_PARAMS_MAX];
    for (unsigned masters = 0; masters < MASTERS; masters++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            struct virtual_config config = cluster_of(masters, 8, values[i].technique, 20000);
            struct virtual_cluster *cluster = cluster_new(&config);
            const struct supermaster *supermaster = virtual_run(cluster).supermaster;
            unsigned count = sched_values_used(&supermaster->technique.sched, used), k = 0;
            while (k < count && strcmp(used[k].name, values[i].name) != 0)
                k++;
            ck_assert_msg(k < count, "%s: %s is not measured", values[i].technique, values[i].name);
            ck_assert_msg(fabs(used[k].value - values[i].value) <= values[i].tolerance, "%s, %u masters: %s=%g",
                          values[i].technique, masters, values[i].name, used[k].value);
            for (unsigned w = 0; w < 8; w++) /* the powers are not measured by the way */
                ck_assert_double_eq(supermaster->speeds.powers[w], 1);
            virtual_free(cluster);
        }
}
END_TEST

/* --- what it costs --- */

struct count {
    unsigned echoes, feedbacks, deviations, probes;
};

static void count_line(void *context, const char *line)
{
    struct count *count = context;
    count->echoes += strstr(line, "> to ") != NULL && strstr(line, "ECHO") != NULL;
    count->feedbacks += strstr(line, "> to ") != NULL && strstr(line, "FEEDBACK") != NULL;
    count->deviations += strstr(line, "deviation") != NULL;
    count->probes += strstr(line, "> probe") != NULL;
}

static struct count count_lines(unsigned masters, const char *technique, bool measure_power)
{
    struct count count = {0};
    struct virtual_config config = cluster_of(masters, 4, technique, 4000);
    config.spec.power = measure_power ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
    config.trace = count_line;
    config.trace_context = &count;
    struct virtual_cluster *cluster = cluster_new(&config);
    ck_assert_int_eq(virtual_run(cluster).status, EXIT_STATUS_DONE);
    virtual_free(cluster);
    return count;
}

START_TEST(nothing_is_sent_that_nobody_wants)
{
    for (unsigned masters = 0; masters < MASTERS; masters++) {
        struct count count = count_lines(masters, "gss", false);
        ck_assert(count.echoes == 0 && count.feedbacks == 0 && count.deviations == 0 && count.probes == 0);
        count = count_lines(masters, "gss", true);
        ck_assert(count.echoes == 4 * 3 * 2 && count.feedbacks == 0 && count.deviations == 0 && count.probes == 4);
        count = count_lines(masters, "awf-b", false);
        ck_assert(count.echoes == 0 && count.probes == 0 && count.deviations > 0);
        ck_assert_int_eq(count.feedbacks > 0, masters > 0);
        count = count_lines(masters, "fsc", false);
        ck_assert(count.echoes > 0 && count.probes == 4 && count.deviations > 0);
    }
}
END_TEST

/* --- every technique there is --- */

/* Runs and checks what must hold in any run. */
static void run_whole(const struct virtual_config *config)
{
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    ck_assert_msg(result.status == EXIT_STATUS_DONE, "%s, %u masters, %u workers, N=%llu: status %d (%s)",
                  config->technique, config->masters, config->workers, (unsigned long long)config->count, result.status,
                  result.supermaster->failure.text);
    ck_assert_uint_eq(result.executed, config->count);
    ck_assert_uint_eq(result.stored_twice, 0);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(config->first, config->count));
    for (unsigned w = 0; config->count > 0 && w < config->workers; w++) {
        double weight = sched_weight(&result.supermaster->technique.sched, w);
        ck_assert_msg(weight > 0 && weight < INFINITY, "%s: weight %g", config->technique, weight);
    }
    virtual_free(cluster);
}

START_TEST(every_technique_computes_everything_once)
{
    static const unsigned workers[] = {1, 3, 8};
    static const uint64_t counts[] = {0, 1, 7, 1000};
    static const double speeds[] = {1, 4, 2, 0.3, 1, 1, 2, 8};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t t = 0; t < count; t++)
        for (unsigned masters = 0; masters < 4; masters++)
            for (size_t n = 0; n < 4; n++) {
                struct virtual_config config = cluster_of(masters, workers[_i], techniques[t]->name, counts[n]);
                config.speeds = speeds;
                run_whole(&config);
                config.collect = true;
                config.spec.power = RUN_POWER_MEASURE;
                config.slow_worker = 0;
                config.slow_at_ns = 300000;
                config.slow_factor = 5;
                run_whole(&config);
            }
}
END_TEST

enum { SEEDS = 300 };

static double any_cost(void *context, uint64_t iteration)
{
    uint64_t value = random_at(*(uint64_t *)context, iteration);
    return value % 7 == 0 ? 0 : (double)(value % 50000);
}

START_TEST(random_runs_compute_everything_once)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    uint64_t seed = (uint64_t)_i;
    double speeds[20];
    struct random random;
    random_init(&random, seed);
    struct virtual_config config =
        cluster_of((unsigned)random_between(&random, 0, 5), (unsigned)random_between(&random, 1, 20),
                   techniques[random_between(&random, 0, count - 1)]->name, random_between(&random, 0, 600));
    for (unsigned w = 0; w < config.workers; w++)
        speeds[w] = 0.1 + 3 * random_uniform(&random);
    config.speeds = speeds;
    config.nodes = (unsigned)random_between(&random, 1, 4);
    config.spec.power = random_between(&random, 0, 1) ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
    config.collect = random_between(&random, 0, 1);
    config.slice_iterations = random_between(&random, 0, 1) * random_between(&random, 1, 300);
    config.spec.ask_ahead = (enum ask_ahead)random_between(&random, 0, 2);
    config.spec.ask_ahead_chunks = (unsigned)random_between(&random, 1, ASKS_MAX);
    config.latency_ns = random_between(&random, 0, 30000);
    config.service_ns = random_between(&random, 0, 3000);
    const unsigned slow = (unsigned)random_between(&random, 0, config.workers); /* the last is not there */
    config.slow_at_ns = random_between(&random, 0, 5000000);
    const double slow_factor = 0.5 + 10 * random_uniform(&random);
    config.slow_worker = slow;
    config.slow_factor = slow < config.workers ? slow_factor : 0;
    config.cost_ns = any_cost;
    config.context = &seed;
    run_whole(&config);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("adaptive");
    TCase *all = tcase_create("adaptive");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, weights_are_the_true_speeds_after_four_batches, 0, LEARNERS);
    tcase_add_loop_test(all, weights_follow_a_worker_that_becomes_slower, 0, FOLLOWERS);
    tcase_add_test(all, probes_tell_of_workers_iterations_and_messages);
    tcase_add_test(all, a_trend_shows_in_the_profile);
    tcase_add_test(all, values_that_are_not_given_are_measured);
    tcase_add_test(all, nothing_is_sent_that_nobody_wants);
    tcase_add_loop_test(all, every_technique_computes_everything_once, 0, 3);
    tcase_add_loop_test(all, random_runs_compute_everything_once, 0, SEEDS);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
