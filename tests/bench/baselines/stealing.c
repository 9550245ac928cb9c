/* SPDX-License-Identifier: MIT */
/* A loop by work stealing: stealing COUNT MEAN_US. Each rank begins with an equal part of the loop, an interval in a
 * window, and takes iterations from its front. A rank whose interval is empty takes the back half of that of a rank
 * drawn at random; after a failure it waits twice as long as before. The rank that completes the loop tells rank 0, and
 * each rank tells two others. */
#include "tests/bench/baselines/work.h"

#define WAIT_LEAST_NS 2000
#define WAIT_MOST_NS  1024000

/* Words of each rank's window. */
enum { INTERVAL, DONE, STOP, WORDS }; /* DONE: of rank 0, iterations that are done */

struct ring {
    MPI_Win window;
    int rank, ranks;
    unsigned seed;
};

static uint64_t pack(uint64_t first, uint64_t end)
{
    return first << 32 | end;
}

static uint64_t first_of(uint64_t interval)
{
    return interval >> 32;
}

static uint64_t end_of(uint64_t interval)
{
    return interval & UINT32_MAX;
}

static uint64_t change(struct ring *ring, int rank, int word, uint64_t value, MPI_Op op)
{
    uint64_t before;
    MPI_Fetch_and_op(&value, &before, MPI_UINT64_T, rank, word, op, ring->window);
    MPI_Win_flush(rank, ring->window);
    return before;
}

static uint64_t look(struct ring *ring, int rank, int word)
{
    return change(ring, rank, word, 0, MPI_NO_OP);
}

static int swap(struct ring *ring, int rank, uint64_t from, uint64_t to)
{
    uint64_t before;
    MPI_Compare_and_swap(&to, &from, &before, MPI_UINT64_T, rank, INTERVAL, ring->window);
    MPI_Win_flush(rank, ring->window);
    return before == from;
}

/* Runs the rank's interval until it is empty. */
static void run_own(struct ring *ring, struct work *work)
{
    uint64_t done = 0;
    for (;;) {
        const uint64_t own = look(ring, ring->rank, INTERVAL);
        if (first_of(own) == end_of(own))
            break;
        if (!swap(ring, ring->rank, own, pack(first_of(own) + 1, end_of(own))))
            continue;
        work_do(work, first_of(own), 1);
        done++;
    }
    if (done > 0 && change(ring, 0, DONE, done, MPI_SUM) + done == work->costs.iterations)
        change(ring, 0, STOP, 1, MPI_REPLACE);
}

static int steal(struct ring *ring)
{
    const int victim = (ring->rank + 1 + (int)(rand_r(&ring->seed) % (unsigned)(ring->ranks - 1))) % ring->ranks;
    const uint64_t whole = look(ring, victim, INTERVAL), count = end_of(whole) - first_of(whole);
    const uint64_t middle = end_of(whole) - (count + 1) / 2;
    if (count == 0 || !swap(ring, victim, whole, pack(first_of(whole), middle)))
        return 0;
    change(ring, ring->rank, INTERVAL, pack(middle, end_of(whole)), MPI_REPLACE);
    return 1;
}

/* Takes work from another rank. False after the loop is done. */
static int find_work(struct ring *ring)
{
    struct timespec wait = {0, WAIT_LEAST_NS};
    while (!look(ring, ring->rank, STOP)) {
        if (ring->ranks > 1 && steal(ring))
            return 1;
        nanosleep(&wait, NULL);
        if (wait.tv_nsec < WAIT_MOST_NS)
            wait.tv_nsec *= 2;
    }
    for (int child = 2 * ring->rank + 1; child <= 2 * ring->rank + 2 && child < ring->ranks; child++)
        change(ring, child, STOP, 1, MPI_REPLACE);
    return 0;
}

int main(int argc, char **argv)
{
    struct work work;
    struct ring ring;
    uint64_t *words;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ring.ranks);
    ring.seed = (unsigned)ring.rank;
    MPI_Win_allocate(WORDS * sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &ring.window);
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, ranks = (uint64_t)ring.ranks;
    const uint64_t rank = (uint64_t)ring.rank;
    words[INTERVAL] = pack(rank * count / ranks, (rank + 1) * count / ranks);
    words[DONE] = words[STOP] = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, ring.window);
    MPI_Win_sync(ring.window);
    work_begin(&work, argc, argv);
    do
        run_own(&ring, &work);
    while (find_work(&ring));
    work_end(&work);
    MPI_Win_unlock_all(ring.window);
    MPI_Win_free(&ring.window);
    MPI_Finalize();
    return 0;
}
