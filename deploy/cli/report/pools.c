/* SPDX-License-Identifier: MIT */
/* Task pools over time: see pools.h.
 *
 * The numbers at which any chunk begins or ends divide the loop into pieces that are never divided further. All cuts
 * and assignments are gone through in the order of time, and each piece is in one of a few states; what changes the
 * state of a piece changes the depth of a pool. */
#include "deploy/cli/report/pools.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define IN_NO_CUT UINT32_MAX

struct piece {
    uint64_t first, count;
    uint32_t cut; /* the cut by which it lies in a pool; IN_NO_CUT: it lies in none */
    bool is_new;  /* it was not cut yet */
    bool is_given;
};

/* What happens at a moment. */
struct pool_action {
    double time_s;
    enum { POOL_CUT, POOL_GIVE, POOL_MASTER_LOST } kind;
    size_t index; /* in the cuts, the chunks or the events of the trace */
};

/* The depth of a pool now, and what has come of it. */
struct pool_depth {
    struct pool_course *course; /* borrowed */
    uint64_t iterations, chunks;
    unsigned part;  /* the part of the run that was entered last */
    double since_s; /* when the depth changed last */
    double chunk_s, empty_s;
};

struct pools {
    const struct run_trace *trace; /* borrowed, as the map */
    const struct pool_map *map;
    double begin_s, end_s;
    struct piece *pieces; /* [piece_count]; owned, as all below */
    size_t piece_count;
    struct pool_action *actions; /* [action_count] in the order of time */
    size_t action_count;
    struct pool_depth *depths; /* [map->count + 1] */
    uint64_t *left;            /* [cut_count] iterations that still lie in a pool by that cut */
    uint32_t *cut_course;      /* [cut_count] */
    uint32_t *master_of;       /* [worker_end] by the rank of the worker */
    uint32_t worker_end;
};

static uint32_t course_of(const struct pool_map *map, uint32_t master)
{
    return master < map->rank_end ? map->course_of[master] : map->course_of[0];
}

static uint32_t master_of_worker(const struct pools *pools, uint32_t worker)
{
    return worker < pools->worker_end ? pools->master_of[worker] : RUN_NO_RANK;
}

/* --- the depth of a pool --- */

static unsigned part_at(const struct pools *pools, double time_s)
{
    const double share = (time_s - pools->begin_s) / (pools->end_s - pools->begin_s);
    return share > 0 ? (unsigned)fmin(share * POOL_PARTS, POOL_PARTS - 1) : 0;
}

static void note_depth(struct pool_depth *depth, unsigned part)
{
    struct pool_course *course = depth->course;
    if (depth->iterations > course->iterations[part])
        course->iterations[part] = depth->iterations;
    if (depth->chunks > course->chunks[part])
        course->chunks[part] = depth->chunks;
}

/* The depth stays as it is until `moment_s`; what is behind the end counts no more. */
static void hold_depth(const struct pools *pools, struct pool_depth *depth, double moment_s)
{
    const double time_s = fmin(moment_s, pools->end_s);
    const unsigned part = part_at(pools, time_s);
    while (depth->part < part)
        note_depth(depth, ++depth->part);
    const double held_s = fmax(0, time_s - depth->since_s);
    depth->chunk_s += held_s * (double)depth->chunks;
    depth->empty_s += depth->iterations == 0 ? held_s : 0;
    depth->since_s = fmax(depth->since_s, time_s);
}

static void enter_pool(const struct pools *pools, uint32_t course, uint64_t iterations, double time_s)
{
    struct pool_depth *const both[] = {&pools->depths[course], &pools->depths[pools->map->count]};
    for (unsigned i = 0; i < 2; i++) {
        struct pool_depth *depth = both[i];
        hold_depth(pools, depth, time_s);
        depth->iterations += iterations;
        depth->chunks++;
        note_depth(depth, depth->part);
        if (depth->iterations > depth->course->most_iterations) {
            depth->course->most_iterations = depth->iterations;
            depth->course->most_s = time_s;
        }
        if (depth->chunks > depth->course->most_chunks)
            depth->course->most_chunks = depth->chunks;
    }
}

static void leave_pool(const struct pools *pools, uint32_t course, uint64_t iterations, bool is_last, double time_s)
{
    struct pool_depth *const both[] = {&pools->depths[course], &pools->depths[pools->map->count]};
    for (unsigned i = 0; i < 2; i++) {
        hold_depth(pools, both[i], time_s);
        both[i]->iterations -= iterations;
        both[i]->chunks -= is_last;
    }
}

/* --- what happens --- */

/* The first piece that begins at `first` or later. */
static size_t find_piece(const struct pools *pools, uint64_t first)
{
    size_t low = 0, high = pools->piece_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pools->pieces[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_from_pool(struct pools *pools, struct piece *piece, double time_s)
{
    const uint32_t cut = piece->cut;
    if (cut == IN_NO_CUT)
        return;
    piece->cut = IN_NO_CUT;
    pools->left[cut] -= piece->count;
    leave_pool(pools, pools->cut_course[cut], piece->count, pools->left[cut] == 0, time_s);
}

static void do_cut(struct pools *pools, uint32_t index, double time_s)
{
    const struct run_cut *cut = &pools->trace->cuts[index];
    const uint32_t course = course_of(pools->map, master_of_worker(pools, cut->worker));
    uint64_t entered = 0;
    pools->cut_course[index] = course;
    pools->depths[course].course->cut += cut->count;
    pools->depths[pools->map->count].course->cut += cut->count;
    for (size_t i = find_piece(pools, cut->first);
         i < pools->piece_count && pools->pieces[i].first < cut->first + cut->count; i++) {
        struct piece *piece = &pools->pieces[i];
        take_from_pool(pools, piece, time_s);
        /* The clocks of two nodes differ: what was given before it was cut did not lie in a pool. */
        const bool was_early = piece->is_new && piece->is_given;
        piece->is_new = false;
        if (was_early)
            continue;
        piece->cut = index;
        entered += piece->count;
    }
    pools->left[index] = entered;
    if (entered > 0)
        enter_pool(pools, course, entered, time_s);
}

static void do_give(struct pools *pools, const struct run_chunk *chunk, double time_s)
{
    const uint32_t giver = course_of(pools->map, chunk->master);
    for (size_t i = find_piece(pools, chunk->first);
         i < pools->piece_count && pools->pieces[i].first < chunk->first + chunk->count; i++) {
        struct piece *piece = &pools->pieces[i];
        const uint32_t cut = piece->cut;
        piece->is_given = true;
        if (cut != IN_NO_CUT && pools->cut_course[cut] != giver) {
            pools->depths[pools->cut_course[cut]].course->moved += piece->count;
            pools->depths[pools->map->count].course->moved += piece->count;
        }
        take_from_pool(pools, piece, time_s);
    }
}

static void do_loss(struct pools *pools, uint32_t master, double time_s)
{
    for (size_t i = 0; i < pools->piece_count; i++) {
        const uint32_t cut = pools->pieces[i].cut;
        if (cut != IN_NO_CUT && master_of_worker(pools, pools->trace->cuts[cut].worker) == master)
            take_from_pool(pools, &pools->pieces[i], time_s);
    }
}

static void follow_actions(struct pools *pools)
{
    for (size_t i = 0; i < pools->action_count; i++) {
        const struct pool_action *action = &pools->actions[i];
        switch (action->kind) {
        case POOL_CUT: do_cut(pools, (uint32_t)action->index, action->time_s); break;
        case POOL_GIVE: do_give(pools, &pools->trace->chunks[action->index], action->time_s); break;
        case POOL_MASTER_LOST: do_loss(pools, pools->trace->events[action->index].worker, action->time_s); break;
        }
    }
    for (uint32_t c = 0; c <= pools->map->count; c++) {
        struct pool_depth *depth = &pools->depths[c];
        hold_depth(pools, depth, pools->end_s);
        depth->course->mean_chunks = depth->chunk_s / (pools->end_s - pools->begin_s);
        depth->course->empty = fmin(1, depth->empty_s / (pools->end_s - pools->begin_s));
    }
}

/* --- getting ready --- */

static bool is_range(uint64_t first, uint64_t count)
{
    return first != TRACE_UNKNOWN && count > 0 && count < TRACE_UNKNOWN - first;
}

/* Copies and verifications are of what others have been given. */
static bool is_first_hand(const struct run_chunk *chunk)
{
    return chunk->reason != TRACE_COPY && chunk->reason != TRACE_VERIFY && is_range(chunk->first, chunk->count);
}

static int by_time(const void *a, const void *b)
{
    const struct pool_action *x = a, *y = b;
    return x->time_s != y->time_s ? (x->time_s > y->time_s) - (x->time_s < y->time_s)
           : x->kind != y->kind   ? (x->kind > y->kind) - (x->kind < y->kind)
                                  : (x->index > y->index) - (x->index < y->index);
}

static void add_action(struct pools *pools, double time_s, int kind, size_t index)
{
    pools->actions[pools->action_count++] = (struct pool_action){time_s, kind, index};
}

static void list_actions(struct pools *pools)
{
    const struct run_trace *trace = pools->trace;
    for (size_t i = 0; i < trace->cut_count; i++)
        if (is_range(trace->cuts[i].first, trace->cuts[i].count))
            add_action(pools, trace->cuts[i].time_s, POOL_CUT, i);
    for (size_t i = 0; i < trace->chunk_count; i++)
        if (is_first_hand(&trace->chunks[i]))
            add_action(pools, trace->chunks[i].given_s, POOL_GIVE, i);
    for (size_t i = 0; i < trace->event_count; i++)
        if (strncmp(trace->events[i].text, RUN_MASTER_LOST, strlen(RUN_MASTER_LOST)) == 0)
            add_action(pools, trace->events[i].time_s, POOL_MASTER_LOST, i);
    qsort(pools->actions, pools->action_count, sizeof *pools->actions, by_time);
}

static int by_iteration(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Divides the loop at all `count` numbers. */
static void divide(struct pools *pools, uint64_t *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, by_iteration);
    for (size_t i = 0; i + 1 < count; i++)
        if (numbers[i] < numbers[i + 1])
            pools->pieces[pools->piece_count++] =
                (struct piece){numbers[i], numbers[i + 1] - numbers[i], IN_NO_CUT, true, false};
}

static int list_pieces(struct pools *pools)
{
    uint64_t *numbers = malloc((2 * pools->action_count + 1) * sizeof *numbers);
    size_t count = 0;
    if (numbers == NULL)
        return -1;
    for (size_t i = 0; i < pools->action_count; i++) {
        const struct pool_action *action = &pools->actions[i];
        const struct run_cut *cut = &pools->trace->cuts[action->index];
        const struct run_chunk *chunk = &pools->trace->chunks[action->index];
        if (action->kind == POOL_MASTER_LOST)
            continue;
        numbers[count++] = action->kind == POOL_CUT ? cut->first : chunk->first;
        numbers[count] = numbers[count - 1] + (action->kind == POOL_CUT ? cut->count : chunk->count);
        count++;
    }
    divide(pools, numbers, count);
    free(numbers);
    return 0;
}

/* Notes the master of each worker. */
static int list_masters(struct pools *pools)
{
    const struct run_trace *trace = pools->trace;
    for (size_t i = 0; i < trace->worker_count; i++)
        if (trace->workers[i].rank >= pools->worker_end)
            pools->worker_end = trace->workers[i].rank + 1;
    pools->master_of = malloc((pools->worker_end + 1) * sizeof *pools->master_of);
    if (pools->master_of == NULL)
        return -1;
    memset(pools->master_of, 0xff, (pools->worker_end + 1) * sizeof *pools->master_of); /* RUN_NO_RANK */
    for (size_t i = 0; i < trace->worker_count; i++)
        pools->master_of[trace->workers[i].rank] = trace->workers[i].master;
    return 0;
}

static int pools_init(struct pools *pools, struct pool_course *courses)
{
    const struct run_trace *trace = pools->trace;
    const size_t actions = trace->cut_count + trace->chunk_count + trace->event_count + 1;
    pools->pieces = malloc(2 * actions * sizeof *pools->pieces);
    pools->actions = malloc(actions * sizeof *pools->actions);
    pools->depths = calloc(pools->map->count + 1, sizeof *pools->depths);
    pools->left = calloc(trace->cut_count + 1, sizeof *pools->left);
    pools->cut_course = calloc(trace->cut_count + 1, sizeof *pools->cut_course);
    if (pools->pieces == NULL || pools->actions == NULL || pools->depths == NULL || pools->left == NULL ||
        pools->cut_course == NULL || list_masters(pools) < 0)
        return -1;
    for (uint32_t c = 0; c <= pools->map->count; c++)
        pools->depths[c] = (struct pool_depth){.course = &courses[c], .since_s = pools->begin_s};
    list_actions(pools);
    return list_pieces(pools);
}

static void pools_fini(struct pools *pools)
{
    free(pools->pieces);
    free(pools->actions);
    free(pools->depths);
    free(pools->left);
    free(pools->cut_course);
    free(pools->master_of);
}

int pools_follow(struct pool_course *courses, const struct pool_map *map, const struct run_trace *trace, double begin_s,
                 double end_s, struct error *error)
{
    struct pools pools = {.trace = trace, .map = map, .begin_s = begin_s, .end_s = fmax(end_s, begin_s + 1e-9)};
    memset(courses, 0, (map->count + 1) * sizeof *courses);
    const int result = pools_init(&pools, courses);
    if (result == 0)
        follow_actions(&pools);
    pools_fini(&pools);
    return result == 0 ? 0 : error_set(error, "out of memory");
}
