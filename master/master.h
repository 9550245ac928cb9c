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
    const unsigned *ranks; /* sorted; borrowed */
    unsigned workers;
    uint64_t record_bytes; /* of a result, or RECORD_VARIABLE; 0: results are only digested */
    bool no_speculation;
    bool no_isolation;
    bool feedback; /* the technique learns: measurements go to the supermaster */
    uint64_t
        distance;   /* an iteration needs the results of so many before it, so chunks go out in order; 0: independent */
    uint64_t first; /* of the loop */
    bool is_pod;
    bool sync; /* results are synced to the disk before they are reported */
};

/* Measurements of a worker that are not sent yet. */
struct measurement {
    uint32_t chunks;
    uint64_t iterations, compute_ns, wait_ns;
    struct spread spread;
};

struct master {
    struct master_config config;
    unsigned state;
    struct service service;
    struct actions *actions; /* of the running step */
    const struct reason_sink *reasons;
    /* Stored results that are not yet reported. */
    struct done_record done[REPORT_MAX];
    unsigned done_count;
    unsigned char *report_records;
    unsigned char *stats_records; /* owned, like report_records: encoded for this step, whose messages borrow them */
    uint64_t reported_at_ns;
    unsigned reported_busy;
    struct measurement *measurements; /* [workers]; owned */
    unsigned *measured;               /* [measured_count] workers with measurements; owned */
    unsigned measured_count;
    unsigned char *feedback_records; /* owned; the messages of a step borrow these and load_records [workers] */
    unsigned char *load_records;
    bool loads_changed;
    struct speed_levels *levels;
    unsigned speeds;
    struct refills refills;
    unsigned recall_waiting; /* workers elsewhere for which work is recalled here; 0: none */
    /* a RECALL was answered: work that a worker returns later, and no worker here waits for, is returned, too */
    bool returns_more;
    unsigned told_idle;   /* idle workers here that the supermaster was told of since it parked the refill */
    struct error problem; /* text of a FATAL, borrowed by the step's message */
    struct error refusal; /* text of a DROP, borrowed in the same way */
    struct error unfit;   /* of a pod: its first rank that was refused, and why; empty: none */
};

int master_init(struct master *master, const struct master_config *config);
void master_fini(struct master *master);

void master_step(struct master *master, const struct event *event, struct actions *actions);
uint64_t master_deadline(const struct master *master);
const char *master_state_name(const struct master *master);

void master_check(const struct master *master);

struct machine master_machine(struct master *master);
