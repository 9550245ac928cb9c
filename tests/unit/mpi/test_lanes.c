/* SPDX-License-Identifier: MIT */
/* The lanes of a launch without MPI: messages and data between processes, what is no message, and who may enter. */
#include "common/mpi/lanes.h"

#include "common/os/launched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "proto/message.h"
#include "tests/lib/suite.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS    3
#define MESSAGES 3000
#define BYTES    (5u << 20)

/* The first message fills the first cell of its lane. */
#define CELL       64
#define LANE_CELLS 512
#define MARK       "a message of sixty bytes, which fill a cell with their size."

static struct lanes *launcher, *rank[RANKS];
static int descriptor;        /* of the memory of all */
static unsigned char *shared; /* that memory */
static size_t shared_bytes;

static struct lanes *enter(int memory, unsigned number)
{
    struct lanes *lanes;
    struct error error;
    lanes_name(dup(memory), number, RANKS);
    ck_assert(lanes_enter(&lanes, &error));
    ck_assert_ptr_nonnull(lanes);
    ck_assert_ptr_null(getenv(LAUNCHED_WITHOUT_MPI));
    ck_assert_uint_eq(lanes_rank(lanes), number);
    ck_assert_uint_eq(lanes_ranks(lanes), RANKS);
    return lanes;
}

static void setup(void)
{
    struct error error;
    descriptor = lanes_make(&launcher, RANKS, &error);
    ck_assert_int_ge(descriptor, 0);
    for (unsigned i = 0; i < RANKS; i++)
        rank[i] = enter(descriptor, i);
    struct stat status;
    ck_assert_int_eq(fstat(descriptor, &status), 0);
    shared_bytes = (size_t)status.st_size;
    shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ck_assert(shared != MAP_FAILED);
}

static void teardown(void)
{
    for (unsigned i = 0; i < RANKS; i++)
        lanes_free(rank[i]);
    lanes_free(launcher);
    munmap(shared, shared_bytes);
    close(descriptor);
}

/* The first cell of the lane, which is found by a message. */
static unsigned char *first_cell(unsigned from, unsigned to)
{
    const unsigned char *bytes;
    unsigned sender;
    size_t size;
    lanes_send(rank[from], to, (const unsigned char *)MARK, CELL - sizeof(uint32_t));
    ck_assert(lanes_poll(rank[to], &sender, &bytes, &size));
    unsigned char *cell = memmem(shared, shared_bytes, MARK, CELL - sizeof(uint32_t));
    ck_assert_ptr_nonnull(cell);
    memset(cell, 0, CELL - sizeof(uint32_t)); /* the next search finds another one */
    return cell - sizeof(uint32_t);
}

static void write_message(unsigned char *cell, uint32_t size, const char *text)
{
    memcpy(cell, &size, sizeof size);
    memcpy(cell + sizeof size, text, strlen(text));
}

/* The message of that number: its size and its bytes follow from it. */
static size_t make_message(uint32_t number, unsigned char bytes[MESSAGE_MAX])
{
    const size_t size = 4 + number * 2654435761u % (MESSAGE_MAX - 3);
    memset(bytes, (int)(number & 0xff), size);
    memcpy(bytes, &number, sizeof number);
    return size;
}

static void send_all(struct lanes *lanes)
{
    unsigned char bytes[MESSAGE_MAX];
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const size_t size = make_message(i, bytes);
        while (!lanes_have_room(lanes, 0, size))
            sched_yield();
        lanes_send(lanes, 0, bytes, size);
    }
}

/* Two processes send to a third at the same time: all comes whole, once, and in the order of each sender. */
START_TEST(messages_come_in_their_order)
{
    pid_t senders[RANKS];
    uint32_t next[RANKS] = {0}, number;
    unsigned char expected[MESSAGE_MAX];
    const unsigned char *bytes;
    unsigned from;
    size_t size;
    for (unsigned i = 1; i < RANKS; i++)
        if ((senders[i] = fork()) == 0) {
            send_all(rank[i]);
            _exit(0);
        }
    for (unsigned count = 0; count < (RANKS - 1) * MESSAGES;) {
        if (!lanes_poll(rank[0], &from, &bytes, &size)) {
            sched_yield();
            continue;
        }
        ck_assert(from > 0 && from < RANKS && size >= sizeof number);
        memcpy(&number, bytes, sizeof number);
        ck_assert_uint_eq(number, next[from]);
        ck_assert_uint_eq(size, make_message(number, expected));
        ck_assert_mem_eq(bytes, expected, size);
        next[from]++;
        count++;
    }
    ck_assert(!lanes_poll(rank[0], &from, &bytes, &size));
    for (unsigned i = 1; i < RANKS; i++)
        waitpid(senders[i], NULL, 0);
}
END_TEST

/* Returns how many messages of full size the lane takes. */
static unsigned fill(unsigned from, unsigned to)
{
    unsigned char bytes[MESSAGE_MAX] = {0};
    unsigned sent = 0;
    for (; lanes_have_room(rank[from], to, sizeof bytes); sent++)
        lanes_send(rank[from], to, bytes, sizeof bytes);
    return sent;
}

/* One message after the other, each of one cell, once through the lane: nothing else is found. */
static void check_each_cell(unsigned from, unsigned to)
{
    const unsigned char *came;
    unsigned sender;
    size_t size;
    for (unsigned i = 0; i < LANE_CELLS; i++) {
        ck_assert(lanes_have_room(rank[from], to, 4));
        lanes_send(rank[from], to, (const unsigned char *)"word", 4);
        ck_assert(lanes_poll(rank[to], &sender, &came, &size) && sender == from && size == 4);
        ck_assert(!lanes_poll(rank[to], &sender, &came, &size));
    }
}

START_TEST(a_lane_is_full_until_it_is_read)
{
    unsigned char bytes[MESSAGE_MAX] = {0};
    const unsigned char *came;
    unsigned from;
    size_t size;
    ck_assert_uint_ge(fill(0, 2), 4);
    ck_assert(lanes_have_room(rank[0], 1, sizeof bytes) && lanes_have_room(rank[1], 2, sizeof bytes));
    ck_assert(!lanes_poll(rank[1], &from, &came, &size));
    ck_assert(lanes_poll(rank[2], &from, &came, &size));
    ck_assert_uint_eq(from, 0);
    ck_assert_uint_eq(size, sizeof bytes);
    ck_assert(lanes_poll(rank[2], &from, &came, &size)); /* the room of the first message is given back by now */
    ck_assert(lanes_have_room(rank[0], 2, sizeof bytes));
}
END_TEST

START_TEST(data_come_piece_by_piece)
{
    unsigned char *sent = malloc(BYTES), *came = calloc(1, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (unsigned char)(i * 31 + i / 251);
    const pid_t sender = fork();
    if (sender == 0) {
        for (size_t done = 0; done < BYTES;)
            done += lanes_put_data(rank[1], 0, sent + done, BYTES - done);
        _exit(0);
    }
    for (size_t done = 0; done < BYTES;)
        done += lanes_take_data(rank[0], 1, came + done, BYTES - done < 100000 ? BYTES - done : 100000);
    ck_assert_mem_eq(sent, came, BYTES);
    ck_assert_uint_eq(lanes_take_data(rank[0], 1, came, 1), 0);
    waitpid(sender, NULL, 0);
    free(sent);
    free(came);
}
END_TEST

/* A sender that is killed before it has told of its last message. */
START_TEST(what_nobody_has_told_of_is_found)
{
    const unsigned char *bytes;
    unsigned from;
    size_t size;
    /* A reader's lanes, one from each rank, lie side by side: the lane from 1 to 2 lies the lanes of two readers behind
     * the lane from 1 to 0. */
    unsigned char *const from_1 = first_cell(1, 0);
    const ptrdiff_t lane_bytes = first_cell(2, 0) - from_1;
    write_message(from_1 + 2 * RANKS * lane_bytes, 4, "last");
    ck_assert(!lanes_poll(rank[2], &from, &bytes, &size));
    lanes_look_at(rank[2], 0);
    ck_assert(!lanes_poll(rank[2], &from, &bytes, &size));
    lanes_look_at(rank[2], 1);
    ck_assert(lanes_poll(rank[2], &from, &bytes, &size));
    ck_assert_uint_eq(from, 1);
    ck_assert_uint_eq(size, 4);
    ck_assert_mem_eq(bytes, "last", 4);
    ck_assert(!lanes_poll(rank[2], &from, &bytes, &size));
}
END_TEST

/* Whoever is heard goes to the end of the queue. */
START_TEST(senders_are_heard_in_turn)
{
    static const unsigned expected[] = {1, 2, 1, 2, 1};
    const unsigned char *bytes;
    unsigned from;
    size_t size;
    for (unsigned i = 0; i < 3; i++)
        lanes_send(rank[1], 0, (const unsigned char *)"one", 3);
    for (unsigned i = 0; i < 2; i++)
        lanes_send(rank[2], 0, (const unsigned char *)"two", 3);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ck_assert(lanes_poll(rank[0], &from, &bytes, &size));
        ck_assert_uint_eq(from, expected[i]);
        ck_assert_mem_eq(bytes, from == 1 ? "one" : "two", 3);
    }
    ck_assert(!lanes_poll(rank[0], &from, &bytes, &size));
}
END_TEST

START_TEST(a_launch_may_have_fewer_ranks)
{
    struct lanes *made, *entered;
    struct error error;
    const int memory = lanes_make(&made, 5, &error);
    ck_assert_int_ge(memory, 0);
    ck_assert_int_eq(lanes_shrink(made, memory, 2), 0);
    lanes_name(dup(memory), 1, 2);
    ck_assert(lanes_enter(&entered, &error));
    ck_assert_ptr_nonnull(entered);
    ck_assert_uint_eq(lanes_ranks(entered), 2);
    lanes_free(entered);
    lanes_free(made);
    close(memory);
}
END_TEST

/* A size that no message has is an empty message, which no decoder takes. Nothing else comes from that rank. */
START_TEST(nonsense_is_an_empty_message)
{
    static const uint32_t sizes[] = {MESSAGE_MAX + 1, UINT32_MAX};
    const unsigned char *bytes;
    unsigned from;
    size_t size;
    for (unsigned i = 0; i < 2; i++) {
        write_message(first_cell(i + 1, 0) + CELL, sizes[i], "what follows");
        ck_assert(lanes_poll(rank[0], &from, &bytes, &size));
        ck_assert_uint_eq(from, i + 1);
        ck_assert_uint_eq(size, 0);
        lanes_send(rank[i + 1], 0, (const unsigned char *)"late", 4);
        ck_assert(!lanes_poll(rank[0], &from, &bytes, &size));
    }
    lanes_send(rank[1], 2, (const unsigned char *)"good", 4);
    ck_assert(lanes_poll(rank[2], &from, &bytes, &size));
    ck_assert_uint_eq(size, 4);
}
END_TEST

/* Bits of this rank itself and of ranks that there are not. */
START_TEST(stray_bits_hide_nobody)
{
    const unsigned char *bytes;
    unsigned from;
    size_t size;
    for (unsigned i = 0; i < 64; i++)
        if (i != 1)
            lanes_look_at(rank[0], i);
    ck_assert(!lanes_poll(rank[0], &from, &bytes, &size));
    lanes_send(rank[1], 0, (const unsigned char *)"one", 3);
    ck_assert(lanes_poll(rank[0], &from, &bytes, &size));
    ck_assert_uint_eq(from, 1);
}
END_TEST

/* More senders than quiet lanes are looked at. */
START_TEST(many_senders_are_all_heard)
{
    enum { MANY = 40, EACH = 500 };
    struct lanes *made, *all[MANY];
    struct error error;
    pid_t senders[MANY];
    uint32_t next[MANY] = {0}, number;
    const unsigned char *bytes;
    unsigned from;
    size_t size;
    const int memory = lanes_make(&made, MANY, &error);
    for (unsigned i = 0; i < MANY; i++) {
        lanes_name(dup(memory), i, MANY);
        ck_assert(lanes_enter(&all[i], &error));
    }
    for (unsigned i = 1; i < MANY; i++)
        if ((senders[i] = fork()) == 0) {
            for (number = 0; number < EACH; number++) {
                while (!lanes_have_room(all[i], 0, sizeof number))
                    sched_yield();
                lanes_send(all[i], 0, (const unsigned char *)&number, sizeof number);
                if (number % 8 == 0)
                    sched_yield();
            }
            _exit(0);
        }
    for (unsigned count = 0; count < (MANY - 1) * EACH;) {
        if (!lanes_poll(all[0], &from, &bytes, &size)) {
            sched_yield();
            continue;
        }
        memcpy(&number, bytes, sizeof number);
        ck_assert_uint_eq(number, next[from]++);
        count++;
    }
    for (unsigned i = 1; i < MANY; i++)
        waitpid(senders[i], NULL, 0);
    for (unsigned i = 0; i < MANY; i++)
        lanes_free(all[i]);
    lanes_free(made);
    close(memory);
}
END_TEST

START_TEST(all_pass_a_barrier_together)
{
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < RANKS; i++) {
            lanes_pass(rank[i]);
            ck_assert(lanes_have_all_passed(rank[i]) == (i + 1 == RANKS));
        }
        ck_assert(lanes_have_all_passed(rank[0]));
    }
}
END_TEST

START_TEST(the_launcher_hears_how_it_goes)
{
    int status;
    ck_assert(!lanes_have_met(launcher));
    lanes_note_met(rank[0]);
    ck_assert(lanes_have_met(launcher));
    ck_assert_int_eq(lanes_aborted(launcher), -1);
    const pid_t child = fork();
    if (child == 0)
        lanes_abort(rank[2], 7);
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    ck_assert_int_eq(lanes_aborted(launcher), 7);
}
END_TEST

/* In the lanes are messages, of which some have been taken, nonsense, and data. */
START_TEST(another_process_finds_the_lanes_of_a_lost_rank_empty)
{
    unsigned char bytes[MESSAGE_MAX] = {7};
    const unsigned char *came;
    unsigned from;
    size_t size;
    const unsigned room = fill(0, 2);
    ck_assert(lanes_poll(rank[2], &from, &came, &size) && lanes_poll(rank[2], &from, &came, &size));
    write_message(first_cell(2, 0) + CELL, UINT32_MAX, "what follows");
    ck_assert(lanes_poll(rank[0], &from, &came, &size) && from == 2 && size == 0);
    fill(2, 0);
    lanes_send(rank[1], 0, bytes, 300);
    lanes_send(rank[1], 2, bytes, 400);
    lanes_put_data(rank[0], 2, bytes, 100);
    lanes_put_data(rank[2], 0, bytes, 100);
    ck_assert_uint_eq(lanes_take_data(rank[2], 0, bytes, 40) + lanes_take_data(rank[0], 2, bytes, 40), 80);
    lanes_vacate(rank[0], 2);
    ck_assert_int_eq(lanes_slot(launcher, 2), SLOT_FREE);
    ck_assert_int_eq(lanes_slot(launcher, 1), SLOT_TAKEN);
    lanes_set_slot(launcher, 2, SLOT_FILLED);
    lanes_free(rank[2]);
    rank[2] = enter(descriptor, 2);
    ck_assert_uint_eq(lanes_data_waiting(rank[0], 2), 0);
    ck_assert_uint_eq(lanes_data_waiting(rank[2], 0), 0);
    ck_assert(!lanes_poll(rank[2], &from, &came, &size));
    ck_assert(lanes_poll(rank[0], &from, &came, &size) && from == 1 && size == 300);
    ck_assert(!lanes_poll(rank[0], &from, &came, &size));
    ck_assert_uint_eq(lanes_put_data(rank[2], 0, "hello", 5), 5);
    ck_assert_uint_eq(lanes_data_waiting(rank[0], 2), 5);
    check_each_cell(0, 2);
    check_each_cell(2, 0);
    ck_assert_uint_eq(fill(0, 2), room);
    ck_assert_uint_eq(fill(2, 0), room);
    for (unsigned i = 0; i < room; i++) {
        ck_assert(lanes_poll(rank[0], &from, &came, &size) && from == 2 && size == MESSAGE_MAX);
        ck_assert(lanes_poll(rank[2], &from, &came, &size) && from == 0 && size == MESSAGE_MAX);
    }
    ck_assert(!lanes_poll(rank[0], &from, &came, &size) && !lanes_poll(rank[2], &from, &came, &size));
    lanes_set_slot(rank[0], 2, SLOT_CLOSED);
    ck_assert_int_eq(lanes_slot(launcher, 2), SLOT_CLOSED);
}
END_TEST

/* One that cannot go on ends alone: the others have gone on without it before. */
START_TEST(a_rank_that_has_returned_ends_no_other)
{
    struct lanes *returned;
    struct error error;
    const int memory = lanes_make(&launcher, RANKS, &error);
    lanes_set_slot(launcher, 1, SLOT_FILLED);
    const pid_t child = fork();
    if (child == 0) {
        returned = enter(memory, 1);
        lanes_abort(returned, 3);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    ck_assert_int_eq(lanes_aborted(launcher), -1);
    close(memory);
    lanes_free(launcher);
}
END_TEST

START_TEST(only_memory_of_a_launch_is_entered)
{
    static const char *const wrong[] = {"", "7", "a:0:2", "0:2:2", "0:0:2x", "-1:0:2", "0:0:4000000000", "99:0:2"};
    struct lanes *lanes;
    struct error error;
    unsetenv(LAUNCHED_WITHOUT_MPI);
    ck_assert(!lanes_enter(&lanes, &error));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv(LAUNCHED_WITHOUT_MPI, wrong[i], 1);
        error.text[0] = '\0';
        ck_assert(lanes_enter(&lanes, &error));
        ck_assert_ptr_null(lanes);
        ck_assert_ptr_nonnull(strstr(error.text, LAUNCHED_WITHOUT_MPI));
        ck_assert_ptr_null(getenv(LAUNCHED_WITHOUT_MPI));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lanes");
    TCase *with_ranks = tcase_create("with ranks"), *without = tcase_create("without");
    tcase_add_checked_fixture(with_ranks, setup, teardown);
    tcase_add_test(with_ranks, messages_come_in_their_order);
    tcase_add_test(with_ranks, a_lane_is_full_until_it_is_read);
    tcase_add_test(with_ranks, data_come_piece_by_piece);
    tcase_add_test(with_ranks, nonsense_is_an_empty_message);
    tcase_add_test(with_ranks, stray_bits_hide_nobody);
    tcase_add_test(with_ranks, what_nobody_has_told_of_is_found);
    tcase_add_test(with_ranks, senders_are_heard_in_turn);
    tcase_add_test(with_ranks, all_pass_a_barrier_together);
    tcase_add_test(with_ranks, the_launcher_hears_how_it_goes);
    tcase_add_test(with_ranks, another_process_finds_the_lanes_of_a_lost_rank_empty);
    suite_add_tcase(suite, with_ranks);
    tcase_add_test(without, many_senders_are_all_heard);
    tcase_add_test(without, a_launch_may_have_fewer_ranks);
    tcase_add_test(without, a_rank_that_has_returned_ends_no_other);
    tcase_add_test(without, only_memory_of_a_launch_is_entered);
    suite_add_tcase(suite, without);
    return suite_run(suite);
}
