/* The fixed-size records at the end of REPORT, REFILL and STATS. They are written and read in place, so that a
 * message of many records needs no memory of its own. */
#pragma once

#include "proto/message.h"
#include "proto/wire.h"

#define DONE_RECORD_BYTES  24
#define CHUNK_RECORD_BYTES 20
#define STATS_RECORD_BYTES 52

struct done_record {
    uint64_t first, count, digest;
};

struct chunk_record {
    uint64_t first, count;
    uint32_t worker; /* rank */
};

struct stats_record {
    uint32_t worker; /* rank */
    uint64_t iterations, chunks, compute_ns, wait_ns, finish_ns, bytes;
};

void done_record_put(unsigned char *records, unsigned i, const struct done_record *record);
void done_record_get(const unsigned char *records, unsigned i, struct done_record *record);
void chunk_record_put(unsigned char *records, unsigned i, const struct chunk_record *record);
void chunk_record_get(const unsigned char *records, unsigned i, struct chunk_record *record);
void stats_record_put(unsigned char *records, unsigned i, const struct stats_record *record);
void stats_record_get(const unsigned char *records, unsigned i, struct stats_record *record);
