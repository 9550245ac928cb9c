/* SPDX-License-Identifier: MIT */
/* Iterations that wait for others: see precedence.h. */
#include "common/util/precedence.h"

#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void precedence_init(struct precedence *precedence)
{
    *precedence = (struct precedence){0};
}

void precedence_fini(struct precedence *precedence)
{
    free(precedence->pairs);
    free(precedence->begin);
    free(precedence->waiting);
    precedence_init(precedence);
}

int precedence_add(struct precedence *precedence, uint64_t iteration, uint64_t other)
{
    struct precedence_pair *pairs =
        grow(precedence->pairs, precedence->pair_count, &precedence->pair_capacity, sizeof *pairs);
    if (pairs == NULL)
        return -1;
    precedence->pairs = pairs;
    precedence->pairs[precedence->pair_count++] = (struct precedence_pair){iteration, other};
    return 0;
}

int precedence_close(struct precedence *precedence, uint64_t count)
{
    uint64_t *begin = calloc(count + 2, sizeof *begin), *waiting = calloc(precedence->pair_count + 1, sizeof *waiting);
    if (begin == NULL || waiting == NULL) {
        free(begin);
        free(waiting);
        return -1;
    }
    for (size_t i = 0; i < precedence->pair_count; i++) {
        assert(precedence->pairs[i].other < count && precedence->pairs[i].iteration < count && "both are of the loop");
        begin[precedence->pairs[i].other + 2]++;
    }
    for (uint64_t i = 0; i < count; i++)
        begin[i + 2] += begin[i + 1];
    for (size_t i = 0; i < precedence->pair_count; i++)
        waiting[begin[precedence->pairs[i].other + 1]++] = precedence->pairs[i].iteration;
    free(precedence->pairs);
    *precedence = (struct precedence){.count = count, .begin = begin, .waiting = waiting};
    return 0;
}

/* A topological sort. It begins with the iterations that wait for no others, and ticks off one iteration after the
 * other. At the end, `open` of an iteration is the number of iterations for which it still waits. If this number is
 * above 0, the iteration is on a cycle or waits for an iteration on a cycle, directly or through others. */
static void leave_circles(const struct precedence *precedence, uint64_t *open, uint64_t *ready)
{
    uint64_t done = 0, count = 0;
    for (uint64_t i = 0; i < precedence->begin[precedence->count]; i++)
        open[precedence->waiting[i]]++;
    for (uint64_t i = 0; i < precedence->count; i++)
        if (open[i] == 0)
            ready[count++] = i;
    for (; done < count; done++)
        for (uint64_t k = precedence->begin[ready[done]]; k < precedence->begin[ready[done] + 1]; k++)
            if (--open[precedence->waiting[k]] == 0)
                ready[count++] = precedence->waiting[k];
}

static int64_t walk(const struct precedence *precedence, uint64_t *open, uint64_t *circle)
{
    uint64_t *before = circle, at = 0, length = 0;
    for (uint64_t i = 0; i < precedence->count; i++)
        for (uint64_t k = precedence->begin[i]; open[i] > 0 && k < precedence->begin[i + 1]; k++)
            before[precedence->waiting[k]] = i;
    while (at < precedence->count && open[at] == 0)
        at++;
    if (at == precedence->count)
        return 0;
    for (; open[at] != UINT64_MAX; at = before[at])
        open[at] = UINT64_MAX;
    const uint64_t first = at;
    do {
        open[length++] = at;
        at = before[at];
    } while (at != first);
    memcpy(circle, open, length * sizeof *circle);
    return (int64_t)length;
}

int64_t precedence_find_circle(const struct precedence *precedence, uint64_t **circle)
{
    uint64_t *open = calloc(precedence->count + 1, sizeof *open);
    int64_t length = -1;
    *circle = calloc(precedence->count + 1, sizeof **circle);
    if (open != NULL && *circle != NULL) {
        leave_circles(precedence, open, *circle);
        length = walk(precedence, open, *circle);
    }
    free(open);
    if (length <= 0) {
        free(*circle);
        *circle = NULL;
    }
    return length;
}
