/* SPDX-License-Identifier: MIT */
/* What the supermaster has found out about a job and tells the other ranks ("The job" in PROTOCOL.md). It is word 0 of
 * the job's command line. Each rank adopts it or compares it with what it finds itself. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct findings {
    bool has_inputs;
    uint64_t inputs;
    bool grows;      /* the loop grows, even if this rank finds it complete */
    bool is_counted; /* `added` iterations follow those that the kernel describes */
    uint64_t added;
    bool unprobed;          /* no iterations are timed before the loop, because such iterations have killed workers */
    unsigned plugin_traits; /* a set of enum plugin_trait; 0 if the technique is no plug-in */
    const char *loop;       /* a word of description.h; NULL: each rank asks the kernel */
};

/* Returns one word, never empty. The caller frees it. */
char *findings_text(const struct findings *findings);

/* Reads word 0 of a command line, from which `loop` borrows. If the word is not from findings_text(), `findings` is
 * zero. */
int findings_read(struct findings *findings, const char *word, struct error *error);
