/* SPDX-License-Identifier: MIT */
/* What is to come in a simulated run of workers alone, the earliest first: a heap. */
#include "deploy/simulate/flat_run.h"

#include <assert.h>

static bool comes_before(const struct flat_event *a, const struct flat_event *b)
{
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns;
    return a->worker != b->worker ? a->worker < b->worker : a->type < b->type;
}

void flat_push(struct flat_run *run, double at_ns, unsigned worker, enum flat_event_type type)
{
    const struct flat_event event = {at_ns, worker, type};
    assert(run->count < run->capacity);
    size_t i = run->count++;
    for (; i > 0 && comes_before(&event, &run->heap[(i - 1) / 2]); i = (i - 1) / 2)
        run->heap[i] = run->heap[(i - 1) / 2];
    run->heap[i] = event;
}

struct flat_event flat_pop(struct flat_run *run)
{
    const struct flat_event first = run->heap[0], last = run->heap[--run->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < run->count; i = child) {
        child += child + 1 < run->count && comes_before(&run->heap[child + 1], &run->heap[child]);
        if (!comes_before(&run->heap[child], &last))
            break;
        run->heap[i] = run->heap[child];
    }
    run->heap[i] = last;
    return first;
}
