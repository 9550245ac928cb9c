/* SPDX-License-Identifier: MIT */
/* proto under bytes that nobody meant: random ones, and valid messages with something changed. Whatever decodes must
 * encode to the same bytes; nothing may be read behind the end. A failure names the seed; PROTO_SEED repeats it. */
#include "common/util/random.h"
#include "proto/layout.h"
#include "proto/message.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"
#include "tests/unit/proto/support.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 100000 }; /* for each of the two tests */

static const unsigned char types[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x20, 0x21, 0x22,
                                      0x23, 0x24, 0x16, 0x25, 0x17, 0x26, 0x27, 0x28, 0x01,
                                      0x18, 0x19, 0x1a, 0x1b, 0x29, 0x2a, 0x2e, 0x2f, 0x31};

static uint64_t seed_of_run(void)
{
    const char *text = getenv("PROTO_SEED");
    return text != NULL ? strtoull(text, NULL, 0) : 1;
}

/* Decodes a copy of exactly `size` bytes at the end of a page; true where it is a message. */
static bool decode_one(const unsigned char *bytes, size_t size)
{
    struct message message;
    enum decode_result result = message_decode(&message, edge_copy(bytes, size), size);
    ck_assert_int_ge(result, DECODE_OK);
    ck_assert_int_le(result, DECODE_NOT_ZERO);
    if (result == DECODE_OK)
        assert_encodes_to(&message, message.job, bytes, size);
    return result == DECODE_OK;
}

static void fill_random(struct random *random, unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(random_next(random) >> 56);
}

/* Sizes from 0 to over MESSAGE_MAX, half of them small and whole words; most headers nearly right, so that many reach
 * the fields. */
static size_t random_bytes(struct random *random, unsigned char *bytes)
{
    size_t size = random_between(random, 0, 1) ? 4 + 8 * random_between(random, 0, 8)
                                               : random_between(random, 0, MESSAGE_MAX + 1);
    fill_random(random, bytes, size);
    if (size < HEADER_BYTES || random_between(random, 0, 7) == 0)
        return size;
    if (size >= REQUEST_BYTES) /* real numbers and what follows them: else hardly any would be right */
        memset(bytes + 36, 0, 8);
    bytes[0] = types[random_between(random, 0, sizeof types - 1)];
    bytes[1] &= (unsigned char)random_between(random, 0, 7);
    bytes[2] &= 15;
    bytes[3] = 0;
    if (random_between(random, 0, 1))
        memset(bytes + 4, 0, 4);
    return size;
}

START_TEST(random_bytes_decode_to_an_error_or_to_themselves)
{
    struct random random;
    unsigned char bytes[MESSAGE_MAX + 1];
    unsigned decoded = 0;
    random_init(&random, seed_of_run());
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = random_bytes(&random, bytes);
        decoded += decode_one(bytes, size);
    }
    ck_assert_uint_gt(decoded, 100); /* else it is the test that is wrong */
}
END_TEST

/* Changes a few bits, bytes or words of a valid message, or its length. */
static size_t mutate(struct random *random, unsigned char *bytes, size_t size)
{
    static const uint64_t edges[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 0x8000000000000000, UINT32_MAX};
    for (uint64_t n = random_between(random, 1, 3); n > 0; n--) {
        size_t near = random_between(random, 0, 1) && size > HEADER_BYTES ? HEADER_BYTES : size;
        size_t at = random_between(random, 0, near - 1);
        switch (random_between(random, 0, 4)) {
        case 0: bytes[at] ^= (unsigned char)(1u << random_between(random, 0, 7)); break;
        case 1: bytes[at] = (unsigned char)random_between(random, 0, 255); break;
        case 2: size = random_between(random, 1, size); break;
        case 3: {
            size_t more = random_between(random, 0, 32);
            more = more > MESSAGE_MAX + 1 - size ? MESSAGE_MAX + 1 - size : more;
            fill_random(random, bytes + size, more);
            size += more;
            break;
        }
        default:
            if (size >= at + 8)
                memcpy(bytes + at, &edges[random_between(random, 0, 5)], 8);
        }
    }
    return size;
}

START_TEST(mutated_messages_decode_to_an_error_or_to_themselves)
{
    struct sample samples[SAMPLES_MAX];
    struct random random;
    unsigned char bytes[MESSAGE_MAX + 1];
    size_t count = samples_make(samples);
    unsigned decoded = 0;
    random_init(&random, seed_of_run() + 1);
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = message_encode(&samples[(size_t)i % count].message, FIRST_JOB, bytes);
        size = mutate(&random, bytes, size);
        decoded += decode_one(bytes, size);
    }
    ck_assert_uint_gt(decoded, ROUNDS / 20);
    ck_assert_uint_lt(decoded, ROUNDS);
}
END_TEST

START_TEST(random_hellos_decode_to_an_error_or_to_themselves)
{
    struct random random;
    unsigned decoded = 0;
    random_init(&random, seed_of_run() + 2);
    for (int i = 0; i < ROUNDS / 4; i++) {
        unsigned char bytes[HELLO_BYTES + 2], again[HELLO_BYTES];
        struct hello hello;
        size_t size = random_between(&random, 0, 7) ? HELLO_BYTES : random_between(&random, 0, sizeof bytes);
        fill_random(&random, bytes, sizeof bytes);
        memcpy(bytes, HELLO_MAGIC, 4);
        wire_put16(bytes + 4, PROTOCOL_VERSION);
        bytes[12] &= 7;
        bytes[14] &= 3;
        bytes[15] &= 1;
        if (hello_decode(&hello, edge_copy(bytes, size), size) != DECODE_OK)
            continue;
        hello_encode(&hello, again);
        ck_assert_mem_eq(again, bytes, sizeof again);
        decoded++;
    }
    ck_assert_uint_gt(decoded, 1000);
}
END_TEST

/* Says which seed it was, where something failed. */
static void print_seed(void)
{
    printf("# PROTO_SEED=%llu\n", (unsigned long long)seed_of_run());
    fflush(stdout);
}

int main(void)
{
    Suite *suite = suite_create("proto random");
    TCase *all = tcase_create("random");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, random_bytes_decode_to_an_error_or_to_themselves);
    tcase_add_test(all, mutated_messages_decode_to_an_error_or_to_themselves);
    tcase_add_test(all, random_hellos_decode_to_an_error_or_to_themselves);
    suite_add_tcase(suite, all);
    print_seed();
    return suite_run_together(suite);
}
