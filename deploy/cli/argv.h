/* SPDX-License-Identifier: MIT */
/* A list of words: a command line that is being put together. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct argv {
    char **items; /* owned, as are the words; a NULL follows the last */
    unsigned count, capacity;
    bool failed; /* memory was out; further additions do nothing */
};

void argv_fini(struct argv *words);
void argv_add(struct argv *words, const char *word);
void argv_add_format(struct argv *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds each of the words in `text`, which blanks separate. */
void argv_add_split(struct argv *words, const char *text);
void argv_add_all(struct argv *words, const struct argv *others);
/* Inserts a word before the one at `place`, which is at most `count`. */
void argv_insert(struct argv *words, unsigned place, const char *word);
bool argv_contain(const struct argv *words, const char *word);

/* The words as a shell reads them back, which the caller frees; NULL without memory. */
char *argv_text(const struct argv *words);

/* Writes them so, with a newline. */
void argv_print(const struct argv *words, FILE *file);
