/* SPDX-License-Identifier: MIT */
/* The lines of a file by their number, without having the file in memory.
 *
 * One pass finds where every LINES_BLOCK-th line begins and what the bytes from one to the next are, so that a million
 * lines take some 400 KiB. Each block is compared with that when it is read again: a file that is changed while it is
 * used is noticed, and never read as if it were not. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_BLOCK 64
/* The longest line: no command can be longer. */
#define LINE_MAX_BYTES (2u << 20)

enum lines_kind {
    LINES_OF_TASKS, /* empty ones, and those that begin with #, are left out */
    LINES_OF_TABLE, /* empty ones are left out */
    LINES_OF_LIST,  /* none is left out; those without a line end are not there yet, and LINES_END is none */
};

/* The last line of a list: no more will come. */
#define LINES_END "\\.\n"

struct lines_block {
    uint64_t offset; /* offset of its first line */
    uint64_t number; /* number of that line in the file, from 1 */
    uint64_t digest; /* digest of its bytes */
};

struct lines {
    const char *path; /* borrowed */
    enum lines_kind kind;
    int file;
    uint64_t count;             /* lines that are not left out */
    uint64_t bytes;             /* bytes of the file; of a list up to where its lines end so far */
    uint64_t digest;            /* digest of all that is of concern, when it was opened */
    bool is_complete;           /* of a list: LINES_END is there */
    struct lines_block *blocks; /* owned */
    size_t block_count, block_room;
    char *text; /* the block that was read last; owned */
    size_t text_room;
    size_t at; /* index of the block that was read last; SIZE_MAX: none */
    size_t starts[LINES_BLOCK], lengths[LINES_BLOCK];
    uint64_t numbers[LINES_BLOCK];
};

/* Opens the file and looks through it. -1 with one line that names the file, and nothing owned. */
int lines_open(struct lines *lines, const char *path, enum lines_kind kind, struct error *error);
void lines_close(struct lines *lines);

/* Takes in the lines that were added to a list since; there may be none. What was there before must be as it was. -1
 * with one line that names the file. */
int lines_extend(struct lines *lines, struct error *error);

/* Opens the file anew, as a network's file system shows only then what another machine has added. */
void lines_reopen(struct lines *lines);

/* A digest of the first `count` lines, which is the same when lines are added behind them. -1 with one line that names
 * the file. */
int lines_digest(struct lines *lines, uint64_t count, uint64_t *digest, struct error *error);

struct line {
    const char *text; /* not ended by NUL; valid until the next call */
    size_t length;    /* without the line end */
    uint64_t number;  /* in the file, from 1 */
};

/* Line i < count. -1 with one line that names the file. */
int lines_get(struct lines *lines, uint64_t i, struct line *line, struct error *error);
