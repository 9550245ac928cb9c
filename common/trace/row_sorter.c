/* SPDX-License-Identifier: MIT */
/* See row_sorter.h. */
#include "common/trace/row_sorter.h"

#include "common/os/files.h"
#include "common/util/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of a run, 8 MB: all the memory that sorting takes. Of 10^8 rows there are some 1,500 runs, which are read some
 * 40 rows at a time. */
#define RUN_ROWS ((size_t)65536)

struct row_sorter {
    int file;
    struct sorted_row *run; /* [RUN_ROWS], run_count of them taken; owned */
    size_t run_count;
    uint64_t count;       /* of all rows */
    struct error problem; /* the first; empty where there was none */
};

struct row_sorter *row_sorter_new(const char *name, struct error *error)
{
    struct row_sorter *sorter = calloc(1, sizeof *sorter);
    if (sorter != NULL)
        *sorter = (struct row_sorter){.file = -1, .run = malloc(RUN_ROWS * sizeof *sorter->run)};
    if (sorter == NULL || sorter->run == NULL) {
        row_sorter_free(sorter);
        error_set(error, "out of memory for a trace");
        return NULL;
    }
    sorter->file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (sorter->file < 0) {
        error_set(error, "%.300s: %.100s", name, strerror(errno));
        row_sorter_free(sorter);
        return NULL;
    }
    unlink(name);
    return sorter;
}

void row_sorter_free(struct row_sorter *sorter)
{
    if (sorter == NULL)
        return;
    if (sorter->file >= 0)
        close(sorter->file);
    free(sorter->run);
    free(sorter);
}

/* --- runs --- */

static int compare_sorted(const void *a, const void *b)
{
    const struct sorted_row *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void write_sorted_run(struct row_sorter *sorter)
{
    const uint64_t first = sorter->count - sorter->run_count;
    if (sorter->run_count > 0 && sorter->problem.text[0] == '\0') {
        qsort(sorter->run, sorter->run_count, sizeof *sorter->run, compare_sorted);
        if (file_write_at(sorter->file, sorter->run, sorter->run_count * sizeof *sorter->run,
                          first * sizeof *sorter->run) < 0)
            error_set(&sorter->problem, "the rows of a trace cannot be written to be sorted: %.100s", strerror(errno));
    }
    sorter->run_count = 0;
}

void row_sorter_add(struct row_sorter *sorter, const struct sorted_row *row)
{
    sorter->run[sorter->run_count] = *row;
    sorter->run[sorter->run_count++].number = sorter->count++;
    if (sorter->run_count == RUN_ROWS)
        write_sorted_run(sorter);
}

/* --- merging --- */

/* The rest of a run that is not given yet: at least one row. Some rows of it at a time are in memory. */
struct run_rest {
    const struct sorted_row *next, *end; /* in memory */
    struct sorted_row *room;             /* part of the sorter's run, which is not needed any more */
    uint64_t in_file, file_end;          /* rows behind these */
};

static bool run_before(const void *item, const void *other, const void *context)
{
    const struct run_rest *x = item, *y = other;
    (void)context;
    return compare_sorted(x->next, y->next) < 0;
}

static const struct heap_kind run_heap = {sizeof(struct run_rest), 2, run_before};

/* Reads the next rows of a run, as many as there is room for. False at its end, or when the file cannot be read. */
static bool read_rows(struct row_sorter *sorter, struct run_rest *rest, size_t room)
{
    const uint64_t left = rest->file_end - rest->in_file;
    const size_t count = left < room ? (size_t)left : room;
    if (count == 0)
        return false;
    if (file_read_at(sorter->file, rest->room, count * sizeof *rest->room, rest->in_file * sizeof *rest->room) != 0) {
        error_set(&sorter->problem, "the rows of a trace cannot be read: %.100s", strerror(errno));
        return false;
    }
    rest->next = rest->room;
    rest->end = rest->room + count;
    rest->in_file += count;
    return true;
}

/* The runs share the memory in which each of them was sorted. */
static void merge_runs(struct row_sorter *sorter, struct run_rest *rests, size_t run_count, sorted_row_taker *take,
                       void *context)
{
    const size_t room = RUN_ROWS / run_count;
    size_t rest_count = 0;
    for (size_t i = 0; i < run_count; i++) {
        const uint64_t first = i * RUN_ROWS, end = sorter->count - first > RUN_ROWS ? first + RUN_ROWS : sorter->count;
        rests[rest_count] = (struct run_rest){.room = sorter->run + i * room, .in_file = first, .file_end = end};
        if (read_rows(sorter, &rests[rest_count], room))
            heap_sift_up(&run_heap, NULL, rests, rest_count++);
    }
    while (rest_count > 0 && sorter->problem.text[0] == '\0') {
        take(context, rests[0].next++);
        if (rests[0].next == rests[0].end && !read_rows(sorter, &rests[0], room))
            rests[0] = rests[--rest_count];
        if (rest_count > 0)
            heap_sift_down(&run_heap, NULL, rests, rest_count, 0);
    }
}

int row_sorter_give(struct row_sorter *sorter, sorted_row_taker *take, void *context, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    const uint64_t run_count = (sorter->count + RUN_ROWS - 1) / RUN_ROWS;
    write_sorted_run(sorter);
    if (sorter->problem.text[0] == '\0' && run_count > 0) {
        struct run_rest *rests = run_count <= RUN_ROWS ? malloc((size_t)run_count * sizeof *rests) : NULL;
        if (rests != NULL)
            merge_runs(sorter, rests, (size_t)run_count, take, context);
        else
            error_set(&sorter->problem, "out of memory for the rows of a trace");
        free(rests);
    }
    *error = sorter->problem;
    return error->text[0] == '\0' ? 0 : -1;
}
