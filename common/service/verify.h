/* SPDX-License-Identifier: MIT */
/* Verification: a share of the results is computed a second time by another worker and compared.
 *
 * The unit is a part of a chunk, as its results arrived, selected by its first iteration and the seed; its digest is
 * known, and it is never long. A stored part that is selected is held back: it is reported as done only after a second
 * worker has computed the same digest. If the digests differ, a third worker computes the part, and its results replace
 * the first ones; the worker that differs from the two others is wrong. A resumed run computes again what was still
 * held back.
 *
 * If no other worker can compute a part, it is reported as done and counted as unverified. */
#pragma once

#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERIFY_NONE UINT32_MAX

/* A second or third computation is not repeated after it was lost this often, because its worker died or hangs. */
#define VERIFY_TRIES_MAX 3

/* A part with one known computation, or two that differ. */
struct verification {
    struct range range;
    uint64_t digest[2]; /* [computed] */
    uint64_t sum;       /* digest of the running computation, so far */
    uint64_t seen;
    uint32_t worker[2]; /* [computed], indices of the workers */
    uint32_t verifier;  /* index of the worker that computes it; VERIFY_NONE: it waits in a queue */
    uint32_t chunk;
    uint32_t not_with; /* last worker that lost it; VERIFY_NONE: none */
    uint32_t next;     /* next in its queue or in the list of unused entries; VERIFY_NONE: last */
    uint8_t computed;  /* 0: unused */
    uint8_t tries;     /* computations that were lost */
    bool with_care;    /* a worker died at it: it is run in a child process */
    bool has_failed;   /* its iterations were reported as failed */
    bool told;         /* the mismatch has been reported as undecided */
};

struct verify_queue {
    uint32_t first, last; /* VERIFY_NONE: empty */
};

/* A range with differing results, to be reported. */
struct mismatch {
    struct range range;
    unsigned computations;
    uint32_t worker[3]; /* [computations], indices of the workers */
    int wrong;          /* 0 or 1: index of the one that differs from the two others; -1: no two agree */
};

struct verify {
    bool on;
    struct verification *list; /* [count]; owned */
    uint32_t count, unused;    /* unused: index of the first free entry, or VERIFY_NONE */
    size_t capacity;
    /* [workers + 1], by the first worker; the last queue has those with two differing results, those that need a child
     * process, and those whose computation was lost; owned */
    struct verify_queue *queues;
    unsigned queued;             /* length of all queues */
    unsigned disputed;           /* verifications with two differing results */
    unsigned turn;               /* next queue to serve */
    uint64_t held;               /* iterations held back */
    uint64_t alike, unverified;  /* iterations since the last report */
    uint64_t close_due_ns;       /* when to check for parts without a possible verifier; mostly NEVER */
    struct mismatch *mismatches; /* [mismatch_count] */
    unsigned mismatch_count, mismatches_taken;
    size_t mismatch_capacity;
};
