/* SPDX-License-Identifier: MIT */
/* Workers that are killed while they draw from a node's queue as fast as they can, and in the middle of what they put
 * into it: processes, so that each may end between any two of its instructions. The others compute what was lost, each
 * iteration counts once. Moments that are hardly ever met so are tried by tests/seeds/dca.c. */
#include "common/dca/book.h"
#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/dca/intent.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4
#define RUNS    60
#define SPINS   60

/* The iterations that a worker has computed: how many, their sum, and that of their squares. */
struct tally {
    uint64_t count, sum, squares;
};

struct shared {
    struct dca_queue queue;
    _Atomic uint64_t start; /* of the loop: where big chunks come from */
    _Alignas(64) unsigned char intents[8192];
};

struct process {
    struct shared *shared;
    struct dca_intents intents;
    struct dca_view view;
    struct tally tally;
    uint64_t iterations, big;
    unsigned worker;
    bool recall;
    bool draws, is_hungry; /* its next draw has begun; and found nothing */
};

static void refill(struct process *process)
{
    struct shared *shared = process->shared;
    struct range big;
    if (!dca_queue_take_rest(&shared->queue, &big)) {
        const uint64_t first = atomic_fetch_add(&shared->start, process->big);
        const uint64_t left = first < process->iterations ? process->iterations - first : 0;
        big = (struct range){first, left < process->big ? left : process->big};
    }
    if (big.count > 0)
        dca_queue_refill(&shared->queue, &process->view, &big);
    else
        dca_queue_end(&shared->queue, &process->view, true);
}

static void compute(struct process *process, const struct range *chunk)
{
    struct dca_queue *queue = &process->shared->queue;
    uint64_t end = chunk->first + chunk->count;
    for (uint64_t i = chunk->first; i < end; i++) {
        for (volatile unsigned spin = 0; spin < SPINS; spin++)
            ;
        process->tally.count++;
        process->tally.sum += i;
        process->tally.squares += i * i;
        if (!process->recall || !dca_queue_is_wanted(queue) || !dca_queue_claim(queue, &process->view))
            continue;
        const uint64_t given = (end - i) / 2;
        end -= given;
        dca_queue_give(queue, &process->view, &(struct range){end, given});
    }
}

/* Looks at the queue once. False at the end. */
static bool advance(struct process *process)
{
    struct dca_queue *queue = &process->shared->queue;
    struct range chunk;
    struct error error;
    if (!process->draws)
        dca_intent_begin(&process->intents, process->worker, &process->tally, sizeof process->tally);
    process->draws = true;
    if (process->is_hungry)
        dca_queue_wake(queue, &process->view);
    process->is_hungry = false;
    switch (dca_queue_draw(queue, &process->view, &chunk, &error)) {
    case DCA_DRAWN:
        process->draws = false;
        compute(process, &chunk);
        break;
    case DCA_REFILL: refill(process); break;
    case DCA_WAIT: sched_yield(); break;
    case DCA_HUNGRY:
        process->is_hungry = true;
        do
            sched_yield();
        while (dca_queue_is_drained(queue) && process->worker > 0); /* worker 0 has to look after losses */
        break;
    default: return false;
    }
    return true;
}

static void open_process(struct process *process, struct shared *shared, unsigned worker, const char *technique,
                         const struct dca_book *book)
{
    struct error error;
    const struct sched_spec spec = spec_of(technique);
    process->shared = shared;
    process->worker = worker;
    process->intents = dca_intents_at(shared->intents, WORKERS);
    ck_assert_int_eq(dca_view_init(&process->view, &spec, WORKERS, &error), 0);
    dca_view_keep(&process->view, &process->intents, worker, book);
}

static uint64_t count_drawn(const struct process *process)
{
    const uint64_t start = process->shared->start;
    return start < process->iterations ? start : process->iterations;
}

/* The others go on while it returns. */
static uint64_t count_drawn_slowly(void *context)
{
    const uint64_t drawn = count_drawn(context);
    sched_yield();
    return drawn;
}

static void find_lost(struct process *process, struct dca_book *book, unsigned worker)
{
    struct dca_queue *queue = &process->shared->queue;
    struct range chunk, range;
    ck_assert_ptr_eq(dca_intent_check(&process->intents, worker, queue->head, process->iterations), NULL);
    dca_queue_lose(queue, &process->view, worker, count_drawn(process), &chunk);
    dca_book_hold(book, worker, &chunk);
    dca_book_lose(book, worker, &range);
}

static void contend(struct random *random, const char *technique, uint64_t iterations, uint64_t big, bool recall)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct process process = {.iterations = iterations, .big = big, .recall = recall};
    const struct dca_core whole = {.iterations = iterations, .way = DCA_BY_REMAINING};
    struct dca_book kept;
    struct error error;
    pid_t children[WORKERS] = {0};
    ck_assert_ptr_ne(shared, MAP_FAILED);
    ck_assert_uint_le(dca_intents_bytes(WORKERS), sizeof shared->intents);
    ck_assert_int_eq(dca_book_init(&kept, &whole, WORKERS, &error), 0);
    for (unsigned w = 1; w < WORKERS; w++) {
        children[w] = fork();
        if (children[w] == 0) {
            open_process(&process, shared, w, technique, NULL);
            while (advance(&process))
                ;
            dca_view_fini(&process.view);
            _exit(0);
        }
    }
    open_process(&process, shared, 0, technique, &kept);
    while (iterations > 0 && count_drawn(&process) == 0) /* else nobody has anything to lose */
        sched_yield();
    for (uint64_t looks = 0;; looks++) {
        const unsigned w = (unsigned)random_between(random, 1, WORKERS - 1);
        if (looks == 0)
            usleep((useconds_t)random_between(random, 0, 300));
        if (children[w] > 0 && random_between(random, 0, 7) == 0) {
            kill(children[w], SIGKILL);
            waitpid(children[w], NULL, 0);
            children[w] = 0;
            find_lost(&process, &kept, w);
        }
        dca_queue_relieve(&shared->queue, &process.view, &kept, count_drawn_slowly, &process);
        if (!advance(&process))
            break;
    }
    struct tally all = process.tally, expected = {0, 0, 0};
    for (unsigned w = 1; w < WORKERS; w++) {
        if (children[w] > 0)
            waitpid(children[w], NULL, 0);
        struct tally tally;
        memcpy(&tally, dca_intent_record(&process.intents, w), sizeof tally);
        all.count += tally.count;
        all.sum += tally.sum;
        all.squares += tally.squares;
    }
    for (uint64_t i = 0; i < iterations; i++)
        expected = (struct tally){expected.count + 1, expected.sum + i, expected.squares + i * i};
    ck_assert_uint_eq(all.count, expected.count);
    ck_assert_uint_eq(all.sum, expected.sum);
    ck_assert_uint_eq(all.squares, expected.squares);
    dca_view_fini(&process.view);
    dca_book_fini(&kept);
    munmap(shared, sizeof *shared);
}

START_TEST(each_iteration_counts_once_whoever_is_killed)
{
    static const char *const inside[] = {"ss", "static", "fac2", "css:chunk=3", "gss"};
    struct random random;
    random_init(&random, 7);
    for (unsigned run = 0; run < RUNS; run++)
        contend(&random, inside[run % 5], random_between(&random, 0, 60000),
                random_between(&random, 1, run % 2 ? 20 : 30000), run % 3 > 0);
}
END_TEST

/* The queue's node, with the view of each worker. */
static struct shared here;
static struct process processes[3];
static struct dca_core core;
static struct dca_book book;
static struct range chunk;

static void open_node(const char *technique)
{
    struct error error;
    core = (struct dca_core){.iterations = 1000, .way = DCA_BY_REMAINING};
    memset(&here, 0, sizeof here);
    ck_assert_int_eq(dca_book_init(&book, &core, 3, &error), 0);
    for (unsigned w = 0; w < 3; w++) {
        const struct sched_spec spec = spec_of(technique);
        struct process *process = &processes[w];
        *process = (struct process){.shared = &here, .worker = w, .iterations = 1000};
        process->intents = dca_intents_at(here.intents, 3);
        ck_assert_int_eq(dca_view_init(&process->view, &spec, 3, &error), 0);
        dca_view_keep(&process->view, &process->intents, w, w == 0 ? &book : NULL);
    }
}

static void close_node(void)
{
    for (unsigned w = 0; w < 3; w++)
        dca_view_fini(&processes[w].view);
    dca_book_fini(&book);
}

static enum dca_drawn draw(unsigned w)
{
    struct error error;
    struct process *process = &processes[w];
    dca_intent_begin(&process->intents, w, &process->tally, sizeof process->tally);
    return dca_queue_draw(&here.queue, &process->view, &chunk, &error);
}

static void expect_chunk(uint64_t first, uint64_t count)
{
    ck_assert_uint_eq(chunk.first, first);
    ck_assert_uint_eq(chunk.count, count);
}

/* Worker 1 refills the queue with all, and the workers draw chunks of 100. */
static void fill_node(void)
{
    ck_assert_int_eq(draw(1), DCA_REFILL);
    dca_queue_refill(&here.queue, &processes[1].view, &(struct range){0, 300});
}

/* Worker 2 has seen the head that worker 1 made when it drew, and later the one that it made when it gave. */
START_TEST(who_gave_holds_the_rest)
{
    open_node("css:chunk=100");
    fill_node();
    ck_assert_int_eq(draw(0), DCA_DRAWN);
    ck_assert_int_eq(draw(1), DCA_DRAWN);
    expect_chunk(100, 100);
    ck_assert_int_eq(draw(2), DCA_DRAWN);
    ck_assert_int_eq(draw(2), DCA_REFILL);
    dca_queue_end(&here.queue, &processes[2].view, true);
    ck_assert_int_eq(draw(2), DCA_HUNGRY);
    ck_assert(dca_queue_claim(&here.queue, &processes[1].view));
    dca_queue_give(&here.queue, &processes[1].view, &(struct range){160, 40});
    dca_queue_wake(&here.queue, &processes[2].view);
    ck_assert_int_eq(draw(2), DCA_DRAWN);
    ck_assert(dca_queue_lose(&here.queue, &processes[0].view, 1, 1000, &chunk));
    expect_chunk(100, 60);
    close_node();
}
END_TEST

static uint64_t count_all(void *context)
{
    (void)context;
    return 1000;
}

/* Rank 0 puts it into the drained queue, and leaves it to the last worker but itself. */
START_TEST(rank_0_takes_what_was_lost_when_it_is_the_last)
{
    struct range lost;
    open_node("css:chunk=100");
    fill_node();
    ck_assert_int_eq(draw(1), DCA_DRAWN);
    ck_assert_int_eq(draw(0), DCA_DRAWN);
    ck_assert_int_eq(draw(0), DCA_DRAWN);
    ck_assert(dca_queue_lose(&here.queue, &processes[0].view, 1, 1000, &chunk));
    dca_book_hold(&book, 1, &chunk);
    ck_assert_uint_eq(dca_book_lose(&book, 1, &lost), 1);
    ck_assert(!dca_queue_relieve(&here.queue, &processes[0].view, &book, count_all, NULL)); /* it is not drained */
    ck_assert_int_eq(draw(0), DCA_REFILL);
    dca_queue_end(&here.queue, &processes[0].view, true);
    ck_assert(dca_queue_relieve(&here.queue, &processes[0].view, &book, count_all, NULL));
    ck_assert_int_eq(draw(0), DCA_WAIT);
    ck_assert_int_eq(draw(2), DCA_DRAWN);
    expect_chunk(0, 17); /* the first of fac2 among three */
    ck_assert_int_eq(draw(0), DCA_WAIT);
    ck_assert(dca_queue_lose(&here.queue, &processes[0].view, 2, 1000, &chunk));
    dca_book_hold(&book, 2, &chunk);
    ck_assert_uint_eq(dca_book_lose(&book, 2, &lost), 2);
    uint64_t sum = 0;
    for (enum dca_drawn drawn = draw(0); drawn != DCA_END; drawn = draw(0)) {
        sum += drawn == DCA_DRAWN ? chunk.count : 0;
        if (drawn == DCA_HUNGRY)
            dca_queue_relieve(&here.queue, &processes[0].view, &book, count_all, NULL);
        if (drawn == DCA_HUNGRY)
            dca_queue_wake(&here.queue, &processes[0].view);
    }
    ck_assert_uint_eq(sum, 100);
    ck_assert_uint_eq(book.reissued, 2);
    close_node();
}
END_TEST

/* Worker 1 refills the queue, draws all, and drains the queue, where the queue is not drained yet. */
static void draw_all(void)
{
    if (dca_queue_is_drained(&here.queue))
        return;
    ck_assert_int_eq(draw(1), DCA_REFILL);
    here.start = 1000;
    dca_queue_refill(&here.queue, &processes[1].view, &(struct range){0, 1000});
    while (draw(1) == DCA_DRAWN)
        ;
    dca_queue_end(&here.queue, &processes[1].view, true);
    ck_assert_int_eq(draw(1), DCA_HUNGRY);
}

/* Worker 1 draws all between the moment of the count and that at which rank 0 has it. */
static uint64_t count_before_others_draw(void *context)
{
    const uint64_t drawn = count_drawn(context);
    draw_all();
    return drawn;
}

START_TEST(nothing_is_reissued_because_rank_0_looks_slowly)
{
    open_node("static");
    dca_queue_relieve(&here.queue, &processes[0].view, &book, count_before_others_draw, &processes[0]);
    draw_all();
    ck_assert_int_eq(draw(0), DCA_HUNGRY);
    dca_queue_relieve(&here.queue, &processes[0].view, &book, count_before_others_draw, &processes[0]);
    ck_assert_uint_eq(book.reissued, 0);
    ck_assert(dca_queue_is_drained(&here.queue)); /* worker 2 has not looked yet */
    ck_assert_int_eq(draw(2), DCA_HUNGRY);
    ck_assert(dca_queue_relieve(&here.queue, &processes[0].view, &book, count_before_others_draw, &processes[0]));
    ck_assert_int_eq(draw(0), DCA_END);
    close_node();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dca-intent");
    TCase *tcase = tcase_create("kills");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_iteration_counts_once_whoever_is_killed);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("losses");
    tcase_add_test(tcase, who_gave_holds_the_rest);
    tcase_add_test(tcase, rank_0_takes_what_was_lost_when_it_is_the_last);
    tcase_add_test(tcase, nothing_is_reissued_because_rank_0_looks_slowly);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
