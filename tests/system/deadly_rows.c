/* SPDX-License-Identifier: MIT */
/* A kernel with dependencies for the tests of isolation: each element of a row follows from the one before it and from
 * some of the rows before, and some rows end the process that computes them. What it needs between two steps of a chunk
 * it keeps in its instance, so that a process that begins in the middle of a chunk fails. */
#include <hdss/kernel.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS, COLUMNS, DISTANCE, REACH, SPIN, AT, EVERY, PLACE, MODE, TIMES, MARKS, COMMAND };

enum { NOTHING, SEGV, EXIT, KILL, FAIL, LOOP, IDLE, RUNS_COMMAND };

static const struct hdss_param params[] = {
    {"rows", HDSS_PARAM_INTEGER, "100", 0, 1e9, NULL, "", "of the loop"},
    {"columns", HDSS_PARAM_INTEGER, "50", 1, 1e9, NULL, "", "elements of a row"},
    {"distance", HDSS_PARAM_INTEGER, "1", 1, 1000, NULL, "", "rows before its own that an element needs"},
    {"reach", HDSS_PARAM_INTEGER, "1", 0, 1000, NULL, "", "elements further along that it needs of them"},
    {"spin", HDSS_PARAM_REAL, "0", 0, 1e9, NULL, "us", "time of an element"},
    {"at", HDSS_PARAM_INTEGER, "-1", -1, 1e12, NULL, "", "the first row that is hostile"},
    {"every", HDSS_PARAM_INTEGER, "1000000000", 1, 1e12, NULL, "", "and each so many behind it"},
    {"place", HDSS_PARAM_INTEGER, "0", 0, 1e9, NULL, "", "the element at which it is"},
    {"mode", HDSS_PARAM_CHOICE, "nothing", 0, 0, "nothing|segv|exit|kill|fail|loop|idle|command", "", "how"},
    {"times", HDSS_PARAM_INTEGER, "1000000", 0, 1e9, NULL, "", "how often a row is hostile"},
    {"marks", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file", "a file that is made with its number and that of the time"},
    {"command", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", "what the mode of that name has a shell do"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

struct rows {
    const union hdss_value *values;
    uint64_t sync, distance, reach;
    uint64_t first, at; /* the chunk that runs, and how far it is */
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->iterations = loop->shape[0] = (uint64_t)values[ROWS].integer;
    loop->record_length = loop->shape[1] = loop->sync = (uint64_t)values[COLUMNS].integer;
    loop->dims = 2;
    loop->type = HDSS_UINT64;
    loop->distance = (uint64_t)values[DISTANCE].integer;
    loop->reach = (uint64_t)values[REACH].integer < loop->sync ? (uint64_t)values[REACH].integer : loop->sync;
    loop->boundary_bytes = loop->distance * sizeof(uint64_t);
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    struct rows *rows = malloc(sizeof *rows);
    (void)worker, (void)error;
    *rows = (struct rows){values, loop->sync, loop->distance, loop->reach, UINT64_MAX, 0};
    *instance = rows;
    return 0;
}

static void close_kernel(void *instance)
{
    free(instance);
}

static void spend(double us)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    long ns = end.tv_nsec + (long)(us * 1000);
    end.tv_sec += ns / 1000000000;
    end.tv_nsec = ns % 1000000000;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (us > 0 && (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec)));
}

/* True as often as the row is hostile, counted over all processes by the files that are there. */
static int is_due(const struct rows *rows, uint64_t row)
{
    char path[400];
    const char *marks = rows->values[MARKS].text;
    if (marks[0] == '\0')
        return 1;
    for (long time = 0; time < rows->values[TIMES].integer; time++) {
        snprintf(path, sizeof path, "%s%llu.%ld", marks, (unsigned long long)row, time);
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (file >= 0) {
            close(file);
            return 1;
        }
    }
    return 0;
}

static int be_hostile(const struct rows *rows, uint64_t row, char error[HDSS_ERROR_MAX])
{
    if (!is_due(rows, row))
        return 0;
    switch (rows->values[MODE].integer) {
    case SEGV:
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
        break;
    case EXIT: exit(7);
    case KILL: kill(getpid(), SIGKILL); break;
    case IDLE: alarm(1); break;
    case RUNS_COMMAND: return system(rows->values[COMMAND].text) == -1 ? -1 : 0;
    case FAIL: snprintf(error, HDSS_ERROR_MAX, "does not like row %llu", (unsigned long long)row); return -1;
    case LOOP:
        for (;;)
            pause();
    default: break;
    }
    return 0;
}

static int is_hostile(const struct rows *rows, uint64_t row, uint64_t element)
{
    const union hdss_value *values = rows->values;
    return values[MODE].integer != NOTHING && values[AT].integer >= 0 && row >= (uint64_t)values[AT].integer &&
           (row - (uint64_t)values[AT].integer) % (uint64_t)values[EVERY].integer == 0 &&
           element == (uint64_t)values[PLACE].integer % rows->sync;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u + (a >> 29);
}

/* Element `s` of the row `back` rows before row `row` of the chunk. */
static uint64_t above(const struct rows *rows, const struct hdss_block *block, uint64_t row, uint64_t back, uint64_t s)
{
    const uint64_t *before = block->before, *records = block->records;
    if (row >= back)
        return records[(row - back) * rows->sync + s];
    return before != NULL ? before[s * rows->distance + rows->distance - (back - row)] : back + s;
}

static int run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    struct rows *rows = instance;
    uint64_t *records = block->records, *after = block->after;
    if (block->from > 0 && (rows->first != block->first || rows->at != block->from)) {
        snprintf(error, HDSS_ERROR_MAX, "goes on in the middle of a chunk that it has not begun");
        return -1;
    }
    for (uint64_t row = 0; row < block->count; row++)
        for (uint64_t s = hdss_block_begin(block, row); s < hdss_block_end(block, row); s++) {
            uint64_t last = s + rows->reach < rows->sync ? s + rows->reach : rows->sync - 1;
            uint64_t value = s > 0 ? records[row * rows->sync + s - 1] : block->first + row;
            if (is_hostile(rows, block->first + row, s) && be_hostile(rows, block->first + row, error) < 0)
                return -1;
            for (uint64_t back = 1; back <= rows->distance; back++)
                value = mix(value, above(rows, block, row, back, last));
            spend(rows->values[SPIN].real);
            records[row * rows->sync + s] = value;
            if (row + rows->distance >= block->count)
                after[s * rows->distance + row + rows->distance - block->count] = value;
        }
    rows->first = block->first;
    rows->at = block->to;
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "deadly-rows",
    .version = "1",
    .summary = "rows that follow from those before, some of which end their process",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run_block = run_block,
    .close = close_kernel,
};
