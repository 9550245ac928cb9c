/* SPDX-License-Identifier: MIT */
/* The load of the cores that this process is bound to: the number of runnable processes per core, including this one,
 * by which --weighting acp scales chunks.
 *
 * The load is measured as 1 + wait / run, from the times that the threads of this process run and wait on a run queue
 * (/proc/self/task/TID/schedstat) while they compute. Next to one process that is always runnable both wait as long as
 * they run, which gives 2; next to one that sleeps half of the time the result is 1.5.
 *
 * Counting processes in state R on our cores, from /proc/PID/stat, has many disadvantages: it reads every process of
 * the machine (1.2 ms for a hundred of them instead of 10 us), shows one moment of what changes every few milliseconds,
 * ignores nice values and group weights, does not know which of several cores a process will get, and in a container
 * does not see the others. Measurements next to 0 and 3 busy processes, on a machine with other work: a process took
 * 2.7 and 10.2 times as long as alone, and counting gave 4.7 and 7.7; in a container next to 1 process it took 4.4
 * times as long, and counting gave 1. /proc/pressure covers the whole machine, /proc/sched_debug is for root, and the
 * load average covers a minute.
 *
 * Idle time of the worker must not count as load, because an idle worker polls and yields its core again and again. So
 * only stretches of computing count: from load_meter_look() to load_meter_pause(). A long stretch is read every
 * LOAD_PERIOD_NS; for short ones there is at most one reading in LOAD_GAP_NS. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_PERIOD_NS 100000000u
/* Minimum time run or waited for one value of the load: time slices are a few milliseconds. */
#define LOAD_LEAST_NS 50000000u
/* Minimum gap between measured stretches. */
#define LOAD_GAP_NS 2000000u
/* Smaller excesses over 1 are caused by the system itself. */
#define LOAD_NOISE 0.05

struct load_times {
    uint64_t run_ns, wait_ns;
};

struct load_meter {
    const char *folder;      /* of the threads; borrowed */
    double load;             /* latest value, at least 1 */
    struct load_times began; /* at the beginning of the measured stretch */
    struct load_times sum;   /* of the stretches before it, since `load` was computed */
    uint64_t began_ns;       /* of the measured stretch; 0: none */
    uint64_t due_ns;         /* start of the next stretch at the earliest */
};

#define LOAD_FOLDER "/proc/self/task"

/* Fails if the system does not provide waiting times. */
int load_meter_init(struct load_meter *meter, const char *folder, struct error *error);

/* Keeps the core busy for about LOAD_SETTLE_NS to get a first value. */
void load_meter_settle(struct load_meter *meter);
#define LOAD_SETTLE_NS 30000000u

/* Measures while the process computes. True if `meter->load` has changed. */
bool load_meter_look(struct load_meter *meter, uint64_t now_ns);
void load_meter_pause(struct load_meter *meter);

/* Parses a schedstat file: run time, wait time, slices. -1: invalid. */
int load_parse(const char *text, struct load_times *times);
/* Total wait time of the threads in the folder, and run time of this process. -1: not available. */
int load_read(const char *folder, struct load_times *times);
/* 1 + wait / run, or 1 if the excess is only noise. */
double load_of(const struct load_times *times);
/* Encodes the load for messages. */
uint16_t load_to_wire(double load);
