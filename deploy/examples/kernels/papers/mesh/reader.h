/* SPDX-License-Identifier: MIT */
/* Reads words and numbers of a text, and counts lines. Only for deploy/examples/kernels/papers/mesh. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_WORD_MAX 64

struct reader {
    const char *bytes;
    size_t size, at;
    size_t line;
    bool is_binary;
    bool has_comments;
    bool has_continuation;
    struct error *error;
};

void reader_init(struct reader *reader, const char *bytes, size_t size, struct error *error);

/* Reads the next word of the line, truncated to READER_WORD_MAX. At the end of the line returns false, and stays in
 * this line. */
bool reader_word(struct reader *reader, char word[READER_WORD_MAX]);

bool reader_any_word(struct reader *reader, char word[READER_WORD_MAX]);

bool reader_next_line(struct reader *reader);

static inline size_t reader_left(const struct reader *reader)
{
    return reader->size - reader->at;
}

int reader_refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

int reader_coordinate(const struct reader *reader, const char *word, double *value);

int reader_vector(struct reader *reader, const char *what, double vector[3]);

/* Reads a number of items from `word`. An item takes `least` bytes or more. Fails if this number of items does not fit
 * in the rest of the text. */
int reader_count(const struct reader *reader, const char *word, const char *what, size_t least, size_t *count);

int reader_check_coordinate(const struct reader *reader, double value);
