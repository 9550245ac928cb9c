/* SPDX-License-Identifier: MIT */
/* Composes the launch line of a run. */
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

/* The carrier that the user asks for, which determines the launcher. */
enum carrier_wish {
    CARRIER_AUTO, /* shared memory if all ranks are on this machine and no option needs MPI; else MPI */
    CARRIER_LOCAL,
    CARRIER_MPI,
};

/* The number of ranks, and their hosts. */
struct line_up {
    unsigned masters, workers; /* workers 0: not given */
    bool masters_given;
    bool has_no_workers;    /* all workers come in pods */
    unsigned threads;       /* per worker; 0: one per core */
    bool single_threaded;   /* the kernel is built in and uses no threads of its own */
    struct hosts hosts;     /* empty: this machine */
    bool has_pods;          /* --pods: one launch per host */
    bool has_one_launch;    /* --one-launch: one launch for all hosts */
    struct hosts pod_hosts; /* hosts of the pods; the launch then contains only the supermaster */
    bool allocated;         /* hosts of a batch job other than Slurm's */
    bool core_reserved;     /* workers leave a core to each master */
    struct argv slowdowns;  /* none, one for all, or one per worker */
    struct argv loads;      /* busy processes beside the workers; likewise */
};

struct launch_start {
    const char *mpirun; /* given by the user, borrowed; NULL: not given */
    enum carrier_wish carrier;
    bool carrier_given;
    char fork[PATH_MAX]; /* path of hdss-fork, if that is the launcher */
    struct launcher launcher;
    struct argv mpi_args;
    bool survives; /* other ranks survive the loss of one */
};

/* The job that the ranks run. */
struct job_request {
    struct argv words;       /* command line of the supermaster, from its name on */
    struct argv dca;         /* --dca and its options, for every worker; empty: a supermaster leads */
    const char *break_after; /* as given, borrowed; NULL: not given */
    struct job_setup setup;  /* parsed `words`, from which it borrows; check.h adds the loop */
    bool described;          /* the loop is known */
    bool checked;
    char *shown;                        /* text that a dry run prints after the line; owned */
    const char *set;                    /* set that gets the job instead of a launch; borrowed; NULL: none */
    char journal[JOB_JOURNAL_PATH_MAX]; /* journal of the job if it can be restarted; else empty */
    unsigned job_end;                   /* index in the line after the supermaster's words */
};

/* Time limit and restarts of a run. */
struct launch_limits {
    unsigned restarts; /* maximal number of restarts */
    bool restarts_given;
    int64_t limit_s;  /* 0: that of the batch job; -1: none */
    int64_t margin_s; /* seconds before the limit at which the run drains; -1: not given */
};

struct launch_plan {
    struct line_up line_up;
    struct launch_start start;
    struct job_request request;
    struct launch_limits limits;
    const char *program; /* for messages; borrowed */
    bool dry_run;
    const char *launch_option; /* first launch option that was given; borrowed; NULL: none */
    bool serves;               /* the supermaster serves a set; there is no job */
    bool is_pod;               /* the launch is a pod, led by a master */
    bool elastic;
    bool has_pods_file;
    bool listens;         /* pods may join, so workers need a master */
    bool quiet;           /* print only errors */
    bool verbose;         /* show the line */
    struct run_page page; /* made after the run */
};

/* Default of --restarts for a run with a journal. */
#define RESTARTS_DEFAULT 3

#define LINEUP_DEFAULT                                                                                                 \
    {                                                                                                                  \
        .program = "hdss run", .limits = {.margin_s = -1, .restarts = RESTARTS_DEFAULT }                               \
    }

void launch_plan_fini(struct launch_plan *launch_plan);

/* Determines the numbers of masters and workers and appends the launch line to `line`. */
int compose(struct launch_plan *launch_plan, struct argv *line, struct error *error);

/* Determines the ranks of several hosts and deals them out. */
int compose_deal(struct launch_plan *launch_plan, struct error *error);

/* Fails if the launch has no workers, and none can join. */
int compose_check_workers(const struct launch_plan *launch_plan, struct error *error);

/* Finds a program of the suite: beside this one, or in ../libexec/hdss. */
int find_own_program(const char *name, char path[PATH_MAX], struct error *error);
