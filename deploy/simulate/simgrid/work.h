/* SPDX-License-Identifier: MIT */
/* The executor of a simulated worker: chunks, marks and the probe take the time that the costs of their iterations say,
 * on the simulated core. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "proto/message.h"
#include "proto/record.h"

/* Room for what a message has before its results. */
#define SIMULATED_HEADROOM 64

struct simulated_work {
    struct executor executor; /* first */
    struct simulated_run *run;
    unsigned rank;
    double flops_per_ns; /* speed of the core */
    double speed;        /* speed of the worker on it, which may be slower */
    double load;         /* runnable processes on it, the worker being one */
    bool serves;         /* others, too: it looks at their messages between two iterations */
    uint64_t looked_at;  /* likewise: iterations that were done then */
    uint64_t left_ns;    /* likewise: when it computed last; 0: not in this chunk */
    bool running;
    uint64_t first, count, done;
    uint64_t mark; /* 0: none */
    uint64_t started_ns;
    double call_ns;  /* time of the kernel's call, beside the costs of the iterations */
    uint64_t sliced; /* iterations whose results have left */
    unsigned char small[SIMULATED_HEADROOM + INLINE_MAX]; /* results that go within a message, behind its own bytes */
};

/* For the w-th worker. */
void simulated_work_init(struct simulated_work *work, struct simulated_run *run, unsigned w);
/* Time that the worker takes, from `from_ns` on, for one of `parts` equal parts of the first `count` iterations of the
 * running chunk. */
double simulated_part_ns(const struct simulated_work *work, double from_ns, uint64_t count, uint64_t parts);
/* Time that the worker takes, from `from_ns` on, for [first, first + count) with a call of the kernel that costs
 * `call_ns`. */
double simulated_range_ns(const struct simulated_work *work, double from_ns, double call_ns, uint64_t first,
                          uint64_t count);
/* Computes towards `end_ns`: until a message comes, unless that is nearer than `deaf_ns`. True: the time has come. */
bool simulated_come_to(double end_ns, double deaf_ns);
/* Computes until then, if that is to come, or until the rank fails. */
void simulated_compute_until(double at_ns);
/* Returns the iteration of the running chunk at which gathered results are sent before its end. */
uint64_t simulated_next_slice(const struct simulated_work *work);
/* Puts the results of the chunk that are not sent yet into the event. */
void simulated_hand_over(struct simulated_work *work, struct chunk_event *chunk);
/* Puts so many iterations' results into the event. */
void simulated_attach_results(struct simulated_work *work, struct chunk_event *chunk, uint64_t count);
/* The chunk is over. */
void simulated_finish(struct simulated_work *work, struct chunk_event *chunk);

/* Calls of an executor that are the same with dependencies, of which it is a simulated_work, too. */
bool simulated_probe(struct executor *executor, struct speed *speed);
void simulated_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated);
void simulated_set_mark(struct executor *executor, uint64_t mark);
void simulated_sent(struct executor *executor, const void *data);
void simulated_fini(struct executor *executor);
