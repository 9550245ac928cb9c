/* SPDX-License-Identifier: MIT */
/* The report of a run: all figures, from which the JSON of --report and the summary are made.
 *
 * The program fills in its measurements, and report_compute() derives the rest. Pure: the time of day is a parameter,
 * and the JSON is returned as text. */
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
    double weight; /* as the technique has learned it; 0: the technique is not adaptive */
    double load;   /* mean of the loads for which its chunks were cut; 0: not measured */
    uint64_t iterations, chunks;
    bool is_of_pod;
    bool has_left;
    /* how long the worker was present between the first assignment and the last commit of the run */
    double presence_s;
    double compute_s;
    double wait_s;    /* idle time, from its first request to the end of the run */
    unsigned threads; /* 0: one thread, without thread statistics */
    uint64_t thread_chunks;
    double thread_max_over_mean, thread_cov;
    /* If the workers of a node have more threads than the node has cores: the worker's share of the cores, and its
     * processor time from its first chunk to its end. Otherwise both are 0. They are also 0 if the worker's iterations
     * wait instead of computing, if it is slowed down, or if it was lost. */
    double cores, processor_s;
    double finish_s; /* from the first assignment of the run to the worker's last completion; 0: it had no chunk */
};

struct report_step {
    /* from the first assignment to the last commit; 0: an earlier run did the step, or it is not done */
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

/* Work that was returned before it began, because others were idle. */
struct report_recalls {
    uint64_t count;
    uint64_t iterations;
    double worth_s;
};

struct report_failure {
    struct range range;
    unsigned rank; /* the worker; REPORT_NO_RANK: several workers died of the iterations */
    bool given_up;
    char *text;
    bool not_run;
};

#define REPORT_NO_RANK UINT_MAX

/* Imbalance of times of the workers. Without workers, or if all times are 0, max_over_mean is 1 and the rest 0. */
struct report_spread {
    double max_over_mean;
    double cov;    /* coefficient of variation: population standard deviation / mean */
    double excess; /* max / mean - 1: load imbalance of Pearce et al. 2012 */
    /* 100 (max - mean) / max * n / (n - 1) for n workers: DeRose, Homer and Johnson 2007. 100 if one worker does all, 0
     * if all do the same. */
    double percent;
};

struct report_aside {
    unsigned node;
    uint64_t failed;
    unsigned worked, beside; /* successful tasks, and all tasks, on other nodes in that time */
    bool is_back;            /* the node got work again because all others were lost; `failed` to `beside` are unset */
};

struct report_mismatch {
    struct range range;
    unsigned workers;
    unsigned rank[3];
    int wrong; /* index in `rank`, 0 or 1, of the worker that differs from both others; -1: all differ */
};

struct report_verify {
    double share;
    uint64_t seed;
    /* Numbers of iterations. `unverified`: selected, but no other worker could compute them. */
    uint64_t alike, differing, unverified;
    const struct report_mismatch *list; /* [count] in order of arrival; limited */
    size_t count;
};

struct report_recorded {
    unsigned workers; /* 0: none, or not usable */
    unsigned known;
    bool are_different;       /* false: the speeds may be equal, and costs are used as recorded */
    bool are_simulated;       /* the simulated workers have the recorded speeds */
    double slowest, quickest; /* speeds relative to the mean */
};

struct report_simulation {
    const char *backend;
    const char *platform;
    unsigned nodes;
    const char *costs; /* a file, a distribution, or "model" */
    struct report_recorded recorded;
    uint64_t seed;        /* seed of the order of simultaneous events; 0: the order is fixed */
    unsigned repetitions; /* runs with different seeds, of which this one has the median loop time; 0: one run */
    double least_s, median_s, most_s;
    /* Fraction of the loop time that the supermaster, and the busiest master, spent handling events; negative:
     * unknown. */
    double supermaster_busy, master_busy;
};

struct report {
    const char *version;
    /* NULL: a real run. A simulated one has no time of day and no checksum. */
    const struct report_simulation *simulated;
    enum report_topology topology;
    const char *carrier;              /* NULL: a simulated run */
    const struct hdss_kernel *kernel; /* borrowed, like all pointers here */
    const union hdss_value *values;
    struct sched_spec technique;
    const struct sched_spec *thread_technique; /* technique among the threads of a worker; NULL: no threads */
    struct sched_value_used measured[SCHED_PARAMS_MAX];
    unsigned measured_count;
    bool technique_by_kernel;
    const struct choice *choice; /* the candidates for `technique`; NULL: it was not chosen by measurement */
    enum sched_weighting weighting;
    uint64_t min_chunk, max_chunk; /* max_chunk 0: there is none */
    /* synchronization points per chunk of a loop with dependencies; 0: iterations are independent */
    uint64_t sync_points;
    uint64_t first;
    uint64_t iterations;
    unsigned masters, workers, nodes;
    unsigned cores;     /* cores that the ranks on all nodes may use; 0: unknown */
    int64_t started_at; /* seconds since 1970-01-01 UTC */
    double elapsed_s;   /* from the first assignment to the last commit; 0: no assignment */
    double startup_s;
    uint64_t chunks, refills, messages, bytes_on_wire, checksum;
    struct report_recalls recalls;
    struct report_pods pods;
    struct report_faults faults;
    struct report_verify verify;
    const struct range *failed; /* ranges given up, in order; the other lists are in order of arrival and limited */
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
    uint64_t step_count; /* 0: a single step */

    enum report_outcome outcome;
    uint64_t done;

    /* This and the next members are for the summary only. `grows`: more iterations could have followed. */
    bool grows;
    bool is_cancelled;
    const char *failure; /* REPORT_FAILED: why the run failed, in one line; NULL: that is printed elsewhere */
    const char *journal; /* journal from which the run can be resumed; NULL: it cannot */
    bool rest_is_given_up;
    const char *output;
    bool are_tasks;
    bool output_in_parts;
    bool output_varies; /* missing iterations are absent from the output instead of zero */

    /* report_compute() sets this and all members below. compute_s: sum over the workers. */
    double compute_s;
    double overhead_s; /* mean over the workers of elapsed_s - compute_s */
    /* compute_s / (elapsed_s * workers). A worker that joined counts with the time of its presence. 0 without
     * assignments. */
    double efficiency;
    /* If workers share cores: efficiency = compute_s / (elapsed_s * cores), and overhead_s is the mean over the cores.
     * A worker with enough cores counts one per thread. */
    struct {
        double cores;
        double compute_s; /* sum over the threads of report_computing_s(); `cores` is 0 if no cores are shared */
    } shared;
    double cost_s;
    struct report_spread imbalance;
    struct report_spread busy;
    /* Parts of overhead_s, as means over the workers present at the end: the time of a worker outside of the kernel
     * before its last completion, and all of its time after that. */
    double scheduling_s, idle_s;
    struct {
        unsigned threads;
        uint64_t chunks;
        /* Imbalance of the computing times of a worker's threads; mean over the workers with threads. */
        double max_over_mean, cov;
    } thread_level;
};

/* Returns the computing time of a worker, mean over its threads: the time in the kernel, or the processor time if that
 * is less because the core is shared. */
double report_computing_s(const struct report_worker *worker);

void report_compute(struct report *report);

/* Returns the JSON text with a final newline, which the caller frees. NULL if memory runs out. */
char *report_json(const struct report *report);

const char *report_topology_name(enum report_topology topology);
