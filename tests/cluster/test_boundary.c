/* SPDX-License-Identifier: MIT */
/* A worker of a loop with dependencies, step by step: when its boundary data leave, what it takes over itself, what it
 * keeps for the journal, and what of others it does not believe. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

#include <string.h>

/* Supermaster 0, its workers 1 to 4. */
enum { RANK = 2, WORKERS = 4, ROWS = 100, HALO_BYTES = 5000 };

static struct topology topology;
static struct boundaries boundaries;
static struct worker worker;
static struct actions actions;
static unsigned char data[HALO_BYTES];

static void step(struct event event, size_t count)
{
    actions_clear(&actions);
    worker_step(&worker, &event, &actions);
    ck_assert_uint_eq(actions.length, count);
}

static void hear(unsigned from, struct message message, size_t count)
{
    step((struct event){.type = EVENT_MESSAGE, .from = from, .message = &message, .now_ns = 1000}, count);
}

static void assign(uint32_t chunk, uint64_t first, uint64_t end, size_t count)
{
    hear(0, (struct message){.type = MESSAGE_ASSIGN, .assign = {.chunk = chunk, .first = first, .count = end - first}},
         count);
}

static void neighbour(uint64_t first, unsigned rank, size_t count)
{
    hear(0, (struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = {first, rank}}, count);
}

static void ready(uint64_t boundary_at, uint64_t bytes, size_t count)
{
    step((struct event){.type = EVENT_BOUNDARY_READY, .now_ns = 1500, .ready = {boundary_at, data, bytes}}, count);
}

static void finish(size_t count)
{
    step((struct event){.type = EVENT_FINISHED, .now_ns = 2000, .chunk = {.count = 10, .compute_ns = 500}}, count);
}

static void come(unsigned from, uint64_t first, uint64_t offset, uint64_t bytes, size_t count)
{
    hear(from,
         (struct message){.type = MESSAGE_BOUNDARY,
                          .payload = bytes <= INLINE_MAX ? PAYLOAD_INLINE : PAYLOAD_DATA,
                          .payload_data = bytes <= INLINE_MAX ? data : NULL,
                          .payload_bytes = bytes,
                          .boundary = {first, offset}},
         count);
}

static struct run_spec spec;

static void begin_asking(unsigned ahead)
{
    struct hello hellos[WORKERS + 1];
    for (unsigned i = 0; i <= WORKERS; i++)
        hellos[i] = (struct hello){.protocol = PROTOCOL_VERSION, .role = i == 0 ? ROLE_SUPERMASTER : ROLE_WORKER};
    ck_assert_int_eq(topology_init(&topology, hellos, WORKERS + 1, false), 0);
    spec = (struct run_spec){.ask_ahead = ahead > 0 ? ASK_AHEAD_FIXED : ASK_AHEAD_OFF, .ask_ahead_chunks = ahead};
    worker_init(&worker, &(struct worker_config){.spec = &spec,
                                                 .rank = RANK,
                                                 .boundaries = &boundaries,
                                                 .boundary_bytes = HALO_BYTES,
                                                 .end = ROWS,
                                                 .topology = &topology});
    ck_assert_int_eq(actions_init(&actions, 16), 0);
    step((struct event){.type = EVENT_START}, 1);
}

static void end(void)
{
    actions_fini(&actions);
    topology_fini(&topology);
}

static void assert_sends(size_t i, unsigned to, uint64_t first, uint64_t offset, uint64_t bytes)
{
    const struct message *message = &actions.items[i].send.message;
    ck_assert_int_eq(actions.items[i].type, ACTION_SEND);
    ck_assert_int_eq(message->type, MESSAGE_BOUNDARY);
    ck_assert_uint_eq(actions.items[i].send.to, to);
    ck_assert_uint_eq(message->boundary.first, first);
    ck_assert_uint_eq(message->boundary.offset, offset);
    ck_assert_uint_eq(message->payload_bytes, bytes);
    ck_assert_ptr_eq(message->payload_data, data + offset);
    ck_assert_int_eq(message->payload, bytes <= INLINE_MAX ? PAYLOAD_INLINE : PAYLOAD_DATA);
}

static void assert_boundary(size_t i, enum action_type type, uint64_t boundary_at)
{
    ck_assert_int_eq(actions.items[i].type, type);
    ck_assert_uint_eq(actions.items[i].boundary_at, boundary_at);
}

static void assert_dropped(unsigned rank)
{
    ck_assert_int_eq(actions.items[0].type, ACTION_DROP);
    ck_assert_uint_eq(actions.items[0].drop.rank, rank);
}

START_TEST(data_leave_at_once_where_it_is_known_to_whom)
{
    begin_asking(0);
    assign(1, 0, 10, 1);
    neighbour(10, 4, 0);
    ready(10, 1000, 1);
    assert_sends(0, 4, 10, 0, 1000);
    ready(10, HALO_BYTES, 1);
    assert_sends(0, 4, 10, 1000, HALO_BYTES - 1000);
    finish(1); /* it asks, and keeps them */
    end();
}
END_TEST

START_TEST(data_are_kept_until_it_is_known_to_whom)
{
    begin_asking(0);
    assign(1, 0, 10, 1);
    ready(10, 1000, 0);
    ready(10, 2000, 0);
    neighbour(10, 1, 1); /* all there is, in one message */
    assert_sends(0, 1, 10, 0, 2000);
    ready(10, HALO_BYTES, 1);
    finish(1);
    end();

    begin_asking(0);
    assign(1, 0, 10, 1);
    ready(10, HALO_BYTES, 0);
    finish(1); /* it only asks */
    ck_assert_uint_eq(actions.items[0].send.message.request.asks, 1);
    neighbour(10, 3, 1);
    assert_sends(0, 3, 10, 0, HALO_BYTES);
    end();
}
END_TEST

START_TEST(nothing_is_sent_to_oneself)
{
    begin_asking(1);
    assign(1, 0, 10, 2); /* RUN, and asks ahead */
    assign(2, 10, 20, 0);
    ready(10, HALO_BYTES, 0);
    finish(3);
    assert_boundary(1, ACTION_REUSE, 10);
    ck_assert_int_eq(actions.items[2].type, ACTION_RUN);
    ck_assert_uint_eq(actions.items[2].run.first, 10);
    end();

    begin_asking(0); /* it is idle meanwhile */
    assign(1, 0, 10, 1);
    ready(10, HALO_BYTES, 0);
    finish(1);
    assign(2, 10, 20, 2);
    assert_boundary(0, ACTION_REUSE, 10);
    ck_assert_int_eq(actions.items[1].type, ACTION_RUN);
    end();
}
END_TEST

START_TEST(nobody_is_behind_the_last_chunk)
{
    begin_asking(0);
    assign(1, 90, ROWS, 1);
    ck_assert_uint_eq(boundaries.halo_send_count, 0);
    finish(1);
    end();
}
END_TEST

START_TEST(data_may_come_before_their_chunk)
{
    begin_asking(1);
    come(4, 30, 0, 100, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_BOUNDARY);
    ck_assert_uint_eq(actions.items[0].boundary.first, 30);
    ck_assert_ptr_eq(actions.items[0].boundary.data, data);
    come(3, 50, 0, 100, 1); /* for two chunks at a time */
    come(4, 30, 100, 3000, 1);
    ck_assert_uint_eq(actions.items[0].boundary.offset, 100);
    ck_assert_ptr_null(actions.items[0].boundary.data); /* it comes by itself */
    ck_assert_uint_eq(actions.items[0].boundary.from, 4);
    assign(1, 30, 40, 2);
    come(4, 30, 3100, HALO_BYTES - 3100, 1);
    ready(40, HALO_BYTES, 0);
    finish(1);
    ck_assert_uint_eq(boundaries.halo_receive_count, 1);
    end();
}
END_TEST

/* A chunk of ten rows, whose boundary data go to rank 4. */
static void compute(uint32_t chunk, uint64_t first, size_t finished)
{
    assign(chunk, first, first + 10, 1);
    neighbour(first + 10, 4, 0);
    ready(first + 10, HALO_BYTES, 1);
    finish(finished);
}

START_TEST(the_latest_that_were_sent_are_kept)
{
    begin_asking(0);
    for (unsigned i = 0; i < HALO_SENDS_KEPT; i++)
        compute(i + 1, 20 * i, 1);
    compute(HALO_SENDS_KEPT + 1, 20 * HALO_SENDS_KEPT, 2);
    assert_boundary(0, ACTION_RELEASE, 10);
    ck_assert_uint_eq(boundaries.halo_send_count, HALO_SENDS_KEPT);
    end();
}
END_TEST

/* --- recovery points --- */

/* From the i-th action on: all data of the boundary, to the supermaster, in pieces that need no message of their own.
 */
static void assert_copy(size_t i, uint64_t first)
{
    for (uint64_t sent = 0; sent < HALO_BYTES; sent += INLINE_MAX)
        assert_sends(i++, 0, first, sent, HALO_BYTES - sent < INLINE_MAX ? HALO_BYTES - sent : INLINE_MAX);
}

enum { PIECES = (HALO_BYTES + INLINE_MAX - 1) / INLINE_MAX };

START_TEST(a_copy_goes_up_when_the_chunk_is_finished)
{
    begin_asking(0);
    assign(1, 0, 10, 1);
    neighbour(10, 0, 0);
    neighbour(10, 0, 0); /* once is enough */
    ready(10, 1000, 0);
    ready(10, HALO_BYTES, 0);
    finish(1 + PIECES);
    assert_copy(0, 10);
    neighbour(10, 4, 1); /* as if nothing were */
    assert_sends(0, 4, 10, 0, HALO_BYTES);
    neighbour(10, 0, PIECES); /* the data are still there */
    assert_copy(0, 10);
    neighbour(20, 0, 0); /* there are no such data */
    end();

    begin_asking(1);
    assign(1, 0, 10, 2);
    assign(2, 10, 20, 0); /* the next chunk takes the data over */
    neighbour(10, 0, 0);
    ready(10, HALO_BYTES, 0);
    finish(3 + PIECES);
    end();
}
END_TEST

START_TEST(data_may_come_from_above)
{
    begin_asking(0);
    come(0, 30, 0, INLINE_MAX, 1);
    ck_assert_int_eq(actions.items[0].type, ACTION_BOUNDARY);
    come(0, 30, INLINE_MAX, 100, 1);
    assign(1, 30, 40, 1);
    come(0, 30, 0, 100, 1); /* again */
    assert_dropped(0);
    end();
}
END_TEST

/* It turns to the supermaster, and computes nothing that counts. */
START_TEST(without_its_master_it_waits_for_the_end)
{
    enum { SUPERMASTER = WORKERS + 1 };
    begin_asking(0);
    worker.config.supermaster = SUPERMASTER;
    assign(1, 0, 10, 1);
    step((struct event){.type = EVENT_RANK_LOST, .from = 0, .now_ns = 1500}, 1);
    ck_assert_uint_eq(actions.items[0].send.to, SUPERMASTER);
    ck_assert_int_eq(actions.items[0].send.message.type, MESSAGE_ADOPT);
    ck_assert_uint_eq(actions.items[0].send.message.adopt.count, 0);
    step((struct event){.type = EVENT_SLICE, .now_ns = 1600, .chunk = {.count = 5}}, 0);
    finish(0);
    hear(SUPERMASTER, (struct message){.type = MESSAGE_END, .end = {.drain = true, .degraded = true}}, 2);
    ck_assert_int_eq(actions.items[0].send.message.type, MESSAGE_GOODBYE);
    end();
}
END_TEST

START_TEST(an_end_is_not_kept_waiting)
{
    begin_asking(0);
    assign(1, 30, 40, 1);
    hear(0, (struct message){.type = MESSAGE_END, .end = {.drain = true, .degraded = true}}, 2);
    ck_assert_int_eq(actions.items[0].send.message.type, MESSAGE_GOODBYE);
    ck_assert_int_eq(actions.items[1].type, ACTION_EXIT);
    end();
}
END_TEST

static void assert_boundary_is_refused(unsigned from, uint64_t first, uint64_t offset, uint64_t bytes)
{
    begin_asking(0);
    come(4, 30, 0, 100, 1);
    come(from, first, offset, bytes, 1);
    assert_dropped(from);
    end();
}

START_TEST(boundary_data_that_cannot_be_are_refused)
{
    assert_boundary_is_refused(0, 30, 100, 10);              /* not from a worker */
    assert_boundary_is_refused(RANK, 30, 100, 10);           /* from oneself */
    assert_boundary_is_refused(WORKERS + 1, 30, 100, 10);    /* from nobody */
    assert_boundary_is_refused(3, 30, 100, 10);              /* from another than before */
    assert_boundary_is_refused(4, 30, 99, 10);               /* once more */
    assert_boundary_is_refused(4, 30, 101, 10);              /* some are left out */
    assert_boundary_is_refused(4, 30, 100, HALO_BYTES - 99); /* too many */
    assert_boundary_is_refused(4, ROWS, 0, 10);              /* there is no such chunk */
    begin_asking(0);
    for (uint64_t first = 1; first <= HALO_RECEIVES_MAX; first++)
        come(4, first, 0, 10, 1);
    come(4, HALO_RECEIVES_MAX + 1, 0, 10, 1); /* for more chunks than this worker can be given */
    assert_dropped(4);
    end();
    begin_asking(0);
    worker.config.boundaries = NULL; /* iterations are independent */
    come(4, 30, 0, 100, 1);
    assert_dropped(4);
    end();
}
END_TEST

START_TEST(neighbours_that_cannot_be_are_refused)
{
    begin_asking(0);
    assign(1, 0, 10, 1);
    neighbour(11, 4, 1); /* it ends elsewhere */
    assert_dropped(0);
    neighbour(10, RANK, 1); /* that it sees itself */
    assert_dropped(0);
    neighbour(10, WORKERS + 1, 1); /* nobody */
    assert_dropped(0);
    neighbour(10, 4, 0);
    neighbour(10, 4, 1); /* it is known */
    assert_dropped(0);
    hear(4, (struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = {10, 4}}, 1);
    assert_dropped(4); /* not for a worker to say */
    end();
}
END_TEST

START_TEST(chunks_that_are_not_in_order_are_refused)
{
    begin_asking(1);
    assign(1, 20, 30, 2);
    assign(2, 10, 20, 1);
    assert_dropped(0);
    end();
    begin_asking(1);
    assign(1, 20, 30, 2);
    neighbour(30, 4, 0);
    assign(2, 30, 40, 1); /* another was said to have it */
    assert_dropped(0);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("boundary");
    TCase *all = tcase_create("boundary");
    tcase_add_test(all, data_leave_at_once_where_it_is_known_to_whom);
    tcase_add_test(all, data_are_kept_until_it_is_known_to_whom);
    tcase_add_test(all, nothing_is_sent_to_oneself);
    tcase_add_test(all, nobody_is_behind_the_last_chunk);
    tcase_add_test(all, data_may_come_before_their_chunk);
    tcase_add_test(all, the_latest_that_were_sent_are_kept);
    tcase_add_test(all, without_its_master_it_waits_for_the_end);
    tcase_add_test(all, an_end_is_not_kept_waiting);
    tcase_add_test(all, boundary_data_that_cannot_be_are_refused);
    tcase_add_test(all, a_copy_goes_up_when_the_chunk_is_finished);
    tcase_add_test(all, data_may_come_from_above);
    tcase_add_test(all, neighbours_that_cannot_be_are_refused);
    tcase_add_test(all, chunks_that_are_not_in_order_are_refused);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
