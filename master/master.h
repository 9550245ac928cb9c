/* SPDX-License-Identifier: MIT */
/* The master: keeps a pool of chunks for the workers of its node, collects their results, and tells the supermaster
 * what is done. Pure: see common/machine/machine.h. */
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
    const struct run_spec *spec; /* borrowed for the machine's life */
    unsigned rank;
    unsigned supermaster;  /* rank of the supermaster */
    const unsigned *ranks; /* ranks of its workers, sorted; borrowed */
    unsigned workers;
    uint64_t record_bytes; /* bytes of a result, or RECORD_VARIABLE; 0 where results are only digested */
    bool no_speculation;   /* no worker gets a copy of a chunk that another worker computes */
    bool no_isolation;     /* no iteration is run in a child process */
    bool feedback;         /* the technique learns: tell the supermaster what the workers measure */
    uint64_t distance;     /* an iteration needs so many before it: chunks go in order; 0: they are independent */
    uint64_t first;        /* first iteration of the loop */
    bool is_pod;           /* the supermaster is at the other end of a stream */
    bool sync;             /* results are on the disk, not only with the system, before they are reported done */
};

/* Measurements of a worker that the supermaster lacks. */
struct measurement {
    uint32_t chunks; /* 0: nothing */
    uint64_t iterations, compute_ns, wait_ns;
    struct spread spread;
};

struct master {
    struct master_config config;
    unsigned state; /* enum master_state */
    struct service service;
    struct actions *actions;           /* actions of the step that is running */
    const struct reason_sink *reasons; /* borrowed; NULL: nobody listens */
    /* stored results that are not yet reported */
    struct done_record done[REPORT_MAX];
    unsigned done_count;
    unsigned char *report_records; /* encoded, borrowed by the message of this step; owned */
    unsigned char *stats_records;  /* encoded, borrowed by the message of this step; owned */
    uint64_t reported_at_ns;
    unsigned reported_busy; /* UINT_MAX: the supermaster may reckon with another number */
    /* feedback */
    struct measurement *measurements; /* [workers]; owned */
    unsigned *measured;               /* [measured_count] workers with news; owned */
    unsigned measured_count;
    unsigned char *feedback_records; /* encoded, borrowed by the messages of this step; owned */
    unsigned char *load_records;     /* [workers] encoded, borrowed by the messages of this step; owned */
    bool loads_changed;              /* a worker's load has changed since the loads were told last */
    struct speed_levels *levels;     /* [workers] until all have told their speeds, `speeds` of them so far; owned */
    unsigned speeds;
    struct refills refills;
    unsigned recall_waiting; /* workers elsewhere, for whom work is recalled from here; 0: none */
    bool returns_more;    /* a RECALL was answered: what comes back late, and nobody here waits for, goes up as well */
    unsigned told_idle;   /* idle workers here that the supermaster knows of, since the refill was parked */
    struct error problem; /* text of a FATAL of this step */
    struct error refusal; /* text of a DROP of this step */
    struct error unfit;   /* of a pod: who of it was the first that could not take part, and why; empty: nobody */
};

/* -1 when memory is out. */
int master_init(struct master *master, const struct master_config *config);
void master_fini(struct master *master);

void master_step(struct master *master, const struct event *event, struct actions *actions);
uint64_t master_deadline(const struct master *master);
const char *master_state_name(const struct master *master);

/* Between two steps: stops the program where an invariant of the master does not hold. */
void master_check(const struct master *master);

/* The master as a runtime sees it. */
struct machine master_machine(struct master *master);
