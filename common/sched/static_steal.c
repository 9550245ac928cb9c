/* SPDX-License-Identifier: MIT */
/* static-steal: each worker has a part of the loop and takes chunks of one size from its front. A worker whose part
 * is empty steals from the back of another worker's part.
 *
 * The rule is that of the OpenMP runtime of LLVM, kmp_sch_static_steal in kmp_dispatch.cpp at commit 0217024481ad,
 * with requests served one after the other. Parts consist of whole chunks and are as equal as possible, the larger
 * ones first. A thief searches for a victim among the workers, which form a circle. The search begins at the victim of
 * the thief's last theft, or at the thief's neighbour if there was no theft yet. The thief takes a quarter of the
 * victim's chunks, at least one. If the victim has never asked for work, the thief takes the whole part, and its next
 * search begins at the victim's neighbour. A loop of fewer chunks than workers is one part, which all workers share.
 *
 * LB4OMP uses the rule of an earlier runtime: a thief steals neither the last chunk of a part nor anything from a
 * worker that has not asked for work, and a loop of fewer chunks than workers is divided into parts of one chunk. A
 * thread of LB4OMP that finds no chunk to steal leaves the loop. In HDSS the worker steals one of the other chunks
 * instead, because the owner of that chunk may be lost.
 *
 * Invariants: the parts do not overlap, together they have sched->remaining iterations, and `filled` marks the parts
 * that are not empty. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <assert.h>
#include <stdlib.h>

enum { PARAM_CHUNK, PARAM_RULE };
enum { RULE_LLVM, RULE_LB4OMP };

enum { CHUNK };

#define PART_CHUNKS 64
#define WORD_BITS   64

static const struct technique_param static_steal_params[] = {
    [PARAM_CHUNK] = {.name = "chunk",
                     .kind = SCHED_PARAM_INTEGER,
                     .fallback = "ceil(N/(64P))",
                     .minimum = 1,
                     .maximum = (double)SCHED_ITERATIONS_MAX,
                     .summary = "size of a chunk, iterations; 1 is the default of OpenMP"},
    [PARAM_RULE] = {.name = "rule",
                    .kind = SCHED_PARAM_CHOICE,
                    .fallback = "llvm",
                    .choices = "llvm|lb4omp",
                    .summary = "way of stealing: that of LLVM, or the older way of LB4OMP"},
    {.name = NULL},
};

struct part {
    uint64_t begin, end;
    unsigned victim;
    bool has_asked;
};

struct steal {
    bool is_shared;   /* all workers take their chunks from part 0 */
    bool is_whole;    /* each part consists of one chunk */
    uint64_t *filled; /* one bit for each part; it is set if the part is not empty */
    struct part *part;
};

static struct part *part_of(const struct sched *sched, unsigned worker)
{
    const struct steal *steal = sched->own;
    return &steal->part[steal->is_shared ? 0 : worker];
}

static void note_filled(struct steal *steal, const struct part *part)
{
    const size_t index = (size_t)(part - steal->part);
    const uint64_t bit = UINT64_C(1) << index % WORD_BITS;
    if (part->begin < part->end)
        steal->filled[index / WORD_BITS] |= bit;
    else
        steal->filled[index / WORD_BITS] &= ~bit;
}

static unsigned next_filled(const struct steal *steal, unsigned from, unsigned workers)
{
    uint64_t mask = UINT64_MAX << from % WORD_BITS;
    for (unsigned w = from / WORD_BITS; w <= (workers - 1) / WORD_BITS && from < workers; w++, mask = UINT64_MAX)
        if ((steal->filled[w] & mask) != 0)
            return w * WORD_BITS + (unsigned)__builtin_ctzll(steal->filled[w] & mask);
    return workers;
}

/* Returns how many chunks are left in a part. Chunks begin at multiples of the chunk size. The first chunk of a part
 * may be shorter, because iterations may have been taken from its front already. */
static uint64_t chunks_left(const struct sched *sched, const struct part *part)
{
    const uint64_t chunk = sched->constant.integer[CHUNK];
    return part->begin < part->end ? ceil_div(part->end, chunk) - part->begin / chunk : 0;
}

/* Returns a worker's share of `units`, rounded down. deal_out() gives the remaining units to the first workers,
 * one unit to each. */
static uint64_t share_of(const struct sched *sched, unsigned worker, uint64_t units)
{
    if (sched->powers == NULL)
        return units / sched->workers;
    struct twofold part = twofold_multiply(twofold_of_integer(units), power_meant(sched, worker));
    return floor_twofold(twofold_divide(part, sched->power_total), sched->power_doubt);
}

static void deal_out(struct sched *sched, uint64_t units, uint64_t unit)
{
    struct steal *steal = sched->own;
    uint64_t left = units, begin = 0;
    for (unsigned j = 0; j < sched->workers; j++) {
        uint64_t share = share_of(sched, j, units);
        share = share < left ? share : left;
        steal->part[j].end = share;
        left -= share;
    }
    for (unsigned j = 0; j < sched->workers; j++) {
        struct part *part = &steal->part[j];
        const uint64_t share = part->end + (j < left);
        const uint64_t size = share <= (sched->remaining - begin) / unit ? share * unit : sched->remaining - begin;
        part->begin = begin;
        part->end = begin += size;
        part->victim = (j + 1) % sched->workers;
        note_filled(steal, part);
    }
    assert(begin == sched->remaining && "all that remains is in a part");
}

static void static_steal_lay_out(struct sched *sched)
{
    struct steal *steal = sched->own;
    const uint64_t chunk = sched->constant.integer[CHUNK], chunks = ceil_div(sched->remaining, chunk);
    const bool is_short = sched->workers == 1 || chunks < sched->workers;
    const bool is_llvm = param_integer(sched, PARAM_RULE, RULE_LLVM) == RULE_LLVM;
    steal->is_shared = is_short && is_llvm;
    steal->is_whole = is_short && !is_llvm;
    if (!steal->is_shared) {
        const uint64_t unit = steal->is_whole ? sched->min_chunk : chunk;
        deal_out(sched, ceil_div(sched->remaining, unit), unit);
        return;
    }
    steal->part[0].begin = 0;
    steal->part[0].end = sched->remaining;
    steal->filled[0] = 1;
}

/* If at most 7 chunks are left, LLVM takes one chunk; LB4OMP does so if at most 3 are left. The result is the same,
 * because a quarter of 4 to 7 chunks, rounded down, is one chunk. */
static uint64_t a_quarter(const struct sched *sched, const struct part *part)
{
    const uint64_t left = chunks_left(sched, part);
    return left > 7 ? left / 4 : 1;
}

static void move_chunks(struct sched *sched, struct part *thief, struct part *victim, uint64_t chunks)
{
    const uint64_t chunk = sched->constant.integer[CHUNK];
    uint64_t boundary = victim->begin;
    if (chunks < chunks_left(sched, victim))
        boundary = (ceil_div(victim->end, chunk) - chunks) * chunk;
    thief->begin = boundary;
    thief->end = victim->end;
    victim->end = boundary;
    note_filled(sched->own, thief);
    note_filled(sched->own, victim);
}

static unsigned find_lb4omp_victim(const struct sched *sched, unsigned from)
{
    const struct steal *steal = sched->own;
    const unsigned workers = sched->workers;
    for (unsigned turn = 0; turn < 2 && !steal->is_whole; turn++) {
        const unsigned end = turn == 0 ? workers : from;
        for (unsigned j = next_filled(steal, turn == 0 ? from : 0, workers); j < end;
             j = next_filled(steal, j + 1, workers))
            if (steal->part[j].has_asked && chunks_left(sched, &steal->part[j]) > 1)
                return j;
    }
    return workers;
}

static void steal_as_lb4omp(struct sched *sched, struct part *thief, unsigned first_filled)
{
    const struct steal *steal = sched->own;
    const unsigned victim = find_lb4omp_victim(sched, thief->victim);
    /* In this case LB4OMP would steal none of the remaining chunks. */
    if (victim == sched->workers) {
        move_chunks(sched, thief, &steal->part[first_filled], steal->is_whole ? UINT64_MAX : 1);
        return;
    }
    move_chunks(sched, thief, &steal->part[victim], a_quarter(sched, &steal->part[victim]));
    thief->victim = victim;
}

static void steal_as_llvm(struct sched *sched, struct part *thief, unsigned victim)
{
    const struct steal *steal = sched->own;
    struct part *from = &steal->part[victim];
    thief->victim = from->has_asked ? victim : (victim + 1) % sched->workers;
    move_chunks(sched, thief, from, from->has_asked ? a_quarter(sched, from) : UINT64_MAX);
}

static void steal_for(struct sched *sched, struct part *thief)
{
    unsigned victim = next_filled(sched->own, thief->victim, sched->workers);
    if (victim == sched->workers)
        victim = next_filled(sched->own, 0, sched->workers);
    assert(victim < sched->workers && "while work remains somebody has a part");
    if (param_integer(sched, PARAM_RULE, RULE_LLVM) == RULE_LLVM)
        steal_as_llvm(sched, thief, victim);
    else
        steal_as_lb4omp(sched, thief, victim);
}

/* K is the chunk size. If iterations were taken from the front of a chunk, K is what remains of it. With
 * SCHED_WEIGHTING_ACP K = floor(chunk / Q_j). This is [SW] eq 2 without V_j, because the sizes of the parts already
 * include the powers. */
static uint64_t static_steal_next(struct sched *sched, unsigned worker)
{
    const struct steal *steal = sched->own;
    const uint64_t chunk = sched->constant.integer[CHUNK];
    struct part *part = part_of(sched, worker);
    part->has_asked = true;
    if (part->begin == part->end)
        steal_for(sched, part);
    const bool is_last = steal->is_whole || part->end / chunk == part->begin / chunk;
    const uint64_t left = is_last ? part->end - part->begin : chunk - part->begin % chunk;
    const uint64_t most = sched->loads != NULL ? floor_real((double)chunk / sched->loads[worker]) : left;
    return most < left ? most : left;
}

static uint64_t static_steal_take(struct sched *sched, unsigned worker, uint64_t count)
{
    struct part *part = part_of(sched, worker);
    const uint64_t left = part->end - part->begin;
    sched->place = part->begin;
    part->begin += count < left ? count : left;
    note_filled(sched->own, part);
    return count < left ? count : left;
}

static void static_steal_put_back(struct sched *sched, unsigned worker, uint64_t count)
{
    struct part *part = part_of(sched, worker);
    assert(count <= part->begin && "what is put back was taken");
    part->begin -= count;
    note_filled(sched->own, part);
}

static int static_steal_init(struct sched *sched, struct error *error)
{
    const uint64_t fallback = ceil_div(sched->iterations, PART_CHUNKS * (uint64_t)sched->workers);
    const uint64_t chunk = param_integer(sched, PARAM_CHUNK, fallback);
    const size_t words = (sched->workers - 1) / WORD_BITS + 1;
    struct steal *steal =
        calloc(1, sizeof *steal + sched->workers * sizeof(struct part) + words * sizeof *steal->filled);
    if (steal == NULL)
        return error_set(error, "technique static-steal: out of memory for %u parts", sched->workers);
    steal->part = (struct part *)(steal + 1);
    steal->filled = (uint64_t *)(steal->part + sched->workers);
    sched->own = steal;
    sched->constant.integer[CHUNK] = chunk > sched->min_chunk ? chunk : sched->min_chunk;
    return 0;
}

static const struct technique_places static_steal_places = {
    .lay_out = static_steal_lay_out,
    .take = static_steal_take,
    .put_back = static_steal_put_back,
};

const struct technique technique_static_steal = {
    .name = "static-steal",
    .title = "static chunking with stealing",
    .rule = "K = chunk, from the front of the worker's own part of the ceil(N/chunk)/P chunks of each; a worker "
            "without chunks takes max(1, floor(L/4)) of the L chunks of the next worker that has some, from the back",
    .source = "The LLVM Project, OpenMP runtime library, kmp_sch_static_steal in kmp_dispatch.cpp; rule=lb4omp: "
              "Müller Korndörfer et al., LB4OMP: A Dynamic Load Balancing Library for Multithreaded Applications",
    .when = "neighbouring iterations share data that stays with a worker, and the load is uneven",
    .params = static_steal_params,
    .for_comparison = true,
    .init = static_steal_init,
    .next = static_steal_next,
    .places = &static_steal_places,
};
