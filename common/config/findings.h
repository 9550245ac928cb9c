/* SPDX-License-Identifier: MIT */
/* The findings of a job: what the supermaster has found out about it, and tells the other ranks ("The job" in
 * PROTOCOL.md).
 *
 * They are word 0 of the job's command line. Each rank compares them with what it finds itself, or takes them over. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct findings {
    bool has_inputs;
    uint64_t inputs;        /* digest of the files that the kernel reads */
    bool grows;             /* the loop grows, also if a rank finds it complete */
    bool is_counted;        /* `added` iterations follow those that the kernel describes, whose end it does not know */
    uint64_t added;         /* iterations that are known when the job begins */
    bool unprobed;          /* no worker runs probe iterations, as such iterations have killed workers */
    unsigned plugin_traits; /* of a technique that is a plug-in: a set of enum plugin_trait */
    const char *loop;       /* description of the loop (description.h); NULL: each rank asks the kernel */
};

/* The findings as one word, which is never empty. The caller frees it; NULL when memory is out. */
char *findings_text(const struct findings *findings);

/* Reads word 0 of a command line. A word that findings_text() has not made, such as a program's name, has no findings.
 * `loop` borrows from it. -1 with one line. */
int findings_read(struct findings *findings, const char *word, struct error *error);
