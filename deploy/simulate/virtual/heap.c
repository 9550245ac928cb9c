/* SPDX-License-Identifier: MIT */
/* A 4-ary heap: see heap.h. It has half the depth of a binary heap, and the children of a node are adjacent in
 * memory. */
#include "deploy/simulate/virtual/heap.h"

#include "common/util/heap.h"

#include <stdlib.h>

static bool is_message(const struct future *future)
{
    return future->type == EVENT_MESSAGE && !future->wake && !future->fenced && future->fault == NULL;
}

static void event_heap_release(struct future *future)
{
    if (is_message(future) && future->size > FUTURE_SMALL)
        free(future->bytes);
    free(future->data);
}

static int event_heap_add_block(struct heap *heap)
{
    struct future **blocks = realloc(heap->blocks, (heap->block_count + 1) * sizeof *blocks);
    if (blocks == NULL)
        return -1;
    heap->blocks = blocks;
    struct future *block = calloc(HEAP_BLOCK, sizeof *block);
    if (block == NULL)
        return -1;
    blocks[heap->block_count++] = block;
    for (unsigned i = HEAP_BLOCK; i-- > 0;) {
        block[i].next = heap->unused;
        heap->unused = &block[i];
    }
    return 0;
}

struct future *heap_new(struct heap *heap)
{
    if (heap->unused == NULL && event_heap_add_block(heap) < 0)
        return NULL;
    struct future *future = heap->unused;
    heap->unused = future->next;
    *future = (struct future){.next = NULL};
    return future;
}

void heap_return(struct heap *heap, struct future *future)
{
    event_heap_release(future);
    *future = (struct future){.next = heap->unused};
    heap->unused = future;
}

static bool due_before(const void *item, const void *other, const void *context)
{
    const struct due *a = item, *b = other;
    (void)context;
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->sequence < b->sequence;
}

static const struct heap_kind by_time = {sizeof(struct due), 4, due_before};

static void sift_up(struct heap *heap, size_t i)
{
    heap_sift_up(&by_time, NULL, heap->items, i);
}

int heap_push_ordered(struct heap *heap, struct future *future, uint64_t order)
{
    if (heap->length == heap->capacity) {
        size_t capacity = heap->capacity == 0 ? 256 : 2 * heap->capacity;
        struct due *items = realloc(heap->items, capacity * sizeof *items);
        if (items == NULL) {
            heap_return(heap, future);
            return -1;
        }
        heap->items = items;
        heap->capacity = capacity;
    }
    heap->items[heap->length] = (struct due){future->at_ns, order, future};
    sift_up(heap, heap->length++);
    return 0;
}

int heap_push(struct heap *heap, struct future *future)
{
    return heap_push_ordered(heap, future, heap->sequence++);
}

struct future *heap_pop(struct heap *heap)
{
    if (heap->length == 0)
        return NULL;
    struct future *future = heap->items[0].future;
    heap->items[0] = heap->items[--heap->length];
    if (heap->length > 0)
        heap_sift_down(&by_time, NULL, heap->items, heap->length, 0);
    return future;
}

static bool is_of_computing(const struct future *future)
{
    return !future->wake && future->fault == NULL &&
           (future->type == EVENT_MARK || future->type == EVENT_SLICE || future->type == EVENT_ITERATIONS_FAILED ||
            future->type == EVENT_FINISHED || future->type == EVENT_PROBED || future->type == EVENT_BOUNDARY_READY);
}

void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor)
{
    for (size_t i = 0; i < heap->length; i++) {
        struct due *due = &heap->items[i];
        if (due->future->rank == rank && is_of_computing(due->future))
            due->at_ns = due->future->at_ns = now_ns + (uint64_t)((double)(due->at_ns - now_ns) * factor);
        sift_up(heap, i);
    }
}

void heap_fini(struct heap *heap)
{
    for (size_t i = 0; i < heap->block_count; i++) {
        for (unsigned k = 0; k < HEAP_BLOCK; k++)
            event_heap_release(&heap->blocks[i][k]);
        free(heap->blocks[i]);
    }
    free(heap->blocks);
    free(heap->items);
    *heap = (struct heap){0};
}
