/* SPDX-License-Identifier: MIT */
/* Half of mfsc's chunk: see least.h. */
#include "deploy/cli/study/least.h"
#include "common/config/job.h"
#include "common/config/params.h"
#include "common/sched/technique.h"
#include "deploy/cli/argv.h"
#include "hdss/kernel.h"
#include "worker/helper/ask.h"

/* Options may stand beside the parameters. */
static int count_iterations(const struct argv *line, uint64_t *iterations, struct error *error)
{
    struct job job;
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    if (job_parse(&job, (int)line->count, line->items, error) != 0 || ask_kernel(job.kernel, &kernel, error) < 0 ||
        kernel_params_parse(kernel, job.kernel_params, job.kernel_param, values, error) < 0 ||
        kernel_describe(kernel, values, &loop, error) < 0)
        return -1;
    *iterations = loop.iterations / (loop.steps > 0 ? loop.steps : 1);
    return 0;
}

int least_half_mfsc(const char *kernel, unsigned workers, uint64_t *chunk, struct error *error)
{
    struct argv words = {0};
    uint64_t iterations;
    argv_add(&words, "supermaster");
    argv_add_split(&words, kernel);
    int result = !words.failed ? count_iterations(&words, &iterations, error)
                               : error_set(error, "out of memory for the words of a kernel");
    argv_fini(&words);
    if (result < 0)
        return -1;
    uint64_t size = mfsc_chunk(iterations, workers);
    *chunk = size > 1 ? size / 2 : 1;
    return 0;
}
