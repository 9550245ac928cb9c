/* SPDX-License-Identifier: MIT */
/* Loops with dependencies, as whoever assigns chunks sees them: the lists of boundaries, the pool that keeps the order,
 * and who is told of whom, in whatever order it becomes known. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/boundary_list.h"
#include "common/service/pool.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "tests/lib/suite.h"

static struct boundary_list boundaries;

START_TEST(seams_are_found_and_taken_away_once)
{
    unsigned who = 0;
    for (unsigned i = 1; i <= 100; i++)
        ck_assert_int_eq(boundary_list_add(&boundaries, 10 * i, i), 0);
    ck_assert(boundary_list_has(&boundaries, 500) && !boundary_list_has(&boundaries, 501));
    for (unsigned i = 1; i <= 100; i += 2) {
        ck_assert(boundary_list_take(&boundaries, 10 * i, &who));
        ck_assert_uint_eq(who, i);
        ck_assert(!boundary_list_take(&boundaries, 10 * i, &who));
    }
    ck_assert_uint_eq(boundaries.count, 50);
    for (unsigned i = 2; i <= 100; i += 2)
        ck_assert(boundary_list_take(&boundaries, 10 * i, &who) && who == i);
    ck_assert_uint_eq(boundaries.count, 0);
    boundary_list_fini(&boundaries);
}
END_TEST

START_TEST(only_the_last_seam_of_the_same_owner_moves)
{
    unsigned who;
    ck_assert(!boundary_list_move_last(&boundaries, 0, 10, 1)); /* there is none */
    ck_assert_int_eq(boundary_list_add(&boundaries, 10, 1), 0);
    ck_assert(boundary_list_move_last(&boundaries, 10, 20, 1));
    ck_assert(!boundary_list_move_last(&boundaries, 20, 30, 2)); /* another's */
    ck_assert(!boundary_list_move_last(&boundaries, 10, 30, 1)); /* it is elsewhere now */
    ck_assert_int_eq(boundary_list_add(&boundaries, 30, 2), 0);
    ck_assert(!boundary_list_move_last(&boundaries, 20, 40, 1)); /* not the last */
    ck_assert(boundary_list_take(&boundaries, 20, &who) && who == 1);
    ck_assert(boundary_list_take(&boundaries, 30, &who) && who == 2);
    boundary_list_fini(&boundaries);
}
END_TEST

static void takes(struct pool *pool, unsigned worker, uint64_t first, uint64_t count)
{
    struct range range;
    ck_assert(pool_take(pool, worker, &range));
    ck_assert_uint_eq(range.first, first);
    ck_assert_uint_eq(range.count, count);
}

START_TEST(the_oldest_chunk_goes_first)
{
    struct pool pool;
    struct range range;
    ck_assert_int_eq(pool_init(&pool, 2, 3), 0);
    ck_assert(pool_put_in_order(&pool, 0, (struct range){0, 10}, 1));
    ck_assert(pool_put_in_order(&pool, 1, (struct range){10, 8}, 1));
    ck_assert(pool_put_in_order(&pool, 0, (struct range){18, 7}, 1));
    ck_assert(!pool_put_in_order(&pool, 0, (struct range){25, 7}, 1)); /* it is full */
    takes(&pool, 1, 0, 10);                                            /* not its own */
    takes(&pool, 0, 10, 8);
    takes(&pool, 0, 18, 7);
    ck_assert(!pool_take(&pool, 0, &range));
    pool_fini(&pool);
}
END_TEST

/* The front part goes, and no part is shorter than the dependences are long. */
START_TEST(a_split_keeps_the_order)
{
    struct pool pool;
    ck_assert_int_eq(pool_init(&pool, 2, 8), 0);
    ck_assert(pool_put_in_order(&pool, 0, (struct range){0, 40}, 4));
    ck_assert(pool_put_in_order(&pool, 1, (struct range){40, 10}, 4));
    ck_assert(pool_put_in_order(&pool, 0, (struct range){50, 40}, 4));
    ck_assert(pool_put_in_order(&pool, 1, (struct range){90, 3}, 4)); /* the loop's last: no measure */
    takes(&pool, 1, 0, 10);
    takes(&pool, 0, 10, 30);
    takes(&pool, 0, 40, 10);
    takes(&pool, 1, 50, 10);
    takes(&pool, 1, 60, 10);
    takes(&pool, 0, 70, 20);
    takes(&pool, 0, 90, 3);
    pool_fini(&pool);
}
END_TEST

/* --- the service --- */

enum { WORKERS = 3 };

static const unsigned ranks[WORKERS] = {4, 6, 9};
static struct service service;
static struct actions actions;
static struct neighbour told_up[10];
static unsigned told_up_count;

static struct part committed[10];
static unsigned committed_count;

static void on_committed(void *owner, const struct part *part)
{
    (void)owner;
    committed[committed_count++] = *part;
}

static void on_neighbour(void *owner, const struct neighbour *neighbour)
{
    (void)owner;
    told_up[told_up_count++] = *neighbour;
}

static void begin(void)
{
    static const struct service_ops ops = {.committed = on_committed, .neighbour = on_neighbour};
    static const struct run_spec spec = {.threads = 1, .recall = RUN_RECALL_OFF};
    const struct service_config config = {.spec = &spec,
                                          .ranks = ranks,
                                          .workers = WORKERS,
                                          .pool_capacity = 20,
                                          .no_speculation = true,
                                          .dependent = true,
                                          .ops = &ops};
    told_up_count = committed_count = 0;
    ck_assert_int_eq(service_init(&service, &config), 0);
    ck_assert_int_eq(actions_init(&actions, 16), 0);
}

static void end(void)
{
    service_fini(&service);
    actions_fini(&actions);
}

static void put(uint64_t first, uint64_t last)
{
    ck_assert(pool_put_in_order(&service.pool, 0, (struct range){first, last - first}, 1));
}

/* The worker asks for so many chunks, and is answered in the same step. */
static void ask(unsigned w, unsigned asks)
{
    struct error error;
    actions_clear(&actions);
    ck_assert_int_eq(service_message(&service, w, 1,
                                     &(struct message){.type = MESSAGE_REQUEST, .request = {.asks = asks}}, &actions,
                                     &error),
                     0);
}

static void is_told(size_t i, unsigned rank, uint64_t first, unsigned neighbour)
{
    ck_assert_uint_lt(i, actions.length);
    const struct action *action = &actions.items[i];
    ck_assert_int_eq(action->send.message.type, MESSAGE_NEIGHBOUR);
    ck_assert_uint_eq(action->send.to, rank);
    ck_assert_uint_eq(action->send.message.neighbour.first, first);
    ck_assert_uint_eq(action->send.message.neighbour.rank, neighbour);
}

START_TEST(who_is_before_a_chunk_is_told_behind_the_assign)
{
    begin();
    put(0, 5);
    put(5, 9);
    ask(0, 1);
    ck_assert_uint_eq(actions.length, 1);
    ask(1, 1);
    ck_assert_uint_eq(actions.length, 2);
    ck_assert_int_eq(actions.items[0].send.message.type, MESSAGE_ASSIGN);
    is_told(1, 4, 5, 6);
    ck_assert_uint_eq(told_up_count, 0);
    end();
}
END_TEST

START_TEST(who_has_both_sides_is_told_nothing)
{
    begin();
    put(0, 5);
    put(5, 9);
    put(9, 12);
    ask(2, 2);
    ck_assert_uint_eq(actions.length, 1);
    ask(2, 1);
    ck_assert_uint_eq(actions.length, 1);
    end();
}
END_TEST

/* What others have goes up where it is before a chunk, and may come before or after the chunk that it is behind. */
START_TEST(what_is_elsewhere_is_told_once_it_is_known)
{
    begin();
    put(20, 25);
    put(40, 50);
    ask(0, 1);
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_uint_eq(told_up_count, 1);
    ck_assert_uint_eq(told_up[0].first, 20);
    ck_assert_uint_eq(told_up[0].rank, 4);
    actions_clear(&actions);
    ck_assert(service_take_neighbour(&service, &(struct neighbour){25, 77}, &actions));
    ck_assert_uint_eq(actions.length, 1);
    is_told(0, 4, 25, 77);
    actions_clear(&actions);
    ck_assert(service_take_neighbour(&service, &(struct neighbour){50, 78}, &actions));
    ck_assert_uint_eq(actions.length, 0);
    ck_assert(!service_take_neighbour(&service, &(struct neighbour){50, 79}, &actions)); /* twice */
    ask(1, 1);
    ck_assert_uint_eq(actions.length, 2);
    is_told(1, 6, 50, 78);
    ck_assert_uint_eq(told_up_count, 2);
    ck_assert_uint_eq(told_up[1].first, 40);
    end();
}
END_TEST

START_TEST(independent_loops_have_no_neighbours)
{
    begin();
    service.dependent = false;
    put(0, 5);
    put(5, 9);
    ask(0, 1);
    ask(1, 1);
    ck_assert_uint_eq(actions.length, 1);
    ck_assert(!service_take_neighbour(&service, &(struct neighbour){9, 4}, &actions));
    end();
}
END_TEST

/* What a lost worker had is nobody's, as the run ends; and it is told nothing. */
START_TEST(nothing_of_a_lost_worker_is_handed_out_again)
{
    begin();
    put(0, 5);
    put(5, 9);
    ask(0, 1);
    service_lost(&service, 0, 2);
    ask(1, 2);
    ck_assert_uint_eq(actions.length, 1);
    ck_assert_uint_eq(actions.items[0].send.message.assign.first, 5);
    ck_assert_uint_eq(actions.items[0].send.message.record_count, 0);
    ck_assert_uint_eq(service.requeued.count, 0);
    end();
}
END_TEST

static int tell(unsigned w, struct message message)
{
    struct error error;
    actions_clear(&actions);
    return service_message(&service, w, 1, &message, &actions, &error);
}

static void finish_chunk(unsigned w, uint32_t chunk, uint64_t digest)
{
    const struct request request = {.chunk = chunk, .done = true, .digest = digest};
    ck_assert_int_eq(tell(w, (struct message){.type = MESSAGE_REQUEST, .request = request}), 0);
}

/* A digest cannot be divided should some of the chunk be computed again. */
START_TEST(a_chunk_is_committed_as_a_whole)
{
    begin();
    put(0, 9);
    ask(0, 1);
    ck_assert_int_eq(tell(0, (struct message){.type = MESSAGE_RESULT, .result = {1, 4, 100}}), 0);
    ck_assert_int_eq(tell(0, (struct message){.type = MESSAGE_RESULT, .result = {1, 3, 20}}), 0);
    ck_assert_uint_eq(committed_count, 0);
    finish_chunk(0, 1, 3);
    ck_assert_uint_eq(committed_count, 1);
    ck_assert_uint_eq(committed[0].first, 0);
    ck_assert_uint_eq(committed[0].count, 9);
    ck_assert_uint_eq(committed[0].digest, 123);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order");
    TCase *all = tcase_create("order");
    tcase_add_test(all, seams_are_found_and_taken_away_once);
    tcase_add_test(all, only_the_last_seam_of_the_same_owner_moves);
    tcase_add_test(all, the_oldest_chunk_goes_first);
    tcase_add_test(all, a_split_keeps_the_order);
    tcase_add_test(all, who_is_before_a_chunk_is_told_behind_the_assign);
    tcase_add_test(all, who_has_both_sides_is_told_nothing);
    tcase_add_test(all, what_is_elsewhere_is_told_once_it_is_known);
    tcase_add_test(all, independent_loops_have_no_neighbours);
    tcase_add_test(all, nothing_of_a_lost_worker_is_handed_out_again);
    tcase_add_test(all, a_chunk_is_committed_as_a_whole);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
