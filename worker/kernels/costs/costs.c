/* SPDX-License-Identifier: MIT */
/* Sums of the costs of iterations: see costs.h. */
#include "worker/kernels/costs/costs.h"

#include "common/util/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COST_MAX_US 1e12

/* Sums of costs at `places` positions in the loop: before[i] is the cost of all iterations before position i. There are
 * three kinds of sums. If `before` is NULL, every iteration costs constant_ns. If step > 0, there is a position every
 * `step` iterations, and cost_ns() gives the costs between two positions. Otherwise `start` has the positions, and all
 * iterations between two positions cost the same. */
struct costs {
    double constant_ns;
    uint64_t first, count;
    uint64_t step;
    /* Arrays are owned. start and before: [places + 1]. */
    uint64_t *start;
    double *before;
    uint32_t *rank; /* [places] worker that computed the block; NULL: unknown */
    size_t places;
    double (*cost_ns)(void *context, uint64_t iteration);
    void (*release)(void *context);
    void *context;
};

void costs_free(struct costs *costs)
{
    if (costs == NULL)
        return;
    if (costs->release != NULL && costs->context != NULL)
        costs->release(costs->context);
    free(costs->start);
    free(costs->before);
    free(costs->rank);
    free(costs->context);
    free(costs);
}

struct costs *costs_constant(double cost_ns)
{
    struct costs *costs = calloc(1, sizeof *costs);
    if (costs != NULL)
        costs->constant_ns = cost_ns;
    return costs;
}

static double before_in_steps(const struct costs *costs, uint64_t iteration)
{
    uint64_t done = iteration - costs->first, place = done / costs->step;
    double sum = costs->before[place];
    for (uint64_t i = costs->first + place * costs->step; i < iteration; i++)
        sum += costs->cost_ns(costs->context, i);
    return sum;
}

static double before_in_blocks(const struct costs *costs, uint64_t iteration)
{
    size_t low = 0, high = costs->places;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (costs->start[middle] <= iteration)
            low = middle;
        else
            high = middle;
    }
    double share = (double)(iteration - costs->start[low]) / (double)(costs->start[low + 1] - costs->start[low]);
    return costs->before[low] + (costs->before[low + 1] - costs->before[low]) * share;
}

static double costs_before(const struct costs *costs, uint64_t iteration)
{
    return costs->step > 0 ? before_in_steps(costs, iteration) : before_in_blocks(costs, iteration);
}

double costs_ns(const struct costs *costs, uint64_t first, uint64_t count)
{
    if (costs->before == NULL)
        return costs->constant_ns * (double)count;
    return count > 0 ? costs_before(costs, first + count) - costs_before(costs, first) : 0;
}

static void sum_up(struct costs *costs)
{
    double sum = 0;
    for (uint64_t i = 0; i < costs->count; i++) {
        if (i % costs->step == 0)
            costs->before[i / costs->step] = sum;
        sum += costs->cost_ns(costs->context, costs->first + i);
    }
    costs->before[costs->places] = sum;
}

static struct costs *new_sums(const void *context, size_t size, uint64_t first, uint64_t count)
{
    struct costs *costs = calloc(1, sizeof *costs);
    if (costs == NULL)
        return NULL;
    *costs = (struct costs){.first = first, .count = count, .step = count / COSTS_ENTRIES + 1};
    costs->places = (size_t)((count + costs->step - 1) / costs->step);
    costs->before = calloc(costs->places + 1, sizeof *costs->before);
    costs->context = malloc(size);
    if (costs->before == NULL || costs->context == NULL) {
        costs_free(costs);
        return NULL;
    }
    memcpy(costs->context, context, size);
    return costs;
}

struct costs *costs_of_function(double (*cost_ns)(void *context, uint64_t iteration), void (*release)(void *context),
                                const void *context, size_t size, uint64_t first, uint64_t count, struct error *error)
{
    struct costs *costs = count <= COSTS_ITERATIONS_MAX ? new_sums(context, size, first, count) : NULL;
    if (costs == NULL && release != NULL)
        release((void *)context);
    if (count > COSTS_ITERATIONS_MAX)
        error_set(error,
                  "the costs of %" PRIu64 " iterations are to be summed up; accepted: up to 2^34, see --iterations",
                  count);
    else if (costs == NULL)
        error_set(error, "out of memory for the costs of %" PRIu64 " iterations", count);
    if (costs == NULL)
        return NULL;
    costs->cost_ns = cost_ns;
    costs->release = release;
    sum_up(costs);
    return costs;
}

struct file {
    struct costs *costs;
    size_t capacity;
    unsigned line;
    bool blocks;
    bool is_unnamed;
};

static int costs_make_room(struct file *file)
{
    struct costs *costs = file->costs;
    if (costs->places + 1 < file->capacity)
        return 0;
    size_t capacity = file->capacity == 0 ? 1024 : 2 * file->capacity;
    uint64_t *start = realloc(costs->start, capacity * sizeof *start);
    if (start == NULL)
        return -1;
    costs->start = start;
    double *sums = realloc(costs->before, capacity * sizeof *sums);
    if (sums == NULL)
        return -1;
    costs->before = sums;
    uint32_t *rank = realloc(costs->rank, capacity * sizeof *rank);
    if (rank == NULL)
        return -1;
    costs->rank = rank;
    file->capacity = capacity;
    return 0;
}

static int costs_add_block(struct file *file, uint64_t first, uint64_t count, double cost_us, uint32_t rank,
                           struct error *error)
{
    struct costs *costs = file->costs;
    if (costs_make_room(file) < 0)
        return error_set(error, "out of memory for the costs");
    if (costs->places == 0) {
        costs->start[0] = first;
        costs->before[0] = 0;
    }
    costs->rank[costs->places] = rank;
    size_t place = ++costs->places;
    costs->start[place] = first + count;
    costs->before[place] = costs->before[place - 1] + cost_us * 1000 * (double)count;
    return 0;
}

#define FIELD_MAX 64

static const char *costs_take_field(const char *text, char field[FIELD_MAX])
{
    text += strspn(text, " \t\r");
    size_t length = strcspn(text, " \t\r\n#");
    snprintf(field, FIELD_MAX, "%.*s", (int)(length < FIELD_MAX ? length : 1), length < FIELD_MAX ? text : "~");
    return text + length;
}

static int costs_take_block(struct file *file, char field[4][FIELD_MAX], struct error *error)
{
    const struct costs *costs = file->costs;
    uint64_t first, count, rank = 0;
    double cost;
    if (field[3][0] != '\0' && (number_parse_u64(field[3], &rank) < 0 || rank > UINT32_MAX))
        return error_set(error, "line %u: worker '%s': accepted: its rank, an integer from 0", file->line, field[3]);
    file->is_unnamed |= field[3][0] == '\0';
    if (number_parse_u64(field[0], &first) < 0 || number_parse_u64(field[1], &count) < 0 || count == 0 ||
        first > UINT64_MAX - count)
        return error_set(error,
                         "line %u: '%s %s': accepted: the first iteration of a block and how many it has, from 1",
                         file->line, field[0], field[1]);
    if (number_parse_real(field[2], &cost) < 0 || cost < 0 || cost > COST_MAX_US)
        return error_set(error, "line %u: cost '%s': accepted: microseconds, from 0 to 1e12", file->line, field[2]);
    if (costs->places > 0 && first != costs->start[costs->places])
        return error_set(error,
                         "line %u: the block begins at iteration %" PRIu64 "; accepted: %" PRIu64
                         ", where the one before ends",
                         file->line, first, costs->start[costs->places]);
    return costs_add_block(file, first, count, cost, (uint32_t)rank, error);
}

static int take_single(struct file *file, const char *field, struct error *error)
{
    const struct costs *costs = file->costs;
    double cost;
    if (number_parse_real(field, &cost) < 0 || cost < 0 || cost > COST_MAX_US)
        return error_set(error, "line %u: '%s': accepted: a cost in microseconds, from 0 to 1e12", file->line, field);
    file->is_unnamed = true;
    return costs_add_block(file, costs->places > 0 ? costs->start[costs->places] : 0, 1, cost, 0, error);
}

static int costs_take_line(struct file *file, const char *text, struct error *error)
{
    char field[5][FIELD_MAX];
    for (unsigned i = 0; i < 5; i++)
        text = costs_take_field(text, field[i]);
    file->line++;
    if (field[0][0] == '\0')
        return 0;
    bool one = field[1][0] == '\0', three = field[2][0] != '\0' && field[4][0] == '\0';
    if (file->costs->places == 0)
        file->blocks = three;
    if (file->blocks ? !three : !one)
        return error_set(error, "line %u: accepted: %s", file->line,
                         file->blocks ? "FIRST COUNT COST, as in the lines before"
                                      : "COST, or FIRST COUNT COST in all lines");
    return file->blocks ? costs_take_block(file, field, error) : take_single(file, field[0], error);
}

static int check_whole(const struct file *file, uint64_t first, uint64_t count, struct error *error)
{
    const struct costs *costs = file->costs;
    if (costs->places == 0)
        return count == 0 ? 0 : error_set(error, "line %u: the end, and there are no costs", file->line);
    if (count == 0 || (costs->start[0] <= first && costs->start[costs->places] >= first + count))
        return 0;
    return error_set(error,
                     "line %u: the end, and there are costs of the iterations %" PRIu64 " to %" PRIu64
                     "; accepted: all from %" PRIu64 " to %" PRIu64,
                     file->line, costs->start[0], costs->start[costs->places] - 1, first, first + count - 1);
}

struct costs *costs_parse(const char *text, uint64_t first, uint64_t count, struct error *error)
{
    struct file file = {.costs = calloc(1, sizeof *file.costs)};
    int result = file.costs != NULL ? 0 : error_set(error, "out of memory for the costs");
    for (; result == 0 && *text != '\0'; text += *text == '\n') {
        result = costs_take_line(&file, text, error);
        text += strcspn(text, "\n");
    }
    if (result < 0 || check_whole(&file, first, count, error) < 0) {
        costs_free(file.costs);
        return NULL;
    }
    if (file.is_unnamed) {
        free(file.costs->rank);
        file.costs->rank = NULL;
    }
    return file.costs;
}

bool costs_have_workers(const struct costs *costs)
{
    return costs->rank != NULL && costs->places > 0;
}

static int compare_ranks_of_costs(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static unsigned list_ranks(const struct costs *costs, uint32_t *ranks)
{
    unsigned count = 0;
    memcpy(ranks, costs->rank, costs->places * sizeof *ranks);
    qsort(ranks, costs->places, sizeof *ranks, compare_ranks_of_costs);
    for (size_t i = 0; i < costs->places; i++)
        if (count == 0 || ranks[count - 1] != ranks[i])
            ranks[count++] = ranks[i];
    return count;
}

static void divide_by_speeds(struct costs *costs, const struct recorded_chunk *chunks, const double *speed)
{
    for (size_t k = 0; k < costs->places; k++)
        costs->before[k + 1] = costs->before[k] + chunks[k].ns * speed[chunks[k].worker];
}

int costs_separate_workers(struct costs *costs, struct recorded_speeds *speeds, struct error *error)
{
    uint32_t *ranks = calloc(costs->places, sizeof *ranks);
    struct recorded_chunk *chunks = calloc(costs->places, sizeof *chunks);
    int result = -1;
    if (ranks == NULL || chunks == NULL) {
        error_set(error, "out of memory for the workers of %zu recorded chunks", costs->places);
    } else {
        const unsigned workers = list_ranks(costs, ranks);
        for (size_t k = 0; k < costs->places; k++) {
            const uint32_t *rank = bsearch(&costs->rank[k], ranks, workers, sizeof *ranks, compare_ranks_of_costs);
            chunks[k] = (struct recorded_chunk){.count = costs->start[k + 1] - costs->start[k],
                                                .ns = costs->before[k + 1] - costs->before[k],
                                                .worker = (unsigned)(rank - ranks)};
        }
        result = recorded_speeds_find(speeds, chunks, costs->places, workers, error);
        if (result == 0 && speeds->are_different)
            divide_by_speeds(costs, chunks, speeds->speed);
    }
    free(ranks);
    free(chunks);
    return result;
}
