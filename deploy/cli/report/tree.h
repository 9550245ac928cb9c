/* SPDX-License-Identifier: MIT */
/* The tree of a run, as its trace has it: supermaster, masters and workers, what each master gave to whom and why, and
 * how much lay in its task pool. In the central topology there are no masters, and no pools. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/report/pools.h"
#include "deploy/cli/report/run_trace.h"

#include <stddef.h>
#include <stdint.h>

/* More masters than these are summed: each branch is then of several, with ranks that follow one another. */
#define TREE_BRANCHES_MAX 64

/* Chunks by why they were given; a chunk of several rows counts once. */
struct tree_counts {
    uint64_t chunks;   /* all */
    uint64_t own;      /* cut for the worker that was given them */
    uint64_t other;    /* cut for another worker of the same master */
    uint64_t recalled; /* recalled from another worker or master */
    uint64_t again;    /* given to somebody before: after a loss or failure, as a copy, or to verify it */
};

struct tree_branch {
    uint32_t first, last;           /* ranks of its masters; both 0: the supermaster itself, which gave chunks */
    unsigned masters, workers;      /* workers: that are theirs */
    unsigned served;                /* workers that were given chunks by them */
    struct tree_counts counts;      /* of what they gave */
    const struct pool_course *pool; /* of what was cut for their workers; NULL where there are no masters; borrowed */
    const uint32_t *worker_index;   /* [workers] places in struct run_trace.workers; borrowed from the tree */
};

struct run_tree {
    struct tree_branch *branches;  /* [branch_count] by rank; owned, as all arrays here */
    struct tree_branch all;        /* sums of all branches; its pool is all pools together */
    struct tree_counts *of_worker; /* [worker_count] what each was given, in the order of the trace */
    uint32_t *worker_places;       /* [worker_count] by branch */
    struct pool_course *courses;   /* [branch_count + 1] */
    size_t branch_count;
    unsigned masters;      /* 0: the central topology, or the trace names none */
    double begin_s, end_s; /* the time that the pools are followed */
};

/* Makes the tree of an ordered trace. The pools are followed from `begin_s` to `end_s`, the beginning and the end of
 * the loop in the times of the trace. -1 with one line when memory is out; then, too, the tree is to be released. */
int run_tree_make(struct run_tree *tree, const struct run_trace *trace, double begin_s, double end_s,
                  struct error *error);

void run_tree_fini(struct run_tree *tree);
