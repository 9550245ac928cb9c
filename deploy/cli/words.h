/* SPDX-License-Identifier: MIT */
/* The words of a command as one line, which the kernel `exec` reads for each task. */
#pragma once

#include <stdbool.h>

struct words_options {
    const char *place; /* what stands for {} in the words; NULL: {} */
    bool quotes;       /* each word stays as it is, also if it is the only one */
    bool operators;    /* a word that is an operator of a shell, such as '|', makes the line one for a shell */
    bool joined;       /* the words are joined with blanks, for a shell to read */
};

/* A single word is a line that the user has written. Several words stay words, whatever is in them, but for
 * operators. NULL if memory is out; the caller frees the line. */
char *words_line(char *const *words, int count, const struct words_options *options);
