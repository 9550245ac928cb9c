/* SPDX-License-Identifier: MIT */
/* The ranks of a job summed up: groups of workers, by their masters or else by their nodes, who does what, the
 * imbalance, and what takes long. Pure. */
#pragma once

#include "deploy/cli/top/model.h"

/* Chunks that are told of, of those that take longest. */
#define TOP_SLOW_MAX 3

/* The workers of a master, or of a node where there are no masters. */
struct top_group {
    unsigned number; /* rank of the master, or number of the node */
    bool is_master, is_lost;
    const char *host; /* borrowed from the model; empty: not known */
    unsigned workers, computing, lost;
    bool knows_computing, has_counts;
    double done, chunks;
    double busy_share; /* mean over its workers; below 0: not known */
    double longest_s;  /* of the chunks that are computed; below 0: none is known */
};

struct top_slow {
    const struct top_rank *rank; /* borrowed from the model */
    double factor;               /* its time over what so many iterations take at the mean; below 0: not known */
};

struct top_sum {
    struct top_group *groups; /* [group_count] in the order of their numbers; owned */
    size_t group_count;
    unsigned workers, computing, waiting, aside, lost, left;
    double imbalance;                   /* below 0: not known */
    struct top_slow slow[TOP_SLOW_MAX]; /* [slow_count] the longest first */
    unsigned slow_count;
};

/* -1 when memory is out. */
int top_sum_init(struct top_sum *sum, const struct top_model *model);
void top_sum_fini(struct top_sum *sum);

/* The place of the group that a worker belongs to; group_count: there is none. */
size_t top_sum_group_of(const struct top_sum *sum, const struct rank_figures *worker);

/* The part of the job's time that a worker has computed, 0 to 1; below 0: not known. */
double top_busy_share(const struct job_view *job, const struct rank_figures *worker);
