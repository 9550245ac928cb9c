/* SPDX-License-Identifier: MIT */
/* The command lines of the programs, one word in each line, the first the program's name: worker, master, flat (a
 * worker with --dca) or any other for that of a job. A job's kernel, its parameters and its output are looked at as a
 * run does. Whatever is wrong is one line. */
#include "common/config/dca_options.h"
#include "common/config/job.h"
#include "common/config/options.h"
#include "common/config/params.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/results/results.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "tests/fuzz/fuzz.h"
#include "worker/kernels/kernels.h"

#include <string.h>

/* Each value, written as a user would and read again, is the same. */
static void check_values(const struct hdss_kernel *kernel, const union hdss_value *values)
{
    for (unsigned i = 0; i < kernel_params_count(kernel); i++) {
        char buffer[KERNEL_PARAM_TEXT_MAX], again[KERNEL_PARAM_TEXT_MAX], word[KERNEL_PARAM_TEXT_MAX + 80];
        const struct hdss_param *param = &kernel->params[i];
        const char *text = kernel_param_text(param, values[i], buffer), *words[] = {word};
        union hdss_value back[HDSS_PARAMS_MAX];
        struct error error;
        if (param->kind == HDSS_PARAM_TEXT)
            continue;
        snprintf(word, sizeof word, "%s=%s", param->name, text);
        REQUIRE(kernel_params_parse(kernel, 1, words, back, &error) == 0);
        REQUIRE(strcmp(kernel_param_text(param, back[i], again), text) == 0);
    }
}

/* 0, or -1 with one line. */
static int check_kernel(const struct job *job, struct error *error)
{
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    const struct hdss_kernel *kernel;
    if (kernel_named(job->kernel, &kernel, error) < 0)
        return -1;
    if (kernel_params_parse(kernel, job->kernel_params, job->kernel_param, values, error) < 0)
        return -1;
    check_values(kernel, values);
    if (kernel_describe(kernel, values, &loop, error) < 0)
        return -1;
    return job->output[0] != '\0' ? results_check(job->output, &loop, error) : 0;
}

static void check_paths(const struct job *job)
{
    const char *const paths[] = {job->output, job->report, job->journal, job->power_file};
    char journal[JOB_JOURNAL_PATH_MAX];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        REQUIRE(memchr(paths[i], '\0', JOB_PATH_MAX) != NULL);
    REQUIRE(memchr(job_journal_path(job, journal), '\0', sizeof journal) != NULL);
}

static int check_job(int argc, char *const *argv, struct error *error)
{
    struct job job;
    int result = job_parse(&job, argc, argv, error);
    if (result != 0)
        return result;
    REQUIRE(job.kernel != NULL && job.spec.min_chunk >= 1);
    check_paths(&job);
    (void)run_spec_probes(&job.spec), (void)run_spec_wants_swr(&job.spec), (void)run_spec_learns(&job.spec);
    return check_kernel(&job, error);
}

/* The words that are the job's are a job. */
static int check_dca(int argc, char *const *argv, struct error *error)
{
    struct dca_options options;
    int result = dca_options_parse(&options, argc, argv, error);
    REQUIRE(result != 0 || (options.words >= 1 && options.words <= argc));
    if (result == 0)
        result = check_job(options.words, options.word, error);
    dca_options_fini(&options);
    return result;
}

static int parse(int argc, char *const *argv, struct error *error)
{
    struct worker_options worker;
    struct master_options master;
    (void)dca_is_asked(argc, argv);
    if (strcmp(argv[0], "worker") == 0)
        return worker_options_parse(&worker, argc, argv, error);
    if (strcmp(argv[0], "master") == 0)
        return master_options_parse(&master, argc, argv, error);
    return strcmp(argv[0], "flat") == 0 ? check_dca(argc, argv, error) : check_job(argc, argv, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_words words;
    struct error error = {0};
    fuzz_words_init(&words, bytes, size);
    int result = parse(words.count, words.word, &error);
    REQUIRE(result == 0 || result == -1 || result == OPTIONS_HELP || result == OPTIONS_VERSION);
    if (result < 0)
        require_one_line(error.text);
    fuzz_words_fini(&words);
    return 0;
}
