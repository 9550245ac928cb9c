/* SPDX-License-Identifier: MIT */
/* Lanes carry messages and data in a launch without MPI. One process has forked all ranks on this machine
 * (deploy/fork), and they share unnamed memory. Each rank has two lanes to each other rank: one for messages, one for
 * data. An unused lane costs only address space. A doorbell wakes a waiting rank, as with MPI.
 *
 * A lane is a ring buffer with one writer and one reader. If a process is killed at any instant, its lanes hold only
 * complete messages and data.
 *
 * A lane for data has two counts: of the bytes ever put in, which only the writer changes, and of the bytes ever taken
 * out, which only the reader changes. A count is advanced after the bytes are copied. Invariant: taken <= put <= taken
 * + room.
 *
 * A lane for messages is made of cells. A cell is a cache line, and a message fills one or more cells. The cost of a
 * message is the number of cache lines that move between cores; for a short message this is one. The size of a message
 * is the first word of its first cell and is written last. The reader looks at the cell after the last message that it
 * took. It sets the first word of each cell of a message to 0 before it counts the cells as taken. The writer reads the
 * count of taken cells only if the lane seems full.
 *
 * Each receiver has a bit for each sender. If the bit is set, the receiver looks at the lane from that sender. A sender
 * puts a message into the lane, and then sets its bit at the receiver if the bit is not set. If the receiver looks at
 * many lanes without messages, it clears the bits of some. After it has cleared a bit, it looks at that lane once more.
 * If a sender is killed before it has set its bit, the receiver does not find the last message by itself: see
 * lanes_look_at().
 *
 * If a rank was lost, the first rank may let the launcher start another process with the same number (SLOT_FREE). All
 * counts of the new process begin at 0. Only the lanes between the first rank and the new process are emptied. So the
 * new process exchanges messages with the first rank alone, and looks at no other lane. The bits need not be cleared: a
 * set bit does no harm if the lane is empty. */
#include "common/mpi/lanes.h"

#include "common/os/launched.h"
#include "proto/message.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sizes of the two kinds of lanes, in bytes: powers of two, and as small as the largest message allows, so that lanes
 * stay in the caches. */
#define MESSAGES_ROOM ((size_t)32 << 10)
#define DATA_ROOM     ((size_t)256 << 10)
#define SHARED_ROOM   ((size_t)4 << 20)
#define SIZE_BYTES    sizeof(uint32_t)
#define CELL_BYTES    ((size_t)64)
#define LANE_CELLS    (MESSAGES_ROOM / CELL_BYTES)
/* If a rank looks at more than this many lanes without messages, it stops looking at some of them. */
#define QUIET_LANES_MAX 32

struct lane {
    _Alignas(64) _Atomic uint64_t put;
    _Alignas(64) _Atomic uint64_t taken;
    _Alignas(64) unsigned char bytes[];
};

struct messages_lane {
    _Alignas(64) _Atomic uint64_t taken;
    _Alignas(64) unsigned char bytes[MESSAGES_ROOM];
};

struct ends {
    uint64_t put, known_taken;
    uint64_t taken;
    bool is_broken; /* the other rank has written an impossible size, so no more messages are taken from this lane */
};

#define WORD_BITS 64
#define WORDS     (LANES_RANKS_MAX / WORD_BITS)

struct board {
    uint32_t ranks;
    _Atomic uint32_t has_met;
    _Atomic uint32_t aborted; /* exit status + 1; 0: no rank has aborted the launch */
    _Atomic uint32_t passed[LANES_RANKS_MAX];
    _Atomic uint32_t slot[LANES_RANKS_MAX];
    struct {
        _Alignas(64) _Atomic uint64_t from[WORDS];
    } told[LANES_RANKS_MAX];
};

struct lanes {
    unsigned rank, ranks;
    unsigned words;
    struct board *board;
    struct ends *ends; /* [ranks] owned; NULL in the launcher */
    /* set of bits: the ranks from which this rank takes messages. These are all others; if this process replaces a lost
     * rank, only the first rank. */
    uint64_t others[WORDS];
    uint64_t heard[WORDS];
    size_t cells; /* number of cells of the message that was taken last; 0: these cells were given back to the sender */
    unsigned turn;
    size_t shared;
    bool has_returned;
    unsigned char message[MESSAGE_MAX];
};

#define PAIR_BYTES  (sizeof(struct messages_lane) + sizeof(struct lane) + DATA_ROOM)
#define BOARD_BYTES ((sizeof(struct board) + 63) / 64 * 64)

static size_t memory_bytes(unsigned ranks)
{
    return BOARD_BYTES + SHARED_ROOM + (size_t)ranks * ranks * PAIR_BYTES;
}

static unsigned char *pair_of(const struct lanes *lanes, unsigned from, unsigned to)
{
    assert(from != to && from < lanes->ranks && to < lanes->ranks);
    return (unsigned char *)lanes->board + BOARD_BYTES + SHARED_ROOM + ((size_t)to * lanes->ranks + from) * PAIR_BYTES;
}

static struct messages_lane *messages_lane(const struct lanes *lanes, unsigned from, unsigned to)
{
    return (struct messages_lane *)(void *)pair_of(lanes, from, to);
}

static struct lane *data_lane(const struct lanes *lanes, unsigned from, unsigned to)
{
    return (struct lane *)(void *)(pair_of(lanes, from, to) + sizeof(struct messages_lane));
}

static void copy_in(unsigned char *ring, size_t room, uint64_t offset, const void *bytes, size_t size)
{
    const size_t at = (size_t)offset & (room - 1), first = size < room - at ? size : room - at;
    memcpy(ring + at, bytes, first);
    if (first < size)
        memcpy(ring, (const unsigned char *)bytes + first, size - first);
}

static void copy_out(const unsigned char *ring, size_t room, uint64_t offset, void *bytes, size_t size)
{
    const size_t at = (size_t)offset & (room - 1), first = size < room - at ? size : room - at;
    memcpy(bytes, ring + at, first);
    if (first < size)
        memcpy((unsigned char *)bytes + first, ring, size - first);
}

static struct lanes *map_lanes(int memory, unsigned rank, unsigned ranks)
{
    struct lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes == NULL)
        return NULL;
    lanes->rank = rank;
    lanes->ranks = ranks;
    lanes->words = (ranks + WORD_BITS - 1) / WORD_BITS;
    for (unsigned i = 0; i < ranks; i++)
        if (i != rank)
            lanes->others[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
    if (rank < ranks && (lanes->ends = calloc(ranks, sizeof *lanes->ends)) == NULL) {
        free(lanes);
        return NULL;
    }
    lanes->board = mmap(NULL, memory_bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (lanes->board == MAP_FAILED) {
        free(lanes->ends);
        free(lanes);
        return NULL;
    }
    madvise(lanes->board, memory_bytes(ranks), MADV_DONTDUMP); /* Keeps the messages out of core files. */
    return lanes;
}

#define OTHER_ADDRESSES ((size_t)256 << 20)

const char *lanes_limit(unsigned ranks)
{
    struct rlimit limit;
    /* The system counts the shared memory as a file, so the limit of file sizes applies to it. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < memory_bytes(ranks))
        return "ulimit -f";
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < memory_bytes(ranks) + OTHER_ADDRESSES)
        return "ulimit -v";
    return NULL;
}

int lanes_make(struct lanes **lanes, unsigned ranks, struct error *error)
{
    assert(ranks >= 1 && ranks <= LANES_RANKS_MAX);
    const int memory = memfd_create("hdss-lanes", 0);
    *lanes = NULL;
    if (memory >= 0 && ftruncate(memory, (off_t)memory_bytes(ranks)) == 0)
        *lanes = map_lanes(memory, ranks, ranks);
    if (*lanes != NULL) {
        (*lanes)->board->ranks = ranks;
        return memory;
    }
    const int why = errno;
    const char *limit = lanes_limit(ranks);
    if (limit != NULL)
        error_set(error,
                  "cannot share memory among %u ranks: %s: %s allows too little; accepted: more, fewer workers, or "
                  "--carrier mpi",
                  ranks, strerror(why), limit);
    else
        error_set(error, "cannot share memory among %u ranks: %s", ranks, strerror(why));
    if (memory >= 0)
        close(memory);
    return -1;
}

int lanes_shrink(struct lanes *lanes, int memory, unsigned ranks)
{
    assert(ranks >= 1 && ranks <= lanes->ranks);
    lanes->board->ranks = ranks;
    return ftruncate(memory, (off_t)memory_bytes(ranks));
}

void lanes_name(int memory, unsigned rank, unsigned ranks)
{
    char text[64];
    snprintf(text, sizeof text, "%d:%u:%u", memory, rank, ranks);
    setenv(LAUNCHED_WITHOUT_MPI, text, 1);
}

static bool is_memory(int memory, unsigned ranks)
{
    struct stat status;
    return fstat(memory, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           (size_t)status.st_size == memory_bytes(ranks);
}

/* If this process replaces a lost one, it looks only at the lane from the first rank, because no other lane was emptied
 * for it. */
static void note_return(struct lanes *lanes)
{
    lanes->has_returned = lanes_slot(lanes, lanes->rank) == SLOT_FILLED;
    if (lanes->has_returned) {
        memset(lanes->others, 0, sizeof lanes->others);
        lanes->others[0] = 1;
    }
}

bool lanes_enter(struct lanes **lanes, struct error *error)
{
    const char *text = getenv(LAUNCHED_WITHOUT_MPI);
    unsigned rank, ranks;
    int memory, end = 0;
    *lanes = NULL;
    if (text == NULL)
        return false;
    const bool is_named = sscanf(text, "%d:%u:%u%n", &memory, &rank, &ranks, &end) == 3 && text[end] == '\0' &&
                          ranks >= 1 && ranks <= LANES_RANKS_MAX && rank < ranks;
    if (is_named && is_memory(memory, ranks))
        *lanes = map_lanes(memory, rank, ranks);
    if (*lanes != NULL && (*lanes)->board->ranks != ranks) {
        lanes_free(*lanes);
        *lanes = NULL;
    }
    if (*lanes != NULL)
        note_return(*lanes);
    if (*lanes == NULL)
        error_set(error, "the variable " LAUNCHED_WITHOUT_MPI " does not name the memory of a launch: '%.60s'", text);
    else
        close(memory);
    /* Without this, a process that this rank starts would take itself for a rank of the launch. */
    unsetenv(LAUNCHED_WITHOUT_MPI);
    return true;
}

void lanes_free(struct lanes *lanes)
{
    if (lanes == NULL)
        return;
    munmap(lanes->board, memory_bytes(lanes->ranks));
    free(lanes->ends);
    free(lanes);
}

unsigned lanes_rank(const struct lanes *lanes)
{
    return lanes->rank;
}

unsigned lanes_ranks(const struct lanes *lanes)
{
    return lanes->ranks;
}

void lanes_note_met(struct lanes *lanes)
{
    atomic_store(&lanes->board->has_met, 1);
}

bool lanes_have_met(const struct lanes *lanes)
{
    return atomic_load(&lanes->board->has_met) != 0;
}

void lanes_abort(struct lanes *lanes, int status)
{
    /* If this process replaces a lost rank, the other ranks continue without it, as they did before it came. */
    if (!lanes->has_returned)
        atomic_store(&lanes->board->aborted, (uint32_t)status + 1);
    fflush(stderr);
    _exit(status);
}

int lanes_aborted(const struct lanes *lanes)
{
    return (int)atomic_load(&lanes->board->aborted) - 1;
}

void lanes_pass(struct lanes *lanes)
{
    atomic_fetch_add(&lanes->board->passed[lanes->rank], 1);
}

bool lanes_have_all_passed(const struct lanes *lanes)
{
    const uint32_t own = atomic_load(&lanes->board->passed[lanes->rank]);
    unsigned rank = 0;
    while (rank < lanes->ranks && atomic_load(&lanes->board->passed[rank]) >= own)
        rank++;
    return rank == lanes->ranks;
}

enum lanes_slot lanes_slot(const struct lanes *lanes, unsigned rank)
{
    return (enum lanes_slot)atomic_load(&lanes->board->slot[rank]);
}

void lanes_set_slot(struct lanes *lanes, unsigned rank, enum lanes_slot slot)
{
    atomic_store(&lanes->board->slot[rank], (uint32_t)slot);
}

void *lanes_share(struct lanes *lanes, size_t bytes)
{
    const size_t whole = (bytes + 63) / 64 * 64;
    if (whole < bytes || whole > SHARED_ROOM - lanes->shared)
        return NULL;
    unsigned char *shared = (unsigned char *)lanes->board + BOARD_BYTES + lanes->shared;
    lanes->shared += whole;
    return shared;
}

/* Returns the first word of a cell. If a message begins in the cell and is complete, the word is the size of the
 * message; before that it is 0. */
static _Atomic uint32_t *size_at(struct messages_lane *lane, uint64_t cell)
{
    return (_Atomic uint32_t *)(void *)(lane->bytes + cell % LANE_CELLS * CELL_BYTES);
}

static size_t cells_of(size_t size)
{
    return (SIZE_BYTES + size + CELL_BYTES - 1) / CELL_BYTES;
}

bool lanes_have_room(struct lanes *lanes, unsigned to, size_t size)
{
    struct ends *ends = &lanes->ends[to];
    const size_t needed = cells_of(size);
    if (ends->put - ends->known_taken + needed > LANE_CELLS)
        ends->known_taken = atomic_load_explicit(&messages_lane(lanes, lanes->rank, to)->taken, memory_order_acquire);
    return ends->put - ends->known_taken <= LANE_CELLS - needed;
}

static void set_bit(struct lanes *lanes, unsigned reader, unsigned from)
{
    _Atomic uint64_t *told = &lanes->board->told[reader].from[from / WORD_BITS];
    const uint64_t bit = UINT64_C(1) << from % WORD_BITS;
    if ((atomic_load_explicit(told, memory_order_relaxed) & bit) == 0)
        atomic_fetch_or(told, bit);
}

void lanes_send(struct lanes *lanes, unsigned to, const unsigned char *bytes, size_t size)
{
    struct messages_lane *lane = messages_lane(lanes, lanes->rank, to);
    struct ends *ends = &lanes->ends[to];
    assert(size > 0 && size <= MESSAGE_MAX && lanes_have_room(lanes, to, size));
    copy_in(lane->bytes, MESSAGES_ROOM, ends->put * CELL_BYTES + SIZE_BYTES, bytes, size);
    atomic_store_explicit(size_at(lane, ends->put), (uint32_t)size, memory_order_release);
    ends->put += cells_of(size);
    /* This fence pairs with the receiver's clearing of the bit. Either this rank sees that the bit is cleared, or the
     * receiver sees the message. */
    atomic_thread_fence(memory_order_seq_cst);
    set_bit(lanes, to, lanes->rank);
}

static bool take_message(struct lanes *lanes, unsigned from, size_t *size)
{
    struct messages_lane *lane = messages_lane(lanes, from, lanes->rank);
    struct ends *ends = &lanes->ends[from];
    const uint32_t told = atomic_load_explicit(size_at(lane, ends->taken), memory_order_acquire);
    if (told == 0 || ends->is_broken)
        return false;
    ends->is_broken = told > MESSAGE_MAX;
    *size = ends->is_broken ? 0 : told;
    copy_out(lane->bytes, MESSAGES_ROOM, ends->taken * CELL_BYTES + SIZE_BYTES, lanes->message, *size);
    lanes->turn = from;
    lanes->cells = cells_of(*size);
    return true;
}

/* Gives the cells of the message that was taken last back to its sender. This is done at the next poll, because
 * answering the message is more urgent. */
static void give_cells_back(struct lanes *lanes)
{
    struct messages_lane *lane = messages_lane(lanes, lanes->turn, lanes->rank);
    struct ends *ends = &lanes->ends[lanes->turn];
    for (; lanes->cells > 0; lanes->cells--)
        atomic_store_explicit(size_at(lane, ends->taken++), 0, memory_order_relaxed);
    atomic_store_explicit(&lane->taken, ends->taken, memory_order_release);
}

static void hear(struct lanes *lanes)
{
    for (unsigned i = 0; i < lanes->words; i++)
        lanes->heard[i] =
            atomic_load_explicit(&lanes->board->told[lanes->rank].from[i], memory_order_acquire) & lanes->others[i];
}

/* Clears the bit of a sender. Then looks at its lane once more, because a message may have arrived just before. */
static void stop_looking_at(struct lanes *lanes, unsigned from)
{
    atomic_fetch_and(&lanes->board->told[lanes->rank].from[from / WORD_BITS], ~(UINT64_C(1) << from % WORD_BITS));
    if (atomic_load(size_at(messages_lane(lanes, from, lanes->rank), lanes->ends[from].taken)) != 0)
        set_bit(lanes, lanes->rank, from);
}

static unsigned next_heard(const struct lanes *lanes, unsigned rank)
{
    if (rank >= lanes->ranks)
        return LANES_RANKS_MAX;
    uint64_t left = lanes->heard[rank / WORD_BITS] >> rank % WORD_BITS;
    if (left != 0)
        return rank + (unsigned)__builtin_ctzll(left);
    for (unsigned i = rank / WORD_BITS + 1; i < lanes->words; i++)
        if (lanes->heard[i] != 0)
            return i * WORD_BITS + (unsigned)__builtin_ctzll(lanes->heard[i]);
    return LANES_RANKS_MAX;
}

static bool take_from(struct lanes *lanes, unsigned first, unsigned end, unsigned *quiet, size_t *size)
{
    for (unsigned from = next_heard(lanes, first); from < end; from = next_heard(lanes, from + 1)) {
        if (take_message(lanes, from, size))
            return true;
        if (++*quiet > QUIET_LANES_MAX)
            stop_looking_at(lanes, from);
    }
    return false;
}

bool lanes_poll(struct lanes *lanes, unsigned *from, const unsigned char **bytes, size_t *size)
{
    const unsigned behind = lanes->turn + 1;
    unsigned quiet = 0;
    if (lanes->cells > 0)
        give_cells_back(lanes);
    hear(lanes);
    *bytes = lanes->message;
    *from = 0;
    if (!take_from(lanes, behind, lanes->ranks, &quiet, size) && !take_from(lanes, 0, behind, &quiet, size))
        return false;
    *from = lanes->turn;
    return true;
}

void lanes_look_at(struct lanes *lanes, unsigned from)
{
    set_bit(lanes, lanes->rank, from);
}

size_t lanes_data_room(const struct lanes *lanes, unsigned to)
{
    const struct lane *lane = data_lane(lanes, lanes->rank, to);
    const size_t used = (size_t)(atomic_load_explicit(&lane->put, memory_order_relaxed) -
                                 atomic_load_explicit(&lane->taken, memory_order_acquire));
    return used < DATA_ROOM ? DATA_ROOM - used : 0;
}

size_t lanes_put_data(struct lanes *lanes, unsigned to, const void *bytes, size_t size)
{
    struct lane *lane = data_lane(lanes, lanes->rank, to);
    const uint64_t put = atomic_load_explicit(&lane->put, memory_order_relaxed);
    const size_t left = lanes_data_room(lanes, to), count = size < left ? size : left;
    copy_in(lane->bytes, DATA_ROOM, put, bytes, count);
    atomic_store_explicit(&lane->put, put + count, memory_order_release);
    return count;
}

size_t lanes_data_waiting(const struct lanes *lanes, unsigned from)
{
    const struct lane *lane = data_lane(lanes, from, lanes->rank);
    const size_t there = (size_t)(atomic_load_explicit(&lane->put, memory_order_acquire) -
                                  atomic_load_explicit(&lane->taken, memory_order_relaxed));
    return there < DATA_ROOM ? there : DATA_ROOM;
}

size_t lanes_take_data(struct lanes *lanes, unsigned from, void *bytes, size_t size)
{
    struct lane *lane = data_lane(lanes, from, lanes->rank);
    const uint64_t taken = atomic_load_explicit(&lane->taken, memory_order_relaxed);
    const size_t most = lanes_data_waiting(lanes, from), count = size < most ? size : most;
    copy_out(lane->bytes, DATA_ROOM, taken, bytes, count);
    atomic_store_explicit(&lane->taken, taken + count, memory_order_release);
    return count;
}

/* No other process may use the lane during this call. */
static void empty_messages(struct messages_lane *lane)
{
    for (uint64_t cell = 0; cell < LANE_CELLS; cell++)
        atomic_store_explicit(size_at(lane, cell), 0, memory_order_relaxed);
    atomic_store(&lane->taken, 0);
}

static void empty_data(struct lane *lane)
{
    atomic_store(&lane->put, 0);
    atomic_store(&lane->taken, 0);
}

void lanes_vacate(struct lanes *lanes, unsigned rank)
{
    assert(rank != lanes->rank && lanes_slot(lanes, rank) == SLOT_TAKEN);
    if (lanes->turn == rank)
        lanes->cells = 0;
    lanes->ends[rank] = (struct ends){0};
    empty_messages(messages_lane(lanes, rank, lanes->rank));
    empty_messages(messages_lane(lanes, lanes->rank, rank));
    empty_data(data_lane(lanes, rank, lanes->rank));
    empty_data(data_lane(lanes, lanes->rank, rank));
    lanes_set_slot(lanes, rank, SLOT_FREE);
}
