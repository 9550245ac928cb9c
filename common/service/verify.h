/* SPDX-License-Identifier: MIT */
/* Verification: a share of the results is computed a second time, by another worker, and compared.
 *
 * What is drawn is a part of a chunk, as its results came, by its first iteration and the seed: the digest of a part is
 * known, and a part is never long. Once it is stored it is held back: it is not told as done before a second worker has
 * the same digest. Where the digests differ a third worker computes the part, whose results are stored in the place of
 * the first one's; who differs from the two others is wrong. So what is told as done is right, as far as it was drawn,
 * and who takes the run's place later computes again what was still held back.
 *
 * Where nobody else can compute a part it is told as done without, and counted as unverified. */
#pragma once

#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERIFY_NONE UINT32_MAX

/* A second or third computation that was lost on the way so often is not tried again: its worker died, or hangs. */
#define VERIFY_TRIES_MAX 3

/* A part of which one computation is known, or two that differ. */
struct verification {
    struct range range;
    uint64_t digest[2]; /* [computed] */
    uint64_t sum;       /* digest of the computation under way, so far */
    uint64_t seen;      /* iterations in `sum` */
    uint32_t worker[2]; /* [computed] indices of the workers */
    uint32_t verifier;  /* index of the worker that has it; VERIFY_NONE: it waits in a queue */
    uint32_t chunk;     /* the verifier's chunk */
    uint32_t not_with;  /* VERIFY_NONE: none was lost */
    uint32_t next;      /* the next in its queue, or of the unused; VERIFY_NONE */
    uint8_t computed;   /* 0: unused */
    uint8_t tries;  /* computations that were lost, the last one with the worker `not_with`, which is not asked again */
    bool with_care; /* iterations of it have taken workers down: it is run in a child process */
    bool has_failed; /* the kernel calls all of it failed */
    bool told;       /* it is told already that nobody has decided */
};

struct verify_queue {
    uint32_t first, last; /* VERIFY_NONE: empty */
};

/* A range for which two computations differ, to be told. */
struct mismatch {
    struct range range;
    unsigned computations; /* 2 or 3 */
    uint32_t worker[3];    /* [computations] indices of the workers */
    int wrong;             /* 0 or 1: place of who differs from the two others; -1: no two agree */
};

/* The verifications of a service. */
struct verify {
    bool on;
    struct verification *list; /* [count]; owned, like all that follows */
    uint32_t count, unused;    /* unused: the first one; VERIFY_NONE */
    size_t capacity;
    struct verify_queue *queues; /* [workers + 1] by the worker that was first; the last is of those that two differ in,
                                    that want care, or of which a computation was lost */
    unsigned queued;             /* in all queues */
    unsigned disputed;           /* with two computations that differ, in a queue or not */
    unsigned turn;               /* queue that is looked at first */
    uint64_t held;               /* iterations held back */
    uint64_t alike, unverified;  /* iterations, since they were taken last */
    uint64_t close_due_ns;       /* when to look whether somebody is left for what waits; NEVER mostly */
    struct mismatch *mismatches; /* [mismatch_count] */
    unsigned mismatch_count, mismatches_taken;
    size_t mismatch_capacity;
};
