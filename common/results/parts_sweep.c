/* SPDX-License-Identifier: MIT */
/* Reads parts in the order of iterations: see parts.h.
 *
 * All heads are read first. Entries rarely overlap; then each block is read once, in order. If entries overlap, an
 * entry of a later run has priority. Among the entries of one file, a later entry has priority. */
#include "common/results/parts.h"

#include "common/results/parts_read.h"
#include "common/util/grow.h"
#include "common/util/heap.h"

#include <stdlib.h>

/* The structure is small, because there may be an entry for each of millions of tasks. The other fields of a head are
 * read again when the block is read. */
struct entry {
    uint64_t first, at;
    uint32_t count, file, run;
};

struct piece {
    const struct entry *entry;
    uint64_t first, count;
};

struct sweep {
    const struct hdss_loop *loop;
    const struct ranges *among;
    struct ranges *there; /* if not NULL, the iterations are added to it, and no entries are stored */
    struct parts_reader reader;
    struct entry *entries;
    size_t count, capacity;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    bool by_heads;
    parts_taker *take;
    void *context;
};

static int parts_sweep_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the parts of the output");
}

static int add_entry(struct sweep *sweep, const struct entry *entry)
{
    struct entry *grown = grow(sweep->entries, sweep->count, &sweep->capacity, sizeof *grown);
    if (grown == NULL)
        return -1;
    sweep->entries = grown;
    sweep->entries[sweep->count++] = *entry;
    return 0;
}

static int note_head(struct sweep *sweep, const struct part_head *head, uint64_t at, uint32_t file)
{
    const struct entry entry = {head->first, at, (uint32_t)head->count, file, head->run};
    return sweep->there != NULL ? ranges_add(sweep->there, head->first, head->count, NULL) : add_entry(sweep, &entry);
}

static int read_heads(struct sweep *sweep, uint32_t file, struct error *error)
{
    struct part_head head;
    uint64_t size, at = 0;
    int whole = parts_reader_size(&sweep->reader, file, &size, error) < 0 ? -1 : 1;
    while (whole > 0) {
        whole = parts_reader_head(&sweep->reader, file, at, size, &head, error);
        bool counts = whole > 0 && head.first + head.count <= sweep->loop->iterations && head.count <= UINT32_MAX &&
                      (sweep->among == NULL || ranges_overlap(sweep->among, head.first, head.count));
        if (counts && note_head(sweep, &head, at, file) < 0)
            return parts_sweep_no_memory(error);
        at = part_end(at, &head);
    }
    return whole;
}

static bool is_after(const void *item, const void *other, const void *context)
{
    (void)context;
    return ((const struct entry *)item)->first > ((const struct entry *)other)->first;
}

/* Sorts in place, because qsort() would need as much memory again. */
static void sort_by_first(struct entry *entries, size_t count)
{
    static const struct heap_kind largest_first = {sizeof(struct entry), 2, is_after};
    for (size_t i = count / 2; i > 0; i--)
        heap_sift_down(&largest_first, NULL, entries, count, i - 1);
    for (size_t end = count; end > 1; end--) {
        const struct entry largest = entries[0];
        entries[0] = entries[end - 1];
        entries[end - 1] = largest;
        heap_sift_down(&largest_first, NULL, entries, end - 1, 0);
    }
}

static int read_all_heads(struct sweep *sweep, struct error *error)
{
    if (parts_reader_list(&sweep->reader, error) < 0)
        return -1;
    for (uint32_t file = 0; file < sweep->reader.file_count; file++)
        if (read_heads(sweep, file, error) < 0)
            return -1;
    sort_by_first(sweep->entries, sweep->count);
    return 0;
}

static int parts_sweep_load(struct sweep *sweep, const struct entry *entry, struct error *error)
{
    struct part_head head;
    const int whole = parts_reader_head(&sweep->reader, entry->file, entry->at, UINT64_MAX, &head, error);
    return whole > 0 ? parts_reader_load(&sweep->reader, entry->file, entry->at, &head, error) : whole;
}

static int parts_sweep_hand_over(struct sweep *sweep, const struct piece *piece, struct error *error)
{
    const int good = parts_sweep_load(sweep, piece->entry, error);
    if (good < 0 || (good == 0 && !sweep->by_heads))
        return good;
    return sweep->take(sweep->context, piece->first, good > 0 ? &sweep->reader.block : NULL,
                       (uint32_t)(piece->first - piece->entry->first), (uint32_t)piece->count, error);
}

static int add_piece(struct sweep *sweep, const struct piece *piece)
{
    struct piece *grown = grow(sweep->pieces, sweep->piece_count, &sweep->piece_capacity, sizeof *grown);
    if (grown == NULL)
        return -1;
    sweep->pieces = grown;
    sweep->pieces[sweep->piece_count++] = *piece;
    return 0;
}

static size_t range_behind(const struct ranges *set, uint64_t iteration)
{
    size_t low = 0, high = ranges_length(set);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct range *range = ranges_at(set, middle);
        if (range->first + range->count > iteration)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int add_uncovered(struct sweep *sweep, const struct entry *entry, struct ranges *covered)
{
    const uint64_t end = entry->first + entry->count;
    uint64_t at = entry->first;
    for (size_t i = range_behind(covered, at); at < end; i++) {
        const struct range *next = i < ranges_length(covered) ? ranges_at(covered, i) : NULL;
        uint64_t gap_end = next != NULL && next->first < end ? next->first : end;
        if (gap_end > at && add_piece(sweep, &(struct piece){entry, at, gap_end - at}) < 0)
            return -1;
        at = next != NULL && next->first < end ? next->first + next->count : end;
    }
    return ranges_add(covered, entry->first, entry->count, NULL);
}

static int by_run(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? 1 : -1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->at < y->at) - (x->at > y->at);
}

static int by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int cut_group(struct sweep *sweep, struct entry *group, size_t count, struct error *error)
{
    struct ranges covered;
    int good = 1;
    ranges_init(&covered);
    sweep->piece_count = 0;
    qsort(group, count, sizeof *group, by_run);
    for (size_t i = 0; good >= 0 && i < count; i++) {
        const struct range range = {group[i].first, group[i].count};
        if (ranges_covers(&covered, range.first, range.count))
            continue;
        good = parts_sweep_load(sweep, &group[i], error);
        if ((good > 0 || (good == 0 && sweep->by_heads)) && add_uncovered(sweep, &group[i], &covered) < 0)
            good = parts_sweep_no_memory(error);
    }
    ranges_fini(&covered);
    if (sweep->piece_count > 0)
        qsort(sweep->pieces, sweep->piece_count, sizeof *sweep->pieces, by_place);
    return good < 0 ? -1 : 0;
}

static size_t group_size(const struct sweep *sweep, size_t i)
{
    uint64_t end = 0;
    size_t next = i;
    do {
        uint64_t own_end = sweep->entries[next].first + sweep->entries[next].count;
        end = own_end > end ? own_end : end;
        next++;
    } while (next < sweep->count && sweep->entries[next].first < end);
    return next - i;
}

static int sweep_group(struct sweep *sweep, size_t i, size_t count, struct error *error)
{
    struct entry *group = &sweep->entries[i];
    if (count == 1)
        return parts_sweep_hand_over(sweep, &(struct piece){group, group->first, group->count}, error);
    int result = cut_group(sweep, group, count, error);
    for (size_t k = 0; result == 0 && k < sweep->piece_count; k++)
        result = parts_sweep_hand_over(sweep, &sweep->pieces[k], error);
    return result;
}

static void parts_sweep_end(struct sweep *sweep)
{
    parts_reader_fini(&sweep->reader);
    free(sweep->entries);
    free(sweep->pieces);
}

int parts_sweep(const char *path, const struct hdss_loop *loop, const struct ranges *among, bool by_heads,
                parts_taker *take, void *context, struct error *error)
{
    struct sweep sweep = {.loop = loop, .among = among, .by_heads = by_heads, .take = take, .context = context};
    parts_reader_init(&sweep.reader, path, loop->streams);
    int result = read_all_heads(&sweep, error);
    for (size_t i = 0, size; result == 0 && i < sweep.count; i += size) {
        size = group_size(&sweep, i);
        result = sweep_group(&sweep, i, size, error);
    }
    parts_sweep_end(&sweep);
    return result;
}

static bool covers_all(const struct ranges *there, const struct ranges *wanted)
{
    for (size_t i = 0; i < ranges_length(wanted); i++)
        if (!ranges_covers(there, ranges_at(wanted, i)->first, ranges_at(wanted, i)->count))
            return false;
    return true;
}

int parts_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error)
{
    struct ranges there;
    struct sweep sweep = {.loop = loop, .there = &there};
    if (!parts_begun(path))
        return RESULTS_ABSENT;
    ranges_init(&there);
    parts_reader_init(&sweep.reader, path, loop->streams);
    int result = read_all_heads(&sweep, error);
    if (result == 0)
        result = covers_all(&there, done) ? RESULTS_COMPLETE : RESULTS_LACKS;
    ranges_fini(&there);
    parts_sweep_end(&sweep);
    return result;
}
