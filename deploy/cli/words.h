/* SPDX-License-Identifier: MIT */
/* Joins the words of a command to a line, which the kernel `exec` splits again for each task. */
#pragma once

#include <stdbool.h>

struct words_options {
    const char *place; /* what stands for {} in the words; NULL: {} */
    bool quotes;       /* keep each word, even a single one */
    bool operators;    /* a word such as '|' is an operator of a shell, for which the line then is */
    bool joined;
};

/* If there is only one word it is a whole line; otherwise words stay words, except for operators. The caller frees
 * the line. Returns NULL if memory runs out. */
char *words_line(char *const *words, int count, const struct words_options *options);
