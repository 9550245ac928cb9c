/* SPDX-License-Identifier: MIT */
/* The command line of a job that was submitted. */
#pragma once

#include "common/config/submission.h"
#include "common/control/source.h"
#include "common/util/error.h"

#include <stdbool.h>

/* Words of a command line, of which the array is owned and most words are the submission's. */
struct job_words {
    char **argv; /* [argc], ended by NULL; as for job_parse() */
    int argc;
    char *list, *found; /* words of an open job; owned */
};

/* Words that the set adds to those of a submission. */
struct job_additions {
    bool resumes;
    const char *list; /* of an open job that takes rows: the path of its list */
    uint64_t added;   /* of any other open job: the iterations that it was given */
};

/* The words of a submission, with what the set adds; NULL: nothing. -1 when memory is out. */
int job_words_init(struct job_words *words, const struct submission *submission, const struct job_additions *additions);
void job_words_fini(struct job_words *words);

/* True for an open job to which rows are added, and not iterations. */
bool submission_takes_rows(const struct submission *submission);

/* The name of the kernel, which is the submission's; empty where it cannot be told. */
const char *submission_kernel(const struct submission *submission);

/* Looks whether a set can take the job; `list` is the path of an empty list. If it cannot, with one line. */
enum refusal submission_check(const struct submission *submission, const char *version, const char *list,
                              struct error *error);
