/* SPDX-License-Identifier: MIT */
/* One-sided DCA: the counters are in a window of rank 0, and every rank adds to them (passive target). If a rank of the
 * same node adds to a counter, rank 0 has nothing to do. If a rank of another node does, some MPI transports make
 * progress only while rank 0 is inside MPI. So if there are several nodes, rank 0 enters MPI every --break-after
 * iterations. */
#include "common/dca/share.h"

#include "common/sched/sched.h"

#define COUNTER_WORDS  8
#define MEASURED_WORDS (sizeof(struct dca_measured) / sizeof(uint64_t))

/* With --inject-delay assignment, ranks make their assignments one after the other: an assignment is the synchronised
 * part of a draw ([DCA]). A rank holds a ticket lock during the injected delay. The two words of the lock follow the
 * counters in the window. A rank releases the lock by adding 1 to the word SERVING_WORD. */
#define TICKET_WORD  (DCA_COUNTERS * COUNTER_WORDS)
#define SERVING_WORD ((DCA_COUNTERS + 1) * COUNTER_WORDS)
#define WINDOW_WORDS ((DCA_COUNTERS + 2) * COUNTER_WORDS)
/* How long a rank takes to wake up between two delayed assignments if ranks share cores. */
#define TURN_NS 20000u
/* How long the rank whose turn is next sleeps between two polls. While it sleeps, the rank before it can use the core.
 */
#define LOOK_NAP_NS 1000u

static inline uint64_t fetch_word(struct window *window, size_t word, uint64_t amount)
{
    const uint64_t result = carrier->fetch_add(window->counters, word, amount);
    window->share->messages++;
    window->share->bytes += sizeof amount + sizeof result;
    return result;
}

static uint64_t fetch_add(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    (void)assigns;
    return fetch_word(self, (size_t)counter * COUNTER_WORDS, amount);
}

/* Waits for this rank's turn. The ticket tells how many ranks are ahead of this rank, and so how long it may sleep. It
 * does not only call sched_yield(), because the system would then prefer ranks that have slept. */
static void take_turn(struct window *window)
{
    struct share *share = window->share;
    uint64_t own = fetch_word(window, TICKET_WORD, 1), ahead;
    while ((ahead = own - fetch_word(window, SERVING_WORD, 0)) > 0)
        if (!share->cores_are_free)
            share->host->nap(share, (ahead - 1) * (share->assignment_ns + TURN_NS) + LOOK_NAP_NS);
}

static uint64_t fetch_add_late(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    struct window *window = self;
    if (!assigns)
        return fetch_add(self, counter, amount, false);
    take_turn(window);
    uint64_t result = fetch_add(self, counter, amount, true);
    window->share->host->delay(window->share, window->share->assignment_ns);
    fetch_word(window, SERVING_WORD, 1);
    return result;
}

static void rma_calculating(void *self)
{
    struct share *share = ((struct window *)self)->share;
    share->host->delay(share, share->calculation_ns);
}

/* Publishes this worker's record and reads those of all workers. Each word is transferred atomically. A record has
 * several words, so its checksum shows whether all of them belong to the same version of the record. */
static void share(void *self, const struct dca_measured *own, struct dca_measured *all)
{
    struct window *window = self;
    struct share *share = window->share;
    const size_t count = share->core.sched.workers * MEASURED_WORDS;
    carrier->put_words(window->measured, share->machine.worker * MEASURED_WORDS, own, MEASURED_WORDS);
    carrier->get_words(window->measured, 0, all, count);
    share->messages += 2;
    share->bytes += sizeof *own + count * sizeof(uint64_t);
}

void window_open(struct window *window, struct share *share)
{
    *window = (struct window){.share = share, .counters = carrier->open_window(share->world, WINDOW_WORDS)};
    if (dca_learns(&share->core))
        window->measured = carrier->open_window(share->world, share->core.sched.workers * MEASURED_WORDS);
}

void window_close(struct window *window)
{
    if (window->measured != 0)
        carrier->close_window(&window->measured);
    if (window->counters != 0)
        carrier->close_window(&window->counters);
}

struct dca_counters window_counters(struct window *window)
{
    return (struct dca_counters){.self = window,
                                 .fetch_add = window->share->assignment_ns > 0 ? fetch_add_late : fetch_add,
                                 .share = share,
                                 .calculating = window->share->calculation_ns > 0 ? rma_calculating : NULL};
}

static int rma_open(struct share *share)
{
    struct window *window = share->own;
    window_open(window, share);
    window->quick = share->core.way == DCA_BY_POSITION && share->assignment_ns == 0 && share->calculation_ns == 0;
    share->counters = window_counters(window);
    return 0;
}

static bool rma_draw(struct share *share, struct range *chunk)
{
    struct window *window = share->own;
    if (window->quick)
        return dca_machine_draw_step(&share->machine, fetch_word(window, DCA_STEP, 1), chunk);
    return dca_machine_draw(&share->machine, &share->counters, chunk);
}

/* This rank need not answer one-sided operations of other ranks. It only enters MPI for a moment, so that they make
 * progress. */
static bool rma_serve(struct share *share)
{
    carrier->progress(share->world, (int)share->rank);
    return false;
}

static uint64_t rma_drawn(struct share *share)
{
    uint64_t counter = share->counters.fetch_add(share->counters.self, dca_first_counter(&share->core), 0, false);
    return dca_drawn(&share->core, counter);
}

static void rma_close(struct share *share)
{
    window_close(share->own);
}

const struct transport transport_rma = {
    .topology = REPORT_DCA_RMA,
    .own_bytes = sizeof(struct window),
    .open = rma_open,
    .draw = rma_draw,
    .serve = rma_serve,
    .drawn = rma_drawn,
    .close = rma_close,
};
