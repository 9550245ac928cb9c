/* SPDX-License-Identifier: MIT */
/* Gives access to the lines of a file by number, without keeping the file in memory.
 *
 * One pass records the position and the digest of each block of LINES_BLOCK lines; for a million lines that takes some
 * 400 KiB. A block that is read later is compared with its digest, so changes of the file are noticed. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_BLOCK 64
/* Limit of a line: no command can be longer. */
#define LINE_MAX_BYTES (2u << 20)

enum lines_kind {
    LINES_OF_TASKS, /* skips empty lines and those that begin with # */
    LINES_OF_TABLE,
    LINES_OF_CSV,  /* like LINES_OF_TABLE, but a newline within quotes does not end the line */
    LINES_OF_LIST, /* skips nothing; an incomplete line and LINES_END do not count */
};

#define LINES_END "\\.\n"

struct lines_block {
    uint64_t offset;
    uint64_t number;
    uint64_t digest;
};

struct lines {
    const char *path;
    enum lines_kind kind;
    int file;
    uint64_t count;
    uint64_t bytes; /* size of the file; for a list, only up to the end of its last complete line */
    uint64_t digest;
    bool is_complete;
    struct lines_block *blocks;
    size_t block_count, block_room;
    char *text;
    size_t text_room;
    size_t at; /* index of the block in memory; SIZE_MAX: none */
    size_t starts[LINES_BLOCK], lengths[LINES_BLOCK];
    uint64_t numbers[LINES_BLOCK];
};

/* Opens the file and reads it once. Errors name the file. On failure nothing is owned. */
int lines_open(struct lines *lines, const char *path, enum lines_kind kind, struct error *error);
void lines_close(struct lines *lines);

/* Reads lines that were added to a list. Fails if earlier lines have changed. */
int lines_extend(struct lines *lines, struct error *error);

/* Opens the file again: some network file systems do not show lines from other machines before that. */
void lines_reopen(struct lines *lines);

/* Digest of the first `count` lines; later lines do not change it. */
int lines_digest(struct lines *lines, uint64_t count, uint64_t *digest, struct error *error);

struct line {
    const char *text; /* without NUL; valid until the next call */
    size_t length;
    uint64_t number;
};

int lines_get(struct lines *lines, uint64_t i, struct line *line, struct error *error);
