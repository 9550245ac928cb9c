/* SPDX-License-Identifier: MIT */
/* Tracks the state of a shell reading a command line: its quotes and nested substitutions. A value inserted at a place
 * must be quoted for that state, or it would be executed. Here-documents and substitutions with special quoting rules
 * are detected, so that nothing is inserted there. In $(..) the patterns of `case` are expected to have both
 * parentheses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NESTING_MAX 16

enum nesting_kind { NESTING_LINE, NESTING_COMMAND, NESTING_ARITHMETIC, NESTING_BRACES, NESTING_BACKTICKS };
enum nesting_place { NESTING_PLAIN, NESTING_SINGLE, NESTING_DOUBLE, NESTING_NUMBER, NESTING_NOWHERE };

struct nesting_level {
    enum nesting_kind kind;
    enum nesting_place quotes;
    bool within_double;   /* inside double quotes */
    unsigned parentheses; /* open in this level */
};

struct nesting {
    struct nesting_level level[NESTING_MAX];
    unsigned depth; /* current level */
    char before;    /* previous character */
    bool in_comment, in_document;
    bool begins_document; /* a here-document begins at the next line */
    bool is_lost;         /* nested too deeply */
};

/* At the beginning of a line. */
void nesting_init(struct nesting *nesting);

/* Reads the token at `text` (`length` >= 1); returns its length. */
size_t nesting_read(struct nesting *nesting, const char *text, size_t length);

/* How the shell reads what comes next. NESTING_NUMBER: as part of arithmetic. */
enum nesting_place nesting_place(const struct nesting *nesting);
