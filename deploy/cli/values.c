/* SPDX-License-Identifier: MIT */
/* Reads the values of a file: see values.h. */
#include "deploy/cli/values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16 };

static bool is_standard_input(const struct values *values)
{
    return strcmp(values->path, "-") == 0;
}

static const char *values_name(const struct values *values)
{
    return is_standard_input(values) ? "standard input" : values->path;
}

int values_open(struct values *values, const char *path, char delimiter, struct error *error)
{
    struct stat status;
    *values = (struct values){.path = path, .delimiter = delimiter, .file = STDIN_FILENO};
    if (!is_standard_input(values))
        values->file = open(path, O_RDONLY | O_CLOEXEC);
    if (values->file < 0 || fstat(values->file, &status) < 0)
        return error_set(error, "%.300s: %s", values_name(values), strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return 0;
    values_close(values);
    return error_set(error, "%.300s is a folder; accepted: a file with an argument on each line", path);
}

void values_close(struct values *values)
{
    if (values->file > STDIN_FILENO)
        close(values->file);
    free(values->buffer);
    *values = (struct values){.file = -1};
}

static int values_make_room(struct values *values, struct error *error)
{
    if (values->begin > 0) {
        memmove(values->buffer, values->buffer + values->begin, values->end - values->begin);
        values->end -= values->begin;
        values->begin = 0;
    }
    if (values->end > VALUES_BYTES_MAX)
        return error_set(error, "%.300s: argument %" PRIu64 " is longer than %u bytes", values_name(values),
                         values->number + 1, VALUES_BYTES_MAX);
    if (values->capacity > values->end + READ_BYTES)
        return 0;
    size_t capacity = 2 * values->end + 2 * READ_BYTES;
    char *buffer = realloc(values->buffer, capacity);
    if (buffer == NULL)
        return error_set(error, "out of memory for an argument of %zu bytes", values->end);
    values->buffer = buffer;
    values->capacity = capacity;
    return 0;
}

static bool has_something(const struct values *values)
{
    struct pollfd polled = {.fd = values->file, .events = POLLIN};
    return poll(&polled, 1, 0) != 0;
}

static int values_read(struct values *values, bool waits, struct error *error)
{
    ssize_t count;
    if (!waits && !has_something(values))
        return VALUES_NOT_YET;
    if (values_make_room(values, error) < 0)
        return -1;
    do
        count = read(values->file, values->buffer + values->end, values->capacity - values->end - 1);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return error_set(error, "%.300s: %s", values_name(values), strerror(errno));
    values->end += (size_t)count;
    values->is_read = count == 0;
    return values->is_read ? VALUES_END : VALUES_ONE;
}

static int values_take(struct values *values, size_t length, const char **text, size_t *taken, struct error *error)
{
    *text = values->buffer + values->begin;
    *taken = length;
    values->buffer[values->begin + length] = '\0';
    values->begin += length + (values->begin + length < values->end);
    values->looked = 0;
    values->number++;
    if (memchr(*text, '\0', length) == NULL)
        return VALUES_ONE;
    return error_set(error,
                     "%.300s: argument %" PRIu64 " has a NUL byte; accepted: -0 where NUL bytes end the arguments",
                     values_name(values), values->number);
}

int values_next(struct values *values, bool waits, const char **text, size_t *length, struct error *error)
{
    for (;;) {
        const size_t unused = values->end - values->begin;
        const char *from = unused > 0 ? values->buffer + values->begin : NULL;
        const char *end =
            unused > values->looked ? memchr(from + values->looked, values->delimiter, unused - values->looked) : NULL;
        if (end != NULL)
            return values_take(values, (size_t)(end - from), text, length, error);
        values->looked = unused;
        if (values->is_read)
            return unused > 0 ? values_take(values, unused, text, length, error) : VALUES_END;
        int result = values_read(values, waits, error);
        if (result < 0 || result == VALUES_NOT_YET)
            return result;
    }
}
