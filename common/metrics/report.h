/* SPDX-License-Identifier: MIT */
/* The report of a run. It contains all figures for the JSON of --report and for the summary.
 *
 * The program fills in its measurements, and report_compute() derives the rest. Pure: the time of day is a
 * parameter, and the JSON is returned as text. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/ranges.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum report_topology {
    REPORT_HIERARCHICAL,
    REPORT_CENTRAL,
    REPORT_DCA_TWO_SIDED,
    REPORT_DCA_RMA,
    REPORT_DCA_NODE,
};

enum report_outcome { REPORT_DONE, REPORT_TASKS_FAILED, REPORT_DRAINED, REPORT_FAILED };

struct report_worker {
    unsigned rank;
    unsigned node;
    unsigned master;
    double power;
    double weight; /* the weight that the technique has learned; 0: the technique is not adaptive */
    /* mean of the loads of the worker's core that were measured when chunks for the worker were cut; 0: no load was
     * measured */
    double load;
    uint64_t iterations, chunks;
    bool is_of_pod;
    bool has_left;
    /* time for which the worker was present between the first assignment and the last commit of the run */
    double presence_s;
    double compute_s;
    double wait_s;    /* the worker's idle time, from its first request to the end of the run */
    unsigned threads; /* 0: the worker has one thread, and the statistics of threads below are not set */
    uint64_t thread_chunks;
    double thread_max_over_mean, thread_cov;
    /* If the workers of a node have more threads than the node has cores: the worker's share of the cores, and its
     * processor time from its first chunk to its end. Otherwise both are 0. They are also 0 if the iterations wait
     * instead of computing, if the worker is slowed down, or if it was lost. */
    double cores, processor_s;
    /* time from the first assignment of the run to the worker's last completion; 0: the worker had no chunk */
    double finish_s;
};

struct report_step {
    /* time from the first assignment to the last commit of the step; 0: the step was done by an earlier run, or is not
     * done */
    double elapsed_s;
    uint64_t chunks;
    uint64_t *cut;
};

struct report_faults {
    uint64_t lost_workers, lost_masters, reissued_chunks, duplicate_results, resumed_iterations;
    uint64_t late_workers;
};

struct report_pods {
    unsigned joined, left, lost;
};

/* Recalled work: iterations that workers returned before they began them, because other workers were idle. */
struct report_recalls {
    uint64_t count;
    uint64_t iterations;
    double worth_s;
};

struct report_failure {
    struct range range;
    unsigned rank; /* the worker; REPORT_NO_RANK: the iterations killed several workers, so none is named */
    bool given_up;
    char *text;
    bool not_run;
};

#define REPORT_NO_RANK UINT_MAX

/* Imbalance of the workers' times. Without workers, or if all times are 0, max_over_mean is 1 and the other
 * members are 0. */
struct report_spread {
    double max_over_mean;
    double cov;    /* coefficient of variation: population standard deviation / mean */
    double excess; /* max / mean - 1, the load imbalance of Pearce et al. 2012 */
    /* 100 (max - mean) / max * n / (n - 1) for n workers (DeRose, Homer and Johnson 2007). The value is 100 if one
     * worker does all the work, and 0 if all workers do the same amount. */
    double percent;
};

struct report_aside {
    unsigned node;
    uint64_t failed;
    /* `beside`: how many recent tasks of other nodes have numbers between those of the failed tasks. `worked`: how many
     * of these tasks were successful. */
    unsigned worked, beside;
    /* the node gets work again because all other nodes were lost; then `failed`, `worked` and `beside` are unset */
    bool is_back;
};

struct report_mismatch {
    struct range range;
    unsigned workers;
    unsigned rank[3];
    /* index in `rank` (0 or 1) of the worker whose results differ from those of both other workers; -1: all three
     * results differ */
    int wrong;
};

struct report_verify {
    double share;
    uint64_t seed;
    /* Numbers of iterations. `unverified`: iterations that were selected but that no second worker could compute. */
    uint64_t alike, differing, unverified;
    const struct report_mismatch *list; /* [count] mismatches in order of arrival, up to a limit */
    size_t count;
};

struct report_recorded {
    unsigned workers; /* number of workers in the record; 0: the record has no usable speeds */
    unsigned known;
    bool are_different;       /* false: the speeds may all be equal, so the recorded costs are used unchanged */
    bool are_simulated;       /* the simulated workers have the recorded speeds */
    double slowest, quickest; /* slowest and fastest recorded speed, relative to the mean */
};

struct report_simulation {
    const char *backend;
    const char *platform;
    unsigned nodes;
    const char *costs; /* source of the costs: a file, a distribution, or "model" */
    struct report_recorded recorded;
    uint64_t seed; /* seed of the order of simultaneous events; 0: the order is fixed */
    /* number of runs with different seeds; this run has the median of their loop times; 0: only one run */
    unsigned repetitions;
    double least_s, median_s, most_s;
    /* Fraction of the loop time in which the supermaster, or the busiest master, handled events; negative: unknown. */
    double supermaster_busy, master_busy;
};

struct report {
    const char *version;
    /* NULL: the run was real. A simulated run has no time of day and no checksum. */
    const struct report_simulation *simulated;
    enum report_topology topology;
    const char *carrier;              /* name and version of the MPI library, or "memory"; NULL: a simulated run */
    const struct hdss_kernel *kernel; /* borrowed, like all pointers here */
    const union hdss_value *values;
    struct sched_spec technique;
    /* technique that distributes a chunk among the threads of a worker; NULL: one thread */
    const struct sched_spec *thread_technique;
    struct sched_value_used measured[SCHED_PARAMS_MAX];
    unsigned measured_count;
    bool technique_by_kernel;
    /* candidates from which `auto` chose `technique`; NULL: the user or the kernel chose the technique */
    const struct choice *choice;
    enum sched_weighting weighting;
    uint64_t min_chunk, max_chunk; /* max_chunk is 0 if there is no limit */
    /* synchronization points per chunk of a loop with dependencies; 0: iterations are independent */
    uint64_t sync_points;
    uint64_t first;
    uint64_t iterations;
    unsigned masters, workers, nodes;
    unsigned cores;     /* cores that the ranks on all nodes may use; 0: unknown */
    int64_t started_at; /* seconds since 1970-01-01 UTC */
    double elapsed_s;   /* time from the first assignment to the last commit; 0: nothing was assigned */
    double startup_s;
    uint64_t chunks, refills, messages, bytes_on_wire, checksum;
    struct report_recalls recalls;
    struct report_pods pods;
    struct report_faults faults;
    struct report_verify verify;
    /* `failed` lists the ranges that were given up, in ascending order. `failures` and `aside` have a limited number
     * of entries, in order of arrival. */
    const struct range *failed;
    size_t failed_count;
    const struct report_failure *failures;
    size_t failure_count;
    const struct report_aside *aside;
    size_t aside_count;
    const struct range *failed_tasks;
    size_t failed_task_count;
    const struct reasons *reasons;
    const struct report_worker *worker_stats;
    const struct report_step *steps;
    uint64_t step_count; /* number of time steps; 0: a single step */

    enum report_outcome outcome;
    uint64_t done;

    /* The members from this one to `output_varies` are for the summary only. `grows` is true if further iterations
     * could have followed. */
    bool grows;
    bool is_cancelled;
    const char *failure; /* why a run with REPORT_FAILED failed, in one line; NULL: the reason is printed elsewhere */
    const char *journal; /* journal from which the run can be resumed; NULL: the run cannot be resumed */
    bool rest_is_given_up;
    const char *output;
    bool are_tasks;
    bool output_in_parts;
    bool output_varies; /* true: missing iterations are absent from the output; false: they are 0 in the output */

    /* report_compute() sets this and all members below. `compute_s` is the sum over the workers. */
    double compute_s;
    double overhead_s; /* time of the run minus a worker's time in the kernel; mean over the workers */
    /* compute_s / (elapsed_s * workers); 0 without assignments. For a worker of a pod, the time of its presence is used
     * instead of elapsed_s. The same is true for overhead_s. */
    double efficiency;
    /* Set if workers share cores; otherwise `cores` is 0. If workers share cores, efficiency is shared.compute_s /
     * (elapsed_s * shared.cores), and overhead_s is the mean over the cores. A worker with enough cores counts as one
     * core per thread. */
    struct {
        double cores;
        double compute_s; /* sum over all threads of the result of report_computing_s() */
    } shared;
    double cost_s;
    struct report_spread imbalance;
    struct report_spread busy;
    /* The two parts of overhead_s, as means over the workers that are present at the end. scheduling_s is a worker's
     * time outside of the kernel before its last completion. idle_s is all of its time after that completion. */
    double scheduling_s, idle_s;
    struct {
        unsigned threads;
        uint64_t chunks;
        /* Imbalance of the computing times of the threads of a worker. Mean over the workers with several threads. */
        double max_over_mean, cov;
    } thread_level;
};

/* Returns the computing time of a worker, as mean over its threads. This is the time in the kernel. If the worker
 * shares its cores, it is the processor time if that is less. */
double report_computing_s(const struct report_worker *worker);

void report_compute(struct report *report);

/* Returns the JSON text with a final newline, which the caller frees. NULL if memory runs out. */
char *report_json(const struct report *report);

const char *report_topology_name(enum report_topology topology);
