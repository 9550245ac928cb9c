/* SPDX-License-Identifier: MIT */
/* The lines that tasks write while they run, for those who want to see it before they end: whole lines, as fragments of
 * the streams.
 *
 * A worker adds them to files of its own in a folder, named RANK-NUMBER, each behind a head, which is a line:
 *
 *     TASK BEGAN STREAM OFFSET LENGTH
 *
 * TASK counts from 0; BEGAN, milliseconds since 1970, tells one try of it from another; OFFSET is the fragment's place
 * in the stream. The fragments of a try lie in one file, in order. Files are only appended to, and a new one is begun
 * when the last is long: who has read a file that has a successor may remove it. What a worker cannot write there it
 * keeps to itself: the task's output comes whole at its end in any case. */
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

/* Room for a head, with its newline and a NUL. */
#define FRAGMENT_HEAD_MAX 96

/* Reads the head at the beginning of the bytes; returns its length. 0: it is not there yet, or is none. */
size_t fragment_read(struct fragment *fragment, const char *bytes, size_t count);

struct fragments {
    char folder[PATH_MAX]; /* empty: nothing is written */
    unsigned rank, number;
    int file;       /* -1: none is open */
    uint64_t bytes; /* in it */
    uint64_t task, began_ms;
};

void fragments_init(struct fragments *fragments, const char *folder, unsigned rank);
void fragments_fini(struct fragments *fragments);

static inline bool fragments_are_wanted(const struct fragments *fragments)
{
    return fragments->folder[0] != '\0';
}

/* Adds a fragment. Where that fails none is added any more. */
void fragments_add(struct fragments *fragments, const struct fragment *fragment, const char *bytes);
