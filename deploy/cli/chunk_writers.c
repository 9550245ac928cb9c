/* SPDX-License-Identifier: MIT */
/* Writes a series of chunks as text, JSON or CSV: see chunk_writers.h. */
#include "deploy/cli/chunk_writers.h"

#include "common/sched/sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void text_begin(const struct tally *tally)
{
    printf("%*s  %*s  %*s  %*s\n", tally->width, "chunk", tally->worker_width, "worker", tally->width, "first",
           tally->width, "count");
}

static void text_chunk(const struct tally *tally, const struct chunk *chunk)
{
    printf("%*" PRIu64 "  %*u  %*" PRIu64 "  %*" PRIu64 "\n", tally->width, tally->chunks, tally->worker_width,
           chunk->worker, tally->width, chunk->first, tally->width, chunk->count);
}

static void text_end(const struct tally *tally)
{
    if (tally->chunks == 0)
        puts("no chunks");
    else
        printf("%" PRIu64 " chunk%s, largest %" PRIu64 ", smallest %" PRIu64 "\n", tally->chunks,
               tally->chunks == 1 ? "" : "s", tally->largest, tally->smallest);
}

static void json_begin(const struct tally *tally)
{
    (void)tally;
    putchar('[');
}

static void json_chunk(const struct tally *tally, const struct chunk *chunk)
{
    printf("%s{\"worker\":%u,\"first\":%" PRIu64 ",\"count\":%" PRIu64 "}", tally->chunks == 1 ? "\n" : ",\n",
           chunk->worker, chunk->first, chunk->count);
}

static void json_end(const struct tally *tally)
{
    puts(tally->chunks == 0 ? "]" : "\n]");
}

static void csv_begin(const struct tally *tally)
{
    (void)tally;
    puts("chunk,worker,first,count");
}

static void csv_chunk(const struct tally *tally, const struct chunk *chunk)
{
    printf("%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64 "\n", tally->chunks, chunk->worker, chunk->first, chunk->count);
}

static void csv_end(const struct tally *tally)
{
    (void)tally;
}

static const struct chunk_writer writers[] = {
    {"text", text_begin, text_chunk, text_end},
    {"json", json_begin, json_chunk, json_end},
    {"csv", csv_begin, csv_chunk, csv_end},
};

const struct chunk_writer *chunk_writer_find(const char *name)
{
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (strcmp(writers[i].name, name) == 0)
            return &writers[i];
    return NULL;
}

static void count_chunk(struct tally *tally, uint64_t count)
{
    if (tally->chunks == 0 || count > tally->largest)
        tally->largest = count;
    if (tally->chunks == 0 || count < tally->smallest)
        tally->smallest = count;
    tally->chunks++;
}

static int width_of(const char *heading, uint64_t largest)
{
    int digits = snprintf(NULL, 0, "%" PRIu64, largest), letters = (int)strlen(heading);
    return digits > letters ? digits : letters;
}

bool chunk_writer_run(const struct chunk_writer *writer, struct series *series)
{
    struct tally tally = {.width = width_of("chunk", series->sched.iterations),
                          .worker_width = width_of("worker", series->sched.workers)};
    struct chunk chunk;
    writer->begin(&tally);
    while (!ferror(stdout) && series_next(series, &chunk)) {
        count_chunk(&tally, chunk.count);
        writer->chunk(&tally, &chunk);
    }
    writer->end(&tally);
    return fflush(stdout) == 0 && !ferror(stdout);
}
