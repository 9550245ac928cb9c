/* SPDX-License-Identifier: MIT */
/* The load of the cores that this process is bound to: how many runnable processes compete for one, this one counted as
 * 1, as --weighting acp scales chunks by it.
 *
 * It is not counted but measured: 1 + wait / run, from how long the threads of this process have run and how long they
 * have waited on a run queue (/proc/self/task/TID/schedstat) while it computed. Beside one process that is always
 * runnable the scheduler lets both wait as long as they run, which makes 2; beside one that sleeps half of the time it
 * makes 1.5.
 *
 * Why not count the processes in state R, whose `processor` in /proc/PID/stat is one of ours: that takes a reading of
 * every process of the machine (1.2 ms for a hundred of them, where this takes 10 us), shows one moment of what changes
 * every few milliseconds, counts what is nice, or in a group that is given less, for as much as what is not, does not
 * know which of several cores a process will get, and in a container sees nothing of the others, which compete all the
 * same. Beside 0 and 3 busy processes, on a machine with other work, a process took 2.7 and 10.2 times as long as
 * alone; a count said 4.7 and 7.7, and 1 in a container of its own, where it took 4.4 times as long beside 1.
 * /proc/pressure is of the whole machine, /proc/sched_debug is for root, and the load average is of a minute.
 *
 * The time in which the worker idles must not look like load: it polls then and offers its core to others again and
 * again, each time waiting for as long as they like. So only the stretches count in which it computes: from
 * load_meter_look() to load_meter_pause(). One that is long is read every LOAD_PERIOD_NS; where they are short there is
 * a reading in LOAD_GAP_NS at most. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_PERIOD_NS 100000000u
/* A load is of so much time in which the process ran or waited, at least: time slices are a few milliseconds. */
#define LOAD_LEAST_NS 50000000u
/* Between a stretch of computing that was measured and the next one. */
#define LOAD_GAP_NS 2000000u
/* A load a little above 1 is not somebody who competes but the system's own business. */
#define LOAD_NOISE 0.05

struct load_times {
    uint64_t run_ns, wait_ns;
};

struct load_meter {
    const char *folder;      /* folder of the threads; borrowed */
    double load;             /* the latest known load, at least 1 */
    struct load_times began; /* times at the beginning of the stretch that is being measured */
    struct load_times sum;   /* sum of the stretches before it, since `load` was made */
    uint64_t began_ns;       /* when the stretch began; 0: none is being measured */
    uint64_t due_ns;         /* when the next stretch may begin */
};

/* The threads of this process. */
#define LOAD_FOLDER "/proc/self/task"

/* -1 with one line where the system does not tell how long processes wait. */
int load_meter_init(struct load_meter *meter, const char *folder, struct error *error);

/* Keeps the core busy until a first load is known: for about LOAD_SETTLE_NS. */
void load_meter_settle(struct load_meter *meter);
#define LOAD_SETTLE_NS 30000000u

/* Looks at the load while the process computes, at this moment. True where `meter->load` has changed. */
bool load_meter_look(struct load_meter *meter, uint64_t now_ns);
/* Stops measuring the load. */
void load_meter_pause(struct load_meter *meter);

/* --- the parts of it --- */

/* The text of a schedstat file: time run, time waited, time slices. -1: it is none. */
int load_parse(const char *text, struct load_times *times);
/* The time that the threads in the folder have waited in all, and this process has run. -1 where that is not told. */
int load_read(const char *folder, struct load_times *times);
/* 1 + wait / run, 1 for what is only noise. */
double load_of(const struct load_times *times);
/* The load as it goes into a message. */
uint16_t load_to_wire(double load);
