/* SPDX-License-Identifier: MIT */
/* The words of a text, with the line that each stands in, and their numbers. Inside deploy/examples/kernels/papers/mesh
 * only. */
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
    bool is_binary;        /* errors name the byte rather than the line */
    bool has_comments;     /* from # to the line's end */
    bool has_continuation; /* \ before a line's end: it goes on with the next one */
    struct error *error;
};

void reader_init(struct reader *reader, const char *bytes, size_t size, struct error *error);

/* The next word of the line, cut at READER_WORD_MAX; false at the line's end, where the reader then stands. */
bool reader_word(struct reader *reader, char word[READER_WORD_MAX]);

/* The next word, in this line or a later one; false at the end of the text. */
bool reader_any_word(struct reader *reader, char word[READER_WORD_MAX]);

/* Goes to the beginning of the next line; false where there is none. */
bool reader_next_line(struct reader *reader);

static inline size_t reader_left(const struct reader *reader)
{
    return reader->size - reader->at;
}

/* Sets "line 7: ..." or "byte 1234: ..." and returns -1. */
int reader_refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A coordinate. -1 with the line set. */
int reader_coordinate(const struct reader *reader, const char *word, double *value);

/* Three coordinates, words of this line. `what` they are is for the line that is set with -1. */
int reader_vector(struct reader *reader, const char *what, double vector[3]);

/* A count of things that take at least `least` bytes each: no more than fit what is left. -1 with the line set. */
int reader_count(const struct reader *reader, const char *word, const char *what, size_t least, size_t *count);

/* Checks whether what was read as binary can be a coordinate. -1 with the line set. */
int reader_check_coordinate(const struct reader *reader, double value);
