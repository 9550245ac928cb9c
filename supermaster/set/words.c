/* SPDX-License-Identifier: MIT */
/* The command line of a job that was submitted: see words.h. */
#include "supermaster/set/words.h"

#include "common/config/job.h"
#include "supermaster/lead/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BAD         400
#define STATUS_UNAVAILABLE 503

int job_words_init(struct job_words *words, const struct submission *submission, bool resumes)
{
    static char program[] = "supermaster", resume[] = "--resume";
    size_t i = 0;
    *words = (struct job_words){.argv = calloc(submission->word_count + 3, sizeof *words->argv)};
    if (words->argv == NULL)
        return -1;
    words->argv[words->argc++] = program;
    while (i < submission->word_count && strcmp(submission->words[i], "--") != 0)
        words->argv[words->argc++] = submission->words[i++];
    if (resumes)
        words->argv[words->argc++] = resume; /* the option counts as given last; behind `--` there are none */
    while (i < submission->word_count)
        words->argv[words->argc++] = submission->words[i++];
    return 0;
}

void job_words_fini(struct job_words *words)
{
    free((void *)words->argv);
    *words = (struct job_words){.argv = NULL};
}

const char *submission_kernel(const struct submission *submission)
{
    struct job_words words;
    struct job job;
    const char *kernel = "";
    if (job_words_init(&words, submission, false) < 0)
        return kernel;
    job_init(&job);
    if (job_parse(&job, words.argc, words.argv, NULL) == 0)
        kernel = job.kernel;
    job_words_fini(&words);
    return kernel;
}

/* Reads the words as the job will when it begins, and looks whether a set can have such a job. */
static int check_words(struct led_job *led, const struct job_words *words, struct error *error)
{
    struct root *root = led_job_root(led);
    if (led_job_read(led, words->argc, words->argv) != 0) {
        *error = root->error;
        return STATUS_BAD;
    }
    if (strncmp(root->setup.kernel->name, "python:", strlen("python:")) == 0 && !job_setup_is_isolated(&root->setup)) {
        error_set(error, "--isolate: the worker would keep the modules of Python for other jobs; accepted: auto or on");
        return STATUS_BAD;
    }
    if (root->setup.job.http.host[0] != '\0') {
        error_set(error, "--http: is for a run of its own; accepted: `hdss up --http`, for all jobs of a set");
        return STATUS_BAD;
    }
    if (!job_setup_is_dependent(&root->setup))
        return 0;
    error_set(error,
              "%s: iterations that depend on one another need a run of their own; accepted: `hdss run` without --set",
              root->setup.kernel->name);
    return STATUS_BAD;
}

int submission_check(const struct submission *submission, const char *version, struct error *error)
{
    struct job_words words = {.argv = NULL};
    const int folder = open(submission->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        error_set(error, "the folder %.300s: %s", submission->folder, strerror(errno));
        return STATUS_BAD;
    }
    int status = STATUS_UNAVAILABLE;
    struct led_job *led = led_job_new(version);
    if (led == NULL || job_words_init(&words, submission, false) < 0)
        error_set(error, "out of memory");
    else {
        led_job_place(led, folder, submission->umask);
        status = check_words(led, &words, error);
    }
    led_job_free(led);
    job_words_fini(&words);
    close(folder);
    return status;
}
