/* SPDX-License-Identifier: MIT */
/* Results computed from a run's statistics. */
#pragma once

enum measure {
    MEASURE_ELAPSED,
    MEASURE_OVERHEAD,
    MEASURE_SPEEDUP,
    MEASURE_EFFICIENCY,
    MEASURE_COMPUTE,
    MEASURE_IMBALANCE,
    MEASURE_COV,
    MEASURE_EXCESS,
    MEASURE_PERCENT,
    MEASURE_BUSY_IMBALANCE,
    MEASURE_BUSY_COV,
    MEASURE_BUSY_PERCENT,
    MEASURE_COST,
    MEASURE_SCHEDULING,
    MEASURE_IDLE,
    MEASURE_THREAD_IMBALANCE,
    MEASURE_IMPROVEMENT,
    MEASURE_CHUNKS,
    MEASURE_CHUNK_SIZE,
    MEASURE_REFILLS,
    MEASURE_RECALLS,
    MEASURE_RECALLED,
    MEASURE_MESSAGES,
    MEASURE_MESSAGES_PER_CHUNK,
    MEASURE_BYTES,
    MEASURE_STARTUP,
    MEASURES,
};

struct measure_row {
    const char *name;   /* in the file and in the names of pictures */
    const char *title;  /* at an axis */
    const char *unit;   /* "" for a ratio */
    const char *column; /* column of the table of runs; NULL: the measure follows from others */
    const char *over;   /* the column by which it is divided; NULL: none */
    const char *about;  /* definition, where the title does not say it all; else NULL */
    int standard;       /* default where the file names no measure */
};

extern const struct measure_row measures[MEASURES];

/* For people, in the order of the table. */
#define MEASURE_NAMES                                                                                                  \
    "time, overhead, speedup, efficiency, compute, imbalance, cov, imbalance_excess, imbalance_percent, "              \
    "busy_imbalance, busy_cov, busy_percent, cost, scheduling, idle, thread_imbalance, improvement, chunks, "          \
    "chunk_size, refills, recalls, recalled, messages, messages_per_chunk, bytes, startup"

/* The measure of this name, or -1. */
int measure_find(const char *name);
