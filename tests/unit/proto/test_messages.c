/* SPDX-License-Identifier: MIT */
/* proto by itself: round trips at every limit, every named error of every decoder, every truncation. */
#include "proto/layout.h"
#include "proto/message.h"
#include "proto/record.h"
#include "proto/wire.h"
#include "tests/lib/suite.h"
#include "tests/unit/proto/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

START_TEST(request_and_assign_take_at_most_72_bytes_together)
{
    const struct message request = {.type = MESSAGE_REQUEST, .request = {.chunk = 1, .asks = ASKS_MAX, .done = true}};
    const struct message assign = {.type = MESSAGE_ASSIGN, .assign = {1, 0, 1}};
    unsigned char out[72];
    ck_assert_uint_le(message_size(&request) + message_size(&assign), 72);
    ck_assert_uint_le(message_encode(&request, FIRST_JOB, out) + message_encode(&assign, FIRST_JOB, out), 72);
}
END_TEST

START_TEST(every_message_survives_the_round_trip)
{
    struct sample samples[SAMPLES_MAX];
    size_t count = samples_make(samples);
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[MESSAGE_MAX];
        size_t size = message_encode(&samples[i].message, FIRST_JOB, bytes);
        unsigned char *copy = exact_copy(bytes, size);
        struct message got;
        memset(&got, 0xa5, sizeof got); /* nothing may be left over from what was in `got` before */
        ck_assert_uint_le(size, MESSAGE_MAX);
        ck_assert_msg(message_decode(&got, copy, size) == DECODE_OK, "%s is rejected", samples[i].name);
        assert_same_message(&got, &samples[i].message);
        assert_encodes_to(&got, FIRST_JOB, bytes, size);
        free(copy);
    }
}
END_TEST

START_TEST(every_message_keeps_its_job)
{
    static const uint32_t jobs[] = {FIRST_JOB, 2, UINT32_MAX};
    struct sample samples[SAMPLES_MAX];
    size_t count = samples_make(samples);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++) {
            unsigned char bytes[MESSAGE_MAX];
            struct message got;
            size_t size = message_encode(&samples[i].message, jobs[k], bytes);
            ck_assert_int_eq(message_decode(&got, bytes, size), DECODE_OK);
            ck_assert_uint_eq(got.job, jobs[k]);
            assert_encodes_to(&got, jobs[k], bytes, size);
        }
        unsigned char bytes[MESSAGE_MAX];
        struct message got;
        size_t size = message_encode(&samples[i].message, FIRST_JOB, bytes);
        wire_put32(bytes + HEADER_AT_JOB, 0);
        ck_assert_int_eq(message_decode(&got, bytes, size), DECODE_OUT_OF_RANGE);
    }
}
END_TEST

START_TEST(encode_writes_nothing_behind_its_size)
{
    struct sample samples[SAMPLES_MAX];
    size_t count = samples_make(samples);
    for (size_t i = 0; i < count; i++) {
        size_t size = message_size(&samples[i].message), fixed = message_fixed_size(&samples[i].message);
        unsigned char *out = malloc(size), *fixed_out = malloc(fixed);
        ck_assert(out != NULL && fixed_out != NULL);
        ck_assert_uint_eq(message_encode(&samples[i].message, FIRST_JOB, out), size);
        ck_assert_uint_eq(message_encode_fixed(&samples[i].message, FIRST_JOB, fixed_out), fixed);
        free(fixed_out);
        free(out);
    }
}
END_TEST

/* What is left of a message of `type` when it is cut: only an inline payload may get shorter unnoticed. */
static bool may_be_cut(const struct message *message, size_t size)
{
    return message->payload == PAYLOAD_INLINE && size > message_fixed_size(message);
}

START_TEST(every_truncation_is_too_short_or_a_shorter_payload)
{
    struct sample samples[SAMPLES_MAX];
    size_t count = samples_make(samples);
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[MESSAGE_MAX];
        size_t whole = message_encode(&samples[i].message, FIRST_JOB, bytes);
        for (size_t size = 0; size < whole; size++) {
            unsigned char *copy = exact_copy(bytes, size);
            struct message got;
            enum decode_result expected = may_be_cut(&samples[i].message, size) ? DECODE_OK : DECODE_TOO_SHORT;
            enum decode_result result = message_decode(&got, copy, size);
            ck_assert_msg(result == expected, "%s cut to %zu bytes: %s", samples[i].name, size,
                          decode_result_text(result));
            ck_assert_int_eq(message_decode(&got, edge_copy(bytes, size), size), expected);
            if (result == DECODE_OK)
                assert_encodes_to(&got, FIRST_JOB, bytes, size);
            free(copy);
        }
    }
}
END_TEST

START_TEST(every_message_with_a_byte_more_is_too_long_or_a_longer_payload)
{
    struct sample samples[SAMPLES_MAX];
    size_t count = samples_make(samples);
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[MESSAGE_MAX + 1] = {0};
        const struct message *message = &samples[i].message;
        size_t size = message_encode(message, FIRST_JOB, bytes) + 1;
        bool longer = message->payload == PAYLOAD_INLINE && message->payload_bytes < INLINE_MAX;
        unsigned char *copy = exact_copy(bytes, size);
        struct message got;
        enum decode_result result = message_decode(&got, copy, size);
        ck_assert_msg(result == (longer ? DECODE_OK : DECODE_TOO_LONG), "%s with a byte more: %s", samples[i].name,
                      decode_result_text(result));
        free(copy);
    }
}
END_TEST

START_TEST(nothing_over_message_max_is_looked_at)
{
    unsigned char *bytes = calloc(1, MESSAGE_MAX + 1);
    struct message got;
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(message_decode(&got, bytes, MESSAGE_MAX + 1), DECODE_TOO_LONG);
    ck_assert_int_eq(message_decode(&got, bytes, MESSAGE_MAX), DECODE_UNKNOWN_TYPE);
    ck_assert_int_eq(message_decode(&got, bytes, SIZE_MAX), DECODE_TOO_LONG);
    free(bytes);
}
END_TEST

/* Bytes that are wrong in one place only. Spaces are for the eye. */
#define Z8  "0000000000000000"
#define F8  "ffffffffffffffff"
#define ONE "0100000000000000"
/* Behind a SPEED's header: the round trip, three real numbers, the cells with the first and last of them. */
#define SPEED_REALS(mean, deviation, swr) Z8 mean deviation swr
#define CELLS_14                          Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8
#define CELLS_0                           Z8 CELLS_14 Z8
#define MEAN_1                            "000000000000f03f"
#define SPEED_BODY(first, last)           SPEED_REALS(MEAN_1, Z8, Z8) first CELLS_14 last

static const struct {
    const char *what, *hex;
    enum decode_result expected;
} wrong[] = {
    {"no byte", "", DECODE_TOO_SHORT},
    {"eleven bytes", "14 00 0000 00000000 010000", DECODE_TOO_SHORT},
    {"END of no job", "14 00 0000 00000000 00000000", DECODE_OUT_OF_RANGE},
    {"type 0", "00 00 0000 00000000 01000000", DECODE_UNKNOWN_TYPE},
    {"type of a hello", "01 00 0000 00000000 01000000", DECODE_UNKNOWN_TYPE},
    {"type before the first", "0f 00 0000 00000000 01000000", DECODE_UNKNOWN_TYPE},
    {"type between", "1f 00 0000 00000000 01000000", DECODE_UNKNOWN_TYPE},
    {"type behind the last", "32 00 0000 00000000 01000000", DECODE_UNKNOWN_TYPE},
    {"type 255", "ff 00 0000 00000000 01000000", DECODE_UNKNOWN_TYPE},

    {"STORE flag", "31 08 0000 00000000 01000000 0000000000000000 0100000000000000 aa", DECODE_UNKNOWN_FLAG},
    {"STORE of nothing", "31 00 0000 00000000 01000000 0000000000000000 0100000000000000", DECODE_OUT_OF_RANGE},
    {"STORE of no iterations", "31 02 0000 00000000 01000000 0000000000000000 0000000000000000 aa",
     DECODE_OUT_OF_RANGE},
    {"STORE behind the last iteration", "31 02 0000 00000000 01000000 ffffffffffffffff 0100000000000000 aa",
     DECODE_OUT_OF_RANGE},
    {"STORE with an id", "31 02 0000 07000000 01000000 0000000000000000 0100000000000000 aa", DECODE_NOT_ZERO},
    {"STORE with a number", "31 02 0100 00000000 01000000 0000000000000000 0100000000000000 aa", DECODE_NOT_ZERO},
    {"SPEED flag", "10 01 0100 00000000 01000000" ONE, DECODE_UNKNOWN_FLAG},
    {"SPEED of no level", "10 00 0000 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"SPEED of 13 levels", "10 00 0d00 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"SPEED of 65535 levels", "10 00 ffff 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"SPEED of no time", "10 00 0200 00000000 01000000" SPEED_BODY(Z8, Z8) ONE Z8, DECODE_OUT_OF_RANGE},
    {"SPEED of a negative mean", "10 00 0100 00000000 01000000" SPEED_REALS("000000000000f0bf", Z8, Z8) CELLS_0 ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED of an infinite deviation",
     "10 00 0100 00000000 01000000" SPEED_REALS(MEAN_1, "000000000000f07f", Z8) CELLS_0 ONE, DECODE_OUT_OF_RANGE},
    {"SPEED of an swr over 1", "10 00 0100 00000000 01000000" SPEED_REALS(MEAN_1, Z8, "010000000000f03f") CELLS_0 ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED, a deviation without a mean", "10 00 0100 00000000 01000000" SPEED_REALS(Z8, ONE, Z8) CELLS_0 ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED, an swr without a mean", "10 00 0100 00000000 01000000" SPEED_REALS(Z8, Z8, MEAN_1) CELLS_0 ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED, a cell without a mean",
     "10 00 0100 00000000 01000000" SPEED_REALS(Z8, Z8, Z8) Z8 CELLS_14 "00000000 01000000" ONE, DECODE_OUT_OF_RANGE},
    {"SPEED of a denormal mean", "10 00 0100 00000000 01000000" SPEED_REALS(ONE, Z8, Z8) CELLS_0 ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED of a mean below 0.001", "10 00 0100 00000000 01000000" SPEED_REALS("fba9f1d24d62503f", Z8, Z8) CELLS_0 ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED of a deviation over a million",
     "10 00 0100 00000000 01000000" SPEED_REALS(MEAN_1, "0100000080842e41", Z8) CELLS_0 ONE, DECODE_OUT_OF_RANGE},
    {"SPEED, a cell over a million", "10 00 0100 00000000 01000000" SPEED_BODY(Z8, "01247449 01000000") ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED, a cell no number", "10 00 0100 00000000 01000000" SPEED_BODY("0000c07f 01000000", Z8) ONE,
     DECODE_OUT_OF_RANGE},
    {"SPEED, a cell of none", "10 00 0100 00000000 01000000" SPEED_BODY(Z8, "0000803f 00000000") ONE, DECODE_NOT_ZERO},

    {"REQUEST flag 16", "11 10 0100 00000000 01000000" Z8 Z8 Z8 Z8, DECODE_UNKNOWN_FLAG},
    {"REQUEST FAILED without results", "11 09 0100 01000000 01000000" Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"RESULT FAILED without results", "12 08 0000 01000000 01000000 0100000000000000" Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST flag 128", "11 81 0100 01000000 01000000" Z8 Z8 Z8 Z8, DECODE_UNKNOWN_FLAG},
    {"REQUEST for 17", "11 00 1100 00000000 01000000" Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST for 65535", "11 01 ffff 01000000 01000000" Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST for nothing", "11 00 0000 00000000 01000000" Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST, a chunk not done", "11 00 0100 01000000 01000000" Z8 Z8 Z8 Z8, DECODE_NOT_ZERO},
    {"REQUEST, compute not done", "11 00 0100 00000000 01000000" ONE Z8 Z8 Z8, DECODE_NOT_ZERO},
    {"REQUEST, digest not done", "11 00 0100 00000000 01000000" Z8 ONE Z8 Z8, DECODE_NOT_ZERO},
    {"REQUEST, data not done", "11 04 0100 00000000 01000000" Z8 Z8 Z8 Z8 ONE, DECODE_NOT_ZERO},
    {"REQUEST, inline not done", "11 02 0100 00000000 01000000" Z8 Z8 Z8 Z8 "aa", DECODE_NOT_ZERO},
    {"REQUEST inline and data", "11 07 0100 01000000 01000000" Z8 Z8 Z8 Z8 "aa", DECODE_OUT_OF_RANGE},
    {"REQUEST inline without bytes", "11 03 0100 01000000 01000000" Z8 Z8 Z8 Z8, DECODE_TOO_SHORT},
    {"REQUEST with bytes, not inline", "11 01 0100 01000000 01000000" Z8 Z8 Z8 Z8 "aa", DECODE_TOO_LONG},
    {"REQUEST data without its size", "11 05 0100 01000000 01000000" Z8 Z8 Z8 Z8, DECODE_TOO_SHORT},
    {"REQUEST data of no bytes", "11 05 0100 01000000 01000000" Z8 Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST data of 2 GiB", "11 05 0100 01000000 01000000" Z8 Z8 Z8 Z8 "0000008000000000", DECODE_OUT_OF_RANGE},
    {"REQUEST data with bytes", "11 05 0100 01000000 01000000" Z8 Z8 Z8 Z8 ONE "aa", DECODE_TOO_LONG},
    {"REQUEST, chunk 0 done", "11 01 0100 00000000 01000000" Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST, samples not done", "11 00 0100 00000000 01000000" Z8 Z8 Z8 "00000000 0100 0000", DECODE_NOT_ZERO},
    {"REQUEST, deviation not done", "11 00 0100 00000000 01000000" Z8 Z8 Z8 "0000803f 0000 0000", DECODE_NOT_ZERO},
    {"REQUEST, deviation of one sample", "11 01 0100 01000000 01000000" Z8 Z8 Z8 "0000803f 0100 0000", DECODE_NOT_ZERO},
    {"REQUEST, negative deviation", "11 01 0100 01000000 01000000" Z8 Z8 Z8 "000080bf 0200 0000", DECODE_OUT_OF_RANGE},
    {"REQUEST, infinite deviation", "11 01 0100 01000000 01000000" Z8 Z8 Z8 "0000807f 0200 0000", DECODE_OUT_OF_RANGE},
    {"REQUEST, deviation no number", "11 01 0100 01000000 01000000" Z8 Z8 Z8 "0000c07f 0200 0000", DECODE_OUT_OF_RANGE},
    {"REQUEST, less than one process", "11 01 0100 01000000 01000000" Z8 Z8 Z8 "0000803f 0200 ff00",
     DECODE_OUT_OF_RANGE},
    {"REQUEST of 16 before it", "11 01 0110 01000000 01000000" Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST of one before it, cut", "11 01 0101 02000000 01000000" Z8 Z8 Z8 Z8 Z8 Z8 Z8, DECODE_TOO_SHORT},
    {"REQUEST of one before none", "11 00 0101 00000000 01000000" Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REQUEST of one before it, data", "11 05 0101 02000000 01000000" Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 ONE, DECODE_OUT_OF_RANGE},
    {"REQUEST of one before it, reserved", "11 01 0101 02000000 01000000" Z8 Z8 Z8 Z8 Z8 Z8 Z8 "00000000 0000 0100",
     DECODE_NOT_ZERO},
    {"REQUEST of one before it, infinite deviation",
     "11 01 0101 02000000 01000000" Z8 Z8 Z8 Z8 Z8 Z8 Z8 "0000807f 0200 0000", DECODE_OUT_OF_RANGE},

    {"RESULT flag done", "12 01 0000 01000000 01000000" ONE Z8, DECODE_UNKNOWN_FLAG},
    {"RESULT number", "12 00 0100 01000000 01000000" ONE Z8, DECODE_NOT_ZERO},
    {"RESULT of no iteration", "12 00 0000 01000000 01000000" Z8 Z8, DECODE_OUT_OF_RANGE},
    {"RESULT inline and data", "12 06 0000 01000000 01000000" ONE Z8 "aa", DECODE_OUT_OF_RANGE},
    {"RESULT inline without bytes", "12 02 0000 01000000 01000000" ONE Z8, DECODE_TOO_SHORT},
    {"RESULT data with bytes", "12 04 0000 01000000 01000000" ONE Z8 ONE "aa", DECODE_TOO_LONG},
    {"RESULT of chunk 0", "12 00 0000 00000000 01000000" ONE Z8, DECODE_OUT_OF_RANGE},

    {"ASSIGN flag", "13 02 0000 01000000 01000000" Z8 ONE, DECODE_UNKNOWN_FLAG},
    {"ASSIGN of two, careful", "13 01 0100 01000000 01000000" Z8 ONE Z8 ONE, DECODE_OUT_OF_RANGE},
    {"ASSIGN of 17", "13 00 1000 01000000 01000000" Z8 ONE, DECODE_OUT_OF_RANGE},
    {"ASSIGN of 257", "13 00 0001 01000000 01000000" Z8 ONE, DECODE_OUT_OF_RANGE},
    {"ASSIGN of two, cut", "13 00 0100 01000000 01000000" Z8 ONE Z8, DECODE_TOO_SHORT},
    {"ASSIGN of two, the second of no iteration", "13 00 0100 01000000 01000000" Z8 ONE ONE Z8, DECODE_OUT_OF_RANGE},
    {"ASSIGN of two, the second past the end", "13 00 0100 01000000 01000000" Z8 ONE F8 ONE, DECODE_OUT_OF_RANGE},
    {"ASSIGN of no iteration", "13 00 0000 01000000 01000000" ONE Z8, DECODE_OUT_OF_RANGE},
    {"ASSIGN past the end", "13 00 0000 01000000 01000000" F8 ONE, DECODE_OUT_OF_RANGE},
    {"ASSIGN past the end by its count", "13 00 0000 01000000 01000000" ONE F8, DECODE_OUT_OF_RANGE},
    {"ASSIGN of chunk 0", "13 00 0000 00000000 01000000" Z8 ONE, DECODE_OUT_OF_RANGE},

    {"END flag", "14 10 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"END now that drains nothing", "14 08 0000 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"END number", "14 00 0100 00000000 01000000", DECODE_NOT_ZERO},
    {"END id", "14 01 0000 00000001 01000000", DECODE_NOT_ZERO},

    {"NEIGHBOUR flag", "1a 01 0000 05000000 01000000" ONE, DECODE_UNKNOWN_FLAG},
    {"NEIGHBOUR number", "1a 00 0100 05000000 01000000" ONE, DECODE_NOT_ZERO},
    {"NEIGHBOUR of the first iteration", "1a 00 0000 05000000 01000000" Z8, DECODE_OUT_OF_RANGE},
    {"BOUNDARY flag", "1b 01 0000 00000000 01000000" ONE Z8, DECODE_UNKNOWN_FLAG},
    {"BOUNDARY of nothing", "1b 00 0000 00000000 01000000" ONE Z8, DECODE_OUT_OF_RANGE},
    {"BOUNDARY inline without bytes", "1b 02 0000 00000000 01000000" ONE Z8, DECODE_TOO_SHORT},
    {"BOUNDARY id", "1b 02 0000 01000000 01000000" ONE Z8 "aa", DECODE_NOT_ZERO},
    {"BOUNDARY at the first iteration", "1b 02 0000 00000000 01000000" Z8 Z8 "aa", DECODE_OUT_OF_RANGE},
    {"BOUNDARY past the end", "1b 02 0000 00000000 01000000" ONE F8 "aa", DECODE_OUT_OF_RANGE},
    {"BOUNDARY data past the end", "1b 04 0000 00000000 01000000" ONE F8 ONE, DECODE_OUT_OF_RANGE},
    {"BOUNDARY data of 2 GiB", "1b 04 0000 00000000 01000000" ONE Z8 "0000008000000000", DECODE_OUT_OF_RANGE},
    {"BOUNDARY number", "1b 02 0100 00000000 01000000" ONE Z8 "aa", DECODE_NOT_ZERO},
    {"THREADS flag", "19 01 0200 00000000 01000000 0000803f 00000000" ONE Z8 Z8, DECODE_UNKNOWN_FLAG},
    {"THREADS of none", "19 00 0000 00000000 01000000 0000803f 00000000" ONE "01000000 02000000" Z8,
     DECODE_OUT_OF_RANGE},
    {"THREADS of one that shares nothing", "19 00 0100 00000000 01000000 0000803f 00000000" ONE Z8 Z8,
     DECODE_OUT_OF_RANGE},
    {"THREADS below the mean", "19 00 0200 00000000 01000000 0000003f 00000000" ONE Z8 Z8, DECODE_OUT_OF_RANGE},
    {"THREADS not a number", "19 00 0200 00000000 01000000 0000803f 0000c07f" ONE Z8 Z8, DECODE_OUT_OF_RANGE},
    {"THREADS with enough cores", "19 00 0200 00000000 01000000 0000803f 00000000" ONE "04000000 02000000" Z8,
     DECODE_OUT_OF_RANGE},
    {"THREADS with a time and no cores", "19 00 0200 00000000 01000000 0000803f 00000000" ONE Z8 ONE,
     DECODE_OUT_OF_RANGE},
    {"THREADS with workers and no cores", "19 00 0200 00000000 01000000 0000803f 00000000" ONE "00000000 02000000" Z8,
     DECODE_OUT_OF_RANGE},

    {"GOODBYE flag", "15 01 0000 00000000 01000000" ONE ONE ONE, DECODE_UNKNOWN_FLAG},
    {"GOODBYE number", "15 00 0100 00000000 01000000" ONE ONE ONE, DECODE_NOT_ZERO},
    {"GOODBYE id", "15 00 0000 00010000 01000000" ONE ONE ONE, DECODE_NOT_ZERO},

    {"REPORT flag", "20 02 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"REPORT of 161 ranges", "20 00 a100 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"REPORT of nothing in a range", "20 00 0100 00000000 01000000" Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"REPORT past the end", "20 00 0100 00000000 01000000" F8 ONE Z8, DECODE_OUT_OF_RANGE},
    {"REPORT wrong in its second range", "20 00 0200 00000000 01000000" Z8 ONE Z8 Z8 Z8 Z8, DECODE_OUT_OF_RANGE},

    {"REFILL flag", "21 08 0100 00000000 01000000" Z8 ONE "00000000", DECODE_UNKNOWN_FLAG},
    {"REFILL id", "21 00 0100 01000000 01000000" Z8 ONE "00000000", DECODE_NOT_ZERO},
    {"REFILL of 201 chunks", "21 00 c900 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"REFILL of nothing, not empty", "21 00 0000 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"REFILL empty with a chunk", "21 02 0100 00000000 01000000" Z8 ONE "00000000", DECODE_OUT_OF_RANGE},
    {"REFILL empty, and more follows", "21 03 0000 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"REFILL of a chunk, and all has begun", "21 04 0100 00000000 01000000" Z8 ONE "00000000", DECODE_OUT_OF_RANGE},
    {"REFILL of no iteration", "21 00 0100 00000000 01000000" Z8 Z8 "00000000", DECODE_OUT_OF_RANGE},
    {"REFILL past the end", "21 00 0100 00000000 01000000" F8 ONE "00000000", DECODE_OUT_OF_RANGE},

    {"STATS flag", "22 01 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"STATS id", "22 00 0000 01000000 01000000", DECODE_NOT_ZERO},
    {"STATS of 61 workers", "22 00 3d00 00000000 01000000", DECODE_OUT_OF_RANGE},

    {"FATAL flag", "23 01 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"FATAL of 401 bytes", "23 00 9101 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"FATAL with a NUL", "23 00 0300 00000000 01000000 610062", DECODE_OUT_OF_RANGE},
    {"FATAL of two lines", "23 00 0300 00000000 01000000 610a62", DECODE_OUT_OF_RANGE},
    {"FATAL with an escape", "23 00 0300 00000000 01000000 611b62", DECODE_OUT_OF_RANGE},

    {"ECHO flag", "16 01 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"ECHO number", "16 00 0001 00000000 01000000", DECODE_NOT_ZERO},

    {"FEEDBACK flag", "25 01 0100 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"FEEDBACK id", "25 00 0100 01000000 01000000", DECODE_NOT_ZERO},
    {"FEEDBACK of nobody", "25 00 0000 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"FEEDBACK of 101 workers", "25 00 6500 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"FEEDBACK of no chunk", "25 00 0100 00000000 01000000 00000000 00000000" ONE Z8 Z8 Z8, DECODE_OUT_OF_RANGE},
    {"FEEDBACK of fewer iterations than chunks", "25 00 0100 00000000 01000000 00000000 02000000" ONE Z8 Z8 Z8,
     DECODE_OUT_OF_RANGE},
    {"FEEDBACK, negative deviation", "25 00 0100 00000000 01000000 00000000 01000000" ONE Z8 Z8 "00000080 02000000",
     DECODE_OUT_OF_RANGE},
    {"FEEDBACK, deviation of one sample",
     "25 00 0100 00000000 01000000 00000000 01000000" ONE Z8 Z8 "0000803f 01000000", DECODE_NOT_ZERO},
    {"FEEDBACK, wrong in its second record",
     "25 00 0200 00000000 01000000 00000000 01000000" ONE Z8 Z8 Z8 "00000000 01000000" Z8 Z8 Z8 Z8,
     DECODE_OUT_OF_RANGE},

    {"LOADS flag", "2a 01 0100 00000000 01000000 00000000 0001", DECODE_UNKNOWN_FLAG},
    {"LOADS id", "2a 00 0100 01000000 01000000 00000000 0001", DECODE_NOT_ZERO},
    {"LOADS of nobody", "2a 00 0000 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"LOADS of 401 workers", "2a 00 9101 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"LOADS of less than one process", "2a 00 0100 00000000 01000000 00000000 ff00", DECODE_OUT_OF_RANGE},
    {"LOADS, wrong in its second record", "2a 00 0200 00000000 01000000 00000000 0001 01000000 0000",
     DECODE_OUT_OF_RANGE},

    {"ADOPT flag", "17 01 0000 00000000 01000000" ONE ONE, DECODE_UNKNOWN_FLAG},
    {"ADOPT number", "17 00 0100 00000000 01000000" ONE ONE, DECODE_NOT_ZERO},
    {"ADOPT of nothing that begins somewhere", "17 00 0000 00000000 01000000" ONE Z8, DECODE_NOT_ZERO},
    {"ADOPT past the end", "17 00 0000 00000000 01000000" F8 ONE, DECODE_OUT_OF_RANGE},

    {"WORKER_LOST flag", "26 01 0000 00000000 01000000" ONE ONE ONE, DECODE_UNKNOWN_FLAG},
    {"WORKER_LOST number", "26 00 0100 00000000 01000000" ONE ONE ONE, DECODE_NOT_ZERO},
    {"WORKER_LOST at nothing that begins somewhere", "26 00 0000 00000000 01000000" ONE ONE Z8, DECODE_NOT_ZERO},
    {"WORKER_LOST past the end", "26 00 0000 00000000 01000000" ONE F8 ONE, DECODE_OUT_OF_RANGE},

    {"ITERATIONS_FAILED flag", "18 04 0000 00000000 01000000" ONE ONE, DECODE_UNKNOWN_FLAG},
    {"ITERATIONS_FAILED of no iteration", "18 00 0000 00000000 01000000" ONE Z8, DECODE_OUT_OF_RANGE},
    {"ITERATIONS_FAILED past the end", "18 00 0000 00000000 01000000" F8 ONE, DECODE_OUT_OF_RANGE},
    {"ITERATIONS_FAILED of 401 bytes", "18 00 9101 00000000 01000000" ONE ONE, DECODE_OUT_OF_RANGE},
    {"ITERATIONS_FAILED of two lines", "18 00 0300 00000000 01000000" ONE ONE "610a62", DECODE_OUT_OF_RANGE},

    {"POISON flag", "29 01 0000 00000000 01000000" ONE ONE ONE, DECODE_UNKNOWN_FLAG},
    {"POISON number", "29 00 0100 00000000 01000000" ONE ONE ONE, DECODE_NOT_ZERO},
    {"POISON of no iteration", "29 00 0000 00000000 01000000" ONE Z8 ONE, DECODE_OUT_OF_RANGE},
    {"POISON past the end", "29 00 0000 00000000 01000000" F8 ONE ONE, DECODE_OUT_OF_RANGE},
    {"POISON of nothing", "29 00 0000 00000000 01000000" ONE ONE Z8, DECODE_OUT_OF_RANGE},
    {"POISON that failed nowhere, at a rank", "29 00 0000 01000000 01000000" ONE ONE ONE, DECODE_NOT_ZERO},

    {"RECOVERY_COUNTS flag", "27 01 0000 00000000 01000000" ONE ONE ONE ONE, DECODE_UNKNOWN_FLAG},
    {"RECOVERY_COUNTS id", "27 00 0000 01000000 01000000" ONE ONE ONE ONE, DECODE_NOT_ZERO},

    {"ITERATIONS_GIVEN_UP flag", "28 01 0100 00000000 01000000" Z8 ONE, DECODE_UNKNOWN_FLAG},
    {"ITERATIONS_GIVEN_UP id", "28 00 0100 01000000 01000000" Z8 ONE, DECODE_NOT_ZERO},
    {"ITERATIONS_GIVEN_UP of nothing", "28 00 0000 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"ITERATIONS_GIVEN_UP of 201 ranges", "28 00 c900 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"ITERATIONS_GIVEN_UP of no iteration", "28 00 0100 00000000 01000000" ONE Z8, DECODE_OUT_OF_RANGE},
    {"ITERATIONS_GIVEN_UP past the end", "28 00 0100 00000000 01000000" F8 ONE, DECODE_OUT_OF_RANGE},

    {"VERIFIED flag", "2d 04 0300 00000000 01000000" Z8 Z8 Z8 ONE Z8, DECODE_UNKNOWN_FLAG},
    {"VERIFIED of which both are wrong", "2d 03 0300 00000000 01000000" Z8 Z8 Z8 ONE Z8, DECODE_OUT_OF_RANGE},
    {"VERIFIED by one", "2d 00 0100 00000000 01000000" Z8 Z8 Z8 ONE Z8, DECODE_OUT_OF_RANGE},
    {"VERIFIED by four", "2d 00 0400 00000000 01000000" Z8 Z8 Z8 ONE Z8, DECODE_OUT_OF_RANGE},
    {"VERIFIED decided by two", "2d 01 0200 00000000 01000000" Z8 Z8 Z8 ONE Z8, DECODE_NOT_ZERO},
    {"VERIFIED by two, and a third", "2d 00 0200 00000000 01000000" Z8 Z8 Z8 ONE "00000000 01000000", DECODE_NOT_ZERO},
    {"VERIFIED by none, and wrong", "2d 01 0000 00000000 01000000" Z8 Z8 Z8 Z8 Z8, DECODE_NOT_ZERO},
    {"VERIFIED by none, id", "2d 00 0000 01000000 01000000" Z8 Z8 Z8 Z8 Z8, DECODE_NOT_ZERO},
    {"VERIFIED by none, range", "2d 00 0000 00000000 01000000" Z8 Z8 Z8 ONE Z8, DECODE_NOT_ZERO},
    {"VERIFIED by none, second", "2d 00 0000 00000000 01000000" Z8 Z8 Z8 Z8 "01000000 00000000", DECODE_NOT_ZERO},
    {"VERIFIED of no iteration", "2d 00 0200 00000000 01000000" Z8 Z8 ONE Z8 Z8, DECODE_OUT_OF_RANGE},
    {"VERIFIED past the end", "2d 00 0300 00000000 01000000" Z8 Z8 F8 ONE Z8, DECODE_OUT_OF_RANGE},

    {"RECALL flag", "2b 01 0000 01000000 01000000", DECODE_UNKNOWN_FLAG},
    {"RECALL number", "2b 00 0100 01000000 01000000", DECODE_NOT_ZERO},
    {"RECALL for nobody", "2b 00 0000 00000000 01000000", DECODE_OUT_OF_RANGE},

    {"RETURNED flag", "2c 01 0100 00000000 01000000" Z8 ONE, DECODE_UNKNOWN_FLAG},
    {"RETURNED id", "2c 00 0100 01000000 01000000" Z8 ONE, DECODE_NOT_ZERO},
    {"RETURNED of 201 ranges", "2c 00 c900 00000000 01000000", DECODE_OUT_OF_RANGE},
    {"RETURNED of no iteration", "2c 00 0100 00000000 01000000" ONE Z8, DECODE_OUT_OF_RANGE},
    {"RETURNED past the end", "2c 00 0100 00000000 01000000" F8 ONE, DECODE_OUT_OF_RANGE},

    {"JOB flag", "2e 01 0100 00000000 01000000 01000000 aa", DECODE_UNKNOWN_FLAG},
    {"JOB without bytes", "2e 00 0000 00000000 01000000 01000000", DECODE_OUT_OF_RANGE},
    {"JOB with too many bytes", "2e 00 0200 01000000 01000000 02000000 aabb", DECODE_OUT_OF_RANGE},
    {"JOB behind its end", "2e 00 0100 02000000 01000000 02000000 aa", DECODE_OUT_OF_RANGE},
    {"JOB of too many bytes", "2e 00 0100 00000000 01000000 01000001 aa", DECODE_OUT_OF_RANGE},
    {"JOB of nothing", "2e 00 0100 00000000 01000000 00000000 aa", DECODE_OUT_OF_RANGE},
    {"JOB without job", "2e 00 0100 00000000 00000000 01000000 aa", DECODE_OUT_OF_RANGE},

    {"SET_OVER flag", "2f 01 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"SET_OVER number", "2f 00 0100 00000000 01000000", DECODE_NOT_ZERO},
    {"SET_OVER id", "2f 00 0000 01000000 01000000", DECODE_NOT_ZERO},
    {"LEAVING flag", "30 01 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"LEAVING number", "30 00 0100 00000000 01000000", DECODE_NOT_ZERO},

    {"DRAIN flag", "24 01 0000 00000000 01000000", DECODE_UNKNOWN_FLAG},
    {"DRAIN number", "24 00 0001 00000000 01000000", DECODE_NOT_ZERO},
    {"DRAIN id", "24 00 0000 ff000000 01000000", DECODE_NOT_ZERO},
};

static size_t hex_bytes(const char *hex, unsigned char *out)
{
    size_t digits = 0;
    for (; *hex != '\0'; hex++) {
        if (*hex == ' ')
            continue;
        unsigned value = (unsigned)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
        out[digits / 2] = (unsigned char)(digits % 2 == 0 ? value << 4 : out[digits / 2] | value);
        digits++;
    }
    return digits / 2;
}

START_TEST(every_wrong_message_has_its_named_error)
{
    unsigned char bytes[512];
    size_t size = hex_bytes(wrong[_i].hex, bytes);
    unsigned char *copy = exact_copy(bytes, size);
    struct message got;
    enum decode_result result = message_decode(&got, copy, size);
    free(copy);
    ck_assert_msg(result == wrong[_i].expected, "%s: '%s', expected '%s'", wrong[_i].what, decode_result_text(result),
                  decode_result_text(wrong[_i].expected));
}
END_TEST

START_TEST(too_large_a_count_is_an_error_with_all_its_records_there)
{
    static const struct {
        unsigned char type;
        unsigned limit, each;
        size_t fixed;
    } counts[] = {{MESSAGE_SPEED, LEVELS_MAX, 8, SPEED_BYTES},
                  {MESSAGE_REPORT, REPORT_MAX, DONE_RECORD_BYTES, HEADER_BYTES},
                  {MESSAGE_REFILL, REFILL_MAX, CHUNK_RECORD_BYTES, HEADER_BYTES},
                  {MESSAGE_STATS, STATS_MAX, STATS_RECORD_BYTES, HEADER_BYTES},
                  {MESSAGE_FEEDBACK, FEEDBACK_MAX, FEEDBACK_RECORD_BYTES, HEADER_BYTES},
                  {MESSAGE_LOADS, LOADS_MAX, LOAD_RECORD_BYTES, HEADER_BYTES},
                  {MESSAGE_ITERATIONS_GIVEN_UP, GIVEN_UP_MAX, ASSIGN_RECORD_BYTES, HEADER_BYTES},
                  {MESSAGE_RETURNED, RETURNED_MAX, ASSIGN_RECORD_BYTES, HEADER_BYTES},
                  {MESSAGE_ITERATIONS_FAILED, TEXT_MAX, 1, ITERATIONS_FAILED_BYTES},
                  {MESSAGE_FATAL, TEXT_MAX, 1, HEADER_BYTES}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (unsigned over = 0; over <= 1; over++) {
            size_t size = counts[i].fixed + (size_t)(counts[i].limit + over) * counts[i].each;
            unsigned char *bytes = malloc(size);
            struct message got;
            ck_assert_ptr_nonnull(bytes);
            memset(bytes, '!', size); /* every field, also as a range, is then in its own limits */
            memset(bytes, 0, HEADER_BYTES);
            bytes[0] = counts[i].type;
            bytes[HEADER_AT_JOB] = 1;
            wire_put16(bytes + 2, (uint16_t)(counts[i].limit + over));
            if (counts[i].type == MESSAGE_SPEED) /* the mean, the only field that '!' leaves too small */
                wire_put_double(bytes + HEADER_BYTES + SPEED_AT_REALS, 1);
            ck_assert_int_eq(message_decode(&got, bytes, size), over ? DECODE_OUT_OF_RANGE : DECODE_OK);
            free(bytes);
        }
    }
}
END_TEST

START_TEST(a_speed_may_be_at_its_limits)
{
    static const struct speed allowed[] = {
        {.levels = 1, .elapsed_ns = {1}},
        {.levels = 1, .elapsed_ns = {1}, .mean_ns = SPEED_MEAN_MIN_NS},
        {.levels = 1, .elapsed_ns = {1}, .mean_ns = 1, .deviation_ns = SPEED_RATIO_MAX, .swr = 1},
        {.levels = 1, .elapsed_ns = {1}, .mean_ns = 1, .cells = {{SPEED_RATIO_MAX, 1}, {0, 1}}},
    };
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        unsigned char body[SPEED_BODY_MAX], bytes[MESSAGE_MAX];
        struct message message = speed_message(&allowed[i], body), got;
        ck_assert_int_eq(message_decode(&got, bytes, message_encode(&message, FIRST_JOB, bytes)), DECODE_OK);
    }
}
END_TEST

START_TEST(an_inline_payload_ends_at_its_limit)
{
    static const struct {
        enum message_type type;
        size_t fixed;
    } carriers[] = {{MESSAGE_REQUEST, REQUEST_BYTES}, {MESSAGE_RESULT, RESULT_BYTES}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t payload = INLINE_MAX; payload <= INLINE_MAX + 1; payload++) {
            unsigned char *bytes = calloc(1, carriers[i].fixed + payload);
            struct message got;
            ck_assert_ptr_nonnull(bytes);
            bytes[0] = (unsigned char)carriers[i].type;
            bytes[1] = carriers[i].type == MESSAGE_REQUEST ? FLAG_DONE | FLAG_INLINE : FLAG_INLINE;
            bytes[4] = bytes[HEADER_AT_JOB] = bytes[HEADER_BYTES] = 1;
            ck_assert_int_eq(message_decode(&got, bytes, carriers[i].fixed + payload),
                             payload > INLINE_MAX ? DECODE_TOO_LONG : DECODE_OK);
            free(bytes);
        }
    }
}
END_TEST

START_TEST(a_problem_is_one_line_of_any_language)
{
    for (unsigned value = 0; value < 256; value++) {
        const unsigned char bytes[] = {MESSAGE_FATAL, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'a', (unsigned char)value, 'b'};
        struct message got;
        bool control = value < ' ' || value == 0x7f;
        ck_assert_int_eq(message_decode(&got, bytes, sizeof bytes), control ? DECODE_OUT_OF_RANGE : DECODE_OK);
    }
}
END_TEST

START_TEST(every_unknown_flag_is_rejected)
{
    struct sample samples[SAMPLES_MAX];
    size_t count = samples_make(samples);
    for (size_t i = 0; i < count; i++) {
        unsigned known = samples[i].message.type == MESSAGE_REQUEST
                             ? FLAG_DONE | FLAG_INLINE | FLAG_DATA | FLAG_HAS_FAILED
                         : samples[i].message.type == MESSAGE_RESULT   ? FLAG_INLINE | FLAG_DATA | FLAG_HAS_FAILED
                         : samples[i].message.type == MESSAGE_BOUNDARY ? FLAG_INLINE | FLAG_DATA
                         : samples[i].message.type == MESSAGE_STORE    ? FLAG_INLINE | FLAG_DATA
                         : samples[i].message.type == MESSAGE_END    ? FLAG_DRAIN | FLAG_DEGRADED | FLAG_LATE | FLAG_NOW
                         : samples[i].message.type == MESSAGE_ASSIGN ? FLAG_ISOLATED
                         : samples[i].message.type == MESSAGE_ITERATIONS_FAILED ? FLAG_FINAL | FLAG_DIED
                         : samples[i].message.type == MESSAGE_VERIFIED          ? FLAG_FIRST_WRONG | FLAG_SECOND_WRONG
                         : samples[i].message.type == MESSAGE_SET_OVER          ? FLAG_DEGRADED
                         : samples[i].message.type == MESSAGE_LEAVING           ? FLAG_NOW
                         : samples[i].message.type == MESSAGE_REPORT            ? FLAG_REFILL
                         : samples[i].message.type == MESSAGE_REFILL            ? FLAG_MORE | FLAG_EMPTY | FLAG_BEGUN
                                                                                : 0;
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            unsigned char bytes[MESSAGE_MAX];
            struct message got;
            size_t size = message_encode(&samples[i].message, FIRST_JOB, bytes);
            bytes[1] |= (unsigned char)bit;
            if (!(known & bit))
                ck_assert_int_eq(message_decode(&got, bytes, size), DECODE_UNKNOWN_FLAG);
        }
    }
}
END_TEST

static const struct hello hello_max = {.protocol = PROTOCOL_VERSION,
                                       .major = UINT16_MAX,
                                       .minor = UINT16_MAX - 1,
                                       .patch = UINT16_MAX - 2,
                                       .role = ROLE_WORKER,
                                       .status = HELLO_STATUS_HELP,
                                       .dca = true,
                                       .node = UINT32_MAX,
                                       .pid = UINT32_MAX - 1};

START_TEST(hello_survives_the_round_trip)
{
    for (enum role role = ROLE_SUPERMASTER; role <= ROLE_WORKER; role++) {
        struct hello sent = hello_max, got;
        unsigned char bytes[HELLO_BYTES], again[HELLO_BYTES];
        sent.role = role;
        sent.dca = role == ROLE_WORKER;
        sent.pod = role == ROLE_MASTER;
        sent.listens = role == ROLE_SUPERMASTER;
        hello_encode(&sent, bytes);
        unsigned char *copy = exact_copy(bytes, sizeof bytes);
        ck_assert_int_eq(hello_decode(&got, copy, sizeof bytes), DECODE_OK);
        ck_assert_int_eq(got.role, sent.role);
        ck_assert_int_eq(got.dca, sent.dca);
        ck_assert_int_eq(got.pod, sent.pod);
        ck_assert_int_eq(got.listens, sent.listens);
        ck_assert_uint_eq(got.major, sent.major);
        ck_assert_uint_eq(got.minor, sent.minor);
        ck_assert_uint_eq(got.patch, sent.patch);
        ck_assert_uint_eq(got.status, sent.status);
        ck_assert_uint_eq(got.node, sent.node);
        ck_assert_uint_eq(got.pid, sent.pid);
        hello_encode(&got, again);
        ck_assert_mem_eq(again, bytes, sizeof bytes);
        free(copy);
    }
}
END_TEST

START_TEST(hello_rejects_what_is_wrong_in_one_place)
{
    static const struct {
        size_t at;
        unsigned char value;
        enum decode_result expected;
    } errors[] = {
        {0, 'h', DECODE_UNKNOWN_TYPE},   {3, 0, DECODE_UNKNOWN_TYPE},    {12, 0, DECODE_OUT_OF_RANGE},
        {12, 4, DECODE_OUT_OF_RANGE},    {12, 255, DECODE_OUT_OF_RANGE}, {14, 8, DECODE_UNKNOWN_FLAG},
        {14, 0x81, DECODE_UNKNOWN_FLAG}, {15, 1, DECODE_NOT_ZERO},       {15, 255, DECODE_NOT_ZERO},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        unsigned char bytes[HELLO_BYTES];
        struct hello got;
        hello_encode(&hello_max, bytes);
        bytes[errors[i].at] = errors[i].value;
        ck_assert_int_eq(hello_decode(&got, bytes, sizeof bytes), errors[i].expected);
    }
}
END_TEST

START_TEST(hello_of_another_protocol_shows_its_versions)
{
    struct hello got;
    unsigned char bytes[HELLO_BYTES];
    hello_encode(&hello_max, bytes);
    wire_put16(bytes + 4, PROTOCOL_VERSION + 1);
    memset(bytes + 12, 0xee, HELLO_BYTES - 12);
    ck_assert_int_eq(hello_decode(&got, bytes, sizeof bytes), DECODE_OK);
    ck_assert_uint_eq(got.protocol, PROTOCOL_VERSION + 1);
    ck_assert_uint_eq(got.major, hello_max.major);
    ck_assert_uint_eq(got.minor, hello_max.minor);
    ck_assert_uint_eq(got.patch, hello_max.patch);
}
END_TEST

START_TEST(hello_has_one_size)
{
    unsigned char bytes[HELLO_BYTES + 1] = {0};
    struct hello got;
    hello_encode(&hello_max, bytes);
    for (size_t size = 0; size <= HELLO_BYTES + 1; size++) {
        unsigned char *copy = exact_copy(bytes, size);
        enum decode_result expected = size < HELLO_BYTES   ? DECODE_TOO_SHORT
                                      : size > HELLO_BYTES ? DECODE_TOO_LONG
                                                           : DECODE_OK;
        ck_assert_int_eq(hello_decode(&got, copy, size), expected);
        ck_assert_int_eq(hello_decode(&got, edge_copy(bytes, size), size), expected);
        free(copy);
    }
}
END_TEST

START_TEST(wire_integers_are_little_endian_at_any_address)
{
    unsigned char bytes[16];
    for (size_t offset = 0; offset < 8; offset++) {
        memset(bytes, 0, sizeof bytes);
        wire_put64(bytes + offset, 0x8877665544332211);
        for (unsigned i = 0; i < 8; i++)
            ck_assert_uint_eq(bytes[offset + i], 0x11 * (i + 1));
        ck_assert_uint_eq(wire_get64(bytes + offset), 0x8877665544332211);
        ck_assert_uint_eq(wire_get32(bytes + offset + 4), 0x88776655);
        ck_assert_uint_eq(wire_get16(bytes + offset + 6), 0x8877);
        wire_put32(bytes + offset, 0xfffefdfc);
        wire_put16(bytes + offset + 4, 0xfbfa);
        ck_assert_uint_eq(wire_get64(bytes + offset), 0x8877fbfafffefdfc);
    }
}
END_TEST

START_TEST(wire_reals_are_ieee)
{
    unsigned char bytes[8];
    wire_put_float(bytes, 1.5f);
    ck_assert_uint_eq(wire_get32(bytes), 0x3fc00000);
    ck_assert(wire_get_float(bytes) == 1.5f);
    wire_put_double(bytes, 1.5);
    ck_assert_uint_eq(wire_get64(bytes), 0x3ff8000000000000);
    ck_assert(wire_get_double(bytes) == 1.5);
    const float bad_floats[] = {-0.0f, -1, INFINITY, NAN}, good_floats[] = {0, FLT_MIN / 2, FLT_MAX};
    const double bad_doubles[] = {-0.0, -1, (double)INFINITY, (double)NAN}, good_doubles[] = {0, DBL_MIN / 2, DBL_MAX};
    for (int i = 0; i < 4; i++) {
        wire_put_float(bytes, bad_floats[i]);
        ck_assert(wire_float_is_bad(bytes));
        wire_put_double(bytes, bad_doubles[i]);
        ck_assert(wire_double_is_bad(bytes));
    }
    for (int i = 0; i < 3; i++) {
        wire_put_float(bytes, good_floats[i]);
        ck_assert(!wire_float_is_bad(bytes));
        wire_put_double(bytes, good_doubles[i]);
        ck_assert(!wire_double_is_bad(bytes));
    }
}
END_TEST

START_TEST(records_keep_their_place)
{
    unsigned char memory[3 * STATS_RECORD_BYTES];
    memset(memory, 0x5a, sizeof memory);
    const struct stats_record put = {1, 2, 3, 4, 5, 6, 7};
    struct stats_record stats;
    stats_record_put(memory, 1, &put);
    stats_record_get(memory, 1, &stats);
    ck_assert(stats.worker == 1 && stats.iterations == 2 && stats.chunks == 3 && stats.compute_ns == 4 &&
              stats.wait_ns == 5 && stats.finish_ns == 6 && stats.bytes == 7);
    for (size_t i = 0; i < sizeof memory; i++) {
        if (i / STATS_RECORD_BYTES != 1)
            ck_assert_uint_eq(memory[i], 0x5a);
    }
    struct chunk_record chunk;
    chunk_record_put(memory, 2, &(struct chunk_record){8, 9, 10});
    chunk_record_get(memory, 2, &chunk);
    ck_assert(chunk.first == 8 && chunk.count == 9 && chunk.worker == 10);
    struct request completion = {.chunk = 3};
    completion_put(memory, 3, &(struct request){.compute_ns = 21, .digest = 22, .wait_ns = 23, .samples = 24});
    completion_get(memory, 3, &completion);
    ck_assert(completion.compute_ns == 21 && completion.digest == 22 && completion.wait_ns == 23 &&
              completion.samples == 24 && completion.chunk == 3);
    uint64_t first, count;
    assign_record_put(memory, 4, 25, 26);
    assign_record_get(memory, 4, &first, &count);
    ck_assert(first == 25 && count == 26);
    ck_assert(chunk_number_after(UINT32_MAX) == 1 && chunk_number_before(1) == UINT32_MAX);
    struct done_record done;
    struct feedback_record feedback;
    feedback_record_put(memory, 2, &(struct feedback_record){14, 15, 16, 17, 18, 19, 20});
    feedback_record_get(memory, 2, &feedback);
    ck_assert(feedback.worker == 14 && feedback.chunks == 15 && feedback.iterations == 16 &&
              feedback.compute_ns == 17 && feedback.wait_ns == 18 && feedback.deviation_ns == 19 &&
              feedback.samples == 20);
    done_record_put(memory, 2, &(struct done_record){11, 12, 13, true});
    done_record_get(memory, 2, &done);
    ck_assert(done.first == 11 && done.count == 12 && done.digest == 13);
}
END_TEST

START_TEST(every_name_is_a_word)
{
    for (int type = 0; type < 256; type++) {
        unsigned char bytes[HEADER_BYTES] = {(unsigned char)type};
        struct message got;
        bool known = message_decode(&got, bytes, sizeof bytes) != DECODE_UNKNOWN_TYPE;
        ck_assert_int_eq(strcmp(message_name((enum message_type)type), "?") != 0, known);
    }
    ck_assert_str_eq(role_name(ROLE_SUPERMASTER), "supermaster");
    ck_assert_str_eq(role_name(ROLE_MASTER), "master");
    ck_assert_str_eq(role_name(ROLE_WORKER), "worker");
    ck_assert_str_eq(role_name((enum role)4), "?");
    for (int i = DECODE_OK; i <= DECODE_NOT_ZERO; i++) {
        ck_assert_str_ne(decode_result_text((enum decode_result)i), "?");
        for (int k = DECODE_OK; k < i; k++)
            ck_assert_str_ne(decode_result_text((enum decode_result)i), decode_result_text((enum decode_result)k));
    }
    ck_assert_str_eq(decode_result_text((enum decode_result)77), "?");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proto messages");
    TCase *all = tcase_create("messages");
    tcase_add_test(all, request_and_assign_take_at_most_72_bytes_together);
    tcase_add_test(all, every_message_survives_the_round_trip);
    tcase_add_test(all, every_message_keeps_its_job);
    tcase_add_test(all, encode_writes_nothing_behind_its_size);
    tcase_add_test(all, every_truncation_is_too_short_or_a_shorter_payload);
    tcase_add_test(all, every_message_with_a_byte_more_is_too_long_or_a_longer_payload);
    tcase_add_test(all, nothing_over_message_max_is_looked_at);
    tcase_add_loop_test(all, every_wrong_message_has_its_named_error, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(all, too_large_a_count_is_an_error_with_all_its_records_there);
    tcase_add_test(all, a_speed_may_be_at_its_limits);
    tcase_add_test(all, an_inline_payload_ends_at_its_limit);
    tcase_add_test(all, a_problem_is_one_line_of_any_language);
    tcase_add_test(all, every_unknown_flag_is_rejected);
    tcase_add_test(all, hello_survives_the_round_trip);
    tcase_add_test(all, hello_rejects_what_is_wrong_in_one_place);
    tcase_add_test(all, hello_of_another_protocol_shows_its_versions);
    tcase_add_test(all, hello_has_one_size);
    tcase_add_test(all, wire_integers_are_little_endian_at_any_address);
    tcase_add_test(all, wire_reals_are_ieee);
    tcase_add_test(all, records_keep_their_place);
    tcase_add_test(all, every_name_is_a_word);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
