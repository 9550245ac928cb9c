/* A binary heap: see heap.h. */
#include "common/runtime/virtual/heap.h"

#include <stdlib.h>

void future_release(struct future *future)
{
    free(future->bytes);
    free(future->data);
}

static bool before(const struct future *a, const struct future *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->sequence < b->sequence;
}

static void sift_up(struct heap *heap, size_t i)
{
    const struct future future = heap->items[i];
    while (i > 0 && before(&future, &heap->items[(i - 1) / 2])) {
        heap->items[i] = heap->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->items[i] = future;
}

int heap_push(struct heap *heap, const struct future *future)
{
    struct future added = *future;
    added.sequence = heap->sequence++;
    if (heap->length == heap->capacity) {
        size_t capacity = heap->capacity == 0 ? 256 : 2 * heap->capacity;
        struct future *items = realloc(heap->items, capacity * sizeof *items);
        if (items == NULL)
            return -1;
        heap->items = items;
        heap->capacity = capacity;
    }
    heap->items[heap->length] = added;
    sift_up(heap, heap->length++);
    return 0;
}

bool heap_pop(struct heap *heap, struct future *future)
{
    if (heap->length == 0)
        return false;
    *future = heap->items[0];
    struct future last = heap->items[--heap->length];
    size_t i = 0;
    for (size_t child = 1; child < heap->length; child = 2 * i + 1) {
        if (child + 1 < heap->length && before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!before(&heap->items[child], &last))
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    if (heap->length > 0)
        heap->items[i] = last;
    return true;
}

static bool is_of_computing(const struct future *future)
{
    return !future->wake && future->fault_plus_1 == 0 &&
           (future->type == EVENT_MARK || future->type == EVENT_SLICE || future->type == EVENT_FAILURE ||
            future->type == EVENT_FINISHED || future->type == EVENT_PROBED);
}

void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor)
{
    for (size_t i = 0; i < heap->length; i++) {
        struct future *future = &heap->items[i];
        if (future->rank == rank && is_of_computing(future))
            future->at_ns = now_ns + (uint64_t)((double)(future->at_ns - now_ns) * factor);
        sift_up(heap, i); /* those before it are a heap */
    }
}

void heap_fini(struct heap *heap)
{
    struct future future;
    while (heap_pop(heap, &future))
        future_release(&future);
    free(heap->items);
    *heap = (struct heap){0};
}
