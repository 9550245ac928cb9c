/* SPDX-License-Identifier: MIT */
/* The carrier of a launch without MPI, for workers without a supermaster (--dca node, rma). Collective operations use
 * tree.c, as the start of the run does. A window is shared memory. There is one communicator, which has all ranks. All
 * ranks are on one node. */
#include "common/mpi/local_carrier.h"

#include "common/mpi/lanes.h"
#include "common/mpi/rank.h"
#include "common/mpi/tree.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ALL ((carrier_comm)1)

static struct runtime *own;

static enum carrier_level local_level(void)
{
    return CARRIER_MULTIPLE;
}

static void local_abort(carrier_comm comm, int status)
{
    (void)comm;
    lanes_abort(own->lanes, status);
}

static int local_rank(carrier_comm comm)
{
    (void)comm;
    return (int)own->rank;
}

static int local_ranks(carrier_comm comm)
{
    (void)comm;
    return (int)own->ranks;
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
    tree_wait(own, NULL);
}

static void local_bcast(carrier_comm comm, int root, void *data, size_t bytes)
{
    (void)comm;
    tree_share(own, (unsigned)root, data, bytes);
}

static void local_gather(carrier_comm comm, int root, const void *data, size_t bytes, void *all)
{
    (void)comm;
    assert(root == 0 && "the tree gathers at the first rank");
    tree_gather(own, data, bytes, all);
}

static void local_allgather(carrier_comm comm, const void *data, size_t bytes, void *all)
{
    local_gather(comm, 0, data, bytes, all);
    local_bcast(comm, 0, all, own->ranks * bytes);
}

static uint64_t local_max(carrier_comm comm, uint64_t value)
{
    uint64_t all[LANES_RANKS_MAX];
    local_allgather(comm, &value, sizeof value, all);
    for (unsigned i = 0; i < own->ranks; i++)
        value = all[i] > value ? all[i] : value;
    return value;
}

static carrier_window local_open_window(carrier_comm comm, size_t words)
{
    (void)comm;
    return (carrier_window)lanes_share(own->lanes, words * sizeof(uint64_t));
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
    void *shared = lanes_share(own->lanes, bytes);
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

carrier_comm local_carrier_begin(struct runtime *runtime)
{
    own = runtime;
    carrier = &local_carrier;
    return ALL;
}
