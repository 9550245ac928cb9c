/* SPDX-License-Identifier: MIT */
/* The load of the cores that this process is bound to: the number of runnable processes per core, including this
 * process. --weighting acp scales chunks by the load.
 *
 * The load is 1 + wait / run. Here wait is the time for which the threads of this process waited for a core
 * (/proc/self/task/TID/schedstat), and run is the CPU time of this process. If one other process is always runnable on
 * the core, each of the two processes waits as long as it runs, and the load is 2. If the other process sleeps half of
 * the time, the load is 1.5.
 *
 * Counting the processes in state R (/proc/PID/stat) would be slower and less exact. A count must read every process of
 * the machine (1.2 ms for a hundred processes instead of 10 us). A count shows one instant, although the number changes
 * every few milliseconds. It ignores nice values and the weights of groups. In a container it does not see the
 * processes outside the container.
 *
 * An idle worker polls and yields its core again and again, so its idle time must not count. Only the time from
 * load_meter_look() to load_meter_pause() counts. While the process computes for long, load_meter_look() reads the
 * times every LOAD_PERIOD_NS. After load_meter_pause(), nothing is measured for at least LOAD_GAP_NS. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_PERIOD_NS 100000000u
/* The load is computed only after the sum of run time and wait time has reached this value. A shorter measurement says
 * little, because a time slice lasts a few milliseconds. */
#define LOAD_LEAST_NS 50000000u
#define LOAD_GAP_NS   2000000u
/* A load below 1 + LOAD_NOISE is treated as 1, because the system itself causes short waits. */
#define LOAD_NOISE 0.05

struct load_times {
    uint64_t run_ns, wait_ns;
};

struct load_meter {
    const char *folder;
    double load;
    struct load_times began;
    struct load_times sum;
    uint64_t began_ns; /* time at which the present measurement began; 0: nothing is being measured */
    uint64_t due_ns;
};

#define LOAD_FOLDER "/proc/self/task"

int load_meter_init(struct load_meter *meter, const char *folder, struct error *error);

/* Keeps the core busy for about LOAD_SETTLE_NS to measure a first load. */
void load_meter_settle(struct load_meter *meter);
#define LOAD_SETTLE_NS 30000000u

/* Begins a measurement or, every LOAD_PERIOD_NS, reads the times. Must be called regularly while the process computes.
 * Returns whether `meter->load` has changed. */
bool load_meter_look(struct load_meter *meter, uint64_t now_ns);
void load_meter_pause(struct load_meter *meter);

int load_parse(const char *text, struct load_times *times);
/* Reads the sum of the wait times of all threads, and the run time of this process. Returns -1 if the system does not
 * provide them. */
int load_read(const char *folder, struct load_times *times);
double load_of(const struct load_times *times);
uint16_t load_to_wire(double load);
