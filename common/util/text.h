/* SPDX-License-Identifier: MIT */
/* Growing text, for output that is too long for a fixed buffer: help pages, summaries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* the text, with a final NUL after the first addition; owned */
    size_t length, capacity;
    bool failed; /* memory has run out, so further additions do nothing */
};

void text_init(struct text *text);
void text_fini(struct text *text);

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

void text_repeat(struct text *text, const char *piece, size_t count);

void text_add_plain(struct text *text, const char *word, unsigned most);

void text_add_quoted(struct text *text, const char *word);

void text_add_word(struct text *text, const char *word);

/* Returns the text, which the caller frees, and empties `text`. NULL if memory ran out. */
char *text_take(struct text *text);
