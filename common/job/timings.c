/* SPDX-License-Identifier: MIT */
/* Recorded costs: see timings.h. */
#include "common/job/timings.h"

#include "common/util/text.h"
#include "common/os/files.h"
#include "common/util/grow.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 1100

void timings_add(struct timings *timings, uint64_t first, uint64_t count, double us)
{
    struct timing *items = grow(timings->items, timings->length, &timings->capacity, sizeof *items);
    if (items == NULL)
        return;
    timings->items = items;
    timings->items[timings->length++] = (struct timing){first, count, us, 0};
}

void timings_fini(struct timings *timings)
{
    free(timings->items);
    *timings = (struct timings){0};
}

static int timings_write_file(const struct timings *timings, const char *path, bool is_of_all, struct error *error)
{
    struct text text;
    text_init(&text);
    if (is_of_all)
        text_add(&text, "# first count us worker\n");
    for (size_t i = 0; i < timings->length; i++) {
        const struct timing *timing = &timings->items[i];
        text_add(&text, "%" PRIu64 " %" PRIu64 " %.9g", timing->first, timing->count, timing->us);
        if (is_of_all)
            text_add(&text, " %u", timing->worker);
        text_add(&text, "\n");
    }
    char *all = text_take(&text);
    int result =
        all == NULL ? error_set(error, "%.300s: out of memory", path) : file_write(path, all, strlen(all), error);
    free(all);
    return result;
}

static void name_part(char name[PATH_SIZE], const char *path, unsigned rank)
{
    snprintf(name, PATH_SIZE, "%s.%u.part", path, rank);
}

int timings_write_part(const struct timings *timings, const char *path, unsigned rank, struct error *error)
{
    char name[PATH_SIZE];
    name_part(name, path, rank);
    return timings_write_file(timings, name, false, error);
}

bool timings_has_part(const char *path, unsigned rank)
{
    char name[PATH_SIZE];
    name_part(name, path, rank);
    return access(name, F_OK) == 0;
}

static int timings_by_first(const void *a, const void *b)
{
    const struct timing *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void read_part(struct timings *timings, const char *name, unsigned rank)
{
    const size_t before = timings->length;
    struct error error;
    char *text = file_read(name, &error);
    struct timing timing;
    int used;
    for (const char *at = text; at != NULL && sscanf(at, "%" SCNu64 " %" SCNu64 " %lf\n%n", &timing.first,
                                                     &timing.count, &timing.us, &used) == 3;
         at += used)
        timings_add(timings, timing.first, timing.count, timing.us);
    for (size_t i = before; i < timings->length; i++)
        timings->items[i].worker = rank;
    free(text);
}

static void tidy_up(struct timings *timings)
{
    size_t kept = 0;
    uint64_t end = 0;
    if (timings->length > 0)
        qsort(timings->items, timings->length, sizeof *timings->items, timings_by_first);
    for (size_t i = 0; i < timings->length; i++) {
        struct timing timing = timings->items[i];
        uint64_t over = timing.first < end ? end - timing.first : 0;
        if (over >= timing.count)
            continue;
        timing.first += over;
        timing.count -= over;
        end = timing.first + timing.count;
        timings->items[kept++] = timing;
    }
    timings->length = kept;
}

int timings_join(const char *path, const unsigned *ranks, unsigned count, struct error *error)
{
    struct timings all = {0};
    char name[PATH_SIZE];
    for (unsigned i = 0; i < count; i++) {
        name_part(name, path, ranks[i]);
        read_part(&all, name, ranks[i]);
    }
    tidy_up(&all);
    int result = timings_write_file(&all, path, true, error);
    timings_fini(&all);
    for (unsigned i = 0; i < count && result == 0; i++) {
        name_part(name, path, ranks[i]);
        unlink(name);
    }
    return result;
}
