/* SPDX-License-Identifier: MIT */
/* Access to the lines of a file by number, without loading the file.
 *
 * One pass records the position and the digest of every block of LINES_BLOCK lines; a million lines take some 400 KiB.
 * A block that is read again is compared with its digest, so a change of the file is detected. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_BLOCK 64
/* Longest line; no command can be longer. */
#define LINE_MAX_BYTES (2u << 20)

enum lines_kind {
    LINES_OF_TASKS, /* empty lines and lines that begin with # are skipped */
    LINES_OF_TABLE, /* empty lines are skipped */
    LINES_OF_CSV,   /* the same; a newline within the quotes of a field does not end the line */
    LINES_OF_LIST,  /* nothing is skipped; a line without its end, and LINES_END, do not count */
};

/* Last line of a complete list. */
#define LINES_END "\\.\n"

struct lines_block {
    uint64_t offset; /* of its first line */
    uint64_t number; /* of that line in the file, from 1 */
    uint64_t digest; /* of its bytes */
};

struct lines {
    const char *path; /* borrowed */
    enum lines_kind kind;
    int file;
    uint64_t count;             /* lines that are not skipped */
    uint64_t bytes;             /* size of the file; of a list: end of its complete lines */
    uint64_t digest;            /* digest of all relevant content when opened */
    bool is_complete;           /* LINES_END was found */
    struct lines_block *blocks; /* owned */
    size_t block_count, block_room;
    char *text; /* latest block read; owned */
    size_t text_room;
    size_t at; /* its index; SIZE_MAX: none */
    size_t starts[LINES_BLOCK], lengths[LINES_BLOCK];
    uint64_t numbers[LINES_BLOCK];
};

/* Opens and scans the file. Errors name the file; nothing is owned then. */
int lines_open(struct lines *lines, const char *path, enum lines_kind kind, struct error *error);
void lines_close(struct lines *lines);

/* Scans lines added to a list. Fails if earlier lines have changed. Errors name the file. */
int lines_extend(struct lines *lines, struct error *error);

/* Opens the file again: a network file system may only then show additions by other machines. */
void lines_reopen(struct lines *lines);

/* Digest of the first `count` lines, unaffected by later lines. Errors name the file. */
int lines_digest(struct lines *lines, uint64_t count, uint64_t *digest, struct error *error);

struct line {
    const char *text; /* no NUL; valid until the next call */
    size_t length;    /* without the line end */
    uint64_t number;  /* in the file, from 1 */
};

/* Line i < count. Errors name the file. */
int lines_get(struct lines *lines, uint64_t i, struct line *line, struct error *error);
