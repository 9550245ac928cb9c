/* SPDX-License-Identifier: MIT */
/* The messages of PROTOCOL.md, one struct each, independent of the transport. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raise this if a layout, meaning or limit of PROTOCOL.md changes. */
#define PROTOCOL_VERSION 21

#define HEADER_BYTES            12
#define HELLO_BYTES             24
#define REQUEST_BYTES           44
#define RESULT_BYTES            28
#define ASSIGN_BYTES            28
#define GOODBYE_BYTES           36
#define ADOPT_BYTES             28
#define WORKER_LOST_BYTES       36
#define RECOVERY_COUNTS_BYTES   44
#define THREADS_BYTES           44
#define VERIFIED_BYTES          52
#define ITERATIONS_FAILED_BYTES 28
#define POISON_BYTES            36
#define SPEED_BYTES             172
#define NEIGHBOUR_BYTES         20
#define BOUNDARY_BYTES          28
#define JOB_BYTES               16
#define STORE_BYTES             28

#define MESSAGE_MAX        4096
#define INLINE_MAX         2048
#define SLICE_MAX          (1u << 20)
#define PAYLOAD_SIZE_BYTES 8
#define PAYLOAD_MAX        INT32_MAX
#define REFILL_MAX         200
#define REPORT_MAX         160
#define STATS_MAX          60
#define ASKS_MAX           16
#define LEVELS_MAX         12
#define SPEED_CELLS        16

/* Smallest mean_ns in a SPEED, except 0, which means that no iteration was timed individually. */
#define SPEED_MEAN_MIN_NS 1e-3
/* Limit for the deviation and for the mean of each cell in a SPEED, as multiples of mean_ns. Measured values stay far
 * below this limit. If a SPEED covers n iterations, the deviation is at most sqrt(n) * mean_ns, and the mean of a cell
 * is at most n * mean_ns. n is below 2^LEVELS_MAX. */
#define SPEED_RATIO_MAX 1e6

/* Encoded load of a core on which one process runs. */
#define LOAD_ONE 256u

#define FEEDBACK_MAX 100
#define LOADS_MAX    400
#define GIVEN_UP_MAX 200
#define RETURNED_MAX 200
#define TEXT_MAX     400
#define JOB_PART_MAX (MESSAGE_MAX - JOB_BYTES)
/* Limit for an announcement in bytes. A command line and an environment always fit: for both together, the operating
 * system has a lower limit, which is 6 MiB on Linux. */
#define ANNOUNCEMENT_MAX (1u << 24)

enum role { ROLE_SUPERMASTER = 1, ROLE_MASTER = 2, ROLE_WORKER = 3 };

/* If a rank sends a HELLO with this status, all ranks exit with 0: help was printed, or nothing is left to do. */
#define HELLO_STATUS_HELP 255

struct hello {
    uint16_t protocol;
    uint16_t major, minor, patch;
    enum role role;
    uint8_t status;
    bool dca;
    bool pod;
    bool listens;
    uint32_t node;
    uint32_t pid;
};

enum message_type {
    MESSAGE_SPEED = 0x10,
    MESSAGE_REQUEST = 0x11,
    MESSAGE_RESULT = 0x12,
    MESSAGE_ASSIGN = 0x13,
    MESSAGE_END = 0x14,
    MESSAGE_GOODBYE = 0x15,
    MESSAGE_ECHO = 0x16,
    MESSAGE_ADOPT = 0x17,
    MESSAGE_ITERATIONS_FAILED = 0x18,
    MESSAGE_THREADS = 0x19,
    MESSAGE_NEIGHBOUR = 0x1a,
    MESSAGE_BOUNDARY = 0x1b,
    MESSAGE_REPORT = 0x20,
    MESSAGE_REFILL = 0x21,
    MESSAGE_STATS = 0x22,
    MESSAGE_FATAL = 0x23,
    MESSAGE_DRAIN = 0x24,
    MESSAGE_FEEDBACK = 0x25,
    MESSAGE_WORKER_LOST = 0x26,
    MESSAGE_RECOVERY_COUNTS = 0x27,
    MESSAGE_ITERATIONS_GIVEN_UP = 0x28,
    MESSAGE_POISON = 0x29,
    MESSAGE_LOADS = 0x2a,
    MESSAGE_RECALL = 0x2b,
    MESSAGE_RETURNED = 0x2c,
    MESSAGE_VERIFIED = 0x2d,
    MESSAGE_JOB = 0x2e,
    MESSAGE_SET_OVER = 0x2f,
    MESSAGE_LEAVING = 0x30,
    MESSAGE_STORE = 0x31,
};

/* Value of `waiting` in a RECALL. The receiver must return all work that has not begun, and begin no more work. */
#define RECALL_ALL UINT32_MAX

/* Chunks are numbered from 1; 0 is no chunk. */
static inline uint32_t chunk_number_after(uint32_t chunk)
{
    return chunk < UINT32_MAX ? chunk + 1 : 1;
}

static inline uint32_t chunk_number_before(uint32_t chunk)
{
    return chunk > 1 ? chunk - 1 : UINT32_MAX;
}

struct speed_head {
    uint32_t worker;
    unsigned levels;
};

struct request {
    uint64_t compute_ns, digest, wait_ns;
    uint32_t chunk;
    unsigned asks;
    float deviation_ns; /* standard deviation of the time of an iteration; 0 if there are fewer than two samples */
    unsigned samples;
    bool done;
    /* number of processes on the worker's core, including the worker, in units of 1 / LOAD_ONE; 0: unknown */
    uint16_t load;
};

struct result {
    uint32_t chunk;
    uint64_t count, digest;
};

struct assign {
    uint32_t chunk;
    uint64_t first, count;
    /* Workers have died while they computed this chunk, so a child process runs it. An isolated chunk is the only chunk
     * of its message. */
    bool isolated;
};

struct end {
    bool drain;
    bool degraded; /* a rank was lost, so ranks must not wait for each other */
    bool late;     /* a rank may hang, so ranks must not wait long for it */
    bool now;      /* only with `drain`: running iterations are abandoned */
};

struct goodbye {
    uint64_t messages, bytes;
    uint64_t wait_ns;
};

struct threads {
    uint32_t worker;
    unsigned count;
    float max_over_mean;
    float cov;
    uint64_t chunks;
    /* `cores` and `workers` describe the node; `processor_ns` is the processor time of this worker. All three are 0
     * unless the node has fewer cores than its workers have threads. */
    uint32_t cores, workers;
    uint64_t processor_ns;
};

struct echo {
    uint32_t id;
};

/* From a worker whose master was lost: the chunk that the worker is computing; `count` is 0 if there is none. */
struct adopt {
    uint64_t first, count;
};

struct worker_lost {
    uint32_t rank;
    uint64_t chunks;       /* number of its chunks that are given to other workers */
    uint64_t first, count; /* iterations that the lost worker was computing; count 0: unknown */
};

struct iterations_failed {
    uint32_t id; /* in a message from a worker: number of the chunk; from a master: rank of the worker */
    uint64_t first, count;
    bool final;
    bool died;
    const char *text; /* `length` bytes without NUL; borrowed */
    unsigned length;
};

struct poison {
    uint64_t first, count;
    uint32_t deaths;
    uint32_t failures;
    uint32_t failed_by; /* rank of the worker of the latest failure; 0: there is none */
    /* Some of the deaths are deaths of the supermaster. Iterations that ran at the same time as these are then
     * suspected, too. Not sent in messages. */
    bool shares_blame;
};

struct recovery_counts {
    uint64_t reissued, duplicates;
    uint64_t recalls, recalled;
};

struct verified {
    uint64_t alike;
    uint64_t unverified;   /* iterations that were selected for verification, but computed only once */
    unsigned computations; /* number of times that the range was computed, 2 or 3; 0: the message names no range */
    /* The ranks that computed the range, in chronological order. Unused elements are 0. */
    uint32_t rank[3];
    int wrong; /* index in `rank` of the rank whose result is wrong, 0 or 1; -1: unknown */
    uint64_t first, count;
};

/* Asks the receiver for work that has not begun. The work is for `waiting` idle workers. If the supermaster receives
 * this message from a master, it gets the work from other masters. */
struct recall {
    uint32_t waiting;
};

/* For loops with dependencies. Tells the worker of the chunk before `first` that rank `rank` computes the chunk that
 * begins at `first`. If `rank` is the supermaster, the message requests the boundary data for the journal. */
struct neighbour {
    uint64_t first;
    uint32_t rank;
};

/* Boundary data that the worker of the chunk before `first` sends to the worker of the chunk that begins at `first`.
 * The payload is the part of these data that begins at byte `offset`. */
struct boundary {
    uint64_t first;
    uint64_t offset;
};

/* A part of an announcement. The whole announcement has `all` bytes, and this part begins at byte `offset`. The bytes
 * of the part are message.records, and their number is message.record_count. */
struct job_part {
    uint32_t offset, all;
};

struct set_over {
    bool degraded;
};

struct pod_leaving {
    bool now;
};

/* The payload is results from a pod, which the supermaster writes. */
struct store_head {
    uint64_t first, count;
};

/* REQUEST, ASSIGN, REPORT, REFILL, STATS, FEEDBACK, ITERATIONS_GIVEN_UP, LOADS and RETURNED also have
 * message.record_count records at message.records: see record.h. */
struct report_head {
    bool refill;
    uint32_t busy;
};

struct refill_head {
    /* `begun`: the refill is empty, and no master has work that the supermaster could recall for the receiver */
    bool more, empty, begun;
};

struct fatal {
    uint32_t rank;
    const char *text; /* `length` bytes without NUL; borrowed */
    unsigned length;
};

/* Job number in the messages of a run outside a set. */
#define FIRST_JOB 1u

enum payload { PAYLOAD_NONE, PAYLOAD_INLINE, PAYLOAD_DATA };

struct message {
    enum message_type type;
    enum payload payload;
    const void *payload_data; /* borrowed; NULL if the payload is sent as a message of its own */
    uint64_t payload_bytes;
    bool has_failed; /* in REQUEST and RESULT: the kernel reports all iterations of the payload as failed */
    const unsigned char *records; /* body of a SPEED, bytes of a JOB, or encoded records; borrowed */
    unsigned record_count;
    /* job number; only the decoder sets this member, and the encoder gets the job number as an argument */
    uint32_t job;
    union {
        struct speed_head speed;
        struct request request;
        struct result result;
        struct assign assign;
        struct end end;
        struct goodbye goodbye;
        struct threads threads;
        struct echo echo;
        struct adopt adopt;
        struct worker_lost worker_lost;
        struct recovery_counts recovery_counts;
        struct verified verified;
        struct iterations_failed iterations_failed;
        struct poison poison;
        struct neighbour neighbour;
        struct boundary boundary;
        struct recall recall;
        struct report_head report;
        struct refill_head refill;
        struct fatal fatal;
        struct job_part job_part;
        struct set_over set_over;
        struct pod_leaving leaving;
        struct store_head store;
    };
};

enum decode_result {
    DECODE_OK = 0,
    DECODE_TOO_SHORT,
    DECODE_TOO_LONG,
    DECODE_UNKNOWN_TYPE,
    DECODE_UNKNOWN_FLAG,
    DECODE_OUT_OF_RANGE,
    DECODE_NOT_ZERO,
};

const char *decode_result_text(enum decode_result result);

/* Returns the encoded size in bytes, without a payload that is sent as a message of its own. */
size_t message_size(const struct message *message);

size_t message_fixed_size(const struct message *message);

/* Encodes a message that is within the limits. `out` has room for message_size() bytes, at most MESSAGE_MAX. Returns
 * that size. */
size_t message_encode(const struct message *message, uint32_t job, unsigned char *out);

/* Encodes the message without its inline payload. The caller must have placed that payload at the end already. Returns
 * the number of bytes before the payload. */
size_t message_encode_fixed(const struct message *message, uint32_t job, unsigned char *out);

/* If the result is DECODE_OK, the records and the inline payload of the message are borrowed from `bytes`. */
enum decode_result message_decode(struct message *message, const unsigned char *bytes, size_t size);

void hello_encode(const struct hello *hello, unsigned char out[HELLO_BYTES]);
enum decode_result hello_decode(struct hello *hello, const unsigned char *bytes, size_t size);

const char *message_name(enum message_type type);
const char *role_name(enum role role);
