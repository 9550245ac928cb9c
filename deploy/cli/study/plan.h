/* SPDX-License-Identifier: MIT */
/* The contents of a study file: the axes of the matrix, and what is made of its runs.
 *
 * The file has lines "key = value value ..." and comments from a # to the end of the line. The values of an axis are
 * checked as the options of `hdss run` are that they become. How masters, hierarchies and flat launches lie on one
 * axis: its values are "0" (central), "2" (two masters) and "dca-rma" (workers alone, --dca rma). */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/study/measure.h"
#include "deploy/cli/argv.h"

#include <stdbool.h>
#include <stdint.h>

/* A new axis is a name here and a row in plan.c, which says by which option it reaches `hdss run`. */
enum study_axis {
    AXIS_KERNEL,
    AXIS_TECHNIQUE,
    AXIS_WEIGHTING,
    AXIS_POWER,
    AXIS_MIN_CHUNK,
    AXIS_REFILL_CHUNKS,
    AXIS_REFILL,
    AXIS_SYNC_POINTS,
    AXIS_MASTERS,
    AXIS_WORKERS,
    AXIS_THREADS,
    AXIS_THREAD_TECHNIQUE,
    AXIS_DELAY,
    AXIS_SLOWDOWN,
    AXIS_LOAD,
    AXIS_FAIL_NODES,
    AXIS_COSTS,
    AXIS_BACKEND,
    AXIS_PLATFORM,
    AXES,
    AXIS_NONE = -1,
};

struct study_axis_row {
    const char *name;     /* in the file and in the table of runs */
    const char *title;    /* for people */
    const char *option;   /* option of `hdss run`; NULL: composed in another way */
    const char *standard; /* value where the file does not name the axis; NULL: it must */
    bool number;          /* values are numbers, unless a flat launch is among them */
    bool dealt;           /* values may be lists, whose parts are dealt out to the workers */
    bool is_simulated;    /* only simulated runs have it; without a line for it its option may be among `options` */
};

extern const struct study_axis_row study_axes[AXES];

/* For people, in the order of the table; and the keys of a file that are no axis. */
#define STUDY_AXIS_NAMES                                                                                               \
    "kernel, technique, weighting, power, min_chunk, refill_chunks, refill, sync_points, masters, workers, threads, "  \
    "thread_technique, "                                                                                               \
    "delay, slowdown, load, fail_nodes, costs, backend, platform"
#define STUDY_OTHER_KEYS                                                                                               \
    "title, topology, repetitions, until, seed, seeds, timeout, options, measure, x, series, heat, baseline, "         \
    "speedup_base, steps, traces"

#define STUDY_VALUES_MAX      256
#define STUDY_RUNS_MAX        1000000
#define STUDY_REPETITIONS_MAX 10000
#define STUDY_TIMEOUT_S_MAX   1000000
#define STUDY_UNTIL_LEAST     6   /* runs before an interval can be narrow enough: fewer have none of 95 % */
#define STUDY_UNTIL_MOST      100 /* runs of a cell where the file does not say how many */
#define DCA_PREFIX            "dca-"
#define BACKEND_MPIRUN        "mpirun"
#define BACKEND_SIMULATE      "simulate"
#define PLATFORM_NONE         "none" /* platform of hdss simulate that is asked for no other */

/* Cells that others are compared with: those that are alike in everything but some axes. */
struct study_reference {
    int at[AXES]; /* index of the value on the axis, or -1: the cell's own */
    bool given;
    unsigned line;
};

struct study {
    char title[160];
    struct argv values[AXES];
    unsigned line[AXES];                    /* line of the first value; 0: none */
    unsigned kernel_line[STUDY_VALUES_MAX]; /* line of each kernel */
    struct argv options;                    /* options of `hdss run`, for every run */
    unsigned options_line;
    unsigned repetitions, timeout_s; /* 0 s: none */
    double until; /* a cell is run until its interval is so many percent of the median to either side; 0: never mind */
    uint64_t seed;
    bool has_seeds;    /* each repetition of a simulated run has an order of events of its own */
    bool keeps_steps;  /* the time steps of each run */
    bool keeps_traces; /* the trace of each run */
    bool measured[MEASURES];
    int x, series;                       /* axes of the lines; AXIS_NONE: none */
    int heat[2];                         /* axes of the heat maps; AXIS_NONE: none */
    bool heat_given;                     /* heat maps of every measure, otherwise of the first */
    struct study_reference baseline;     /* of `improvement` */
    struct study_reference speedup_base; /* of `speedup`; not given: summary_serial_time() */
};

/* Reads the text of the file `name`. -1 with one line that says where. Kernels and `options` are not looked at yet;
 * study_fini() is due all the same. */
int study_parse(struct study *study, const char *name, const char *text, struct error *error);
void study_fini(struct study *study);

/* Checks whether the kernels can be run with the options, and simulated on the platforms: this may load code. -1
 * with one line. */
int study_check(const struct study *study, const char *name, struct error *error);

/* The axis that has this name, or AXIS_NONE. */
int study_axis_find(const char *name);

/* True if the axis has more than one value; whether all of them are numbers. */
bool study_varies(const struct study *study, int axis);
bool study_is_numeric(const struct study *study, int axis);

/* True if some of the cells are simulated. */
bool study_simulates(const struct study *study);

/* True if cells have intervals of confidence: they are run often enough, and not all of them are the same run again. */
bool study_has_intervals(const struct study *study);

/* "central", "hierarchical", "dca-rma": what a value of the axis of the masters is. */
const char *study_topology(const char *masters);

/* A value as people read it: "2 masters", "central". */
void study_value_text(int axis, const char *value, char *text, size_t size);
