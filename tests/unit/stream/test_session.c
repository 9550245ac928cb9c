/* SPDX-License-Identifier: MIT */
/* Sessions without a socket: whatever is cut off and when, each message comes once, in order; memory is bounded by what
 * is not acknowledged; and nobody acknowledges what was not sent. */
#include "common/stream/session.h"
#include "common/util/random.h"
#include "proto/frame.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"

#include <string.h>

#define MESSAGES 3000

/* One end with the way to it: bytes that were written and have not been read. */
struct session_end {
    struct session session;
    struct fifo way;
    uint64_t sent, came;
    size_t beats;
};

static void ends_init(struct session_end ends[2])
{
    for (int i = 0; i < 2; i++) {
        ends[i] = (struct session_end){.sent = 0};
        session_init(&ends[i].session);
        fifo_init(&ends[i].way);
    }
}

static void ends_fini(struct session_end ends[2])
{
    for (int i = 0; i < 2; i++) {
        session_fini(&ends[i].session);
        fifo_fini(&ends[i].way);
    }
}

/* Messages have different sizes, and each byte follows from the number. */
static size_t numbered_message(unsigned char *bytes, uint64_t number)
{
    const size_t size = 8 + random_at(1, number) % 300;
    wire_put64(bytes, number);
    memset(bytes + 8, (int)(number & 0xff), size - 8);
    return size;
}

static enum frame_type number_type(uint64_t number)
{
    return number % 3 == 0 ? FRAME_DATA : FRAME_MESSAGE;
}

static void add_numbered(struct session_end *end)
{
    unsigned char bytes[MESSAGE_MAX];
    const size_t size = numbered_message(bytes, end->sent++);
    if (session_add(&end->session, number_type(end->sent - 1), bytes, size) < 0) /* a check by Check takes long */
        ck_abort_msg("no memory for a message");
}

static void put_on_way(struct session_end *to, const unsigned char *bytes, size_t size)
{
    if (size > 0)
        memcpy(fifo_append(&to->way, size), bytes, size);
}

/* Writes some of what waits: as many bytes as a socket takes at that moment. */
static void write_to(struct session_end *from, struct session_end *to, size_t most)
{
    size_t size;
    const unsigned char *bytes = session_output(&from->session, &size);
    if (size > most)
        size = most;
    put_on_way(to, bytes, size);
    session_wrote(&from->session, size);
}

static void beat_to(struct session_end *from, struct session_end *to)
{
    unsigned char bytes[FRAME_HEAD_BYTES];
    if (!session_is_written(&from->session))
        return;
    session_beat(&from->session, bytes);
    put_on_way(to, bytes, sizeof bytes);
    from->beats++;
}

/* Takes the frames that have come as a whole, at most so many. */
static void read_frames(struct session_end *end, unsigned most)
{
    unsigned char expected[MESSAGE_MAX];
    struct frame_head head;
    struct error error = {""};
    for (; most > 0 && fifo_size(&end->way) >= FRAME_HEAD_BYTES; most--) {
        const unsigned char *frame = fifo_first(&end->way);
        if (frame_head_decode(&head, frame, &error) < 0)
            ck_abort_msg("%s", error.text);
        if (fifo_size(&end->way) < FRAME_HEAD_BYTES + head.size)
            return;
        if (session_acknowledge(&end->session, head.received) < 0)
            ck_abort_msg("a wrong acknowledgement");
        if (head.type != FRAME_BEAT) {
            if (head.type != number_type(end->came))
                ck_abort_msg("a frame of another type than number %u", (unsigned)end->came);
            const size_t size = numbered_message(expected, end->came++);
            if (head.size != size || memcmp(frame + FRAME_HEAD_BYTES, expected, size) != 0)
                ck_abort_msg("another message than number %u", (unsigned)end->came - 1);
            session_received(&end->session, FRAME_HEAD_BYTES + head.size);
        }
        fifo_drop(&end->way, FRAME_HEAD_BYTES + head.size);
    }
}

/* The connection breaks with all that is on its way, and there is another one. */
static void cut_ends(struct session_end ends[2])
{
    for (int i = 0; i < 2; i++)
        fifo_drop(&ends[i].way, fifo_size(&ends[i].way));
    for (int i = 0; i < 2; i++) {
        ck_assert(session_can_resume(&ends[i].session, ends[1 - i].session.received));
        session_resume(&ends[i].session, ends[1 - i].session.received);
    }
}

static void drive_randomly(struct session_end ends[2], uint64_t seed)
{
    struct random random;
    random_init(&random, seed);
    while (ends[0].came < MESSAGES || ends[1].came < MESSAGES) {
        const unsigned i = (unsigned)random_between(&random, 0, 1);
        const uint64_t action = random_between(&random, 0, 99);
        if (action < 40 && ends[i].sent < MESSAGES)
            add_numbered(&ends[i]);
        else if (action < 70)
            write_to(&ends[i], &ends[1 - i], random_between(&random, 0, 2000));
        else if (action < 90)
            read_frames(&ends[i], (unsigned)random_between(&random, 0, 10));
        else if (action < 98)
            beat_to(&ends[i], &ends[1 - i]);
        else
            cut_ends(ends);
    }
}

START_TEST(each_message_comes_once_and_in_order_whatever_is_cut)
{
    struct session_end ends[2];
    ends_init(ends);
    drive_randomly(ends, (uint64_t)_i);
    ck_assert_uint_eq(ends[0].came, MESSAGES);
    ck_assert_uint_eq(ends[1].came, MESSAGES);
    cut_ends(ends); /* tells both what the other one has */
    ck_assert_uint_eq(session_unacknowledged(&ends[0].session), 0);
    ck_assert_uint_eq(session_unacknowledged(&ends[1].session), 0);
    ends_fini(ends);
}
END_TEST

START_TEST(what_is_acknowledged_is_not_kept)
{
    struct session_end ends[2];
    size_t most = 0;
    ends_init(ends);
    for (unsigned i = 0; i < 20 * MESSAGES; i++) {
        add_numbered(&ends[0]);
        write_to(&ends[0], &ends[1], SIZE_MAX);
        read_frames(&ends[1], 1);
        if (session_owes(&ends[1].session))
            beat_to(&ends[1], &ends[0]);
        read_frames(&ends[0], 1);
        if (session_unacknowledged(&ends[0].session) > most)
            most = session_unacknowledged(&ends[0].session);
    }
    ck_assert_uint_lt(most, SESSION_ACK_BYTES + MESSAGE_MAX);
    ck_assert_uint_le(ends[0].session.kept.capacity, 4 * SESSION_ACK_BYTES);
    ck_assert_uint_gt(ends[1].beats, 0);
    ck_assert_uint_lt(ends[1].beats, MESSAGES); /* in batches */
    ends_fini(ends);
}
END_TEST

START_TEST(nobody_acknowledges_what_was_not_written)
{
    struct session_end ends[2];
    ends_init(ends);
    add_numbered(&ends[0]);
    add_numbered(&ends[0]);
    ck_assert_int_eq(session_acknowledge(&ends[0].session, 1), -1);
    ck_assert(!session_can_resume(&ends[0].session, 1));
    write_to(&ends[0], &ends[1], FRAME_HEAD_BYTES); /* half of the first */
    ck_assert_int_eq(session_acknowledge(&ends[0].session, 1), -1);
    write_to(&ends[0], &ends[1], SIZE_MAX);
    ck_assert_int_eq(session_acknowledge(&ends[0].session, 3), -1);
    ck_assert_int_eq(session_acknowledge(&ends[0].session, UINT32_MAX), -1);
    ck_assert_int_eq(session_acknowledge(&ends[0].session, 2), 0);
    ck_assert_int_eq(session_acknowledge(&ends[0].session, 1), -1); /* less than before */
    ck_assert(!session_can_resume(&ends[0].session, 1));
    ck_assert(session_can_resume(&ends[0].session, 2));
    ends_fini(ends);
}
END_TEST

START_TEST(a_new_connection_acknowledges_no_more_than_went_over_it)
{
    struct session_end ends[2];
    ends_init(ends);
    add_numbered(&ends[0]);
    add_numbered(&ends[0]);
    write_to(&ends[0], &ends[1], SIZE_MAX);
    session_resume(&ends[0].session, 1);
    ck_assert_int_eq(session_acknowledge(&ends[0].session, 2), -1);
    write_to(&ends[0], &ends[1], SIZE_MAX);
    ck_assert_int_eq(session_acknowledge(&ends[0].session, 2), 0);
    ends_fini(ends);
}
END_TEST

START_TEST(a_number_may_be_larger_than_its_field)
{
    struct session_end ends[2];
    ends_init(ends);
    ends[0].session.acknowledged = ends[0].session.written = ends[0].session.whole = UINT32_MAX - 1;
    ends[1].session.received = UINT32_MAX - 1;
    for (unsigned i = 0; i < 5; i++) {
        add_numbered(&ends[0]);
        write_to(&ends[0], &ends[1], SIZE_MAX);
    }
    read_frames(&ends[1], 5);
    beat_to(&ends[1], &ends[0]);
    read_frames(&ends[0], 1);
    ck_assert_uint_eq(ends[0].session.acknowledged, UINT64_C(0x100000003));
    ck_assert_uint_eq(session_unacknowledged(&ends[0].session), 0);
    ends_fini(ends);
}
END_TEST

START_TEST(bytes_leave_as_they_came)
{
    struct fifo fifo;
    struct random random;
    uint64_t in = 0, out = 0;
    fifo_init(&fifo);
    random_init(&random, 7);
    for (unsigned i = 0; i < 20000; i++) {
        const size_t more = random_between(&random, 1, 999);
        unsigned char *room = fifo_append(&fifo, more);
        ck_assert_ptr_nonnull(room);
        for (size_t k = 0; k < more; k++)
            room[k] = (unsigned char)(in++ * 7 >> 3);
        const size_t less = random_between(&random, 0, i % 1000 == 999 ? fifo_size(&fifo) : more);
        for (size_t k = 0; k < less && k < fifo_size(&fifo); k++)
            if (fifo_first(&fifo)[k] != (unsigned char)((out + k) * 7 >> 3))
                ck_abort_msg("another byte at %u", (unsigned)(out + k));
        out += less;
        fifo_drop(&fifo, less);
        ck_assert_uint_eq(fifo_size(&fifo), in - out);
    }
    ck_assert_uint_le(fifo.capacity, 1u << 24);
    fifo_fini(&fifo);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session");
    TCase *all = tcase_create("session");
    tcase_add_loop_test(all, each_message_comes_once_and_in_order_whatever_is_cut, 0, 20);
    tcase_add_test(all, what_is_acknowledged_is_not_kept);
    tcase_add_test(all, nobody_acknowledges_what_was_not_written);
    tcase_add_test(all, a_new_connection_acknowledges_no_more_than_went_over_it);
    tcase_add_test(all, a_number_may_be_larger_than_its_field);
    tcase_add_test(all, bytes_leave_as_they_came);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
