/* SPDX-License-Identifier: MIT */
/* Verification: a share of the results is computed a second time by another worker and compared.
 *
 * Parts are verified. A part is those iterations of a chunk whose results arrived in one message. So a part is short,
 * and its digest is known. Its first iteration and the seed decide whether it is selected. A stored part that is
 * selected is held back: it is reported as done only after a second worker has computed the same digest. If the two
 * digests differ, a third worker computes the part, and the third results replace the first. If two of the three
 * digests agree, the worker with the other digest is wrong. If a part is held back when the run ends, a resumed run
 * computes it again.
 *
 * If no other worker can compute a part, it is reported as done and counted as unverified. */
#pragma once

#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERIFY_NONE UINT32_MAX

/* If the worker of a second or third computation dies or hangs, another worker must repeat the computation. After this
 * many such losses the part is not verified. */
#define VERIFY_TRIES_MAX 3

/* A part that must be computed again: one worker has sent results for it, or two workers have sent different results.
 * Workers are named by index. */
struct verification {
    struct range range;
    uint64_t digest[2];
    uint64_t sum;
    uint64_t seen;
    uint32_t worker[2];
    uint32_t verifier; /* the worker that computes the part at present; VERIFY_NONE: the part waits in a queue */
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
    /* index in `worker` (0 or 1) of the worker whose digest differs from the digests of both other workers; -1: there
     * is no such worker */
    int wrong;
};

struct verify {
    bool on;
    struct verification *list; /* [count] owned; `unused` is the index of the first entry that is not used */
    uint32_t count, unused;
    size_t capacity;
    /* [workers + 1] owned. Queue w has the parts that worker w was the first to compute. The last queue has three kinds
     * of parts: those with two different results, those that need a child process, and those whose second or third
     * computation was lost. */
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
