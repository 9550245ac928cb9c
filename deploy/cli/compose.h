/* SPDX-License-Identifier: MIT */
/* Composes the line that launches a run. */
#pragma once

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/hosts.h"
#include "deploy/cli/launcher.h"
#include "deploy/cli/run_page.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum carrier_wish {
    CARRIER_AUTO, /* shared memory if all ranks are on this machine and no option needs MPI; otherwise MPI */
    CARRIER_LOCAL,
    CARRIER_MPI,
};

struct line_up {
    unsigned masters, workers;
    bool masters_given;
    bool has_no_workers;
    unsigned threads;     /* threads per worker; 0: one per core */
    bool single_threaded; /* the kernel is built in, and has no threads of its own */
    struct hosts hosts;
    bool has_pods;
    bool has_one_launch;
    struct hosts pod_hosts; /* hosts of the pods; only the supermaster is then launched here */
    bool allocated;         /* the hosts are those of a batch job, and the batch system is not Slurm */
    bool is_narrow;         /* see allocation_is_narrow() */
    bool core_reserved;
    struct argv slowdowns;
    struct argv loads;
};

struct launch_start {
    const char *mpirun;
    enum carrier_wish carrier;
    bool carrier_given;
    char fork[PATH_MAX];
    struct launcher launcher;
    struct argv mpi_args;
    bool survives;
};

struct job_request {
    struct argv words;
    struct argv dca;
    const char *break_after;
    struct job_setup setup; /* made from `words`, from which it borrows; check.h adds the loop */
    bool described;
    bool checked;
    char *shown;     /* what a dry run prints after the launch line; owned */
    const char *set; /* set to which the job is submitted instead of a launch; borrowed; NULL: none */
    char journal[JOB_JOURNAL_PATH_MAX];
    unsigned job_end; /* index in the launch line at which the supermaster's words end */
};

struct launch_limits {
    unsigned restarts;
    bool restarts_given;
    int64_t limit_s; /* 0: the limit of the batch job; -1: none */
    int64_t margin_s;
};

struct launch_plan {
    struct line_up line_up;
    struct launch_start start;
    struct job_request request;
    struct launch_limits limits;
    const char *program;
    bool dry_run;
    const char *launch_option;
    bool serves;
    bool is_pod;
    bool elastic;
    bool has_pods_file;
    bool listens; /* pods may join, so workers need a master */
    bool quiet;
    bool verbose;
    struct run_page page;
};

/* Default of --restarts. A run can be restarted only if it has a journal; a set can always be restarted. */
#define RESTARTS_DEFAULT 3

#define LINEUP_DEFAULT                                                                                                 \
    {                                                                                                                  \
        .program = "hdss run", .limits = {.margin_s = -1, .restarts = RESTARTS_DEFAULT }                               \
    }

void launch_plan_fini(struct launch_plan *launch_plan);

int compose(struct launch_plan *launch_plan, struct argv *line, struct error *error);

int compose_deal(struct launch_plan *launch_plan, struct error *error);

/* Fails if --pods-only or --listen contradicts other options. */
int compose_check_workers(const struct launch_plan *launch_plan, struct error *error);

/* Finds a program of HDSS: beside the running program, or in ../libexec/hdss. */
int find_own_program(const char *name, char path[PATH_MAX], struct error *error);
