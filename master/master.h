/* SPDX-License-Identifier: MIT */
/* The master: keeps a pool of chunks for the workers of its node, collects their results, and reports to the
 * supermaster. A pure state machine: see common/machine/machine.h. */
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
    const struct run_spec *spec; /* borrowed for the master's life */
    unsigned rank;
    unsigned supermaster;
    const unsigned *ranks; /* [workers] ranks of the workers, sorted; borrowed */
    unsigned workers;
    uint64_t record_bytes; /* bytes of a result, or RECORD_VARIABLE; 0: results are only digested */
    bool no_speculation;
    bool no_isolation;
    bool feedback;
    /* Each iteration needs the results of this many iterations before it, so chunks are handed out in order; 0: of
     * none. */
    uint64_t distance;
    uint64_t first;
    bool is_pod;
    bool sync; /* results must be synced to the disk before they are reported */
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
    /* owned, like all arrays below; the messages of a step borrow these records and `report_records` */
    unsigned char *stats_records;
    uint64_t reported_at_ns;
    unsigned reported_busy;
    struct measurement *measurements;
    unsigned *measured;
    unsigned measured_count;
    unsigned char *feedback_records; /* [workers]; the messages of a step borrow these and `load_records` [workers] */
    unsigned char *load_records;
    bool loads_changed;
    struct speed_levels *levels;
    unsigned speeds;
    struct refills refills;
    /* number of idle workers of other masters for which work is recalled here; 0: no RECALL is open */
    unsigned recall_waiting;
    /* The last RECALL was answered, but workers may still return work for it. If no worker here is idle, that goes to
     * the supermaster, too. */
    bool returns_more;
    unsigned told_idle; /* how many idle workers the last RECALL to the supermaster named; 0 after a refill */
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
