/* SPDX-License-Identifier: MIT */
/* Tracks the state of a shell that reads a command line: quotes and nested substitutions. A value inserted at a place
 * must be quoted for that state, or it would be executed. Nothing is inserted into here-documents and substitutions
 * with special quoting rules, nor after text that shells parse differently or that needs a full parser: there the state
 * is unknown. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NESTING_MAX 16

/* NESTING_BRACKETS: $[..], and the subscript of an assignment. */
enum nesting_kind {
    NESTING_LINE,
    NESTING_COMMAND,
    NESTING_ARITHMETIC,
    NESTING_BRACKETS,
    NESTING_BRACES,
    NESTING_BACKTICKS
};
/* NESTING_ANSI: in $'..'. */
enum nesting_place {
    NESTING_PLAIN,
    NESTING_SINGLE,
    NESTING_DOUBLE,
    NESTING_ANSI,
    NESTING_NUMBER,
    NESTING_COMMENT,
    NESTING_NOWHERE
};
/* What has been read of `case WORD in`. */
enum nesting_case { NESTING_NO_CASE, NESTING_CASE, NESTING_CASE_IN };

struct nesting_level {
    enum nesting_kind kind;
    enum nesting_place quotes;
    bool within_double;   /* inside double quotes */
    unsigned parentheses; /* open in this level; in NESTING_BRACKETS also brackets */
    enum nesting_case of_case;
};

struct nesting {
    struct nesting_level level[NESTING_MAX];
    unsigned depth; /* current level */
    char before;    /* previous character */
    char solid;     /* previous character that is no blank */
    bool is_large;  /* as given */
    bool is_fish;   /* in single quotes a backslash escapes another one, and a quote */
    bool in_name;   /* only letters, digits and _ since the beginning of the word */
    bool in_comment, in_document;
    bool begins_document; /* a here-document begins at the next line */
    bool is_lost;
};

/* At the beginning of a line. `is_large`: the shell reads ((..)), $[..] and $'..', as bash does. */
void nesting_init(struct nesting *nesting, bool is_large);

/* Reads the token at `text` (`length` >= 1); returns its length. */
size_t nesting_read(struct nesting *nesting, const char *text, size_t length);

/* How the shell reads what comes next. NESTING_NUMBER: as part of arithmetic. NESTING_COMMENT: up to a newline, not. */
enum nesting_place nesting_place(const struct nesting *nesting);
