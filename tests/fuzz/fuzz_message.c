/* SPDX-License-Identifier: MIT */
/* message_decode(): any bytes give a named error or a message that says again exactly these bytes. Every record of it
 * is read and written again as well. */
#include "proto/message.h"
#include "proto/record.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

/* REQUEST's further completions and ASSIGN's further chunks */
static void check_completions(const struct message *message, unsigned char *again)
{
    for (unsigned i = 0; i < message->record_count; i++) {
        struct request completion = {0};
        completion_get(message->records, i, &completion);
        completion_put(again, i, &completion);
    }
}

static void check_chunks(const struct message *message, unsigned char *again)
{
    for (unsigned i = 0; i < message->record_count; i++) {
        uint64_t first, count;
        assign_record_get(message->records, i, &first, &count);
        REQUIRE(count > 0 && first <= UINT64_MAX - count);
        assign_record_put(again, i, first, count);
    }
}

#define SAME_AGAIN(kind, message, again)                                                                               \
    for (unsigned i = 0; i < (message)->record_count; i++) {                                                           \
        struct kind##_record record;                                                                                   \
        kind##_record_get((message)->records, i, &record);                                                             \
        kind##_record_put(again, i, &record);                                                                          \
    }

static size_t check_speed(const struct message *message, unsigned char *again)
{
    struct speed speed;
    speed_get(message, &speed);
    REQUIRE(speed.levels >= 1 && speed.levels <= LEVELS_MAX && speed.mean_ns >= 0 && speed.swr <= 1);
    const struct message made = speed_message(&speed, again);
    REQUIRE(made.speed.worker == message->speed.worker && made.speed.levels == message->speed.levels);
    return message_fixed_size(message) - HEADER_BYTES;
}

/* Reads all records and writes them to `again`; returns how many bytes they have. */
static size_t rewrite_records(const struct message *message, unsigned char *again)
{
    switch (message->type) {
    case MESSAGE_SPEED: return check_speed(message, again);
    case MESSAGE_REQUEST: check_completions(message, again); return message->record_count * COMPLETION_BYTES;
    case MESSAGE_ASSIGN: check_chunks(message, again); return message->record_count * ASSIGN_RECORD_BYTES;
    case MESSAGE_REPORT: SAME_AGAIN(done, message, again) return message->record_count * DONE_RECORD_BYTES;
    case MESSAGE_REFILL: SAME_AGAIN(chunk, message, again) return message->record_count * CHUNK_RECORD_BYTES;
    case MESSAGE_STATS: SAME_AGAIN(stats, message, again) return message->record_count * STATS_RECORD_BYTES;
    case MESSAGE_FEEDBACK: SAME_AGAIN(feedback, message, again) return message->record_count * FEEDBACK_RECORD_BYTES;
    case MESSAGE_LOADS: SAME_AGAIN(load, message, again) return message->record_count * LOAD_RECORD_BYTES;
    case MESSAGE_RETURNED:
    case MESSAGE_ITERATIONS_GIVEN_UP: check_chunks(message, again); return message->record_count * ASSIGN_RECORD_BYTES;
    case MESSAGE_JOB: memcpy(again, message->records, message->record_count); return message->record_count;
    default: return 0;
    }
}

static void check_limits(const struct message *message)
{
    if (message->type == MESSAGE_FATAL)
        REQUIRE(message->fatal.length <= TEXT_MAX);
    if (message->type == MESSAGE_REQUEST)
        REQUIRE(message->request.asks <= ASKS_MAX && message->record_count < ASKS_MAX);
    if (message->type == MESSAGE_JOB)
        REQUIRE(message->record_count > 0 && message->record_count <= message->job_part.all - message->job_part.offset);
    if (message->payload == PAYLOAD_INLINE)
        REQUIRE(message->payload_bytes > 0 && message->payload_bytes <= INLINE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned char again[MESSAGE_MAX];
    struct message message = {0};
    enum decode_result result = message_decode(&message, bytes, size);
    REQUIRE(decode_result_text(result)[0] != '?');
    if (result != DECODE_OK)
        return 0;
    check_limits(&message);
    REQUIRE(strcmp(message_name(message.type), "?") != 0);
    REQUIRE(message_size(&message) == size && message_encode(&message, message.job, again) == size);
    REQUIRE(memcmp(again, bytes, size) == 0);
    size_t records = rewrite_records(&message, again);
    REQUIRE(records == 0 || memcmp(again, message.records, records) == 0);
    return 0;
}
