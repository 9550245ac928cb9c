/* SPDX-License-Identifier: MIT */
/* A kernel for the tests of loops that grow: an iteration yields its line of a file, which somebody still writes until
 * its last line is `\.`. */
#include <hdss/kernel.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST, SLEEP_US, SHRINKS_AT, AFTER };

static const struct hdss_param params[] = {
    {"list", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file", "file of lines"},
    {"sleep", HDSS_PARAM_INTEGER, "0", 0, 1e9, NULL, "us", "time of each"},
    {"shrinks_at", HDSS_PARAM_INTEGER, "0", 0, 1e9, NULL, "", "of so many lines one is forgotten; 0: never"},
    {"after", HDSS_PARAM_INTEGER, "0", 0, 1e9, NULL, "", "each line waits for the one so many before it; 0: for none"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

/* The lines of the file, each with its end; false behind the last that is complete. */
struct reader {
    FILE *file;
    char *line;
    size_t room;
    int is_complete; /* the last line was the end of the list */
};

static int next_line(struct reader *reader)
{
    ssize_t length = getline(&reader->line, &reader->room, reader->file);
    reader->is_complete = length > 0 && strcmp(reader->line, "\\.\n") == 0;
    return length > 0 && reader->line[length - 1] == '\n' && !reader->is_complete;
}

static int open_list(struct reader *reader, const char *path, char error[HDSS_ERROR_MAX])
{
    *reader = (struct reader){.file = fopen(path, "re")};
    if (reader->file == NULL)
        snprintf(error, HDSS_ERROR_MAX, "list=%.300s: cannot be read", path);
    return reader->file != NULL ? 0 : -1;
}

static void close_list(struct reader *reader)
{
    fclose(reader->file);
    free(reader->line);
}

static int grow(const union hdss_value *values, uint64_t *iterations, char error[HDSS_ERROR_MAX])
{
    struct reader reader;
    if (open_list(&reader, values[LIST].text, error) < 0)
        return -1;
    *iterations = 0;
    while (next_line(&reader))
        ++*iterations;
    if (values[SHRINKS_AT].integer > 0 && (uint64_t)values[SHRINKS_AT].integer <= *iterations)
        *iterations = 1;
    close_list(&reader);
    return !reader.is_complete;
}

static int inputs(const union hdss_value *values, uint64_t iterations, uint64_t *digest, char error[HDSS_ERROR_MAX])
{
    struct reader reader;
    if (open_list(&reader, values[LIST].text, error) < 0)
        return -1;
    *digest = 14695981039346656037u;
    for (uint64_t i = 0; i < iterations && next_line(&reader); i++)
        for (const char *c = reader.line; *c != '\0'; c++)
            *digest = (*digest ^ (unsigned char)*c) * 1099511628211u;
    close_list(&reader);
    return 0;
}

static int precedence(const union hdss_value *values, struct hdss_precedence *calls, char error[HDSS_ERROR_MAX])
{
    uint64_t iterations = 0, after = (uint64_t)values[AFTER].integer;
    if (grow(values, &iterations, error) < 0)
        return -1;
    for (uint64_t i = after; after > 0 && i < iterations; i++)
        if (calls->waits(calls, i, i - after) < 0)
            return -1;
    return 0;
}

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    int more = grow(values, &loop->iterations, error);
    loop->grows = more > 0;
    loop->are_tasks = true;
    loop->inputs = 1;
    loop->streams = 1;
    loop->stream[0].ending = "";
    return more < 0 ? -1 : 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker, (void)error;
    *instance = (void *)values;
    return 0;
}

static int run(void *instance, uint64_t first, uint64_t count, struct hdss_output *output, char error[HDSS_ERROR_MAX])
{
    const union hdss_value *values = instance;
    struct reader reader;
    int result = 0;
    if (open_list(&reader, values[LIST].text, error) < 0)
        return -1;
    for (uint64_t i = 0; i < first + count && result == 0; i++) {
        if (!next_line(&reader)) {
            snprintf(error, HDSS_ERROR_MAX, "line %" PRIu64 " is not there", i + 1);
            result = -1;
        } else if (i >= first) {
            usleep((useconds_t)values[SLEEP_US].integer);
            result = output->put(output, i, 0, reader.line, strlen(reader.line));
        }
    }
    close_list(&reader);
    return result;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "growing",
    .version = "1",
    .summary = "lines of a file that is still being written",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run_variable = run,
    .grow = grow,
    .precedence = precedence,
#ifndef GROWING_FORGETS
    .inputs = inputs,
#endif
};
