/* SPDX-License-Identifier: MIT */
/* The messages of PROTOCOL.md, one struct each. Nothing here knows how they travel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be raised when a layout, a meaning or a limit of PROTOCOL.md changes. */
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
#define JOB_BYTES               16 /* plus those of the announcement */
#define STORE_BYTES             28

#define MESSAGE_MAX        4096
#define INLINE_MAX         2048
#define SLICE_MAX          (1u << 20)
#define PAYLOAD_SIZE_BYTES 8         /* bytes that a payload which follows by itself adds to its announcement */
#define PAYLOAD_MAX        INT32_MAX /* the most bytes that MPI counts in an int */
#define REFILL_MAX         200
#define REPORT_MAX         160
#define STATS_MAX          60
#define ASKS_MAX           16
#define LEVELS_MAX         12
#define CELLS              16

/* A bound for the mean in a SPEED, where anything was timed one by one: less than any iteration takes. */
#define SPEED_MEAN_MIN_NS 1e-3
/* Bound for the deviation, and for the mean of a cell, over that mean: of n times the deviation is at most sqrt(n)
 * times the mean and the cell's mean n times, and n is below 2^LEVELS_MAX. */
#define SPEED_RATIO_MAX 1e6

/* A process in a load, which is told in parts of LOAD_ONE. */
#define LOAD_ONE 256u

#define FEEDBACK_MAX 100
#define LOADS_MAX    400
#define GIVEN_UP_MAX 200
#define RETURNED_MAX 200
#define TEXT_MAX     400
#define JOB_PART_MAX (MESSAGE_MAX - JOB_BYTES)
/* More than a system passes to a program: words and environment are at most 6 MiB on Linux. */
#define ANNOUNCEMENT_MAX (1u << 24)

enum role { ROLE_SUPERMASTER = 1, ROLE_MASTER = 2, ROLE_WORKER = 3 };

/* A status that wants everybody to leave with 0: the rank was only asked for help, or nothing is left to do. */
#define HELLO_STATUS_HELP 255

struct hello {
    uint16_t protocol;
    uint16_t major, minor, patch;
    enum role role;
    uint8_t status;
    bool dca;
    bool pod;     /* a master's: its launch joins a set as a pod */
    bool listens; /* a supermaster's: pods may join */
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

/* For the `waiting` of a RECALL: nothing is to begin any more. */
#define RECALL_ALL UINT32_MAX

/* Chunks are numbered from 1; 0 is none. */
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

/* The completions of the chunks before this one that are told with it are at message.records: see record.h. */
struct request {
    uint64_t compute_ns, digest, wait_ns;
    uint32_t chunk; /* the finished one; 0 if none */
    unsigned asks;
    float deviation_ns; /* deviation of the time of one iteration; 0 with fewer than two samples */
    unsigned samples;   /* pieces that were timed, at most UINT16_MAX */
    bool done;
    uint16_t load; /* processes that compete for the worker's core, itself included, in LOAD_ONE; 0: not known */
};

struct result {
    uint32_t chunk;
    uint64_t count, digest;
};

/* The chunks that follow this one in number are at message.records. */
struct assign {
    uint32_t chunk;
    uint64_t first, count;
    bool isolated; /* to be run in a child process, and alone in its message: it has taken workers down */
};

struct end {
    bool drain;
    bool degraded; /* a rank of the run was lost: nobody waits for all */
    bool late;     /* a rank of the run may hang: nobody waits long for it */
    bool now;      /* with `drain`: what runs is not finished either */
};

struct goodbye {
    uint64_t messages, bytes;
    uint64_t wait_ns; /* a worker's idle time since its last chunk */
};

/* Statistics of a worker's threads. */
struct threads {
    uint32_t worker;     /* rank */
    unsigned count;      /* at least 1 */
    float max_over_mean; /* longest over mean of the times that the threads computed; at least 1 */
    float cov;           /* standard deviation over mean of the same times */
    uint64_t chunks;     /* chunks that the threads drew */
    /* Number of cores and workers of a node whose workers have more threads than it has cores for them, and the
     * processor time of this worker; all 0 on other nodes. */
    uint32_t cores, workers;
    uint64_t processor_ns;
};

struct echo {
    uint32_t id;
};

/* A worker whose master is lost: the chunk that it computes, which is none where `count` is 0. */
struct adopt {
    uint64_t first, count;
};

struct worker_lost {
    uint32_t rank;
    uint64_t chunks;       /* chunks of the lost worker that go to others */
    uint64_t first, count; /* range that the worker was computing when it died, as far as is known; count may be 0 */
};

/* Iterations that did not work. */
struct iterations_failed {
    uint32_t id; /* from a worker: the chunk; from a master: the rank of the worker */
    uint64_t first, count;
    bool final;       /* the iterations are not to be tried again */
    bool died;        /* the process that ran them for the worker has died */
    const char *text; /* borrowed, `length` bytes, not NUL-terminated */
    unsigned length;  /* at most TEXT_MAX */
};

/* Deaths and failures of iterations. */
struct poison {
    uint64_t first, count;
    uint32_t deaths;    /* deaths of workers that computed the iterations */
    uint32_t failures;  /* failures of the kernel at the iterations */
    uint32_t failed_by; /* rank where the kernel failed last; 0 with no failures */
};

struct recovery_counts {
    uint64_t reissued, duplicates;
    uint64_t recalls, recalled; /* recalls that brought something, and iterations that they brought */
};

/* Results that were computed again to be compared, and a range for which they differed. */
struct verified {
    uint64_t alike;        /* iterations computed twice with the same results, since the last VERIFIED */
    uint64_t unverified;   /* iterations that were to be computed again, and were not, since the last VERIFIED */
    unsigned computations; /* of the range: 2 or 3; 0: there is none, and nothing follows */
    uint32_t rank[3];      /* who computed the range, in this order; 0 behind the last */
    int wrong;             /* 0 or 1: the place in `rank` of who differs from the two others; -1: no two agree */
    uint64_t first, count;
};

/* Work that has not begun is wanted, for `waiting` workers that have none: downwards from the receiver, upwards from
 * others. */
struct recall {
    uint32_t waiting; /* at least 1; RECALL_ALL: all of it */
};

/* The worker that computes the chunk that begins at `first`, in a loop with dependencies; `first` is not the loop's
 * first iteration. */
struct neighbour {
    uint64_t first;
    uint32_t rank; /* rank of the worker */
};

/* Boundary data for the chunk that begins at `first`, from the chunk before it; the payload begins `offset` bytes into
 * them. */
struct boundary {
    uint64_t first;
    uint64_t offset; /* bytes */
};

/* A part of an announcement; the bytes, `record_count` of them, at least one and at most
 * JOB_PART_MAX, are at message.records. */
struct job_part {
    uint32_t offset, all; /* the part begins `offset` bytes into `all`, at most ANNOUNCEMENT_MAX */
};

struct set_over {
    bool degraded; /* a rank of the set was lost: nobody waits for all */
};

/* A master that has joined wants to leave with its workers. */
struct pod_leaving {
    bool now; /* nor is what runs to be finished */
};

/* The payload are the results of iterations that a pod has done, which the supermaster is to write. */
struct store_head {
    uint64_t first, count;
};

/* REQUEST, ASSIGN, REPORT, REFILL, STATS, FEEDBACK, ITERATIONS_GIVEN_UP, LOADS and RETURNED end in
 * `record_count` records at message.records: see record.h.
 */
struct report_head {
    bool refill;
    uint32_t busy;
};

struct refill_head {
    bool more, empty, begun; /* begun: empty, and nothing is left to be recalled */
};

struct fatal {
    uint32_t rank;
    const char *text; /* borrowed, `length` bytes, not NUL-terminated */
    unsigned length;  /* at most TEXT_MAX */
};

/* The only job of a launch that runs one. */
#define FIRST_JOB 1u

/* The place of a message's result payload. */
enum payload { PAYLOAD_NONE, PAYLOAD_INLINE, PAYLOAD_DATA };

struct message {
    enum message_type type;
    enum payload payload;         /* REQUEST, RESULT, BOUNDARY and STORE only */
    const void *payload_data;     /* INLINE: the bytes; DATA: when sending, the bytes, when received NULL; borrowed */
    uint64_t payload_bytes;       /* at most PAYLOAD_MAX */
    bool has_failed;              /* REQUEST and RESULT with a payload: the kernel calls all iterations in it failed */
    const unsigned char *records; /* SPEED: its body; JOB: bytes; others: the records; encoded, borrowed */
    unsigned record_count;
    uint32_t job; /* set by the decoder; the encoder is told it, as a machine does not know the number of its job */
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

/* Reasons why bytes are not a message. */
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

/* Bytes that message_encode() will write, inline payload included, DATA payload not. */
size_t message_size(const struct message *message);

/* Bytes of the part before an inline payload. */
size_t message_fixed_size(const struct message *message);

/* Encodes, as a message of `job`, into `out`, which has room for message_size() bytes (at most MESSAGE_MAX); returns
 * that size. The message must be within the limits. */
size_t message_encode(const struct message *message, uint32_t job, unsigned char *out);

/* Encodes only what comes before an inline payload, for a sender that has the payload right behind `out`. */
size_t message_encode_fixed(const struct message *message, uint32_t job, unsigned char *out);

/* Decodes `size` bytes. On DECODE_OK `message` borrows records and inline payload from `bytes`. */
enum decode_result message_decode(struct message *message, const unsigned char *bytes, size_t size);

void hello_encode(const struct hello *hello, unsigned char out[HELLO_BYTES]);
enum decode_result hello_decode(struct hello *hello, const unsigned char *bytes, size_t size);

/* For traces: "REQUEST", ... */
const char *message_name(enum message_type type);
const char *role_name(enum role role);
