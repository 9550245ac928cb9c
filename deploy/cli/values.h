/* SPDX-License-Identifier: MIT */
/* The values of a file, or of standard input: what a delimiter ends, one after the other. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest value: no command can be longer. */
#define VALUES_BYTES_MAX (2u << 20)

struct values {
    const char *path; /* borrowed; "-": standard input */
    char delimiter;
    int file;
    char *buffer; /* owned */
    size_t capacity, begin, end;
    size_t looked;   /* bytes behind `begin` among which there is no delimiter */
    uint64_t number; /* number of the value that was read last, from 1 */
    bool is_read;    /* the end of the file is reached */
};

enum values_result { VALUES_END = 0, VALUES_ONE = 1, VALUES_NOT_YET = 2 };

/* Opens the file. -1 with one line, and nothing owned. */
int values_open(struct values *values, const char *path, char delimiter, struct error *error);
void values_close(struct values *values);

/* Returns one of enum values_result, or -1 with one line; with VALUES_ONE the next value, which a NUL ends, and which
 * is valid until the next call. VALUES_NOT_YET only where `waits` is false: there is nothing at the moment. */
int values_next(struct values *values, bool waits, const char **text, size_t *length, struct error *error);
