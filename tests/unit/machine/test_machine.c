/* SPDX-License-Identifier: MIT */
/* The shared parts of the machines: the line-up and its grouping, the pool, the service of workers, state tables. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/state.h"
#include "common/machine/topology.h"
#include "common/service/pool.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"

#include <signal.h>
#include <string.h>

/* --- the line-up --- */

enum { RANKS_MAX = 64 };

/* Hellos from text, one letter a rank (S, M, W), and its nodes, one digit a rank. */
static unsigned make_hellos(struct hello *hellos, const char *roles, const char *nodes)
{
    unsigned ranks = (unsigned)strlen(roles);
    for (unsigned i = 0; i < ranks; i++)
        hellos[i] = (struct hello){
            .protocol = PROTOCOL_VERSION,
            .role = roles[i] == 'S'   ? ROLE_SUPERMASTER
                    : roles[i] == 'M' ? ROLE_MASTER
                                      : ROLE_WORKER,
            .node = nodes == NULL ? 0 : (uint32_t)(strchr(nodes, nodes[i]) - nodes),
        };
    return ranks;
}

static int check_line_up(const char *roles, struct error *error)
{
    struct hello hellos[RANKS_MAX];
    return topology_check(hellos, make_hellos(hellos, roles, NULL), error);
}

START_TEST(impossible_line_ups_are_refused)
{
    struct error error;
    ck_assert_int_eq(check_line_up("SW", &error), EXIT_STATUS_DONE);
    ck_assert_int_eq(check_line_up("WMWS", &error), EXIT_STATUS_DONE);
    const struct {
        const char *roles, *says;
    } bad[] = {{"SSW", "2 supermasters"}, {"MW", "no supermaster"}, {"W", "no supermaster"}, {"M", "no supermaster"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(check_line_up(bad[i].roles, &error), EXIT_STATUS_USAGE);
        ck_assert_msg(strstr(error.text, bad[i].says) != NULL, "%s: %s", bad[i].roles, error.text);
    }
}
END_TEST

START_TEST(somebody_must_compute)
{
    struct hello hellos[RANKS_MAX];
    struct topology topology;
    struct error error;
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "SMM", NULL), TOPOLOGY_EVENLY), 0);
    ck_assert_int_eq(topology_check_workers(&topology, true, &error), 0);
    ck_assert_int_eq(topology_check_workers(&topology, false, &error), -1);
    ck_assert_str_eq(error.text, "no worker in this launch (1 supermaster, 2 masters): add `: -n COUNT worker`");
    topology_fini(&topology);
    for (unsigned masters = 0; masters <= 2; masters += 2) {
        const unsigned ranks = make_hellos(hellos, masters > 0 ? "SMM" : "S", NULL);
        ck_assert_int_eq(topology_init(&topology, hellos, ranks, TOPOLOGY_MASTERS_COMPUTE), 0);
        ck_assert_uint_eq(topology.workers, masters > 0 ? masters : 1);
        ck_assert_int_eq(topology_check_workers(&topology, false, &error), 0);
        topology_fini(&topology);
    }
}
END_TEST

START_TEST(versions_must_be_the_same)
{
    struct hello hellos[RANKS_MAX];
    struct error error;
    unsigned ranks = make_hellos(hellos, "SWW", NULL);
    hellos[2].minor = 1;
    ck_assert_int_eq(topology_check(hellos, ranks, &error), EXIT_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "rank 2 is version 0.1.0"));
    make_hellos(hellos, "SWW", NULL);
    hellos[1].protocol = PROTOCOL_VERSION + 1;
    ck_assert_int_eq(topology_check(hellos, ranks, &error), EXIT_STATUS_USAGE);
}
END_TEST

START_TEST(a_rank_that_cannot_start_stops_all)
{
    struct hello hellos[RANKS_MAX];
    struct error error;
    unsigned ranks = make_hellos(hellos, "SWWW", NULL);
    hellos[3].status = HELLO_STATUS_HELP;
    ck_assert_int_eq(topology_check(hellos, ranks, &error), HELLO_STATUS_HELP);
    hellos[2].status = EXIT_STATUS_USAGE;
    ck_assert_int_eq(topology_check(hellos, ranks, &error), EXIT_STATUS_USAGE);
    ck_assert_str_eq(error.text, "");
    make_hellos(hellos, "SWWW", NULL);
    hellos[1].dca = true;
    ck_assert_int_eq(topology_check(hellos, ranks, &error), EXIT_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "rank 1 has --dca"));
    for (unsigned i = 0; i < 2; i++)
        hellos[i].role = ROLE_WORKER;
    ck_assert_int_eq(topology_check(hellos, 2, &error), EXIT_STATUS_USAGE);
    ck_assert_str_eq(error.text, "rank 1 has --dca, rank 0 has not: accepted is all or none");
    hellos[0].dca = true;
    ck_assert_int_eq(topology_check(hellos, 2, &error), EXIT_STATUS_DONE);
}
END_TEST

/* The master's index of each worker, as text. */
static void group(const char *roles, const char *nodes, unsigned grouping, const char *expected)
{
    struct hello hellos[RANKS_MAX];
    struct topology topology;
    char actual[RANKS_MAX + 1] = "";
    unsigned ranks = make_hellos(hellos, roles, nodes), listed = 0;
    ck_assert_int_eq(topology_init(&topology, hellos, ranks, grouping), 0);
    for (unsigned w = 0; w < topology.workers; w++)
        actual[w] = (char)('0' + topology.master_of[w]);
    ck_assert_str_eq(actual, expected);
    for (unsigned m = 0; m < topology.masters; m++)
        for (unsigned i = 0; i < topology_count(&topology, m); i++, listed++)
            ck_assert_uint_eq(topology.master_of[topology.served[topology_first(&topology, m) + i]], m);
    ck_assert_uint_eq(listed, topology.workers);
    topology_fini(&topology);
}

START_TEST(workers_go_to_the_master_of_their_node)
{
    group("SMMWWWW", "0010011", true, "0011"); /* workers 3, 4 with master 1, workers 5, 6 with master 2 */
    group("SMMWWWW", "0010101", true, "0101");
    group("SMMWWWW", "0010011", false, "0101"); /* dealt evenly, whatever the node */
    group("SMMWWWWWW", "000000000", true, "010101");
}
END_TEST

START_TEST(what_does_not_fit_is_dealt_evenly)
{
    group("SMMWWWW", "0002233", true, "0101");    /* masters where no worker is */
    group("SMMWWWWW", "00100222", true, "00110"); /* two on a master's node, three to even out: 0 0 | 1 1 0 */
    group("SMWWW", "00123", true, "000");
    group("SMMMMW", "012340", true, "0");
}
END_TEST

START_TEST(masters_that_compute_serve_themselves)
{
    struct hello hellos[RANKS_MAX];
    struct topology topology;
    const unsigned both = TOPOLOGY_MASTERS_COMPUTE;
    group("SMMWWWW", "0010011", both | TOPOLOGY_BY_NODE, "010011");
    group("SMMWWW", "000000", both, "01010"); /* workers 1 and 2 are the masters */
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "SWW", "000"), both), 0);
    ck_assert(topology_is_central(&topology) && topology.workers == 3 && topology.worker_rank[0] == 0);
    ck_assert(topology_does_both(&topology, 0) && !topology_does_both(&topology, 1));
    topology_fini(&topology);
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "SMW", "000"), both), 0);
    ck_assert(topology.workers == 2 && topology_does_both(&topology, 1) && !topology_does_both(&topology, 0));
    topology_fini(&topology);
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "SMW", "000"), 0), 0);
    ck_assert(topology.workers == 1 && !topology_does_both(&topology, 1));
    topology_fini(&topology);
}
END_TEST

START_TEST(without_masters_the_supermaster_serves_all)
{
    struct hello hellos[RANKS_MAX];
    struct topology topology;
    unsigned ranks = make_hellos(hellos, "WSWW", NULL);
    ck_assert_int_eq(topology_init(&topology, hellos, ranks, true), 0);
    ck_assert_uint_eq(topology.supermaster, 1);
    ck_assert_uint_eq(topology.masters, 0);
    ck_assert_uint_eq(topology_count(&topology, 0), 3);
    ck_assert_uint_eq(topology_worker(&topology, 2), 1);
    ck_assert_uint_eq(topology_worker(&topology, 1), 3);
    topology_fini(&topology);
}
END_TEST

/* What was there is as it was, and each pod is a node with its master's rank first. */
START_TEST(pods_are_appended)
{
    static const unsigned pods[] = {3, 1, 2};
    struct hello hellos[RANKS_MAX];
    struct topology topology;
    const unsigned launched = make_hellos(hellos, "SMMWWWWW", "00101011");
    ck_assert_int_eq(topology_init(&topology, hellos, launched, true), 0);
    unsigned ranks = launched, workers = 5, nodes = topology.nodes;
    ck_assert_uint_eq(topology.launched, 2);
    for (unsigned p = 0; p < 3; p++, workers += pods[p - 1], ranks += 1 + pods[p - 1]) {
        unsigned served[3];
        ck_assert_int_eq(topology_append(&topology, topology.ranks, 1 + pods[p], topology.ranks), 0);
        ck_assert_uint_eq(topology_master(&topology, ranks), 2 + p);
        ck_assert_uint_eq(topology_count(&topology, 2 + p), pods[p]);
        topology_served_ranks(&topology, 2 + p, served);
        for (unsigned i = 0; i < pods[p]; i++) {
            ck_assert_uint_eq(topology_worker(&topology, ranks + 1 + i), workers + i);
            ck_assert_uint_eq(topology.worker_node[workers + i], nodes + p);
            ck_assert_uint_eq(topology.master_of[workers + i], 2 + p);
            ck_assert_uint_eq(served[i], ranks + 1 + i);
            ck_assert(topology_is_in_pod(&topology, workers + i));
        }
    }
    ck_assert(topology.ranks == ranks && topology.workers == workers && topology.masters == 5);
    ck_assert(topology.launched == 2 && topology.nodes == nodes + 3);
    struct topology before;
    ck_assert_int_eq(topology_init(&before, hellos, launched, true), 0);
    for (unsigned w = 0; w < before.workers; w++) {
        ck_assert_uint_eq(topology.worker_rank[w], before.worker_rank[w]);
        ck_assert_uint_eq(topology.worker_node[w], before.worker_node[w]);
        ck_assert_uint_eq(topology.master_of[w], before.master_of[w]);
        ck_assert(!topology_is_in_pod(&topology, w));
    }
    for (unsigned m = 0; m < before.masters; m++) {
        unsigned then[RANKS_MAX], now[RANKS_MAX];
        ck_assert_uint_eq(topology_count(&topology, m), topology_count(&before, m));
        topology_served_ranks(&before, m, then);
        topology_served_ranks(&topology, m, now);
        ck_assert_mem_eq(now, then, topology_count(&before, m) * sizeof *now);
    }
    topology_fini(&before);
    topology_fini(&topology);
}
END_TEST

START_TEST(pods_are_appended_to_nobody)
{
    struct hello hellos[RANKS_MAX];
    struct topology topology;
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "S", "0"), true), 0);
    ck_assert(topology.masters == 0 && topology.workers == 0 && !topology_is_central(&topology));
    ck_assert_int_eq(topology_append(&topology, topology.ranks, 3, topology.ranks), 0);
    ck_assert(topology.ranks == 4 && topology.masters == 1 && topology.workers == 2 && topology.launched == 0);
    ck_assert(topology.master_rank[0] == 1 && topology.worker_rank[1] == 3 && topology_is_in_pod(&topology, 0));
    topology_fini(&topology);
}
END_TEST

START_TEST(pods_on_a_node_that_is_there_are_counted_with_it)
{
    struct hello hellos[RANKS_MAX];
    struct topology topology;
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "SMWMW", "00011"), true), 0);
    ck_assert_int_eq(topology_append(&topology, 5, 2, 0), 0);   /* with the supermaster */
    ck_assert_int_eq(topology_append(&topology, 7, 2, 3), 0);   /* with a worker of the launch */
    ck_assert_int_eq(topology_append(&topology, 9, 2, 9), 0);   /* elsewhere */
    ck_assert_int_eq(topology_append(&topology, 11, 2, 9), 0);  /* with the pod before it */
    ck_assert_int_eq(topology_append(&topology, 19, 2, 15), 0); /* with one that has never been here */
    ck_assert_int_eq(topology_append(&topology, 21, 2, 15), 0); /* with that one, too */
    ck_assert_int_eq(topology_append(&topology, 23, 2, 23), 0); /* elsewhere */
    static const unsigned nodes[] = {0, 1, 0, 1, 2, 2, 3, 3, 4};
    ck_assert_mem_eq(topology.worker_node, nodes, sizeof nodes);
    ck_assert_uint_eq(topology.nodes, 5);
    struct topology copy;
    ck_assert_int_eq(topology_copy(&copy, &topology), 0);
    ck_assert_int_eq(topology_append(&copy, 25, 2, 15), 0); /* a copy knows them, too */
    ck_assert(copy.worker_node[9] == 3 && copy.nodes == 5);
    topology_fini(&copy);
    topology_fini(&topology);
}
END_TEST

START_TEST(a_pod_knows_the_supermaster_and_itself)
{
    struct topology topology;
    ck_assert_int_eq(topology_init_pod(&topology, 7, 4), 0);
    ck_assert(topology.supermaster == 0 && topology.ranks == 11 && topology.masters == 1 && topology.workers == 3);
    ck_assert(topology.master_rank[0] == 7 && topology.worker_rank[0] == 8 && topology.worker_rank[2] == 10);
    ck_assert(topology_worker(&topology, 0) == 3 && topology_master(&topology, 0) == 1);
    topology_fini(&topology);
}
END_TEST

START_TEST(a_copy_goes_its_own_way)
{
    struct hello hellos[RANKS_MAX];
    struct topology topology, copy;
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "SMWMWW", "000111"), true), 0);
    ck_assert_int_eq(topology_copy(&copy, &topology), 0);
    ck_assert_int_eq(topology_append(&copy, 20, 3, 20), 0); /* ranks between them are of pods that have gone */
    ck_assert(topology.masters == 2 && topology.workers == 3 && copy.masters == 3 && copy.workers == 5);
    ck_assert_mem_eq(copy.worker_rank, topology.worker_rank, 3 * sizeof *copy.worker_rank);
    ck_assert_mem_eq(copy.served_first, topology.served_first, 3 * sizeof *copy.served_first);
    ck_assert(topology_has_joined(&copy, 20) && topology_has_joined(&copy, 22) && !topology_has_joined(&copy, 5));
    ck_assert(!topology_has_joined(&topology, 20) && topology_worker(&copy, 19) == 5);
    topology_fini(&copy);
    topology_fini(&topology);
    ck_assert_int_eq(topology_init(&topology, hellos, make_hellos(hellos, "SWW", "000"), true), 0);
    ck_assert_int_eq(topology_copy(&copy, &topology), 0);
    ck_assert(topology_is_central(&copy) && topology_count(&copy, 0) == 2);
    topology_fini(&copy);
    topology_fini(&topology);
}
END_TEST

/* --- the pool --- */

START_TEST(a_worker_gets_its_own_chunk_first)
{
    struct pool pool;
    struct range range;
    ck_assert_int_eq(pool_init(&pool, 3, 4), 0);
    ck_assert(pool_put(&pool, 0, (struct range){0, 10}));
    ck_assert(pool_put(&pool, 1, (struct range){10, 20}));
    ck_assert(pool_put(&pool, 1, (struct range){30, 5}));
    ck_assert(pool_put(&pool, 0, (struct range){35, 5}));
    ck_assert(!pool_put(&pool, 0, (struct range){40, 1}));
    ck_assert(pool_take(&pool, 1, &range) && range.first == 10);
    ck_assert(pool_take(&pool, 2, &range) && range.first == 0); /* none of its own: the oldest */
    ck_assert(pool_take(&pool, 2, &range) && range.first == 30);
    ck_assert(pool_put(&pool, 2, (struct range){41, 1}));
    ck_assert(pool_take(&pool, 2, &range) && range.first == 41);
    ck_assert(pool_take(&pool, 1, &range) && range.first == 35);
    ck_assert(!pool_take(&pool, 1, &range));
    pool_fini(&pool);
}
END_TEST

static uint64_t sum_of(const struct range *range)
{
    return range->count * range->first + range->count * (range->count - 1) / 2;
}

START_TEST(a_chunk_of_a_faster_worker_is_split)
{
    struct pool pool;
    struct range range;
    ck_assert_int_eq(pool_init(&pool, 2, 4), 0);
    ck_assert(pool_put(&pool, 0, (struct range){0, 4}));
    ck_assert(pool_put(&pool, 1, (struct range){4, 11}));
    ck_assert(pool_take(&pool, 0, &range) && range.first == 0 && range.count == 4);
    ck_assert(pool_take(&pool, 0, &range) && range.first == 4 && range.count == 4); /* as much as its own was */
    ck_assert_uint_eq(pool.count, 1);
    ck_assert(pool_take(&pool, 0, &range) && range.first == 8 && range.count == 7); /* the rest would be smaller */
    ck_assert_uint_eq(pool.count, 0);
    ck_assert(pool_put(&pool, 1, (struct range){15, 20}));
    ck_assert(pool_take(&pool, 0, &range) && range.count == 4);
    ck_assert(pool_take(&pool, 1, &range) && range.first == 19 &&
              range.count == 16); /* its owner gets all that is left */
    ck_assert(!pool_take(&pool, 1, &range));
    pool_fini(&pool);
}
END_TEST

START_TEST(a_pool_loses_and_doubles_nothing)
{
    enum { WORKERS = 4, CAPACITY = 9 };
    struct pool pool;
    struct random random;
    struct range range;
    uint64_t put = 0, put_sum = 0, taken_sum = 0; /* of the iterations' numbers */
    random_init(&random, (uint64_t)_i);
    ck_assert_int_eq(pool_init(&pool, WORKERS, CAPACITY), 0);
    for (int step = 0; step < 5000; step++) {
        unsigned w = (unsigned)random_between(&random, 0, WORKERS - 1);
        unsigned before = pool.count;
        if (random_between(&random, 0, 1)) {
            struct range chunk = {put, random_between(&random, 1, 20)};
            bool fits = pool_put(&pool, w, chunk);
            ck_assert_int_eq(fits, before < CAPACITY);
            put_sum += fits ? sum_of(&chunk) : 0;
            put += chunk.count;
        } else {
            bool any = pool_take(&pool, w, &range);
            ck_assert_int_eq(any, before > 0);
            taken_sum += any ? sum_of(&range) : 0;
        }
    }
    while (pool_take(&pool, 0, &range))
        taken_sum += sum_of(&range);
    ck_assert_uint_eq(put_sum, taken_sum);
    ck_assert_uint_eq(pool.count, 0);
    pool_fini(&pool);
}
END_TEST

/* Workers join with chunks in the pool: each chunk goes to its owner still, and those cut for nobody are nobody's. */
START_TEST(workers_join_a_pool)
{
    struct pool pool;
    struct range range;
    ck_assert_int_eq(pool_init(&pool, 2, 8), 0);
    ck_assert(pool_put(&pool, 0, (struct range){0, 10}));
    ck_assert(pool_put(&pool, 2, (struct range){10, 10}));
    ck_assert(pool_put(&pool, 1, (struct range){20, 10}));
    ck_assert_int_eq(pool_reserve(&pool, 2), 0);
    ck_assert_int_eq(pool_reserve(&pool, 9), 0);
    pool_add_workers(&pool, 4);
    ck_assert_uint_eq(pool.nobody, 4);
    ck_assert(pool_put(&pool, 3, (struct range){30, 10}));
    ck_assert(pool_put(&pool, 2, (struct range){40, 10}));
    ck_assert(pool_put(&pool, 4, (struct range){50, 10}));
    pool_add_workers(&pool, 9);
    ck_assert(pool_put(&pool, 8, (struct range){60, 10}));
    ck_assert_uint_eq(pool.count, 7);
    ck_assert(pool_take(&pool, 3, &range) && range.first == 30);
    ck_assert(pool_take(&pool, 2, &range) && range.first == 40);
    ck_assert(pool_take(&pool, 1, &range) && range.first == 20);
    ck_assert(pool_take(&pool, 8, &range) && range.first == 60);
    uint64_t sum = 0;
    while (pool_take(&pool, 5, &range)) /* none of its own: what is left, the oldest first */
        sum += sum_of(&range);
    ck_assert_uint_eq(sum, sum_of(&(struct range){0, 20}) + sum_of(&(struct range){50, 10}));
    pool_fini(&pool);
}
END_TEST

/* --- the service --- */

struct owner {
    struct service service;
    struct actions actions;
    uint64_t committed, digest;
    struct feedback_record feedback; /* the last */
    unsigned finished, assigned_before;
};

static void on_committed(void *context, const struct part *part)
{
    struct owner *owner = context;
    owner->committed += part->count;
    owner->digest += part->digest;
}

static void on_finished(void *context, unsigned worker, const struct feedback_record *feedback)
{
    struct owner *owner = context;
    ck_assert_uint_eq(feedback->worker, owner->service.ranks[worker]);
    owner->feedback = *feedback;
    owner->finished++;
    owner->assigned_before = (unsigned)owner->service.assigned;
}

static const struct service_ops ops = {.committed = on_committed};
static const struct service_ops learning_ops = {.finished = on_finished, .committed = on_committed};
static const unsigned ranks[] = {3, 5, 9};

static void open_service(struct owner *owner, uint64_t record_bytes)
{
    *owner = (struct owner){0};
    static const struct run_spec spec = {.threads = 1, .recall = RUN_RECALL_OFF};
    const struct service_config config = {.spec = &spec,
                                          .ranks = ranks,
                                          .workers = 3,
                                          .pool_capacity = 2 * GRANTS_MAX,
                                          .record_bytes = record_bytes,
                                          .ops = &ops,
                                          .owner = owner};
    ck_assert_int_eq(service_init(&owner->service, &config), 0);
    ck_assert_int_eq(actions_init(&owner->actions, 4), 0);
}

static void close_service(struct owner *owner)
{
    service_fini(&owner->service);
    actions_fini(&owner->actions);
}

static int give(struct owner *owner, unsigned w, const struct message *message, struct error *error)
{
    actions_clear(&owner->actions);
    return service_message(&owner->service, w, 1000, message, &owner->actions, error);
}

static struct message request(unsigned asks, uint32_t done, uint64_t digest)
{
    return (struct message){
        .type = MESSAGE_REQUEST,
        .request = {.asks = asks, .chunk = done, .done = done != 0, .digest = digest, .compute_ns = done != 0}};
}

START_TEST(requests_wait_until_there_is_work)
{
    struct owner owner;
    struct error error;
    struct message ask = request(2, 0, 0);
    open_service(&owner, 0);
    ck_assert_int_eq(give(&owner, 1, &ask, &error), 0);
    ck_assert_uint_eq(owner.actions.length, 0);
    pool_put(&owner.service.pool, 0, (struct range){2, 5});
    pool_put(&owner.service.pool, 1, (struct range){7, 3});
    service_serve(&owner.service, 2000, &owner.actions);
    ck_assert_uint_eq(owner.actions.length, 1);
    const struct message *answer = &owner.actions.items[0].send.message;
    uint64_t first, count;
    ck_assert_uint_eq(owner.actions.items[0].send.to, 5);
    ck_assert_uint_eq(answer->assign.first, 7); /* its own before the other's */
    ck_assert_uint_eq(answer->assign.chunk, 1);
    ck_assert_uint_eq(answer->record_count, 1); /* chunk 2 */
    assign_record_get(answer->records, 0, &first, &count);
    ck_assert(first == 2 && count == 5);
    ck_assert_uint_eq(owner.service.count.busy, 1);
    struct message done = request(0, 2, 42);
    ck_assert_int_eq(give(&owner, 1, &done, &error), 0);
    ck_assert_uint_eq(owner.committed, 5);
    ck_assert_uint_eq(owner.digest, 42);
    ck_assert_int_eq(give(&owner, 1, &done, &error), -1); /* twice */
    close_service(&owner);
}
END_TEST

START_TEST(the_answer_goes_out_before_the_results_are_stored)
{
    struct owner owner;
    struct error error;
    const char data[24] = "";
    struct message message = request(1, 0, 0);
    open_service(&owner, 8);
    pool_put(&owner.service.pool, 0, (struct range){0, 3});
    pool_put(&owner.service.pool, 0, (struct range){3, 3});
    ck_assert_int_eq(give(&owner, 0, &message, &error), 0);
    message = request(1, 1, 5);
    message.payload = PAYLOAD_INLINE;
    message.payload_data = data;
    message.payload_bytes = 16;
    ck_assert_int_eq(give(&owner, 0, &message, &error), -1); /* two records too few: refused */
    close_service(&owner);

    open_service(&owner, 8);
    pool_put(&owner.service.pool, 0, (struct range){0, 3});
    pool_put(&owner.service.pool, 0, (struct range){3, 3});
    struct message ask = request(1, 0, 0);
    ck_assert_int_eq(give(&owner, 0, &ask, &error), 0);
    message.payload_bytes = 24;
    ck_assert_int_eq(give(&owner, 0, &message, &error), 0);
    ck_assert_uint_eq(owner.actions.length, 2);
    ck_assert_int_eq(owner.actions.items[0].type, ACTION_SEND);
    ck_assert_int_eq(owner.actions.items[1].type, ACTION_STORE);
    ck_assert_uint_eq(owner.committed, 0); /* not before it is on disk */
    service_stored(&owner.service,
                   &(struct event){.type = EVENT_STORED, .now_ns = 2000, .part = owner.actions.items[1].store.part},
                   &owner.actions);
    ck_assert_uint_eq(owner.committed, 3);
    close_service(&owner);
}
END_TEST

START_TEST(what_a_worker_must_not_send_is_refused)
{
    struct owner owner;
    struct error error;
    open_service(&owner, 0);
    struct message message = request(0, 1, 0);
    ck_assert_int_eq(give(&owner, 0, &message, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "chunk 1"));
    message = (struct message){.type = MESSAGE_REFILL};
    ck_assert_int_eq(give(&owner, 0, &message, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "REFILL"));
    message = (struct message){.type = MESSAGE_RESULT, .result = {.chunk = 1, .count = 1}};
    ck_assert_int_eq(give(&owner, 0, &message, &error), -1);
    for (unsigned w = 0; w < 3; w++) {
        message = request(ASKS_MAX, 0, 0);
        ck_assert_int_eq(give(&owner, w, &message, &error), 0);
        message = request(1, 0, 0);
        ck_assert_int_eq(give(&owner, w, &message, &error), -1); /* more than anybody may ask for */
    }
    close_service(&owner);
}
END_TEST

START_TEST(those_who_wait_get_chunks_in_turn)
{
    static const unsigned chunks[] = {3, 2, 2}; /* of the seven that there are */
    struct owner owner;
    struct error error;
    open_service(&owner, 0);
    for (unsigned w = 0; w < 3; w++) {
        struct message ask = request(3, 0, 0);
        ck_assert_int_eq(give(&owner, w, &ask, &error), 0);
    }
    for (uint64_t i = 0; i < 7; i++)
        pool_put(&owner.service.pool, 1, (struct range){i, 1});
    actions_clear(&owner.actions);
    service_serve(&owner.service, 2000, &owner.actions);
    ck_assert_uint_eq(owner.actions.length, 3);
    for (unsigned w = 0; w < 3; w++) {
        ck_assert_uint_eq(owner.actions.items[w].send.to, ranks[w]);
        ck_assert_uint_eq(owner.actions.items[w].send.message.record_count + 1, chunks[w]);
    }
    ck_assert_uint_eq(owner.service.line.asks, 2);
    close_service(&owner);
}
END_TEST

static void put_chunks(struct owner *owner, uint64_t first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        ck_assert(pool_put(&owner->service.pool, owner->service.pool.nobody, (struct range){first + 10 * i, 10}));
    actions_clear(&owner->actions);
    service_serve(&owner->service, 2000, &owner->actions);
}

/* Workers join while others wait, whose ring begins in the middle of its array, and have chunks. */
START_TEST(workers_join_while_others_wait)
{
    static const unsigned more_ranks[] = {3, 5, 9, 11, 12}, expected[] = {5, 9, 3, 11, 12};
    struct owner owner;
    struct error error;
    open_service(&owner, 0);
    for (unsigned w = 0; w < 3; w++) {
        const struct message ask = request(1, 0, 0);
        ck_assert_int_eq(give(&owner, w, &ask, &error), 0);
    }
    put_chunks(&owner, 0, 1); /* it goes to the first one, which asks for another beside it */
    ck_assert(owner.actions.length == 1 && owner.actions.items[0].send.to == 3);
    struct message ask = request(1, 0, 0);
    ck_assert_int_eq(give(&owner, 0, &ask, &error), 0);
    ck_assert(owner.service.line.first == 1 && owner.service.line.count == 3);
    ck_assert_int_eq(service_reserve(&owner.service, 5), 0);
    service_add_workers(&owner.service, more_ranks, 5);
    ck_assert(service_find(&owner.service, 12) == 4 && service_find(&owner.service, 5) == 1);
    for (unsigned w = 3; w < 5; w++) {
        ck_assert(!owner.service.workers[w].present);
        service_adopt(&owner.service, w, &(struct range){0, 0}, false, 1500, &owner.actions);
        ck_assert_int_eq(give(&owner, w, &ask, &error), 0);
    }
    put_chunks(&owner, 10, 5);
    ck_assert_uint_eq(owner.actions.length, 5);
    for (unsigned i = 0; i < 5; i++)
        ck_assert_uint_eq(owner.actions.items[i].send.to, expected[i]);
    for (uint32_t chunk = 1; chunk <= 2; chunk++) { /* that of before, and that of now */
        const struct message done = request(0, chunk, 7);
        ck_assert_int_eq(give(&owner, 0, &done, &error), 0);
    }
    for (unsigned w = 1; w < 5; w++) {
        const struct message done = request(0, 1, 7);
        ck_assert_int_eq(give(&owner, w, &done, &error), 0);
    }
    ck_assert_uint_eq(owner.committed, 60);
    ck_assert_uint_eq(owner.service.count.busy, 0);
    close_service(&owner);
}
END_TEST

/* Room that is made before has no worker, and more of it is made while chunks are held. */
START_TEST(room_is_made_again_and_again)
{
    static unsigned more_ranks[40];
    struct owner owner;
    struct error error;
    for (unsigned i = 0; i < 40; i++)
        more_ranks[i] = i < 3 ? ranks[i] : 10 + i;
    open_service(&owner, 0);
    for (unsigned workers = 4; workers <= 40; workers++) {
        const struct message ask = request(1, 0, 0);
        ck_assert_int_eq(service_reserve(&owner.service, workers + workers % 3), 0);
        service_add_workers(&owner.service, more_ranks, workers);
        service_adopt(&owner.service, workers - 1, &(struct range){0, 0}, false, 1500, &owner.actions);
        ck_assert_int_eq(give(&owner, workers - 1, &ask, &error), 0);
        put_chunks(&owner, 10 * (uint64_t)workers, 1);
        ck_assert(owner.actions.length == 1 && owner.actions.items[0].send.to == more_ranks[workers - 1]);
    }
    for (unsigned w = 3; w < 40; w++) {
        const struct message done = request(0, 1, 7);
        ck_assert_int_eq(give(&owner, w, &done, &error), 0);
    }
    ck_assert_uint_eq(owner.committed, 370);
    close_service(&owner);
}
END_TEST

START_TEST(completions_that_come_together_count_each)
{
    struct owner owner;
    struct error error;
    unsigned char earlier[2 * COMPLETION_BYTES];
    open_service(&owner, 0);
    for (uint64_t i = 0; i < 4; i++)
        pool_put(&owner.service.pool, 1, (struct range){10 * i, 10});
    struct message message = request(4, 0, 0);
    ck_assert_int_eq(give(&owner, 1, &message, &error), 0);
    for (unsigned i = 0; i < 2; i++)
        completion_put(earlier, i, &(struct request){.digest = 1 + i, .compute_ns = 100, .wait_ns = 7});
    message = request(0, 3, 4);
    message.records = earlier;
    message.record_count = 2;
    ck_assert_int_eq(give(&owner, 1, &message, &error), 0);
    ck_assert_uint_eq(owner.committed, 30);
    ck_assert_uint_eq(owner.digest, 1 + 2 + 4);
    ck_assert_uint_eq(owner.service.workers[1].chunks, 3);
    ck_assert_uint_eq(owner.service.workers[1].compute_ns, 201);
    ck_assert_uint_eq(owner.service.workers[1].wait_ns, 14);
    ck_assert_uint_eq(owner.service.count.busy, 1); /* with the fourth */
    message.request.chunk = 4;
    ck_assert_int_eq(give(&owner, 1, &message, &error), -1); /* the two before it are done */
    ck_assert_ptr_nonnull(strstr(error.text, "chunk 2"));
    close_service(&owner);
}
END_TEST

START_TEST(a_worker_whose_results_lag_is_not_served)
{
    struct owner owner;
    struct error error;
    const char data[8] = "";
    open_service(&owner, 8);
    for (uint64_t i = 0; i < 2 * GRANTS_MAX; i++)
        pool_put(&owner.service.pool, 0, (struct range){i, 1});
    struct message message = request(1, 0, 0);
    unsigned assigned = 0;
    for (uint32_t chunk = 0; chunk < 2 * GRANTS_MAX; chunk++) {
        if (chunk > 0) {
            message = request(1, chunk, 0);
            message.payload = PAYLOAD_INLINE;
            message.payload_data = data;
            message.payload_bytes = 8;
        }
        ck_assert_int_eq(give(&owner, 0, &message, &error), 0);
        if (owner.actions.length == 0 || owner.actions.items[0].type != ACTION_SEND)
            break;
        assigned++;
    }
    ck_assert_uint_eq(assigned, GRANTS_MAX); /* none of them stored */
    actions_clear(&owner.actions);
    service_stored(&owner.service,
                   &(struct event){.type = EVENT_STORED, .now_ns = 3000, .part = {.worker = 0, .chunk = 1, .count = 1}},
                   &owner.actions);
    ck_assert_uint_eq(owner.actions.length, 1); /* served as soon as there is a slot */
    close_service(&owner);
}
END_TEST

START_TEST(what_was_measured_is_told_before_the_next_chunk_is_cut)
{
    struct owner owner;
    struct error error;
    open_service(&owner, 0);
    owner.service.ops = &learning_ops;
    for (uint64_t i = 0; i < 3; i++)
        pool_put(&owner.service.pool, 1, (struct range){10 * i, 10});
    struct message message = request(1, 0, 0);
    ck_assert_int_eq(give(&owner, 1, &message, &error), 0);
    ck_assert_uint_eq(owner.finished, 0);
    message = request(1, 1, 0);
    message.request.compute_ns = 500;
    message.request.wait_ns = 9999; /* until all were probed */
    message.request.deviation_ns = 2.5f;
    message.request.samples = 8;
    ck_assert_int_eq(give(&owner, 1, &message, &error), 0);
    ck_assert_uint_eq(owner.finished, 1);
    ck_assert_uint_eq(owner.assigned_before, 1);
    ck_assert_uint_eq(owner.service.assigned, 2);
    const struct feedback_record *feedback = &owner.feedback;
    ck_assert(feedback->chunks == 1 && feedback->iterations == 10 && feedback->compute_ns == 500 &&
              feedback->wait_ns == 0 && feedback->deviation_ns == 2.5f && feedback->samples == 8);
    ck_assert_uint_eq(owner.service.workers[1].wait_ns, 9999); /* the report has it all the same */
    message.request.chunk = 2;
    message.request.wait_ns = 70;
    ck_assert_int_eq(give(&owner, 1, &message, &error), 0);
    ck_assert_uint_eq(feedback->wait_ns, 70);
    ck_assert_int_eq(give(&owner, 1, &message, &error), -1); /* twice: nobody learns of it */
    ck_assert_uint_eq(owner.finished, 2);
    close_service(&owner);
}
END_TEST

START_TEST(an_echo_goes_back_as_it_is)
{
    struct owner owner;
    struct error error;
    const struct message echo = {.type = MESSAGE_ECHO, .echo = {7}};
    open_service(&owner, 0);
    for (int ended = 0; ended < 2; ended++) {
        ck_assert_int_eq(give(&owner, 2, &echo, &error), 0);
        ck_assert_uint_eq(owner.actions.length, 1);
        ck_assert_uint_eq(owner.actions.items[0].send.to, 9);
        ck_assert_int_eq(owner.actions.items[0].send.message.type, MESSAGE_ECHO);
        ck_assert_uint_eq(owner.actions.items[0].send.message.echo.id, 7);
        service_end(&owner.service, &(struct end){0}, 4000, &owner.actions); /* it still waits for the one it sent */
    }
    close_service(&owner);
}
END_TEST

START_TEST(goodbyes_end_the_service)
{
    struct owner owner;
    struct error error;
    struct message ask = request(1, 0, 0), goodbye = {.type = MESSAGE_GOODBYE, .goodbye = {5, 100}};
    open_service(&owner, 0);
    pool_put(&owner.service.pool, 0, (struct range){0, 3});
    give(&owner, 0, &ask, &error);
    actions_clear(&owner.actions);
    service_end(&owner.service, &(struct end){.drain = true}, 4000, &owner.actions);
    ck_assert_uint_eq(owner.actions.length, 3);
    ck_assert(owner.actions.items[2].send.message.end.drain);
    for (unsigned w = 0; w < 3; w++) {
        ck_assert(!service_is_over(&owner.service));
        ck_assert_int_eq(give(&owner, w, &goodbye, &error), 0);
        give(&owner, w, &goodbye, &error); /* a second one counts for nothing */
    }
    ck_assert(service_is_over(&owner.service));
    ck_assert_uint_eq(owner.service.tally.messages, 15);
    ck_assert_uint_eq(owner.service.count.busy, 0); /* the chunk that was dropped is no longer held */
    close_service(&owner);
}
END_TEST

/* --- states --- */

START_TEST(a_move_that_the_table_does_not_have_stops_the_program)
{
    const unsigned legal[] = {1u << 1, 0};
    const char *const names[] = {"FIRST", "LAST"};
    const struct state_table table = {"machine", 2, names, legal, event_write_name};
    const struct event event = {.type = EVENT_TIMER};
    unsigned state = 0;
    state_move(&table, &state, 1, &event);
    ck_assert_uint_eq(state, 1);
    state_move(&table, &state, 0, &event);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("machine");
    TCase *all = tcase_create("machine");
    tcase_add_test(all, impossible_line_ups_are_refused);
    tcase_add_test(all, somebody_must_compute);
    tcase_add_test(all, versions_must_be_the_same);
    tcase_add_test(all, a_rank_that_cannot_start_stops_all);
    tcase_add_test(all, workers_go_to_the_master_of_their_node);
    tcase_add_test(all, what_does_not_fit_is_dealt_evenly);
    tcase_add_test(all, masters_that_compute_serve_themselves);
    tcase_add_test(all, without_masters_the_supermaster_serves_all);
    tcase_add_test(all, pods_are_appended);
    tcase_add_test(all, pods_are_appended_to_nobody);
    tcase_add_test(all, pods_on_a_node_that_is_there_are_counted_with_it);
    tcase_add_test(all, a_pod_knows_the_supermaster_and_itself);
    tcase_add_test(all, a_copy_goes_its_own_way);
    tcase_add_test(all, workers_join_a_pool);
    tcase_add_test(all, workers_join_while_others_wait);
    tcase_add_test(all, room_is_made_again_and_again);
    tcase_add_test(all, a_worker_gets_its_own_chunk_first);
    tcase_add_test(all, a_chunk_of_a_faster_worker_is_split);
    tcase_add_loop_test(all, a_pool_loses_and_doubles_nothing, 0, 5);
    tcase_add_test(all, requests_wait_until_there_is_work);
    tcase_add_test(all, the_answer_goes_out_before_the_results_are_stored);
    tcase_add_test(all, what_a_worker_must_not_send_is_refused);
    tcase_add_test(all, those_who_wait_get_chunks_in_turn);
    tcase_add_test(all, completions_that_come_together_count_each);
    tcase_add_test(all, a_worker_whose_results_lag_is_not_served);
    tcase_add_test(all, what_was_measured_is_told_before_the_next_chunk_is_cut);
    tcase_add_test(all, an_echo_goes_back_as_it_is);
    tcase_add_test(all, goodbyes_end_the_service);
    tcase_add_test_raise_signal(all, a_move_that_the_table_does_not_have_stops_the_program, SIGABRT);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
