/* SPDX-License-Identifier: MIT */
/* Reads words and numbers of a text, with line numbers. Internal interface of deploy/examples/kernels/papers/mesh. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_WORD_MAX 64

struct reader {
    const char *bytes;
    size_t size, at;
    size_t line;           /* line of the byte at `at`, from 1 */
    bool is_binary;        /* errors name the byte instead of the line */
    bool has_comments;     /* # begins a comment */
    bool has_continuation; /* \ at the end of a line continues it */
    struct error *error;
};

void reader_init(struct reader *reader, const char *bytes, size_t size, struct error *error);

/* The next word of the line, truncated to READER_WORD_MAX; false at the end of the line, where the reader stays. */
bool reader_word(struct reader *reader, char word[READER_WORD_MAX]);

/* The next word, in this line or a later one; false at the end of the text. */
bool reader_any_word(struct reader *reader, char word[READER_WORD_MAX]);

/* Skips to the next line; false if there is none. */
bool reader_next_line(struct reader *reader);

static inline size_t reader_left(const struct reader *reader)
{
    return reader->size - reader->at;
}

/* Sets "line 7: ..." or "byte 1234: ..." and returns -1. */
int reader_refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A coordinate. -1 with the line set. */
int reader_coordinate(const struct reader *reader, const char *word, double *value);

/* Three coordinates in this line; `what`: their name, for errors. */
int reader_vector(struct reader *reader, const char *what, double vector[3]);

/* A number of things with at least `least` bytes each, at most as many as fit into the rest. */
int reader_count(const struct reader *reader, const char *word, const char *what, size_t least, size_t *count);

int reader_check_coordinate(const struct reader *reader, double value);
