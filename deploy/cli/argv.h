/* SPDX-License-Identifier: MIT */
/* A list of words, to compose command lines. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct argv {
    char **items;
    unsigned count, capacity;
    bool failed; /* set if memory runs out; then nothing is added any more */
};

void argv_fini(struct argv *words);
void argv_add(struct argv *words, const char *word);
void argv_add_format(struct argv *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

void argv_add_split(struct argv *words, const char *text);
void argv_add_all(struct argv *words, const struct argv *others);
void argv_insert(struct argv *words, unsigned place, const char *word);
bool argv_contain(const struct argv *words, const char *word);

/* Returns the words, quoted for a shell; the caller frees the text. NULL if memory runs out. */
char *argv_text(const struct argv *words);

void argv_print(const struct argv *words, FILE *file);
