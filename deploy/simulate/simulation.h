/* SPDX-License-Identifier: MIT */
/* The request to `hdss simulate`, read and made ready, for either backend: a job, a line-up, a platform with the
 * ranks on it, the costs of the iterations, and what happens to the nodes. */
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

#define SIMULATION_NODES_MAX       1024 /* nodes that are slowed down or fail */
#define SIMULATION_REPETITIONS_MAX 1000000
#define SIMULATION_RANKS_MAX       (1u << 24)

enum simulation_backend { SIMULATION_VIRTUAL, SIMULATION_SIMGRID };

/* Uses of the workers that a file of costs names. */
enum simulation_recorded {
    RECORDED_SEPARATE, /* the costs are those of one of mean speed */
    RECORDED_SIMULATE, /* and the simulated workers are as fast as they were */
    RECORDED_IGNORE,   /* nothing: the costs are as they were recorded */
};

/* How the jobs of a set are told of. */
enum simulation_format { SIMULATION_TEXT, SIMULATION_JSON, SIMULATION_CSV };

/* The event at a node. */
struct simulation_event {
    unsigned node; /* number of the node among those that the run uses, from 0 */
    double factor; /* the node becomes that many times slower; 0: it fails */
    uint64_t at_ns;
    uint64_t until_ns; /* when the node has its speed again; UINT64_MAX: never */
};

/* The loop times of the repetitions. */
struct simulation_range {
    double least_s, median_s, most_s;
};

/* The times of one run. */
struct simulation_times {
    double elapsed_s, startup_s; /* of the loop; until its first assignment */
};

/* One run of a simulation. */
struct run_at_hand {
    uint64_t order;                 /* seed of its order of events; 0: the fixed one */
    struct simulation_times *noted; /* where its times are noted instead of being shown; NULL: it is shown; borrowed */
    struct simulation_range range;
    /* The run notes here how long the supermaster and the busiest master were busy with events; below 0: not known. */
    double supermaster_busy_s, master_busy_s;
};

struct simulation {
    /* the options */
    unsigned masters, workers;
    enum simulation_backend backend;
    uint64_t break_after;              /* --break-after; 0: not given */
    char break_word[40];               /* as a word of the job */
    bool dca;                          /* --dca: workers alone, which draw their chunks themselves */
    struct worker_options dca_options; /* options of a worker, of which only --dca has a value */
    const char *platform_name;         /* platform as on the command line: a described one, with changes, or a file */
    const char *costs_name;            /* file or distribution of costs; NULL: the kernel's model */
    enum simulation_recorded recorded; /* use of the workers of a file of costs */
    bool has_recorded;                 /* it is given */
    const char *slowdown_text;         /* slowdowns of the workers; NULL: none */
    const char *load_text;             /* busy processes beside the workers; NULL: none */
    const char *slow_text, *fail_text;
    const char *availability_path; /* trace of availability; NULL: none */
    uint64_t seed;                 /* seed of the order of events at one moment; 0: the order is fixed */
    unsigned repetitions;          /* with as many seeds from there on; 0: one run */
    const char *jobs_path;         /* list of the jobs of a set; NULL: one job is simulated */
    unsigned jobs_at_once;         /* of a set; 0: as many as by default */
    enum simulation_format format;
    bool has_format;
    /* An option that is given and is not simulated; NULL: there is none. */
    const struct option_row *refused;
    char **words; /* [word_count] the job's command line, the first is a program's name; borrowed, the list is owned */
    int word_count;
    /* made of them */
    struct job_setup setup;
    struct platform platform;
    struct placement placement;
    struct costs *costs;                    /* owned */
    struct recorded_speeds recorded_speeds; /* of the workers of the file; none where it names none, or not all */
    double *worker_speeds;           /* [workers] computing, of the node, its slowdown and the recorded worker; owned */
    double *worker_loads;            /* [workers] runnable processes on the core of each, itself being one; owned */
    double *rank_speeds;             /* [ranks] of what else it does; owned */
    struct simulation_event *events; /* [event_count] owned */
    unsigned event_count;
    struct availability availability; /* owned */
    struct run_at_hand at_hand;
};

/* The options of `hdss simulate`; and with those of a job, in one table. */
extern const struct options simulation_own_options;
struct options simulation_options(void);

/* Reads the command line; argv[0] is not looked at. 0; OPTIONS_HELP or OPTIONS_VERSION; -1 with one line.
 * simulation_fini() is due in any case. It borrows from argv. */
int simulation_read(struct simulation *simulation, int argc, char **argv, struct error *error);

/* Reads a SimGrid platform file. -1 with one line. */
typedef int simulation_reader(void *context, const char *path, struct platform *platform, struct error *error);

/* Makes all ready that was read; `reader` (NULL: there is none) with `context` is for SimGrid's files. The same is
 * returned. */
int simulation_prepare(struct simulation *simulation, simulation_reader *reader, void *context, struct error *error);
void simulation_fini(struct simulation *simulation);

/* Workers that serve others as well. */
static inline unsigned simulation_serving_workers(const struct simulation *simulation)
{
    const bool some = simulation->setup.job.spec.masters_compute && !simulation->dca;
    return !some ? 0 : simulation->masters > 0 ? simulation->masters : 1;
}

/* The rank of the w-th worker. */
static inline unsigned simulation_worker_rank(const struct simulation *simulation, unsigned w)
{
    return !simulation->dca + simulation->masters + w - simulation_serving_workers(simulation);
}

/* The powers that the job gives its workers, [workers], to be freed; NULL where they are measured. -1 with one line. */
int simulation_read_powers(const struct simulation *simulation, double **powers, struct error *error);

/* Nanoseconds of the iterations [first, first + count) on a core of speed 1. */
static inline double simulation_cost_ns(const struct simulation *simulation, uint64_t first, uint64_t count)
{
    return costs_ns(simulation->costs, first, count);
}

/* Runs it in virtual time, workers alone or with a supermaster; prints the summary, writes the report. Returns an enum
 * exit_status; -1 with one line where it cannot run. */
int simulation_run_dca(struct simulation *simulation, const char *version, struct error *error);
int simulation_run_virtual(struct simulation *simulation, const char *version, struct error *error);

/* The same in as many orders as are asked for: the summary and the report are those of the run whose loop time is the
 * median, with the range of all. */
int simulation_run_orders(struct simulation *simulation, const char *version, struct error *error);
