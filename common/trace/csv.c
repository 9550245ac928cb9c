/* SPDX-License-Identifier: MIT */
/* Traces as CSV (RFC 4180) with the columns of docs/report.md. Numbers are formatted without printf(), because a trace
 * may have 10^8 numbers. */
#include "common/trace/writer.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define COLUMNS                                                                                                        \
    "kind,time_s,worker,node,master,chunk,first,count,reason,asked_s,begun_s,ended_s,stored_s,compute_s,fate,formula," \
    "text\r\n"

struct csv_line {
    char text[512];
    size_t length;
};

static void put_text(struct csv_line *line, const char *text)
{
    const size_t length = strlen(text);
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void put_comma(struct csv_line *line)
{
    line->text[line->length++] = ',';
}

static void put_count(struct csv_line *line, uint64_t value)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (count > 0)
        line->text[line->length++] = digits[--count];
}

static void put_seconds(struct csv_line *line, uint64_t ns)
{
    put_count(line, ns / 1000000000u);
    line->text[line->length++] = '.';
    uint64_t rest = ns % 1000000000u;
    for (unsigned unit = 100000000; unit > 0; unit /= 10)
        line->text[line->length++] = (char)('0' + rest / unit % 10);
}

static void put_moment(struct csv_line *line, const struct trace_writer *writer, uint64_t ns)
{
    put_comma(line);
    if (ns != ROW_UNKNOWN)
        put_seconds(line, trace_time(writer, ns));
}

static void end_line(struct csv_line *line, const struct trace_writer *writer)
{
    put_text(line, "\r\n");
    fwrite(line->text, 1, line->length, writer->file);
}

static void write_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void write_about(const struct trace_writer *writer, const char *key, const char *value)
{
    char text[1200];
    snprintf(text, sizeof text, "%s=%.1000s", key, value);
    fprintf(writer->file, "run,,,,,,,,,,,,,,,,");
    write_quoted(writer->file, text);
    fprintf(writer->file, "\r\n");
}

static void write_number(const struct trace_writer *writer, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    write_about(writer, key, text);
}

static void write_origin(const struct trace_writer *writer)
{
    const time_t seconds = (time_t)(writer->origin_real_ns / 1000000000u);
    struct tm utc;
    char text[80];
    if (writer->origin_real_ns == 0 || gmtime_r(&seconds, &utc) == NULL)
        return;
    const size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, sizeof text - length, ".%06" PRIu64 "Z", writer->origin_real_ns % 1000000000u / 1000);
    write_about(writer, "origin", text);
}

static void csv_begin(struct trace_writer *writer)
{
    const struct trace_about *about = writer->about;
    fprintf(writer->file, COLUMNS);
    write_about(writer, "version", about->version);
    write_about(writer, "kernel", about->kernel);
    write_about(writer, "technique", about->technique);
    write_number(writer, "iterations", about->iterations);
    write_number(writer, "workers", about->workers);
    write_number(writer, "masters", about->masters);
    write_origin(writer);
    for (unsigned w = 0; w < about->workers; w++) {
        const struct trace_worker *worker = &about->worker[w];
        fprintf(writer->file, "worker,,%u,%u,%u,,,,,,,,,,,,", worker->rank, worker->node, worker->master);
        if (worker->power > 0)
            fprintf(writer->file, "power=%.6g", worker->power);
        fprintf(writer->file, "\r\n");
    }
}

static void put_worker(struct csv_line *line, const struct trace_writer *writer, uint32_t rank)
{
    const struct trace_worker *worker = trace_worker_of(writer, rank);
    put_comma(line);
    put_count(line, rank);
    put_comma(line);
    if (worker != NULL)
        put_count(line, worker->node);
    put_comma(line);
}

static void put_range(struct csv_line *line, const struct chunk_row *row)
{
    put_comma(line);
    put_count(line, row->first);
    put_comma(line);
    put_count(line, row->count);
}

static void put_chunk(struct csv_line *line, const struct trace_writer *writer, const struct chunk_row *row)
{
    put_text(line, "chunk");
    put_moment(line, writer, row->at_ns);
    put_worker(line, writer, row->worker);
    put_count(line, writer->master);
    put_comma(line);
    put_count(line, row->chunk);
    put_range(line, row);
    put_comma(line);
    put_text(line, chunk_reason_name(row->reason));
    put_moment(line, writer, row->asked_ns);
    put_moment(line, writer, row->begun_ns);
    put_moment(line, writer, row->ended_ns);
    put_moment(line, writer, row->settled_ns);
    put_comma(line);
    if (row->compute_ns > 0)
        put_seconds(line, row->compute_ns);
    put_comma(line);
    put_text(line, chunk_fate_name(row->fate));
    put_text(line, ",,");
}

static void put_cut(struct csv_line *line, const struct trace_writer *writer, const struct chunk_row *row)
{
    put_text(line, "cut");
    put_moment(line, writer, row->at_ns);
    put_worker(line, writer, row->worker);
    put_comma(line);
    put_range(line, row);
    put_text(line, ",,,,,,,,");
    put_count(line, row->formula);
    put_comma(line);
}

static void put_loss(struct csv_line *line, const struct trace_writer *writer, const struct chunk_row *row)
{
    put_text(line, "event");
    put_moment(line, writer, row->at_ns);
    put_worker(line, writer, row->worker);
    put_text(line, ",,,,,,,,,,,,");
    put_text(line, trace_worker_of(writer, row->worker) != NULL ? "worker lost" : "master lost");
}

static void put_resumed(struct csv_line *line, const struct chunk_row *row)
{
    put_text(line, "resumed,,,,,");
    put_range(line, row);
    put_text(line, ",resumed,,,,,,done,,");
}

static void csv_row(struct trace_writer *writer, const struct chunk_row *row)
{
    struct csv_line line = {.length = 0};
    switch (row->kind) {
    case ROW_CHUNK: put_chunk(&line, writer, row); break;
    case ROW_CUT: put_cut(&line, writer, row); break;
    case ROW_RANK_LOST: put_loss(&line, writer, row); break;
    case ROW_RESUMED: put_resumed(&line, row); break;
    }
    end_line(&line, writer);
}

const struct trace_format trace_csv = {.ending = ".csv", .begin = csv_begin, .row = csv_row};
