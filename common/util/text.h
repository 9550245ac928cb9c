/* SPDX-License-Identifier: MIT */
/* Text that grows as it is written, for what is too long for a fixed buffer: help pages, summaries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* owned, NUL-terminated once something was added */
    size_t length, capacity;
    bool failed; /* memory was out; further additions do nothing */
};

void text_init(struct text *text);
void text_fini(struct text *text);

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `count` times the string `piece`. */
void text_repeat(struct text *text, const char *piece, size_t count);

/* A word from outside as plain() shows it, cut after `most` characters. */
void text_add_plain(struct text *text, const char *word, unsigned most);

/* A word in quotes, as a POSIX shell reads it back. */
void text_add_quoted(struct text *text, const char *word);

/* A word as it is, where a POSIX shell takes it so, else in quotes. */
void text_add_word(struct text *text, const char *word);

/* The text, which the caller frees; `text` is empty afterwards. NULL when memory was out. */
char *text_take(struct text *text);
