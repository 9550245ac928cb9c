/* SPDX-License-Identifier: MIT */
/* Machines that talk with one another over the links of a fabric, as daemons do: the supermaster with the masters, a
 * master with its workers, the supermaster with the workers of a lost one. Each word has its number. In the end the
 * supermaster sends END, which masters pass on, and each rank answers with its last word.
 *
 * Checked is what holds for any machine: the words of a pair come in their order, each once, and all of those that
 * live; data come whole; nothing comes from a lost rank; a rank is lost once, and only if it is dead, was dropped, or
 * stood still for as long as silence may last. */
#pragma once

#include "tests/seeds/fabric.h"

/* No silence that is shorter makes a rank lost, whoever looks: the manual promises it of cuts of the network. */
#define GOSSIP_LENIENCE_NS (4 * FABRIC_S)

struct gossip_config {
    uint64_t end_ns;         /* when the supermaster ends the run */
    uint64_t pause_max_ns;   /* between two talks of a rank */
    unsigned burst_max;      /* words of a talk */
    unsigned data_percent;   /* of a worker's words have data, of which a third is not wanted */
    unsigned data_max;       /* bytes */
    uint64_t compute_max_ns; /* a worker computes so long at a stretch; 0: never */
    uint64_t store_max_ns;   /* data are stored for so long */
    bool needs_workers;      /* nobody else can do what a worker does */
    unsigned drop_percent;   /* of runs: a rank takes another for lost that has done nothing */
};

/* Begins a run of gossip; behind fabric_begin(). */
void gossip_begin(const struct gossip_config *config, uint64_t seed);

/* The life of a rank, for fabric_run(). */
int gossip_live(unsigned rank);

/* Behind the run: NULL, or what was wrong. `heard_ns`: the most that an end may take to be known, on a node and between
 * nodes, with what its judge has stood still besides. */
const char *gossip_check(uint64_t near_ns, uint64_t far_ns);

/* True where some rank was taken for lost by another's machine. */
bool gossip_has_lost(unsigned judge, unsigned rank);
uint64_t gossip_lost_ns(unsigned judge, unsigned rank);

/* The longest that a word took from one machine to another. */
uint64_t gossip_longest_ns(void);

struct gossip_tally {
    uint64_t words, data, unwanted, losses, false_losses, drops, orphans;
    uint64_t late; /* data that were stored after their sender had taken the receiver for lost */
};
extern struct gossip_tally gossip_tally;
