/* SPDX-License-Identifier: MIT */
/* See support.h. */
#include "tests/unit/proto/support.h"

#include "proto/record.h"
#include "tests/lib/asserts.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static unsigned char payload[INLINE_MAX];
static unsigned char done_records[REPORT_MAX * DONE_RECORD_BYTES];
static unsigned char completions[(ASKS_MAX - 1) * COMPLETION_BYTES];
static unsigned char assign_records[(ASKS_MAX - 1) * ASSIGN_RECORD_BYTES];
static unsigned char chunk_records[REFILL_MAX * CHUNK_RECORD_BYTES];
static unsigned char stats_records[STATS_MAX * STATS_RECORD_BYTES];
static unsigned char feedback_records[FEEDBACK_MAX * FEEDBACK_RECORD_BYTES];
static unsigned char load_records[LOADS_MAX * LOAD_RECORD_BYTES];
static unsigned char failed_records[GIVEN_UP_MAX * ASSIGN_RECORD_BYTES];
static unsigned char least_speed_body[SPEED_BODY_MAX], full_speed_body[SPEED_BODY_MAX];
static unsigned char announcement[JOB_PART_MAX];
static char text[TEXT_MAX];

/* Every byte of every record differs from its neighbours, and the last chunk ends at the last iteration there is. */
static void fill_memory(void)
{
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (unsigned char)(i * 37 + 11);
    for (size_t i = 0; i < sizeof announcement; i++)
        announcement[i] = (unsigned char)(i * 41 + 5);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('!' + i % 90);
    for (unsigned i = 0; i < ASKS_MAX - 1; i++) {
        completion_put(completions, i,
                       &(struct request){.compute_ns = UINT64_MAX - i,
                                         .digest = ~(uint64_t)i << 7,
                                         .wait_ns = i * 11,
                                         .deviation_ns = FLT_MAX / (float)(i + 1),
                                         .samples = UINT16_MAX - i});
        assign_record_put(assign_records, i, UINT64_MAX - i - 1, i + 1);
    }
    for (unsigned i = 0; i < GIVEN_UP_MAX; i++)
        assign_record_put(failed_records, i, UINT64_MAX - i - 1, i + 1);
    for (unsigned i = 0; i < REPORT_MAX; i++)
        done_record_put(done_records, i, &(struct done_record){i * 0x0101010101010101u, i + 1, ~(uint64_t)i});
    for (unsigned i = 0; i < REFILL_MAX; i++)
        chunk_record_put(chunk_records, i, &(struct chunk_record){UINT64_MAX - i - 1, i + 1, UINT32_MAX - i});
    for (uint32_t i = 0; i < STATS_MAX; i++)
        stats_record_put(stats_records, i,
                         &(struct stats_record){i, ~(uint64_t)i, i, UINT64_MAX / (i + 1), i * 3, i * 5, UINT64_MAX});
    for (uint32_t i = 0; i < FEEDBACK_MAX; i++)
        feedback_record_put(feedback_records, i,
                            &(struct feedback_record){i, i + 1, UINT64_MAX - i, ~(uint64_t)i, i * 7,
                                                      FLT_MAX / (float)(i + 1), UINT32_MAX - i});
    for (uint32_t i = 0; i < LOADS_MAX; i++)
        load_record_put(load_records, i, &(struct load_record){UINT32_MAX - i, (uint16_t)(UINT16_MAX - i)});
}

static struct message least_speed(void)
{
    return speed_message(&(struct speed){.levels = 1, .elapsed_ns = {1}}, least_speed_body);
}

static struct message full_speed(void)
{
    struct speed speed = {
        .worker = UINT32_MAX,
        .levels = LEVELS_MAX,
        .round_trip_ns = UINT64_MAX,
        .mean_ns = DBL_MAX,
        .deviation_ns = DBL_MIN,
        .swr = 1,
    };
    for (uint32_t i = 0; i < SPEED_CELLS; i++)
        speed.cells[i] = (struct speed_cell){FLT_MAX / (float)(i + 1), UINT32_MAX - i};
    for (unsigned i = 0; i < LEVELS_MAX; i++)
        speed.elapsed_ns[i] = UINT64_MAX - i;
    return speed_message(&speed, full_speed_body);
}

static struct message with_payload(struct message message, enum payload kind, uint64_t bytes)
{
    message.payload = kind;
    message.payload_data = payload;
    message.payload_bytes = bytes;
    return message;
}

static struct message records_of(enum message_type type, const unsigned char *records, unsigned count)
{
    return (struct message){.type = type, .records = records, .record_count = count};
}

size_t samples_make(struct sample samples[SAMPLES_MAX])
{
    fill_memory();
    const struct message ask = {.type = MESSAGE_REQUEST, .request = {.asks = 1}};
    const struct message done = {.type = MESSAGE_REQUEST,
                                 .request = {.chunk = UINT32_MAX,
                                             .asks = ASKS_MAX,
                                             .done = true,
                                             .compute_ns = UINT64_MAX,
                                             .digest = UINT64_MAX - 1,
                                             .wait_ns = UINT64_MAX - 2,
                                             .deviation_ns = FLT_MAX,
                                             .samples = UINT16_MAX,
                                             .load = UINT16_MAX}};
    struct message dones = done;
    dones.records = completions;
    dones.record_count = ASKS_MAX - 1;
    const struct message boundary = {.type = MESSAGE_BOUNDARY, .boundary = {UINT64_MAX, UINT64_MAX - SLICE_MAX}};
    const struct message result = {.type = MESSAGE_RESULT, .result = {UINT32_MAX, UINT64_MAX, UINT64_MAX - 1}};
    const struct message stored = {.type = MESSAGE_STORE, .store = {UINT64_MAX - 5, 5}};
    struct message report = records_of(MESSAGE_REPORT, done_records, REPORT_MAX);
    report.report = (struct report_head){.refill = true, .busy = UINT32_MAX};
    struct message refill_more = records_of(MESSAGE_REFILL, chunk_records, REFILL_MAX);
    refill_more.refill.more = true;
    struct message refill_empty = records_of(MESSAGE_REFILL, NULL, 0);
    refill_empty.refill.empty = true;
    struct message refill_begun = records_of(MESSAGE_REFILL, NULL, 0);
    refill_begun.refill.empty = refill_begun.refill.begun = true;

    const struct sample all[] = {
        {"SPEED of one level", least_speed()},
        {"SPEED of LEVELS_MAX levels", full_speed()},
        {"REQUEST for one chunk", ask},
        {"REQUEST for ASKS_MAX chunks", {.type = MESSAGE_REQUEST, .request = {.asks = ASKS_MAX, .wait_ns = 1}}},
        {"REQUEST, a core for itself", {.type = MESSAGE_REQUEST, .request = {.asks = 1, .load = LOAD_ONE}}},
        {"REQUEST done, asks nothing", {.type = MESSAGE_REQUEST, .request = {.chunk = 1, .done = true}}},
        {"REQUEST done, asks ASKS_MAX", done},
        {"REQUEST of ASKS_MAX done", dones},
        {"REQUEST done, one byte inline", with_payload(done, PAYLOAD_INLINE, 1)},
        {"REQUEST done, INLINE_MAX bytes inline", with_payload(done, PAYLOAD_INLINE, INLINE_MAX)},
        {"REQUEST done, data", with_payload(done, PAYLOAD_DATA, SLICE_MAX)},
        {"RESULT without payload", {.type = MESSAGE_RESULT, .result = {1, 1, 0}}},
        {"RESULT, one byte inline", with_payload(result, PAYLOAD_INLINE, 1)},
        {"RESULT, INLINE_MAX bytes inline", with_payload(result, PAYLOAD_INLINE, INLINE_MAX)},
        {"RESULT, data", with_payload(result, PAYLOAD_DATA, SLICE_MAX)},
        {"ASSIGN of the first iteration", {.type = MESSAGE_ASSIGN, .assign = {1, 0, 1}}},
        {"ASSIGN of all iterations", {.type = MESSAGE_ASSIGN, .assign = {UINT32_MAX, 0, UINT64_MAX}}},
        {"ASSIGN of the last iteration", {.type = MESSAGE_ASSIGN, .assign = {1, UINT64_MAX - 1, 1}}},
        {"ASSIGN of ASKS_MAX chunks",
         {.type = MESSAGE_ASSIGN, .assign = {7, 1, 1}, .records = assign_records, .record_count = ASKS_MAX - 1}},
        {"END", {.type = MESSAGE_END}},
        {"END to drain", {.type = MESSAGE_END, .end = {.drain = true}}},
        {"END of what runs, too", {.type = MESSAGE_END, .end = {.drain = true, .now = true}}},
        {"END with a rank that may hang", {.type = MESSAGE_END, .end = {.late = true}}},
        {"END of a run with losses", {.type = MESSAGE_END, .end = {.drain = true, .degraded = true}}},
        {"ADOPT without a chunk", {.type = MESSAGE_ADOPT}},
        {"ADOPT of the last iteration", {.type = MESSAGE_ADOPT, .adopt = {UINT64_MAX - 1, 1}}},
        {"ASSIGN, careful", {.type = MESSAGE_ASSIGN, .assign = {1, 0, 1, true}}},
        {"WORKER_LOST", {.type = MESSAGE_WORKER_LOST, .worker_lost = {UINT32_MAX, UINT64_MAX, UINT64_MAX - 1, 1}}},
        {"WORKER_LOST, which computed nothing", {.type = MESSAGE_WORKER_LOST, .worker_lost = {1, 0, 0, 0}}},
        {"ITERATIONS_FAILED without words",
         {.type = MESSAGE_ITERATIONS_FAILED, .iterations_failed = {1, 0, 1, false, true, text, 0}}},
        {"ITERATIONS_FAILED of TEXT_MAX bytes",
         {.type = MESSAGE_ITERATIONS_FAILED,
          .iterations_failed = {UINT32_MAX, UINT64_MAX - 1, 1, true, false, text, TEXT_MAX}}},
        {"POISON, deaths", {.type = MESSAGE_POISON, .poison = {0, UINT64_MAX, UINT32_MAX, 0, 0}}},
        {"POISON, failures", {.type = MESSAGE_POISON, .poison = {UINT64_MAX - 1, 1, 0, UINT32_MAX, UINT32_MAX - 1}}},
        {"RECOVERY_COUNTS",
         {.type = MESSAGE_RECOVERY_COUNTS,
          .recovery_counts = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, UINT64_MAX - 3}}},
        {"VERIFIED, counts",
         {.type = MESSAGE_VERIFIED, .verified = {.alike = UINT64_MAX, .unverified = 1, .wrong = -1}}},
        {"VERIFIED, two differ",
         {.type = MESSAGE_VERIFIED, .verified = {0, UINT64_MAX, 2, {UINT32_MAX, 1, 0}, -1, UINT64_MAX - 1, 1}}},
        {"VERIFIED, the first is wrong",
         {.type = MESSAGE_VERIFIED, .verified = {1, 2, 3, {1, UINT32_MAX, 3}, 0, 0, UINT64_MAX}}},
        {"VERIFIED, the second is wrong",
         {.type = MESSAGE_VERIFIED, .verified = {1, 2, 3, {1, 2, UINT32_MAX}, 1, 7, 8}}},
        {"VERIFIED, no two agree", {.type = MESSAGE_VERIFIED, .verified = {1, 2, 3, {1, 2, 3}, -1, 7, 8}}},
        {"RECALL", {.type = MESSAGE_RECALL, .recall = {1}}},
        {"RECALL of all", {.type = MESSAGE_RECALL, .recall = {RECALL_ALL}}},
        {"RETURNED, nothing", {.type = MESSAGE_RETURNED}},
        {"RETURNED, RETURNED_MAX ranges", records_of(MESSAGE_RETURNED, failed_records, RETURNED_MAX)},
        {"ITERATIONS_GIVEN_UP, one range", records_of(MESSAGE_ITERATIONS_GIVEN_UP, failed_records, 1)},
        {"ITERATIONS_GIVEN_UP, FAILED_MAX ranges",
         records_of(MESSAGE_ITERATIONS_GIVEN_UP, failed_records, GIVEN_UP_MAX)},
        {"THREADS, least", {.type = MESSAGE_THREADS, .threads = {0, 2, 1, 0, 0, 0, 0, 0}}},
        {"THREADS, one", {.type = MESSAGE_THREADS, .threads = {0, 1, 1, 0, 0, 1, 2, 0}}},
        {"THREADS, most",
         {.type = MESSAGE_THREADS,
          .threads = {UINT32_MAX, UINT16_MAX, 3e38f, 3e38f, UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX}}},
        {"NEIGHBOUR of the second iteration", {.type = MESSAGE_NEIGHBOUR, .neighbour = {1, 0}}},
        {"NEIGHBOUR of the last iteration", {.type = MESSAGE_NEIGHBOUR, .neighbour = {UINT64_MAX, UINT32_MAX}}},
        {"BOUNDARY, one byte inline",
         with_payload((struct message){.type = MESSAGE_BOUNDARY, .boundary = {1, 0}}, PAYLOAD_INLINE, 1)},
        {"BOUNDARY, INLINE_MAX bytes inline", with_payload(boundary, PAYLOAD_INLINE, INLINE_MAX)},
        {"BOUNDARY, data up to the last byte", with_payload(boundary, PAYLOAD_DATA, SLICE_MAX)},
        {"GOODBYE of nothing", {.type = MESSAGE_GOODBYE}},
        {"GOODBYE of everything", {.type = MESSAGE_GOODBYE, .goodbye = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2}}},
        {"REPORT of nothing", {.type = MESSAGE_REPORT}},
        {"REPORT of REPORT_MAX ranges", report},
        {"REFILL of one chunk", records_of(MESSAGE_REFILL, chunk_records, 1)},
        {"REFILL of REFILL_MAX chunks", refill_more},
        {"REFILL, empty", refill_empty},
        {"REFILL, empty, and all has begun", refill_begun},
        {"STATS of nobody", {.type = MESSAGE_STATS}},
        {"STATS of STATS_MAX workers", records_of(MESSAGE_STATS, stats_records, STATS_MAX)},
        {"FATAL without words", {.type = MESSAGE_FATAL, .fatal = {0, text, 0}}},
        {"FATAL of TEXT_MAX bytes", {.type = MESSAGE_FATAL, .fatal = {UINT32_MAX, text, TEXT_MAX}}},
        {"DRAIN", {.type = MESSAGE_DRAIN}},
        {"JOB of one byte", {.type = MESSAGE_JOB, .job_part = {0, 1}, .records = announcement, .record_count = 1}},
        {"JOB, the last part of a full announcement",
         {.type = MESSAGE_JOB,
          .job_part = {ANNOUNCEMENT_MAX - JOB_PART_MAX, ANNOUNCEMENT_MAX},
          .records = announcement,
          .record_count = JOB_PART_MAX}},
        {"SET_OVER", {.type = MESSAGE_SET_OVER}},
        {"SET_OVER, degraded", {.type = MESSAGE_SET_OVER, .set_over = {true}}},
        {"LEAVING", {.type = MESSAGE_LEAVING}},
        {"STORE, one byte inline", with_payload(stored, PAYLOAD_INLINE, 1)},
        {"STORE, INLINE_MAX bytes inline", with_payload(stored, PAYLOAD_INLINE, INLINE_MAX)},
        {"STORE, data", with_payload(stored, PAYLOAD_DATA, SLICE_MAX)},
        {"LEAVING now", {.type = MESSAGE_LEAVING, .leaving = {true}}},
        {"ECHO 0", {.type = MESSAGE_ECHO}},
        {"ECHO", {.type = MESSAGE_ECHO, .echo = {UINT32_MAX}}},
        {"LOADS of one worker", records_of(MESSAGE_LOADS, load_records, 1)},
        {"LOADS of LOADS_MAX workers", records_of(MESSAGE_LOADS, load_records, LOADS_MAX)},
        {"FEEDBACK of one worker", records_of(MESSAGE_FEEDBACK, feedback_records, 1)},
        {"FEEDBACK of FEEDBACK_MAX workers", records_of(MESSAGE_FEEDBACK, feedback_records, FEEDBACK_MAX)},
    };
    memcpy(samples, all, sizeof all);
    return sizeof all / sizeof *all;
}

static void assert_same_payload(const struct message *got, const struct message *want)
{
    ck_assert_int_eq(got->payload, want->payload);
    ck_assert_uint_eq(got->payload_bytes, want->payload_bytes);
    ck_assert_int_eq(got->has_failed, want->has_failed);
    if (want->payload == PAYLOAD_INLINE) {
        ck_assert_mem_eq(got->payload_data, want->payload_data, want->payload_bytes);
    } else {
        ck_assert_ptr_null(got->payload_data);
    }
}

static void assert_same_records(const struct message *got, const struct message *want, size_t record_bytes)
{
    ck_assert_uint_eq(got->record_count, want->record_count);
    if (want->record_count > 0)
        ck_assert_mem_eq(got->records, want->records, want->record_count * record_bytes);
}

static void assert_same_speed(const struct message *got_message, const struct message *want_message)
{
    struct speed got, want;
    speed_get(got_message, &got);
    speed_get(want_message, &want);
    ck_assert_uint_eq(got.worker, want.worker);
    ck_assert_uint_eq(got.levels, want.levels);
    ck_assert_uint_eq(got.round_trip_ns, want.round_trip_ns);
    ck_assert(got.mean_ns == want.mean_ns && got.deviation_ns == want.deviation_ns && got.swr == want.swr);
    for (unsigned i = 0; i < SPEED_CELLS; i++) {
        ck_assert(got.cells[i].mean_ns == want.cells[i].mean_ns);
        ck_assert_uint_eq(got.cells[i].count, want.cells[i].count);
    }
    for (unsigned i = 0; i < want.levels; i++)
        ck_assert_uint_eq(got.elapsed_ns[i], want.elapsed_ns[i]);
}

static void assert_same_request(const struct request *got, const struct request *want)
{
    ck_assert_uint_eq(got->chunk, want->chunk);
    ck_assert_uint_eq(got->asks, want->asks);
    ck_assert_int_eq(got->done, want->done);
    ck_assert_uint_eq(got->compute_ns, want->compute_ns);
    ck_assert_uint_eq(got->digest, want->digest);
    ck_assert_uint_eq(got->wait_ns, want->wait_ns);
    ck_assert(got->deviation_ns == want->deviation_ns);
    ck_assert_uint_eq(got->samples, want->samples);
    ck_assert_uint_eq(got->load, want->load);
}

void assert_same_message(const struct message *got, const struct message *want)
{
    ck_assert_int_eq(got->type, want->type);
    assert_same_payload(got, want);
    switch (want->type) {
    case MESSAGE_SPEED: assert_same_speed(got, want); break;
    case MESSAGE_REQUEST:
        assert_same_request(&got->request, &want->request);
        assert_same_records(got, want, COMPLETION_BYTES);
        break;
    case MESSAGE_RESULT:
        ck_assert_uint_eq(got->result.chunk, want->result.chunk);
        ck_assert_uint_eq(got->result.count, want->result.count);
        ck_assert_uint_eq(got->result.digest, want->result.digest);
        break;
    case MESSAGE_ASSIGN:
        ck_assert_uint_eq(got->assign.chunk, want->assign.chunk);
        ck_assert_uint_eq(got->assign.first, want->assign.first);
        ck_assert_uint_eq(got->assign.count, want->assign.count);
        ck_assert_int_eq(got->assign.isolated, want->assign.isolated);
        assert_same_records(got, want, ASSIGN_RECORD_BYTES);
        break;
    case MESSAGE_END:
        ck_assert_int_eq(got->end.drain, want->end.drain);
        ck_assert_int_eq(got->end.now, want->end.now);
        ck_assert_int_eq(got->end.degraded, want->end.degraded);
        ck_assert_int_eq(got->end.late, want->end.late);
        break;
    case MESSAGE_ADOPT:
        ck_assert_uint_eq(got->adopt.first, want->adopt.first);
        ck_assert_uint_eq(got->adopt.count, want->adopt.count);
        break;
    case MESSAGE_WORKER_LOST:
        ck_assert_uint_eq(got->worker_lost.rank, want->worker_lost.rank);
        ck_assert_uint_eq(got->worker_lost.chunks, want->worker_lost.chunks);
        ck_assert_uint_eq(got->worker_lost.first, want->worker_lost.first);
        ck_assert_uint_eq(got->worker_lost.count, want->worker_lost.count);
        break;
    case MESSAGE_ITERATIONS_FAILED:
        ck_assert_uint_eq(got->iterations_failed.id, want->iterations_failed.id);
        ck_assert_uint_eq(got->iterations_failed.first, want->iterations_failed.first);
        ck_assert_uint_eq(got->iterations_failed.count, want->iterations_failed.count);
        ck_assert_int_eq(got->iterations_failed.final, want->iterations_failed.final);
        ck_assert_int_eq(got->iterations_failed.died, want->iterations_failed.died);
        ck_assert_uint_eq(got->iterations_failed.length, want->iterations_failed.length);
        ck_assert_mem_eq(got->iterations_failed.text, want->iterations_failed.text, want->iterations_failed.length);
        break;
    case MESSAGE_POISON:
        ck_assert_uint_eq(got->poison.first, want->poison.first);
        ck_assert_uint_eq(got->poison.count, want->poison.count);
        ck_assert_uint_eq(got->poison.deaths, want->poison.deaths);
        ck_assert_uint_eq(got->poison.failures, want->poison.failures);
        ck_assert_uint_eq(got->poison.failed_by, want->poison.failed_by);
        break;
    case MESSAGE_RECOVERY_COUNTS:
        ck_assert_uint_eq(got->recovery_counts.reissued, want->recovery_counts.reissued);
        ck_assert_uint_eq(got->recovery_counts.duplicates, want->recovery_counts.duplicates);
        ck_assert_uint_eq(got->recovery_counts.recalls, want->recovery_counts.recalls);
        ck_assert_uint_eq(got->recovery_counts.recalled, want->recovery_counts.recalled);
        break;
    case MESSAGE_VERIFIED:
        ck_assert_uint_eq(got->verified.alike, want->verified.alike);
        ck_assert_uint_eq(got->verified.unverified, want->verified.unverified);
        ck_assert_uint_eq(got->verified.computations, want->verified.computations);
        for (unsigned i = 0; i < 3; i++)
            ck_assert_uint_eq(got->verified.rank[i], want->verified.rank[i]);
        ck_assert_int_eq(got->verified.wrong, want->verified.wrong);
        ck_assert_uint_eq(got->verified.first, want->verified.first);
        ck_assert_uint_eq(got->verified.count, want->verified.count);
        break;
    case MESSAGE_RECALL: ck_assert_uint_eq(got->recall.waiting, want->recall.waiting); break;
    case MESSAGE_RETURNED:
    case MESSAGE_ITERATIONS_GIVEN_UP: assert_same_records(got, want, ASSIGN_RECORD_BYTES); break;
    case MESSAGE_THREADS:
        ck_assert_uint_eq(got->threads.worker, want->threads.worker);
        ck_assert_uint_eq(got->threads.count, want->threads.count);
        ck_assert(got->threads.max_over_mean == want->threads.max_over_mean && got->threads.cov == want->threads.cov);
        ck_assert_uint_eq(got->threads.chunks, want->threads.chunks);
        ck_assert_uint_eq(got->threads.cores, want->threads.cores);
        ck_assert_uint_eq(got->threads.workers, want->threads.workers);
        ck_assert_uint_eq(got->threads.processor_ns, want->threads.processor_ns);
        break;
    case MESSAGE_GOODBYE:
        ck_assert_uint_eq(got->goodbye.messages, want->goodbye.messages);
        ck_assert_uint_eq(got->goodbye.bytes, want->goodbye.bytes);
        ck_assert_uint_eq(got->goodbye.wait_ns, want->goodbye.wait_ns);
        break;
    case MESSAGE_REPORT:
        ck_assert_int_eq(got->report.refill, want->report.refill);
        ck_assert_uint_eq(got->report.busy, want->report.busy);
        assert_same_records(got, want, DONE_RECORD_BYTES);
        break;
    case MESSAGE_REFILL:
        ck_assert_int_eq(got->refill.more, want->refill.more);
        ck_assert_int_eq(got->refill.empty, want->refill.empty);
        ck_assert_int_eq(got->refill.begun, want->refill.begun);
        assert_same_records(got, want, CHUNK_RECORD_BYTES);
        break;
    case MESSAGE_STATS: assert_same_records(got, want, STATS_RECORD_BYTES); break;
    case MESSAGE_FATAL:
        ck_assert_uint_eq(got->fatal.rank, want->fatal.rank);
        ck_assert_uint_eq(got->fatal.length, want->fatal.length);
        ck_assert_mem_eq(got->fatal.text, want->fatal.text, want->fatal.length);
        break;
    case MESSAGE_ECHO: ck_assert_uint_eq(got->echo.id, want->echo.id); break;
    case MESSAGE_FEEDBACK: assert_same_records(got, want, FEEDBACK_RECORD_BYTES); break;
    case MESSAGE_LOADS: assert_same_records(got, want, LOAD_RECORD_BYTES); break;
    case MESSAGE_NEIGHBOUR:
        ck_assert_uint_eq(got->neighbour.first, want->neighbour.first);
        ck_assert_uint_eq(got->neighbour.rank, want->neighbour.rank);
        break;
    case MESSAGE_BOUNDARY:
        ck_assert_uint_eq(got->boundary.first, want->boundary.first);
        ck_assert_uint_eq(got->boundary.offset, want->boundary.offset);
        break;
    case MESSAGE_JOB:
        ck_assert_uint_eq(got->job_part.offset, want->job_part.offset);
        ck_assert_uint_eq(got->job_part.all, want->job_part.all);
        assert_same_records(got, want, 1);
        break;
    case MESSAGE_SET_OVER: ck_assert_int_eq(got->set_over.degraded, want->set_over.degraded); break;
    case MESSAGE_STORE:
        ck_assert_uint_eq(got->store.first, want->store.first);
        ck_assert_uint_eq(got->store.count, want->store.count);
        break;
    case MESSAGE_LEAVING: ck_assert_int_eq(got->leaving.now, want->leaving.now); break;
    case MESSAGE_DRAIN: break;
    }
}

unsigned char *exact_copy(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size);
    ck_assert(copy != NULL || size == 0);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

const unsigned char *edge_copy(const unsigned char *bytes, size_t size)
{
    enum { ROOM = 1 << 17, GUARD = 1 << 16 }; /* whole pages up to pages of 64 KiB */
    static unsigned char *memory;
    if (memory == NULL) {
        memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(memory, MAP_FAILED);
        ck_assert_int_eq(mprotect(memory + ROOM - GUARD, GUARD, PROT_NONE), 0);
    }
    ck_assert_uint_le(size, MESSAGE_MAX + 1);
    return memcpy(memory + ROOM - GUARD - size, bytes, size);
}

void assert_encodes_to(const struct message *message, uint32_t job, const unsigned char *bytes, size_t size)
{
    unsigned char out[MESSAGE_MAX], fixed[MESSAGE_MAX];
    ck_assert_uint_eq(message_size(message), size);
    ck_assert_uint_eq(message_encode(message, job, out), size);
    ck_assert_mem_eq(out, bytes, size);
    ck_assert_uint_eq(message_encode_fixed(message, job, fixed), message_fixed_size(message));
    ck_assert_mem_eq(fixed, bytes, message_fixed_size(message));
}
