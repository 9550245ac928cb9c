/* SPDX-License-Identifier: MIT */
/* What the supermaster has found out about a job: see "The job" in PROTOCOL.md. The other ranks receive these findings
 * as word 0 of the job's command line. Each rank uses these values, or compares them with its own findings. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct findings {
    bool has_inputs;
    uint64_t inputs;
    /* the supermaster has found that the loop grows; true even if this rank's kernel describes the loop as complete */
    bool grows;
    bool is_counted; /* users have added `added` iterations after those that the kernel describes */
    uint64_t added;
    /* workers must not time iterations before the loop, because timed iterations have killed workers of an earlier run
     */
    bool unprobed;
    unsigned plugin_traits; /* a set of enum plugin_trait; 0 if the technique is no plug-in */
    const char *loop;       /* description of the loop (see description.h); NULL: each rank asks the kernel itself */
};

/* Returns one word, never empty. The caller frees it. */
char *findings_text(const struct findings *findings);

/* Reads word 0 of a command line. `loop` borrows from the word. If the word was not made by findings_text(), `findings`
 * is set to zero. */
int findings_read(struct findings *findings, const char *word, struct error *error);
