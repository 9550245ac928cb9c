/* SPDX-License-Identifier: MIT */
/* The command line of a submitted job. */
#pragma once

#include "common/config/submission.h"
#include "common/control/source.h"
#include "common/util/error.h"

#include <stdbool.h>

/* The array is owned; most words belong to the submission. */
struct job_words {
    char **argv;
    int argc;
    char *list, *found; /* the words of `argv` that the set adds for an open job; owned */
};

struct job_additions {
    bool resumes;
    const char *list;
    uint64_t added;
};

int job_words_init(struct job_words *words, const struct submission *submission, const struct job_additions *additions);
void job_words_fini(struct job_words *words);

bool submission_takes_rows(const struct submission *submission);

/* Returns the name of the kernel, borrowed from the submission; "" if it cannot be found. */
const char *submission_kernel(const struct submission *submission);

enum refusal submission_check(const struct submission *submission, const char *version, const char *list,
                              struct error *error);
