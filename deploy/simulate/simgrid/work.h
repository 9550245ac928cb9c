/* SPDX-License-Identifier: MIT */
/* Executor of a simulated worker. Chunks and the probe take as long as their iterations would take on the simulated
 * core. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "proto/message.h"
#include "proto/record.h"

#define SIMULATED_HEADROOM 64

struct simulated_work {
    struct executor executor;
    struct simulated_run *run;
    unsigned rank;
    double flops_per_ns;
    double speed; /* relative to a core that does `flops_per_ns`; includes the slowdown of the worker */
    double load;
    bool serves;
    uint64_t looked_at;
    uint64_t left_ns;
    bool running;
    uint64_t first, count, done;
    uint64_t mark;
    uint64_t started_ns;
    double call_ns;
    uint64_t sliced;
    unsigned char small[SIMULATED_HEADROOM + INLINE_MAX];
};

void simulated_work_init(struct simulated_work *work, struct simulated_run *run, unsigned w);
/* Divides the first `count` iterations of the running chunk into `parts` equal parts. Returns how long one part takes
 * from `from_ns` on. */
double simulated_part_ns(const struct simulated_work *work, double from_ns, uint64_t count, uint64_t parts);
/* Returns how long a kernel call for [first, first + count) takes from `from_ns` on. `call_ns` is the cost of the call
 * without its iterations. */
double simulated_range_ns(const struct simulated_work *work, double from_ns, double call_ns, uint64_t first,
                          uint64_t count);
/* Computes. If `end_ns` is at most 2 * `deaf_ns` away, computes until `end_ns` without regard to messages, and returns
 * true. Otherwise returns false after a message, after a second, or `deaf_ns` before `end_ns`. */
bool simulated_come_to(double end_ns, double deaf_ns);
void simulated_compute_until(double at_ns);
uint64_t simulated_next_slice(const struct simulated_work *work);
void simulated_hand_over(struct simulated_work *work, struct chunk_event *chunk);
void simulated_attach_results(struct simulated_work *work, struct chunk_event *chunk, uint64_t count);
void simulated_finish(struct simulated_work *work, struct chunk_event *chunk);

/* These functions are also for the executor of loops with dependencies, because its structure begins with a
 * simulated_work. */
bool simulated_probe(struct executor *executor, struct speed *speed);
void simulated_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated);
void simulated_set_mark(struct executor *executor, uint64_t mark);
void simulated_sent(struct executor *executor, const void *data);
void simulated_fini(struct executor *executor);
