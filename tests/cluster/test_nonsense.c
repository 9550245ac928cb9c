/* SPDX-License-Identifier: MIT */
/* Messages that are not of the protocol, or cannot be: who gets one drops the sender, names it, and the run goes on
 * without it. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

#include <string.h>

/* --- whole runs --- */

static struct virtual_result run_with_nonsense(unsigned masters, unsigned workers, const struct virtual_fault *fault,
                                               uint64_t seed)
{
    const struct virtual_config config = {
        .masters = masters,
        .workers = workers,
        .nodes = 2,
        .technique = "awf-c",
        .spec.power = RUN_POWER_MEASURE,
        .count = 500,
        .collect = true,
        .journal = true,
        .slice_iterations = 20,
        .collect_ns = 3000,
        .latency_ns = 2000,
        .remote_latency_ns = 20000,
        .service_ns = 300,
        .detect_ns = 50000,
        .faults = fault,
        .fault_count = 1,
        .fault_seed = seed,
    };
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_msg(result.status == EXIT_STATUS_DONE, "%u masters, rank %u, event %u, seed %u: status %d, %s", masters,
                  fault->rank, (unsigned)fault->at_event, (unsigned)seed, result.status,
                  result.supermaster->failure.text);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(0, 500));
    ck_assert(result.drops == 0 || fault->rank == 0 || supermaster_loss_count(result.supermaster) > 0 ||
              result.supermaster->losses.masters_left > 0 || masters == 0);
    virtual_free(cluster);
    return result;
}

static unsigned run_rank(unsigned masters, unsigned workers, unsigned rank)
{
    unsigned dropped = 0, sent_garbage = 1;
    for (uint64_t event = 1; sent_garbage > 0; event++) {
        sent_garbage = 0;
        for (uint64_t seed = 0; seed < 6; seed++) {
            const struct virtual_fault fault = {.type = VIRTUAL_BABBLE, .rank = rank, .at_event = event};
            struct virtual_result result = run_with_nonsense(masters, workers, &fault, seed);
            sent_garbage += result.sent_garbage;
            dropped += result.drops > 0;
        }
    }
    return dropped;
}

START_TEST(the_run_goes_on_whoever_babbles_when)
{
    static const unsigned lineups[][2] = {{0, 3}, {1, 3}, {2, 6}};
    for (size_t i = 0; i < sizeof lineups / sizeof *lineups; i++)
        for (unsigned rank = 0; rank <= lineups[i][0] + lineups[i][1]; rank++)
            ck_assert_uint_gt(run_rank(lineups[i][0], lineups[i][1], rank), 0);
}
END_TEST

/* --- what each machine refuses --- */

static struct actions actions;

static void clear(void)
{
    if (actions.items == NULL)
        ck_assert_int_eq(actions_init(&actions, 8), 0);
    actions_clear(&actions);
}

/* A DROP is among the actions, of this rank and with such words. */
static void refused(unsigned rank, const char *words)
{
    for (size_t i = 0; i < actions.length; i++)
        if (actions.items[i].type == ACTION_DROP) {
            ck_assert_uint_eq(actions.items[i].drop.rank, rank);
            ck_assert_msg(strstr(actions.items[i].drop.text, words) != NULL, "%s", actions.items[i].drop.text);
            return;
        }
    ck_abort_msg("not refused: %s", words);
}

struct wrong {
    unsigned from;
    struct message message;
    const char *words;
};

START_TEST(a_master_refuses)
{
    static const unsigned ranks[] = {3, 5};
    static const struct wrong wrong[] = {
        {3, {.type = MESSAGE_REQUEST, .request = {.chunk = 9, .done = true}}, "finished chunk 9"},
        {3, {.type = MESSAGE_REQUEST, .request = {.asks = ASKS_MAX + 1}}, "asks for more than"},
        {5, {.type = MESSAGE_RESULT, .result = {1, 1, 1}}, "results of chunk 1"},
        {5, {.type = MESSAGE_END}, "END, which is not for it to send"},
        {5, {.type = MESSAGE_FATAL, .fatal = {3, "no", 2}}, "in the name of another rank"},
        {4, {.type = MESSAGE_REQUEST, .request = {.asks = 1}}, "does not serve it"},
        {4, {.type = MESSAGE_DRAIN}, "does not serve it"},
        {0, {.type = MESSAGE_REQUEST, .request = {.asks = 1}}, "a supermaster does not send"},
        {0, {.type = MESSAGE_NEIGHBOUR, .neighbour = {5, 3}}, "neighbour that cannot be"},
        {3, {.type = MESSAGE_NEIGHBOUR, .neighbour = {5, 3}}, "NEIGHBOUR, which is not for it to send"},
        {3, {.type = MESSAGE_BOUNDARY, .boundary = {5, 0}}, "boundary data that cannot be"},
        {0, {.type = MESSAGE_REFILL, .refill = {.empty = true}}, NULL},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        static const struct run_spec spec = {.refill_chunks = 1, .threads = 1};
        const struct master_config config = {.spec = &spec, .rank = 1, .ranks = ranks, .workers = 2};
        struct master master;
        ck_assert_int_eq(master_init(&master, &config), 0);
        clear();
        master_step(&master,
                    &(struct event){.type = EVENT_MESSAGE, .from = wrong[i].from, .message = &wrong[i].message},
                    &actions);
        if (wrong[i].words != NULL)
            refused(wrong[i].from, wrong[i].words);
        master_fini(&master);
    }
}
END_TEST

START_TEST(a_worker_refuses)
{
    static const struct wrong wrong[] = {
        {1, {.type = MESSAGE_ASSIGN, .assign = {.chunk = 1, .count = 1}}, NULL},
        {1, {.type = MESSAGE_ASSIGN, .assign = {.chunk = 2, .count = 1}}, "not asked for"},
        {1, {.type = MESSAGE_ECHO, .echo = {1}}, "echo"},
        {1, {.type = MESSAGE_REQUEST}, "a master does not send"},
        {2, {.type = MESSAGE_END}, "does not serve"},
        {0, {.type = MESSAGE_END}, "does not serve"},
    };
    static const struct run_spec spec = {.ask_ahead = ASK_AHEAD_OFF};
    const struct worker_config config = {.spec = &spec, .rank = 7, .master = 1};
    struct worker worker;
    worker_init(&worker, &config);
    clear();
    worker_step(&worker, &(struct event){.type = EVENT_START}, &actions);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        clear();
        worker_step(&worker,
                    &(struct event){.type = EVENT_MESSAGE, .from = wrong[i].from, .message = &wrong[i].message},
                    &actions);
        if (wrong[i].words != NULL)
            refused(wrong[i].from, wrong[i].words);
    }
}
END_TEST

static void init_topology(struct topology *topology)
{
    struct hello hellos[7];
    for (unsigned i = 0; i < 7; i++)
        hellos[i] = (struct hello){.protocol = PROTOCOL_VERSION,
                                   .role = i == 0  ? ROLE_SUPERMASTER
                                           : i < 3 ? ROLE_MASTER
                                                   : ROLE_WORKER};
    ck_assert_int_eq(topology_init(topology, hellos, 7, false), 0);
}

/* Masters 1 and 2, workers 3 to 6, of which 3 is with master 1. */
START_TEST(a_supermaster_refuses)
{
    static unsigned char done[DONE_RECORD_BYTES];
    static const struct wrong wrong[] = {
        {1, {.type = MESSAGE_REPORT, .records = done, .record_count = 1}, "never handed out"},
        {2, {.type = MESSAGE_WORKER_LOST, .worker_lost = {.rank = 3}}, "loss of a rank that it does not serve"},
        {2,
         {.type = MESSAGE_ITERATIONS_FAILED, .iterations_failed = {.id = 3, .count = 1, .text = ""}},
         "failure of a rank"},
        {2,
         {.type = MESSAGE_VERIFIED, .verified = {.computations = 2, .rank = {4, 3}, .wrong = -1, .count = 1}},
         "results of a rank that it does not serve"},
        {2, {.type = MESSAGE_FATAL, .fatal = {3, "no", 2}}, "problem of a rank"},
        {1, {.type = MESSAGE_NEIGHBOUR, .neighbour = {5, 3}}, "neighbour that cannot be"},
        {2, {.type = MESSAGE_NEIGHBOUR, .neighbour = {5, 3}}, "neighbour that cannot be"},
        {1, {.type = MESSAGE_BOUNDARY, .boundary = {5, 0}}, "boundary data that cannot be"},
        {1, {.type = MESSAGE_END}, "not for it to send"},
        {3, {.type = MESSAGE_REQUEST, .request = {.asks = 1}}, "does not serve it"},
        {3, {.type = MESSAGE_DRAIN}, "does not serve it"},
    };
    struct topology topology;
    struct error error;
    init_topology(&topology);
    ck_assert_uint_eq(topology.master_of[0], 0);
    done_record_put(done, 0, &(struct done_record){200, 10, 1});
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct supermaster supermaster;
        struct run_spec spec;
        const struct supermaster_config config = {.topology = &topology, .spec = &spec, .count = 100};
        run_spec_init(&spec);
        ck_assert_int_eq(run_spec_set_technique(&spec, "gss", &error), 0);
        ck_assert_int_eq(supermaster_init(&supermaster, &config, &error), 0);
        clear();
        supermaster_step(&supermaster, &(struct event){.type = EVENT_START}, &actions);
        clear();
        supermaster_step(&supermaster,
                         &(struct event){.type = EVENT_MESSAGE, .from = wrong[i].from, .message = &wrong[i].message},
                         &actions);
        refused(wrong[i].from, wrong[i].words);
        ck_assert_str_eq(supermaster.failure.text, "");
        supermaster_fini(&supermaster);
    }
    topology_fini(&topology);
}
END_TEST

/* Iterations that are free, which no master can have given up: they are taken for given up, and the others go on. */
START_TEST(what_is_free_may_be_called_given_up)
{
    static const char *const techniques[] = {"gss", "static-steal"};
    static unsigned char range[ASSIGN_RECORD_BYTES];
    struct topology topology;
    init_topology(&topology);
    assign_record_put(range, 0, 10, 20);
    for (size_t i = 0; i < sizeof techniques / sizeof *techniques; i++) {
        struct supermaster supermaster;
        struct run_spec spec;
        struct error error;
        const struct supermaster_config config = {.topology = &topology, .spec = &spec, .count = 100};
        run_spec_init(&spec);
        spec.power = RUN_POWER_EQUAL;
        ck_assert_int_eq(run_spec_set_technique(&spec, techniques[i], &error), 0);
        ck_assert_int_eq(supermaster_init(&supermaster, &config, &error), 0);
        clear();
        supermaster_step(&supermaster, &(struct event){.type = EVENT_START}, &actions);
        clear();
        supermaster_step(
            &supermaster,
            &(struct event){
                .type = EVENT_MESSAGE,
                .from = 1,
                .message = &(struct message){.type = MESSAGE_ITERATIONS_GIVEN_UP, .records = range, .record_count = 1}},
            &actions);
        ck_assert_uint_eq(supermaster.given_up.total, 20);
        ck_assert_uint_eq(supermaster.technique.sched.remaining, 80);
        supermaster_fini(&supermaster);
    }
    topology_fini(&topology);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nonsense");
    TCase *all = tcase_create("nonsense");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, the_run_goes_on_whoever_babbles_when);
    tcase_add_test(all, a_master_refuses);
    tcase_add_test(all, a_worker_refuses);
    tcase_add_test(all, a_supermaster_refuses);
    tcase_add_test(all, what_is_free_may_be_called_given_up);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
