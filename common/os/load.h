/* SPDX-License-Identifier: MIT */
/* The load of the cores that this process is bound to: the number of runnable processes per core, including this
 * process. --weighting acp scales chunks by it.
 *
 * The load is 1 + wait / run. These are the times in which this process's threads run and wait for a core
 * (/proc/self/task/TID/schedstat) while they compute. Beside a process that is always runnable, both wait as long as
 * they run, and the load is 2; beside a process that sleeps half of the time it is 1.5.
 *
 * Counting the processes in state R on our cores (/proc/PID/stat) would be worse. It reads every process of the
 * machine (1.2 ms for a hundred processes instead of 10 us), sees one moment of what changes every few milliseconds,
 * ignores nice values and the weights of groups, does not know which of several cores a process will get, and does
 * not see the processes outside a container. Measured beside 0 and 3 busy processes on a machine with other work: a
 * process took 2.7 and 10.2 times as long as alone, and counting gave 4.7 and 7.7. In a container beside 1 process
 * it took 4.4 times as long, and counting gave 1. /proc/pressure describes the whole machine, only root may read
 * /proc/sched_debug, and the load average covers a minute.
 *
 * An idle worker polls and yields its core again and again, so its idle time must not count: a stretch of computing
 * lasts from load_meter_look() to load_meter_pause(). A long stretch is read every LOAD_PERIOD_NS; short stretches
 * are read at most once in LOAD_GAP_NS. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_PERIOD_NS 100000000u
/* A load needs at least this much time run or waited, because time slices last a few milliseconds. */
#define LOAD_LEAST_NS 50000000u
#define LOAD_GAP_NS   2000000u
/* A smaller excess over 1 comes from the system itself. */
#define LOAD_NOISE 0.05

struct load_times {
    uint64_t run_ns, wait_ns;
};

struct load_meter {
    const char *folder;
    double load;
    struct load_times began;
    struct load_times sum;
    uint64_t began_ns; /* start of the measured stretch; 0: none */
    uint64_t due_ns;
};

#define LOAD_FOLDER "/proc/self/task"

int load_meter_init(struct load_meter *meter, const char *folder, struct error *error);

/* Keeps the core busy for about LOAD_SETTLE_NS to get a first value. */
void load_meter_settle(struct load_meter *meter);
#define LOAD_SETTLE_NS 30000000u

/* Measures while the process computes. Returns whether `meter->load` has changed. */
bool load_meter_look(struct load_meter *meter, uint64_t now_ns);
void load_meter_pause(struct load_meter *meter);

int load_parse(const char *text, struct load_times *times);
/* Reads the sum of the threads' wait times, and the run time of this process. -1: not available. */
int load_read(const char *folder, struct load_times *times);
double load_of(const struct load_times *times);
uint16_t load_to_wire(double load);
