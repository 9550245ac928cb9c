/* SPDX-License-Identifier: MIT */
/* Executor of a simulated worker: chunks, marks and the probe take the time of the iterations' costs on the simulated
 * core. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "proto/message.h"
#include "proto/record.h"

/* Space before results in a message. */
#define SIMULATED_HEADROOM 64

struct simulated_work {
    struct executor executor; /* must be the first member */
    struct simulated_run *run;
    unsigned rank;
    double flops_per_ns;
    double speed;       /* of the worker on that core, including its slowdown */
    double load;        /* runnable processes on the core, including the worker */
    bool serves;        /* serves others between two iterations */
    uint64_t looked_at; /* if it serves: iterations done at the last check */
    uint64_t left_ns;   /* if it serves: end of the last computation; 0: none in this chunk */
    bool running;
    uint64_t first, count, done;
    uint64_t mark; /* 0: none */
    uint64_t started_ns;
    double call_ns;                                       /* cost of the kernel call, in addition to the iterations */
    uint64_t sliced;                                      /* iterations whose results are sent */
    unsigned char small[SIMULATED_HEADROOM + INLINE_MAX]; /* results sent within a message, after space for its head */
};

void simulated_work_init(struct simulated_work *work, struct simulated_run *run, unsigned w);
/* Duration, from `from_ns` on, of one of `parts` equal parts of the first `count` iterations of the running chunk. */
double simulated_part_ns(const struct simulated_work *work, double from_ns, uint64_t count, uint64_t parts);
/* Duration, from `from_ns` on, of [first, first + count) in a kernel call with additional cost `call_ns`. */
double simulated_range_ns(const struct simulated_work *work, double from_ns, double call_ns, uint64_t first,
                          uint64_t count);
/* Computes until `end_ns` or a message; ignores messages if `end_ns` is nearer than `deaf_ns`. True at `end_ns`. */
bool simulated_come_to(double end_ns, double deaf_ns);
/* Computes until `at_ns`, or until the rank fails. */
void simulated_compute_until(double at_ns);
/* The iteration of the running chunk at which gathered results are sent next. */
uint64_t simulated_next_slice(const struct simulated_work *work);
/* Adds the unsent results of the chunk to the event. */
void simulated_hand_over(struct simulated_work *work, struct chunk_event *chunk);
void simulated_attach_results(struct simulated_work *work, struct chunk_event *chunk, uint64_t count);
void simulated_finish(struct simulated_work *work, struct chunk_event *chunk);

/* Executor functions shared with pipelines, which begin with a simulated_work. */
bool simulated_probe(struct executor *executor, struct speed *speed);
void simulated_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated);
void simulated_set_mark(struct executor *executor, uint64_t mark);
void simulated_sent(struct executor *executor, const void *data);
void simulated_fini(struct executor *executor);
