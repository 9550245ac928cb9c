/* SPDX-License-Identifier: MIT */
/* Which worker computes the chunk next to each boundary: see boundary_list.h. */
#include "common/service/boundary_list.h"

#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>

void boundary_list_fini(struct boundary_list *boundaries)
{
    free(boundaries->list);
    *boundaries = (struct boundary_list){0};
}

int boundary_list_add(struct boundary_list *boundaries, uint64_t first, unsigned who)
{
    struct boundary_side *list = grow(boundaries->list, boundaries->count, &boundaries->capacity, sizeof *list);
    if (list == NULL)
        return -1;
    boundaries->list = list;
    boundaries->list[boundaries->count++] = (struct boundary_side){first, who};
    return 0;
}

static size_t boundary_list_find(const struct boundary_list *boundaries, uint64_t first)
{
    for (size_t i = boundaries->count; i-- > 0;)
        if (boundaries->list[i].first == first)
            return i;
    return boundaries->count;
}

bool boundary_list_has(const struct boundary_list *boundaries, uint64_t first)
{
    return boundary_list_find(boundaries, first) < boundaries->count;
}

bool boundary_list_take(struct boundary_list *boundaries, uint64_t first, unsigned *who)
{
    size_t i = boundary_list_find(boundaries, first);
    if (i == boundaries->count)
        return false;
    *who = boundaries->list[i].who;
    for (boundaries->count--; i < boundaries->count; i++)
        boundaries->list[i] = boundaries->list[i + 1];
    return true;
}

bool boundary_list_move_last(struct boundary_list *boundaries, uint64_t from, uint64_t first, unsigned who)
{
    struct boundary_side *last = boundaries->count > 0 ? &boundaries->list[boundaries->count - 1] : NULL;
    if (last == NULL || last->first != from || last->who != who)
        return false;
    last->first = first;
    return true;
}

void boundary_list_check(const struct boundary_list *boundaries)
{
    assert(boundaries->count <= boundaries->capacity && "seams have room");
    for (size_t i = 0; i < boundaries->count; i++)
        for (size_t k = 0; k < i; k++)
            assert(boundaries->list[i].first != boundaries->list[k].first && "a seam is in the list once");
}
