/* A binary heap: see heap.h. */
#include "common/runtime/virtual/heap.h"

#include <stdlib.h>

static bool before(const struct future *a, const struct future *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->sequence < b->sequence;
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
    size_t i = heap->length++;
    while (i > 0 && before(&added, &heap->items[(i - 1) / 2])) {
        heap->items[i] = heap->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->items[i] = added;
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

void heap_fini(struct heap *heap)
{
    struct future future;
    while (heap_pop(heap, &future)) {
        free(future.bytes);
        free(future.data);
    }
    free(heap->items);
    *heap = (struct heap){0};
}
