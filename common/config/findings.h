/* SPDX-License-Identifier: MIT */
/* The findings of a job: what the supermaster has found out and tells the other ranks ("The job" in PROTOCOL.md).
 *
 * They are word 0 of the job's command line. Each rank compares them with its own findings or adopts them. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct findings {
    bool has_inputs;
    uint64_t inputs;
    bool grows;             /* the loop grows, even if this rank finds it complete */
    bool is_counted;        /* `added` iterations follow those that the kernel describes */
    uint64_t added;         /* known at the start of the job */
    bool unprobed;          /* no probe iterations are run because such iterations have killed workers */
    unsigned plugin_traits; /* set of enum plugin_trait, if the technique is a plug-in */
    const char *loop;       /* word of description.h; NULL: each rank asks the kernel */
};

/* Returns the findings as one word, never empty. The caller frees it. */
char *findings_text(const struct findings *findings);

/* Reads word 0 of a command line; `loop` borrows from it. A word that is not from findings_text() has no findings. */
int findings_read(struct findings *findings, const char *word, struct error *error);
