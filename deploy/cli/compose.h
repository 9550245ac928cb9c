/* SPDX-License-Identifier: MIT */
/* The mpirun line for a line-up. */
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

/* What carries the messages of the ranks, and so what starts them. */
enum carrier_wish {
    CARRIER_AUTO, /* shared memory if all ranks are on this machine and no option needs MPI, else MPI */
    CARRIER_LOCAL,
    CARRIER_MPI,
};

/* The line-up: how many ranks there are, and on which hosts. */
struct line_up {
    unsigned masters, workers; /* workers 0: not given */
    bool masters_given;
    bool has_no_workers;    /* all workers are to come in pods */
    unsigned threads;       /* threads of each worker; 0: as many as it has cores */
    bool single_threaded;   /* the kernel is one of ours, which has no threads but those */
    struct hosts hosts;     /* hosts of the run; none: this machine */
    bool has_pods;          /* --pods: each host is to have a launch of its own */
    bool has_one_launch;    /* --one-launch: all hosts are to be in one */
    struct hosts pod_hosts; /* then they are here, dealt, and the launch has the supermaster alone */
    bool allocated;         /* the hosts are those of a batch job other than Slurm's */
    bool core_reserved;     /* workers leave a core to each master */
    struct argv slowdowns;  /* slowdown for all, or one for each worker, or none */
    struct argv loads;      /* busy processes beside the workers, in the same form */
};

/* What starts the ranks. */
struct launch_start {
    const char *mpirun; /* the launcher that the user names, borrowed; NULL: none */
    enum carrier_wish carrier;
    bool carrier_given;
    char fork[PATH_MAX];      /* the path of hdss-fork, where that is the launcher */
    struct launcher launcher; /* the one that is used */
    struct argv mpi_args;
    bool survives; /* the launcher is to let the others go on when a rank dies */
};

/* The job that the ranks run. */
struct job_request {
    struct argv words;       /* the supermaster's command line, its name first */
    struct argv dca;         /* --dca and what goes with it, for every worker; none: a supermaster leads */
    const char *break_after; /* iterations between two looks, as given; borrowed; NULL: not given */
    struct job_setup setup;  /* set-up of `words`, borrowing from it; the loop is known where check.h has looked */
    bool described;          /* by check.h: the loop of the job is known */
    bool checked;            /* by check.h */
    char *shown;             /* text that a dry run shows behind the line; owned */
    const char *set;         /* the job is for this set, and nothing is launched; borrowed; NULL: it is launched */
    char journal[JOB_JOURNAL_PATH_MAX]; /* that of the job, where it may be started again; else empty */
    unsigned job_end;                   /* place in the line behind the supermaster's words */
};

/* How long a run may take, and how often it is started again. */
struct launch_limits {
    unsigned restarts; /* starts after that of a lost run, at most */
    bool restarts_given;
    int64_t limit_s;  /* time limit of the run; 0: that of the batch job; -1: none */
    int64_t margin_s; /* seconds before the limit at which the run drains; -1: not given */
};

struct launch_plan {
    struct line_up line_up;
    struct launch_start start;
    struct job_request request;
    struct launch_limits limits;
    const char *program; /* in whose name notes are printed; borrowed */
    bool dry_run;
    const char *launch_option; /* an option of a launch that was given; borrowed; NULL: none was */
    bool serves;               /* the line has no job: the supermaster serves a set */
    bool is_pod;               /* a master that joins a set leads the launch, in the place of a supermaster */
    bool elastic;              /* --elastic */
    bool has_pods_file;        /* --pods-file */
    bool listens;              /* pods may join: workers of the launch have a master */
    bool quiet;                /* nothing is printed but what is wrong */
    bool verbose;              /* the line is shown */
    struct run_page page;      /* that is made when the run is over */
};

/* Starts of a lost run that keeps a journal, where the user does not say how many. */
#define RESTARTS_DEFAULT 3

#define LINEUP_DEFAULT                                                                                                 \
    {                                                                                                                  \
        .program = "hdss run", .limits = {.margin_s = -1, .restarts = RESTARTS_DEFAULT }                               \
    }

void launch_plan_fini(struct launch_plan *launch_plan);

/* Completes the line-up (how many masters and workers) and adds to `line` the words of its mpirun line. -1 with one
 * line. */
int compose(struct launch_plan *launch_plan, struct argv *line, struct error *error);

/* Completes the line-up of several hosts, and deals it out to them. -1 with one line. */
int compose_deal(struct launch_plan *launch_plan, struct error *error);

/* -1 with one line where the line-up has no workers that could compute, or none that pods could join. */
int compose_check_workers(const struct launch_plan *launch_plan, struct error *error);

/* Finds a program of the suite: beside this one, or in ../libexec/hdss. -1 with one line. */
int find_own_program(const char *name, char path[PATH_MAX], struct error *error);
