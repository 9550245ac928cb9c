/* SPDX-License-Identifier: MIT */
/* Who computes the chunk behind which: see neighbours.h. */
#include "common/service/neighbours.h"

#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>

void seams_fini(struct seams *seams)
{
    free(seams->list);
    *seams = (struct seams){0};
}

int seams_add(struct seams *seams, uint64_t first, unsigned who)
{
    struct half_seam *list = grow(seams->list, seams->count, &seams->capacity, sizeof *list);
    if (list == NULL)
        return -1;
    seams->list = list;
    seams->list[seams->count++] = (struct half_seam){first, who};
    return 0;
}

/* Place of the seam in the list; `count` where it is not there. What is wanted was mostly added lately. */
static size_t find(const struct seams *seams, uint64_t first)
{
    for (size_t i = seams->count; i-- > 0;)
        if (seams->list[i].first == first)
            return i;
    return seams->count;
}

bool seams_have(const struct seams *seams, uint64_t first)
{
    return find(seams, first) < seams->count;
}

bool seams_take(struct seams *seams, uint64_t first, unsigned *who)
{
    size_t i = find(seams, first);
    if (i == seams->count)
        return false;
    *who = seams->list[i].who;
    for (seams->count--; i < seams->count; i++)
        seams->list[i] = seams->list[i + 1];
    return true;
}

bool seams_move_last(struct seams *seams, uint64_t from, uint64_t first, unsigned who)
{
    struct half_seam *last = seams->count > 0 ? &seams->list[seams->count - 1] : NULL;
    if (last == NULL || last->first != from || last->who != who)
        return false;
    last->first = first;
    return true;
}

void seams_check(const struct seams *seams)
{
    assert(seams->count <= seams->capacity && "seams have room");
    for (size_t i = 0; i < seams->count; i++)
        for (size_t k = 0; k < i; k++)
            assert(seams->list[i].first != seams->list[k].first && "a seam is in the list once");
}
