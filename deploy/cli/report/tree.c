/* SPDX-License-Identifier: MIT */
/* The tree of a run: see tree.h. */
#include "deploy/cli/report/tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is known while the tree is made: the branch of each master, by its rank. The supermaster has rank 0. */
struct tree_maker {
    struct run_tree *tree; /* borrowed, as the trace */
    const struct run_trace *trace;
    uint32_t *branch_of; /* [rank_end]; owned */
    uint32_t rank_end;
};

#define IN_NO_BRANCH UINT32_MAX

static uint32_t rank_or_supermaster(uint32_t master)
{
    return master == RUN_NO_RANK ? 0 : master;
}

static uint32_t branch_of(const struct tree_maker *maker, uint32_t master)
{
    return maker->branch_of[rank_or_supermaster(master)];
}

/* Marks each rank that serves a worker or gave a chunk. */
static int find_givers(struct tree_maker *maker)
{
    const struct run_trace *trace = maker->trace;
    uint32_t most = 0;
    for (size_t i = 0; i < trace->worker_count; i++)
        if (rank_or_supermaster(trace->workers[i].master) > most)
            most = trace->workers[i].master;
    for (size_t i = 0; i < trace->chunk_count; i++)
        if (rank_or_supermaster(trace->chunks[i].master) > most)
            most = trace->chunks[i].master;
    maker->rank_end = most + 1;
    maker->branch_of = malloc(maker->rank_end * sizeof *maker->branch_of);
    if (maker->branch_of == NULL)
        return -1;
    memset(maker->branch_of, 0xff, maker->rank_end * sizeof *maker->branch_of); /* IN_NO_BRANCH */
    for (size_t i = 0; i < trace->worker_count; i++)
        maker->branch_of[rank_or_supermaster(trace->workers[i].master)] = 0;
    for (size_t i = 0; i < trace->chunk_count; i++)
        maker->branch_of[rank_or_supermaster(trace->chunks[i].master)] = 0;
    return 0;
}

/* Gives each master a branch, or several that follow one another the same where there are very many. */
static int make_branches(struct tree_maker *maker)
{
    struct run_tree *tree = maker->tree;
    const bool has_own = maker->branch_of[0] != IN_NO_BRANCH; /* the supermaster gave chunks itself */
    for (uint32_t rank = 1; rank < maker->rank_end; rank++)
        tree->masters += maker->branch_of[rank] != IN_NO_BRANCH;
    const unsigned together = (tree->masters + TREE_BRANCHES_MAX - 1) / TREE_BRANCHES_MAX;
    tree->branch_count = has_own + (together > 0 ? (tree->masters + together - 1) / together : 0);
    tree->branches = calloc(tree->branch_count + 1, sizeof *tree->branches);
    if (tree->branches == NULL)
        return -1;
    unsigned number = 0;
    for (uint32_t rank = 1; rank < maker->rank_end; rank++) {
        if (maker->branch_of[rank] == IN_NO_BRANCH)
            continue;
        maker->branch_of[rank] = has_own + number++ / together;
        struct tree_branch *branch = &tree->branches[maker->branch_of[rank]];
        branch->first = branch->masters > 0 ? branch->first : rank;
        branch->last = rank;
        branch->masters++;
    }
    maker->branch_of[0] = 0; /* its own, or that of the first master, for what is not known */
    return 0;
}

static void count_reason(struct tree_counts *counts, enum trace_reason reason)
{
    counts->chunks++;
    counts->own += reason == TRACE_OWN || reason == TRACE_CUT_NOW;
    counts->other += reason == TRACE_OTHER;
    counts->recalled += reason == TRACE_RECALLED;
    counts->again += reason == TRACE_REQUEUED || reason == TRACE_COPY || reason == TRACE_VERIFY;
}

/* Counts the chunks by worker and by giver. `seen` has the worker that was counted last for each branch. */
static void count_chunks(const struct tree_maker *maker, size_t *seen)
{
    const struct run_trace *trace = maker->trace;
    struct run_tree *tree = maker->tree;
    for (size_t w = 0; w < trace->worker_count; w++) {
        const struct run_worker *worker = &trace->workers[w];
        for (size_t i = worker->first; i < worker->first + worker->count; i++) {
            const struct run_chunk *chunk = &trace->chunks[i];
            const uint32_t b = branch_of(maker, chunk->master);
            if (chunk->is_part)
                continue;
            count_reason(&tree->of_worker[w], chunk->reason);
            count_reason(&tree->branches[b].counts, chunk->reason);
            count_reason(&tree->all.counts, chunk->reason);
            tree->branches[b].served += seen[b] != w + 1;
            seen[b] = w + 1;
        }
        tree->all.served += tree->of_worker[w].chunks > 0;
    }
}

/* Lists the workers of each branch, in the order of the trace. */
static void list_branch_workers(const struct tree_maker *maker)
{
    const struct run_trace *trace = maker->trace;
    struct run_tree *tree = maker->tree;
    size_t at = 0;
    for (size_t w = 0; w < trace->worker_count; w++)
        tree->branches[branch_of(maker, trace->workers[w].master)].workers++;
    for (size_t b = 0; b < tree->branch_count; b++) {
        tree->branches[b].worker_index = tree->worker_places + at;
        at += tree->branches[b].workers;
        tree->branches[b].workers = 0;
    }
    for (size_t w = 0; w < trace->worker_count; w++) {
        struct tree_branch *branch = &tree->branches[branch_of(maker, trace->workers[w].master)];
        tree->worker_places[(size_t)(branch->worker_index - tree->worker_places) + branch->workers++] = (uint32_t)w;
    }
    tree->all.worker_index = tree->worker_places;
    tree->all.workers = (unsigned)trace->worker_count;
    tree->all.masters = tree->masters;
}

static int follow_pools(const struct tree_maker *maker, struct error *error)
{
    struct run_tree *tree = maker->tree;
    const struct pool_map map = {maker->branch_of, maker->rank_end, (uint32_t)tree->branch_count};
    if (tree->masters == 0)
        return 0;
    if (pools_follow(tree->courses, &map, maker->trace, tree->begin_s, tree->end_s, error) < 0)
        return -1;
    for (size_t b = 0; b < tree->branch_count; b++)
        tree->branches[b].pool = &tree->courses[b];
    tree->all.pool = &tree->courses[tree->branch_count];
    return 0;
}

static int tree_make_parts(struct tree_maker *maker, struct error *error)
{
    struct run_tree *tree = maker->tree;
    const size_t workers = maker->trace->worker_count;
    if (find_givers(maker) < 0 || make_branches(maker) < 0)
        return error_set(error, "out of memory");
    size_t *seen = calloc(tree->branch_count + 1, sizeof *seen);
    tree->of_worker = calloc(workers + 1, sizeof *tree->of_worker);
    tree->worker_places = calloc(workers + 1, sizeof *tree->worker_places);
    tree->courses = calloc(tree->branch_count + 1, sizeof *tree->courses);
    if (seen == NULL || tree->of_worker == NULL || tree->worker_places == NULL || tree->courses == NULL) {
        free(seen);
        return error_set(error, "out of memory");
    }
    count_chunks(maker, seen);
    free(seen);
    list_branch_workers(maker);
    return follow_pools(maker, error);
}

int run_tree_make(struct run_tree *tree, const struct run_trace *trace, double begin_s, double end_s,
                  struct error *error)
{
    struct tree_maker maker = {.tree = tree, .trace = trace};
    *tree = (struct run_tree){.begin_s = begin_s, .end_s = end_s};
    const int result = tree_make_parts(&maker, error);
    free(maker.branch_of);
    return result;
}

void run_tree_fini(struct run_tree *tree)
{
    free(tree->branches);
    free(tree->of_worker);
    free(tree->worker_places);
    free(tree->courses);
    *tree = (struct run_tree){0};
}
