/* SPDX-License-Identifier: MIT */
/* Encoders, one for each message: PROTOCOL.md section 3. They do not check limits. The caller must stay within the
 * limits, and the decoder of the receiver checks them. */
#include "proto/message.h"
#include "proto/layout.h"
#include "proto/record.h"
#include "proto/wire.h"

#include <assert.h>
#include <string.h>

static unsigned char payload_flags(const struct message *message)
{
    const unsigned char failed = message->has_failed ? FLAG_HAS_FAILED : 0;
    switch (message->payload) {
    case PAYLOAD_INLINE: return FLAG_INLINE | failed;
    case PAYLOAD_DATA: return FLAG_DATA | failed;
    case PAYLOAD_NONE: break;
    }
    return 0;
}

static size_t put_payload_bytes(const struct message *message, unsigned char *out)
{
    if (message->payload != PAYLOAD_DATA)
        return 0;
    wire_put64(out, message->payload_bytes);
    return PAYLOAD_SIZE_BYTES;
}

static void put_header(unsigned char *out, enum message_type type, unsigned flags, unsigned number, uint32_t id)
{
    out[0] = (unsigned char)type;
    out[1] = (unsigned char)flags;
    wire_put16(out + 2, (uint16_t)number);
    wire_put32(out + 4, id);
}

static size_t encode_speed(const struct message *message, unsigned char *out)
{
    size_t size = SPEED_BYTES + 8 * message->speed.levels;
    put_header(out, MESSAGE_SPEED, 0, message->speed.levels, message->speed.worker);
    memcpy(out + HEADER_BYTES, message->records, size - HEADER_BYTES);
    return size;
}

static size_t encode_request(const struct message *message, unsigned char *out)
{
    const struct request *request = &message->request;
    size_t earlier = message->record_count * (size_t)COMPLETION_BYTES;
    put_header(out, MESSAGE_REQUEST, (request->done ? FLAG_DONE : 0u) | payload_flags(message),
               message->record_count << 8 | request->asks, request->chunk);
    completion_put(out + HEADER_BYTES, 0, request);
    wire_put16(out + REQUEST_AT_LOAD, request->load);
    if (earlier > 0)
        memcpy(out + REQUEST_BYTES, message->records, earlier);
    return REQUEST_BYTES + earlier + put_payload_bytes(message, out + REQUEST_BYTES + earlier);
}

static size_t encode_result(const struct message *message, unsigned char *out)
{
    put_header(out, MESSAGE_RESULT, payload_flags(message), 0, message->result.chunk);
    wire_put64(out + 12, message->result.count);
    wire_put64(out + 20, message->result.digest);
    return RESULT_BYTES + put_payload_bytes(message, out + RESULT_BYTES);
}

static size_t encode_assign(const struct message *message, unsigned char *out)
{
    size_t more = message->record_count * (size_t)ASSIGN_RECORD_BYTES;
    put_header(out, MESSAGE_ASSIGN, message->assign.isolated ? FLAG_ISOLATED : 0, message->record_count,
               message->assign.chunk);
    assign_record_put(out + HEADER_BYTES, 0, message->assign.first, message->assign.count);
    if (more > 0)
        memcpy(out + ASSIGN_BYTES, message->records, more);
    return ASSIGN_BYTES + more;
}

static size_t encode_goodbye(const struct goodbye *goodbye, unsigned char *out)
{
    put_header(out, MESSAGE_GOODBYE, 0, 0, 0);
    wire_put64(out + 12, goodbye->messages);
    wire_put64(out + 20, goodbye->bytes);
    wire_put64(out + 28, goodbye->wait_ns);
    return GOODBYE_BYTES;
}

static size_t encode_pair(enum message_type type, uint64_t first, uint64_t second, unsigned char *out)
{
    put_header(out, type, 0, 0, 0);
    wire_put64(out + 12, first);
    wire_put64(out + 20, second);
    return HEADER_BYTES + 16;
}

static size_t encode_recovery_counts(const struct recovery_counts *counts, unsigned char *out)
{
    put_header(out, MESSAGE_RECOVERY_COUNTS, 0, 0, 0);
    wire_put64(out + 12, counts->reissued);
    wire_put64(out + 20, counts->duplicates);
    wire_put64(out + 28, counts->recalls);
    wire_put64(out + 36, counts->recalled);
    return RECOVERY_COUNTS_BYTES;
}

static size_t encode_threads(const struct threads *threads, unsigned char *out)
{
    put_header(out, MESSAGE_THREADS, 0, threads->count, threads->worker);
    wire_put_float(out + 12, threads->max_over_mean);
    wire_put_float(out + 16, threads->cov);
    wire_put64(out + 20, threads->chunks);
    wire_put32(out + 28, threads->cores);
    wire_put32(out + 32, threads->workers);
    wire_put64(out + 36, threads->processor_ns);
    return THREADS_BYTES;
}

static size_t encode_verified(const struct verified *verified, unsigned char *out)
{
    const unsigned flags = verified->wrong == 0 ? FLAG_FIRST_WRONG : verified->wrong == 1 ? FLAG_SECOND_WRONG : 0;
    put_header(out, MESSAGE_VERIFIED, flags, verified->computations, verified->rank[0]);
    wire_put64(out + 12, verified->alike);
    wire_put64(out + 20, verified->unverified);
    wire_put64(out + 28, verified->first);
    wire_put64(out + 36, verified->count);
    wire_put32(out + 44, verified->rank[1]);
    wire_put32(out + 48, verified->rank[2]);
    return VERIFIED_BYTES;
}

static size_t encode_worker_lost(const struct worker_lost *lost, unsigned char *out)
{
    put_header(out, MESSAGE_WORKER_LOST, 0, 0, lost->rank);
    wire_put64(out + 12, lost->chunks);
    wire_put64(out + 20, lost->first);
    wire_put64(out + 28, lost->count);
    return WORKER_LOST_BYTES;
}

static size_t encode_iterations_failed(const struct iterations_failed *failure, unsigned char *out)
{
    put_header(out, MESSAGE_ITERATIONS_FAILED, (failure->final ? FLAG_FINAL : 0) | (failure->died ? FLAG_DIED : 0),
               failure->length, failure->id);
    wire_put64(out + 12, failure->first);
    wire_put64(out + 20, failure->count);
    memcpy(out + ITERATIONS_FAILED_BYTES, failure->text, failure->length);
    return ITERATIONS_FAILED_BYTES + failure->length;
}

static size_t encode_poison(const struct poison *poison, unsigned char *out)
{
    put_header(out, MESSAGE_POISON, 0, 0, poison->failed_by);
    wire_put64(out + 12, poison->first);
    wire_put64(out + 20, poison->count);
    wire_put32(out + 28, poison->deaths);
    wire_put32(out + 32, poison->failures);
    return POISON_BYTES;
}

static size_t encode_neighbour(const struct neighbour *neighbour, unsigned char *out)
{
    put_header(out, MESSAGE_NEIGHBOUR, 0, 0, neighbour->rank);
    wire_put64(out + 12, neighbour->first);
    return NEIGHBOUR_BYTES;
}

static size_t encode_boundary(const struct message *message, unsigned char *out)
{
    put_header(out, MESSAGE_BOUNDARY, payload_flags(message), 0, 0);
    wire_put64(out + 12, message->boundary.first);
    wire_put64(out + 20, message->boundary.offset);
    return BOUNDARY_BYTES + put_payload_bytes(message, out + BOUNDARY_BYTES);
}

static size_t encode_end(const struct end *end, unsigned char *out)
{
    unsigned flags = (end->drain ? FLAG_DRAIN : 0u) | (end->degraded ? FLAG_DEGRADED : 0u) |
                     (end->late ? FLAG_LATE : 0u) | (end->now ? FLAG_NOW : 0u);
    put_header(out, MESSAGE_END, flags, 0, 0);
    return HEADER_BYTES;
}

static size_t encode_records(const struct message *message, unsigned flags, uint32_t id, size_t record_bytes,
                             unsigned char *out)
{
    put_header(out, message->type, flags, message->record_count, id);
    if (message->record_count > 0)
        memcpy(out + HEADER_BYTES, message->records, message->record_count * record_bytes);
    return HEADER_BYTES + message->record_count * record_bytes;
}

static size_t encode_fatal(const struct fatal *problem, unsigned char *out)
{
    put_header(out, MESSAGE_FATAL, 0, problem->length, problem->rank);
    memcpy(out + HEADER_BYTES, problem->text, problem->length);
    return HEADER_BYTES + problem->length;
}

static size_t encode_job(const struct message *message, unsigned char *out)
{
    put_header(out, MESSAGE_JOB, 0, message->record_count, message->job_part.offset);
    wire_put32(out + HEADER_BYTES, message->job_part.all);
    memcpy(out + JOB_BYTES, message->records, message->record_count);
    return JOB_BYTES + message->record_count;
}

static size_t encode_set_over(const struct set_over *over, unsigned char *out)
{
    put_header(out, MESSAGE_SET_OVER, over->degraded ? FLAG_DEGRADED : 0, 0, 0);
    return HEADER_BYTES;
}

static size_t encode_store(const struct message *message, unsigned char *out)
{
    put_header(out, MESSAGE_STORE, payload_flags(message), 0, 0);
    wire_put64(out + 12, message->store.first);
    wire_put64(out + 20, message->store.count);
    return STORE_BYTES + put_payload_bytes(message, out + STORE_BYTES);
}

static size_t encode_typed(const struct message *message, unsigned char *out)
{
    switch (message->type) {
    case MESSAGE_SPEED: return encode_speed(message, out);
    case MESSAGE_REQUEST: return encode_request(message, out);
    case MESSAGE_RESULT: return encode_result(message, out);
    case MESSAGE_ASSIGN: return encode_assign(message, out);
    case MESSAGE_END: return encode_end(&message->end, out);
    case MESSAGE_GOODBYE: return encode_goodbye(&message->goodbye, out);
    case MESSAGE_ECHO: put_header(out, MESSAGE_ECHO, 0, 0, message->echo.id); return HEADER_BYTES;
    case MESSAGE_REPORT:
        return encode_records(message, message->report.refill ? FLAG_REFILL : 0, message->report.busy,
                              DONE_RECORD_BYTES, out);
    case MESSAGE_REFILL:
        return encode_records(message,
                              (message->refill.more ? FLAG_MORE : 0u) | (message->refill.empty ? FLAG_EMPTY : 0u) |
                                  (message->refill.begun ? FLAG_BEGUN : 0u),
                              0, CHUNK_RECORD_BYTES, out);
    case MESSAGE_STATS: return encode_records(message, 0, 0, STATS_RECORD_BYTES, out);
    case MESSAGE_FATAL: return encode_fatal(&message->fatal, out);
    case MESSAGE_DRAIN: put_header(out, MESSAGE_DRAIN, 0, 0, 0); return HEADER_BYTES;
    case MESSAGE_FEEDBACK: return encode_records(message, 0, 0, FEEDBACK_RECORD_BYTES, out);
    case MESSAGE_ADOPT: return encode_pair(MESSAGE_ADOPT, message->adopt.first, message->adopt.count, out);
    case MESSAGE_WORKER_LOST: return encode_worker_lost(&message->worker_lost, out);
    case MESSAGE_THREADS: return encode_threads(&message->threads, out);
    case MESSAGE_RECOVERY_COUNTS: return encode_recovery_counts(&message->recovery_counts, out);
    case MESSAGE_VERIFIED: return encode_verified(&message->verified, out);
    case MESSAGE_ITERATIONS_GIVEN_UP: return encode_records(message, 0, 0, ASSIGN_RECORD_BYTES, out);
    case MESSAGE_ITERATIONS_FAILED: return encode_iterations_failed(&message->iterations_failed, out);
    case MESSAGE_POISON: return encode_poison(&message->poison, out);
    case MESSAGE_LOADS: return encode_records(message, 0, 0, LOAD_RECORD_BYTES, out);
    case MESSAGE_NEIGHBOUR: return encode_neighbour(&message->neighbour, out);
    case MESSAGE_BOUNDARY: return encode_boundary(message, out);
    case MESSAGE_RECALL: put_header(out, MESSAGE_RECALL, 0, 0, message->recall.waiting); return HEADER_BYTES;
    case MESSAGE_RETURNED: return encode_records(message, 0, 0, ASSIGN_RECORD_BYTES, out);
    case MESSAGE_JOB: return encode_job(message, out);
    case MESSAGE_SET_OVER: return encode_set_over(&message->set_over, out);
    case MESSAGE_LEAVING:
        put_header(out, MESSAGE_LEAVING, message->leaving.now ? FLAG_NOW : 0, 0, 0);
        return HEADER_BYTES;
    case MESSAGE_STORE: return encode_store(message, out);
    }
    return 0;
}

size_t message_encode_fixed(const struct message *message, uint32_t job, unsigned char *out)
{
    assert(job != 0);
    const size_t size = encode_typed(message, out);
    wire_put32(out + HEADER_AT_JOB, job);
    return size;
}

static size_t data_bytes(const struct message *message)
{
    return message->payload == PAYLOAD_DATA ? PAYLOAD_SIZE_BYTES : 0;
}

size_t message_fixed_size(const struct message *message)
{
    switch (message->type) {
    case MESSAGE_SPEED: return SPEED_BYTES + 8 * message->speed.levels;
    case MESSAGE_REQUEST: return REQUEST_BYTES + message->record_count * COMPLETION_BYTES + data_bytes(message);
    case MESSAGE_RESULT: return RESULT_BYTES + data_bytes(message);
    case MESSAGE_ASSIGN: return ASSIGN_BYTES + message->record_count * ASSIGN_RECORD_BYTES;
    case MESSAGE_END:
    case MESSAGE_SET_OVER:
    case MESSAGE_LEAVING:
    case MESSAGE_ECHO:
    case MESSAGE_RECALL:
    case MESSAGE_DRAIN: return HEADER_BYTES;
    case MESSAGE_GOODBYE: return GOODBYE_BYTES;
    case MESSAGE_REPORT: return HEADER_BYTES + message->record_count * DONE_RECORD_BYTES;
    case MESSAGE_REFILL: return HEADER_BYTES + message->record_count * CHUNK_RECORD_BYTES;
    case MESSAGE_STATS: return HEADER_BYTES + message->record_count * STATS_RECORD_BYTES;
    case MESSAGE_FATAL: return HEADER_BYTES + message->fatal.length;
    case MESSAGE_FEEDBACK: return HEADER_BYTES + message->record_count * FEEDBACK_RECORD_BYTES;
    case MESSAGE_ADOPT: return ADOPT_BYTES;
    case MESSAGE_WORKER_LOST: return WORKER_LOST_BYTES;
    case MESSAGE_THREADS: return THREADS_BYTES;
    case MESSAGE_RECOVERY_COUNTS: return RECOVERY_COUNTS_BYTES;
    case MESSAGE_VERIFIED: return VERIFIED_BYTES;
    case MESSAGE_ITERATIONS_GIVEN_UP: return HEADER_BYTES + message->record_count * ASSIGN_RECORD_BYTES;
    case MESSAGE_ITERATIONS_FAILED: return ITERATIONS_FAILED_BYTES + message->iterations_failed.length;
    case MESSAGE_POISON: return POISON_BYTES;
    case MESSAGE_LOADS: return HEADER_BYTES + message->record_count * LOAD_RECORD_BYTES;
    case MESSAGE_NEIGHBOUR: return NEIGHBOUR_BYTES;
    case MESSAGE_BOUNDARY: return BOUNDARY_BYTES + data_bytes(message);
    case MESSAGE_RETURNED: return HEADER_BYTES + message->record_count * ASSIGN_RECORD_BYTES;
    case MESSAGE_JOB: return JOB_BYTES + message->record_count;
    case MESSAGE_STORE: return STORE_BYTES + data_bytes(message);
    }
    return 0;
}

size_t message_size(const struct message *message)
{
    return message_fixed_size(message) + (message->payload == PAYLOAD_INLINE ? message->payload_bytes : 0);
}

size_t message_encode(const struct message *message, uint32_t job, unsigned char *out)
{
    size_t size = message_encode_fixed(message, job, out);
    if (message->payload != PAYLOAD_INLINE)
        return size;
    memcpy(out + size, message->payload_data, message->payload_bytes);
    return size + message->payload_bytes;
}

void hello_encode(const struct hello *hello, unsigned char out[HELLO_BYTES])
{
    memcpy(out, HELLO_MAGIC, 4);
    wire_put16(out + 4, hello->protocol);
    wire_put16(out + 6, hello->major);
    wire_put16(out + 8, hello->minor);
    wire_put16(out + 10, hello->patch);
    out[12] = (unsigned char)hello->role;
    out[13] = hello->status;
    out[14] = (unsigned char)((hello->dca ? HELLO_FLAG_DCA : 0) | (hello->pod ? HELLO_FLAG_POD : 0) |
                              (hello->listens ? HELLO_FLAG_LISTENS : 0));
    out[15] = 0;
    wire_put32(out + 16, hello->node);
    wire_put32(out + 20, hello->pid);
}
