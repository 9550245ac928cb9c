/* SPDX-License-Identifier: MIT */
/* Reading parts, in the order of the iterations: see parts.h.
 *
 * The heads of all entries are read first. Nearly always no two entries have an iteration in common, and each is read
 * once, when its turn comes. Where some overlap, those of the latest run come first, of a writer its latest, and of the
 * others what is left. */
#include "common/results/parts.h"

#include "common/os/files.h"
#include "common/util/digest.h"
#include "common/util/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Part files that are open at once. */
#define OPEN_MAX_FILES 64

struct entry {
    struct part_head head;
    uint32_t file;
    uint64_t at; /* place of the block in the file */
};

/* Iterations of an entry that count. */
struct piece {
    const struct entry *entry;
    uint64_t first, count;
};

struct sweep {
    const struct hdss_loop *loop;
    char folder[PATH_MAX];
    struct part_file *files; /* owned */
    size_t file_count;
    int fd[OPEN_MAX_FILES]; /* [file modulo OPEN_MAX_FILES], -1: none */
    uint32_t fd_of[OPEN_MAX_FILES];
    struct entry *entries; /* owned */
    size_t count, capacity;
    struct piece *pieces; /* pieces of the group that is looked at; owned */
    size_t piece_count, piece_capacity;
    unsigned char *bytes; /* bytes of the block that was read last; owned */
    uint64_t room;
    const struct entry *loaded; /* entry of the block in `bytes` */
    struct block block;
    parts_taker *take;
    void *context;
};

static int parts_sweep_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the parts of the output");
}

static int open_file(struct sweep *sweep, uint32_t file)
{
    char path[PATH_MAX + PART_NAME_MAX + 1];
    unsigned slot = file % OPEN_MAX_FILES;
    if (sweep->fd[slot] >= 0 && sweep->fd_of[slot] == file)
        return sweep->fd[slot];
    if (sweep->fd[slot] >= 0)
        close(sweep->fd[slot]);
    snprintf(path, sizeof path, "%s/%s", sweep->folder, sweep->files[file].name);
    sweep->fd[slot] = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    sweep->fd_of[slot] = file;
    return sweep->fd[slot];
}

static int refuse_read(const struct sweep *sweep, uint32_t file, struct error *error)
{
    return error_set(error, "%.200s/%s: cannot read: %s", sweep->folder, sweep->files[file].name, strerror(errno));
}

/* --- the heads --- */

static int add_entry(struct sweep *sweep, const struct entry *entry)
{
    struct entry *grown = grow(sweep->entries, sweep->count, &sweep->capacity, sizeof *grown);
    if (grown == NULL)
        return -1;
    sweep->entries = grown;
    sweep->entries[sweep->count++] = *entry;
    return 0;
}

/* Reads the heads of entries up to the first that is torn. Entries beyond the loop are left out. */
static int read_heads(struct sweep *sweep, uint32_t file, struct error *error)
{
    unsigned char head[PART_HEAD_BYTES];
    struct entry entry = {.file = file};
    struct stat status;
    int fd = open_file(sweep, file);
    if (fd < 0 || fstat(fd, &status) < 0)
        return refuse_read(sweep, file, error);
    uint64_t size = (uint64_t)status.st_size, iterations = sweep->loop->iterations;
    for (uint64_t at = 0; size - at > PART_HEAD_BYTES; at = entry.at + entry.head.bytes) {
        int result = file_read_at(fd, head, sizeof head, at);
        entry.at = at + PART_HEAD_BYTES;
        if (result < 0)
            return refuse_read(sweep, file, error);
        if (result > 0 || !part_head_get(&entry.head, head) || entry.head.bytes > size - entry.at)
            break;
        if (entry.head.first + entry.head.count <= iterations && add_entry(sweep, &entry) < 0)
            return parts_sweep_no_memory(error);
    }
    return 0;
}

static int parts_sweep_by_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->head.first > y->head.first) - (x->head.first < y->head.first);
}

static int read_all_heads(struct sweep *sweep, struct error *error)
{
    if (parts_list(sweep->folder, &sweep->files, &sweep->file_count) < 0)
        return errno == ENOENT ? 0 : error_set(error, "%.200s: cannot read: %s", sweep->folder, strerror(errno));
    for (uint32_t file = 0; file < sweep->file_count; file++)
        if (read_heads(sweep, file, error) < 0)
            return -1;
    if (sweep->count > 0)
        qsort(sweep->entries, sweep->count, sizeof *sweep->entries, parts_sweep_by_first);
    return 0;
}

/* --- blocks --- */

/* Loads the entry's block. 1, 0 where it is not what its head says, -1 with one line. */
static int parts_sweep_load(struct sweep *sweep, const struct entry *entry, struct error *error)
{
    if (sweep->loaded == entry)
        return 1;
    sweep->loaded = NULL;
    if (sweep->room < entry->head.bytes) {
        free(sweep->bytes);
        sweep->bytes = malloc(entry->head.bytes);
        sweep->room = sweep->bytes != NULL ? entry->head.bytes : 0;
        if (sweep->bytes == NULL)
            return parts_sweep_no_memory(error);
    }
    int fd = open_file(sweep, entry->file);
    int result = fd < 0 ? -1 : file_read_at(fd, sweep->bytes, entry->head.bytes, entry->at);
    if (result < 0)
        return refuse_read(sweep, entry->file, error);
    if (result > 0 || digest_record(entry->head.first, sweep->bytes, entry->head.bytes) != entry->head.sum ||
        !block_read(&sweep->block, sweep->bytes, entry->head.bytes, sweep->loop->streams) ||
        sweep->block.count != entry->head.count)
        return 0;
    sweep->loaded = entry;
    return 1;
}

static int parts_sweep_hand_over(struct sweep *sweep, const struct piece *piece, struct error *error)
{
    int good = parts_sweep_load(sweep, piece->entry, error);
    if (good <= 0)
        return good;
    return sweep->take(sweep->context, piece->first, &sweep->block, (uint32_t)(piece->first - piece->entry->head.first),
                       (uint32_t)piece->count, error);
}

/* --- entries that overlap --- */

static int add_piece(struct sweep *sweep, const struct piece *piece)
{
    struct piece *grown = grow(sweep->pieces, sweep->piece_count, &sweep->piece_capacity, sizeof *grown);
    if (grown == NULL)
        return -1;
    sweep->pieces = grown;
    sweep->pieces[sweep->piece_count++] = *piece;
    return 0;
}

/* The first range of the set that ends behind `iteration`; its length where there is none. */
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

/* Notes the iterations of the entry that no other has covered yet. */
static int add_uncovered(struct sweep *sweep, const struct entry *entry, struct ranges *covered)
{
    const uint64_t end = entry->head.first + entry->head.count;
    uint64_t at = entry->head.first;
    for (size_t i = range_behind(covered, at); at < end; i++) {
        const struct range *next = i < ranges_length(covered) ? ranges_at(covered, i) : NULL;
        uint64_t gap_end = next != NULL && next->first < end ? next->first : end;
        if (gap_end > at && add_piece(sweep, &(struct piece){entry, at, gap_end - at}) < 0)
            return -1;
        at = next != NULL && next->first < end ? next->first + next->count : end;
    }
    return ranges_add(covered, entry->head.first, entry->head.count, NULL);
}

static int by_run(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->head.run != y->head.run)
        return x->head.run < y->head.run ? 1 : -1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->at < y->at) - (x->at > y->at);
}

static int by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Finds which iterations of a group of entries come from which of them. */
static int cut_group(struct sweep *sweep, struct entry *group, size_t count, struct error *error)
{
    struct ranges covered;
    int good = 1;
    ranges_init(&covered);
    sweep->piece_count = 0;
    qsort(group, count, sizeof *group, by_run);
    sweep->loaded = NULL; /* entries have moved */
    for (size_t i = 0; good >= 0 && i < count; i++) {
        const struct range range = {group[i].head.first, group[i].head.count};
        if (ranges_covers(&covered, range.first, range.count))
            continue;
        good = parts_sweep_load(sweep, &group[i], error);
        if (good > 0 && add_uncovered(sweep, &group[i], &covered) < 0)
            good = parts_sweep_no_memory(error);
    }
    ranges_fini(&covered);
    if (sweep->piece_count > 0)
        qsort(sweep->pieces, sweep->piece_count, sizeof *sweep->pieces, by_place);
    return good < 0 ? -1 : 0;
}

/* Returns the number of entries that overlap, be it by way of others, from the i-th on. */
static size_t group_size(const struct sweep *sweep, size_t i)
{
    uint64_t end = 0;
    size_t next = i;
    do {
        uint64_t own_end = sweep->entries[next].head.first + sweep->entries[next].head.count;
        end = own_end > end ? own_end : end;
        next++;
    } while (next < sweep->count && sweep->entries[next].head.first < end);
    return next - i;
}

static int sweep_group(struct sweep *sweep, size_t i, size_t count, struct error *error)
{
    struct entry *group = &sweep->entries[i];
    if (count == 1)
        return parts_sweep_hand_over(sweep, &(struct piece){group, group->head.first, group->head.count}, error);
    int result = cut_group(sweep, group, count, error);
    for (size_t k = 0; result == 0 && k < sweep->piece_count; k++)
        result = parts_sweep_hand_over(sweep, &sweep->pieces[k], error);
    return result;
}

static void parts_sweep_begin(struct sweep *sweep, const char *path)
{
    snprintf(sweep->folder, sizeof sweep->folder, "%s.parts", path);
    for (unsigned i = 0; i < OPEN_MAX_FILES; i++)
        sweep->fd[i] = -1;
}

static void parts_sweep_end(struct sweep *sweep)
{
    for (unsigned i = 0; i < OPEN_MAX_FILES; i++)
        if (sweep->fd[i] >= 0)
            close(sweep->fd[i]);
    free(sweep->files);
    free(sweep->entries);
    free(sweep->pieces);
    free(sweep->bytes);
}

int parts_sweep(const char *path, const struct hdss_loop *loop, parts_taker *take, void *context, struct error *error)
{
    struct sweep sweep = {.loop = loop, .take = take, .context = context};
    parts_sweep_begin(&sweep, path);
    int result = read_all_heads(&sweep, error);
    for (size_t i = 0, size; result == 0 && i < sweep.count; i += size) {
        size = group_size(&sweep, i);
        result = sweep_group(&sweep, i, size, error);
    }
    parts_sweep_end(&sweep);
    return result;
}

/* --- what there is --- */

static bool covers_all(const struct ranges *there, const struct ranges *wanted)
{
    for (size_t i = 0; i < ranges_length(wanted); i++)
        if (!ranges_covers(there, ranges_at(wanted, i)->first, ranges_at(wanted, i)->count))
            return false;
    return true;
}

int parts_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error)
{
    struct sweep sweep = {.loop = loop};
    struct ranges there;
    if (!parts_begun(path))
        return RESULTS_ABSENT;
    ranges_init(&there);
    parts_sweep_begin(&sweep, path);
    int result = read_all_heads(&sweep, error);
    for (size_t i = 0; result == 0 && i < sweep.count; i++)
        if (ranges_add(&there, sweep.entries[i].head.first, sweep.entries[i].head.count, NULL) < 0)
            result = parts_sweep_no_memory(error);
    if (result == 0)
        result = covers_all(&there, done) ? RESULTS_COMPLETE : RESULTS_LACKS;
    ranges_fini(&there);
    parts_sweep_end(&sweep);
    return result;
}
