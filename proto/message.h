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
#define SPEED_BYTES             172 /* plus 8 for each level */
#define NEIGHBOUR_BYTES         20
#define BOUNDARY_BYTES          28
#define JOB_BYTES               16 /* plus the bytes of the announcement */
#define STORE_BYTES             28

#define MESSAGE_MAX        4096
#define INLINE_MAX         2048
#define SLICE_MAX          (1u << 20)
#define PAYLOAD_SIZE_BYTES 8         /* the size that announces a payload in a message of its own */
#define PAYLOAD_MAX        INT32_MAX /* limit of an MPI count */
#define REFILL_MAX         200
#define REPORT_MAX         160
#define STATS_MAX          60
#define ASKS_MAX           16
#define LEVELS_MAX         12
#define SPEED_CELLS        16

/* Least mean in a SPEED if any iteration was timed by itself. */
#define SPEED_MEAN_MIN_NS 1e-3
/* Largest deviation and mean of a cell in a SPEED, relative to the mean. The deviation of n times is at most sqrt(n)
 * times their mean, a cell's mean at most n times, and n < 2^LEVELS_MAX. */
#define SPEED_RATIO_MAX 1e6

/* Unit of loads: one process. */
#define LOAD_ONE 256u

#define FEEDBACK_MAX 100
#define LOADS_MAX    400
#define GIVEN_UP_MAX 200
#define RETURNED_MAX 200
#define TEXT_MAX     400
#define JOB_PART_MAX (MESSAGE_MAX - JOB_BYTES)
/* Above any system's limit for words and environment, which is 6 MiB on Linux. */
#define ANNOUNCEMENT_MAX (1u << 24)

enum role { ROLE_SUPERMASTER = 1, ROLE_MASTER = 2, ROLE_WORKER = 3 };

/* Status with which all ranks leave with 0: help was printed, or nothing is left to do. */
#define HELLO_STATUS_HELP 255

struct hello {
    uint16_t protocol;
    uint16_t major, minor, patch;
    enum role role;
    uint8_t status;
    bool dca;
    bool pod;     /* of a master: its launch joins a set as a pod */
    bool listens; /* of a supermaster: pods may join */
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

/* Value of `waiting` in a RECALL: nothing more may begin. */
#define RECALL_ALL UINT32_MAX

/* Chunks are numbered from 1; 0 means none. */
static inline uint32_t chunk_number_after(uint32_t chunk)
{
    return chunk < UINT32_MAX ? chunk + 1 : 1;
}

static inline uint32_t chunk_number_before(uint32_t chunk)
{
    return chunk > 1 ? chunk - 1 : UINT32_MAX;
}

/* The rest of a SPEED is at message.records: see speed_get() in record.h. */
struct speed_head {
    uint32_t worker;
    unsigned levels;
};

/* Completions of earlier chunks are at message.records: see record.h. */
struct request {
    uint64_t compute_ns, digest, wait_ns;
    uint32_t chunk; /* finished chunk; 0: none */
    unsigned asks;
    float deviation_ns; /* of the time of one iteration; 0 with fewer than two samples */
    unsigned samples;   /* timed pieces, at most UINT16_MAX */
    bool done;
    uint16_t load; /* processes on the worker's core, itself included, in units of LOAD_ONE; 0: unknown */
};

struct result {
    uint32_t chunk;
    uint64_t count, digest;
};

/* Further chunks, with the next numbers, are at message.records. */
struct assign {
    uint32_t chunk;
    uint64_t first, count;
    bool isolated; /* workers died at it, so it runs in a child process; alone in its message */
};

struct end {
    bool drain;
    bool degraded; /* a rank was lost: nobody waits for all ranks */
    bool late;     /* a rank may hang: nobody waits long for it */
    bool now;      /* with `drain`: running iterations are not finished either */
};

struct goodbye {
    uint64_t messages, bytes;
    uint64_t wait_ns; /* of a worker: idle time since its last chunk */
};

struct threads {
    uint32_t worker;
    unsigned count;
    float max_over_mean; /* longest compute time of a thread over the mean; at least 1 */
    float cov;           /* standard deviation of the threads' compute times over their mean */
    uint64_t chunks;
    /* Cores and workers of the node, and processor time of this worker; 0 unless the node has fewer cores than its
     * workers have threads. */
    uint32_t cores, workers;
    uint64_t processor_ns;
};

struct echo {
    uint32_t id;
};

/* The chunk that a worker of a lost master computes; `count` 0: none. */
struct adopt {
    uint64_t first, count;
};

struct worker_lost {
    uint32_t rank;
    uint64_t chunks;       /* that go to other workers */
    uint64_t first, count; /* what the worker was computing, as far as known; count may be 0 */
};

struct iterations_failed {
    uint32_t id; /* from a worker: its chunk; from a master: rank of the worker */
    uint64_t first, count;
    bool final;       /* they are not tried again */
    bool died;        /* the child process that ran them died */
    const char *text; /* `length` bytes without NUL; borrowed */
    unsigned length;
};

/* Deaths and failures of iterations. */
struct poison {
    uint64_t first, count;
    uint32_t deaths; /* workers that died while computing them */
    uint32_t failures;
    uint32_t failed_by; /* rank of the latest failure; 0: none */
    /* Some of the deaths were the supermaster's, for which others that ran then are suspected, too. Not sent. */
    bool shares_blame;
};

struct recovery_counts {
    uint64_t reissued, duplicates;
    uint64_t recalls, recalled; /* successful recalls, and iterations that they returned */
};

/* Counts of verification since the last VERIFIED, and possibly a range with different results. */
struct verified {
    uint64_t alike;        /* iterations computed twice with equal results */
    uint64_t unverified;   /* iterations selected but not computed a second time */
    unsigned computations; /* of the range, 2 or 3; 0: no range follows */
    uint32_t rank[3];      /* that computed the range, in this order; unused entries are 0 */
    int wrong;             /* index in `rank` of the one that differs from two others, 0 or 1; -1: no two agree */
    uint64_t first, count;
};

/* Asks for work that has not begun, for `waiting` idle workers: of the receiver, or (upwards) of other masters. */
struct recall {
    uint32_t waiting; /* at least 1; RECALL_ALL: everything */
};

/* Loop with dependencies: the worker of the chunk that begins at `first`, which is not the loop's first iteration. */
struct neighbour {
    uint64_t first;
    uint32_t rank;
};

/* Boundary data for the chunk that begins at `first`, from the chunk before it; the payload is a part at byte
 * `offset`. */
struct boundary {
    uint64_t first;
    uint64_t offset;
};

/* Part of an announcement; its `record_count` bytes (1 .. JOB_PART_MAX) are at message.records. */
struct job_part {
    uint32_t offset, all; /* the part begins at byte `offset` of `all`, at most ANNOUNCEMENT_MAX */
};

struct set_over {
    bool degraded;
};

/* A master that joined wants to leave with its workers. */
struct pod_leaving {
    bool now; /* running iterations are not finished */
};

/* The payload is a pod's results, which the supermaster writes. */
struct store_head {
    uint64_t first, count;
};

/* REQUEST, ASSIGN, REPORT, REFILL, STATS, FEEDBACK, ITERATIONS_GIVEN_UP, LOADS and RETURNED end with `record_count`
 * records at message.records: see record.h. */
struct report_head {
    bool refill;
    uint32_t busy;
};

struct refill_head {
    bool more, empty, begun; /* begun: empty, and nothing is left to recall */
};

struct fatal {
    uint32_t rank;
    const char *text; /* `length` bytes without NUL; borrowed */
    unsigned length;
};

/* Job number of a plain run. */
#define FIRST_JOB 1u

enum payload { PAYLOAD_NONE, PAYLOAD_INLINE, PAYLOAD_DATA };

struct message {
    enum message_type type;
    enum payload payload;     /* REQUEST, RESULT, BOUNDARY and STORE only */
    const void *payload_data; /* borrowed; NULL for a received DATA */
    uint64_t payload_bytes;   /* at most PAYLOAD_MAX */
    bool has_failed;          /* REQUEST and RESULT with a payload: the kernel reports all its iterations as failed */
    const unsigned char *records; /* SPEED: its body; JOB: bytes; others: encoded records; borrowed */
    unsigned record_count;
    uint32_t job; /* the decoder sets it; the encoder gets the job as an argument */
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

/* Returns the encoded size, with an inline payload but without a DATA payload. */
size_t message_size(const struct message *message);

size_t message_fixed_size(const struct message *message);

/* Encodes as a message of `job` into `out`, which has room for message_size() bytes (at most MESSAGE_MAX), and returns
 * that size. The message must be within the limits. */
size_t message_encode(const struct message *message, uint32_t job, unsigned char *out);

/* Encodes everything except an inline payload, which the sender has already placed after `out`. Returns the size
 * without it. */
size_t message_encode_fixed(const struct message *message, uint32_t job, unsigned char *out);

/* On DECODE_OK `message` borrows records and inline payload from `bytes`. */
enum decode_result message_decode(struct message *message, const unsigned char *bytes, size_t size);

void hello_encode(const struct hello *hello, unsigned char out[HELLO_BYTES]);
enum decode_result hello_decode(struct hello *hello, const unsigned char *bytes, size_t size);

const char *message_name(enum message_type type);
const char *role_name(enum role role);
