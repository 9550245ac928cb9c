/* SPDX-License-Identifier: MIT */
/* Fragments of the output of running tasks, so that it can be shown before the tasks end. A fragment consists of whole
 * lines of a stream.
 *
 * A worker appends fragments to its own files in a folder. The files are named RANK-NUMBER. Each fragment has a head
 * line:
 *     TASK BEGAN STREAM OFFSET LENGTH
 *
 * TASK counts from 0; BEGAN, in milliseconds since 1970, distinguishes tries; OFFSET is the position in the stream. All
 * fragments of a try are in one file, in order. A new file begins after a long one. Only the newest file grows, so a
 * reader may remove the older files. Write errors are ignored, because the complete output follows after the task. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fragment {
    uint64_t task, began_ms;
    unsigned stream;
    uint64_t offset, length;
};

#define FRAGMENT_HEAD_MAX 96

/* Parses the head at the beginning of `bytes` and returns its length; 0: the head is incomplete or invalid. */
size_t fragment_read(struct fragment *fragment, const char *bytes, size_t count);

struct fragments {
    char folder[PATH_MAX];
    unsigned rank, number;
    int file;
    uint64_t bytes;
    uint64_t task, began_ms;
};

void fragments_init(struct fragments *fragments, const char *folder, unsigned rank);
void fragments_fini(struct fragments *fragments);

static inline bool fragments_are_wanted(const struct fragments *fragments)
{
    return fragments->folder[0] != '\0';
}

void fragments_add(struct fragments *fragments, const struct fragment *fragment, const char *bytes);
