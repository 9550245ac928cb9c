/* SPDX-License-Identifier: MIT */
/* Decoders turn any bytes into a checked message or an error code. A decoder checks the length of its message before it
 * reads a field. It returns DECODE_OK only if all flags and fields are valid. */
#include "proto/message.h"
#include "proto/layout.h"
#include "proto/record.h"
#include "proto/wire.h"

#include <string.h>

struct header {
    unsigned flags, number;
    uint32_t id;
};

const char *decode_result_text(enum decode_result result)
{
    switch (result) {
    case DECODE_OK: return "ok";
    case DECODE_TOO_SHORT: return "too short";
    case DECODE_TOO_LONG: return "too long";
    case DECODE_UNKNOWN_TYPE: return "unknown type";
    case DECODE_UNKNOWN_FLAG: return "unknown flag";
    case DECODE_OUT_OF_RANGE: return "field out of range";
    case DECODE_NOT_ZERO: return "reserved field not zero";
    }
    return "?";
}

static enum decode_result decode_check_size(size_t size, size_t expected)
{
    return size < expected ? DECODE_TOO_SHORT : size > expected ? DECODE_TOO_LONG : DECODE_OK;
}

static enum decode_result check_plain(const struct header *header, size_t size, size_t expected, unsigned flags)
{
    enum decode_result result = decode_check_size(size, expected);
    if (result != DECODE_OK)
        return result;
    if (header->flags & ~flags)
        return DECODE_UNKNOWN_FLAG;
    return header->number != 0 || header->id != 0 ? DECODE_NOT_ZERO : DECODE_OK;
}

static bool chunk_is_bad(uint64_t first, uint64_t count)
{
    return count == 0 || first > UINT64_MAX - count;
}

static enum decode_result decode_payload(struct message *message, unsigned flags, const unsigned char *bytes,
                                         size_t size, size_t fixed)
{
    if (size < fixed)
        return DECODE_TOO_SHORT;
    if ((flags & FLAG_INLINE) && (flags & FLAG_DATA))
        return DECODE_OUT_OF_RANGE;
    if (!(flags & (FLAG_INLINE | FLAG_DATA)))
        return flags & FLAG_HAS_FAILED ? DECODE_OUT_OF_RANGE : decode_check_size(size, fixed);
    message->has_failed = flags & FLAG_HAS_FAILED;
    /* With FLAG_DATA the message contains only the size of the payload; the payload follows as a message of its own. */
    if (flags & FLAG_DATA) {
        enum decode_result result = decode_check_size(size, fixed + PAYLOAD_SIZE_BYTES);
        if (result != DECODE_OK)
            return result;
        message->payload = PAYLOAD_DATA;
        message->payload_bytes = wire_get64(bytes + fixed);
        return message->payload_bytes == 0 || message->payload_bytes > PAYLOAD_MAX ? DECODE_OUT_OF_RANGE : DECODE_OK;
    }
    if (size == fixed)
        return DECODE_TOO_SHORT;
    if (size - fixed > INLINE_MAX)
        return DECODE_TOO_LONG;
    message->payload = PAYLOAD_INLINE;
    message->payload_data = bytes + fixed;
    message->payload_bytes = size - fixed;
    return DECODE_OK;
}

/* The supermaster divides by mean_ns. So the deviation, and the mean of each cell, must be at most SPEED_RATIO_MAX
 * times mean_ns. mean_ns must be 0 or at least SPEED_MEAN_MIN_NS. If it is 0, all cells must be empty, and deviation
 * and swr must be 0. */
static bool is_in_proportion(const struct speed *speed)
{
    bool timed = speed->mean_ns > 0;
    double most = speed->mean_ns * SPEED_RATIO_MAX;
    if (timed && speed->mean_ns < SPEED_MEAN_MIN_NS)
        return false;
    for (unsigned i = 0; i < SPEED_CELLS; i++)
        if ((double)speed->cells[i].mean_ns > most || (!timed && speed->cells[i].count > 0))
            return false;
    return speed->deviation_ns <= most && (timed || speed->swr == 0);
}

static enum decode_result check_speed(const struct message *message)
{
    struct speed speed;
    for (size_t at = SPEED_AT_REALS; at < SPEED_AT_CELLS; at += 8)
        if (wire_double_is_bad(message->records + at))
            return DECODE_OUT_OF_RANGE;
    for (size_t at = SPEED_AT_CELLS; at < SPEED_AT_LEVELS; at += 8)
        if (wire_float_is_bad(message->records + at))
            return DECODE_OUT_OF_RANGE;
    speed_get(message, &speed);
    for (unsigned i = 0; i < speed.levels; i++)
        if (speed.elapsed_ns[i] == 0)
            return DECODE_OUT_OF_RANGE;
    if (speed.swr > 1)
        return DECODE_OUT_OF_RANGE;
    for (unsigned i = 0; i < SPEED_CELLS; i++)
        if (speed.cells[i].count == 0 && speed.cells[i].mean_ns > 0)
            return DECODE_NOT_ZERO;
    return is_in_proportion(&speed) ? DECODE_OK : DECODE_OUT_OF_RANGE;
}

static enum decode_result decode_speed(struct message *message, const struct header *header, const unsigned char *bytes,
                                       size_t size)
{
    if (header->flags != 0)
        return DECODE_UNKNOWN_FLAG;
    if (header->number < 1 || header->number > LEVELS_MAX)
        return DECODE_OUT_OF_RANGE;
    enum decode_result result = decode_check_size(size, SPEED_BYTES + 8 * header->number);
    if (result != DECODE_OK)
        return result;
    message->speed = (struct speed_head){header->id, header->number};
    message->records = bytes + HEADER_BYTES;
    return check_speed(message);
}

static enum decode_result check_deviation(const unsigned char *deviation, uint32_t samples)
{
    if (wire_float_is_bad(deviation))
        return DECODE_OUT_OF_RANGE;
    return samples < 2 && wire_get32(deviation) != 0 ? DECODE_NOT_ZERO : DECODE_OK;
}

static enum decode_result check_completion(const unsigned char *completion)
{
    return check_deviation(completion + 24, wire_get16(completion + 28));
}

/* Only the completion in the fixed part of a REQUEST has a load. A REQUEST with earlier completions has no payload. */
static enum decode_result decode_earlier(struct message *message, const unsigned char *bytes)
{
    enum decode_result result = DECODE_OK;
    message->records = bytes + REQUEST_BYTES;
    for (unsigned i = 0; result == DECODE_OK && i < message->record_count; i++) {
        const unsigned char *completion = message->records + (size_t)i * COMPLETION_BYTES;
        if (wire_get16(completion + COMPLETION_BYTES - 2) != 0)
            return DECODE_NOT_ZERO;
        result = check_completion(completion);
    }
    return result == DECODE_OK && message->payload != PAYLOAD_NONE ? DECODE_OUT_OF_RANGE : result;
}

static bool load_is_bad(unsigned load)
{
    return load < LOAD_ONE;
}

static enum decode_result decode_request(struct message *message, const struct header *header,
                                         const unsigned char *bytes, size_t size)
{
    unsigned asks = header->number & 0xff, earlier = header->number >> 8;
    if (header->flags & ~(FLAG_DONE | FLAG_INLINE | FLAG_DATA | FLAG_HAS_FAILED))
        return DECODE_UNKNOWN_FLAG;
    if (earlier >= ASKS_MAX)
        return DECODE_OUT_OF_RANGE;
    message->record_count = earlier;
    enum decode_result result =
        decode_payload(message, header->flags, bytes, size, REQUEST_BYTES + earlier * COMPLETION_BYTES);
    if (result != DECODE_OK)
        return result;
    struct request *request = &message->request;
    *request = (struct request){.chunk = header->id, .asks = asks, .done = header->flags & FLAG_DONE};
    completion_get(bytes + HEADER_BYTES, 0, request);
    request->load = wire_get16(bytes + REQUEST_AT_LOAD);
    if (asks > ASKS_MAX || (asks == 0 && !request->done) || (request->done && request->chunk == 0) ||
        (earlier > 0 && !request->done) || (request->load != 0 && load_is_bad(request->load)))
        return DECODE_OUT_OF_RANGE;
    if (!request->done && (request->chunk != 0 || request->compute_ns != 0 || request->digest != 0 ||
                           message->payload != PAYLOAD_NONE || request->samples != 0))
        return DECODE_NOT_ZERO;
    result = check_completion(bytes + HEADER_BYTES);
    return result == DECODE_OK && earlier > 0 ? decode_earlier(message, bytes) : result;
}

static enum decode_result decode_result_message(struct message *message, const struct header *header,
                                                const unsigned char *bytes, size_t size)
{
    if (header->flags & ~(FLAG_INLINE | FLAG_DATA | FLAG_HAS_FAILED))
        return DECODE_UNKNOWN_FLAG;
    enum decode_result result = decode_payload(message, header->flags, bytes, size, RESULT_BYTES);
    if (result != DECODE_OK)
        return result;
    if (header->number != 0)
        return DECODE_NOT_ZERO;
    message->result = (struct result){header->id, wire_get64(bytes + 12), wire_get64(bytes + 20)};
    return message->result.chunk == 0 || message->result.count == 0 ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

static enum decode_result decode_assign(struct message *message, const struct header *header,
                                        const unsigned char *bytes, size_t size)
{
    if (header->flags & ~FLAG_ISOLATED)
        return DECODE_UNKNOWN_FLAG;
    if (header->number >= (header->flags & FLAG_ISOLATED ? 1 : ASKS_MAX))
        return DECODE_OUT_OF_RANGE;
    enum decode_result result = decode_check_size(size, ASSIGN_BYTES + header->number * ASSIGN_RECORD_BYTES);
    if (result != DECODE_OK)
        return result;
    message->assign =
        (struct assign){header->id, wire_get64(bytes + 12), wire_get64(bytes + 20), header->flags & FLAG_ISOLATED};
    if (message->assign.chunk == 0 || chunk_is_bad(message->assign.first, message->assign.count))
        return DECODE_OUT_OF_RANGE;
    message->record_count = header->number;
    message->records = header->number > 0 ? bytes + ASSIGN_BYTES : NULL;
    for (unsigned i = 0; i < header->number; i++) {
        uint64_t first, count;
        assign_record_get(message->records, i, &first, &count);
        if (chunk_is_bad(first, count))
            return DECODE_OUT_OF_RANGE;
    }
    return DECODE_OK;
}

static enum decode_result decode_goodbye(struct message *message, const struct header *header,
                                         const unsigned char *bytes, size_t size)
{
    enum decode_result result = check_plain(header, size, GOODBYE_BYTES, 0);
    if (result == DECODE_OK)
        message->goodbye = (struct goodbye){wire_get64(bytes + 12), wire_get64(bytes + 20), wire_get64(bytes + 28)};
    return result;
}

static enum decode_result decode_records(struct message *message, const struct header *header,
                                         const unsigned char *bytes, size_t size, unsigned limit, size_t record_bytes)
{
    if (header->number > limit)
        return DECODE_OUT_OF_RANGE;
    message->records = bytes + HEADER_BYTES;
    message->record_count = header->number;
    return decode_check_size(size, HEADER_BYTES + header->number * record_bytes);
}

static enum decode_result decode_report(struct message *message, const struct header *header,
                                        const unsigned char *bytes, size_t size)
{
    if (header->flags & ~FLAG_REFILL)
        return DECODE_UNKNOWN_FLAG;
    message->report = (struct report_head){.refill = header->flags & FLAG_REFILL, .busy = header->id};
    enum decode_result result = decode_records(message, header, bytes, size, REPORT_MAX, DONE_RECORD_BYTES);
    for (unsigned i = 0; result == DECODE_OK && i < message->record_count; i++) {
        struct done_record record;
        done_record_get(message->records, i, &record);
        if (chunk_is_bad(record.first, record.count))
            return DECODE_OUT_OF_RANGE;
    }
    return result;
}

static enum decode_result decode_refill(struct message *message, const struct header *header,
                                        const unsigned char *bytes, size_t size)
{
    if (header->flags & ~(FLAG_MORE | FLAG_EMPTY | FLAG_BEGUN))
        return DECODE_UNKNOWN_FLAG;
    if (header->id != 0)
        return DECODE_NOT_ZERO;
    message->refill = (struct refill_head){
        .more = header->flags & FLAG_MORE,
        .empty = header->flags & FLAG_EMPTY,
        .begun = header->flags & FLAG_BEGUN,
    };
    enum decode_result result = decode_records(message, header, bytes, size, REFILL_MAX, CHUNK_RECORD_BYTES);
    if (result == DECODE_OK && message->refill.empty != (message->record_count == 0))
        return DECODE_OUT_OF_RANGE;
    if (result == DECODE_OK && (message->refill.empty ? message->refill.more : message->refill.begun))
        return DECODE_OUT_OF_RANGE;
    for (unsigned i = 0; result == DECODE_OK && i < message->record_count; i++) {
        struct chunk_record record;
        chunk_record_get(message->records, i, &record);
        if (chunk_is_bad(record.first, record.count))
            return DECODE_OUT_OF_RANGE;
    }
    return result;
}

static enum decode_result decode_check_list(const struct header *header, unsigned least)
{
    if (header->flags != 0)
        return DECODE_UNKNOWN_FLAG;
    if (header->id != 0)
        return DECODE_NOT_ZERO;
    return header->number < least ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

static enum decode_result decode_stats(struct message *message, const struct header *header, const unsigned char *bytes,
                                       size_t size)
{
    enum decode_result result = decode_check_list(header, 0);
    return result != DECODE_OK ? result : decode_records(message, header, bytes, size, STATS_MAX, STATS_RECORD_BYTES);
}

static enum decode_result decode_loads(struct message *message, const struct header *header, const unsigned char *bytes,
                                       size_t size)
{
    enum decode_result result = decode_check_list(header, 1);
    if (result == DECODE_OK)
        result = decode_records(message, header, bytes, size, LOADS_MAX, LOAD_RECORD_BYTES);
    for (unsigned i = 0; result == DECODE_OK && i < message->record_count; i++) {
        struct load_record record;
        load_record_get(message->records, i, &record);
        if (load_is_bad(record.load))
            return DECODE_OUT_OF_RANGE;
    }
    return result;
}

static enum decode_result decode_feedback(struct message *message, const struct header *header,
                                          const unsigned char *bytes, size_t size)
{
    enum decode_result result = decode_check_list(header, 1);
    if (result == DECODE_OK)
        result = decode_records(message, header, bytes, size, FEEDBACK_MAX, FEEDBACK_RECORD_BYTES);
    for (unsigned i = 0; result == DECODE_OK && i < message->record_count; i++) {
        struct feedback_record record;
        feedback_record_get(message->records, i, &record);
        if (record.chunks == 0 || record.iterations < record.chunks)
            return DECODE_OUT_OF_RANGE;
        result = check_deviation(message->records + (size_t)i * FEEDBACK_RECORD_BYTES + 32, record.samples);
    }
    return result;
}

/* Refuses control characters in a text, because programs print the text as one line. */
static enum decode_result check_text(const unsigned char *text, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        if (text[i] < 0x20 || text[i] == 0x7f)
            return DECODE_OUT_OF_RANGE;
    return DECODE_OK;
}

static enum decode_result decode_fatal(struct message *message, const struct header *header, const unsigned char *bytes,
                                       size_t size)
{
    if (header->flags != 0)
        return DECODE_UNKNOWN_FLAG;
    if (header->number > TEXT_MAX)
        return DECODE_OUT_OF_RANGE;
    enum decode_result result = decode_check_size(size, HEADER_BYTES + header->number);
    if (result != DECODE_OK)
        return result;
    message->fatal = (struct fatal){header->id, (const char *)bytes + HEADER_BYTES, header->number};
    return check_text(bytes + HEADER_BYTES, header->number);
}

static enum decode_result check_bare(const struct header *header, size_t size)
{
    enum decode_result result = decode_check_size(size, HEADER_BYTES);
    if (result != DECODE_OK)
        return result;
    if (header->flags != 0)
        return DECODE_UNKNOWN_FLAG;
    return header->number != 0 ? DECODE_NOT_ZERO : DECODE_OK;
}

static enum decode_result decode_echo(struct message *message, const struct header *header, size_t size)
{
    message->echo.id = header->id;
    return check_bare(header, size);
}

static enum decode_result decode_recall(struct message *message, const struct header *header, size_t size)
{
    enum decode_result result = check_bare(header, size);
    message->recall.waiting = header->id;
    return result == DECODE_OK && header->id == 0 ? DECODE_OUT_OF_RANGE : result;
}

static enum decode_result decode_end(struct message *message, const struct header *header, size_t size)
{
    message->end = (struct end){
        .drain = header->flags & FLAG_DRAIN,
        .degraded = header->flags & FLAG_DEGRADED,
        .late = header->flags & FLAG_LATE,
        .now = header->flags & FLAG_NOW,
    };
    enum decode_result result =
        check_plain(header, size, HEADER_BYTES, FLAG_DRAIN | FLAG_DEGRADED | FLAG_LATE | FLAG_NOW);
    return result == DECODE_OK && message->end.now && !message->end.drain ? DECODE_OUT_OF_RANGE : result;
}

static enum decode_result check_maybe_chunk(uint64_t first, uint64_t count)
{
    if (count == 0)
        return first != 0 ? DECODE_NOT_ZERO : DECODE_OK;
    return chunk_is_bad(first, count) ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

static enum decode_result decode_adopt(struct message *message, const struct header *header, const unsigned char *bytes,
                                       size_t size)
{
    enum decode_result result = check_plain(header, size, ADOPT_BYTES, 0);
    if (result != DECODE_OK)
        return result;
    message->adopt = (struct adopt){wire_get64(bytes + 12), wire_get64(bytes + 20)};
    return check_maybe_chunk(message->adopt.first, message->adopt.count);
}

static enum decode_result decode_worker_lost(struct message *message, const struct header *header,
                                             const unsigned char *bytes, size_t size)
{
    const struct header without_id = {header->flags, header->number, 0};
    enum decode_result result = check_plain(&without_id, size, WORKER_LOST_BYTES, 0);
    if (result != DECODE_OK)
        return result;
    message->worker_lost =
        (struct worker_lost){header->id, wire_get64(bytes + 12), wire_get64(bytes + 20), wire_get64(bytes + 28)};
    return check_maybe_chunk(message->worker_lost.first, message->worker_lost.count);
}

static enum decode_result decode_iterations_failed(struct message *message, const struct header *header,
                                                   const unsigned char *bytes, size_t size)
{
    if (header->flags & ~(FLAG_FINAL | FLAG_DIED))
        return DECODE_UNKNOWN_FLAG;
    if (header->number > TEXT_MAX)
        return DECODE_OUT_OF_RANGE;
    enum decode_result result = decode_check_size(size, ITERATIONS_FAILED_BYTES + header->number);
    if (result != DECODE_OK)
        return result;
    message->iterations_failed = (struct iterations_failed){
        .id = header->id,
        .first = wire_get64(bytes + 12),
        .count = wire_get64(bytes + 20),
        .final = header->flags & FLAG_FINAL,
        .died = header->flags & FLAG_DIED,
        .text = (const char *)bytes + ITERATIONS_FAILED_BYTES,
        .length = header->number,
    };
    if (chunk_is_bad(message->iterations_failed.first, message->iterations_failed.count))
        return DECODE_OUT_OF_RANGE;
    return check_text(bytes + ITERATIONS_FAILED_BYTES, header->number);
}

/* Returns true if the values are impossible. If the node has enough cores for the threads of its workers, only workers
 * with two or more threads send THREADS. */
static bool threads_are_bad(const struct threads *threads)
{
    if (threads->count == 0 || threads->max_over_mean < 1)
        return true;
    if (threads->cores == 0)
        return threads->count < 2 || threads->workers != 0 || threads->processor_ns != 0;
    return threads->cores >= (uint64_t)threads->workers * threads->count;
}

static enum decode_result decode_threads(struct message *message, const struct header *header,
                                         const unsigned char *bytes, size_t size)
{
    const struct header plain = {header->flags, 0, 0};
    enum decode_result result = check_plain(&plain, size, THREADS_BYTES, 0);
    if (result != DECODE_OK)
        return result;
    if (wire_float_is_bad(bytes + 12) || wire_float_is_bad(bytes + 16))
        return DECODE_OUT_OF_RANGE;
    message->threads = (struct threads){
        .worker = header->id,
        .count = header->number,
        .max_over_mean = wire_get_float(bytes + 12),
        .cov = wire_get_float(bytes + 16),
        .chunks = wire_get64(bytes + 20),
        .cores = wire_get32(bytes + 28),
        .workers = wire_get32(bytes + 32),
        .processor_ns = wire_get64(bytes + 36),
    };
    return threads_are_bad(&message->threads) ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

static enum decode_result decode_poison(struct message *message, const struct header *header,
                                        const unsigned char *bytes, size_t size)
{
    const struct header without_id = {header->flags, header->number, 0};
    enum decode_result result = check_plain(&without_id, size, POISON_BYTES, 0);
    if (result != DECODE_OK)
        return result;
    const struct poison poison = message->poison = (struct poison){
        .first = wire_get64(bytes + 12),
        .count = wire_get64(bytes + 20),
        .deaths = wire_get32(bytes + 28),
        .failures = wire_get32(bytes + 32),
        .failed_by = header->id,
    };
    if (poison.failures == 0 && poison.failed_by != 0)
        return DECODE_NOT_ZERO;
    return chunk_is_bad(poison.first, poison.count) || (poison.deaths == 0 && poison.failures == 0)
               ? DECODE_OUT_OF_RANGE
               : DECODE_OK;
}

static enum decode_result decode_neighbour(struct message *message, const struct header *header,
                                           const unsigned char *bytes, size_t size)
{
    const struct header without_id = {header->flags, header->number, 0};
    enum decode_result result = check_plain(&without_id, size, NEIGHBOUR_BYTES, 0);
    if (result != DECODE_OK)
        return result;
    message->neighbour = (struct neighbour){.first = wire_get64(bytes + 12), .rank = header->id};
    return message->neighbour.first == 0 ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

/* A boundary at iteration 0 is invalid, because no chunk lies before it. */
static enum decode_result decode_boundary(struct message *message, const struct header *header,
                                          const unsigned char *bytes, size_t size)
{
    if (header->flags & ~(FLAG_INLINE | FLAG_DATA))
        return DECODE_UNKNOWN_FLAG;
    enum decode_result result = decode_payload(message, header->flags, bytes, size, BOUNDARY_BYTES);
    if (result != DECODE_OK)
        return result;
    if (header->number != 0 || header->id != 0)
        return DECODE_NOT_ZERO;
    const struct boundary boundary = {wire_get64(bytes + 12), wire_get64(bytes + 20)};
    message->boundary = boundary;
    if (boundary.first == 0 || message->payload == PAYLOAD_NONE)
        return DECODE_OUT_OF_RANGE;
    return boundary.offset > UINT64_MAX - message->payload_bytes ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

static enum decode_result decode_verified(struct message *message, const struct header *header,
                                          const unsigned char *bytes, size_t size)
{
    if (header->flags & ~(FLAG_FIRST_WRONG | FLAG_SECOND_WRONG))
        return DECODE_UNKNOWN_FLAG;
    enum decode_result result = decode_check_size(size, VERIFIED_BYTES);
    if (result != DECODE_OK)
        return result;
    struct verified *verified = &message->verified;
    *verified = (struct verified){
        .alike = wire_get64(bytes + 12),
        .unverified = wire_get64(bytes + 20),
        .computations = header->number,
        .rank = {header->id, wire_get32(bytes + 44), wire_get32(bytes + 48)},
        .wrong = header->flags & FLAG_FIRST_WRONG    ? 0
                 : header->flags & FLAG_SECOND_WRONG ? 1
                                                     : -1,
        .first = wire_get64(bytes + 28),
        .count = wire_get64(bytes + 36),
    };
    if (verified->computations == 1 || verified->computations > 3 ||
        header->flags == (FLAG_FIRST_WRONG | FLAG_SECOND_WRONG))
        return DECODE_OUT_OF_RANGE;
    if (verified->computations < 3 && (verified->rank[2] != 0 || verified->wrong >= 0))
        return DECODE_NOT_ZERO;
    if (verified->computations == 0)
        return (verified->rank[0] | verified->rank[1] | verified->first | verified->count) != 0 ? DECODE_NOT_ZERO
                                                                                                : DECODE_OK;
    return chunk_is_bad(verified->first, verified->count) ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

static enum decode_result decode_recovery_counts(struct message *message, const struct header *header,
                                                 const unsigned char *bytes, size_t size)
{
    enum decode_result result = check_plain(header, size, RECOVERY_COUNTS_BYTES, 0);
    if (result == DECODE_OK)
        message->recovery_counts = (struct recovery_counts){wire_get64(bytes + 12), wire_get64(bytes + 20),
                                                            wire_get64(bytes + 28), wire_get64(bytes + 36)};
    return result;
}

static enum decode_result decode_ranges(struct message *message, const struct header *header,
                                        const unsigned char *bytes, size_t size, unsigned least, unsigned most)
{
    enum decode_result result = decode_check_list(header, least);
    if (result == DECODE_OK)
        result = decode_records(message, header, bytes, size, most, ASSIGN_RECORD_BYTES);
    for (unsigned i = 0; result == DECODE_OK && i < message->record_count; i++) {
        uint64_t first, count;
        assign_record_get(message->records, i, &first, &count);
        if (chunk_is_bad(first, count))
            return DECODE_OUT_OF_RANGE;
    }
    return result;
}

static enum decode_result decode_job(struct message *message, const struct header *header, const unsigned char *bytes,
                                     size_t size)
{
    if (header->flags != 0)
        return DECODE_UNKNOWN_FLAG;
    if (header->number < 1 || header->number > JOB_PART_MAX)
        return DECODE_OUT_OF_RANGE;
    enum decode_result result = decode_check_size(size, JOB_BYTES + header->number);
    if (result != DECODE_OK)
        return result;
    const struct job_part part = {header->id, wire_get32(bytes + HEADER_BYTES)};
    message->job_part = part;
    message->records = bytes + JOB_BYTES;
    message->record_count = header->number;
    return part.all > ANNOUNCEMENT_MAX || part.offset >= part.all || header->number > part.all - part.offset
               ? DECODE_OUT_OF_RANGE
               : DECODE_OK;
}

static enum decode_result decode_set_over(struct message *message, const struct header *header, size_t size)
{
    message->set_over.degraded = header->flags & FLAG_DEGRADED;
    return check_plain(header, size, HEADER_BYTES, FLAG_DEGRADED);
}

static enum decode_result decode_leaving(struct message *message, const struct header *header, size_t size)
{
    message->leaving.now = header->flags & FLAG_NOW;
    return check_plain(header, size, HEADER_BYTES, FLAG_NOW);
}

static enum decode_result decode_store(struct message *message, const struct header *header, const unsigned char *bytes,
                                       size_t size)
{
    if (header->flags & ~(FLAG_INLINE | FLAG_DATA))
        return DECODE_UNKNOWN_FLAG;
    const enum decode_result result = decode_payload(message, header->flags, bytes, size, STORE_BYTES);
    if (result != DECODE_OK)
        return result;
    if (header->number != 0 || header->id != 0)
        return DECODE_NOT_ZERO;
    const struct store_head store = {wire_get64(bytes + 12), wire_get64(bytes + 20)};
    message->store = store;
    return message->payload == PAYLOAD_NONE || store.count == 0 || store.first > UINT64_MAX - store.count
               ? DECODE_OUT_OF_RANGE
               : DECODE_OK;
}

static enum decode_result decode_typed(struct message *message, const struct header *header, const unsigned char *bytes,
                                       size_t size)
{
    switch (message->type) {
    case MESSAGE_SPEED: return decode_speed(message, header, bytes, size);
    case MESSAGE_REQUEST: return decode_request(message, header, bytes, size);
    case MESSAGE_RESULT: return decode_result_message(message, header, bytes, size);
    case MESSAGE_ASSIGN: return decode_assign(message, header, bytes, size);
    case MESSAGE_END: return decode_end(message, header, size);
    case MESSAGE_GOODBYE: return decode_goodbye(message, header, bytes, size);
    case MESSAGE_ECHO: return decode_echo(message, header, size);
    case MESSAGE_REPORT: return decode_report(message, header, bytes, size);
    case MESSAGE_REFILL: return decode_refill(message, header, bytes, size);
    case MESSAGE_STATS: return decode_stats(message, header, bytes, size);
    case MESSAGE_FATAL: return decode_fatal(message, header, bytes, size);
    case MESSAGE_DRAIN: return check_plain(header, size, HEADER_BYTES, 0);
    case MESSAGE_FEEDBACK: return decode_feedback(message, header, bytes, size);
    case MESSAGE_ADOPT: return decode_adopt(message, header, bytes, size);
    case MESSAGE_WORKER_LOST: return decode_worker_lost(message, header, bytes, size);
    case MESSAGE_THREADS: return decode_threads(message, header, bytes, size);
    case MESSAGE_RECOVERY_COUNTS: return decode_recovery_counts(message, header, bytes, size);
    case MESSAGE_VERIFIED: return decode_verified(message, header, bytes, size);
    case MESSAGE_ITERATIONS_GIVEN_UP: return decode_ranges(message, header, bytes, size, 1, GIVEN_UP_MAX);
    case MESSAGE_ITERATIONS_FAILED: return decode_iterations_failed(message, header, bytes, size);
    case MESSAGE_POISON: return decode_poison(message, header, bytes, size);
    case MESSAGE_LOADS: return decode_loads(message, header, bytes, size);
    case MESSAGE_NEIGHBOUR: return decode_neighbour(message, header, bytes, size);
    case MESSAGE_BOUNDARY: return decode_boundary(message, header, bytes, size);
    case MESSAGE_RECALL: return decode_recall(message, header, size);
    case MESSAGE_RETURNED: return decode_ranges(message, header, bytes, size, 0, RETURNED_MAX);
    case MESSAGE_JOB: return decode_job(message, header, bytes, size);
    case MESSAGE_SET_OVER: return decode_set_over(message, header, size);
    case MESSAGE_LEAVING: return decode_leaving(message, header, size);
    case MESSAGE_STORE: return decode_store(message, header, bytes, size);
    }
    return DECODE_UNKNOWN_TYPE;
}

enum decode_result message_decode(struct message *message, const unsigned char *bytes, size_t size)
{
    if (size < HEADER_BYTES)
        return DECODE_TOO_SHORT;
    if (size > MESSAGE_MAX)
        return DECODE_TOO_LONG;
    message->type = bytes[0];
    message->payload = PAYLOAD_NONE;
    message->payload_data = NULL;
    message->payload_bytes = 0;
    message->has_failed = false;
    message->records = NULL;
    message->record_count = 0;
    message->job = wire_get32(bytes + HEADER_AT_JOB);
    const struct header header = {bytes[1], wire_get16(bytes + 2), wire_get32(bytes + 4)};
    enum decode_result result = decode_typed(message, &header, bytes, size);
    return result == DECODE_OK && message->job == 0 ? DECODE_OUT_OF_RANGE : result;
}

enum decode_result hello_decode(struct hello *hello, const unsigned char *bytes, size_t size)
{
    enum decode_result result = decode_check_size(size, HELLO_BYTES);
    if (result != DECODE_OK)
        return result;
    if (memcmp(bytes, HELLO_MAGIC, 4) != 0)
        return DECODE_UNKNOWN_TYPE;
    *hello = (struct hello){
        .protocol = wire_get16(bytes + 4),
        .major = wire_get16(bytes + 6),
        .minor = wire_get16(bytes + 8),
        .patch = wire_get16(bytes + 10),
        .role = bytes[12],
        .status = bytes[13],
        .dca = bytes[14] & HELLO_FLAG_DCA,
        .pod = bytes[14] & HELLO_FLAG_POD,
        .listens = bytes[14] & HELLO_FLAG_LISTENS,
        .node = wire_get32(bytes + 16),
        .pid = wire_get32(bytes + 20),
    };
    if (hello->protocol != PROTOCOL_VERSION)
        /* the sender has another version: the other fields may have another meaning, so they are not checked */
        return DECODE_OK;
    if (bytes[14] & ~(HELLO_FLAG_DCA | HELLO_FLAG_POD | HELLO_FLAG_LISTENS))
        return DECODE_UNKNOWN_FLAG;
    if (bytes[15] != 0)
        return DECODE_NOT_ZERO;
    return hello->role < ROLE_SUPERMASTER || hello->role > ROLE_WORKER ? DECODE_OUT_OF_RANGE : DECODE_OK;
}

const char *message_name(enum message_type type)
{
    switch (type) {
    case MESSAGE_SPEED: return "SPEED";
    case MESSAGE_REQUEST: return "REQUEST";
    case MESSAGE_RESULT: return "RESULT";
    case MESSAGE_ASSIGN: return "ASSIGN";
    case MESSAGE_END: return "END";
    case MESSAGE_GOODBYE: return "GOODBYE";
    case MESSAGE_ECHO: return "ECHO";
    case MESSAGE_REPORT: return "REPORT";
    case MESSAGE_REFILL: return "REFILL";
    case MESSAGE_STATS: return "STATS";
    case MESSAGE_FATAL: return "FATAL";
    case MESSAGE_DRAIN: return "DRAIN";
    case MESSAGE_FEEDBACK: return "FEEDBACK";
    case MESSAGE_ADOPT: return "ADOPT";
    case MESSAGE_WORKER_LOST: return "WORKER_LOST";
    case MESSAGE_THREADS: return "THREADS";
    case MESSAGE_RECOVERY_COUNTS: return "RECOVERY_COUNTS";
    case MESSAGE_VERIFIED: return "VERIFIED";
    case MESSAGE_ITERATIONS_GIVEN_UP: return "ITERATIONS_GIVEN_UP";
    case MESSAGE_ITERATIONS_FAILED: return "ITERATIONS_FAILED";
    case MESSAGE_POISON: return "POISON";
    case MESSAGE_LOADS: return "LOADS";
    case MESSAGE_RECALL: return "RECALL";
    case MESSAGE_RETURNED: return "RETURNED";
    case MESSAGE_NEIGHBOUR: return "NEIGHBOUR";
    case MESSAGE_BOUNDARY: return "BOUNDARY";
    case MESSAGE_JOB: return "JOB";
    case MESSAGE_SET_OVER: return "SET_OVER";
    case MESSAGE_LEAVING: return "LEAVING";
    case MESSAGE_STORE: return "STORE";
    }
    return "?";
}

const char *role_name(enum role role)
{
    switch (role) {
    case ROLE_SUPERMASTER: return "supermaster";
    case ROLE_MASTER: return "master";
    case ROLE_WORKER: return "worker";
    }
    return "?";
}
