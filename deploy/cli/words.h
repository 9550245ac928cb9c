/* SPDX-License-Identifier: MIT */
/* Joins the words of a command to a line, which the kernel `exec` splits again for each task. */
#pragma once

#include <stdbool.h>

struct words_options {
    const char *place;
    bool quotes;
    bool operators; /* a word such as '|' is an operator, so the line needs a shell */
    bool joined;
};

/* A single word is a whole line. Otherwise each word is quoted if needed, except for operators. The caller frees the
 * line. Returns NULL if memory runs out. */
char *words_line(char *const *words, int count, const struct words_options *options);
