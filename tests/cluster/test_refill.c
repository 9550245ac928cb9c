/* SPDX-License-Identifier: MIT */
/* When a master asks for its next refill: ahead of need where the supermaster is far for its chunks, and only then,
 * since what is in its pool is out of reach for the workers of others. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/service.h"
#include "deploy/simulate/virtual/cluster.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

enum { WORKERS = 200 };

/* --- one master by hand --- */

static struct actions actions;
static struct master master;
static unsigned ranks[WORKERS];
static uint64_t next_iteration;

static void start_master(void)
{
    ck_assert_int_eq(actions_init(&actions, 8), 0);
    for (unsigned w = 0; w < WORKERS; w++)
        ranks[w] = 10 + w;
    static const struct run_spec spec = {.refill_chunks = 1, .threads = 1};
    const struct master_config config = {.spec = &spec, .rank = 1, .ranks = ranks, .workers = WORKERS};
    ck_assert_int_eq(master_init(&master, &config), 0);
}

static void end_master(void)
{
    master_fini(&master);
    actions_fini(&actions);
}

/* Whether the step asks for a refill. */
static bool step(unsigned from, uint64_t now_ns, const struct message *message)
{
    actions_clear(&actions);
    master_step(&master, &(struct event){.type = EVENT_MESSAGE, .now_ns = now_ns, .from = from, .message = message},
                &actions);
    bool asks = false;
    for (size_t i = 0; i < actions.length; i++)
        asks |= actions.items[i].type == ACTION_SEND && actions.items[i].send.message.type == MESSAGE_REPORT &&
                actions.items[i].send.message.report.refill;
    return asks;
}

/* The worker asks for its next chunk, and has finished the one before where there was one. */
static bool ask(unsigned w, uint32_t finished, uint64_t now_ns)
{
    return step(ranks[w], now_ns,
                &(struct message){.type = MESSAGE_REQUEST,
                                  .request = {.chunk = finished, .asks = 1, .done = finished > 0, .compute_ns = 1}});
}

/* One chunk for each worker. */
static bool refill(uint64_t now_ns)
{
    static unsigned char records[WORKERS * CHUNK_RECORD_BYTES];
    for (unsigned w = 0; w < WORKERS; w++, next_iteration += 10)
        chunk_record_put(records, w, &(struct chunk_record){next_iteration, 10, ranks[w]});
    return step(0, now_ns, &(struct message){.type = MESSAGE_REFILL, .records = records, .record_count = WORKERS});
}

/* All workers ask one behind the other, `gap_ns` apart, from `now_ns` on; what the first one's request is asked for
 * comes `delay_ns` later. Returns how many refills were asked for. */
static unsigned round_of_requests(uint32_t finished, uint64_t now_ns, uint64_t gap_ns, uint64_t delay_ns)
{
    unsigned asked = 0;
    uint64_t due_ns = NEVER;
    for (unsigned w = 0; w < WORKERS; w++, now_ns += gap_ns) {
        if (due_ns <= now_ns) {
            asked += refill(due_ns);
            due_ns = NEVER;
        }
        if (ask(w, finished, now_ns)) {
            asked++;
            due_ns = due_ns == NEVER ? now_ns + delay_ns : due_ns;
        }
    }
    return due_ns == NEVER ? asked : asked + refill(due_ns);
}

START_TEST(a_burst_of_equal_chunks_is_no_rate)
{
    start_master();
    unsigned asked = round_of_requests(0, 1000000, 100, 50000);
    ck_assert_uint_eq(asked, 1);
    for (uint32_t chunk = 1; chunk < 6; chunk++) { /* of 10 ms each, that end 10 us apart */
        asked = round_of_requests(chunk, 1000000 + chunk * 10000000ull, 10000, 50000);
        ck_assert_msg(asked == 1, "%u refills for chunk %u of each worker", asked, chunk);
    }
    end_master();
}
END_TEST

/* A worker takes 2 ms for a chunk, and a way to the supermaster 50 us: the pool must not run dry meanwhile. */
START_TEST(a_pool_is_refilled_ahead_where_the_supermaster_is_far)
{
    unsigned dry = 0, refills = 0;
    uint64_t due_ns = NEVER, now_ns = 1000000;
    start_master();
    for (uint32_t i = 0; i < 20 * WORKERS; i++, now_ns += 10000) {
        if (due_ns <= now_ns) {
            ck_assert(!refill(due_ns));
            due_ns = NEVER;
            refills++;
        }
        if (ask(i % WORKERS, i / WORKERS, now_ns)) {
            ck_assert_uint_eq(due_ns, NEVER); /* one at a time is enough */
            due_ns = now_ns + 50000;
        }
        dry += i > 4 * WORKERS && master.service.line.asks > 0;
    }
    ck_assert_uint_ge(refills, 19);
    ck_assert_uint_eq(dry, 0);
    end_master();
}
END_TEST

/* A refill of three chunks for each worker is asked for once in three rounds. */
START_TEST(a_refill_may_bring_several_chunks)
{
    static unsigned char records[3 * 4 * CHUNK_RECORD_BYTES];
    static const struct run_spec spec = {.refill_chunks = 3, .threads = 1};
    const struct master_config config = {.spec = &spec, .rank = 1, .ranks = ranks, .workers = 4};
    unsigned asked = 0;
    start_master();
    master_fini(&master);
    ck_assert_int_eq(master_init(&master, &config), 0);
    for (uint32_t i = 0; i < 4 * 9; i++)
        if (ask(i % 4, i / 4, 1000000 + i * 10000000ull)) {
            asked++;
            for (unsigned k = 0; k < 12; k++, next_iteration += 10)
                chunk_record_put(records, k, &(struct chunk_record){next_iteration, 10, ranks[k % 4]});
            step(0, 1000000 + i * 10000000ull + 50000,
                 &(struct message){.type = MESSAGE_REFILL, .records = records, .record_count = 12});
        }
    ck_assert_uint_eq(asked, 3);
    ck_assert_uint_eq(master.service.assigned, 36);
    end_master();
}
END_TEST

/* --- all of them together --- */

/* Runs the loop, and says how long it took; `refills`, where it is not NULL: how many there were. */
static uint64_t loop_ns(const struct virtual_config *config, uint64_t *refills)
{
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    ck_assert_int_eq(result.status, 0);
    const uint64_t elapsed_ns = result.supermaster->last_commit_ns - result.supermaster->cut.first_ns;
    if (refills != NULL)
        *refills = result.supermaster->refilling.count;
    virtual_free(cluster);
    return elapsed_ns;
}

static double hundred_us(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 1e5;
}

enum { CHUNK = 20, ALL = 1024, EIGHTH = ALL * CHUNK / 8 };

/* Of two chunks for each of ALL workers the first ones are equal within a master, of eight, and shorter in the first
 * masters, so that these ask for their second refill, and wish for a third, before the others. */
static double cost_ns(void *context, uint64_t iteration)
{
    (void)context;
    return iteration < 8 * EIGHTH ? 1e6 * (double)(1 + iteration / EIGHTH) : 1e7;
}

static uint64_t elapsed_ns(unsigned masters, const char *technique, uint64_t count)
{
    struct virtual_config config = cluster_plain(masters, ALL, technique, count);
    config.unchecked = true; /* the checks take as long as there are ranges, after each step */
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    config.spec.recall = RUN_RECALL_OFF; /* it would level unequal shares */
    config.cost_ns = cost_ns;
    return loop_ns(&config, NULL);
}

/* A chunk takes 100 us and the way to the supermaster and back 200: asked for ahead, refills are there in time; asked
 * for with the pool empty, workers wait for half of the time. */
START_TEST(refills_when_empty_keep_workers_waiting)
{
    uint64_t elapsed[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct virtual_config config = {
            .masters = 2,
            .workers = 16,
            .nodes = 2,
            .technique = "ss",
            .spec.min_chunk = 1,
            .spec.refill = i == 0 ? RUN_REFILL_AHEAD : RUN_REFILL_WHEN_EMPTY,
            .spec.recall = RUN_RECALL_OFF,
            .spec.ask_ahead = ASK_AHEAD_OFF,
            .count = 16000,
            .latency_ns = 500,
            .remote_latency_ns = 100000,
            .service_ns = 200,
            .cost_ns = hundred_us,
        };
        elapsed[i] = loop_ns(&config, NULL);
    }
    ck_assert_double_gt((double)elapsed[1], 1.2 * (double)elapsed[0]);
}
END_TEST

/* 64 single iterations of 100 us each for the refills that are open are over in 800 us, and the way there and back
 * takes 4 ms. */
START_TEST(far_refills_of_several_chunks_keep_workers_busy)
{
    uint64_t elapsed[2], refills[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct virtual_config config = {
            .masters = 2,
            .workers = 16,
            .nodes = 2,
            .technique = "ss",
            .spec.min_chunk = 1,
            .spec.refill_chunks = i == 0 ? 1 : 8,
            .spec.recall = RUN_RECALL_OFF,
            .count = 32000,
            .latency_ns = 500,
            .remote_latency_ns = 2000000,
            .service_ns = 200,
            .cost_ns = hundred_us,
        };
        elapsed[i] = loop_ns(&config, &refills[i]);
    }
    ck_assert_uint_eq(refills[0], 32000 / 8);
    ck_assert_uint_eq(refills[1], 32000 / 64);
    ck_assert_double_lt((double)elapsed[1], 0.8 * (double)elapsed[0]);
}
END_TEST

/* Whoever took three refills of the eight or sixteen would leave another with one, and the loop would take three
 * chunks' time. */
START_TEST(masters_share_equal_chunks)
{
    const char *const techniques[] = {"css:chunk=20", "dtss:first=20,last=20"};
    for (unsigned t = 0; t < 2; t++)
        for (unsigned masters = 2; masters <= 8; masters *= 2) {
            uint64_t central = elapsed_ns(0, techniques[t], 2 * ALL * CHUNK);
            uint64_t hierarchical = elapsed_ns(masters, techniques[t], 2 * ALL * CHUNK);
            ck_assert_msg((double)hierarchical < 1.05 * (double)central, "%s, %u masters: %llu ns, without %llu",
                          techniques[t], masters, (unsigned long long)hierarchical, (unsigned long long)central);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refill");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_burst_of_equal_chunks_is_no_rate);
    tcase_add_test(all, a_pool_is_refilled_ahead_where_the_supermaster_is_far);
    tcase_add_test(all, a_refill_may_bring_several_chunks);
    tcase_add_test(all, refills_when_empty_keep_workers_waiting);
    tcase_add_test(all, far_refills_of_several_chunks_keep_workers_busy);
    tcase_add_test(all, masters_share_equal_chunks);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
