/* SPDX-License-Identifier: MIT */
/* Techniques that say which iterations are in a chunk, and not only how many: see struct technique_places.
 *
 * Such a technique counts places: the iterations that were free when it laid out its parts, in ascending order. The
 * ranges that were free then are kept, so that a place is found again while chunks are cut. What comes back, or is done
 * by somebody else meanwhile, disturbs the technique: it lays its parts out anew, over what is free then. So no chunk
 * is placed where nothing is free. */
#include "supermaster/core.h"

#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>

void supermaster_places_fini(struct supermaster *supermaster)
{
    free(supermaster->places.list);
}

/* Keeps the free ranges of the time step at hand. -1 when memory is out. */
static int survey_places(struct supermaster *supermaster)
{
    const struct ranges *free = &supermaster->ledger.free;
    const uint64_t end = supermaster->ledger.loop.first + supermaster->steps.end;
    uint64_t place = 0;
    supermaster->places.count = 0;
    for (size_t i = 0; i < ranges_length(free) && ranges_at(free, i)->first < end; i++) {
        struct range range = *ranges_at(free, i);
        struct placed_range *list =
            grow(supermaster->places.list, supermaster->places.count, &supermaster->places.room, sizeof *list);
        if (list == NULL)
            return -1;
        if (range.count > end - range.first)
            range.count = end - range.first;
        supermaster->places.list = list;
        list[supermaster->places.count++] = (struct placed_range){place, range};
        place += range.count;
    }
    supermaster->sched.is_laid_out = false;
    return 0;
}

/* Returns the iterations from the place on that lie together, `want` of them at most. */
static struct range find_place(const struct supermaster *supermaster, uint64_t place, uint64_t want)
{
    const struct placed_range *list = supermaster->places.list;
    size_t low = 0, high = supermaster->places.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].place <= place)
            low = middle;
        else
            high = middle;
    }
    assert(low < high && place - list[low].place < list[low].range.count && "a place is one of those that were free");
    const uint64_t offset = place - list[low].place, left = list[low].range.count - offset;
    return (struct range){list[low].range.first + offset, want < left ? want : left};
}

bool supermaster_cut_placed(struct supermaster *supermaster, unsigned holder, unsigned w, uint64_t want,
                            struct range *range)
{
    struct sched *sched = &supermaster->sched;
    int granted = 0;
    if (want == 0)
        return false;
    if (sched->is_laid_out && survey_places(supermaster) < 0) {
        granted = -1;
    } else {
        *range = find_place(supermaster, sched->place, want);
        granted = ledger_claim(&supermaster->ledger, holder, range->first, range->count);
        assert(granted != 0 && "what the technique places is free");
    }
    if (granted < 0)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
    sched_shorten(sched, supermaster->seat[w], granted > 0 ? want - range->count : want);
    return granted > 0;
}
