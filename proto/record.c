/* SPDX-License-Identifier: MIT */
/* Record encoders and decoders: see record.h. Layouts: PROTOCOL.md section 3. */
#include "proto/layout.h"
#include "proto/message.h"
#include "proto/record.h"
#include "proto/wire.h"

void completion_put(unsigned char *records, unsigned i, const struct request *completion)
{
    unsigned char *out = records + (size_t)i * COMPLETION_BYTES;
    wire_put64(out, completion->compute_ns);
    wire_put64(out + 8, completion->digest);
    wire_put64(out + 16, completion->wait_ns);
    wire_put_float(out + 24, completion->deviation_ns);
    wire_put16(out + 28, (uint16_t)completion->samples);
    wire_put16(out + 30, 0);
}

void completion_get(const unsigned char *records, unsigned i, struct request *completion)
{
    const unsigned char *in = records + (size_t)i * COMPLETION_BYTES;
    completion->compute_ns = wire_get64(in);
    completion->digest = wire_get64(in + 8);
    completion->wait_ns = wire_get64(in + 16);
    completion->deviation_ns = wire_get_float(in + 24);
    completion->samples = wire_get16(in + 28);
}

void assign_record_put(unsigned char *records, unsigned i, uint64_t first, uint64_t count)
{
    wire_put64(records + (size_t)i * ASSIGN_RECORD_BYTES, first);
    wire_put64(records + (size_t)i * ASSIGN_RECORD_BYTES + 8, count);
}

void assign_record_get(const unsigned char *records, unsigned i, uint64_t *first, uint64_t *count)
{
    *first = wire_get64(records + (size_t)i * ASSIGN_RECORD_BYTES);
    *count = wire_get64(records + (size_t)i * ASSIGN_RECORD_BYTES + 8);
}

void done_record_put(unsigned char *records, unsigned i, const struct done_record *record)
{
    unsigned char *out = records + (size_t)i * DONE_RECORD_BYTES;
    wire_put64(out, record->first);
    wire_put64(out + 8, record->count | (record->has_failed ? COUNT_HAS_FAILED : 0));
    wire_put64(out + 16, record->digest);
}

void done_record_get(const unsigned char *records, unsigned i, struct done_record *record)
{
    const unsigned char *in = records + (size_t)i * DONE_RECORD_BYTES;
    const uint64_t count = wire_get64(in + 8);
    *record = (struct done_record){wire_get64(in), count & ~COUNT_HAS_FAILED, wire_get64(in + 16),
                                   (count & COUNT_HAS_FAILED) != 0};
}

void chunk_record_put(unsigned char *records, unsigned i, const struct chunk_record *record)
{
    unsigned char *out = records + (size_t)i * CHUNK_RECORD_BYTES;
    wire_put64(out, record->first);
    wire_put64(out + 8, record->count);
    wire_put32(out + 16, record->worker);
}

void chunk_record_get(const unsigned char *records, unsigned i, struct chunk_record *record)
{
    const unsigned char *in = records + (size_t)i * CHUNK_RECORD_BYTES;
    *record = (struct chunk_record){wire_get64(in), wire_get64(in + 8), wire_get32(in + 16)};
}

void stats_record_put(unsigned char *records, unsigned i, const struct stats_record *record)
{
    unsigned char *out = records + (size_t)i * STATS_RECORD_BYTES;
    wire_put32(out, record->worker);
    wire_put64(out + 4, record->iterations);
    wire_put64(out + 12, record->chunks);
    wire_put64(out + 20, record->compute_ns);
    wire_put64(out + 28, record->wait_ns);
    wire_put64(out + 36, record->finish_ns);
    wire_put64(out + 44, record->bytes);
}

void stats_record_get(const unsigned char *records, unsigned i, struct stats_record *record)
{
    const unsigned char *in = records + (size_t)i * STATS_RECORD_BYTES;
    *record = (struct stats_record){
        .worker = wire_get32(in),
        .iterations = wire_get64(in + 4),
        .chunks = wire_get64(in + 12),
        .compute_ns = wire_get64(in + 20),
        .wait_ns = wire_get64(in + 28),
        .finish_ns = wire_get64(in + 36),
        .bytes = wire_get64(in + 44),
    };
}

void feedback_record_put(unsigned char *records, unsigned i, const struct feedback_record *record)
{
    unsigned char *out = records + (size_t)i * FEEDBACK_RECORD_BYTES;
    wire_put32(out, record->worker);
    wire_put32(out + 4, record->chunks);
    wire_put64(out + 8, record->iterations);
    wire_put64(out + 16, record->compute_ns);
    wire_put64(out + 24, record->wait_ns);
    wire_put_float(out + 32, record->deviation_ns);
    wire_put32(out + 36, record->samples);
}

void feedback_record_get(const unsigned char *records, unsigned i, struct feedback_record *record)
{
    const unsigned char *in = records + (size_t)i * FEEDBACK_RECORD_BYTES;
    *record = (struct feedback_record){
        .worker = wire_get32(in),
        .chunks = wire_get32(in + 4),
        .iterations = wire_get64(in + 8),
        .compute_ns = wire_get64(in + 16),
        .wait_ns = wire_get64(in + 24),
        .deviation_ns = wire_get_float(in + 32),
        .samples = wire_get32(in + 36),
    };
}

void load_record_put(unsigned char *records, unsigned i, const struct load_record *record)
{
    unsigned char *out = records + (size_t)i * LOAD_RECORD_BYTES;
    wire_put32(out, record->worker);
    wire_put16(out + 4, record->load);
}

void load_record_get(const unsigned char *records, unsigned i, struct load_record *record)
{
    const unsigned char *in = records + (size_t)i * LOAD_RECORD_BYTES;
    *record = (struct load_record){wire_get32(in), wire_get16(in + 4)};
}

struct message speed_message(const struct speed *speed, unsigned char body[SPEED_BODY_MAX])
{
    wire_put64(body, speed->round_trip_ns);
    wire_put_double(body + SPEED_AT_REALS, speed->mean_ns);
    wire_put_double(body + SPEED_AT_REALS + 8, speed->deviation_ns);
    wire_put_double(body + SPEED_AT_REALS + 16, speed->swr);
    for (size_t i = 0; i < SPEED_CELLS; i++) {
        wire_put_float(body + SPEED_AT_CELLS + 8 * i, speed->cells[i].mean_ns);
        wire_put32(body + SPEED_AT_CELLS + 8 * i + 4, speed->cells[i].count);
    }
    for (size_t i = 0; i < speed->levels; i++)
        wire_put64(body + SPEED_AT_LEVELS + 8 * i, speed->elapsed_ns[i]);
    return (struct message){.type = MESSAGE_SPEED, .records = body, .speed = {speed->worker, speed->levels}};
}

void speed_get(const struct message *message, struct speed *speed)
{
    const unsigned char *body = message->records;
    *speed = (struct speed){
        .worker = message->speed.worker,
        .levels = message->speed.levels,
        .round_trip_ns = wire_get64(body),
        .mean_ns = wire_get_double(body + SPEED_AT_REALS),
        .deviation_ns = wire_get_double(body + SPEED_AT_REALS + 8),
        .swr = wire_get_double(body + SPEED_AT_REALS + 16),
    };
    for (size_t i = 0; i < SPEED_CELLS; i++)
        speed->cells[i] = (struct speed_cell){wire_get_float(body + SPEED_AT_CELLS + 8 * i),
                                              wire_get32(body + SPEED_AT_CELLS + 8 * i + 4)};
    for (size_t i = 0; i < speed->levels; i++)
        speed->elapsed_ns[i] = wire_get64(body + SPEED_AT_LEVELS + 8 * i);
}
