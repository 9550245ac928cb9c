/* SPDX-License-Identifier: MIT */
/* Records of fixed size: those at the end of REQUEST, ASSIGN, REPORT, REFILL, STATS, FEEDBACK and LOADS, and the body
 * of SPEED. They are encoded and decoded in place. So struct message stays small and needs no memory of its own. */
#pragma once

#include "proto/message.h"

#define COMPLETION_BYTES      32
#define ASSIGN_RECORD_BYTES   16
#define DONE_RECORD_BYTES     24
#define CHUNK_RECORD_BYTES    20
#define STATS_RECORD_BYTES    52
#define FEEDBACK_RECORD_BYTES 40
#define LOAD_RECORD_BYTES     6
#define SPEED_BODY_MAX        (SPEED_BYTES - HEADER_BYTES + 8 * LEVELS_MAX)

struct done_record {
    uint64_t first, count, digest;
    bool has_failed;
};

struct chunk_record {
    uint64_t first, count;
    uint32_t worker;
};

struct stats_record {
    uint32_t worker;
    uint64_t iterations, chunks, compute_ns, wait_ns, finish_ns, bytes;
};

struct feedback_record {
    uint32_t worker;
    uint32_t chunks;
    uint64_t iterations, compute_ns, wait_ns;
    float deviation_ns;
    uint32_t samples;
};

struct load_record {
    uint32_t worker;
    uint16_t load;
};

struct speed_cell {
    float mean_ns;
    uint32_t count;
};

struct speed {
    uint32_t worker;
    uint64_t round_trip_ns;
    double mean_ns, deviation_ns;
    /* shortest time divided by longest time, among the first five iterations; 0 if fewer than two were timed */
    double swr;
    struct speed_cell cells[SPEED_CELLS];
    unsigned levels;
    uint64_t elapsed_ns[LEVELS_MAX]; /* [k]: time of the first 2^k probe iterations together */
};

/* Encodes completion `i` of a REQUEST. The chunk number is not encoded, because it follows from `i`. */
void completion_put(unsigned char *records, unsigned i, const struct request *completion);
void completion_get(const unsigned char *records, unsigned i, struct request *completion);
void assign_record_put(unsigned char *records, unsigned i, uint64_t first, uint64_t count);
void assign_record_get(const unsigned char *records, unsigned i, uint64_t *first, uint64_t *count);
void done_record_put(unsigned char *records, unsigned i, const struct done_record *record);
void done_record_get(const unsigned char *records, unsigned i, struct done_record *record);
void chunk_record_put(unsigned char *records, unsigned i, const struct chunk_record *record);
void chunk_record_get(const unsigned char *records, unsigned i, struct chunk_record *record);
void stats_record_put(unsigned char *records, unsigned i, const struct stats_record *record);
void stats_record_get(const unsigned char *records, unsigned i, struct stats_record *record);
void feedback_record_put(unsigned char *records, unsigned i, const struct feedback_record *record);
void feedback_record_get(const unsigned char *records, unsigned i, struct feedback_record *record);
void load_record_put(unsigned char *records, unsigned i, const struct load_record *record);
void load_record_get(const unsigned char *records, unsigned i, struct load_record *record);

/* Returns a SPEED message. It borrows `body`, into which this function encodes all but the head. */
struct message speed_message(const struct speed *speed, unsigned char body[SPEED_BODY_MAX]);
void speed_get(const struct message *message, struct speed *speed);
