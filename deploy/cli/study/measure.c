/* SPDX-License-Identifier: MIT */
/* The table of the measures: see measure.h. */
#include "deploy/cli/study/measure.h"

#include <stddef.h>
#include <string.h>

#define ABOUT_PERCENT "100 (max - mean) / max * n / (n - 1) of n workers (DeRose, Homer and Johnson 2007)"

const struct measure_row measures[MEASURES] = {
    [MEASURE_ELAPSED] = {"time", "loop time", "s", "elapsed_s", NULL, "from the first assignment to the last commit",
                         1},
    [MEASURE_OVERHEAD] = {"overhead", "non-overlapped overhead", "s", "overhead_s", NULL,
                          "the mean over the workers, or the cores that they share, of the loop time without computing",
                          1},
    [MEASURE_SPEEDUP] = {"speedup", "speedup", "", NULL, NULL,
                         "the least median loop time of the same kernel with the fewest workers and threads of the "
                         "study, times the number of these, over the loop time",
                         1},
    [MEASURE_EFFICIENCY] = {"efficiency", "efficiency", "", "efficiency", NULL,
                            "the part of the workers' time, or of the cores that they share, that is spent inside the "
                            "kernel",
                            1},
    [MEASURE_COMPUTE] = {"compute", "computing time of all workers", "s", "compute_s", NULL,
                         "inside the kernel, of all workers together; each worker's own stands in the table of them",
                         0},
    [MEASURE_IMBALANCE] = {"imbalance", "imbalance of the finishing times, max / mean", "", "imbalance.max_over_mean",
                           NULL, "the last worker's finishing time over the mean of all", 1},
    [MEASURE_COV] = {"cov", "coefficient of variation of the finishing times", "", "imbalance.cov", NULL, NULL, 0},
    [MEASURE_EXCESS] = {"imbalance_excess", "imbalance of the finishing times, max / mean - 1", "", "imbalance.excess",
                        NULL, "Pearce et al. 2012", 0},
    [MEASURE_PERCENT] = {"imbalance_percent", "percent imbalance of the finishing times", "%", "imbalance.percent",
                         NULL, ABOUT_PERCENT, 0},
    [MEASURE_BUSY_IMBALANCE] = {"busy_imbalance", "imbalance of the busy times, max / mean", "", "busy.max_over_mean",
                                NULL, "the longest time that a worker computed over the mean of all", 0},
    [MEASURE_BUSY_COV] = {"busy_cov", "coefficient of variation of the busy times", "", "busy.cov", NULL, NULL, 0},
    [MEASURE_BUSY_PERCENT] = {"busy_percent", "percent imbalance of the busy times", "%", "busy.percent", NULL,
                              ABOUT_PERCENT, 0},
    [MEASURE_COST] = {"cost", "parallel cost", "s", "cost_s", NULL,
                      "the loop time of all threads, or of all cores where workers share some, together (Grama et al. "
                      "2003)",
                      0},
    [MEASURE_SCHEDULING] = {"scheduling", "scheduling overhead", "s", "scheduling_s", NULL,
                            "the mean over the workers of the time until their last completion without computing", 0},
    [MEASURE_IDLE] = {"idle", "idle time at the end", "s", "idle_s", NULL,
                      "the mean over the workers of the time from their last completion to the end of the loop", 0},
    [MEASURE_THREAD_IMBALANCE] = {"thread_imbalance", "imbalance of the threads of a worker, max / mean", "",
                                  "threads.imbalance.max_over_mean", NULL,
                                  "the longest time that a thread computed over the mean of its worker's threads, the "
                                  "mean of all workers",
                                  0},
    [MEASURE_IMPROVEMENT] = {"improvement", "improvement over the baseline", "%", NULL, NULL,
                             "100 times the part of the baseline's median loop time that is saved", 0},
    [MEASURE_CHUNKS] = {"chunks", "chunks", "", "chunks", NULL, NULL, 0},
    [MEASURE_CHUNK_SIZE] = {"chunk_size", "mean chunk size", "iterations", "iterations", "chunks", NULL, 0},
    [MEASURE_REFILLS] = {"refills", "refills of the masters' pools", "", "refills", NULL, NULL, 0},
    [MEASURE_RECALLS] = {"recalls", "recalls that brought something", "", "recalls.count", NULL, NULL, 0},
    [MEASURE_RECALLED] = {"recalled", "iterations that recalls moved", "", "recalls.iterations", NULL, NULL, 0},
    [MEASURE_MESSAGES] = {"messages", "messages", "", "messages", NULL, NULL, 0},
    [MEASURE_MESSAGES_PER_CHUNK] = {"messages_per_chunk", "messages per chunk", "", "messages", "chunks", NULL, 0},
    [MEASURE_BYTES] = {"bytes", "bytes on the wire", "bytes", "bytes_on_wire", NULL, NULL, 0},
    [MEASURE_STARTUP] = {"startup", "start-up time", "s", "startup_s", NULL,
                         "from the start of the program to the first assignment", 0},
};

int measure_find(const char *name)
{
    for (int i = 0; i < MEASURES; i++)
        if (strcmp(measures[i].name, name) == 0)
            return i;
    return -1;
}
