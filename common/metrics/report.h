/* SPDX-License-Identifier: MIT */
/* The report of a run: its figures in one place, from which come the JSON of --report and the summary for people.
 *
 * A program fills in what it has measured, report_compute() makes the figures that follow from it. Pure: the time of
 * day comes in as a number, the JSON goes out as text. */
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

/* The end of the run; only the summary says it. */
enum report_outcome { REPORT_DONE, REPORT_TASKS_FAILED, REPORT_DRAINED, REPORT_FAILED };

struct report_worker {
    unsigned rank;
    unsigned node;   /* number of its node */
    unsigned master; /* rank that served the worker: the supermaster's in the central topology */
    double power;    /* virtual power */
    double weight;   /* weight that the technique has learned; 0 where it learns none */
    double load;     /* mean of the loads by which its chunks were cut; 0 where they were not measured */
    uint64_t iterations, chunks;
    bool is_of_pod;    /* the worker has joined the run */
    bool has_left;     /* the worker has left again before the end, or is lost */
    double presence_s; /* from the first assignment to the last commit of the run, while the worker was there */
    double compute_s;  /* inside the kernel */
    double wait_s;     /* idle, from its first request to the end of the run */
    unsigned threads;  /* 0: one thread, of which nothing is told */
    uint64_t thread_chunks;
    double thread_max_over_mean, thread_cov; /* spread of the times that the threads computed */
    /* cores: the worker's share of the cores, where the workers of its node have more threads than the node has cores.
     * processor_s: its processor time from its first chunk to its end. Both are 0 where the node has cores enough,
     * where the worker waits rather than computes, is slowed down, or was lost. */
    double cores, processor_s;
    double finish_s; /* from the first assignment of the run to its own last completion; 0 if it had no chunk */
};

/* A time step. */
struct report_step {
    double elapsed_s; /* first assignment to last commit; 0 where an earlier run did the step, or it is not done */
    uint64_t chunks;
    uint64_t *cut; /* [workers] iterations that were cut for each; NULL where there are too many of them */
};

struct report_faults {
    uint64_t lost_workers, lost_masters, reissued_chunks, duplicate_results, resumed_iterations;
    uint64_t late_workers; /* workers that had not left when all was done, and were not waited for */
};

/* Masters with their workers that have joined the run. */
struct report_pods {
    unsigned joined, left, lost;
};

/* Work that was given back before it began, as others were idle. */
struct report_recalls {
    uint64_t count;      /* recalls that brought something, from workers and from masters */
    uint64_t iterations; /* how many moved; again each time, where one moved more than once */
    double worth_s;      /* by report_compute(): computing time of so many iterations at the mean of the run */
};

/* Iterations that did not work. */
struct report_failure {
    struct range range;
    unsigned rank; /* rank of the worker; REPORT_NO_RANK where several died of the iterations */
    bool given_up; /* true: given up; false: others have done them, or the same failure was told again */
    char *text;    /* reason of the failure */
    bool not_run;  /* it was not run at all, for a reason that is the failure of another one */
};

#define REPORT_NO_RANK UINT_MAX

/* How unequal times of the workers are. Of no worker, or of times that are all 0: max_over_mean is 1, all else 0. */
struct report_spread {
    double max_over_mean;
    double cov;     /* coefficient of variation: standard deviation of the whole population over the mean */
    double excess;  /* max / mean - 1: the load imbalance of Pearce et al. 2012 */
    double percent; /* 100 (max - mean) / max * n / (n - 1) of n workers: DeRose, Homer and Johnson 2007. It is 100
                       where one of them does it all, and 0 where all do the same */
};

/* A node on which tasks failed that work elsewhere, and that was put aside; or, later, got work again. */
struct report_aside {
    unsigned node;
    uint64_t failed;         /* tasks that failed there one after another */
    unsigned worked, beside; /* tasks of other nodes between them: those that worked, and all */
    bool is_back;            /* it got work again, as all others were lost; nothing else is told of that */
};

/* Iterations for which two workers have computed different results. */
struct report_mismatch {
    struct range range;
    unsigned workers; /* who computed it: 2 or 3 */
    unsigned rank[3]; /* [workers] in the order in which they did */
    int wrong;        /* 0 or 1: place of who differs from the two others; -1: no two agree */
};

/* Iterations that were computed a second time. */
struct report_verify {
    double share; /* as wanted; 0: nothing was verified, and nothing is told of it */
    uint64_t seed;
    uint64_t alike, differing, unverified; /* iterations; unverified: drawn, and nobody else could compute them */
    const struct report_mismatch *list;    /* [count] in order of arrival; of very many not all */
    size_t count;
};

/* The workers that a file of costs names. */
struct report_recorded {
    unsigned workers;         /* 0: the file names none, or what it says of them was not used */
    unsigned known;           /* of so many the speed is known */
    bool are_different;       /* false: the speeds may well be equal, and the costs are as they were recorded */
    bool are_simulated;       /* the simulated workers are as fast as they were */
    double slowest, quickest; /* speeds beside their mean */
};

/* For a simulated run. */
struct report_simulation {
    const char *backend;  /* "virtual", "simgrid" */
    const char *platform; /* name of the platform, or of its file */
    unsigned nodes;       /* nodes of the platform */
    const char *costs;    /* a file or a distribution, or "model" */
    struct report_recorded recorded;
    uint64_t seed;        /* seed of the order of events at one moment; 0: the order is fixed */
    unsigned repetitions; /* with other seeds, of which this is the run of the median loop time; 0: there were none */
    double least_s, median_s, most_s; /* loop times of the runs */
    /* The share of the loop time for which they were busy with events, of the masters the one that was so most; below 0
     * where that is not known. */
    double supermaster_busy, master_busy;
};

struct report {
    const char *version;                       /* version of HDSS */
    const struct report_simulation *simulated; /* NULL: a real run. Else no time of day and no checksum */
    enum report_topology topology;
    const char *carrier; /* what carried the messages of the ranks: "Open MPI 4.1.4"; NULL: a simulated run */
    const struct hdss_kernel *kernel; /* borrowed, as all pointers here */
    const union hdss_value *values;   /* values of the kernel's parameters, in table order */
    struct sched_spec technique;
    const struct sched_spec *thread_technique;          /* technique among a worker's threads; NULL: workers have one */
    struct sched_value_used measured[SCHED_PARAMS_MAX]; /* measured values of the technique's parameters */
    unsigned measured_count;
    bool technique_by_kernel;    /* default for iterations that wait or have effects */
    const struct choice *choice; /* candidates from which `technique` was chosen; NULL where the user gave it */
    enum sched_weighting weighting;
    uint64_t min_chunk;
    uint64_t sync_points; /* points in each chunk of a loop with dependencies; 0: iterations are independent */
    uint64_t first;       /* beginning of the part that --iterations asks for; 0 */
    uint64_t iterations;  /* number of iterations of the loop, or of that part */
    unsigned masters, workers, nodes;
    unsigned cores;     /* cores on all nodes that the ranks may run on; 0: not known */
    int64_t started_at; /* seconds since 1970-01-01 UTC */
    double elapsed_s;   /* first assignment to last commit; 0 where nothing was assigned */
    double startup_s;   /* program start to first assignment */
    uint64_t chunks, refills, messages, bytes_on_wire, checksum;
    struct report_recalls recalls;
    struct report_pods pods;
    struct report_faults faults;
    struct report_verify verify;
    const struct range *failed; /* [failed_count] ranges that were given up, in order */
    size_t failed_count;
    const struct report_failure *failures; /* [failure_count] in order of arrival; of very many not all */
    size_t failure_count;
    const struct report_aside *aside; /* [aside_count] in order of arrival */
    size_t aside_count;
    const struct range *failed_tasks; /* [failed_task_count] done, but called failed by the kernel; in order */
    size_t failed_task_count;
    const struct reasons *reasons;            /* why they have failed; NULL: not known */
    const struct report_worker *worker_stats; /* [workers] */
    const struct report_step *steps;          /* [step_count] */
    uint64_t step_count;                      /* 0 where there is only one */

    enum report_outcome outcome;
    uint64_t done; /* iterations that are done */

    /* for the summary only */
    bool grows;            /* more iterations could have come */
    bool is_cancelled;     /* what ran was not finished */
    const char *failure;   /* for REPORT_FAILED: one line; NULL where it has been said elsewhere */
    const char *journal;   /* journal from which the run can be resumed; NULL where none can */
    bool rest_is_given_up; /* only --resume failed runs any of what is not done */
    const char *output;    /* name of the output file; NULL or empty if there is none */
    bool are_tasks;        /* iterations are called tasks, and count from 1 */
    bool output_in_parts;  /* the output stays in its parts */
    bool output_varies;    /* iterations not computed are absent from the output; else they are zero */

    /* filled in by report_compute() */
    double compute_s;  /* sum over the workers */
    double overhead_s; /* mean over the workers of elapsed_s - own compute_s */
    double efficiency; /* compute_s / (elapsed_s * workers), where some have joined by the time that they were there; 0
                          where nothing was assigned */
    /* Shares of cores, where workers share cores: efficiency = compute_s / (elapsed_s * cores), and overhead_s is the
     * mean over the cores. Workers that have cores enough count with one for each thread. */
    struct {
        double cores;     /* 0: no worker shares any */
        double compute_s; /* sum over the threads of report_computing_s() */
    } shared;
    double cost_s; /* parallel cost: loop time of all threads, or of all cores where these are shared */
    struct report_spread imbalance; /* of the workers' finish_s */
    struct report_spread busy;      /* of their report_computing_s() */
    /* Parts of overhead_s, means over the workers that were there at the end: a worker's time until its last completion
     * outside the kernel, and its time after that. */
    double scheduling_s, idle_s;
    struct {
        unsigned threads; /* threads of all workers that have some */
        uint64_t chunks;  /* at the thread level */
        double max_over_mean,
            cov; /* spread of the threads' computing times in a worker, mean over the workers that have some */
    } thread_level;
};

/* The time that the worker has computed, the mean of its threads: inside the kernel it may wait for the core that it
 * shares; then its processor time counts, if that is less. */
double report_computing_s(const struct report_worker *worker);

/* Computes the derived figures from the others. */
void report_compute(struct report *report);

/* The JSON text, with a newline at its end. The caller frees it; NULL when memory is out. */
char *report_json(const struct report *report);

const char *report_topology_name(enum report_topology topology);
