/* SPDX-License-Identifier: MIT */
/* Joins the words of a command to a line, which the kernel `exec` parses for each task. */
#pragma once

#include <stdbool.h>

struct words_options {
    const char *place; /* string for {} in the words; NULL: {} */
    bool quotes;       /* keep each word, even a single one */
    bool operators;    /* a word that is a shell operator, such as '|', makes the line one for a shell */
    bool joined;       /* join the words with blanks for a shell */
};

/* A single word is a whole line; several words stay words, except for operators. NULL if memory runs out; the caller
 * frees the line. */
char *words_line(char *const *words, int count, const struct words_options *options);
