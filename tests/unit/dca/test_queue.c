/* SPDX-License-Identifier: MIT */
/* The lock-free queue of a node under real contention: threads that draw and refill, each iteration exactly once. */
#include "common/dca/core_queue.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <string.h>
#include <threads.h>

#define THREADS    4
#define RUNS       200
#define ITERATIONS 20000

struct node {
    struct dca_queue queue;
    struct sched_spec technique;
    _Atomic uint64_t global; /* start of the loop: where big chunks come from */
    uint64_t iterations, big;
    bool recall;
    _Atomic unsigned char *seen; /* [iterations] */
    _Atomic uint64_t drawn, refills, ends, broken, recalls;
};

static void refill(struct node *node)
{
    struct range big;
    if (!dca_queue_take_rest(&node->queue, &big)) {
        uint64_t first = atomic_fetch_add(&node->global, node->big);
        uint64_t left = first < node->iterations ? node->iterations - first : 0;
        big = (struct range){first, left < node->big ? left : node->big};
    }
    atomic_fetch_add(&node->refills, 1);
    if (big.count > 0)
        dca_queue_refill(&node->queue, &big);
    else
        dca_queue_end(&node->queue, node->recall);
}

/* Computes a chunk an iteration at a time, and gives up half of what is left whenever somebody is hungry. */
static void compute(struct node *node, const struct range *chunk)
{
    uint64_t end = chunk->first + chunk->count;
    for (uint64_t i = chunk->first; i < end; i++) {
        atomic_fetch_add_explicit(&node->seen[i], 1, memory_order_relaxed);
        if (i % 16 == 0 && node->recall)
            thrd_yield(); /* on few cores others would come to nothing before the chunk is over */
        if (!dca_queue_is_wanted(&node->queue) || !dca_queue_claim(&node->queue))
            continue;
        const uint64_t given = (end - i - 1) / 2 + (end - i - 1) % 2;
        end -= given;
        atomic_fetch_add(&node->recalls, given > 0);
        dca_queue_give(&node->queue, &(struct range){end, given});
    }
    atomic_fetch_add(&node->drawn, end - chunk->first);
}

static int work(void *context)
{
    struct node *node = context;
    struct dca_view view;
    struct range chunk;
    struct error error;
    if (dca_view_init(&view, &node->technique, THREADS, &error) < 0)
        return -1;
    for (;;) {
        switch (dca_queue_draw(&node->queue, &view, &chunk, &error)) {
        case DCA_DRAWN: compute(node, &chunk); break;
        case DCA_REFILL: refill(node); break;
        case DCA_WAIT: thrd_yield(); break;
        case DCA_HUNGRY:
            while (dca_queue_is_drained(&node->queue))
                thrd_yield();
            dca_queue_wake(&node->queue);
            break;
        case DCA_END: dca_view_fini(&view); return 0;
        case DCA_BROKEN: atomic_fetch_add(&node->broken, 1); return -1;
        }
    }
}

static uint64_t contend(const char *technique, uint64_t iterations, uint64_t big, bool recall)
{
    struct node *node = aligned_alloc(64, (sizeof *node + 63) / 64 * 64);
    thrd_t threads[THREADS];
    int result;
    memset(node, 0, sizeof *node);
    node->technique = spec_of(technique);
    node->iterations = iterations;
    node->big = big;
    node->recall = recall;
    node->seen = calloc(iterations + 1, 1);
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(thrd_create(&threads[t], work, node), thrd_success);
    for (int t = 0; t < THREADS; t++) {
        thrd_join(threads[t], &result);
        ck_assert_int_eq(result, 0);
    }
    ck_assert_uint_eq(node->drawn, iterations);
    for (uint64_t i = 0; i < iterations; i++)
        ck_assert_uint_eq(node->seen[i], 1);
    ck_assert_uint_eq(node->refills, (iterations + big - 1) / big + 1);
    const uint64_t recalls = node->recalls;
    free((void *)node->seen);
    free(node);
    return recalls;
}

START_TEST(each_iteration_once_under_contention)
{
    static const char *const inside[] = {"ss", "fac2", "gss", "static", "css:chunk=7", "tss", "rnd"};
    struct random random;
    random_init(&random, 5);
    for (unsigned run = 0; run < RUNS; run++)
        contend(inside[run % 7], random_between(&random, 0, ITERATIONS),
                random_between(&random, 1, run % 2 ? 50 : 3000), false);
}
END_TEST

START_TEST(each_iteration_once_where_chunks_are_given_up)
{
    static const char *const inside[] = {"static", "ss", "fac2", "css:chunk=1000", "gss"};
    struct random random;
    uint64_t recalls = 0;
    random_init(&random, 6);
    for (unsigned run = 0; run < RUNS / 4 || (recalls == 0 && run < 20 * RUNS); run++)
        recalls += contend(inside[run % 5], random_between(&random, 0, ITERATIONS),
                           random_between(&random, 1, run % 2 ? 300 : ITERATIONS), true);
    ck_assert_uint_gt(recalls, 0);
}
END_TEST

/* An empty queue, and the views of the two workers that draw from it. */
static void open_for_two(struct dca_queue *queue, struct dca_view *view, struct dca_view *other)
{
    struct error error;
    struct sched_spec spec = spec_of("static");
    memset(queue, 0, sizeof *queue);
    ck_assert_int_eq(dca_view_init(view, &spec, 2, &error), 0);
    ck_assert_int_eq(dca_view_init(other, &spec, 2, &error), 0);
}

/* Two workers: one gives to the other what it has not begun, then both are hungry, which ends the queue. */
START_TEST(the_queue_ends_when_all_are_hungry)
{
    struct dca_queue queue;
    struct dca_view view, other;
    struct range chunk;
    struct error error;
    open_for_two(&queue, &view, &other);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_REFILL);
    dca_queue_refill(&queue, &(struct range){0, 20});
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_DRAWN);
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_DRAWN);
    ck_assert(!dca_queue_is_wanted(&queue));
    ck_assert(!dca_queue_claim(&queue));
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_REFILL);
    dca_queue_end(&queue, true);
    ck_assert(!dca_queue_claim(&queue)); /* drained, but nobody is hungry */
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_HUNGRY);
    ck_assert(dca_queue_is_drained(&queue) && dca_queue_is_wanted(&queue));
    ck_assert(dca_queue_claim(&queue));
    ck_assert(!dca_queue_claim(&queue));           /* one at a time */
    dca_queue_give(&queue, &(struct range){0, 0}); /* all has begun */
    ck_assert(dca_queue_is_drained(&queue));
    ck_assert(dca_queue_claim(&queue));
    dca_queue_give(&queue, &(struct range){17, 3});
    ck_assert(!dca_queue_is_drained(&queue));
    dca_queue_wake(&queue);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_DRAWN);
    ck_assert(chunk.first == 17 && chunk.count == 1);
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_DRAWN);
    ck_assert(chunk.first == 18 && chunk.count == 1 && !dca_queue_is_drained(&queue));
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_DRAWN);
    ck_assert(chunk.first == 19 && chunk.count == 1);
    ck_assert(dca_queue_is_drained(&queue) && dca_queue_claim(&queue)); /* before the next one is hungry */
    dca_queue_give(&queue, &(struct range){0, 0});
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_HUNGRY);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_END);
    ck_assert(!dca_queue_is_drained(&queue));
    dca_queue_wake(&queue);
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_END);
    dca_view_fini(&view);
    dca_view_fini(&other);
}
END_TEST

START_TEST(a_stop_ends_all_draws)
{
    struct dca_queue queue;
    struct dca_view view;
    struct range chunk;
    struct error error;
    struct sched_spec spec = spec_of("ss");
    memset(&queue, 0, sizeof queue);
    ck_assert_int_eq(dca_view_init(&view, &spec, 2, &error), 0);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_REFILL);
    dca_queue_refill(&queue, &(struct range){10, 5});
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_DRAWN);
    ck_assert_uint_eq(chunk.first, 10);
    dca_queue_stop(&queue);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_END);
    dca_view_fini(&view);
}
END_TEST

START_TEST(others_wait_while_one_refills)
{
    struct dca_queue queue;
    struct dca_view view, other;
    struct range chunk;
    struct error error;
    open_for_two(&queue, &view, &other);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_REFILL);
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_WAIT);
    dca_queue_refill(&queue, &(struct range){0, 5});
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_DRAWN);
    ck_assert_uint_eq(chunk.count, 3);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_DRAWN);
    ck_assert_uint_eq(chunk.first, 3);
    ck_assert_uint_eq(chunk.count, 2);
    ck_assert_int_eq(dca_queue_draw(&queue, &view, &chunk, &error), DCA_REFILL);
    dca_queue_end(&queue, false);
    ck_assert_int_eq(dca_queue_draw(&queue, &other, &chunk, &error), DCA_END);
    dca_view_fini(&view);
    dca_view_fini(&other);
}
END_TEST

START_TEST(a_big_chunk_beyond_the_steps_comes_in_pieces)
{
    struct dca_queue queue;
    struct dca_view view;
    struct range chunk;
    struct error error;
    struct sched_spec spec = spec_of("css:chunk=2^39");
    const uint64_t whole = UINT64_C(5) << 40;
    uint64_t next = 7;
    memset(&queue, 0, sizeof queue);
    ck_assert_int_eq(dca_view_init(&view, &spec, 2, &error), 0);
    for (bool begun = false;;) {
        enum dca_drawn drawn = dca_queue_draw(&queue, &view, &chunk, &error);
        if (drawn == DCA_DRAWN) {
            ck_assert_uint_eq(chunk.first, next);
            next += chunk.count;
            continue;
        }
        ck_assert_int_eq(drawn, DCA_REFILL);
        bool rest = dca_queue_take_rest(&queue, &chunk);
        if (!rest && begun)
            break;
        begun = true;
        dca_queue_refill(&queue, rest ? &chunk : &(struct range){7, whole});
    }
    ck_assert_uint_eq(next, 7 + whole);
    dca_view_fini(&view);
}
END_TEST

START_TEST(a_technique_without_closed_form_is_refused)
{
    struct dca_view view;
    struct error error = {0};
    struct sched_spec spec = spec_of("dfss");
    ck_assert_int_eq(dca_view_init(&view, &spec, 2, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "closed form"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flat-queue");
    TCase *tcase = tcase_create("queue");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, each_iteration_once_under_contention);
    tcase_add_test(tcase, each_iteration_once_where_chunks_are_given_up);
    tcase_add_test(tcase, the_queue_ends_when_all_are_hungry);
    tcase_add_test(tcase, a_stop_ends_all_draws);
    tcase_add_test(tcase, others_wait_while_one_refills);
    tcase_add_test(tcase, a_big_chunk_beyond_the_steps_comes_in_pieces);
    tcase_add_test(tcase, a_technique_without_closed_form_is_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
