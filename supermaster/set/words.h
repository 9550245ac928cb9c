/* SPDX-License-Identifier: MIT */
/* The command line of a job that was submitted. */
#pragma once

#include "common/config/submission.h"
#include "common/util/error.h"

#include <stdbool.h>

/* Words of a command line, of which the array is owned and the words are the submission's. */
struct job_words {
    char **argv; /* [argc], ended by NULL; the first word is a program's name */
    int argc;
};

/* The words of a submission, with --resume where the job `resumes`. -1 when memory is out. */
int job_words_init(struct job_words *words, const struct submission *submission, bool resumes);
void job_words_fini(struct job_words *words);

/* The name of the kernel, which is the submission's; empty where it cannot be told. */
const char *submission_kernel(const struct submission *submission);

/* Looks whether a set can take the job. 0; or the status of the answer, 400 or 503, with one line. */
int submission_check(const struct submission *submission, const char *version, struct error *error);
