/* SPDX-License-Identifier: MIT */
/* The master: keeps a pool of chunks for its workers, collects their results, and reports to the supermaster. A pure
 * state machine: see common/machine/machine.h. */
#pragma once

#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/spread.h"
#include "common/service/refill.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "proto/message.h"
#include "proto/record.h"

enum master_state { MASTER_SERVING, MASTER_ENDING, MASTER_GONE };

struct master_config {
    const struct run_spec *spec; /* borrowed as long as the master exists */
    unsigned rank;
    unsigned supermaster;
    const unsigned *ranks; /* [workers] ranks of the workers, sorted; borrowed */
    unsigned workers;
    /* size of the result of an iteration in bytes, or RECORD_VARIABLE; 0: only digests of results are kept */
    uint64_t record_bytes;
    bool no_speculation;
    bool no_isolation;
    bool feedback;
    /* Each iteration needs the results of the `distance` iterations before it, so chunks are handed out in order. 0:
     * iterations are independent. */
    uint64_t distance;
    uint64_t first;
    bool is_pod;
    bool sync; /* results must be synced to disk before they are reported */
};

struct measurement {
    uint32_t chunks;
    uint64_t iterations, compute_ns, wait_ns;
    struct spread spread;
};

struct master {
    struct master_config config;
    unsigned state;
    struct service service;
    struct actions *actions;
    const struct reason_sink *reasons;
    struct done_record done[REPORT_MAX];
    unsigned done_count;
    unsigned char *report_records;
    /* Owned, like all arrays below. Messages of a step borrow these records and `report_records` until the step
     * ends. */
    unsigned char *stats_records;
    uint64_t reported_at_ns;
    unsigned reported_busy;
    struct measurement *measurements;
    unsigned *measured;
    unsigned measured_count;
    /* [workers], like `load_records`. Messages of a step borrow both arrays until the step ends. */
    unsigned char *feedback_records;
    unsigned char *load_records;
    bool loads_changed;
    struct speed_levels *levels;
    unsigned speeds;
    struct refills refills;
    /* The supermaster recalls work from this master for idle workers of other masters. Number of these workers; 0: no
     * work is being recalled. */
    unsigned recall_waiting;
    /* True after this master has answered a RECALL of the supermaster. Workers may still return work for that RECALL.
     * If no worker of this master is idle, that work is sent to the supermaster. */
    bool returns_more;
    unsigned told_idle; /* number of idle workers in the latest RECALL to the supermaster; 0 after a refill */
    struct error problem;
    struct error refusal;
    struct error unfit;
};

int master_init(struct master *master, const struct master_config *config);
void master_fini(struct master *master);

void master_step(struct master *master, const struct event *event, struct actions *actions);
uint64_t master_deadline(const struct master *master);
const char *master_state_name(const struct master *master);

void master_check(const struct master *master);

struct machine master_machine(struct master *master);
