/* One-sided: the counters are in a window of rank 0, and every rank adds to them by itself (passive target). Within a
 * node rank 0 takes no part in that. Between nodes some transports need it to be inside MPI now and then: it looks
 * there every --break-after iterations if there are ranks on other nodes. */
#include "common/flat/flat.h"

/* The counters are a cache line apart. */
#define COUNTER_WORDS  8
#define MEASURED_WORDS (sizeof(struct flat_measured) / sizeof(uint64_t))

/* Behind the counters: the ticket lock of a delayed assignment. */
#define TURN_WORDS (FLAT_COUNTERS * COUNTER_WORDS)

static inline uint64_t fetch_word(struct window *window, MPI_Aint word, uint64_t amount)
{
    uint64_t result;
    MPI_Fetch_and_op(&amount, &result, MPI_UINT64_T, 0, word, MPI_SUM, window->counters);
    MPI_Win_flush(0, window->counters);
    window->flat->figures.messages++;
    window->flat->figures.bytes += sizeof amount + sizeof result;
    return result;
}

static uint64_t fetch_add(void *self, enum flat_counter counter, uint64_t amount)
{
    return fetch_word(self, (MPI_Aint)counter * COUNTER_WORDS, amount);
}

static uint64_t fetch_turn(void *self, enum flat_turn word, uint64_t amount)
{
    return fetch_word(self, TURN_WORDS + (MPI_Aint)word * COUNTER_WORDS, amount);
}

/* With --inject-delay assignment. */
static uint64_t fetch_add_late(void *self, enum flat_counter counter, uint64_t amount)
{
    struct window *window = self;
    if (amount == 0 || counter != flat_first_counter(&window->flat->core))
        return fetch_add(self, counter, amount);
    flat_take_turn(window->flat, fetch_turn, self);
    uint64_t result = fetch_add(self, counter, amount);
    runtime_delay(window->flat->runtime, window->flat->assignment_ns);
    fetch_turn(self, FLAT_SERVING, 1);
    return result;
}

static void calculating(void *self)
{
    struct flat *flat = ((struct window *)self)->flat;
    runtime_delay(flat->runtime, flat->calculation_ns);
}

/* Each word comes whole, a record perhaps not: that is what its check is for. */
static void share(void *self, const struct flat_measured *own, struct flat_measured *all)
{
    struct window *window = self;
    struct flat *flat = window->flat;
    int words = (int)MEASURED_WORDS, count = (int)(flat->core.sched.workers * MEASURED_WORDS);
    MPI_Accumulate(own, words, MPI_UINT64_T, 0, (MPI_Aint)flat->core.worker * words, words, MPI_UINT64_T, MPI_REPLACE,
                   window->measured);
    MPI_Win_flush(0, window->measured);
    MPI_Get_accumulate(NULL, 0, MPI_UINT64_T, all, count, MPI_UINT64_T, 0, 0, count, MPI_UINT64_T, MPI_NO_OP,
                       window->measured);
    MPI_Win_flush(0, window->measured);
    flat->figures.messages += 2;
    flat->figures.bytes += sizeof *own + (uint64_t)count * sizeof(uint64_t);
}

static void allocate(struct flat *flat, size_t words, MPI_Win *window, void *own)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "same_disp_unit", "true");
    MPI_Win_allocate(flat->rank == 0 ? (MPI_Aint)(words * sizeof(uint64_t)) : 0, sizeof(uint64_t), info,
                     flat->runtime->world, own, window);
    MPI_Info_free(&info);
    uint64_t *memory = *(uint64_t **)own;
    for (size_t i = 0; flat->rank == 0 && i < words; i++)
        memory[i] = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, *window);
    MPI_Win_sync(*window);
    MPI_Barrier(flat->runtime->world);
}

void window_open(struct window *window, struct flat *flat)
{
    *window = (struct window){.flat = flat, .counters = MPI_WIN_NULL, .measured = MPI_WIN_NULL};
    allocate(flat, (FLAT_COUNTERS + FLAT_TURNS) * COUNTER_WORDS, &window->counters, &window->own_counters);
    if (flat_learns(&flat->core))
        allocate(flat, flat->core.sched.workers * MEASURED_WORDS, &window->measured, &window->own_measured);
}

static void release(MPI_Win *window)
{
    if (*window == MPI_WIN_NULL)
        return;
    MPI_Win_unlock_all(*window);
    MPI_Win_free(window);
}

void window_close(struct window *window)
{
    release(&window->measured);
    release(&window->counters);
}

struct flat_counters window_counters(struct window *window)
{
    return (struct flat_counters){.self = window,
                                  .fetch_add = window->flat->assignment_ns > 0 ? fetch_add_late : fetch_add,
                                  .share = share,
                                  .calculating = window->flat->calculation_ns > 0 ? calculating : NULL};
}

/* --- the topology --- */

static int rma_open(struct flat *flat)
{
    static struct window window;
    flat->own = &window;
    window_open(&window, flat);
    window.quick = flat->core.way == FLAT_BY_PLACE && flat->assignment_ns == 0 && flat->calculation_ns == 0;
    flat->counters = window_counters(&window);
    return 0;
}

/* The commonest draw with no call on the way but MPI's. */
static bool rma_draw(struct flat *flat, struct range *chunk)
{
    struct window *window = flat->own;
    if (window->quick)
        return flat_draw_step(&flat->core, fetch_word(window, FLAT_STEP, 1), chunk);
    return flat_draw(&flat->core, &flat->counters, chunk);
}

static void rma_stop(struct flat *flat)
{
    flat_stop(&flat->core, &flat->counters);
}

/* Being inside MPI for a moment is all the others need. */
static bool rma_serve(struct flat *flat)
{
    int any;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, flat->runtime->world, &any, MPI_STATUS_IGNORE);
    return false;
}

static uint64_t rma_drawn(struct flat *flat)
{
    uint64_t counter = flat->counters.fetch_add(flat->counters.self, flat_first_counter(&flat->core), 0);
    return flat_drawn(&flat->core, counter);
}

static void rma_close(struct flat *flat)
{
    if (flat->own != NULL)
        window_close(flat->own);
    flat->own = NULL;
}

const struct transport transport_rma = {
    .topology = REPORT_DCA_RMA,
    .open = rma_open,
    .draw = rma_draw,
    .stop = rma_stop,
    .serve = rma_serve,
    .drawn = rma_drawn,
    .close = rma_close,
};
