/* SPDX-License-Identifier: MIT */
/* A prepared request to `hdss simulate` for either backend: job, line-up, platform with placement, costs of iterations,
 * and events of the nodes. */
#pragma once

#include "common/config/job.h"
#include "common/config/options.h"
#include "common/config/rank_options.h"
#include "common/job/job_setup.h"
#include "common/util/error.h"
#include "deploy/simulate/availability.h"
#include "deploy/simulate/platforms/placement.h"
#include "deploy/simulate/platforms/platform.h"
#include "worker/kernels/costs/costs.h"

#define SIMULATION_NODES_MAX       1024 /* limit of nodes with slowdowns or failures */
#define SIMULATION_REPETITIONS_MAX 1000000
#define SIMULATION_RANKS_MAX       (1u << 24)

enum simulation_backend { SIMULATION_VIRTUAL, SIMULATION_SIMGRID };

/* Use of the workers named in a file of costs. */
enum simulation_recorded {
    RECORDED_SEPARATE, /* costs are converted to a worker of mean speed */
    RECORDED_SIMULATE, /* the same, and simulated workers have the recorded speeds */
    RECORDED_IGNORE,   /* costs are used as recorded */
};

enum simulation_format { SIMULATION_TEXT, SIMULATION_JSON, SIMULATION_CSV };

struct simulation_event {
    unsigned node; /* among the used nodes, from 0 */
    double factor; /* slowdown; 0: the node fails */
    uint64_t at_ns;
    uint64_t until_ns; /* end of the slowdown; UINT64_MAX: never */
};

/* Loop times of the repetitions. */
struct simulation_range {
    double least_s, median_s, most_s;
};

struct simulation_times {
    double elapsed_s, startup_s; /* of the loop; before its first assignment */
};

struct run_at_hand {
    uint64_t order;                 /* seed of the order of events; 0: fixed order */
    struct simulation_times *noted; /* receives the times instead of output; NULL: output; borrowed */
    struct simulation_range range;
    /* busy times of the supermaster and the busiest master, set by the run; negative: unknown */
    double supermaster_busy_s, master_busy_s;
};

struct simulation {
    /* options */
    unsigned masters, workers;
    enum simulation_backend backend;
    uint64_t break_after; /* --break-after; 0: not given */
    char break_word[40];
    bool dca;                          /* --dca: no supermaster; workers draw chunks themselves */
    struct worker_options dca_options; /* only --dca is used */
    const char *platform_name;         /* built-in with changes, or a file */
    const char *costs_name;            /* file or distribution; NULL: the kernel's model */
    enum simulation_recorded recorded; /* use of the workers in a file of costs */
    bool has_recorded;                 /* `recorded` was given */
    const char *slowdown_text;         /* of the workers; NULL: none */
    const char *load_text;             /* busy processes next to the workers; NULL: none */
    const char *slow_text, *fail_text;
    const char *availability_path; /* NULL: none */
    uint64_t seed;                 /* of the order of simultaneous events; 0: fixed order */
    unsigned repetitions;          /* number of seeds from there on; 0: one run */
    const char *jobs_path;         /* jobs of a set; NULL: one job */
    unsigned jobs_at_once;         /* in a set; 0: default */
    enum simulation_format format;
    bool has_format;
    /* a given option that is not simulated; NULL: none */
    const struct option_row *refused;
    char **words; /* [word_count] the job's command line, beginning with a program's name; words borrowed, list owned */
    int word_count;
    /* derived */
    struct job_setup setup;
    struct platform platform;
    struct placement placement;
    struct costs *costs;                    /* owned */
    struct recorded_speeds recorded_speeds; /* of workers in the file; empty if it names none, or not all */
    double *worker_speeds;           /* [workers] computing speed from node, slowdown and recorded worker; owned */
    double *worker_loads;            /* [workers] runnable processes on each core, including the worker; owned */
    double *rank_speeds;             /* [ranks] for other work; owned */
    struct simulation_event *events; /* [event_count] owned */
    unsigned event_count;
    struct availability availability; /* owned */
    struct run_at_hand at_hand;
};

/* Options of `hdss simulate`, and the same together with those of a job. */
extern const struct options simulation_own_options;
struct options simulation_options(void);

/* Reads the command line; argv[0] is ignored. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1. simulation_fini() must be
 * called in any case. Borrows from argv. */
int simulation_read(struct simulation *simulation, int argc, char **argv, struct error *error);

typedef int simulation_reader(void *context, const char *path, struct platform *platform, struct error *error);

/* Prepares the request; `reader` (may be NULL) reads SimGrid's files. Same results as simulation_read(). */
int simulation_prepare(struct simulation *simulation, simulation_reader *reader, void *context, struct error *error);
void simulation_fini(struct simulation *simulation);

/* Number of workers that also serve. */
static inline unsigned simulation_serving_workers(const struct simulation *simulation)
{
    const bool some = simulation->setup.job.spec.masters_compute && !simulation->dca;
    return !some ? 0 : simulation->masters > 0 ? simulation->masters : 1;
}

static inline unsigned simulation_worker_rank(const struct simulation *simulation, unsigned w)
{
    return !simulation->dca + simulation->masters + w - simulation_serving_workers(simulation);
}

/* Powers given by the job, [workers], freed by the caller; NULL: measured. */
int simulation_read_powers(const struct simulation *simulation, double **powers, struct error *error);

/* Nanoseconds of [first, first + count) on a core of speed 1. */
static inline double simulation_cost_ns(const struct simulation *simulation, uint64_t first, uint64_t count)
{
    return costs_ns(simulation->costs, first, count);
}

/* Run in virtual time, without or with a supermaster; print the summary and write the report. Return an enum
 * exit_status, or -1 if the run is not possible. */
int simulation_run_dca(struct simulation *simulation, const char *version, struct error *error);
int simulation_run_virtual(struct simulation *simulation, const char *version, struct error *error);

/* Runs all requested orders: reports the run with the median loop time, and the range of all. */
int simulation_run_orders(struct simulation *simulation, const char *version, struct error *error);
