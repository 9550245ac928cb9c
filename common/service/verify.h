/* SPDX-License-Identifier: MIT */
/* Verification: a share of the results is computed a second time by another worker and compared.
 *
 * The unit is a part: iterations of a chunk whose results arrived together. So its digest is known, and it is never
 * long. Whether a part is selected follows from its first iteration and the seed. A stored part that is selected is
 * held back: it is reported as done only after a second worker has computed the same digest. If the digests differ, a
 * third worker computes the part, and its results replace the first ones; if two digests agree, the worker with the
 * other digest is wrong. A resumed run computes again what was still held back.
 *
 * If no other worker can compute a part, it is reported as done and counted as unverified. */
#pragma once

#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERIFY_NONE UINT32_MAX

/* A second or third computation is given up after it was lost this many times because its worker died or hung. */
#define VERIFY_TRIES_MAX 3

/* A part with one known result, or with two results that differ. Workers are named by index. */
struct verification {
    struct range range;
    uint64_t digest[2];
    uint64_t sum;
    uint64_t seen;
    uint32_t worker[2];
    uint32_t verifier; /* worker that computes the part; VERIFY_NONE: the part waits in a queue */
    uint32_t chunk;
    uint32_t not_with;
    uint32_t next;
    uint8_t computed;
    uint8_t tries;
    bool with_care;
    bool has_failed;
    bool told;
};

struct verify_queue {
    uint32_t first, last;
};

struct mismatch {
    struct range range;
    unsigned computations;
    uint32_t worker[3];
    int wrong; /* index in `worker`, 0 or 1, of the worker that differs from the two others; -1: no two agree */
};

struct verify {
    bool on;
    struct verification *list; /* [count] entries; `unused` is the index of the first free one; owned */
    uint32_t count, unused;
    size_t capacity;
    /* [workers + 1] for each worker, a queue of the parts that it was the first to compute. The last queue has the
     * parts with two differing results, the parts that need a child process, and the parts whose computation was lost.
     * Owned. */
    struct verify_queue *queues;
    unsigned queued;
    unsigned disputed;
    unsigned turn;
    uint64_t held;
    uint64_t alike, unverified;
    uint64_t close_due_ns;
    struct mismatch *mismatches;
    unsigned mismatch_count, mismatches_taken;
    size_t mismatch_capacity;
};
