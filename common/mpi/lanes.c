/* SPDX-License-Identifier: MIT */
/* A launch without MPI: one process of this machine forked the ranks (deploy/fork), which share unnamed memory. Each
 * rank has two lanes to each other rank: one for messages, one for data. Memory is used only when a lane is used, so
 * ranks that do not communicate cost only address space.
 *
 * A lane is a ring buffer with one writer and one reader. The writer owns the count of bytes ever put in, the reader
 * that of bytes taken out; a count is advanced after the bytes are copied. So a process killed at any instant leaves
 * complete contents. A waiting rank is woken by its doorbell, as with MPI.
 *
 * Each rank has a bit for each other rank. A sender puts a message into the lane, then sets its bit at the receiver,
 * which checks only lanes whose bits are set. A sender killed in between leaves a message without a bit: see
 * lanes_look_at().
 *
 * Invariant of a lane: taken <= put <= taken + room. */
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

/* Sizes of a lane in bytes: powers of two, as small as the messages allow, so that lanes stay in the caches. */
#define MESSAGES_ROOM ((size_t)32 << 10)
#define DATA_ROOM     ((size_t)256 << 10)
/* Memory shared by all ranks. */
#define SHARED_ROOM ((size_t)4 << 20)
/* The size of a message precedes it. */
#define SIZE_BYTES sizeof(uint32_t)

struct lane {
    _Alignas(64) _Atomic uint64_t put;
    _Alignas(64) _Atomic uint64_t taken;
    _Alignas(64) unsigned char bytes[];
};

#define WORD_BITS 64
#define WORDS     (LANES_RANKS_MAX / WORD_BITS)

struct board {
    uint32_t ranks;
    _Atomic uint32_t has_met;
    _Atomic uint32_t aborted; /* status + 1; 0: not aborted */
    _Atomic uint32_t passed[LANES_RANKS_MAX];
    struct {
        _Alignas(64) _Atomic uint64_t from[WORDS]; /* ranks that have sent messages since this one last checked */
    } told[LANES_RANKS_MAX];
};

struct lanes {
    unsigned rank, ranks;
    unsigned words;        /* used words of `heard` */
    struct board *board;   /* mapped */
    uint64_t heard[WORDS]; /* ranks whose lanes may hold messages for this one */
    unsigned turn;         /* sender of the last message */
    size_t shared;         /* bytes given out by lanes_share() */
    unsigned char message[MESSAGE_MAX];
};

#define LANE_BYTES(room) (sizeof(struct lane) + (room))
#define PAIR_BYTES       (LANE_BYTES(MESSAGES_ROOM) + LANE_BYTES(DATA_ROOM))
#define BOARD_BYTES      ((sizeof(struct board) + 63) / 64 * 64)

static size_t memory_bytes(unsigned ranks)
{
    return BOARD_BYTES + SHARED_ROOM + (size_t)ranks * ranks * PAIR_BYTES;
}

static unsigned char *pair_of(const struct lanes *lanes, unsigned from, unsigned to)
{
    assert(from != to && from < lanes->ranks && to < lanes->ranks);
    return (unsigned char *)lanes->board + BOARD_BYTES + SHARED_ROOM + ((size_t)to * lanes->ranks + from) * PAIR_BYTES;
}

static struct lane *messages_lane(const struct lanes *lanes, unsigned from, unsigned to)
{
    return (struct lane *)(void *)pair_of(lanes, from, to);
}

static struct lane *data_lane(const struct lanes *lanes, unsigned from, unsigned to)
{
    return (struct lane *)(void *)(pair_of(lanes, from, to) + LANE_BYTES(MESSAGES_ROOM));
}

/* 0 if the reader's count is inconsistent. */
static size_t free_bytes(const struct lane *lane, size_t room)
{
    const size_t used = (size_t)(atomic_load_explicit(&lane->put, memory_order_relaxed) -
                                 atomic_load_explicit(&lane->taken, memory_order_acquire));
    return used < room ? room - used : 0;
}

static size_t full_bytes(const struct lane *lane)
{
    return (size_t)(atomic_load_explicit(&lane->put, memory_order_acquire) -
                    atomic_load_explicit(&lane->taken, memory_order_relaxed));
}

/* Copies bytes to position `offset` after the bytes put in so far. */
static void copy_in(struct lane *lane, size_t room, size_t offset, const void *bytes, size_t size)
{
    const size_t at = (size_t)(atomic_load_explicit(&lane->put, memory_order_relaxed) + offset) & (room - 1);
    const size_t first = size < room - at ? size : room - at;
    memcpy(lane->bytes + at, bytes, first);
    memcpy(lane->bytes, (const unsigned char *)bytes + first, size - first);
}

static void copy_out(const struct lane *lane, size_t room, size_t offset, void *bytes, size_t size)
{
    const size_t at = (size_t)(atomic_load_explicit(&lane->taken, memory_order_relaxed) + offset) & (room - 1);
    const size_t first = size < room - at ? size : room - at;
    memcpy(bytes, lane->bytes + at, first);
    memcpy((unsigned char *)bytes + first, lane->bytes, size - first);
}

static void note_put(struct lane *lane, size_t size)
{
    atomic_store_explicit(&lane->put, atomic_load_explicit(&lane->put, memory_order_relaxed) + size,
                          memory_order_release);
}

static void note_taken(struct lane *lane, size_t size)
{
    atomic_store_explicit(&lane->taken, atomic_load_explicit(&lane->taken, memory_order_relaxed) + size,
                          memory_order_release);
}

static size_t put_some(struct lane *lane, size_t room, const void *bytes, size_t size)
{
    const size_t left = free_bytes(lane, room), count = size < left ? size : left;
    copy_in(lane, room, 0, bytes, count);
    note_put(lane, count);
    return count;
}

static size_t take_some(struct lane *lane, size_t room, void *bytes, size_t size)
{
    const size_t there = full_bytes(lane), most = there < room ? there : room, count = size < most ? size : most;
    copy_out(lane, room, 0, bytes, count);
    note_taken(lane, count);
    return count;
}

static struct lanes *map_lanes(int memory, unsigned rank, unsigned ranks)
{
    struct lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes == NULL)
        return NULL;
    lanes->rank = rank;
    lanes->ranks = ranks;
    lanes->words = (ranks + WORD_BITS - 1) / WORD_BITS;
    lanes->board = mmap(NULL, memory_bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (lanes->board == MAP_FAILED) {
        free(lanes);
        return NULL;
    }
    madvise(lanes->board, memory_bytes(ranks), MADV_DONTDUMP); /* a core file would contain all messages */
    return lanes;
}

/* Address space that a rank needs besides this memory. */
#define OTHER_ADDRESSES ((size_t)256 << 20)

const char *lanes_limit(unsigned ranks)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < memory_bytes(ranks)) /* the memory counts as a file */
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
    if (*lanes == NULL)
        error_set(error, "the variable " LAUNCHED_WITHOUT_MPI " does not name the memory of a launch: '%.60s'", text);
    else
        close(memory);
    unsetenv(LAUNCHED_WITHOUT_MPI); /* processes started by this rank are not part of the launch */
    return true;
}

void lanes_free(struct lanes *lanes)
{
    if (lanes == NULL)
        return;
    munmap(lanes->board, memory_bytes(lanes->ranks));
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

void *lanes_share(struct lanes *lanes, size_t bytes)
{
    const size_t whole = (bytes + 63) / 64 * 64;
    if (whole < bytes || whole > SHARED_ROOM - lanes->shared)
        return NULL;
    unsigned char *shared = (unsigned char *)lanes->board + BOARD_BYTES + lanes->shared;
    lanes->shared += whole;
    return shared;
}

size_t lanes_put(struct lanes *lanes, unsigned to, const void *bytes, size_t size)
{
    return put_some(messages_lane(lanes, lanes->rank, to), MESSAGES_ROOM, bytes, size);
}

size_t lanes_take(struct lanes *lanes, unsigned from, void *bytes, size_t size)
{
    return take_some(messages_lane(lanes, from, lanes->rank), MESSAGES_ROOM, bytes, size);
}

bool lanes_have_room(const struct lanes *lanes, unsigned to, size_t size)
{
    return free_bytes(messages_lane(lanes, lanes->rank, to), MESSAGES_ROOM) >= SIZE_BYTES + size;
}

void lanes_send(struct lanes *lanes, unsigned to, const unsigned char *bytes, size_t size)
{
    struct lane *lane = messages_lane(lanes, lanes->rank, to);
    const uint32_t told = (uint32_t)size;
    assert(size > 0 && size <= MESSAGE_MAX && lanes_have_room(lanes, to, size));
    copy_in(lane, MESSAGES_ROOM, 0, &told, SIZE_BYTES);
    copy_in(lane, MESSAGES_ROOM, SIZE_BYTES, bytes, size);
    note_put(lane, SIZE_BYTES + size);
    atomic_fetch_or_explicit(&lanes->board->told[to].from[lanes->rank / WORD_BITS],
                             UINT64_C(1) << lanes->rank % WORD_BITS, memory_order_release);
}

/* Takes the next message of the lane; false if there is none. */
static bool take_message(struct lanes *lanes, struct lane *lane, size_t *size)
{
    const size_t there = full_bytes(lane);
    uint32_t told = 0;
    if (there == 0)
        return false;
    if (there <= MESSAGES_ROOM && there > SIZE_BYTES)
        copy_out(lane, MESSAGES_ROOM, 0, &told, SIZE_BYTES);
    *size = told;
    if (told == 0 || told > MESSAGE_MAX || told > there - SIZE_BYTES) {
        *size = 0;
        note_taken(lane, there);
        return true;
    }
    copy_out(lane, MESSAGES_ROOM, SIZE_BYTES, lanes->message, told);
    note_taken(lane, SIZE_BYTES + told);
    return true;
}

/* Collects which ranks have sent messages. False if no lane may hold one. */
static bool hear(struct lanes *lanes)
{
    _Atomic uint64_t *told = lanes->board->told[lanes->rank].from;
    uint64_t any = 0;
    for (unsigned i = 0; i < lanes->words; i++) {
        if (atomic_load_explicit(&told[i], memory_order_relaxed) != 0)
            lanes->heard[i] |= atomic_exchange_explicit(&told[i], 0, memory_order_acquire);
        any |= lanes->heard[i];
    }
    return any != 0;
}

/* The first rank from `rank` on whose lane may hold messages, or LANES_RANKS_MAX. */
static unsigned next_heard(const struct lanes *lanes, unsigned rank)
{
    uint64_t left = lanes->heard[rank / WORD_BITS] >> rank % WORD_BITS;
    if (left != 0)
        return rank + (unsigned)__builtin_ctzll(left);
    for (unsigned i = rank / WORD_BITS + 1; i < lanes->words; i++)
        if (lanes->heard[i] != 0)
            return i * WORD_BITS + (unsigned)__builtin_ctzll(lanes->heard[i]);
    return LANES_RANKS_MAX;
}

/* The next rank after the last one, cyclically. */
static unsigned next_in_turn(const struct lanes *lanes)
{
    const unsigned next = lanes->turn + 1 < lanes->ranks ? next_heard(lanes, lanes->turn + 1) : LANES_RANKS_MAX;
    return next < LANES_RANKS_MAX ? next : next_heard(lanes, 0);
}

bool lanes_poll(struct lanes *lanes, unsigned *from, const unsigned char **bytes, size_t *size)
{
    *bytes = lanes->message;
    *from = 0;
    if (!hear(lanes))
        return false;
    while ((*from = next_in_turn(lanes)) < lanes->ranks) {
        lanes->turn = *from;
        if (*from != lanes->rank && take_message(lanes, messages_lane(lanes, *from, lanes->rank), size))
            return true;
        lanes->heard[*from / WORD_BITS] &= ~(UINT64_C(1) << *from % WORD_BITS);
    }
    memset(lanes->heard, 0, sizeof lanes->heard); /* stray bits without a rank */
    *from = 0;
    return false;
}

void lanes_look_at(struct lanes *lanes, unsigned from)
{
    lanes->heard[from / WORD_BITS] |= UINT64_C(1) << from % WORD_BITS;
}

size_t lanes_put_data(struct lanes *lanes, unsigned to, const void *bytes, size_t size)
{
    return put_some(data_lane(lanes, lanes->rank, to), DATA_ROOM, bytes, size);
}

size_t lanes_take_data(struct lanes *lanes, unsigned from, void *bytes, size_t size)
{
    return take_some(data_lane(lanes, from, lanes->rank), DATA_ROOM, bytes, size);
}
