/* SPDX-License-Identifier: MIT */
/* The command line of `hdss chunks`, one word in each line, and the first chunks of each series that it asks for. */
#include "tests/fuzz/fuzz.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/cli/chunks_request.h"
#include "deploy/cli/series.h"

enum { STEPS_MAX = 50, WORKERS_MAX = 4096, CLOSED_MAX = 10000 };

static void draw(const struct chunks_request *request, const char *spec)
{
    struct series series;
    struct chunk chunk;
    struct error error = {0};
    const struct sched_config *config = &request->setup.config;
    uint64_t expected = 0;
    if (series_init(&series, &request->setup, spec, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    for (int i = 0; i < STEPS_MAX && series_next(&series, &chunk); i++) {
        REQUIRE(chunk.first == expected && chunk.count > 0 && chunk.count <= config->iterations - chunk.first);
        REQUIRE(chunk.worker >= 1 && chunk.worker <= config->workers);
        expected += chunk.count;
    }
    series_fini(&series);
}

/* Memory and time go with the workers, and in the closed form with the loop. */
static bool is_small(const struct series_setup *setup)
{
    return setup->config.workers <= WORKERS_MAX &&
           (setup->form != SCHED_FORM_CLOSED || setup->config.iterations <= CLOSED_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_words words;
    struct chunks_request request;
    struct error error = {0};
    fuzz_words_init(&words, bytes, size);
    int result = chunks_request_init(&request, words.count, words.word, &error);
    if (result < 0)
        require_one_line(error.text);
    for (unsigned i = 0; result == 0 && is_small(&request.setup) && i < request.spec_count; i++)
        draw(&request, request.specs[i]);
    chunks_request_fini(&request);
    fuzz_words_fini(&words);
    return 0;
}
