/* SPDX-License-Identifier: MIT */
/* The load of the cores that this process is bound to: the number of runnable processes per core, including this
 * process. --weighting acp scales chunks by it.
 *
 * The load is 1 + wait / run: wait is the time for which the threads of this process wait for a core, and run the time
 * for which they run (/proc/self/task/TID/schedstat), while they compute. If one other process is always runnable on
 * the core, each of the two waits as long as it runs, and the load is 2. If the other process sleeps half of the time,
 * the load is 1.5.
 *
 * Counting the processes in state R on our cores (/proc/PID/stat) would be worse. A count must read every process of
 * the machine (1.2 ms for a hundred processes instead of 10 us). It shows one instant, although the number changes
 * every few milliseconds. It ignores nice values and the weights of groups, does not know which of several cores a
 * process will get, and does not contain the processes outside a container. Measured on a machine with other work:
 * beside 0 and 3 busy processes, a process took 2.7 and 10.2 times as long as on an idle machine, and counting gave 4.7
 * and 7.7. Beside 1 busy process in a container, the process took 4.4 times as long, and counting gave 1.
 * /proc/pressure describes the whole machine, only root may read /proc/sched_debug, and the load average covers a
 * minute.
 *
 * An idle worker polls and yields its core again and again, so its idle time must not count. Only the time from
 * load_meter_look() to load_meter_pause() counts. In a long stretch of computing, the times are read every
 * LOAD_PERIOD_NS. After a pause, a new stretch begins at the earliest LOAD_GAP_NS later. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_PERIOD_NS 100000000u
/* The load is computed only after the threads have run and waited for at least this long in sum, because time slices
 * last a few milliseconds. */
#define LOAD_LEAST_NS 50000000u
#define LOAD_GAP_NS   2000000u
/* If the load exceeds 1 by less than this, the excess comes from the system itself. */
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

/* Call it regularly while the process computes: it begins to measure, or reads the times if they are due. Returns
 * whether `meter->load` has changed. */
bool load_meter_look(struct load_meter *meter, uint64_t now_ns);
void load_meter_pause(struct load_meter *meter);

int load_parse(const char *text, struct load_times *times);
/* Reads the sum of the wait times of all threads, and the run time of this process. Returns -1 if the system does not
 * provide them. */
int load_read(const char *folder, struct load_times *times);
double load_of(const struct load_times *times);
uint16_t load_to_wire(double load);
