/* SPDX-License-Identifier: MIT */
/* Ranks that several clusters share: see ranks.h. */
#include "deploy/simulate/virtual/ranks.h"

#include "common/machine/machine.h"
#include "common/machine/stride.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/heap.h"
#include "deploy/simulate/virtual/inside.h"
#include "deploy/simulate/virtual/machines.h"

#include <assert.h>
#include <stdlib.h>

struct shared_rank {
    struct stride stride;
    struct rank_part *computing;
    uint64_t turn_began_ns;
    uint64_t turn_ns;
    bool is_limited;
    uint64_t turn_generation;
    uint64_t busy_until_ns;
    bool is_lost;
};

struct ranks {
    struct shared_rank *ranks;
    unsigned count;
    uint64_t turn_ns, iteration_ns;
    unsigned turns_max;
    struct virtual_cluster *first;
    struct ranks_figures figures;
};

struct ranks *ranks_new(unsigned count, uint64_t turn_ns, unsigned turns_max, uint64_t iteration_ns)
{
    struct ranks *ranks = calloc(1, sizeof *ranks);
    assert(turn_ns > 0);
    if (ranks == NULL)
        return NULL;
    *ranks = (struct ranks){.count = count, .turn_ns = turn_ns, .turns_max = turns_max, .iteration_ns = iteration_ns};
    ranks->ranks = calloc(count, sizeof *ranks->ranks);
    if (ranks->ranks != NULL)
        return ranks;
    free(ranks);
    return NULL;
}

void ranks_free(struct ranks *ranks)
{
    if (ranks == NULL)
        return;
    free(ranks->ranks);
    free(ranks);
}

int ranks_add(struct ranks *ranks, struct virtual_cluster *cluster, unsigned weight, int priority)
{
    struct virtual_cluster **end = &ranks->first;
    assert(cluster_ranks(&cluster->config) == ranks->count && cluster->config.loses_ranks);
    cluster->parts = calloc(ranks->count, sizeof *cluster->parts);
    if (cluster->parts == NULL)
        return -1;
    cluster->ranks = ranks;
    for (unsigned i = 0; i < ranks->count; i++) {
        struct rank_part *part = &cluster->parts[i];
        *part = (struct rank_part){.share = {.weight = weight, .priority = priority},
                                   .cluster = cluster,
                                   .waits_since_ns = NEVER,
                                   .is_there = true};
        stride_admit(&ranks->ranks[i].stride, &part->share);
    }
    while (*end != NULL)
        end = &(*end)->next_of_ranks;
    *end = cluster;
    return 0;
}

void ranks_tell_lost(struct ranks *ranks, struct virtual_cluster *cluster, uint64_t now_ns)
{
    for (unsigned i = 0; i < ranks->count; i++)
        if (ranks->ranks[i].is_lost)
            virtual_lose(cluster, i, now_ns);
}

void ranks_remove(struct virtual_cluster *cluster)
{
    struct virtual_cluster **place = &cluster->ranks->first;
    while (*place != cluster)
        place = &(*place)->next_of_ranks;
    *place = cluster->next_of_ranks;
    for (unsigned i = 0; i < cluster->ranks->count; i++)
        if (cluster->parts[i].is_there)
            ranks_leave(cluster, i);
}

struct virtual_cluster *ranks_next(const struct ranks *ranks, uint64_t *at_ns)
{
    struct virtual_cluster *next = NULL;
    *at_ns = NEVER;
    for (struct virtual_cluster *cluster = ranks->first; cluster != NULL; cluster = cluster->next_of_ranks) {
        const uint64_t cluster_ns = virtual_next_ns(cluster);
        if (cluster_ns < *at_ns) {
            next = cluster;
            *at_ns = cluster_ns;
        }
    }
    return next;
}

void ranks_lose(struct ranks *ranks, unsigned rank, uint64_t now_ns)
{
    if (ranks->ranks[rank].is_lost)
        return;
    ranks->ranks[rank].is_lost = true;
    for (struct virtual_cluster *cluster = ranks->first; cluster != NULL; cluster = cluster->next_of_ranks)
        virtual_lose(cluster, rank, now_ns);
}

static struct shared_rank *shared_of(const struct virtual_cluster *cluster, unsigned rank)
{
    return &cluster->ranks->ranks[rank];
}

static struct rank_part *part_of(struct stride_share *share)
{
    return (struct rank_part *)(void *)share;
}

/* Called at the beginning of a turn. Raises the pass of each job that has a lower pass than the computing job but no
 * chunk: such a job has missed its turn. */
static void pass_idle(struct shared_rank *shared)
{
    const struct stride_share *share = &shared->computing->share;
    for (struct stride_share *other = shared->stride.first; other != NULL; other = other->next)
        if (other->priority == share->priority && !other->has_chunk && other->pass < share->pass)
            stride_pass(other);
}

/* Charges the computing job for its time up to now. If the turn has no limit, the time is charged as several turns, one
 * after the other. */
static void charge(struct ranks *ranks, struct shared_rank *shared, uint64_t now_ns)
{
    struct stride_share *share = &shared->computing->share;
    const uint64_t ns = now_ns - shared->turn_began_ns;
    const uint64_t last_ns = shared->is_limited || ns < shared->turn_ns ? ns : shared->turn_ns;
    if (ns > last_ns) {
        stride_charge(&shared->stride, share, ns - last_ns);
        pass_idle(shared);
    }
    stride_charge(&shared->stride, share, last_ns);
    ranks->figures.computed_ns += ns;
    shared->turn_began_ns = now_ns;
}

static bool others_wait(const struct shared_rank *shared, const struct rank_part *part)
{
    const struct stride_share *share = shared->stride.first;
    while (share != NULL && (share == &part->share || !share->has_chunk))
        share = share->next;
    return share != NULL;
}

static void schedule_end(struct shared_rank *shared, unsigned rank, uint64_t at_ns)
{
    shared->turn_generation++;
    if (at_ns != NEVER)
        cluster_schedule(
            shared->computing->cluster,
            &(struct future){
                .at_ns = at_ns, .rank = rank, .wake = true, .turn = true, .generation = shared->turn_generation});
}

static uint64_t longest_ns(const struct ranks *ranks)
{
    return ranks->turn_ns + ranks->iteration_ns;
}

/* Returns the largest possible difference between the passes of two jobs that have the same priority and a chunk. It is
 * the length of a turn divided by the least weight. The reasons are that the job with the least pass computes for one
 * turn, and that the pass of a new job begins between the passes of the others. */
static uint64_t widest(const struct ranks *ranks, const struct shared_rank *shared, const struct stride_share *share)
{
    unsigned least = share->weight;
    for (const struct stride_share *other = shared->stride.first; other != NULL; other = other->next)
        if (other->priority == share->priority && other->weight < least)
            least = other->weight;
    return longest_ns(ranks) * STRIDE_PASS_SCALE / least;
}

static uint64_t longest_wait_ns(const struct ranks *ranks, const struct shared_rank *shared,
                                const struct stride_share *share)
{
    uint64_t ns = longest_ns(ranks);
    for (const struct stride_share *other = shared->stride.first; other != NULL; other = other->next)
        if (other != share && other->priority == share->priority)
            ns += widest(ranks, shared, share) / STRIDE_PASS_SCALE * other->weight + longest_ns(ranks);
    return ns;
}

static void look_at_waits(struct ranks *ranks, struct shared_rank *shared, uint64_t now_ns)
{
    int highest = INT32_MIN;
    for (const struct stride_share *share = shared->stride.first; share != NULL; share = share->next)
        if (share->has_chunk && share->priority > highest)
            highest = share->priority;
    for (struct stride_share *share = shared->stride.first; share != NULL; share = share->next) {
        struct rank_part *part = part_of(share);
        const bool waits = share->has_chunk && share->priority == highest && shared->computing != part;
        const uint64_t most_ns = waits ? longest_wait_ns(ranks, shared, share) : 0;
        const bool waited = part->waits_since_ns != NEVER;
        part->waits_since_ns = !waits ? NEVER : waited ? part->waits_since_ns : now_ns;
        part->longest_wait_ns = waited && part->longest_wait_ns > most_ns ? part->longest_wait_ns : most_ns;
        ranks->figures.starved += waits && now_ns - part->waits_since_ns > part->longest_wait_ns;
    }
}

static void look_at_passes(struct ranks *ranks, const struct shared_rank *shared)
{
    const struct stride_share *share = &shared->computing->share;
    for (const struct stride_share *other = shared->stride.first; other != NULL; other = other->next) {
        if (other == share || other->priority != share->priority || !other->has_chunk || other->was_idle)
            continue;
        const uint64_t apart = share->pass > other->pass ? share->pass - other->pass : other->pass - share->pass;
        ranks->figures.unfair += apart > widest(ranks, shared, share) + STRIDE_PASS_SCALE;
    }
}

static uint64_t turn_of(const struct ranks *ranks, const struct shared_rank *shared, unsigned rank)
{
    uint64_t least_ns = NEVER;
    if (ranks->turns_max == 0)
        return ranks->turn_ns;
    for (struct stride_share *share = shared->stride.first; share != NULL; share = share->next) {
        const struct running *running = &part_of(share)->cluster->nodes[rank].running;
        const uint64_t ns = (running->ends_ns - running->started_ns) / ranks->turns_max;
        if (share->has_chunk && ns < least_ns)
            least_ns = ns;
    }
    return least_ns > ranks->turn_ns ? least_ns : ranks->turn_ns;
}

static void compute(struct ranks *ranks, unsigned rank, uint64_t now_ns)
{
    struct shared_rank *shared = &ranks->ranks[rank];
    struct stride_share *share;
    if (shared->computing != NULL)
        return;
    stride_begin(&shared->stride);
    while ((share = stride_next(&shared->stride)) != NULL && !share->has_chunk)
        stride_pass(share);
    if (share == NULL)
        return;
    shared->computing = part_of(share);
    struct virtual_cluster *cluster = shared->computing->cluster;
    cluster->now_ns = now_ns;
    shared->turn_began_ns = now_ns;
    ranks->figures.turns++;
    shared->turn_ns = turn_of(ranks, shared, rank);
    shared->is_limited = others_wait(shared, shared->computing);
    schedule_end(shared, rank, work_go_on(cluster, rank, shared->is_limited ? shared->turn_ns : NEVER));
    if (ranks->iteration_ns > 0)
        look_at_waits(ranks, shared, now_ns);
    for (const struct stride_share *other = shared->stride.first; other != NULL; other = other->next)
        ranks->figures.overtaken += other->has_chunk && other->priority > share->priority;
}

static void settle(struct ranks *ranks, struct shared_rank *shared, uint64_t now_ns)
{
    const uint64_t turns = (now_ns - shared->turn_began_ns) / shared->turn_ns;
    if (shared->is_limited || turns == 0)
        return;
    charge(ranks, shared, shared->turn_began_ns + turns * shared->turn_ns);
    pass_idle(shared);
}

static void limit_turn(struct ranks *ranks, unsigned rank, uint64_t now_ns)
{
    struct shared_rank *shared = &ranks->ranks[rank];
    struct virtual_cluster *cluster = shared->computing->cluster;
    const uint64_t turn_ns = turn_of(ranks, shared, rank), ends_ns = shared->turn_began_ns + turn_ns;
    if (shared->is_limited && turn_ns >= shared->turn_ns)
        return;
    shared->turn_ns = turn_ns;
    shared->is_limited = true;
    cluster->now_ns = now_ns;
    schedule_end(shared, rank, work_limit_turn(cluster, rank, ends_ns > now_ns ? ends_ns : now_ns));
}

static void stop_computing(struct ranks *ranks, unsigned rank, uint64_t now_ns)
{
    struct shared_rank *shared = &ranks->ranks[rank];
    charge(ranks, shared, now_ns);
    if (ranks->iteration_ns > 0)
        look_at_passes(ranks, shared);
    shared->computing = NULL;
    shared->turn_generation++;
}

void ranks_begin_chunk(struct virtual_cluster *cluster, unsigned rank)
{
    struct ranks *ranks = cluster->ranks;
    struct shared_rank *shared = shared_of(cluster, rank);
    struct rank_part *part = &cluster->parts[rank];
    assert(!part->share.has_chunk && part->is_there);
    if (shared->computing != NULL)
        settle(ranks, shared, cluster->now_ns);
    stride_want(&shared->stride, &part->share);
    if (shared->computing != NULL)
        limit_turn(ranks, rank, cluster->now_ns);
    if (ranks->iteration_ns > 0)
        look_at_waits(ranks, shared, cluster->now_ns);
    compute(ranks, rank, cluster->now_ns);
}

void ranks_end_chunk(struct virtual_cluster *cluster, unsigned rank)
{
    struct shared_rank *shared = shared_of(cluster, rank);
    struct rank_part *part = &cluster->parts[rank];
    assert(part->share.has_chunk && shared->computing == part && "a chunk ends while it computes");
    stop_computing(cluster->ranks, rank, cluster->now_ns);
    part->share.has_chunk = false;
}

void ranks_give_up_chunk(struct virtual_cluster *cluster, unsigned rank)
{
    struct shared_rank *shared = shared_of(cluster, rank);
    struct rank_part *part = &cluster->parts[rank];
    if (shared->computing == part)
        stop_computing(cluster->ranks, rank, cluster->now_ns);
    stride_end(&part->share);
    compute(cluster->ranks, rank, cluster->now_ns);
}

void ranks_compute(struct virtual_cluster *cluster, unsigned rank)
{
    compute(cluster->ranks, rank, cluster->now_ns);
}

void ranks_end_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t generation)
{
    struct ranks *ranks = cluster->ranks;
    struct shared_rank *shared = shared_of(cluster, rank);
    if (generation != shared->turn_generation || shared->computing == NULL)
        return;
    assert(shared->computing->cluster == cluster);
    stop_computing(ranks, rank, cluster->now_ns);
    work_put_off(cluster, rank);
    ranks->figures.put_off++;
    compute(ranks, rank, cluster->now_ns);
}

void ranks_leave(struct virtual_cluster *cluster, unsigned rank)
{
    struct ranks *ranks = cluster->ranks;
    struct shared_rank *shared = shared_of(cluster, rank);
    struct rank_part *part = &cluster->parts[rank];
    if (!part->is_there)
        return;
    part->is_there = false;
    if (shared->computing == part)
        stop_computing(ranks, rank, cluster->now_ns);
    part->share.has_chunk = false;
    stride_leave(&shared->stride, &part->share);
    if (!shared->is_lost)
        compute(ranks, rank, cluster->now_ns);
}

void ranks_note_busy(struct virtual_cluster *cluster, unsigned rank)
{
    struct shared_rank *shared = shared_of(cluster, rank);
    const uint64_t until_ns = cluster->nodes[rank].busy_until_ns;
    shared->busy_until_ns = until_ns > shared->busy_until_ns ? until_ns : shared->busy_until_ns;
}

uint64_t ranks_busy_until(const struct virtual_cluster *cluster, unsigned rank)
{
    const uint64_t all_ns = shared_of(cluster, rank)->busy_until_ns, own_ns = cluster->nodes[rank].busy_until_ns;
    return all_ns > own_ns ? all_ns : own_ns;
}

const struct ranks_figures *ranks_figures(const struct ranks *ranks)
{
    return &ranks->figures;
}

uint64_t ranks_used_ns(const struct virtual_cluster *cluster)
{
    uint64_t ns = 0;
    for (unsigned i = 0; i < cluster->ranks->count; i++)
        ns += cluster->parts[i].share.used_ns;
    return ns;
}

void ranks_check(const struct ranks *ranks)
{
    for (unsigned i = 0; i < ranks->count; i++) {
        const struct shared_rank *shared = &ranks->ranks[i];
        bool has_work = false;
        stride_check(&shared->stride);
        for (const struct stride_share *share = shared->stride.first; share != NULL; share = share->next)
            has_work |= share->has_chunk;
        assert((shared->computing == NULL || shared->computing->share.has_chunk) && "a chunk computes");
        assert((shared->is_lost || has_work == (shared->computing != NULL)) && "no worker with a chunk has a rest");
    }
}
