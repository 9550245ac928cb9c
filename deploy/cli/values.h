/* SPDX-License-Identifier: MIT */
/* Reads the values of a file or of standard input. A delimiter separates them. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of a value: no command can be longer. */
#define VALUES_BYTES_MAX (2u << 20)

struct values {
    const char *path;
    char delimiter;
    int file;
    char *buffer;
    size_t capacity, begin, end;
    size_t looked; /* how many bytes from `begin` on are known to have no delimiter */
    uint64_t number;
    bool is_read;
};

enum values_result { VALUES_END = 0, VALUES_ONE = 1, VALUES_NOT_YET = 2 };

int values_open(struct values *values, const char *path, char delimiter, struct error *error);
void values_close(struct values *values);

/* Returns an enum values_result or -1. VALUES_ONE: `text` is the next value, which ends with NUL and is valid until the
 * next call. VALUES_NOT_YET is returned only if `waits` is false and there is no input yet. */
int values_next(struct values *values, bool waits, const char **text, size_t *length, struct error *error);
