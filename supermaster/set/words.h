/* SPDX-License-Identifier: MIT */
/* The command line of a submitted job. */
#pragma once

#include "common/config/submission.h"
#include "common/control/source.h"
#include "common/util/error.h"

#include <stdbool.h>

/* The command line of a job. The array is owned; most of its words belong to the submission. */
struct job_words {
    char **argv;
    int argc;
    char *list, *found; /* words in `argv` that the set has added because the job is open; owned */
};

struct job_additions {
    bool resumes;
    const char *list;
    uint64_t added;
};

int job_words_init(struct job_words *words, const struct submission *submission, const struct job_additions *additions);
void job_words_fini(struct job_words *words);

bool submission_takes_rows(const struct submission *submission);

/* Returns the name of the kernel, which is borrowed from the submission; "" if the words cannot be parsed. */
const char *submission_kernel(const struct submission *submission);

enum refusal submission_check(const struct submission *submission, const char *version, const char *list,
                              struct error *error);
