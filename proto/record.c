/* Records in place: see record.h. Layouts are those of PROTOCOL.md section 3. */
#include "proto/record.h"

void done_record_put(unsigned char *records, unsigned i, const struct done_record *record)
{
    unsigned char *out = records + (size_t)i * DONE_RECORD_BYTES;
    wire_put64(out, record->first);
    wire_put64(out + 8, record->count);
    wire_put64(out + 16, record->digest);
}

void done_record_get(const unsigned char *records, unsigned i, struct done_record *record)
{
    const unsigned char *in = records + (size_t)i * DONE_RECORD_BYTES;
    *record = (struct done_record){wire_get64(in), wire_get64(in + 8), wire_get64(in + 16)};
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
