/* SPDX-License-Identifier: MIT */
/* The three machines together, in one process under virtual time: what must hold in every run (each iteration computed
 * once, stored once, the same checksum, no hang), and traces of small runs kept as text beside this file.
 *
 * After a change of behaviour that is meant, HDSS_UPDATE_TRACES=1 in the environment writes the traces anew: read the
 * difference before it is committed. */
#include "common/config/run_spec.h"
#include "common/metrics/report.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "proto/message.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const techniques[] = {"static", "ss", "css:chunk=7", "gss", "tss", "fac2", "dtss", "dfss", "dgss"};
enum { TECHNIQUES = sizeof techniques / sizeof *techniques };

/* Runs, and checks what must hold in any run; returns the result. The cluster is freed. */
static struct virtual_result run_and_check(const struct virtual_config *config, int status)
{
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    const struct supermaster *supermaster = result.supermaster;
    ck_assert_msg(result.status == status, "%s, %u masters, %u workers, N=%llu: status %d, expected %d (%s)",
                  config->technique, config->masters, config->workers, (unsigned long long)config->count, result.status,
                  status, supermaster->failure.text);
    ck_assert_uint_eq(result.stored_twice, 0);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(supermaster->losses.duplicates, 0);
    if (status == EXIT_STATUS_DONE) {
        ck_assert_uint_eq(result.executed, config->count);
        ck_assert_uint_eq(supermaster->ledger.done, config->count);
        ck_assert_uint_eq(supermaster->ledger.digest, virtual_checksum(config->first, config->count));
    }
    uint64_t iterations = 0;
    for (unsigned w = 0; w < config->workers; w++)
        iterations += supermaster->statistics[w].iterations;
    ck_assert_uint_eq(iterations, supermaster->ledger.done);
    virtual_free(cluster);
    return result;
}

START_TEST(every_technique_on_every_line_up)
{
    const unsigned masters[] = {0, 1, 2, 4}, workers[] = {1, 2, 3, 7, 16};
    const uint64_t counts[] = {0, 1, 5, 1000};
    for (size_t m = 0; m < 4; m++)
        for (size_t w = 0; w < 5; w++)
            for (size_t n = 0; n < 4; n++) {
                struct virtual_config config = cluster_plain(masters[m], workers[w], techniques[_i], counts[n]);
                run_and_check(&config, EXIT_STATUS_DONE);
                config.collect = true;
                config.spec.power = RUN_POWER_MEASURE;
                run_and_check(&config, EXIT_STATUS_DONE);
            }
}
END_TEST

START_TEST(output_of_any_length_on_every_line_up)
{
    const unsigned masters[] = {0, 1, 3}, workers[] = {1, 3, 7};
    for (size_t m = 0; m < 3; m++)
        for (size_t w = 0; w < 3; w++)
            for (uint64_t slice = 0; slice <= 90; slice += 45) {
                struct virtual_config config = cluster_plain(masters[m], workers[w], techniques[_i], 1500);
                config.collect = config.variable = true;
                config.slice_iterations = slice;
                run_and_check(&config, EXIT_STATUS_DONE);
            }
}
END_TEST

static double irregular(void *context, uint64_t iteration)
{
    return 200 + (double)(random_at(*(uint64_t *)context, iteration) % 5000);
}

/* A random line-up, job and machine from a seed. */
static struct virtual_config random_config(uint64_t *seed, double *speeds)
{
    struct random random;
    random_init(&random, *seed);
    struct virtual_config config =
        cluster_plain((unsigned)random_between(&random, 0, 5), (unsigned)random_between(&random, 1, 20),
                      techniques[random_between(&random, 0, TECHNIQUES - 1)], random_between(&random, 0, 600));
    for (unsigned w = 0; w < config.workers; w++)
        speeds[w] = 0.1 + 3 * random_uniform(&random);
    config.speeds = speeds;
    config.nodes = (unsigned)random_between(&random, 1, 4);
    config.spec.group_by = random_between(&random, 0, 1) ? RUN_GROUP_BY_EVEN : RUN_GROUP_BY_NODE;
    config.first = random_between(&random, 0, 1) * 1000;
    config.spec.power = random_between(&random, 0, 1) ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
    config.collect = random_between(&random, 0, 1);
    config.slice_iterations = random_between(&random, 0, 1) * random_between(&random, 1, 300);
    config.spec.ask_ahead = (enum ask_ahead)random_between(&random, 0, 2);
    config.spec.ask_ahead_chunks = (unsigned)random_between(&random, 1, ASKS_MAX);
    config.spec.min_chunk = random_between(&random, 0, 10);
    config.latency_ns = random_between(&random, 0, 30000);
    config.remote_latency_ns = random_between(&random, 0, 100000);
    config.service_ns = random_between(&random, 0, 3000);
    config.cost_ns = irregular;
    config.context = seed;
    return config;
}

enum { SEEDS = 400 };

START_TEST(random_runs_compute_everything_once)
{
    uint64_t seed = (uint64_t)_i;
    double speeds[20];
    struct virtual_config config = random_config(&seed, speeds);
    run_and_check(&config, EXIT_STATUS_DONE);
}
END_TEST

START_TEST(random_runs_drain_cleanly)
{
    uint64_t seed = (uint64_t)_i;
    double speeds[20];
    struct virtual_config config = random_config(&seed, speeds);
    config.count += 50;
    struct virtual_cluster *cluster = cluster_new(&config);
    config.drain_at_ns = 1 + random_at(seed, 1) % (virtual_run(cluster).end_ns + 1);
    config.drain_rank = (unsigned)(random_at(seed, 2) % (1 + config.masters + config.workers));
    virtual_free(cluster);
    cluster = cluster_new(&config);
    struct virtual_result result = virtual_run(cluster);
    const struct ledger *ledger = &result.supermaster->ledger;
    bool complete = ledger->done == config.count;
    ck_assert_int_eq(result.status, complete ? EXIT_STATUS_DONE : EXIT_STATUS_DRAINED);
    ck_assert_uint_eq(result.stored_twice, 0);
    ck_assert_uint_eq(result.wrong, 0);
    /* What was computed is stored and counted, nothing of it is dropped. */
    ck_assert_uint_eq(result.executed, ledger->done);
    virtual_free(cluster);
}
END_TEST

static enum virtual_outcome one_fails(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 321 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

/* Nothing works with the first worker. */
static enum virtual_outcome one_worker_fails(void *context, unsigned rank, uint64_t iteration)
{
    const struct virtual_config *config = context;
    (void)iteration;
    return rank == config->masters + 1 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

static enum virtual_outcome one_kills(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 77 ? VIRTUAL_CRASHES : VIRTUAL_WORKS;
}

/* Runs 500 iterations of which exactly [first, first + 1) is given up, for this reason. */
static void run_with_failure(struct virtual_config *config, uint64_t bad, unsigned tries, const char *reason)
{
    config->context = config;
    config->detect_ns = 5000;
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    const struct supermaster *supermaster = result.supermaster;
    const struct ranges *failed = &supermaster->ledger.failed;
    ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(supermaster->ledger.done, config->count - 1);
    ck_assert_uint_eq(supermaster->ledger.digest, virtual_checksum(0, config->count) - virtual_checksum(bad, 1));
    ck_assert(ranges_total(failed) == 1 && ranges_contains(failed, bad));
    unsigned given_up = 0, seen = 0;
    for (unsigned i = 0; i < supermaster->failures.count; i++) {
        const struct report_failure *failure = &supermaster->failures.list[i];
        seen += failure->range.first == bad;
        given_up += failure->given_up;
        if (failure->given_up)
            ck_assert(failure->range.first == bad && failure->range.count == 1 && strcmp(failure->text, reason) == 0);
    }
    ck_assert_uint_eq(given_up, 1);
    ck_assert_uint_eq(seen, tries);
    struct failure_figures figures;
    ck_assert(supermaster_tell_given_up(supermaster, 0, &figures) &&
              !supermaster_tell_given_up(supermaster, 1, &figures));
    ck_assert(figures.range.first == bad && figures.range.count == 1);
    ck_assert_str_eq(figures.reason, reason);
    virtual_free(cluster);
}

START_TEST(what_fails_everywhere_is_given_up_after_its_retries)
{
    for (unsigned masters = 0; masters < 3; masters++)
        for (unsigned retries = 0; retries < 4; retries++)
            for (unsigned workers = 1; workers < 6; workers += 2) {
                struct virtual_config config = cluster_plain(masters, workers, "fac2", 500);
                config.outcome = one_fails;
                config.spec.retries = retries;
                config.collect = retries % 2;
                run_with_failure(&config, 321, retries + 1, "iteration failed");
            }
}
END_TEST

START_TEST(what_fails_with_one_worker_is_done_by_another)
{
    for (unsigned masters = 0; masters < 3; masters++) {
        struct virtual_config config = cluster_plain(masters, 6, "gss", 500);
        config.outcome = one_worker_fails;
        config.context = &config;
        config.spec.retries = 1;
        config.collect = true;
        struct virtual_result result;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
        ck_assert_uint_eq(result.wrong, 0);
        ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(0, 500));
        ck_assert_uint_gt(result.supermaster->failures.seen, 0);
        ck_assert_uint_eq(result.supermaster->service.poisons.count, 0);
        virtual_free(cluster);
    }
}
END_TEST

START_TEST(what_kills_two_workers_costs_no_third)
{
    for (unsigned masters = 0; masters < 3; masters++)
        for (unsigned collect = 0; collect < 2; collect++) {
            struct virtual_config config = cluster_plain(masters, 6, "css:chunk=50", 500);
            config.outcome = one_kills;
            config.collect = collect;
            run_with_failure(&config, 77, 1, "killed the child process");
            struct virtual_result result;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            ck_assert_uint_eq(result.killed, 2);
            ck_assert_uint_eq(result.supermaster->losses.workers_lost, 2);
            virtual_free(cluster);
        }
}
END_TEST

START_TEST(a_failing_store_ends_the_run)
{
    for (unsigned masters = 0; masters < 3; masters++)
        for (uint64_t nth = 1; nth < 20; nth += 6) {
            struct virtual_config config = cluster_plain(masters, 4, "gss", 500);
            config.collect = true;
            config.failing_store = nth;
            struct virtual_result result;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            ck_assert_int_eq(result.status, EXIT_STATUS_FAILED);
            ck_assert_str_eq(result.supermaster->failure.text, "No space left on device");
            virtual_free(cluster);
        }
}
END_TEST

/* Runs with one rank killed in the middle, and says what the supermaster says of it. */
static struct losses run_with_loss(unsigned masters, unsigned workers, unsigned rank, int status, struct error *text)
{
    struct virtual_config config = cluster_plain(masters, workers, "css:chunk=20", 2000);
    const struct virtual_fault fault = {VIRTUAL_KILL, rank, 100000};
    config.collect = true;
    config.faults = &fault;
    config.fault_count = 1;
    config.detect_ns = 5000;
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, status);
    ck_assert_uint_eq(result.wrong, 0);
    if (status == EXIT_STATUS_DONE)
        ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(0, 2000));
    else
        ck_assert_str_eq(result.supermaster->failure.text, "all workers are lost");
    ck_assert_uint_eq(supermaster_loss_count(result.supermaster), 1);
    supermaster_loss_text(result.supermaster, 0, text);
    struct losses losses = result.supermaster->losses;
    virtual_free(cluster);
    return losses;
}

START_TEST(losses_are_survived_and_counted)
{
    struct error text;
    struct losses losses = run_with_loss(0, 3, 2, EXIT_STATUS_DONE, &text);
    ck_assert(losses.workers_lost == 1 && losses.masters_lost == 0 && losses.reissued >= 1);
    ck_assert_ptr_nonnull(strstr(text.text, "worker rank 2 on node 0 was lost; its "));
    losses = run_with_loss(2, 6, 4, EXIT_STATUS_DONE, &text); /* told by its master */
    ck_assert(losses.workers_lost == 1 && losses.masters_lost == 0 && losses.reissued >= 1);
    losses = run_with_loss(2, 2, 3, EXIT_STATUS_DONE, &text); /* the only one of its master, which leaves */
    ck_assert(losses.workers_lost == 1 && losses.masters_left == 2 && losses.masters_lost == 0);
    losses = run_with_loss(2, 6, 1, EXIT_STATUS_DONE, &text); /* its workers are adopted */
    ck_assert(losses.workers_lost == 0 && losses.masters_lost == 1 && losses.orphans == 0);
    ck_assert_str_eq(text.text, "master rank 1 was lost; its workers go on with the supermaster");
    losses = run_with_loss(0, 1, 1, EXIT_STATUS_FAILED, &text);
    ck_assert_uint_eq(losses.workers_lost, 1);
    ck_assert_str_eq(text.text, "worker rank 1 on node 0 was lost"); /* its chunks go to nobody */
}
END_TEST

/* When the supermaster is gone that has seen all done at `done_ns`. */
struct end_times {
    uint64_t done_ns, gone_ns;
    const struct virtual_cluster *cluster;
};

static void note_end_times(void *context, const char *line)
{
    struct end_times *times = context;
    const struct supermaster *supermaster = virtual_supermaster(times->cluster);
    const uint64_t now_ns = supermaster->step.now_ns;
    (void)line;
    if (times->done_ns == 0 && ledger_is_complete(&supermaster->ledger))
        times->done_ns = now_ns;
    if (times->gone_ns == 0 && supermaster->state == SUPERMASTER_GONE)
        times->gone_ns = now_ns;
}

/* A worker is stopped for ever in its chunk, which another computes, too. */
START_TEST(the_end_does_not_wait_for_a_worker_that_hangs)
{
    for (unsigned masters = 0; masters < 3; masters++)
        for (unsigned patient = 0; patient < 2; patient++) {
            struct virtual_config config = cluster_plain(masters, 6, "css:chunk=20", 2000);
            const struct virtual_fault fault = {.type = VIRTUAL_STOP, .rank = masters + 2, .at_ns = 100000};
            struct end_times times = {0};
            struct virtual_result result;
            struct error text;
            config.collect = true;
            config.is_patient = patient;
            config.faults = &fault;
            config.fault_count = 1;
            config.trace = note_end_times;
            config.trace_context = &times;
            struct virtual_cluster *cluster = virtual_new(&config, &text);
            ck_assert_ptr_nonnull(cluster);
            times.cluster = cluster;
            result = virtual_run(cluster);
            const struct losses *losses = &result.supermaster->losses;
            ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
            ck_assert_uint_eq(result.wrong, 0);
            ck_assert_uint_eq(losses->workers_lost, 1);
            ck_assert_uint_eq(losses->workers_late, !patient);
            supermaster_loss_text(result.supermaster, 0, &text);
            ck_assert_ptr_nonnull(
                strstr(text.text, patient ? "was lost" : "had not left when all was done, and is not waited for"));
            ck_assert(times.done_ns > 0 && times.gone_ns > times.done_ns);
            const uint64_t waited_ns = times.gone_ns - times.done_ns;
            ck_assert_msg((waited_ns >= LEAVE_NS) == patient, "%u masters, patient %u: waited %g s", masters, patient,
                          (double)waited_ns / 1e9);
            ck_assert(patient || waited_ns < 3 * LEAVE_LATE_NS);
            virtual_free(cluster);
        }
}
END_TEST

static double twenty_ms(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 20e6;
}

/* Both masters are lost, and then a worker stands still that may be the only one with something to do. In some runs the
 * supermaster hears of the second loss from that worker, when others wait already and nobody has a chunk that could be
 * overdue. */
START_TEST(who_waits_gets_what_a_worker_hangs_with_that_was_adopted_later)
{
    for (unsigned i = 0; i < 2 * 2 * 4 * 8; i++) {
        struct virtual_config config = cluster_plain(2, 4, "ss", 1);
        const unsigned earlier = 1 + i % 2, hung = 3 + i / 4 % 4;
        const struct virtual_fault faults[] = {
            {VIRTUAL_KILL, earlier, 2000000}, {VIRTUAL_KILL, 3 - earlier, 4000000}, {VIRTUAL_STOP, hung, 6000000}};
        config.cost_ns = twenty_ms;
        config.spec.recall = i / 2 % 2 ? RUN_RECALL_ON : RUN_RECALL_OFF;
        config.faults = faults;
        config.fault_count = 3;
        config.detect_ns = 1000000;
        config.fault_seed = i / 16;
        struct virtual_result result;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_msg(result.status == EXIT_STATUS_DONE, "run %u: master %u lost first, rank %u hung: status %d", i,
                      earlier, hung, result.status);
        ck_assert_uint_eq(result.supermaster->ledger.done, 1);
        virtual_free(cluster);
    }
}
END_TEST

START_TEST(faster_workers_get_larger_chunks)
{
    const double speeds[] = {1, 2, 4, 1};
    for (unsigned masters = 0; masters < 3; masters++) {
        struct virtual_config config = cluster_plain(masters, 4, "dfss", 100000);
        config.speeds = speeds;
        config.spec.power = RUN_POWER_MEASURE;
        struct virtual_result result;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        const struct supermaster *supermaster = result.supermaster;
        for (unsigned w = 0; w < 4; w++)
            ck_assert_double_eq_tol(supermaster->speeds.powers[w], speeds[w], 0.01);
        /* 100,000 iterations of 1 us over a power of 8: the ideal is 12.5 ms. */
        ck_assert_double_le((double)(supermaster->last_commit_ns - supermaster->cut.first_ns), 12.5e6 * 1.02);
        virtual_free(cluster);
    }
}
END_TEST

/* Loop time of 1 us iterations on two workers, over the ideal one. */
static double stretch(uint64_t latency_ns, const char *technique, uint64_t count, enum ask_ahead ask_ahead)
{
    struct virtual_config config = cluster_plain(0, 2, technique, count);
    config.latency_ns = latency_ns;
    config.service_ns = 100;
    config.spec.ask_ahead = ask_ahead;
    return (double)run_and_check(&config, EXIT_STATUS_DONE).end_ns / ((double)count * 500);
}

START_TEST(asking_ahead_hides_the_network)
{
    /* Chunks of 100 us, a round trip of 20 us: without asking ahead a worker idles for about a sixth of the time. */
    ck_assert_double_ge(stretch(10000, "css:chunk=100", 40000, ASK_AHEAD_OFF), 1.15);
    ck_assert_double_le(stretch(10000, "css:chunk=100", 40000, ASK_AHEAD_AUTO), 1.03);
    /* Chunks shorter than the round trip must be asked for in numbers, while earlier requests are under way. */
    ck_assert_double_ge(stretch(10000, "css:chunk=5", 40000, ASK_AHEAD_OFF), 4);
    ck_assert_double_le(stretch(10000, "css:chunk=5", 40000, ASK_AHEAD_AUTO), 1.05);
    ck_assert_double_le(stretch(30000, "css:chunk=10", 40000, ASK_AHEAD_AUTO), 1.05);
}
END_TEST

static double ten_us(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 10000;
}

/* A round trip to the supermaster takes four chunks: one refill at a time would keep the workers waiting. */
struct order_trace {
    uint64_t digest, last_us;
};

static void digest_order_trace(void *context, const char *line)
{
    struct order_trace *trace = context;
    for (const char *c = line; *c != '\0'; c++)
        trace->digest = (trace->digest ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    uint64_t now_us = strtoull(line, NULL, 10);
    ck_assert_uint_ge(now_us, trace->last_us);
    trace->last_us = now_us;
}

static uint64_t run_in_order(uint64_t seed, unsigned masters)
{
    struct virtual_config config = cluster_plain(masters, 6, "fac2", 300);
    struct order_trace trace = {0};
    struct virtual_result result;
    config.in_order = true;
    config.collect = true;
    config.order_seed = seed;
    config.call_ns = 30;
    config.cold_ns = 250;
    config.trace = digest_order_trace;
    config.trace_context = &trace;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result.executed, 300);
    ck_assert_uint_eq(result.stored_twice + result.wrong, 0);
    virtual_free(cluster);
    return trace.digest;
}

START_TEST(a_seed_shuffles_what_comes_at_one_moment)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        const uint64_t fixed = run_in_order(0, masters);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            const uint64_t digest = run_in_order(seed, masters);
            ck_assert(digest == run_in_order(seed, masters));
            ck_assert(digest != fixed && digest != run_in_order(seed + 20, masters));
        }
    }
}
END_TEST

static double costs_nothing(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 0;
}

/* The nanoseconds between RUN and FINISHED, of the first chunk and of the last. */
static void note_chunk_ns(void *context, const char *line)
{
    double *noted = context, now_us = strtod(line, NULL);
    if (strstr(line, "> run #") != NULL)
        noted[2] = now_us;
    if (strstr(line, "< finished") != NULL)
        noted[noted[0] > 0] = 1000 * (now_us - noted[2]);
}

/* The first call is cold, and so is one that comes long after the one before. */
START_TEST(iterations_that_cost_nothing_take_a_worker_its_time)
{
    const uint64_t latencies_ns[] = {2000, 2000000};
    for (unsigned i = 0; i < 2; i++) {
        struct virtual_config config = cluster_plain(0, 1, "css:chunk=10", 100);
        struct virtual_result result;
        double noted[3] = {0};
        config.spec.ask_ahead = ASK_AHEAD_OFF;
        config.latency_ns = latencies_ns[i];
        config.cost_ns = costs_nothing;
        config.call_ns = 3000;
        config.cold_ns = 25000;
        config.iteration_ns = 200;
        config.trace = note_chunk_ns;
        config.trace_context = noted;
        virtual_free(cluster_ran(&config, &result));
        ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
        ck_assert_double_eq_tol(noted[0], 25000 + 10 * 200, 2);
        ck_assert_double_eq_tol(noted[1], (i == 0 ? 3000 : 25000) + 10 * 200, 2);
    }
}
END_TEST

START_TEST(short_chunks_far_from_the_supermaster_keep_workers_busy)
{
    const struct virtual_config config = {
        .masters = 2,
        .workers = 8,
        .nodes = 2,
        .technique = "ss",
        .spec.min_chunk = 1,
        .count = 20000,
        .latency_ns = 500,
        .remote_latency_ns = 20000,
        .service_ns = 200,
        .cost_ns = ten_us,
    };
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, 0);
    uint64_t elapsed = result.supermaster->last_commit_ns - result.supermaster->cut.first_ns;
    ck_assert_double_gt(20000 * 10000.0 / 8 / (double)elapsed, 0.95); /* 0.62 with one refill */
    virtual_free(cluster);
}
END_TEST

START_TEST(workers_and_masters_beyond_the_limits_of_one_message)
{
    struct virtual_config config = cluster_plain(2, 1000, "dfss", 100000);
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    config.unchecked = true; /* the checks take as long as there are ranks, after each step */
    run_and_check(&config, EXIT_STATUS_DONE);
    config = cluster_plain(0, 1000, "ss", 20000);
    config.unchecked = true;
    run_and_check(&config, EXIT_STATUS_DONE);
}
END_TEST

/* --- traces --- */

struct text {
    char bytes[1 << 16];
    size_t length;
};

static void append_line(void *context, const char *line)
{
    struct text *text = context;
    int added = snprintf(text->bytes + text->length, sizeof text->bytes - text->length, "%s\n", line);
    text->length += (size_t)added;
    ck_assert_uint_lt(text->length, sizeof text->bytes);
}

static void check_trace(struct virtual_config *config, const char *name, int status)
{
    static struct text actual, expected;
    char path[512];
    actual.length = 0;
    config->trace = append_line;
    config->trace_context = &actual;
    run_and_check(config, status);
    snprintf(path, sizeof path, "%s/%s.trace", TRACE_DIR, name);
    bool update = getenv("HDSS_UPDATE_TRACES") != NULL;
    FILE *file = fopen(path, update ? "w" : "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    if (update) {
        fwrite(actual.bytes, 1, actual.length, file);
    } else {
        expected.length = fread(expected.bytes, 1, sizeof expected.bytes - 1, file);
        expected.bytes[expected.length] = '\0';
        ck_assert_str_eq(actual.bytes, expected.bytes);
    }
    fclose(file);
}

START_TEST(trace_central)
{
    struct virtual_config config = cluster_plain(0, 2, "gss", 20);
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    check_trace(&config, "central-gss", EXIT_STATUS_DONE);
}
END_TEST

START_TEST(trace_hierarchical)
{
    const double speeds[] = {1, 2};
    struct virtual_config config = cluster_plain(1, 2, "dfss", 24);
    config.speeds = speeds;
    config.spec.power = RUN_POWER_MEASURE;
    config.collect = true;
    config.spec.ask_ahead = ASK_AHEAD_FIXED;
    config.spec.ask_ahead_chunks = 1;
    check_trace(&config, "hierarchical-dfss", EXIT_STATUS_DONE);
}
END_TEST

START_TEST(trace_more_masters_than_workers)
{
    struct virtual_config config = cluster_plain(2, 1, "fac2", 6);
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    check_trace(&config, "two-masters-one-worker", EXIT_STATUS_DONE);
}
END_TEST

START_TEST(trace_empty_loop)
{
    struct virtual_config config = cluster_plain(1, 2, "dtss", 0);
    check_trace(&config, "empty-loop", EXIT_STATUS_DONE);
}
END_TEST

START_TEST(trace_drain)
{
    struct virtual_config config = cluster_plain(1, 2, "css:chunk=4", 40);
    config.collect = true;
    config.spec.ask_ahead = ASK_AHEAD_FIXED;
    config.spec.ask_ahead_chunks = 1;
    config.drain_at_ns = 18000;
    config.drain_rank = 3; /* the signal reaches a worker */
    check_trace(&config, "drain", EXIT_STATUS_DRAINED);
}
END_TEST

static enum virtual_outcome the_eighth_fails(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 7 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

START_TEST(trace_kernel_that_fails)
{
    struct virtual_config config = cluster_plain(1, 2, "css:chunk=5", 20);
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    config.outcome = the_eighth_fails;
    config.spec.retries = 1;
    check_trace(&config, "kernel-fails", EXIT_STATUS_TASKS);
}
END_TEST

START_TEST(the_same_run_gives_the_same_trace)
{
    static struct text first, second;
    uint64_t seed = 7;
    double speeds[20];
    struct virtual_config config = random_config(&seed, speeds);
    config.count = 40;
    config.trace = append_line;
    config.trace_context = &first;
    run_and_check(&config, EXIT_STATUS_DONE);
    config.trace_context = &second;
    run_and_check(&config, EXIT_STATUS_DONE);
    ck_assert_str_eq(first.bytes, second.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cluster");
    TCase *all = tcase_create("cluster");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, every_technique_on_every_line_up, 0, TECHNIQUES);
    tcase_add_loop_test(all, output_of_any_length_on_every_line_up, 0, TECHNIQUES);
    tcase_add_loop_test(all, random_runs_compute_everything_once, 0, SEEDS);
    tcase_add_loop_test(all, random_runs_drain_cleanly, 0, SEEDS);
    tcase_add_test(all, what_fails_everywhere_is_given_up_after_its_retries);
    tcase_add_test(all, what_fails_with_one_worker_is_done_by_another);
    tcase_add_test(all, what_kills_two_workers_costs_no_third);
    tcase_add_test(all, a_failing_store_ends_the_run);
    tcase_add_test(all, losses_are_survived_and_counted);
    tcase_add_test(all, the_end_does_not_wait_for_a_worker_that_hangs);
    tcase_add_test(all, who_waits_gets_what_a_worker_hangs_with_that_was_adopted_later);
    tcase_add_test(all, faster_workers_get_larger_chunks);
    tcase_add_test(all, asking_ahead_hides_the_network);
    tcase_add_test(all, a_seed_shuffles_what_comes_at_one_moment);
    tcase_add_test(all, iterations_that_cost_nothing_take_a_worker_its_time);
    tcase_add_test(all, short_chunks_far_from_the_supermaster_keep_workers_busy);
    tcase_add_test(all, workers_and_masters_beyond_the_limits_of_one_message);
    tcase_add_test(all, trace_central);
    tcase_add_test(all, trace_hierarchical);
    tcase_add_test(all, trace_more_masters_than_workers);
    tcase_add_test(all, trace_empty_loop);
    tcase_add_test(all, trace_drain);
    tcase_add_test(all, trace_kernel_that_fails);
    tcase_add_test(all, the_same_run_gives_the_same_trace);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
