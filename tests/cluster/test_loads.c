/* SPDX-License-Identifier: MIT */
/* --weighting acp in whole clusters under virtual time: the loads of the workers' cores reach the technique, through
 * masters or without; a worker on a core that it shares gets its share; every technique computes everything once. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/cluster.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

enum { WORKERS = 4, ITERATIONS = 100000, LOADED = 2 };

static struct virtual_config cluster_of(unsigned masters, const char *technique)
{
    return (struct virtual_config){
        .masters = masters,
        .workers = WORKERS,
        .nodes = masters > 0 ? masters : 1,
        .technique = technique,
        .spec.weighting = SCHED_WEIGHTING_ACP,
        .spec.min_chunk = 1,
        .count = ITERATIONS,
        .latency_ns = 2000,
        .remote_latency_ns = 5000,
        .service_ns = 500,
    };
}

struct outcome {
    uint64_t end_ns;
    uint64_t iterations[WORKERS], chunks[WORKERS];
    double load[WORKERS];
};

static struct outcome run(const struct virtual_config *config)
{
    struct outcome outcome;
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    const struct supermaster *supermaster = result.supermaster;
    ck_assert_msg(result.status == EXIT_STATUS_DONE, "%s: %d %s", config->technique, result.status,
                  supermaster->failure.text);
    ck_assert_uint_eq(supermaster->ledger.digest, virtual_checksum(0, config->count));
    ck_assert_uint_eq(result.executed, config->count);
    outcome.end_ns = result.end_ns;
    for (unsigned w = 0; w < WORKERS; w++) {
        const struct worker_statistics *statistics = &supermaster->statistics[w];
        outcome.iterations[w] = statistics->iterations;
        outcome.chunks[w] = statistics->chunks;
        outcome.load[w] = statistics->load_chunks > 0 ? statistics->load_sum / (double)statistics->load_chunks : 0;
    }
    virtual_free(cluster);
    return outcome;
}

static const char *const mechanism[] = {"css:chunk=500", "fss", "gss", "tss"};
enum { MECHANISM = sizeof mechanism / sizeof *mechanism };
static const unsigned topologies[] = {0, 1, 2};
enum { TOPOLOGIES = sizeof topologies / sizeof *topologies };

/* As [SW] has it: a worker with half of a core gets half as much as the others, in as many chunks. */
START_TEST(a_loaded_worker_gets_its_share)
{
    const struct virtual_load loads[] = {{LOADED, 0, 2}};
    for (unsigned t = 0; t < TOPOLOGIES; t++) {
        struct virtual_config config = cluster_of(topologies[t], mechanism[_i]);
        config.loads = loads;
        config.load_count = 1;
        struct outcome outcome = run(&config);
        double share = (double)outcome.iterations[LOADED] / (double)outcome.iterations[0];
        ck_assert_msg(share > 0.36 && share < 0.64, "%s, %u masters: %g", mechanism[_i], topologies[t], share);
        ck_assert(outcome.load[LOADED] <= 2 && outcome.load[LOADED] > (topologies[t] == 0 ? 1.999 : 1.5));
        ck_assert(outcome.load[0] == 1);
        config.spec.weighting = SCHED_WEIGHTING_NONE;
        struct outcome plain = run(&config);
        ck_assert_msg((double)outcome.end_ns <= 1.05 * (double)plain.end_ns, "%s, %u masters: %llu ns, without %llu ns",
                      mechanism[_i], topologies[t], (unsigned long long)outcome.end_ns,
                      (unsigned long long)plain.end_ns);
        ck_assert(plain.load[LOADED] == 0);
    }
}
END_TEST

/* The loop takes some 29 ms. */
START_TEST(a_load_may_come_and_go)
{
    const struct virtual_load comes[] = {{LOADED, 3000000, 2}};
    const struct virtual_load goes[] = {{LOADED, 3000000, 4}, {LOADED, 12000000, 1}};
    for (unsigned t = 0; t < TOPOLOGIES; t++) {
        struct virtual_config config = cluster_of(topologies[t], "css:chunk=100");
        config.loads = comes;
        config.load_count = 1;
        struct outcome outcome = run(&config);
        double share = (double)outcome.iterations[LOADED] / (double)outcome.iterations[0];
        ck_assert_msg(share > 0.5 && share < 0.62, "%u masters: %g", topologies[t], share);
        ck_assert_double_gt(outcome.load[LOADED], 1.7);
        ck_assert_double_lt(outcome.load[LOADED], 2);
        config.loads = goes;
        config.load_count = 2;
        outcome = run(&config);
        share = (double)outcome.iterations[LOADED] / (double)outcome.iterations[0];
        ck_assert_msg(share > 0.65 && share < 0.85, "%u masters, and goes: %g", topologies[t], share);
    }
}
END_TEST

/* Power and load: VP 0.8 on a core that is shared with another. */
START_TEST(power_and_load_go_together)
{
    const double powers[] = {1, 0.8, 1, 0.8};
    const struct virtual_load loads[] = {{1, 0, 2}, {3, 0, 2}};
    for (unsigned t = 0; t < TOPOLOGIES; t++) {
        struct virtual_config config = cluster_of(topologies[t], mechanism[_i]);
        config.powers = config.speeds = powers;
        config.loads = loads;
        config.load_count = 2;
        struct outcome outcome = run(&config);
        double share = (double)(outcome.iterations[1] + outcome.iterations[3]) /
                       (double)(outcome.iterations[0] + outcome.iterations[2]);
        ck_assert_msg(share > 0.3 && share < 0.52, "%s, %u masters: %g", mechanism[_i], topologies[t], share);
    }
}
END_TEST

START_TEST(every_technique_computes_everything_once)
{
    const struct virtual_load loads[] = {{LOADED, 0, 2}, {0, 4000000, 3}, {LOADED, 9000000, 1}, {1, 9000000, 1.5}};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t i = 0; i < count; i++)
        for (unsigned t = 0; t < TOPOLOGIES; t++)
            for (unsigned measured = 0; measured <= 1; measured++) {
                struct virtual_config config = cluster_of(topologies[t], techniques[i]->name);
                config.count = 20000;
                config.spec.power = measured ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
                config.loads = loads;
                config.load_count = sizeof loads / sizeof *loads;
                run(&config);
            }
}
END_TEST

START_TEST(auto_takes_loads_into_account)
{
    const struct virtual_load loads[] = {{LOADED, 0, 3}};
    struct virtual_config config = cluster_of(0, "auto");
    config.spec.power = RUN_POWER_MEASURE;
    config.loads = loads;
    config.load_count = 1;
    ck_assert(run(&config).load[LOADED] == 3);
}
END_TEST

/* Random loads that change at random, with messages that are late. */
START_TEST(random_loads_compute_everything_once)
{
    uint64_t seed = (uint64_t)_i;
    struct virtual_load loads[20];
    for (unsigned i = 0; i < 20; i++)
        loads[i] = (struct virtual_load){(unsigned)(random_at(seed, i) % WORKERS), i * 900000 * (1 + seed % 2),
                                         1 + (double)(random_at(seed, 100 + i) % 1000) / 100};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    struct virtual_config config = cluster_of((unsigned)(seed % 4), techniques[random_at(seed, 200) % count]->name);
    config.count = 1 + random_at(seed, 201) % 20000;
    config.jitter_ns = seed % 3 * 3000;
    config.fault_seed = seed;
    config.collect = seed % 2;
    config.loads = loads;
    config.load_count = 20;
    run(&config);
}
END_TEST

/* --- the machines by themselves --- */

static struct actions actions;

static const struct message *find_sent(enum message_type type)
{
    for (size_t i = 0; i < actions.length; i++)
        if (actions.items[i].type == ACTION_SEND && actions.items[i].send.message.type == type)
            return &actions.items[i].send.message;
    return NULL;
}

START_TEST(a_request_tells_the_latest_load)
{
    static const struct run_spec spec = {.ask_ahead = ASK_AHEAD_OFF};
    const struct worker_config config = {.spec = &spec, .rank = 7, .master = 1, .load = 300};
    const struct message assign = {.type = MESSAGE_ASSIGN, .assign = {1, 0, 100}};
    struct event finished = {.type = EVENT_FINISHED, .chunk = {.done = 100, .count = 100, .compute_ns = 400}};
    struct worker worker;
    ck_assert_int_eq(actions_init(&actions, 8), 0);
    worker_init(&worker, &config);
    worker_step(&worker, &(struct event){.type = EVENT_START}, &actions);
    ck_assert_uint_eq(find_sent(MESSAGE_REQUEST)->request.load, 300);
    actions_clear(&actions);
    worker_step(&worker, &(struct event){.type = EVENT_MESSAGE, .from = 1, .message = &assign}, &actions);
    actions_clear(&actions);
    worker_step(&worker, &(struct event){.type = EVENT_LOAD, .load = 512}, &actions);
    ck_assert_uint_eq(actions.length, 0);
    worker_step(&worker, &finished, &actions);
    ck_assert_uint_eq(find_sent(MESSAGE_REQUEST)->request.load, 512);
    actions_fini(&actions);
}
END_TEST

static const unsigned ranks[] = {4, 5, 6};

static void give_master(struct master *master, unsigned from, uint16_t load)
{
    const struct message request = {.type = MESSAGE_REQUEST, .request = {.asks = 1, .load = load}};
    actions_clear(&actions);
    master_step(master, &(struct event){.type = EVENT_MESSAGE, .now_ns = 1000, .from = from, .message = &request},
                &actions);
}

START_TEST(a_master_tells_what_has_changed)
{
    static const struct run_spec spec = {.refill_chunks = 1, .threads = 1};
    const struct master_config config = {.spec = &spec, .rank = 1, .ranks = ranks, .workers = 3};
    struct master master;
    struct load_record record;
    ck_assert_int_eq(actions_init(&actions, 8), 0);
    ck_assert_int_eq(master_init(&master, &config), 0);
    give_master(&master, 5, 512);
    const struct message *loads = find_sent(MESSAGE_LOADS);
    ck_assert(loads != NULL && loads < find_sent(MESSAGE_REPORT)); /* ahead of the wish for a refill */
    ck_assert_uint_eq(loads->record_count, 1);
    load_record_get(loads->records, 0, &record);
    ck_assert_uint_eq(record.worker, 5);
    ck_assert_uint_eq(record.load, 512);
    give_master(&master, 5, 512);
    ck_assert_ptr_null(find_sent(MESSAGE_LOADS));
    give_master(&master, 4, 0); /* one that tells none */
    ck_assert_ptr_null(find_sent(MESSAGE_LOADS));
    master_fini(&master);
    actions_fini(&actions);
}
END_TEST

static struct virtual_cluster *begin_cluster(const struct virtual_config *config)
{
    struct virtual_cluster *cluster = cluster_new(config);
    return cluster;
}

/* Ranks: 0 the supermaster, 1 and 2 masters, 3 and 4 workers of the first, 5 and 6 of the second. */
static void tell_load(unsigned worker, bool refused)
{
    struct virtual_config config = cluster_of(2, "css");
    struct virtual_cluster *cluster = begin_cluster(&config);
    struct supermaster supermaster = *virtual_supermaster(cluster);
    unsigned char records[LOAD_RECORD_BYTES];
    const struct message loads = {.type = MESSAGE_LOADS, .records = records, .record_count = 1};
    load_record_put(records, 0, &(struct load_record){worker, 700});
    ck_assert_int_eq(actions_init(&actions, 8), 0);
    supermaster_step(&supermaster, &(struct event){.type = EVENT_MESSAGE, .from = 1, .message = &loads}, &actions);
    bool dropped = actions.length > 0 && actions.items[0].type == ACTION_DROP;
    ck_assert_int_eq(dropped, refused);
    if (refused) {
        ck_assert_str_eq(actions.items[0].drop.text, "sent the load of a rank that it does not serve");
    } else {
        ck_assert_uint_eq(supermaster.statistics[worker - 3].load, 700);
    }
    actions_fini(&actions);
    sched_fini(&supermaster.technique.sched); /* which the cluster's own has not begun */
    virtual_free(cluster);
}

START_TEST(a_master_speaks_for_its_workers)
{
    tell_load(3, false);
    tell_load(4, false);
    tell_load(5, true);
    tell_load(1, true);
    tell_load(99, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loads");
    TCase *all = tcase_create("loads");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, a_loaded_worker_gets_its_share, 0, MECHANISM);
    tcase_add_test(all, a_load_may_come_and_go);
    tcase_add_loop_test(all, power_and_load_go_together, 0, MECHANISM);
    tcase_add_test(all, every_technique_computes_everything_once);
    tcase_add_test(all, auto_takes_loads_into_account);
    tcase_add_loop_test(all, random_loads_compute_everything_once, 0, 200);
    tcase_add_test(all, a_request_tells_the_latest_load);
    tcase_add_test(all, a_master_tells_what_has_changed);
    tcase_add_test(all, a_master_speaks_for_its_workers);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
