/* SPDX-License-Identifier: MIT */
/* Follows how a shell reads a line: its quotes and nested substitutions. A value that is inserted into a command line
 * must be quoted for its place; otherwise the shell could execute the value. At some places nothing can be inserted,
 * because the state is unknown: in here-documents, in substitutions with quoting rules of their own, and after text
 * that shells read differently or that only a full parser understands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NESTING_MAX 16

/* NESTING_BRACKETS: $[..], or the subscript of an assignment. */
enum nesting_kind {
    NESTING_LINE,
    NESTING_COMMAND,
    NESTING_ARITHMETIC,
    NESTING_BRACKETS,
    NESTING_BRACES,
    NESTING_BACKTICKS
};
/* NESTING_ANSI: in $'..'. NESTING_NUMBER: in arithmetic. NESTING_COMMENT: in a comment, which ends at a newline; a
 * value there must not contain a newline. */
enum nesting_place {
    NESTING_PLAIN,
    NESTING_SINGLE,
    NESTING_DOUBLE,
    NESTING_ANSI,
    NESTING_NUMBER,
    NESTING_COMMENT,
    NESTING_NOWHERE
};
enum nesting_case { NESTING_NO_CASE, NESTING_CASE, NESTING_CASE_IN };

struct nesting_level {
    enum nesting_kind kind;
    enum nesting_place quotes;
    bool within_double;
    /* number of open parentheses at this level; for NESTING_BRACKETS, open brackets count as well */
    unsigned parentheses;
    enum nesting_case of_case;
};

struct nesting {
    struct nesting_level level[NESTING_MAX];
    unsigned depth;
    char before;
    char solid;
    bool is_large;
    bool is_fish; /* within single quotes a backslash escapes a backslash and a quote */
    bool in_name;
    bool in_comment, in_document;
    bool begins_document;
    bool is_lost;
};

/* The text begins at the beginning of a line. `is_large`: the shell knows ((..)), $[..] and $'..', as bash does. */
void nesting_init(struct nesting *nesting, bool is_large);

size_t nesting_read(struct nesting *nesting, const char *text, size_t length);

enum nesting_place nesting_place(const struct nesting *nesting);
