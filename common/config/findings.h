/* SPDX-License-Identifier: MIT */
/* What the rank that leads has found of a job, and tells the others: "The job" in PROTOCOL.md.
 *
 * It goes with the job's command line, as its word 0, and each rank compares it with what it finds itself, or takes it
 * from there. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct findings {
    bool has_inputs;
    uint64_t inputs;        /* digest of the files that the kernel reads */
    bool grows;             /* the loop does, though a rank may find it complete */
    bool is_counted;        /* its kernel does not know its end: `added` iterations come after those it describes */
    uint64_t added;         /* as many as are known at first */
    bool unprobed;          /* no worker runs iterations only to be timed, as such ones have killed workers */
    unsigned plugin_traits; /* of a technique that is a plug-in: a set of enum plugin_trait */
    const char *loop;       /* description of the loop (description.h); NULL: each rank asks the kernel */
};

/* The findings as one word; nothing found is a word, too. The caller frees it; NULL when memory is out. */
char *findings_text(const struct findings *findings);

/* Reads the word 0 of a command line. One that is not of findings_text(), such as the name of a program, has none.
 * `loop` borrows from it. -1 with one line. */
int findings_read(struct findings *findings, const char *word, struct error *error);
