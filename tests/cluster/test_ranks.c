/* SPDX-License-Identifier: MIT */
/* What the supermaster tells of its ranks while it runs: of those that it serves all, of those of masters what these
 * have told for other reasons. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/metrics/rank.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/ranks.h"
#include "supermaster/supermaster.h"
#include "tests/lib/suite.h"

#include <string.h>

#define MS_NS UINT64_C(1000000)

static struct actions actions;
static struct topology topology;
static struct supermaster supermaster;
static uint64_t now_ns;

/* A supermaster of rank 0, `masters` behind it, and two workers behind these; a loop of 100 iterations, 10 a chunk. */
static void start(unsigned masters, const char *technique)
{
    static const double speeds[] = {1, 1};
    static struct run_spec spec;
    struct hello hellos[8];
    struct error error;
    for (unsigned i = 0; i < masters + 3; i++)
        hellos[i] = (struct hello){.role = i == 0         ? ROLE_SUPERMASTER
                                           : i <= masters ? ROLE_MASTER
                                                          : ROLE_WORKER,
                                   .node = i == masters + 2 ? i : 0};
    ck_assert_int_eq(actions_init(&actions, 8), 0);
    ck_assert_int_eq(topology_init(&topology, hellos, masters + 3, false), 0);
    const struct supermaster_config config = {.topology = &topology, .spec = &spec, .count = 100, .speeds = speeds};
    run_spec_init(&spec);
    ck_assert_int_eq(run_spec_set_technique(&spec, technique, &error), 0);
    ck_assert_int_eq(supermaster_init(&supermaster, &config, &error), 0);
    now_ns = 0;
    supermaster_step(&supermaster, &(struct event){.type = EVENT_START}, &actions);
}

static void end(void)
{
    supermaster_fini(&supermaster);
    topology_fini(&topology);
    actions_fini(&actions);
}

static void give(unsigned from, const struct message *message)
{
    actions_clear(&actions);
    supermaster_step(&supermaster,
                     &(struct event){.type = EVENT_MESSAGE, .now_ns = now_ns, .from = from, .message = message},
                     &actions);
    ck_assert_str_eq(supermaster.failure.text, "");
}

static void lose(unsigned rank)
{
    actions_clear(&actions);
    supermaster_step(&supermaster, &(struct event){.type = EVENT_RANK_LOST, .now_ns = now_ns, .from = rank}, &actions);
}

static struct rank_figures told(unsigned place)
{
    struct rank_figures figures;
    ck_assert(supermaster_tell_rank(&supermaster, place, now_ns, &figures));
    return figures;
}

START_TEST(workers_are_known_that_are_served_here)
{
    start(0, "css:chunk=10");
    struct rank_figures figures = told(0);
    ck_assert(figures.rank == 1 && !figures.is_master && figures.node == 0 && figures.master == RANK_NONE);
    ck_assert(figures.state == RANK_WAITS && !figures.has_chunk && figures.has_counts && figures.done == 0);
    now_ns = 5 * MS_NS;
    give(1, &(struct message){.type = MESSAGE_REQUEST, .request = {.asks = 1}});
    now_ns = 25 * MS_NS;
    figures = told(0);
    ck_assert(figures.state == RANK_COMPUTES && figures.has_chunk && figures.first == 0 && figures.count == 10 &&
              figures.left == 10);
    ck_assert_double_eq_tol(figures.since_s, 0.02, 1e-12);
    ck_assert_double_eq(figures.power, 1);
    give(1, &(struct message){.type = MESSAGE_REQUEST,
                              .request = {.done = true,
                                          .asks = 1,
                                          .chunk = 1,
                                          .compute_ns = 19 * MS_NS,
                                          .wait_ns = MS_NS,
                                          .load = 2 * LOAD_ONE}});
    figures = told(0);
    ck_assert(figures.done == 10 && figures.chunks == 1 && figures.first == 10 && figures.since_s == 0);
    ck_assert_double_eq_tol(figures.compute_s, 0.019, 1e-12);
    ck_assert_double_eq(figures.load, 2);
    ck_assert(told(1).state == RANK_WAITS && told(1).node == 1);
    lose(1);
    ck_assert(told(0).state == RANK_LOST && !told(0).has_chunk && told(0).done == 10);
    struct rank_figures none;
    ck_assert(!supermaster_tell_rank(&supermaster, 2, now_ns, &none));
    end();
}
END_TEST

START_TEST(masters_come_first)
{
    unsigned char records[DONE_RECORD_BYTES];
    start(2, "awf-c");
    struct rank_figures figures = told(0);
    ck_assert(figures.rank == 1 && figures.is_master && figures.state == RANK_SERVES && figures.workers == 1 &&
              figures.busy == 0 && figures.done == 0);
    figures = told(2);
    ck_assert(figures.rank == 3 && !figures.is_master && figures.master == 1 && figures.state == RANK_NOT_TOLD);
    ck_assert(!figures.has_counts && !figures.has_chunk);
    give(1, &(struct message){.type = MESSAGE_REPORT, .report = {.refill = true}});
    done_record_put(records, 0, &(struct done_record){.first = 0, .count = 5});
    give(1, &(struct message){.type = MESSAGE_REPORT, .report = {.busy = 1}, .records = records, .record_count = 1});
    ck_assert(told(0).done == 5 && told(0).busy == 1);
    unsigned char feedback[FEEDBACK_RECORD_BYTES];
    for (int i = 0; i < 2; i++) {
        feedback_record_put(feedback, 0, &(struct feedback_record){3, 1, 10, 4 * MS_NS, MS_NS, 0, 1});
        give(1, &(struct message){.type = MESSAGE_FEEDBACK, .records = feedback, .record_count = 1});
    }
    figures = told(2);
    ck_assert(figures.has_counts && figures.done == 20 && figures.chunks == 2);
    ck_assert_double_eq_tol(figures.compute_s, 0.008, 1e-12);
    ck_assert(!told(3).has_counts);
    lose(2);
    ck_assert(told(1).state == RANK_LOST && told(1).busy == 0 && told(3).state == RANK_ORPHAN);
    give(4, &(struct message){.type = MESSAGE_ADOPT});
    ck_assert_int_eq(told(3).state, RANK_WAITS);
    lose(4);
    ck_assert_int_eq(told(3).state, RANK_LOST);
    struct rank_figures none;
    ck_assert(!supermaster_tell_rank(&supermaster, 4, now_ns, &none));
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks");
    TCase *tests = tcase_create("ranks");
    tcase_add_test(tests, workers_are_known_that_are_served_here);
    tcase_add_test(tests, masters_come_first);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
