/* SPDX-License-Identifier: MIT */
/* Output of running tasks, for display before they end: whole lines, as fragments of the streams.
 *
 * A worker appends fragments to files of its own in a folder, named RANK-NUMBER, each after a head line:
 *     TASK BEGAN STREAM OFFSET LENGTH
 *
 * TASK counts from 0; BEGAN, in milliseconds since 1970, distinguishes tries; OFFSET is the position in the stream. The
 * fragments of a try are in one file, in order. Files are only appended to, and a long one is followed by a new one, so
 * a reader may remove a file that has a successor. Write errors are ignored, because the complete output follows at the
 * end of the task. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fragment {
    uint64_t task, began_ms;
    unsigned stream; /* 0 or 1 */
    uint64_t offset, length;
};

/* Size of a head with newline and NUL. */
#define FRAGMENT_HEAD_MAX 96

/* Parses the head at the beginning of the bytes; returns its length. 0: incomplete or invalid. */
size_t fragment_read(struct fragment *fragment, const char *bytes, size_t count);

struct fragments {
    char folder[PATH_MAX]; /* empty: nothing is written */
    unsigned rank, number;
    int file;       /* -1: none */
    uint64_t bytes; /* size of the file */
    uint64_t task, began_ms;
};

void fragments_init(struct fragments *fragments, const char *folder, unsigned rank);
void fragments_fini(struct fragments *fragments);

static inline bool fragments_are_wanted(const struct fragments *fragments)
{
    return fragments->folder[0] != '\0';
}

/* Adds a fragment; after a failure no more are added. */
void fragments_add(struct fragments *fragments, const struct fragment *fragment, const char *bytes);
