/* SPDX-License-Identifier: MIT */
/* A list of words: a command line that is being put together. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct words {
    char **items; /* owned, as are the words; a NULL follows the last */
    unsigned count, capacity;
    bool failed; /* memory was out; further additions do nothing */
};

void words_fini(struct words *words);
void words_add(struct words *words, const char *word);
void words_add_format(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Each of the words in `text`, which blanks separate. */
void words_add_split(struct words *words, const char *text);
void words_add_all(struct words *words, const struct words *others);
/* Inserts a word before the one at `place`, which is at most `count`. */
void words_insert(struct words *words, unsigned place, const char *word);
bool words_contain(const struct words *words, const char *word);

/* Writes them as a shell reads them back, with a newline. */
void words_print(const struct words *words, FILE *file);
