/* SPDX-License-Identifier: MIT */
/* Jobs submitted to a set: see submission.h. */
#include "common/config/submission.h"

#include <stdlib.h>

static void free_words(char **words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    free((void *)words);
}

void submission_forget_environment(struct submission *submission)
{
    free_words(submission->environment, submission->environment_count);
    submission->environment = NULL;
    submission->environment_count = 0;
}

void submission_fini(struct submission *submission)
{
    submission_forget_environment(submission);
    free_words(submission->words, submission->word_count);
    free(submission->name);
    free(submission->folder);
    free(submission->after);
    *submission = (struct submission){0};
}
