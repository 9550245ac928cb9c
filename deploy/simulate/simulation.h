/* SPDX-License-Identifier: MIT */
/* A prepared request to `hdss simulate`, for either backend: job, number of ranks, platform and placement, costs of
 * iterations, and events of the nodes. */
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

#define SIMULATION_NODES_MAX       1024
#define SIMULATION_REPETITIONS_MAX 1000000
#define SIMULATION_RANKS_MAX       (1u << 24)

enum simulation_backend { SIMULATION_VIRTUAL, SIMULATION_SIMGRID };

enum simulation_recorded {
    RECORDED_SEPARATE, /* recorded costs are converted to the costs at a worker of mean speed */
    RECORDED_SIMULATE, /* the same, and the simulated workers also get the recorded speeds */
    RECORDED_IGNORE,
};

enum simulation_format { SIMULATION_TEXT, SIMULATION_JSON, SIMULATION_CSV };

struct simulation_event {
    unsigned node;
    double factor; /* how many times slower the node becomes; 0: the node fails */
    uint64_t at_ns;
    uint64_t until_ns;
};

struct simulation_range {
    double least_s, median_s, most_s;
};

struct simulation_times {
    double elapsed_s, startup_s;
};

struct run_at_hand {
    uint64_t order;
    /* the times are stored here and nothing is printed; NULL: the results are printed; borrowed */
    struct simulation_times *noted;
    struct simulation_range range;
    /* How many seconds the rank was busy; set by the run; negative: unknown. `master_busy_s` is the time of the busiest
     * master. */
    double supermaster_busy_s, master_busy_s;
};

struct simulation {
    unsigned masters, workers;
    enum simulation_backend backend;
    uint64_t break_after;
    char break_word[40];
    bool dca;
    struct worker_options dca_options;
    const char *platform_name;
    const char *costs_name;
    enum simulation_recorded recorded;
    bool has_recorded;
    const char *slowdown_text;
    const char *load_text;
    const char *slow_text, *fail_text;
    const char *availability_path;
    uint64_t seed; /* first seed for the order of simultaneous events; 0: the order is fixed */
    unsigned repetitions;
    const char *jobs_path;
    unsigned jobs_at_once;
    enum simulation_format format;
    bool has_format;
    const struct option_row *refused;
    /* [word_count] the job's command line, with the program's name first; the array is owned, the words are borrowed */
    char **words;
    int word_count;
    /* From here on, members are derived from the options. Pointers are owned. */
    struct job_setup setup;
    struct platform platform;
    struct placement placement;
    struct costs *costs;
    struct recorded_speeds recorded_speeds;
    double *worker_speeds;
    double *worker_loads; /* [workers] how many processes run on each core, including the worker */
    double *rank_speeds;
    struct simulation_event *events;
    unsigned event_count;
    struct availability availability;
    struct run_at_hand at_hand;
};

extern const struct options simulation_own_options;
struct options simulation_options(void);

/* Reads the command line, from argv[1] on. Borrows the words of the command line. Returns 0, OPTIONS_HELP,
 * OPTIONS_VERSION or -1. Call simulation_fini() also on failure. */
int simulation_read(struct simulation *simulation, int argc, char **argv, struct error *error);

typedef int simulation_reader(void *context, const char *path, struct platform *platform, struct error *error);

/* Prepares the run. `reader` reads SimGrid's files and may be NULL. Returns the same values as simulation_read(). */
int simulation_prepare(struct simulation *simulation, simulation_reader *reader, void *context, struct error *error);
void simulation_fini(struct simulation *simulation);

static inline unsigned simulation_serving_workers(const struct simulation *simulation)
{
    const bool some = simulation->setup.job.spec.masters_compute && !simulation->dca;
    return !some ? 0 : simulation->masters > 0 ? simulation->masters : 1;
}

static inline unsigned simulation_worker_rank(const struct simulation *simulation, unsigned w)
{
    return !simulation->dca + simulation->masters + w - simulation_serving_workers(simulation);
}

/* Sets `*powers` to an array of [workers], which the caller frees. If the job gives no powers, sets it to NULL; then
 * powers are measured. */
int simulation_read_powers(const struct simulation *simulation, double **powers, struct error *error);

static inline double simulation_cost_ns(const struct simulation *simulation, uint64_t first, uint64_t count)
{
    return costs_ns(simulation->costs, first, count);
}

/* These functions run the simulation in virtual time, print the summary and write the report. They return an enum
 * exit_status, or -1 if the run is not possible. simulation_run_orders() calls one of the other two once for each
 * order. */
int simulation_run_dca(struct simulation *simulation, const char *version, struct error *error);
int simulation_run_virtual(struct simulation *simulation, const char *version, struct error *error);

int simulation_run_orders(struct simulation *simulation, const char *version, struct error *error);
