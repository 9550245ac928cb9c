/* SPDX-License-Identifier: MIT */
/* Platforms, where ranks are put on them, traces of availability, and the sums of costs. */
#include "common/util/error.h"
#include "deploy/simulate/availability.h"
#include "deploy/simulate/platforms/placement.h"
#include "deploy/simulate/platforms/platform.h"
#include "tests/lib/suite.h"
#include "worker/kernels/costs/costs.h"
#include "worker/kernels/costs/profile.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct error error;

/* --- platforms --- */

static const char small[] = "title Two kinds of node # of a test\n"
                            "\n"
                            "nodes 3 cores=4 # the quick ones\n"
                            "nodes 3 cores=2 speed=0.5 site=1\r\n"
                            "node latency=500ns bandwidth=2GB/s\n"
                            "network latency=1.5us bandwidth=500MB/s\n"
                            "sites latency=2ms bandwidth=1GB/s\n"
                            "service event=100ns message=50ns byte=0.5ns calculation=7ns call=40ns";

START_TEST(test_platform_is_read)
{
    struct platform p;
    ck_assert_msg(platform_parse(&p, small, &error) == 0, "%s", error.text);
    ck_assert_str_eq(p.title, "Two kinds of node # of a test");
    ck_assert_uint_eq(p.groups, 2);
    ck_assert_uint_eq(p.nodes, 6);
    ck_assert_uint_eq(p.sites, 2);
    ck_assert_uint_eq(p.cores, 18);
    ck_assert_double_eq(platform_node(&p, 2)->speed, 1);
    ck_assert_double_eq(platform_node(&p, 3)->speed, 0.5);
    ck_assert_double_eq_tol(platform_link_between(&p, 1, 1)->latency_ns, 500, 1e-9);
    ck_assert_double_eq_tol(platform_link_between(&p, 0, 1)->latency_ns, 1500, 1e-9);
    ck_assert_double_eq_tol(platform_link_between(&p, 0, 1)->bytes_per_ns, 0.5, 1e-12);
    ck_assert_double_eq_tol(platform_link_between(&p, 0, 5)->latency_ns, 2e6, 1e-9);
    ck_assert_double_eq_tol(p.service.byte_ns, 0.5, 1e-12);
    ck_assert_double_eq_tol(p.service.call_ns, 40, 1e-12);
    ck_assert_double_eq(p.service.cold_ns, PLATFORM_COLD_NS); /* not said: as measured */
    ck_assert_double_eq(p.service.iteration_ns, PLATFORM_ITERATION_NS);
}
END_TEST

#define LINKS "node latency=1ns bandwidth=1GB/s\nnetwork latency=1ns bandwidth=1GB/s\n"

static const struct {
    const char *text, *error;
} bad_platforms[] = {
    {"", "line 0: the end, and there are no nodes"},
    {"nodes 2\n", "line 1: the end, and there is no statement node"},
    {"nodes 2\nnode latency=1ns bandwidth=1GB/s\n", "line 2: the end, and there is no statement network"},
    {"nodes 2\nnodes 2 site=1\n" LINKS, "line 4: the end, and there is no statement sites for 2 sites"},
    {"nodes\n", "line 1: nodes: the number of them is missing"},
    {"nodes none\n", "line 1: nodes none: accepted: how many there are, from 1 to 16777216"},
    {"\nnodes 2 cores=0\n", "line 2: cores=0: accepted: an integer from 1 to 4096"},
    {"nodes 2 speed=-1\n", "line 1: speed=-1: accepted: a number from 0.001 to 1000"},
    {"nodes 2 site=64\n", "line 1: site=64: accepted: an integer from 0 to 63"},
    {"nodes 2 colour=red\n",
     "line 1: 'colour' is not a word of nodes; accepted: the number of nodes, cores=, speed=, site="},
    {"node latency=1 bandwidth=1GB/s\n",
     "line 1: latency=1: accepted: a time with its unit, ns, us, ms or s, up to 60s"},
    {"node latency=1us bandwidth=0GB/s\n",
     "line 1: bandwidth=0GB/s: accepted: a number with its unit, kB/s, MB/s or GB/s, from 1kB/s to 1e9GB/s"},
    {"node latency=1us\n", "line 1: node: bandwidth= is missing"},
    {"service calls=1ns\n",
     "line 1: 'calls' is not a word of service; accepted: event=, message=, byte=, calculation=, "
     "call=, cold=, iteration="},
    {"service event=fast\n", "line 1: event=fast: accepted: a time with its unit, ns, us, ms or s, up to 60s"},
    {"<platform version=\"4.1\">\n",
     "line 1: '<platform' begins no statement; accepted: title, nodes, node, network, sites, service"},
};

START_TEST(test_bad_platform_is_refused)
{
    struct platform p;
    ck_assert_int_eq(platform_parse(&p, bad_platforms[_i].text, &error), -1);
    ck_assert_str_eq(error.text, bad_platforms[_i].error);
}
END_TEST

START_TEST(test_described_platforms_are_read)
{
    struct platform p;
    ck_assert_ptr_nonnull(platform_names[0]);
    for (unsigned i = 0; platform_names[i] != NULL; i++) {
        ck_assert_msg(platform_find(&p, platform_names[i], &error) == 0, "%s: %s", platform_names[i], error.text);
        ck_assert_str_eq(p.name, platform_names[i]);
        ck_assert_uint_ge(p.cores, 8193);
        ck_assert_double_gt(p.service.event_ns, 0);
    }
}
END_TEST

START_TEST(test_changes_of_a_platform)
{
    struct platform p;
    ck_assert_int_eq(platform_find(&p, "two-speeds:nodes=7,cores=3", &error), 0);
    ck_assert_uint_eq(p.nodes, 7);
    ck_assert_uint_eq(p.group[0].count + p.group[1].count, 7);
    ck_assert_uint_eq(p.cores, 21);
    ck_assert_int_eq(platform_find(&p, "two-speeds:nodes=1", &error), -1);
    ck_assert_str_eq(
        error.text,
        "platform 'two-speeds:nodes=1': 'nodes=1' is not accepted; accepted: nodes=N (from 2 "
        "on), cores=N, bandwidth=RATE (of the network, such as 8GB/s), byte=TIME (as of service, such as 0.1ns)");
    ck_assert_int_eq(platform_find(&p, "ranger:bandwidth=8GB/s,nodes=9,byte=0.03ns", &error), 0);
    ck_assert_double_eq(p.network.bytes_per_ns, 8);
    ck_assert_double_eq(p.service.byte_ns, 0.03);
    ck_assert_uint_eq(p.nodes, 9);
    ck_assert_int_eq(platform_find(&p, "ranger:bandwidth=8", &error), -1);
    ck_assert_int_eq(platform_find(&p, "ranger:bandwidth=0GB/s", &error), -1);
    ck_assert_int_eq(platform_find(&p, "ranger:byte=2us", &error), -1);
    ck_assert_int_eq(platform_find(&p, "moon", &error), -1);
    ck_assert_str_eq(error.text,
                     "platform 'moon' is unknown; accepted: ranger, cluster, two-speeds, two-sites, or a file");
}
END_TEST

/* --- placement --- */

START_TEST(test_placement)
{
    struct platform p;
    struct placement placement;
    ck_assert_int_eq(platform_parse(&p, small, &error), 0);
    /* 10 ranks: of two nodes that are spread over the six, 6 cores; three, 0, 2 and 4, have room */
    ck_assert_msg(placement_init(&placement, &p, 2, 7, 1, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(placement.nodes, 3);
    const unsigned nodes[] = {0, 2, 4}, of[] = {0, 0, 1, 0, 0, 1, 1, 1, 2, 2};
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(placement.platform_node[i], nodes[i]);
    for (unsigned i = 0; i < 10; i++)
        ck_assert_msg(placement.node_of[i] == of[i], "rank %u is on node %u", i, placement.node_of[i]);
    ck_assert_double_eq(placement.speed[1], 1);
    ck_assert_double_eq(placement.speed[2], 0.5);
    placement_fini(&placement);
}
END_TEST

START_TEST(test_each_core_has_one_rank)
{
    struct platform p;
    struct placement placement;
    ck_assert_int_eq(platform_parse(&p, small, &error), 0);
    for (unsigned workers = 1; workers <= 17; workers++)
        for (unsigned masters = 0; masters + workers <= 17 && masters <= workers; masters++) {
            unsigned ranks[6] = {0};
            ck_assert_int_eq(placement_init(&placement, &p, masters, workers, 1, &error), 0);
            for (unsigned r = 0; r < placement.ranks; r++)
                ranks[placement.platform_node[placement.node_of[r]]]++;
            for (unsigned n = 0; n < 6; n++)
                ck_assert_uint_le(ranks[n], platform_node(&p, n)->cores);
            placement_fini(&placement);
        }
    ck_assert_int_eq(placement_init(&placement, &p, 2, 16, 1, &error), -1);
    ck_assert_str_eq(error.text,
                     "the platform has 18 cores (6 nodes), fewer than the 19 ranks; accepted: up to 17 masters "
                     "and workers together, or a larger platform (NAME:nodes=N)");
}
END_TEST

/* A worker of three threads takes three cores of one node, or begins on the next. */
START_TEST(test_placement_of_threads)
{
    struct platform p;
    struct placement placement;
    ck_assert_int_eq(platform_find(&p, "cluster:nodes=6,cores=8", &error), 0);
    ck_assert_msg(placement_init(&placement, &p, 2, 5, 3, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(placement.nodes, 3);
    const unsigned of[] = {0, 0, 1, 0, 0, 1, 1, 2};
    for (unsigned i = 0; i < 8; i++)
        ck_assert_msg(placement.node_of[i] == of[i], "rank %u is on node %u", i, placement.node_of[i]);
    placement_fini(&placement);
    ck_assert_int_eq(placement_init(&placement, &p, 0, 5, 8, &error), 0);
    placement_fini(&placement);
    ck_assert_int_eq(placement_init(&placement, &p, 0, 6, 8, &error), -1);
    ck_assert_str_eq(error.text,
                     "the platform has 48 cores (6 nodes), and 6 workers of 8 threads, each on one node, with "
                     "1 other rank do not fit; accepted: fewer of them, or a larger platform "
                     "(NAME:nodes=N,cores=C)");
    ck_assert_int_eq(placement_init(&placement, &p, 0, 1, 9, &error), -1);
}
END_TEST

/* --- availability --- */

/* Profiles as SimGrid has them: its example of speeds, one of a node that fails, and some that are none. */
static char *read_profile(void *context, const char *name, struct error *into)
{
    static const char *const profiles[][2] = {
        {"speeds", "0 0.5\n2 1.0\n4 0.7\n6 0.1\n8 4\nLOOPAFTER 10\n"},
        {"state", "0 1\n3 0 # it fails\n5 1\n6 1\nLOOPAFTER 4"},
        {"once", "1 0.5\n"},
        {"late", "2 1\n1 1\n"},
        {"loop", "0 1\nLOOPAFTER 0\n"},
        {"words", "1\n"},
    };
    (void)context;
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcmp(profiles[i][0], name) == 0)
            return strdup(profiles[i][1]);
    error_set(into, "there is none");
    return NULL;
}

/* Speeds begin again 10 s after the last one, at 18 s; states that change nothing are none. */
START_TEST(test_profiles_of_simgrid)
{
    struct availability availability;
    ck_assert_msg(availability_parse(&availability,
                                     "0 speed_file speeds\n1 state_file state\n1 0 load=3\n1 speed_file once\n", 2,
                                     read_profile, NULL, &error) == 0,
                  "%s", error.text);
    const double speeds[] = {0.5, 1, 0.7, 0.1, 4, 0.5, 1}, at_s[] = {0, 2, 4, 6, 8, 18, 20};
    const enum availability_kind states[] = {AVAILABILITY_SPEED, AVAILABILITY_SPEED, AVAILABILITY_DOWN,
                                             AVAILABILITY_UP,    AVAILABILITY_DOWN,  AVAILABILITY_UP};
    const double state_at_s[] = {0, 1, 3, 5, 13, 15};
    unsigned of_first = 0, of_second = 0;
    for (size_t i = 0; i < availability.count; i++) {
        const struct availability_event *event = &availability.events[i];
        ck_assert(i == 0 || event[-1].at_ns <= event->at_ns);
        if (event->node == 0 && of_first < 7) {
            ck_assert(event->kind == AVAILABILITY_SPEED && event->speed == speeds[of_first]);
            ck_assert_uint_eq(event->at_ns, (uint64_t)(at_s[of_first++] * 1e9));
        } else if (event->node == 1 && of_second < 6) {
            ck_assert_int_eq(event->kind, states[of_second]);
            ck_assert_uint_eq(event->at_ns, (uint64_t)(state_at_s[of_second++] * 1e9));
        }
    }
    ck_assert(of_first == 7 && of_second == 6 && availability.events[1].speed == 0.25);
    ck_assert_uint_gt(availability.count, AVAILABILITY_PROFILE_EVENTS_MAX);
    ck_assert_uint_le(availability.count, 2 * AVAILABILITY_PROFILE_EVENTS_MAX + 2);
    ck_assert(availability_has_arrivals(&availability));
    availability_fini(&availability);
    ck_assert_int_eq(
        availability_parse(&availability, "1 0.5 down\n1 speed_file once\n", 2, read_profile, NULL, &error), 0);
    ck_assert(availability.count == 1 && !availability_has_arrivals(&availability)); /* it is down, and has no speed */
    availability_fini(&availability);
}
END_TEST

/* Two nodes are launched. */
START_TEST(test_availability_is_read)
{
    const struct availability_event expected[] = {
        {0, 0, AVAILABILITY_SPEED, 2, 7},           {5, 500000000, AVAILABILITY_UP, 0, 4},
        {1, 1500000000, AVAILABILITY_DOWN, 0, 3},   {5, 2000000000, AVAILABILITY_LEAVES, 0, 5},
        {5, 2000000000, AVAILABILITY_UP, 0, 6},     {1, 3000000000, AVAILABILITY_UP, 0, 8},
        {1, 4000000000, AVAILABILITY_LEAVES, 0, 9},
    };
    struct availability availability;
    const int result = availability_parse(&availability,
                                          "# NODE SECONDS STATE\n"
                                          "\n"
                                          "1 1.5 down # it fails\r\n"
                                          "  5,0.5,up\n"
                                          "5 2 leaves\n"
                                          "5 2 up#again\n"
                                          "0\t0\t2\n"
                                          "1 3 up\n"
                                          "1 4e0 leaves",
                                          2, NULL, NULL, &error);
    ck_assert_msg(result == 0, "%s", error.text);
    ck_assert_uint_eq(availability.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < availability.count; i++) {
        const struct availability_event *event = &availability.events[i];
        ck_assert(event->node == expected[i].node && event->at_ns == expected[i].at_ns);
        ck_assert(event->kind == expected[i].kind && event->line == expected[i].line);
        if (event->kind == AVAILABILITY_SPEED)
            ck_assert_double_eq(event->speed, expected[i].speed);
    }
    availability_fini(&availability);
    ck_assert_int_eq(availability_parse(&availability, "# nothing\n \n", 0, NULL, NULL, &error), 0);
    ck_assert(availability.count == 0);
    availability_fini(&availability);
}
END_TEST

static const struct {
    const char *text, *error;
} bad_availabilities[] = {
    {"2 1\n", "line 1: accepted: NODE SECONDS up|down|leaves|SPEED|load=N, or NODE speed_file|state_file FILE"},
    {"\n2 1 up now\n",
     "line 2: accepted: NODE SECONDS up|down|leaves|SPEED|load=N, or NODE speed_file|state_file FILE"},
    {"a 1 up\n", "line 1: node 'a': accepted: an integer from 0 to 999999"},
    {"1000000 1 up\n", "line 1: node '1000000': accepted: an integer from 0 to 999999"},
    {"-1 1 up\n", "line 1: node '-1': accepted: an integer from 0 to 999999"},
    {"2 -1 up\n", "line 1: time '-1': accepted: seconds from 0 to 1e+09"},
    {"2 2e9 up\n", "line 1: time '2e9': accepted: seconds from 0 to 1e+09"},
    {"2 nan up\n", "line 1: time 'nan': accepted: seconds from 0 to 1e+09"},
    {"2 1 Up\n", "line 1: 'Up': accepted: up, down, leaves, load=N, or a speed from 1e-06 to 1e+06"},
    {"0 1 0\n", "line 1: '0': accepted: up, down, leaves, load=N, or a speed from 1e-06 to 1e+06"},
    {"1 1 up\n", "line 1: node 1 is up already"},
    {"2 3 up\n2 1 up\n", "line 1: node 2 is up already"},
    {"2 1 down\n", "line 1: node 2 is not up"},
    {"2 1 up\n2 2 leaves\n2 3 0.5\n", "line 3: node 2 is not up"},
    {"1 1 load=65\n", "line 1: 'load=65': accepted: load=N, busy processes from 0 to 64"},
    {"x speed_file speeds\n", "line 1: node 'x': accepted: an integer from 0 to 999999"},
    {"\n1 speed_file none\n", "line 2: none: there is none"},
    {"1 speed_file state\n", "line 1: state: value 0: accepted: a speed from 1e-06 to 1e+06"},
    {"1 state_file late\n",
     "line 1: late: line 2: time '1': accepted: seconds from 0 to 1e+09, each later than the one "
     "before"},
    {"1 state_file loop\n", "line 1: loop: line 2: LOOPAFTER '0': accepted: seconds above 0, behind an event"},
    {"1 state_file words\n", "line 1: words: line 1: accepted: SECONDS VALUE, or LOOPAFTER SECONDS"},
    {"1 1 leaves\n", "line 1: node 1 is one of the launch, which may fail (down), but not leave"},
};

START_TEST(test_bad_availability_is_refused)
{
    struct availability availability;
    ck_assert_int_eq(availability_parse(&availability, bad_availabilities[_i].text, 2, read_profile, NULL, &error), -1);
    ck_assert_str_eq(error.text, bad_availabilities[_i].error);
    ck_assert_ptr_null(availability.events);
}
END_TEST

/* --- costs --- */

static double square(void *context, uint64_t i)
{
    return *(const double *)context * (double)i * (double)i;
}

START_TEST(test_costs_of_a_function)
{
    double factor = 2;
    struct costs *costs = costs_of_function(square, NULL, &factor, sizeof factor, 3, 1000, &error);
    ck_assert_ptr_nonnull(costs);
    ck_assert_double_eq(costs_ns(costs, 3, 0), 0);
    ck_assert_double_eq_tol(costs_ns(costs, 3, 3), 2 * (9 + 16 + 25), 1e-9);
    ck_assert_double_eq_tol(costs_ns(costs, 1000, 3), 2 * (1e6 + 1001. * 1001 + 1002. * 1002), 1e-3);
    costs_free(costs);
}
END_TEST

/* More iterations than there are places for sums. */
START_TEST(test_costs_between_places)
{
    double factor = 1e-9;
    uint64_t count = 2 * (uint64_t)COSTS_ENTRIES + 5;
    struct costs *costs = costs_of_function(square, NULL, &factor, sizeof factor, 0, count, &error);
    ck_assert_ptr_nonnull(costs);
    for (uint64_t first = 10; first < 20; first++) {
        double sum = 0;
        for (uint64_t i = first; i < first + 7; i++)
            sum += square(&factor, i);
        ck_assert_double_eq_tol(costs_ns(costs, first, 7), sum, 1e-12);
    }
    ck_assert_double_eq_tol(costs_ns(costs, count - 1, 1) / square(&factor, count - 1), 1, 1e-6);
    costs_free(costs);
}
END_TEST

START_TEST(test_costs_of_files)
{
    struct costs *costs = costs_parse("# us\n1\n2.5\n\n4 # last\n", 0, 3, &error);
    ck_assert_msg(costs != NULL, "%s", error.text);
    ck_assert_double_eq_tol(costs_ns(costs, 0, 3), 7500, 1e-9);
    ck_assert_double_eq_tol(costs_ns(costs, 1, 1), 2500, 1e-9);
    costs_free(costs);
    costs = costs_parse("0 10 1 4\n10 5 3\n15 1e3 0.5 2\n", 2, 900, &error);
    ck_assert_msg(costs != NULL, "%s", error.text);
    ck_assert_double_eq_tol(costs_ns(costs, 8, 4), 2000 + 6000, 1e-6);
    ck_assert_double_eq_tol(costs_ns(costs, 900, 2), 1000, 1e-6);
    costs_free(costs);
}
END_TEST

static const struct {
    const char *text, *error;
} bad_costs[] = {
    {"1\n-2\n3\n", "line 2: '-2': accepted: a cost in microseconds, from 0 to 1e12"},
    {"1\nnan\n", "line 2: 'nan': accepted: a cost in microseconds, from 0 to 1e12"},
    {"# none\n", "line 1: the end, and there are no costs"},
    {"1\n2\n", "line 2: the end, and there are costs of the iterations 0 to 1; accepted: all from 0 to 2"},
    {"1 2\n", "line 1: accepted: COST, or FIRST COUNT COST in all lines"},
    {"0 2 1\n5\n", "line 2: accepted: FIRST COUNT COST, as in the lines before"},
    {"0 2 1\n3 2 1\n", "line 2: the block begins at iteration 3; accepted: 2, where the one before ends"},
    {"0 0 1\n", "line 1: '0 0': accepted: the first iteration of a block and how many it has, from 1"},
    {"0 3 1 two\n", "line 1: worker 'two': accepted: its rank, an integer from 0"},
    {"0 3 1 2 5\n", "line 1: accepted: COST, or FIRST COUNT COST in all lines"},
    {"0 3 much\n", "line 1: cost 'much': accepted: microseconds, from 0 to 1e12"},
    {"2 9 1\n", "line 1: the end, and there are costs of the iterations 2 to 10; accepted: all from 0 to 2"},
};

START_TEST(test_bad_costs_are_refused)
{
    ck_assert_ptr_null(costs_parse(bad_costs[_i].text, 0, 3, &error));
    ck_assert_str_eq(error.text, bad_costs[_i].error);
}
END_TEST

/* --- distributions --- */

static const struct {
    const char *spec;
    double mean, deviation; /* us */
} distributions[] = {
    {"constant:mean=5", 5, 0},
    {"uniform:mean=10,cov=0.5", 10, 5},
    {"normal:mean=100,cov=0.2,seed=7", 100, 20},
    {"exponential:mean=3", 3, 3},
    {"gamma:mean=20,cov=0.5", 20, 10},
    {"gamma:mean=20,cov=2", 20, 40},
    {"bimodal:mean=8,spread=0.5", 8, 4},
    {"increasing:mean=6,spread=1", 6, 6 / 1.7320508},
    {"decreasing:mean=6,spread=0.5", 6, 3 / 1.7320508},
    {"lognormal:mean=20,cov=1", 20, 20},
    {"lognormal:mean=20", 20, 6},
    {"pareto:mean=30,alpha=6", 30, 30 / 4.8989795},
    {"phases:mean=4,spread=1", 4, 4},
    {"1*constant:mean=5+1*constant:mean=15", 10, 5},
    {"0.9*constant:mean=10+0.1*constant:mean=1e+2", 19, 27},           /* sqrt(0.09) 90 */
    {"3*normal:mean=10,cov=0.1+1*exponential:mean=10", 10, 5.0744458}, /* sqrt((3 + 100) / 4) */
    {"constant:mean=10,period=100000,trend=1", 15, 5},                 /* 10 in the one step, 20 in the other */
    {"phases:mean=4,phases=10,spread=0.25", 4, 1},
};

START_TEST(test_distributions)
{
    enum { COUNT = 200000 };
    struct costs *costs = costs_distributed(distributions[_i].spec, 5, COUNT, &error);
    ck_assert_msg(costs != NULL, "%s", error.text);
    double squares = 0, mean = distributions[_i].mean * 1000, deviation = distributions[_i].deviation * 1000;
    ck_assert_double_eq_tol(costs_ns(costs, 5, COUNT) / COUNT / mean, 1, 0.02);
    for (unsigned i = 0; i < COUNT; i++) {
        double distance = costs_ns(costs, 5 + i, 1) - mean;
        squares += distance * distance;
    }
    ck_assert_double_eq_tol(sqrt(squares / COUNT), deviation, 0.03 * deviation + 1e-3);
    costs_free(costs);
}
END_TEST

/* The costs of a time step are those of the first, and what they have grown by; a mixture has the same parts in each.
 */
START_TEST(test_time_steps)
{
    static const char *const specs[] = {"exponential:mean=10,period=50,trend=0.5",
                                        "increasing:mean=10,period=50,trend=0.5",
                                        "1*pareto:period=50,trend=0.5+2*normal:period=50,trend=0.5"};
    for (unsigned k = 0; k < 3; k++) {
        struct costs *costs = costs_distributed(specs[k], 0, 200, &error);
        ck_assert_msg(costs != NULL, "%s", error.text);
        for (uint64_t i = 0; i < 200; i++)
            ck_assert_double_eq_tol(costs_ns(costs, i, 1), costs_ns(costs, i % 50, 1) * (1 + 0.5 * (double)(i / 50)),
                                    1e-3);
        ck_assert(costs_ns(costs, 3, 1) < costs_ns(costs, 4, 1) || costs_ns(costs, 3, 1) > costs_ns(costs, 4, 1));
        costs_free(costs);
    }
    struct costs *costs = costs_distributed("constant:mean=10,period=10,trend=-0.25", 0, 100, &error);
    ck_assert_double_eq(costs_ns(costs, 30, 10), 25000);
    ck_assert_double_eq(costs_ns(costs, 60, 10), 0); /* no cost is below 0 */
    costs_free(costs);
}
END_TEST

/* Half of all costs are below the least times 2^(1 / alpha), and the tail is as heavy as it is said to be. */
START_TEST(test_tail_of_pareto)
{
    enum { COUNT = 200000 };
    struct costs *costs = costs_distributed("pareto:mean=30,alpha=1.5", 5, COUNT, &error);
    ck_assert_msg(costs != NULL, "%s", error.text);
    unsigned below = 0, far = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        double cost_ns = costs_ns(costs, 5 + i, 1);
        ck_assert_double_ge(cost_ns, 10000 * (1 - 1e-6));
        below += cost_ns < 10000 * pow(2, 1 / 1.5);
        far += cost_ns > 100 * 10000;
    }
    ck_assert_double_eq_tol((double)below / COUNT, 0.5, 0.01);
    ck_assert_double_eq_tol((double)far / COUNT, pow(100, -1.5), 2e-4);
    costs_free(costs);
}
END_TEST

static const struct {
    const char *spec, *error;
} bad_distributions[] = {
    {"weibull", "distribution 'weibull' is unknown; accepted: constant, uniform, normal, exponential, gamma, bimodal, "
                "increasing, decreasing, lognormal, pareto, phases"},
    {"pareto:alpha=1", "distribution: 'alpha=1': accepted: a number from 1.05 to 100"},
    {"phases:phases=0", "distribution: 'phases=0': accepted: an integer from 1 to 1000000"},
    {"phases:alpha=3",
     "distribution: 'alpha=3' is no parameter of phases; accepted: mean=US, spread=, phases=, seed=, period=, trend="},
    {"lognormal:spread=1",
     "distribution: 'spread=1' is no parameter of lognormal; accepted: mean=US, cov=, seed=, period=, trend="},
    {"normal:sigma=2",
     "distribution: 'sigma=2' is no parameter of normal; accepted: mean=US, cov=, seed=, period=, trend="},
    {"constant:cov=1", "distribution: 'cov=1' is no parameter of constant; accepted: mean=US, seed=, period=, trend="},
    {"bimodal:spread=2", "distribution: 'spread=2': accepted: a number from 0 to 1"},
    {"normal:mean=-1", "distribution: 'mean=-1': accepted: a number from 0 to 1e+12"},
    {"normal:trend=0.1", "distribution 'normal:trend=0.1': trend= needs period=, the iterations of a time step"},
    {"gamma:mean=1,mean=2", "distribution: 'mean=2': mean stands twice"},
    {"2*normal:seed=1,cov=0.1,seed=1+1*gamma", "distribution: 'seed=1': seed stands twice"},
    {"normal:period=0", "distribution: 'period=0': accepted: an integer from 1"},
    {"0.5*normal+", "distribution: the mixture ends with +; accepted: another SHARE*DISTRIBUTION"},
    {"0.5*normal+gamma", "distribution 'gamma': accepted: SHARE*DISTRIBUTION, a share above 0"},
    {"0*normal", "distribution '0*normal': accepted: SHARE*DISTRIBUTION, a share above 0"},
    {"1*normal+1*normal+1*normal+1*normal+1*normal+1*normal+1*normal+1*normal+1*normal",
     "distribution: accepted: up to 8 parts of a mixture"},
    {"1*weibull",
     "distribution 'weibull' is unknown; accepted: constant, uniform, normal, exponential, gamma, bimodal, "
     "increasing, decreasing, lognormal, pareto, phases"},
    {"normal:seed=x", "distribution: 'seed=x': accepted: an integer from 0"},
};

START_TEST(test_bad_distributions_are_refused)
{
    ck_assert_ptr_null(costs_distributed(bad_distributions[_i].spec, 0, 3, &error));
    ck_assert_str_eq(error.text, bad_distributions[_i].error);
}
END_TEST

/* --- profiles of LB4OMP --- */

static const char profile[] = "Location: ;psia.c;main;10;20;;,Mean 200000 Sigma 100000 iterations 50000\n"
                              "Location: ;psia.c;other loop;30;40;;,Mean 5 Sigma 1 iterations 10\n"
                              "Location: ;psia.c;main;10;20;;,Mean 4e5 Sigma -nan iterations 50000\n";

/* The clock has 2 GHz: 100 us in the mean with a deviation of 50, then 200 us each; behind both the first comes again.
 */
START_TEST(test_profiles_of_lb4omp)
{
    struct profile_request request;
    ck_assert_msg(profile_request_parse(&request, "lb4omp:a.txt,mhz=2e3,loop=main,seed=7", &error) == 0, "%s",
                  error.text);
    ck_assert_str_eq(request.file, "a.txt");
    ck_assert(request.mhz == 2000 && request.seed == 7 && costs_is_profile("lb4omp:x") && !costs_is_profile("lb4om"));
    struct costs *costs = costs_of_profile(&request, profile, 0, 150000, &error);
    ck_assert_msg(costs != NULL, "%s", error.text);
    double squares = 0;
    for (unsigned i = 0; i < 50000; i++)
        squares += (costs_ns(costs, i, 1) - 1e5) * (costs_ns(costs, i, 1) - 1e5);
    ck_assert_double_eq_tol(costs_ns(costs, 0, 50000) / 50000, 1e5, 1e3);
    ck_assert_double_eq_tol(sqrt(squares / 50000), 5e4, 1e3);
    ck_assert_double_eq_tol(costs_ns(costs, 50000, 50000) / 50000, 2e5, 1);
    ck_assert_double_eq_tol(costs_ns(costs, 100000, 50000) / 50000, 1e5, 1e3);
    costs_free(costs);
    request.loop[0] = '\0';
    ck_assert_ptr_null(costs_of_profile(&request, profile, 0, 10, &error));
    ck_assert_str_eq(error.text, "line 2: a second loop, ';psia.c;other loop;30;40;;' behind ';psia.c;main;10;20;;'; "
                                 "accepted: loop=TEXT of one of them");
    strcpy(request.loop, "none");
    ck_assert_ptr_null(costs_of_profile(&request, profile, 0, 10, &error));
    ck_assert_str_eq(error.text, "there is no loop 'none' in it");
    ck_assert_ptr_null(costs_of_profile(&request, "\nMean 1 Sigma 2 iterations 3\n", 0, 10, &error));
    ck_assert_str_eq(error.text, "line 2: accepted: Location: LOOP,Mean M Sigma S iterations N, in ticks");
}
END_TEST

static const struct {
    const char *spec, *error;
} bad_requests[] = {
    {"lb4omp:", "'lb4omp:': accepted: lb4omp:FILE,mhz=MHZ[,loop=TEXT][,seed=N]"},
    {"lb4omp:a", "lb4omp: mhz= is missing: the clock in MHz that KMP_CPU_SPEED had"},
    {"lb4omp:a,mhz=0", "lb4omp: 'mhz=0': accepted: the clock in MHz, above 0, as KMP_CPU_SPEED"},
    {"lb4omp:a,mhz=1,seed=-1", "lb4omp: 'seed=-1': accepted: an integer from 0"},
    {"lb4omp:a,mean=1", "lb4omp: 'mean=1' is not accepted: mhz=MHZ, loop=TEXT, seed=N"},
};

START_TEST(test_bad_profiles_are_refused)
{
    struct profile_request request;
    ck_assert_int_eq(profile_request_parse(&request, bad_requests[_i].spec, &error), -1);
    ck_assert_str_eq(error.text, bad_requests[_i].error);
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void)
{
    Suite *suite = suite_create("simulate");
    TCase *tcase = tcase_create("simulate");
    tcase_add_test(tcase, test_platform_is_read);
    tcase_add_loop_test(tcase, test_bad_platform_is_refused, 0, COUNT_OF(bad_platforms));
    tcase_add_test(tcase, test_described_platforms_are_read);
    tcase_add_test(tcase, test_changes_of_a_platform);
    tcase_add_test(tcase, test_placement);
    tcase_add_test(tcase, test_each_core_has_one_rank);
    tcase_add_test(tcase, test_placement_of_threads);
    tcase_add_test(tcase, test_availability_is_read);
    tcase_add_test(tcase, test_profiles_of_simgrid);
    tcase_add_loop_test(tcase, test_bad_availability_is_refused, 0, COUNT_OF(bad_availabilities));
    tcase_add_test(tcase, test_costs_of_a_function);
    tcase_add_test(tcase, test_costs_between_places);
    tcase_add_test(tcase, test_costs_of_files);
    tcase_add_loop_test(tcase, test_bad_costs_are_refused, 0, COUNT_OF(bad_costs));
    tcase_add_loop_test(tcase, test_distributions, 0, COUNT_OF(distributions));
    tcase_add_test(tcase, test_profiles_of_lb4omp);
    tcase_add_loop_test(tcase, test_bad_profiles_are_refused, 0, COUNT_OF(bad_requests));
    tcase_add_test(tcase, test_time_steps);
    tcase_add_test(tcase, test_tail_of_pareto);
    tcase_add_loop_test(tcase, test_bad_distributions_are_refused, 0, COUNT_OF(bad_distributions));
    suite_add_tcase(suite, tcase);
    return suite_run_together(suite);
}
