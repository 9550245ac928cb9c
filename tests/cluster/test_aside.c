/* SPDX-License-Identifier: MIT */
/* Nodes on which tasks fail that work elsewhere are put aside, and others are not. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/metrics/report.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <string.h>

#define MS UINT64_C(1000000)

enum { COUNT = 600, NODES = 3, ON_NODE = 2, WORKERS = NODES * ON_NODE, LIMIT = 10, BAD_NODE = 1 };

/* A run of tasks, and the tasks that fail. */
struct list {
    unsigned masters;
    bool fails_on_node;       /* all on the bad node */
    bool fails_to_return;     /* these have no results, and are tried again */
    uint64_t from, to, every; /* of these every n-th fails anywhere; 0: none */
    bool is_even;             /* all take the same time */
};

/* Between 0.5 ms and 1.5 ms, those that fail anywhere 0.05 ms: who takes one soon takes the next. */
static double cost_of(void *context, uint64_t task)
{
    const struct list *list = context;
    if (list->is_even)
        return 1e6;
    if (list->every > 0 && task >= list->from && task < list->to && task % list->every == 0)
        return 5e4;
    return 5e5 + 1e6 * (double)(task * 7919 % 101) / 101;
}

static unsigned node_of(const struct list *list, unsigned rank)
{
    return (rank - 1 - list->masters) / ON_NODE;
}

static enum virtual_outcome outcome_of(void *context, unsigned rank, uint64_t task)
{
    const struct list *list = context;
    const bool fails_anywhere = list->every > 0 && task >= list->from && task < list->to && task % list->every == 0;
    if (list->fails_on_node && node_of(list, rank) == BAD_NODE)
        return list->fails_to_return ? VIRTUAL_FAILS : VIRTUAL_IS_CALLED_FAILED;
    return fails_anywhere ? VIRTUAL_IS_CALLED_FAILED : VIRTUAL_WORKS;
}

/* The supermaster and each master are on a node of the workers. */
static struct virtual_config config_of(struct list *list, unsigned rank_node[1 + NODES + WORKERS])
{
    struct virtual_config config = cluster_plain(list->masters, WORKERS, "ss", COUNT);
    rank_node[0] = 0;
    for (unsigned m = 0; m < list->masters; m++)
        rank_node[1 + m] = m % NODES;
    for (unsigned w = 0; w < WORKERS; w++)
        rank_node[1 + list->masters + w] = w / ON_NODE;
    config.nodes = NODES;
    config.rank_node = rank_node;
    config.collect = config.variable = config.are_tasks = config.no_speculation = true;
    config.spec.node_failures = LIMIT;
    config.spec.retries = RUN_RETRIES;
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    config.cost_ns = cost_of;
    config.outcome = outcome_of;
    config.context = list;
    return config;
}

/* Tasks that ran on the node, as far as the workers have told. */
static uint64_t run_on(const struct supermaster *supermaster, unsigned node)
{
    uint64_t tasks = 0;
    for (unsigned w = 0; w < WORKERS; w++)
        tasks += w / ON_NODE == node ? supermaster->statistics[w].iterations : 0;
    return tasks;
}

static struct virtual_cluster *ran(struct list *list, struct virtual_result *result)
{
    unsigned rank_node[1 + NODES + WORKERS];
    struct virtual_config config = config_of(list, rank_node);
    struct virtual_cluster *cluster = cluster_ran(&config, result);
    const struct ledger *ledger = &result->supermaster->ledger;
    ck_assert_uint_eq(ledger->done + ranges_total(&ledger->failed), COUNT);
    ck_assert_uint_eq(result->wrong, 0);
    return cluster;
}

START_TEST(a_node_that_fails_all_gets_no_more)
{
    for (unsigned masters = 0; masters <= NODES; masters += NODES) {
        struct list list = {.masters = masters, .fails_on_node = true};
        struct virtual_result result;
        struct error text;
        struct virtual_cluster *cluster = ran(&list, &result);
        ck_assert_uint_eq(supermaster_aside_count(result.supermaster), 1);
        const struct report_aside *aside = &result.supermaster->nodes.events[0];
        ck_assert_uint_eq(aside->node, BAD_NODE);
        ck_assert(aside->failed >= LIMIT && aside->worked >= LIMIT && aside->worked == aside->beside);
        ck_assert_msg(run_on(result.supermaster, BAD_NODE) <= aside->failed + (masters > 0 ? 4 : 2) * ON_NODE,
                      "%u masters: %llu of %llu", masters, (unsigned long long)run_on(result.supermaster, BAD_NODE),
                      (unsigned long long)aside->failed);
        ck_assert_uint_le(aside->failed, 2 * LIMIT);
        supermaster_aside_text(result.supermaster, 0, &text);
        ck_assert_ptr_nonnull(strstr(text.text, "node 1 is put aside: the last "));
        ck_assert_ptr_nonnull(strstr(text.text, "--node-failures off"));
        virtual_free(cluster);
    }
}
END_TEST

/* Tasks that failed there are tried again elsewhere, and done. */
START_TEST(failed_tries_count_too)
{
    for (unsigned masters = 0; masters <= NODES; masters += NODES) {
        struct list list = {.masters = masters, .fails_on_node = true, .fails_to_return = true};
        struct virtual_result result;
        struct virtual_cluster *cluster = ran(&list, &result);
        ck_assert_uint_eq(supermaster_aside_count(result.supermaster), 1);
        ck_assert_uint_eq(result.supermaster->nodes.events[0].node, BAD_NODE);
        virtual_free(cluster);
    }
}
END_TEST

/* Tasks that fail everywhere, in stretches, or every so often in a list of equal ones. */
START_TEST(tasks_that_fail_anywhere_are_not_held_against_a_node)
{
    const struct list lists[] = {
        {.to = COUNT, .every = 1},
        {.from = 100, .to = 200, .every = 1},
        {.to = COUNT, .every = 2},
        {.to = COUNT, .every = 3, .is_even = true},
        {.to = COUNT, .every = 6, .is_even = true},
    };
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        for (unsigned masters = 0; masters <= NODES; masters += NODES) {
            struct list list = lists[i];
            struct virtual_result result;
            list.masters = masters;
            struct virtual_cluster *cluster = ran(&list, &result);
            ck_assert_msg(supermaster_aside_count(result.supermaster) == 0, "list %u, %u masters", i, masters);
            virtual_free(cluster);
        }
}
END_TEST

/* All take turns: the tasks of a node are two classes modulo 6, and such a list could have those fail anywhere. */
START_TEST(equal_nodes_that_take_turns_prove_nothing)
{
    struct list list = {.fails_on_node = true, .is_even = true};
    struct virtual_result result;
    struct virtual_cluster *cluster = ran(&list, &result);
    ck_assert_uint_eq(supermaster_aside_count(result.supermaster), 0);
    virtual_free(cluster);
}
END_TEST

START_TEST(nothing_is_put_aside_where_it_is_not_wanted)
{
    for (unsigned kind = 0; kind <= 2; kind++) {
        struct list list = {.fails_on_node = true};
        unsigned rank_node[1 + NODES + WORKERS];
        struct virtual_config config = config_of(&list, rank_node);
        struct virtual_result result;
        config.spec.node_failures = kind == 0 ? 0 : LIMIT;
        config.are_tasks = kind != 1;
        for (unsigned rank = 0; kind == 2 && rank < 1 + WORKERS; rank++)
            rank_node[rank] = 0; /* there is one node */
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_uint_eq(result.supermaster->ledger.done, COUNT);
        ck_assert_uint_eq(supermaster_aside_count(result.supermaster), 0);
        virtual_free(cluster);
    }
}
END_TEST

/* A master that serves workers of several nodes tells of no node. */
START_TEST(nodes_are_not_judged_together)
{
    struct list list = {.masters = 1, .fails_on_node = true};
    struct virtual_result result;
    struct virtual_cluster *cluster = ran(&list, &result);
    ck_assert_uint_eq(supermaster_aside_count(result.supermaster), 0);
    virtual_free(cluster);
}
END_TEST

/* All others are killed: the node gets work again, and ends the list. */
START_TEST(the_last_node_gets_work_again)
{
    for (unsigned masters = 0; masters <= NODES; masters += NODES) {
        struct list list = {.masters = masters, .fails_on_node = true};
        unsigned rank_node[1 + NODES + WORKERS], count = 0;
        struct virtual_config config = config_of(&list, rank_node);
        struct virtual_result result;
        struct virtual_fault faults[WORKERS];
        struct error text;
        for (unsigned w = 0; w < WORKERS; w++)
            if (w / ON_NODE != BAD_NODE)
                faults[count++] =
                    (struct virtual_fault){.type = VIRTUAL_KILL, .rank = 1 + masters + w, .at_ns = (60 + w) * MS};
        config.faults = faults;
        config.fault_count = count;
        config.detect_ns = 1000;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_uint_eq(result.supermaster->ledger.done, COUNT);
        ck_assert_uint_eq(supermaster_aside_count(result.supermaster), 2);
        supermaster_aside_text(result.supermaster, 1, &text);
        ck_assert_str_eq(text.text, "node 1 gets tasks again: all workers of other nodes are lost");
        virtual_free(cluster);
    }
}
END_TEST

/* Whatever is lost, or drained, or when: the invariants hold, and everything ends. */
START_TEST(losses_go_with_it)
{
    for (unsigned masters = 0; masters <= NODES; masters += NODES)
        for (uint64_t at_ms = 1; at_ms <= 60; at_ms += 3)
            for (unsigned rank = 1; rank < 1 + masters + WORKERS; rank++) {
                struct list list = {.masters = masters, .fails_on_node = true};
                unsigned rank_node[1 + NODES + WORKERS];
                struct virtual_config config = config_of(&list, rank_node);
                struct virtual_result result;
                const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = rank, .at_ns = at_ms * MS};
                config.faults = &fault;
                config.fault_count = 1;
                config.detect_ns = 1000;
                config.drain_at_ns = rank % 4 == 3 ? 2 * at_ms * MS : 0;
                config.spec.ask_ahead = rank % 2 ? ASK_AHEAD_FIXED : ASK_AHEAD_AUTO;
                config.spec.ask_ahead_chunks = 3;
                config.spec.min_chunk = 1 + rank % 3;
                struct virtual_cluster *cluster = cluster_ran(&config, &result);
                ck_assert(result.status == EXIT_STATUS_DONE || result.status == EXIT_STATUS_DRAINED);
                ck_assert_uint_eq(result.wrong, 0);
                ck_assert(result.status == EXIT_STATUS_DRAINED || result.supermaster->ledger.done == COUNT);
                virtual_free(cluster);
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("aside");
    TCase *tcase = tcase_create("aside");
    tcase_add_test(tcase, a_node_that_fails_all_gets_no_more);
    tcase_add_test(tcase, failed_tries_count_too);
    tcase_add_test(tcase, tasks_that_fail_anywhere_are_not_held_against_a_node);
    tcase_add_test(tcase, equal_nodes_that_take_turns_prove_nothing);
    tcase_add_test(tcase, nothing_is_put_aside_where_it_is_not_wanted);
    tcase_add_test(tcase, nodes_are_not_judged_together);
    tcase_add_test(tcase, the_last_node_gets_work_again);
    tcase_add_test(tcase, losses_go_with_it);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
