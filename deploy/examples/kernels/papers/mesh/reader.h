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
    size_t line;    /* line of the byte at `at`, from 1 */
    bool is_binary; /* errors name the byte instead of the line */
    bool has_comments;
    bool has_continuation; /* a \ at the end continues the line */
    struct error *error;
};

void reader_init(struct reader *reader, const char *bytes, size_t size, struct error *error);

/* Reads the next word of the line, cut off at READER_WORD_MAX. Returns false at the end of the line, and does not go
 * on to the next. */
bool reader_word(struct reader *reader, char word[READER_WORD_MAX]);

/* Reads the next word, of this line or a later one. Returns false at the end of the text. */
bool reader_any_word(struct reader *reader, char word[READER_WORD_MAX]);

bool reader_next_line(struct reader *reader);

static inline size_t reader_left(const struct reader *reader)
{
    return reader->size - reader->at;
}

/* Sets the error "line 7: ..." or "byte 1234: ...", and returns -1. */
int reader_refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

int reader_coordinate(const struct reader *reader, const char *word, double *value);

/* Reads three coordinates of this line. `what`: what errors call them. */
int reader_vector(struct reader *reader, const char *what, double vector[3]);

/* A number of things, each of which takes `least` bytes. Fails if so many cannot be in the rest of the text. */
int reader_count(const struct reader *reader, const char *word, const char *what, size_t least, size_t *count);

int reader_check_coordinate(const struct reader *reader, double value);
