/* SPDX-License-Identifier: MIT */
/* Traces for Perfetto: TrackEvents in protobuf's wire format, packet by packet. Field numbers are those of
 * protos/perfetto/trace in Perfetto.
 *
 * A node is shown as a process, and a worker as a thread of the node. A chunk is a slice on the track of its worker, or
 * an instant if the worker did not compute it. The sizes of cut chunks form a counter. The run has a track of its own.
 * At its beginning, instants show the iterations that an earlier run has done. */
#include "common/trace/writer.h"

#include <inttypes.h>
#include <string.h>

#define INNER_MAX  160
#define PACKET_MAX 1300

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_FLAGS = 13, PACKET_TRACK = 60 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23, EVENT_VALUE = 30 };
enum { ANNOTATION_UINT = 3, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* All packets belong to one sequence; the first packet clears its state. */
enum { SEQUENCE = 1, STATE_CLEARED = 1 };

enum { CUTS_UUID = 1, RUN_UUID = 2 };

static uint64_t node_uuid(unsigned node)
{
    return UINT64_C(0x100000000) + node;
}

static uint64_t worker_uuid(unsigned rank)
{
    return UINT64_C(0x200000000) + rank;
}

struct bytes {
    unsigned char data[PACKET_MAX];
    size_t length;
};

static void put_varint(struct bytes *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        to->data[to->length++] = (unsigned char)(value | 0x80);
    to->data[to->length++] = (unsigned char)value;
}

static void put_number(struct bytes *to, unsigned field, uint64_t value)
{
    put_varint(to, field << 3 | WIRE_VARINT);
    put_varint(to, value);
}

static void put_bytes(struct bytes *to, unsigned field, const void *data, size_t length)
{
    put_varint(to, field << 3 | WIRE_BYTES);
    put_varint(to, length);
    memcpy(to->data + to->length, data, length);
    to->length += length;
}

static void put_text(struct bytes *to, unsigned field, const char *text)
{
    put_bytes(to, field, text, strnlen(text, INNER_MAX));
}

static void put_message(struct bytes *to, unsigned field, const struct bytes *message)
{
    put_bytes(to, field, message->data, message->length);
}

static void write_packet(const struct trace_writer *writer, uint64_t at_ns, unsigned field, const struct bytes *message,
                         bool is_first)
{
    struct bytes packet = {.length = 0};
    unsigned char head[12];
    struct bytes length = {.length = 0};
    put_number(&packet, PACKET_TIMESTAMP, at_ns);
    put_number(&packet, PACKET_SEQUENCE, SEQUENCE);
    if (is_first)
        put_number(&packet, PACKET_FLAGS, STATE_CLEARED);
    put_message(&packet, field, message);
    put_varint(&length, TRACE_PACKET << 3 | WIRE_BYTES);
    put_varint(&length, packet.length);
    memcpy(head, length.data, length.length);
    fwrite(head, 1, length.length, writer->file);
    fwrite(packet.data, 1, packet.length, writer->file);
}

static void write_process(const struct trace_writer *writer, uint64_t uuid, unsigned pid, const char *name,
                          bool is_first)
{
    struct bytes process = {.length = 0}, track = {.length = 0};
    put_number(&process, PROCESS_PID, pid);
    put_text(&process, PROCESS_NAME, name);
    put_number(&track, TRACK_UUID, uuid);
    put_message(&track, TRACK_PROCESS, &process);
    write_packet(writer, 0, PACKET_TRACK, &track, is_first);
}

static void write_run(const struct trace_writer *writer)
{
    const struct trace_about *about = writer->about;
    struct bytes track = {.length = 0}, counter = {.length = 0};
    char name[INNER_MAX];
    snprintf(name, sizeof name, "%.60s, %.60s, %" PRIu64 " iterations", about->kernel, about->technique,
             about->iterations);
    write_process(writer, RUN_UUID, 1, name, true);
    put_number(&track, TRACK_UUID, CUTS_UUID);
    put_number(&track, TRACK_PARENT, RUN_UUID);
    put_text(&track, TRACK_NAME, "chunk size");
    put_message(&track, TRACK_COUNTER, &counter);
    write_packet(writer, 0, PACKET_TRACK, &track, false);
}

static void write_worker(const struct trace_writer *writer, const struct trace_worker *worker)
{
    struct bytes thread = {.length = 0}, track = {.length = 0};
    char name[40];
    snprintf(name, sizeof name, "worker %u", worker->rank);
    put_number(&thread, THREAD_PID, worker->node + 2);
    put_number(&thread, THREAD_TID, worker->rank);
    put_text(&thread, THREAD_NAME, name);
    put_number(&track, TRACK_UUID, worker_uuid(worker->rank));
    put_number(&track, TRACK_PARENT, node_uuid(worker->node));
    put_message(&track, TRACK_THREAD, &thread);
    write_packet(writer, 0, PACKET_TRACK, &track, false);
}

static bool is_first_of_node(const struct trace_about *about, unsigned w)
{
    unsigned i = 0;
    while (about->worker[i].node != about->worker[w].node)
        i++;
    return i == w;
}

static void perfetto_begin(struct trace_writer *writer)
{
    const struct trace_about *about = writer->about;
    char name[40];
    write_run(writer);
    for (unsigned w = 0; w < about->workers; w++) {
        const struct trace_worker *worker = &about->worker[w];
        snprintf(name, sizeof name, "node %u", worker->node);
        if (is_first_of_node(about, w))
            write_process(writer, node_uuid(worker->node), worker->node + 2, name, false);
        write_worker(writer, worker);
    }
}

static void begin_event(struct bytes *event, unsigned type, uint64_t track, const char *name)
{
    put_number(event, EVENT_TYPE, type);
    put_number(event, EVENT_TRACK, track);
    put_text(event, EVENT_CATEGORY, "hdss");
    put_text(event, EVENT_NAME, name);
}

static void annotate_number(struct bytes *event, const char *name, uint64_t value)
{
    struct bytes annotation = {.length = 0};
    put_text(&annotation, ANNOTATION_NAME, name);
    put_number(&annotation, ANNOTATION_UINT, value);
    put_message(event, EVENT_ANNOTATION, &annotation);
}

static void annotate_text(struct bytes *event, const char *name, const char *value)
{
    struct bytes annotation = {.length = 0};
    put_text(&annotation, ANNOTATION_NAME, name);
    put_text(&annotation, ANNOTATION_TEXT, value);
    put_message(event, EVENT_ANNOTATION, &annotation);
}

/* Writes a time in microseconds, because the pages of Perfetto use microseconds. */
static void annotate_moment(struct bytes *event, const struct trace_writer *writer, const char *name, uint64_t ns)
{
    if (ns != ROW_UNKNOWN)
        annotate_number(event, name, trace_time(writer, ns) / 1000);
}

static void annotate_chunk(struct bytes *event, const struct trace_writer *writer, const struct chunk_row *row)
{
    annotate_number(event, "first", row->first);
    annotate_number(event, "count", row->count);
    annotate_text(event, "reason", chunk_reason_name(row->reason));
    annotate_text(event, "fate", chunk_fate_name(row->fate));
    annotate_number(event, "master", writer->master);
    annotate_moment(event, writer, "asked_us", row->asked_ns);
    annotate_moment(event, writer, "assigned_us", row->at_ns);
    annotate_moment(event, writer, "stored_us", row->settled_ns);
}

static void write_slice(const struct trace_writer *writer, const struct chunk_row *row)
{
    struct bytes begin = {.length = 0}, end = {.length = 0};
    const uint64_t track = worker_uuid(row->worker);
    char name[40];
    snprintf(name, sizeof name, "chunk %" PRIu32, row->chunk);
    begin_event(&begin, SLICE_BEGIN, track, name);
    annotate_chunk(&begin, writer, row);
    write_packet(writer, trace_time(writer, row->begun_ns), PACKET_EVENT, &begin, false);
    put_number(&end, EVENT_TYPE, SLICE_END);
    put_number(&end, EVENT_TRACK, track);
    write_packet(writer, trace_time(writer, row->ended_ns), PACKET_EVENT, &end, false);
}

/* Returns whether the row is shown as a slice. If a chunk has several rows, only the row with the kernel time and the
 * rows of stored iterations are shown as slices. Iterations that were not computed have no duration. */
static bool has_stay(const struct chunk_row *row)
{
    return row->begun_ns != ROW_UNKNOWN && (row->compute_ns > 0 || row->fate == CHUNK_STORED);
}

static void write_chunk(const struct trace_writer *writer, const struct chunk_row *row)
{
    if (has_stay(row)) {
        write_slice(writer, row);
        return;
    }
    struct bytes event = {.length = 0};
    char name[60];
    snprintf(name, sizeof name, "%s: of chunk %" PRIu32, chunk_fate_name(row->fate), row->chunk);
    begin_event(&event, INSTANT, worker_uuid(row->worker), name);
    annotate_chunk(&event, writer, row);
    const uint64_t at_ns = row->settled_ns != ROW_UNKNOWN ? row->settled_ns : row->at_ns;
    write_packet(writer, trace_time(writer, at_ns), PACKET_EVENT, &event, false);
}

static void write_cut(const struct trace_writer *writer, const struct chunk_row *row)
{
    struct bytes event = {.length = 0};
    put_number(&event, EVENT_TYPE, COUNTER);
    put_number(&event, EVENT_TRACK, CUTS_UUID);
    put_number(&event, EVENT_VALUE, row->count);
    write_packet(writer, trace_time(writer, row->at_ns), PACKET_EVENT, &event, false);
}

static void write_loss(const struct trace_writer *writer, const struct chunk_row *row)
{
    struct bytes event = {.length = 0};
    char name[40];
    snprintf(name, sizeof name, "rank %" PRIu32 " lost", row->worker);
    const bool is_worker = trace_worker_of(writer, row->worker) != NULL;
    begin_event(&event, INSTANT, is_worker ? worker_uuid(row->worker) : RUN_UUID, name);
    write_packet(writer, trace_time(writer, row->at_ns), PACKET_EVENT, &event, false);
}

static void write_resumed(const struct trace_writer *writer, const struct chunk_row *row)
{
    struct bytes event = {.length = 0};
    begin_event(&event, INSTANT, RUN_UUID, "resumed: done by an earlier run");
    annotate_number(&event, "first", row->first);
    annotate_number(&event, "count", row->count);
    write_packet(writer, trace_time(writer, row->at_ns), PACKET_EVENT, &event, false);
}

static void perfetto_row(struct trace_writer *writer, const struct chunk_row *row)
{
    switch (row->kind) {
    case ROW_CHUNK: write_chunk(writer, row); break;
    case ROW_CUT: write_cut(writer, row); break;
    case ROW_RANK_LOST: write_loss(writer, row); break;
    case ROW_RESUMED: write_resumed(writer, row); break;
    }
}

const struct trace_format trace_perfetto = {.ending = ".pftrace", .begin = perfetto_begin, .row = perfetto_row};
