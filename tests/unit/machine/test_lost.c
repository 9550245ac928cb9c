/* SPDX-License-Identifier: MIT */
/* The service when workers die or hang: what they had is handed out again, never twice at once, and nothing of it is
 * committed twice. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/poison.h"
#include "common/service/pool.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"

struct owner {
    struct run_spec spec;
    struct service service;
    struct actions actions;
    uint64_t committed, digest;
    struct iterations_failed failed; /* the latest */
    unsigned failures;
};

static void on_committed(void *context, const struct part *part)
{
    struct owner *owner = context;
    owner->committed += part->count;
    owner->digest += part->digest;
}

static void on_failed(void *context, const struct iterations_failed *failure)
{
    struct owner *owner = context;
    owner->failed = *failure;
    owner->failures++;
}

static const struct service_ops ops = {.committed = on_committed, .failed = on_failed};
static const unsigned ranks[] = {3, 5, 9};

static void open_service(struct owner *owner, uint64_t record_bytes, bool absent)
{
    *owner = (struct owner){.spec = {.threads = 1, .retries = 2, .recall = RUN_RECALL_OFF}};
    const struct service_config config = {.spec = &owner->spec,
                                          .ranks = ranks,
                                          .workers = 3,
                                          .pool_capacity = 8,
                                          .absent = absent,
                                          .record_bytes = record_bytes,
                                          .ops = &ops,
                                          .owner = owner};
    ck_assert_int_eq(service_init(&owner->service, &config), 0);
    ck_assert_int_eq(actions_init(&owner->actions, 4), 0);
}

static void close_service(struct owner *owner)
{
    service_fini(&owner->service);
    actions_fini(&owner->actions);
}

/* `done` is the chunk that is finished, 0 for none; returns what service_message() does. */
static int request(struct owner *owner, unsigned w, unsigned asks, uint32_t done, enum payload payload, uint64_t now_ns)
{
    struct error error;
    const struct message message = {
        .type = MESSAGE_REQUEST,
        .payload = payload,
        .payload_bytes = payload == PAYLOAD_DATA ? 10 * owner->service.record_bytes : 0,
        .request = {.asks = asks, .chunk = done, .done = done != 0, .digest = 1, .compute_ns = done != 0 ? 1000 : 0}};
    actions_clear(&owner->actions);
    return service_message(&owner->service, w, now_ns, &message, &owner->actions, &error);
}

/* Iterations of its chunk do not work. */
static int tell_failure(struct owner *owner, unsigned w, uint32_t chunk, uint64_t first, bool final, uint64_t now_ns)
{
    struct error error;
    const struct message message = {
        .type = MESSAGE_ITERATIONS_FAILED,
        .iterations_failed = {.id = chunk, .first = first, .count = 1, .final = final, .text = ""}};
    actions_clear(&owner->actions);
    int result = service_message(&owner->service, w, now_ns, &message, &owner->actions, &error);
    service_serve(&owner->service, now_ns, &owner->actions);
    return result;
}

/* Held against the iteration. */
static unsigned deaths(const struct owner *owner, uint64_t iteration)
{
    struct poison poison;
    poison_look(&owner->service.poisons, &(struct range){iteration, 1}, &poison);
    return poison.deaths;
}

static void lose(struct owner *owner, unsigned w)
{
    actions_clear(&owner->actions);
    service_lost(&owner->service, w, 5000);
    service_serve(&owner->service, 5000, &owner->actions);
}

/* The only action assigns [first, first + count) to the rank. */
static void assert_assigned(const struct owner *owner, unsigned rank, uint64_t first, uint64_t count)
{
    ck_assert_uint_eq(owner->actions.length, 1);
    const struct action *action = &owner->actions.items[0];
    ck_assert_int_eq(action->type, ACTION_SEND);
    ck_assert_uint_eq(action->send.to, rank);
    ck_assert_int_eq(action->send.message.type, MESSAGE_ASSIGN);
    ck_assert_uint_eq(action->send.message.assign.first, first);
    ck_assert_uint_eq(action->send.message.assign.count, count);
}

/* It hung, and wakes. What it were given could not be asked back, as it cannot be lost a second time. */
START_TEST(who_was_taken_for_lost_is_given_nothing)
{
    struct owner owner;
    open_service(&owner, 0, false);
    lose(&owner, 0);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    ck_assert_int_eq(request(&owner, 0, 1, 0, PAYLOAD_NONE, 6000), 1);
    ck_assert_uint_eq(owner.actions.length, 0);
    ck_assert_uint_eq(owner.service.line.count, 0);
    service_check(&owner.service);
    close_service(&owner);
}
END_TEST

START_TEST(the_chunks_of_a_dead_worker_go_to_others_first)
{
    struct owner owner;
    open_service(&owner, 0, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    pool_put(&owner.service.pool, 1, (struct range){10, 10});
    ck_assert_int_eq(request(&owner, 0, 1, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(request(&owner, 0, 1, 0, PAYLOAD_NONE, 0), 0); /* gets the other's */
    ck_assert_int_eq(request(&owner, 2, 1, 0, PAYLOAD_NONE, 0), 0); /* waits */
    lose(&owner, 0);
    assert_assigned(&owner, 9, 0, 10);
    ck_assert_uint_eq(owner.service.losses.count, 1);
    ck_assert_uint_eq(owner.service.losses.items[0].chunks, 2);
    ck_assert_uint_eq(owner.service.tally.reissued, 2);
    pool_put(&owner.service.pool, 1, (struct range){20, 4});
    ck_assert_int_eq(request(&owner, 1, 1, 0, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 5, 10, 4); /* no more than the latest that was cut for it */
    lose(&owner, 0);                   /* it is told once */
    ck_assert_uint_eq(owner.service.losses.count, 1);
    ck_assert_uint_eq(owner.service.count.busy, 2);
    close_service(&owner);
}
END_TEST

START_TEST(a_dead_worker_leaves_the_queue)
{
    struct owner owner;
    open_service(&owner, 0, false);
    for (unsigned w = 0; w < 3; w++)
        ck_assert_int_eq(request(&owner, w, 2, 0, PAYLOAD_NONE, 0), 0);
    lose(&owner, 1);
    ck_assert_uint_eq(owner.service.line.count, 2);
    ck_assert_uint_eq(owner.service.line.asks, 4);
    for (unsigned i = 0; i < 4; i++)
        pool_put(&owner.service.pool, 1, (struct range){i, 1});
    actions_clear(&owner.actions);
    service_serve(&owner.service, 6000, &owner.actions);
    ck_assert_uint_eq(owner.actions.length, 2);
    ck_assert_uint_eq(owner.service.line.asks, 0);
    close_service(&owner);
}
END_TEST

START_TEST(what_is_on_its_way_is_not_handed_out_before_it_is_decided)
{
    struct owner owner;
    open_service(&owner, 8, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    ck_assert_int_eq(request(&owner, 0, 1, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(request(&owner, 0, 0, 1, PAYLOAD_DATA, 0), 0);
    const struct part part = owner.actions.items[0].store.part;
    ck_assert_int_eq(request(&owner, 1, 1, 0, PAYLOAD_NONE, 0), 0);
    lose(&owner, 0);
    ck_assert_uint_eq(owner.actions.length, 0);
    service_stored(&owner.service, &(struct event){.type = EVENT_STORED, .part = part, .lost = true}, &owner.actions);
    service_serve(&owner.service, 7000, &owner.actions);
    assert_assigned(&owner, 5, 0, 10);
    ck_assert_uint_eq(owner.committed, 0);
    close_service(&owner);

    open_service(&owner, 8, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    ck_assert_int_eq(request(&owner, 0, 1, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(request(&owner, 0, 0, 1, PAYLOAD_DATA, 0), 0);
    lose(&owner, 0);
    service_stored(&owner.service, &(struct event){.type = EVENT_STORED, .part = part}, &owner.actions);
    ck_assert_uint_eq(owner.committed, 10); /* it was here in time */
    ck_assert_uint_eq(owner.service.requeued.count, 0);
    close_service(&owner);
}
END_TEST

/* Worker 0 hangs with [10, 20) after it did [0, 10) in 1 us; worker 1 is given a copy when that is overdue. */
static void make_copy(struct owner *owner)
{
    pool_put(&owner->service.pool, 0, (struct range){0, 10});
    pool_put(&owner->service.pool, 0, (struct range){10, 10});
    service_set_source(&owner->service, SOURCE_IS_DRY);
    ck_assert_int_eq(request(owner, 0, 1, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(request(owner, 0, 1, 1, PAYLOAD_NONE, 1000), 0);
    ck_assert_int_eq(request(owner, 1, 1, 0, PAYLOAD_NONE, 2000), 0);
    ck_assert_uint_eq(owner->actions.length, 0);
    uint64_t due = service_deadline(&owner->service);
    ck_assert_uint_eq(due, 1000 + LEASE_MIN_NS);
    service_expire(&owner->service, due - 1, &owner->actions);
    ck_assert_uint_eq(owner->actions.length, 0);
    service_expire(&owner->service, due, &owner->actions);
    assert_assigned(owner, 5, 10, 10);
    ck_assert_uint_eq(owner->service.tally.reissued, 1);
}

START_TEST(the_first_of_two_copies_counts)
{
    for (unsigned first = 0; first < 2; first++) {
        struct owner owner;
        open_service(&owner, 0, false);
        make_copy(&owner);
        const uint32_t chunk[] = {2, 1};
        ck_assert_int_eq(request(&owner, first, 0, chunk[first], PAYLOAD_NONE, LEASE_MIN_NS), 0);
        ck_assert_uint_eq(owner.committed, 20);
        ck_assert_int_eq(request(&owner, 1 - first, 0, chunk[1 - first], PAYLOAD_NONE, LEASE_MIN_NS), 0);
        ck_assert_uint_eq(owner.committed, 20);
        ck_assert_uint_eq(owner.digest, 2);
        ck_assert_uint_eq(owner.service.tally.duplicates, 1);
        ck_assert_uint_eq(owner.service.count.busy, 0);
        close_service(&owner);
    }
}
END_TEST

START_TEST(who_has_the_other_copy_goes_on_alone)
{
    struct owner owner;
    open_service(&owner, 0, false);
    make_copy(&owner);
    lose(&owner, 0);
    ck_assert_uint_eq(owner.service.requeued.count, 0);
    lose(&owner, 1); /* now it is with nobody */
    ck_assert_uint_eq(owner.service.requeued.count, 1);
    ck_assert_uint_eq(owner.service.requeued.items[0].range.first, 10);
    ck_assert_uint_eq(deaths(&owner, 10), 2);
    close_service(&owner);
}
END_TEST

START_TEST(a_copy_of_what_killed_a_worker_is_run_with_care)
{
    struct owner owner;
    open_service(&owner, 0, false);
    make_copy(&owner);
    ck_assert(!owner.actions.items[0].send.message.assign.isolated);
    lose(&owner, 0);
    ck_assert_int_eq(request(&owner, 2, 1, 0, PAYLOAD_NONE, 3 * LEASE_MIN_NS), 0);
    service_expire(&owner.service, service_deadline(&owner.service), &owner.actions);
    assert_assigned(&owner, 9, 10, 10);
    ck_assert(owner.actions.items[0].send.message.assign.isolated);
    lose(&owner, 1); /* it was on its way down, too, and the iteration that did it is found by worker 2 */
    ck_assert_uint_eq(owner.service.given_up.count, 0);
    ck_assert_int_eq(tell_failure(&owner, 2, 1, 10, true, 4 * LEASE_MIN_NS), 0);
    ck_assert(owner.failed.final && owner.failed.first == 10 && owner.failed.count == 1);
    close_service(&owner);
}
END_TEST

START_TEST(a_range_that_kills_three_workers_is_given_up)
{
    struct owner owner;
    uint64_t first, count;
    open_service(&owner, 0, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    pool_put(&owner.service.pool, 0, (struct range){10, 5});
    for (unsigned w = 0; w < 2; w++) {
        ck_assert_int_eq(request(&owner, w, 2, 0, PAYLOAD_NONE, 0), 0);
        lose(&owner, w);
        ck_assert_uint_eq(deaths(&owner, 10), 0); /* what nobody had begun is not to blame */
    }
    ck_assert_int_eq(request(&owner, 2, 2, 0, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 9, 10, 5);
    ck_assert_int_eq(request(&owner, 2, 0, 1, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 9, 0, 10);
    lose(&owner, 2);
    ck_assert_uint_eq(owner.service.given_up.count, 1);
    assign_record_get(owner.service.given_up.records, 0, &first, &count);
    ck_assert(first == 0 && count == 10);
    ck_assert_uint_eq(owner.service.requeued.count, 0);
    close_service(&owner);
}
END_TEST

START_TEST(what_killed_two_workers_goes_alone_and_with_care)
{
    struct owner owner;
    open_service(&owner, 0, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    pool_put(&owner.service.pool, 0, (struct range){10, 5});
    for (unsigned w = 0; w < 2; w++) {
        ck_assert_int_eq(request(&owner, w, 2, 0, PAYLOAD_NONE, 0), 0);
        ck_assert(!owner.actions.items[0].send.message.assign.isolated);
        ck_assert_uint_eq(owner.actions.items[0].send.message.record_count, w == 0 ? 1 : 0); /* nothing behind it */
        lose(&owner, w);
    }
    ck_assert_int_eq(request(&owner, 2, 2, 0, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 9, 10, 5);
    ck_assert(!owner.actions.items[0].send.message.assign.isolated);
    ck_assert_int_eq(request(&owner, 2, 1, 1, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 9, 0, 10);
    ck_assert(owner.actions.items[0].send.message.assign.isolated);
    ck_assert_uint_eq(owner.actions.items[0].send.message.record_count, 0);
    ck_assert_int_eq(tell_failure(&owner, 2, 2, 0, true, 0), 0); /* the child died at once */
    ck_assert(owner.failed.final && owner.failed.id == 9 && owner.failed.first == 0 && owner.failed.count == 1);
    ck_assert_int_eq(request(&owner, 2, 0, 2, PAYLOAD_NONE, 0), 0);
    ck_assert_uint_eq(owner.committed, 14);
    ck_assert_uint_eq(owner.service.poisons.count, 0);
    close_service(&owner);
}
END_TEST

START_TEST(what_killed_two_workers_goes_one_by_one_where_nothing_is_run_in_a_child)
{
    struct owner owner;
    uint64_t first, count;
    open_service(&owner, 0, false);
    owner.service.no_isolation = true;
    pool_put(&owner.service.pool, 0, (struct range){0, 3});
    for (unsigned w = 0; w < 2; w++) {
        ck_assert_int_eq(request(&owner, w, 1, 0, PAYLOAD_NONE, 0), 0);
        assert_assigned(&owner, ranks[w], 0, 3);
        lose(&owner, w);
    }
    ck_assert_int_eq(request(&owner, 2, 2, 0, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 9, 0, 1);
    ck_assert_int_eq(request(&owner, 2, 1, 1, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 9, 1, 1);
    lose(&owner, 2);
    ck_assert_uint_eq(owner.service.given_up.count, 1);
    assign_record_get(owner.service.given_up.records, 0, &first, &count);
    ck_assert(first == 1 && count == 1);
    ck_assert_uint_eq(owner.committed, 1);
    ck_assert_uint_eq(owner.service.requeued.count, 1); /* the last one waits for a worker */
    close_service(&owner);
}
END_TEST

START_TEST(what_failed_is_tried_by_another)
{
    struct owner owner;
    open_service(&owner, 0, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    ck_assert_int_eq(request(&owner, 0, 2, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(tell_failure(&owner, 0, 1, 1, false, 0), -1); /* not the next one */
    ck_assert_int_eq(tell_failure(&owner, 0, 1, 0, false, 0), 0);
    ck_assert_uint_eq(owner.actions.length, 0); /* it waits for another worker, */
    ck_assert_uint_eq(service_deadline(&owner.service), ELSEWHERE_NS);
    ck_assert_int_eq(request(&owner, 1, 1, 0, PAYLOAD_NONE, 10), 0);
    assert_assigned(&owner, 5, 0, 1);
    ck_assert_int_eq(tell_failure(&owner, 1, 1, 0, false, 20), 0); /* and the one before may have had bad luck */
    assert_assigned(&owner, 3, 0, 1);
    ck_assert(owner.failures == 2 && !owner.failed.final);
    ck_assert_int_eq(tell_failure(&owner, 0, 2, 0, false, 30), 0);
    ck_assert_uint_eq(owner.actions.length, 0);
    ck_assert(owner.failures == 3 && owner.failed.final && owner.failed.id == 3);
    ck_assert_int_eq(request(&owner, 0, 0, 1, PAYLOAD_NONE, 40), 0);
    ck_assert_int_eq(request(&owner, 0, 0, 2, PAYLOAD_NONE, 40), 0); /* with nothing left */
    ck_assert_int_eq(request(&owner, 1, 0, 1, PAYLOAD_NONE, 40), 0);
    ck_assert_uint_eq(owner.committed, 9);
    ck_assert_uint_eq(owner.service.count.busy, 0);
    close_service(&owner);
}
END_TEST

/* The second has had the iteration for long when it is lost: the third gets it, and not the first, which failed. */
START_TEST(what_failed_goes_to_who_else_is_idle)
{
    struct owner owner;
    open_service(&owner, 0, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    ck_assert_int_eq(request(&owner, 0, 2, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(tell_failure(&owner, 0, 1, 0, false, 0), 0);
    ck_assert_int_eq(request(&owner, 1, 1, 0, PAYLOAD_NONE, 10), 0);
    assert_assigned(&owner, 5, 0, 1);
    ck_assert_int_eq(request(&owner, 0, 0, 1, PAYLOAD_NONE, 20), 0);
    ck_assert_int_eq(request(&owner, 2, 1, 0, PAYLOAD_NONE, 30), 0);
    actions_clear(&owner.actions);
    service_lost(&owner.service, 1, 3 * ELSEWHERE_NS);
    service_serve(&owner.service, 3 * ELSEWHERE_NS, &owner.actions);
    assert_assigned(&owner, 9, 0, 1);
    close_service(&owner);
}
END_TEST

/* The first has two chunks and does not answer a RECALL. What it computes cannot be seen: the older chunk is taken for
 * the running one, and the other goes to a worker that waits, before any copy. */
START_TEST(what_is_taken_from_who_is_late_goes_to_who_waits)
{
    struct owner owner;
    open_service(&owner, 0, false);
    owner.spec.recall = RUN_RECALL_ON;
    for (unsigned i = 0; i < 4; i++)
        pool_put(&owner.service.pool, 0, (struct range){10 * i, 10});
    service_set_source(&owner.service, SOURCE_IS_DRY);
    for (unsigned w = 0; w < 3; w++)
        ck_assert_int_eq(request(&owner, w, 1, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(request(&owner, 0, 1, 0, PAYLOAD_NONE, 0), 0);
    assert_assigned(&owner, 3, 30, 10);
    ck_assert_int_eq(request(&owner, 1, 1, 1, PAYLOAD_NONE, 1000), 0);
    ck_assert_uint_eq(owner.service.recall.open, 1);
    ck_assert_int_eq(request(&owner, 2, 1, 1, PAYLOAD_NONE, 1000 + SILENCE_MIN_NS), 0);
    ck_assert_int_eq(owner.actions.items[owner.actions.length - 1].type, ACTION_STEAL);
    ck_assert_uint_eq(owner.service.tally.reissued, 0);
    ck_assert_uint_le(service_deadline(&owner.service), 1000 + SILENCE_MIN_NS);
    actions_clear(&owner.actions);
    const uint64_t assigned = owner.service.assigned;
    ck_assert_int_eq(
        service_stolen(&owner.service, 0, 1000 + SILENCE_MIN_NS, &(struct stolen){.chunk = 0}, &owner.actions, NULL),
        0);
    ck_assert_uint_gt(owner.service.assigned, assigned);
    ck_assert_uint_eq(service_recalled_iterations(&owner.service), 0);
    service_check(&owner.service);
    close_service(&owner);
}
END_TEST

START_TEST(who_failed_tries_again_where_no_other_comes)
{
    struct owner owner;
    open_service(&owner, 0, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    ck_assert_int_eq(request(&owner, 0, 2, 0, PAYLOAD_NONE, 0), 0);
    ck_assert_int_eq(tell_failure(&owner, 0, 1, 0, false, 7), 0);
    actions_clear(&owner.actions);
    service_expire(&owner.service, ELSEWHERE_NS + 6, &owner.actions);
    ck_assert_uint_eq(owner.actions.length, 0);
    service_expire(&owner.service, ELSEWHERE_NS + 7, &owner.actions);
    assert_assigned(&owner, 3, 0, 1);
    close_service(&owner);

    open_service(&owner, 0, false);
    pool_put(&owner.service.pool, 0, (struct range){0, 10});
    ck_assert_int_eq(request(&owner, 0, 2, 0, PAYLOAD_NONE, 0), 0);
    lose(&owner, 1);
    lose(&owner, 2);
    ck_assert_int_eq(tell_failure(&owner, 0, 1, 0, false, 7), 0);
    assert_assigned(&owner, 3, 0, 1);
    close_service(&owner);
}
END_TEST

START_TEST(a_copy_that_fails_leaves_it_to_the_other)
{
    struct owner owner;
    open_service(&owner, 0, false);
    make_copy(&owner);
    ck_assert_int_eq(tell_failure(&owner, 1, 1, 10, false, LEASE_MIN_NS), 0);
    ck_assert(owner.failures == 1 && !owner.failed.final);
    ck_assert_int_eq(request(&owner, 1, 0, 1, PAYLOAD_NONE, LEASE_MIN_NS), 0);
    ck_assert_uint_eq(owner.committed, 10); /* the rest of it is not wanted */
    ck_assert_int_eq(request(&owner, 0, 0, 2, PAYLOAD_NONE, LEASE_MIN_NS), 0);
    ck_assert_uint_eq(owner.committed, 20);
    ck_assert_uint_eq(owner.service.requeued.count, 0);
    close_service(&owner);
}
END_TEST

START_TEST(a_copy_that_fails_for_good_ends_it)
{
    struct owner owner;
    open_service(&owner, 0, false);
    make_copy(&owner);
    ck_assert_int_eq(tell_failure(&owner, 1, 1, 10, true, LEASE_MIN_NS), 0);
    ck_assert(owner.failures == 1 && owner.failed.final);
    ck_assert_int_eq(request(&owner, 0, 0, 2, PAYLOAD_NONE, LEASE_MIN_NS), 0); /* it comes too late */
    ck_assert_uint_eq(owner.committed, 10);
    ck_assert_int_eq(request(&owner, 1, 0, 1, PAYLOAD_NONE, LEASE_MIN_NS), 0);
    ck_assert_uint_eq(owner.committed, 19);
    close_service(&owner);
}
END_TEST

START_TEST(what_is_known_goes_with_the_iterations)
{
    struct poison_set set = {0};
    struct poison found;
    ck_assert_int_eq(poison_add(&set, &(struct poison){.first = 10, .count = 10, .deaths = 1}), 0);
    ck_assert_int_eq(poison_add(&set, &(struct poison){.first = 15, .count = 10, .failures = 1, .failed_by = 4}), 0);
    ck_assert_uint_eq(set.count, 3);
    ck_assert_uint_eq(poison_look(&set, &(struct range){0, 100}, &found), 10);
    ck_assert_uint_eq(found.deaths + found.failures, 0);
    ck_assert_uint_eq(poison_look(&set, &(struct range){16, 100}, &found), 4);
    ck_assert(found.deaths == 1 && found.failures == 1 && found.failed_by == 4);
    ck_assert_int_eq(poison_raise(&set, &(struct poison){.first = 0, .count = 40, .deaths = 1}), 0);
    ck_assert_uint_eq(set.count, 3); /* [0, 15) and [25, 40) know the same as each other */
    ck_assert_uint_eq(poison_look(&set, &(struct range){0, 100}, &found), 15);
    ck_assert_int_eq(poison_forget(&set, 5, 30), 0);
    ck_assert_uint_eq(set.count, 2);
    ck_assert_uint_eq(poison_look(&set, &(struct range){5, 100}, &found), 30);
    ck_assert_uint_eq(found.deaths, 0);
    ck_assert_uint_eq(poison_look(&set, &(struct range){39, 100}, &found), 1);
    ck_assert_uint_eq(poison_look(&set, &(struct range){40, 100}, &found), 100);
    poison_fini(&set);
}
END_TEST

/* With threads each chunk that was held is told of, the oldest first: where they go is for others to decide, who must
 * know. */
START_TEST(all_chunks_of_dead_threads_are_told_of)
{
    for (unsigned threads = 0; threads < 2; threads++) {
        struct owner owner;
        open_service(&owner, 0, false);
        owner.spec.threads = threads ? 2 : 1;
        for (unsigned i = 0; i < 3; i++)
            pool_put(&owner.service.pool, 0, (struct range){10 * i, 10});
        ck_assert_int_eq(request(&owner, 0, 3, 0, PAYLOAD_NONE, 0), 0);
        lose(&owner, 0);
        ck_assert_uint_eq(owner.service.losses.count, threads ? 3 : 1);
        for (unsigned i = 0; i < owner.service.losses.count; i++) {
            const struct loss *loss = &owner.service.losses.items[i];
            ck_assert_uint_eq(loss->chunks, i == 0 ? 3 : 0);
            ck_assert_uint_eq(loss->running.first, 10 * i);
            ck_assert_uint_eq(loss->running.count, 10);
            ck_assert_uint_eq(deaths(&owner, 10 * i), 1);
        }
        ck_assert_uint_eq(deaths(&owner, 10), threads);
        close_service(&owner);
    }
}
END_TEST

START_TEST(an_end_does_not_wait_for_who_hangs)
{
    struct owner owner;
    open_service(&owner, 0, false);
    make_copy(&owner);
    actions_clear(&owner.actions);
    service_end(&owner.service, &(struct end){0}, LEASE_MIN_NS, &owner.actions);
    for (unsigned w = 1; w < 3; w++) {
        struct error error;
        const struct message goodbye = {.type = MESSAGE_GOODBYE};
        service_message(&owner.service, w, LEASE_MIN_NS, &goodbye, &owner.actions, &error);
    }
    ck_assert(!service_is_over(&owner.service));
    ck_assert_uint_eq(service_deadline(&owner.service), LEASE_MIN_NS + LEAVE_NS);
    service_expire(&owner.service, LEASE_MIN_NS + LEAVE_NS, &owner.actions);
    ck_assert(service_is_over(&owner.service));
    ck_assert_uint_eq(owner.service.losses.count, 1);
    ck_assert_uint_eq(service_deadline(&owner.service), NEVER);
    ck_assert_int_eq(request(&owner, 0, 0, 2, PAYLOAD_NONE, 0), 1); /* it wakes */
    close_service(&owner);
}
END_TEST

/* Workers that leave one after another are waited for, and who does not behind the last of them is not. */
START_TEST(a_late_end_waits_while_others_leave)
{
    struct owner owner;
    struct error error;
    const struct message goodbye = {.type = MESSAGE_GOODBYE};
    uint64_t due = LEASE_MIN_NS + LEAVE_LATE_NS;
    open_service(&owner, 0, false);
    make_copy(&owner);
    actions_clear(&owner.actions);
    service_end(&owner.service, &(struct end){.late = true}, LEASE_MIN_NS, &owner.actions);
    for (unsigned w = 1; w < 3; w++, due += LEAVE_LATE_NS) {
        service_message(&owner.service, w, due - 1, &goodbye, &owner.actions, &error);
        ck_assert_uint_eq(service_deadline(&owner.service), due);
        service_expire(&owner.service, due, &owner.actions);
        ck_assert(!service_is_over(&owner.service));
    }
    ck_assert_uint_eq(service_deadline(&owner.service), due);
    service_expire(&owner.service, due, &owner.actions);
    ck_assert(service_is_over(&owner.service));
    ck_assert_uint_eq(owner.service.losses.count, 1);
    ck_assert_uint_eq(service_deadline(&owner.service), NEVER);
    close_service(&owner);
}
END_TEST

/* A drain has its own time for what is running. */
START_TEST(a_late_drain_is_a_drain)
{
    struct owner owner;
    open_service(&owner, 0, false);
    owner.spec.drain_ns = 1000;
    make_copy(&owner);
    service_end(&owner.service, &(struct end){.late = true, .drain = true}, LEASE_MIN_NS, &owner.actions);
    ck_assert_uint_eq(service_deadline(&owner.service), LEASE_MIN_NS + 1000 + LEAVE_NS);
    close_service(&owner);
}
END_TEST

/* Its END is on its way when the others are given up already. */
START_TEST(who_is_adopted_at_the_end_has_time_to_leave)
{
    struct owner owner;
    open_service(&owner, 0, true);
    service_end(&owner.service, &(struct end){.late = true}, 1000, &owner.actions);
    service_adopt(&owner.service, 2, &(struct range){40, 5}, false, 2000, &owner.actions);
    ck_assert_uint_eq(service_deadline(&owner.service), 2000 + LEAVE_LATE_NS);
    service_expire(&owner.service, 2000 + LEAVE_LATE_NS, &owner.actions);
    ck_assert(service_is_over(&owner.service));
    close_service(&owner);
}
END_TEST

START_TEST(an_adopted_worker_goes_on_with_its_chunk)
{
    for (unsigned counts = 0; counts < 2; counts++) {
        struct owner owner;
        open_service(&owner, 0, true);
        ck_assert(service_deadline(&owner.service) == NEVER && owner.service.count.present == 0);
        service_adopt(&owner.service, 2, &(struct range){40, 5}, counts, 0, &owner.actions);
        ck_assert_uint_eq(owner.service.count.busy, 1);
        pool_put(&owner.service.pool, 2, (struct range){50, 5});
        ck_assert_int_eq(request(&owner, 2, 1, 1, PAYLOAD_NONE, 0), 0);
        assert_assigned(&owner, 9, 50, 5);
        ck_assert_uint_eq(owner.actions.items[0].send.message.assign.chunk, 2);
        ck_assert_uint_eq(owner.committed, counts ? 5 : 0);
        ck_assert_uint_eq(owner.service.tally.duplicates, !counts);
        close_service(&owner);
    }
}
END_TEST

/* An iteration of it has begun in any case. */
START_TEST(an_adopted_worker_gives_up_what_does_not_count)
{
    static const struct {
        bool counts;
        uint64_t iterations;
    } cases[] = {{true, 5}, {false, 1}, {false, 5}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct owner owner;
        const bool is_stopped = !cases[i].counts && cases[i].iterations > 1;
        open_service(&owner, 0, true);
        owner.spec.recall = RUN_RECALL_ON;
        service_adopt(&owner.service, 2, &(struct range){40, cases[i].iterations}, cases[i].counts, 1000,
                      &owner.actions);
        service_check(&owner.service);
        ck_assert_uint_eq(owner.actions.length, is_stopped);
        if (is_stopped) {
            unsigned char record[ASSIGN_RECORD_BYTES];
            struct error error;
            const struct message returned = {.type = MESSAGE_RETURNED, .records = record, .record_count = 1};
            ck_assert_uint_eq(owner.actions.items[0].send.to, 9);
            ck_assert_int_eq(owner.actions.items[0].send.message.type, MESSAGE_RECALL);
            ck_assert_uint_eq(owner.actions.items[0].send.message.recall.waiting, RECALL_ALL);
            assign_record_put(record, 0, 42, 3);
            ck_assert_int_eq(service_message(&owner.service, 2, 2000, &returned, &owner.actions, &error), 0);
            ck_assert_uint_eq(service_recalled_iterations(&owner.service), 0); /* others have them */
            service_check(&owner.service);
        }
        pool_put(&owner.service.pool, 2, (struct range){50, 5});
        ck_assert_int_eq(request(&owner, 2, 1, 1, PAYLOAD_NONE, 3000), 0);
        assert_assigned(&owner, 9, 50, 5);
        ck_assert_uint_eq(owner.committed, cases[i].counts ? 5 : 0);
        close_service(&owner);
    }
}
END_TEST

/* Worker 0 did [0, 10) in 20 s and computes [10, 20), of which nothing is wanted any more. */
START_TEST(an_end_waits_as_long_as_a_chunk_may_take)
{
    static const uint64_t second = 1000000000;
    for (unsigned drain = 0; drain < 2; drain++) {
        struct owner owner;
        open_service(&owner, 0, false);
        owner.spec.drain_ns = 7 * second;
        pool_put(&owner.service.pool, 0, (struct range){0, 10});
        pool_put(&owner.service.pool, 0, (struct range){10, 10});
        ck_assert_int_eq(request(&owner, 0, 1, 0, PAYLOAD_NONE, 0), 0);
        ck_assert_int_eq(request(&owner, 0, 1, 1, PAYLOAD_NONE, 20 * second), 0);
        owner.service.workers[0].compute_ns = 20 * second;
        service_end(&owner.service, &(struct end){.drain = drain}, 21 * second, &owner.actions);
        ck_assert_uint_eq(service_deadline(&owner.service),
                          21 * second + (drain ? 7 * second + LEAVE_NS : 20 * second));
        service_expire(&owner.service, service_deadline(&owner.service), &owner.actions);
        ck_assert(service_is_over(&owner.service));
        close_service(&owner);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lost");
    TCase *all = tcase_create("lost");
    tcase_add_test(all, who_was_taken_for_lost_is_given_nothing);
    tcase_add_test(all, the_chunks_of_a_dead_worker_go_to_others_first);
    tcase_add_test(all, a_dead_worker_leaves_the_queue);
    tcase_add_test(all, what_is_on_its_way_is_not_handed_out_before_it_is_decided);
    tcase_add_test(all, the_first_of_two_copies_counts);
    tcase_add_test(all, who_has_the_other_copy_goes_on_alone);
    tcase_add_test(all, a_copy_of_what_killed_a_worker_is_run_with_care);
    tcase_add_test(all, a_range_that_kills_three_workers_is_given_up);
    tcase_add_test(all, what_killed_two_workers_goes_alone_and_with_care);
    tcase_add_test(all, what_killed_two_workers_goes_one_by_one_where_nothing_is_run_in_a_child);
    tcase_add_test(all, what_failed_is_tried_by_another);
    tcase_add_test(all, what_failed_goes_to_who_else_is_idle);
    tcase_add_test(all, what_is_taken_from_who_is_late_goes_to_who_waits);
    tcase_add_test(all, who_failed_tries_again_where_no_other_comes);
    tcase_add_test(all, a_copy_that_fails_leaves_it_to_the_other);
    tcase_add_test(all, a_copy_that_fails_for_good_ends_it);
    tcase_add_test(all, what_is_known_goes_with_the_iterations);
    tcase_add_test(all, all_chunks_of_dead_threads_are_told_of);
    tcase_add_test(all, an_end_does_not_wait_for_who_hangs);
    tcase_add_test(all, a_late_end_waits_while_others_leave);
    tcase_add_test(all, a_late_drain_is_a_drain);
    tcase_add_test(all, who_is_adopted_at_the_end_has_time_to_leave);
    tcase_add_test(all, an_end_waits_as_long_as_a_chunk_may_take);
    tcase_add_test(all, an_adopted_worker_goes_on_with_its_chunk);
    tcase_add_test(all, an_adopted_worker_gives_up_what_does_not_count);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
