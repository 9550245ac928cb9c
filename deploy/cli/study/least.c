/* SPDX-License-Identifier: MIT */
/* Half of mfsc's chunk: see least.h. */
#include "deploy/cli/study/least.h"
#include "common/config/job.h"
#include "common/config/params.h"
#include "common/sched/technique.h"
#include "deploy/cli/argv.h"
#include "deploy/simulate/simulation.h"
#include "hdss/kernel.h"
#include "worker/helper/ask.h"

#include <stdlib.h>

static int count_iterations(int word_count, char **words, uint64_t *iterations, struct error *error)
{
    struct job job;
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    if (job_parse(&job, word_count, words, error) != 0 || ask_kernel(job.kernel, &kernel, error) < 0 ||
        kernel_params_parse(kernel, job.kernel_params, job.kernel_param, values, error) < 0 ||
        kernel_describe(kernel, values, &loop, error) < 0)
        return -1;
    *iterations = loop.iterations / (loop.steps > 0 ? loop.steps : 1);
    return 0;
}

/* Options may stand beside the parameters: of a job, and of its simulation, which are left out. */
static int count_of_line(const struct argv *line, uint64_t *iterations, struct error *error)
{
    struct simulation simulation;
    int result = simulation_read(&simulation, (int)line->count, line->items, error);
    if (result == 0)
        result = count_iterations(simulation.word_count, simulation.words, iterations, error);
    free(simulation.words);
    return result == 0 ? 0 : -1;
}

int least_half_mfsc(const char *kernel, unsigned workers, uint64_t *chunk, struct error *error)
{
    struct argv words = {0};
    uint64_t iterations;
    argv_add(&words, "supermaster");
    argv_add_split(&words, kernel);
    int result = !words.failed ? count_of_line(&words, &iterations, error)
                               : error_set(error, "out of memory for the words of a kernel");
    argv_fini(&words);
    if (result < 0)
        return -1;
    uint64_t size = mfsc_chunk(iterations, workers);
    *chunk = size > 1 ? size / 2 : 1;
    return 0;
}
