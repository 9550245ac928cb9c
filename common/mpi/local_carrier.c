/* SPDX-License-Identifier: MIT */
/* What workers alone (--dca node, rma) ask of a carrier, in a launch without MPI: see local_carrier.h. Words go by the
 * lanes between the first rank and the others, as those at the start do (tree.c); a window is memory that all share.
 * There is one communicator, that of all ranks, which are on one node. */
#include "common/mpi/local_carrier.h"

#include "common/mpi/lanes.h"
#include "common/util/error.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* All ranks, as a communicator. */
#define ALL ((carrier_comm)1)
/* Between two looks at what another rank is to do. */
#define NAP_NS 50000

static struct lanes *own_lanes; /* borrowed from the runtime */

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static void put_all(unsigned to, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const size_t count = lanes_put(own_lanes, to, (const unsigned char *)data + done, bytes - done);
        done += count;
        if (count == 0)
            nap();
    }
}

static void take_all(unsigned from, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const size_t count = lanes_take(own_lanes, from, (unsigned char *)data + done, bytes - done);
        done += count;
        if (count == 0)
            nap();
    }
}

static enum carrier_level local_level(void)
{
    return CARRIER_MULTIPLE;
}

static void local_abort(carrier_comm comm, int status)
{
    (void)comm;
    lanes_abort(own_lanes, status);
}

static int local_rank(carrier_comm comm)
{
    (void)comm;
    return (int)lanes_rank(own_lanes);
}

static int local_ranks(carrier_comm comm)
{
    (void)comm;
    return (int)lanes_ranks(own_lanes);
}

static carrier_comm local_split(carrier_comm comm, int colour, int key)
{
    (void)comm, (void)colour, (void)key;
    return ALL;
}

static void local_release_comm(carrier_comm *comm)
{
    *comm = 0;
}

static void local_progress(carrier_comm comm, int self)
{
    (void)comm, (void)self;
}

static void local_barrier(carrier_comm comm)
{
    (void)comm;
    lanes_pass(own_lanes);
    while (!lanes_have_all_passed(own_lanes))
        nap();
}

static void local_bcast(carrier_comm comm, int root, void *data, size_t bytes)
{
    (void)comm;
    assert(root == 0 && "the first rank has a lane to each other");
    if (lanes_rank(own_lanes) > 0)
        take_all(0, data, bytes);
    for (unsigned i = 1; lanes_rank(own_lanes) == 0 && i < lanes_ranks(own_lanes); i++)
        put_all(i, data, bytes);
}

static void local_gather(carrier_comm comm, int root, const void *own, size_t bytes, void *all)
{
    (void)comm;
    assert(root == 0);
    if (lanes_rank(own_lanes) > 0) {
        put_all(0, own, bytes);
        return;
    }
    memcpy(all, own, bytes);
    for (unsigned i = 1; i < lanes_ranks(own_lanes); i++)
        take_all(i, (unsigned char *)all + i * bytes, bytes);
}

static void local_allgather(carrier_comm comm, const void *own, size_t bytes, void *all)
{
    local_gather(comm, 0, own, bytes, all);
    local_bcast(comm, 0, all, lanes_ranks(own_lanes) * bytes);
}

static uint64_t local_max(carrier_comm comm, uint64_t own)
{
    for (unsigned i = 1; lanes_rank(own_lanes) == 0 && i < lanes_ranks(own_lanes); i++) {
        uint64_t other;
        take_all(i, &other, sizeof other);
        own = other > own ? other : own;
    }
    if (lanes_rank(own_lanes) > 0)
        put_all(0, &own, sizeof own);
    local_bcast(comm, 0, &own, sizeof own);
    return own;
}

/* --- windows --- */

static carrier_window local_open_window(carrier_comm comm, size_t words)
{
    (void)comm;
    return (carrier_window)lanes_share(own_lanes, words * sizeof(uint64_t));
}

static void local_close_window(carrier_window *window)
{
    *window = 0;
}

static _Atomic uint64_t *word_of(carrier_window window, size_t word)
{
    return (_Atomic uint64_t *)window + word; /* NOLINT(performance-no-int-to-ptr) */
}

static uint64_t local_fetch_add(carrier_window window, size_t word, uint64_t amount)
{
    return atomic_fetch_add(word_of(window, word), amount);
}

static void local_put_words(carrier_window window, size_t first, const void *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, (const unsigned char *)words + i * sizeof word, sizeof word);
        atomic_store(word_of(window, first + i), word);
    }
}

static void local_get_words(carrier_window window, size_t first, void *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = atomic_load(word_of(window, first + i));
        memcpy((unsigned char *)words + i * sizeof word, &word, sizeof word);
    }
}

static void *local_share_memory(carrier_comm comm, size_t bytes, carrier_window *memory)
{
    (void)comm;
    void *shared = lanes_share(own_lanes, bytes);
    *memory = (carrier_window)shared;
    return shared;
}

static const struct carrier local_carrier = {
    .version = CARRIER_VERSION,
    .name = "memory",
    .level = local_level,
    .abort = local_abort,
    .rank = local_rank,
    .ranks = local_ranks,
    .split = local_split,
    .release_comm = local_release_comm,
    .progress = local_progress,
    .barrier = local_barrier,
    .bcast = local_bcast,
    .gather = local_gather,
    .allgather = local_allgather,
    .max = local_max,
    .open_window = local_open_window,
    .close_window = local_close_window,
    .fetch_add = local_fetch_add,
    .put_words = local_put_words,
    .get_words = local_get_words,
    .share_memory = local_share_memory,
    .unshare_memory = local_close_window,
};

carrier_comm local_carrier_begin(struct lanes *lanes)
{
    own_lanes = lanes;
    carrier = &local_carrier;
    return ALL;
}
