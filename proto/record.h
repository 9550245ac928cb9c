/* SPDX-License-Identifier: MIT */
/* The fixed-size records at the end of REQUEST, ASSIGN, REPORT, REFILL, STATS, FEEDBACK and LOADS, and the
 * body of SPEED. They are written and read in place, so that a message of many records needs no memory of its own and
 * others stay small. */
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
    bool has_failed; /* the kernel calls all of it failed */
};

struct chunk_record {
    uint64_t first, count;
    uint32_t worker; /* rank */
};

struct stats_record {
    uint32_t worker; /* rank */
    uint64_t iterations, chunks, compute_ns, wait_ns, finish_ns, bytes;
};

/* Measurements of some chunks by one worker. */
struct feedback_record {
    uint32_t worker; /* rank */
    uint32_t chunks;
    uint64_t iterations, compute_ns, wait_ns;
    float deviation_ns; /* deviation of the time of one iteration; 0 with fewer than two samples */
    uint32_t samples;
};

/* The load of one worker, as in a REQUEST. */
struct load_record {
    uint32_t worker; /* rank */
    uint16_t load;   /* at least LOAD_ONE */
};

/* A CELLS-th part of the loop. */
struct speed_cell {
    float mean_ns; /* mean time of the iterations there that were timed one by one; 0 where none was */
    uint32_t count;
};

struct speed {
    uint32_t worker;
    uint64_t round_trip_ns;       /* least of its echoes; 0 if it sent none */
    double mean_ns, deviation_ns; /* mean and deviation of the iterations that were timed one by one */
    double swr;                   /* shortest over longest of the first five of them; 0 if not even two were timed */
    struct speed_cell cells[CELLS];
    unsigned levels;
    uint64_t elapsed_ns[LEVELS_MAX]; /* [k]: for the first 2^k probe iterations */
};

/* The completion of a chunk, with the fields of a REQUEST; the number of the chunk follows from its place. */
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

/* Makes the SPEED message of `speed`; its body is written to `body`, which the message borrows. */
struct message speed_message(const struct speed *speed, unsigned char body[SPEED_BODY_MAX]);
void speed_get(const struct message *message, struct speed *speed);
