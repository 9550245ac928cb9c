/* SPDX-License-Identifier: MIT */
/* The state of a shell while it reads a command line: in which quotes, and in which substitution within which quotes. A
 * text that is put in at a place must be quoted as the shell reads there, else it would be run. Here-documents and
 * substitutions in which quotes have rules of their own are noticed, so that nothing is put in there. In $(..) the
 * patterns of `case` are expected to have both parentheses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NESTING_MAX 16

enum nesting_kind { NESTING_LINE, NESTING_COMMAND, NESTING_ARITHMETIC, NESTING_BRACES, NESTING_BACKTICKS };
enum nesting_place { NESTING_PLAIN, NESTING_SINGLE, NESTING_DOUBLE, NESTING_NUMBER, NESTING_NOWHERE };

struct nesting_level {
    enum nesting_kind kind;
    enum nesting_place quotes; /* NESTING_PLAIN, NESTING_SINGLE or NESTING_DOUBLE */
    bool within_double;        /* the level stands in double quotes */
    unsigned parentheses;      /* open in it */
};

struct nesting {
    struct nesting_level level[NESTING_MAX];
    unsigned depth; /* depth of the level at hand */
    char before;    /* character that was read last */
    bool in_comment, in_document;
    bool begins_document; /* the next line is of a here-document */
    bool is_lost;         /* the line is nested too deeply */
};

/* At the beginning of a line. */
void nesting_init(struct nesting *nesting);

/* Reads what stands at `text`, of which there are `length` bytes, at least one. Returns how many bytes that is. */
size_t nesting_read(struct nesting *nesting, const char *text, size_t length);

/* Tells how the shell reads what comes now. NESTING_NUMBER: as a part of a calculation. */
enum nesting_place nesting_place(const struct nesting *nesting);
