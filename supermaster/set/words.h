/* SPDX-License-Identifier: MIT */
/* The command line of a submitted job. */
#pragma once

#include "common/config/submission.h"
#include "common/control/source.h"
#include "common/util/error.h"

#include <stdbool.h>

/* A command line. The array is owned, most words belong to the submission. */
struct job_words {
    char **argv; /* [argc] words for job_parse(), then NULL */
    int argc;
    char *list, *found; /* the words of `argv` that an open job adds; owned */
};

struct job_additions {
    bool resumes;
    const char *list; /* path of the list of an open job with rows */
    uint64_t added;   /* number of iterations of another open job */
};

int job_words_init(struct job_words *words, const struct submission *submission, const struct job_additions *additions);
void job_words_fini(struct job_words *words);

bool submission_takes_rows(const struct submission *submission);

/* Returns the name of the kernel, borrowed from the submission; "" if it cannot be found. */
const char *submission_kernel(const struct submission *submission);

/* Checks whether a set can run the job; `list` is the path of an empty list. */
enum refusal submission_check(const struct submission *submission, const char *version, const char *list,
                              struct error *error);
