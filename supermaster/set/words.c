/* SPDX-License-Identifier: MIT */
/* The command line of a job that was submitted: see words.h. */
#include "supermaster/set/words.h"

#include "common/config/findings.h"
#include "common/config/job.h"
#include "supermaster/lead/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MORE 8

static int add_iterations(struct job_words *words, const struct job_additions *additions)
{
    words->found = findings_text(&(struct findings){.grows = true, .is_counted = true, .added = additions->added});
    words->argv[0] = words->found;
    return words->found != NULL ? 0 : -1;
}

static int add_list(struct job_words *words, const char *list)
{
    static char follow[] = "follow=yes";
    if (asprintf(&words->list, "list=%s", list) < 0) {
        words->list = NULL;
        return -1;
    }
    words->argv[words->argc++] = words->list;
    words->argv[words->argc++] = follow;
    return 0;
}

int job_words_init(struct job_words *words, const struct submission *submission, const struct job_additions *additions)
{
    static char program[] = "supermaster", resume[] = "--resume";
    const bool is_open = additions != NULL && submission->is_open;
    size_t i = 0;
    int result = 0;
    *words = (struct job_words){.argv = calloc(submission->word_count + WORDS_MORE, sizeof *words->argv)};
    if (words->argv == NULL)
        return -1;
    words->argv[words->argc++] = program;
    if (is_open && additions->list == NULL)
        result = add_iterations(words, additions);
    while (i < submission->word_count && strcmp(submission->words[i], "--") != 0)
        words->argv[words->argc++] = submission->words[i++];
    if (additions != NULL && additions->resumes)
        /* If an option is given several times, the last one counts. So this option is inserted after all others, but
         * before `--`, because words after `--` are not options. */
        words->argv[words->argc++] = resume;
    while (i < submission->word_count)
        words->argv[words->argc++] = submission->words[i++];
    if (result == 0 && is_open && additions->list != NULL)
        result = add_list(words, additions->list);
    if (result < 0)
        job_words_fini(words);
    return result;
}

void job_words_fini(struct job_words *words)
{
    free((void *)words->argv);
    free(words->list);
    free(words->found);
    *words = (struct job_words){.argv = NULL};
}

bool submission_takes_rows(const struct submission *submission)
{
    return submission->is_open && strcmp(submission_kernel(submission), "exec") == 0;
}

const char *submission_kernel(const struct submission *submission)
{
    struct job_words words;
    struct job job;
    const char *kernel = "";
    if (job_words_init(&words, submission, NULL) < 0)
        return kernel;
    job_init(&job);
    if (job_parse(&job, words.argc, words.argv, NULL) == 0)
        kernel = job.kernel;
    job_words_fini(&words);
    return kernel;
}

/* Returns true if one of the techniques that may cut chunks of the job is a class in Python. Tests only the names,
 * because the technique must not be loaded here. */
static bool names_python_technique(const struct job *job)
{
    static const char python[] = "python:";
    bool found = job->plugin != NULL && strncmp(job->plugin, python, strlen(python)) == 0;
    for (unsigned i = 0; i < job->spec.candidates; i++)
        found |= strncmp(job->spec.candidate_text[i], python, strlen(python)) == 0;
    return found;
}

static int check_words(struct led_job *led, const struct job_words *words, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct root *root = led_job_root(led);
    struct job job;
    /* If the words cannot be parsed, led_job_read() below returns the error. */
    const bool is_read = job_parse(&job, words->argc, words->argv, NULL) == 0;
    if (is_read && names_python_technique(&job))
        return error_set(error,
                         "--technique: the supermaster would keep the modules of Python for other jobs; accepted: a "
                         "technique of HDSS or a shared object, or `hdss run` without --set");
    if (led_job_read(led, words->argc, words->argv) != 0) {
        *error = root->error;
        /* If the kernel is still being loaded, it is checked later, when the job begins. */
        return led_job_is_loading(led) ? 0 : -1;
    }
    if (strncmp(root->setup.kernel->name, "python:", strlen("python:")) == 0 && !job_setup_is_isolated(&root->setup))
        return error_set(error,
                         "--isolate: the worker would keep the modules of Python for other jobs; accepted: auto or on");
    if (root->setup.job.http.host[0] != '\0')
        return error_set(error, "--http: is for a run of its own; accepted: `hdss up --http`, for all jobs of a set");
    if (root->setup.job.listens)
        return error_set(error,
                         "--listen: is for a run of its own; accepted: `hdss up --listen`, for all jobs of a set");
    if (root->setup.job.metrics_file[0] != '\0')
        return error_set(error,
                         "--metrics-file: is for a run of its own; accepted: `hdss up --metrics-file`, for all jobs of "
                         "a set");
    if (root->setup.job.output_is_default && job_resumes(&root->setup.job))
        return error_set(error, "--resume: each job of a set has an output of its own, such as exec-12.out; accepted: "
                                "with --output FILE");
    return job_setup_check_for_set(&root->setup, error);
}

/* An open job of the kernel exec gets its tasks only from the list of the set. So parameters that name another source
 * of tasks are refused. */
static int check_rows(const struct submission *submission, struct error *error)
{
    static const char *const names[] = {"tasks=", "count=", "table=", "header=", "list=", "follow="};
    for (size_t i = 0; i < submission->word_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strncmp(submission->words[i], names[k], strlen(names[k])) == 0)
                return error_set(
                    error,
                    "%.100s: the tasks of an open job are those that are added to it; accepted: command=LINE and "
                    "parameters that are not of a source of tasks",
                    submission->words[i]);
    return 0;
}

enum refusal submission_check(const struct submission *submission, const char *version, const char *list,
                              struct error *error)
{
    struct job_words words = {.argv = NULL};
    const bool takes_rows = submission_takes_rows(submission);
    const struct job_additions additions = {.list = takes_rows ? list : NULL};
    if (takes_rows && check_rows(submission, error) < 0)
        return REFUSAL_WRONG;
    const int folder = open(submission->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        error_set(error, "the folder %.300s: %s", submission->folder, strerror(errno));
        return REFUSAL_WRONG;
    }
    enum refusal refusal = REFUSAL_FULL;
    struct led_job *led = led_job_new(version);
    if (led == NULL || job_words_init(&words, submission, &additions) < 0)
        error_set(error, "out of memory");
    else {
        led_job_place(led, folder, submission->umask, submission->environment, true);
        refusal = check_words(led, &words, error) < 0 ? REFUSAL_WRONG : REFUSAL_NONE;
    }
    led_job_free(led);
    job_words_fini(&words);
    close(folder);
    return refusal;
}
