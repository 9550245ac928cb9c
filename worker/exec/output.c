/* SPDX-License-Identifier: MIT */
/* Collecting variable output: see output.h. */
#include "worker/exec/output.h"

#include "common/util/digest.h"
#include "proto/message.h"
#include "proto/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A buffer larger than this is freed when it is empty: only an exceptional iteration needed so much. */
#define KEEP_BYTES (4 * (size_t)SLICE_MAX)

static int make_room_in(struct gathered *gathered, size_t bytes)
{
    size_t length = gathered->to - gathered->from;
    if (bytes <= gathered->capacity - gathered->to)
        return 0;
    if (gathered->from > 0) {
        memmove(gathered->bytes, gathered->bytes + gathered->from, length);
        gathered->from = 0;
        gathered->to = length;
    }
    if (bytes <= gathered->capacity - length)
        return 0;
    size_t capacity = 2 * gathered->capacity > length + bytes ? 2 * gathered->capacity : length + bytes + 4096;
    unsigned char *grown = realloc(gathered->bytes, capacity);
    if (grown == NULL)
        return -1;
    gathered->bytes = grown;
    gathered->capacity = capacity;
    return 0;
}

static void empty(struct gathered *gathered)
{
    if (gathered->capacity > KEEP_BYTES) {
        free(gathered->bytes);
        *gathered = (struct gathered){0};
    }
    gathered->from = gathered->to = 0;
}

static int refuse_output(struct output *output, const char *what)
{
    if (output->problem[0] == '\0')
        snprintf(output->problem, sizeof output->problem, "%s", what);
    return -1;
}

static int refuse_memory(struct output *output)
{
    return refuse_output(output, "there is no memory for what it yields");
}

static int reach(struct output *output, uint64_t iteration)
{
    size_t entry = block_entry_bytes(output->streams);
    for (; output->next <= iteration; output->next++) {
        if (make_room_in(&output->table, entry) < 0)
            return refuse_memory(output);
        memset(output->table.bytes + output->table.to, 0, entry);
        output->table.to += entry;
        output->latest = 0;
    }
    return 0;
}

static unsigned char *entry_of(struct output *output, uint64_t iteration)
{
    if (iteration >= output->end || iteration + 1 < output->next) {
        char text[sizeof output->problem];
        snprintf(text, sizeof text,
                 "the kernel puts what iteration %" PRIu64 " yields out of order, or beyond its range", iteration);
        refuse_output(output, text);
        return NULL;
    }
    if (reach(output, iteration) < 0)
        return NULL;
    return output->table.bytes + output->table.to - block_entry_bytes(output->streams);
}

static int put_output(struct hdss_output *calls, uint64_t iteration, unsigned stream, const void *data, size_t bytes)
{
    struct output *output = (struct output *)calls;
    unsigned char *entry = entry_of(output, iteration);
    if (entry == NULL)
        return -1;
    if (stream >= output->streams)
        return refuse_output(output, "the kernel puts bytes on a stream that it did not describe");
    if (bytes > BLOCK_MAX - BLOCK_HEAD_BYTES - block_entry_bytes(output->streams) - output->latest)
        return refuse_output(output, "it yields more than 2 GiB");
    struct gathered *gathered = &output->stream[stream];
    if (make_room_in(gathered, bytes) < 0)
        return refuse_memory(output);
    if (bytes > 0)
        memcpy(gathered->bytes + gathered->to, data, bytes);
    gathered->to += bytes;
    output->latest += bytes;
    wire_put32(entry + 4 + 4 * (size_t)stream, wire_get32(entry + 4 + 4 * (size_t)stream) + (uint32_t)bytes);
    return 0;
}

static int note_failed_output(struct hdss_output *calls, uint64_t iteration)
{
    struct output *output = (struct output *)calls;
    unsigned char *entry = entry_of(output, iteration);
    if (entry == NULL)
        return -1;
    if (!output->keeps) {
        output->called_failed = true;
        return refuse_output(output, "the kernel calls it failed");
    }
    output->failures += wire_get32(entry) == 0;
    wire_put32(entry, BLOCK_FAILED);
    return 0;
}

static void note_unfit_process(struct hdss_output *calls)
{
    ((struct output *)calls)->is_unfit = true;
}

void output_init(struct output *output, unsigned streams, bool keeps)
{
    *output = (struct output){
        .calls = {put_output, note_failed_output, note_unfit_process}, .streams = streams, .keeps = keeps};
}

void output_fini(struct output *output)
{
    free(output->table.bytes);
    for (unsigned s = 0; s < HDSS_STREAMS_MAX; s++)
        free(output->stream[s].bytes);
    *output = (struct output){0};
}

void output_clear(struct output *output, uint64_t first)
{
    empty(&output->table);
    for (unsigned s = 0; s < output->streams; s++)
        empty(&output->stream[s]);
    output->first = output->next = output->end = first;
    output->failures = 0;
    output->problem[0] = '\0';
}

void output_begin(struct output *output, uint64_t end)
{
    output->end = end;
    output->latest = 0;
    output->begun.next = output->next;
    output->begun.failures = output->failures;
    output->begun.table = output->table.to - output->table.from;
    for (unsigned s = 0; s < output->streams; s++)
        output->begun.stream[s] = output->stream[s].to - output->stream[s].from;
    output->problem[0] = '\0';
    output->called_failed = false;
}

void output_revert(struct output *output)
{
    output->next = output->end = output->begun.next;
    output->failures = output->begun.failures;
    output->table.to = output->table.from + output->begun.table;
    for (unsigned s = 0; s < output->streams; s++)
        output->stream[s].to = output->stream[s].from + output->begun.stream[s];
}

int output_end(struct output *output)
{
    return output->end > output->next ? reach(output, output->end - 1) : 0;
}

static size_t bytes_of(const struct output *output, uint64_t k)
{
    size_t bytes = block_entry_bytes(output->streams);
    const unsigned char *entry = output->table.bytes + output->table.from + k * bytes;
    for (unsigned s = 0; s < output->streams; s++)
        bytes += wire_get32(entry + 4 + 4 * (size_t)s);
    return bytes;
}

static bool has_failed(const struct output *output, uint64_t k)
{
    const unsigned char *entry = output->table.bytes + output->table.from + k * block_entry_bytes(output->streams);
    return wire_get32(entry) & BLOCK_FAILED;
}

bool output_fails_next(const struct output *output)
{
    return output->failures > 0 && output_count(output) > 0 && has_failed(output, 0);
}

uint64_t output_fit(const struct output *output, size_t *bytes)
{
    uint64_t gathered = output_count(output), count = 0;
    const bool are_alike = output->failures == 0 || output->failures == gathered;
    *bytes = output_bytes(output);
    if (gathered <= 1 || (*bytes <= SLICE_MAX && are_alike))
        return gathered;
    const bool fails = output_fails_next(output);
    *bytes = BLOCK_HEAD_BYTES;
    for (size_t more; count < gathered && (are_alike || has_failed(output, count) == fails) &&
                      ((more = bytes_of(output, count)) + *bytes <= SLICE_MAX || count == 0);
         count++)
        *bytes += more;
    return count;
}

static uint64_t digest_next(struct output *output, uint64_t iteration, const unsigned char *entry,
                            const struct hdss_loop *loop, size_t *at)
{
    const void *bytes[HDSS_STREAMS_MAX];
    uint32_t lengths[HDSS_STREAMS_MAX];
    unsigned same = 0;
    for (unsigned s = 0; s < output->streams; s++) {
        uint32_t length = wire_get32(entry + 4 + 4 * (size_t)s);
        const struct gathered *gathered = &output->stream[s];
        if (!loop->stream[s].differs) {
            bytes[same] = length > 0 ? gathered->bytes + gathered->from + at[s] : entry;
            lengths[same++] = length;
        }
        at[s] += length;
    }
    return digest_streams(iteration, same, bytes, lengths);
}

uint64_t output_take(struct output *output, uint64_t count, const struct hdss_loop *loop, unsigned char *out)
{
    size_t entry = block_entry_bytes(output->streams), at[HDSS_STREAMS_MAX] = {0};
    const unsigned char *table = output->table.bytes + output->table.from;
    uint64_t digest = 0;
    for (uint64_t k = 0; k < count; k++) {
        output->failures -= output->failures > 0 && has_failed(output, k);
        digest += digest_next(output, output->first + k, table + k * entry, loop, at);
    }
    if (out != NULL) {
        out += block_head_put(out, (uint32_t)count, output->streams);
        memcpy(out, table, count * entry);
        out += count * entry;
    }
    for (unsigned s = 0; s < output->streams; s++) {
        struct gathered *gathered = &output->stream[s];
        if (out != NULL && at[s] > 0)
            memcpy(out, gathered->bytes + gathered->from, at[s]);
        out = out != NULL ? out + at[s] : NULL;
        gathered->from += at[s];
    }
    output->table.from += count * entry;
    output->first += count;
    if (output_count(output) == 0)
        output_clear(output, output->first);
    return digest;
}
